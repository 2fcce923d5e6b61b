"""The ament_python package. What pip needs to run it is listed in requirements/, what rosdep needs in package.xml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

NAME = "hybrid_contact_ros"
HERE = Path(__file__).resolve().parent
VERSION = re.search(r'^__version__ = "(.+)"$', (HERE / NAME / "__init__.py").read_text(), re.MULTILINE).group(1)
NODES = ["contact_mode", "impact_set", "constraint_stability", "contact_markers", "contact_suite"]


def files(folder: str, *patterns: str) -> list[str]:
    """Files of a folder, relative to this file as --symlink-install of colcon needs them."""
    return sorted(str(path.relative_to(HERE)) for pattern in patterns for path in (HERE / folder).glob(pattern))


setup(
    name=NAME,
    version=VERSION,
    description="Contact modes, post-impact velocity sets and constraint stability beside a robot's state streams",
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    include_package_data=False,  # modules alone: the README.md of each room is for readers of the sources
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", files("launch", "*.launch.py")),
        (f"share/{NAME}/config", files("config", "*.yaml", "*.urdf", "*.xml")),
        (f"share/{NAME}/config/views", files("config/views", "*")),
        # For replay where ROS 2, and so hybrid_contact_msgs, is not installed.
        (f"share/{NAME}/msg", files("hybrid_contact_msgs/msg", "*.msg")),
    ],
    install_requires=["numpy", "scipy", "sympy", "numba", "llvmlite", "pin", "pyyaml", "rosbags", "rich"],
    extras_require={
        "demo": ["mujoco", "example-robot-data", "matplotlib", "rich"],
        "report": ["bokeh", "matplotlib"],
        "fleet": ["dask", "distributed", "pyarrow", "fsspec"],
        "test": ["pytest", "pytest-xdist", "hypothesis", "import-linter"],
    },
    zip_safe=True,
    entry_points={
        "console_scripts": [
            "hybrid-contact = hybrid_contact_ros.programs:command",
            *(f"{node} = hybrid_contact_ros.programs:{node}" for node in NODES),
        ],
    },
)
