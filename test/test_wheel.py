"""The wheel is enough for all that needs no ROS: it is built here, and used where nothing of ROS can be imported."""

import os
import subprocess
import sys

import pytest

BLOCKER = """
import sys

ROS = {"rclpy", "rosidl_runtime_py", "hybrid_contact_msgs", "sensor_msgs", "std_msgs", "ament_index_python"}

class WithoutRos:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ROS:
            raise ModuleNotFoundError(f"there is no ROS here: {name}")

sys.meta_path.insert(0, WithoutRos())
"""
READ = """
import hybrid_contact_ros, hybrid_contact_ros.bags.typestore as store
print(hybrid_contact_ros.__file__)
print(store.definition_folder())
print(sorted(name for name in store.typestore().types if name.startswith("hybrid_contact_msgs")))
"""


@pytest.fixture(scope="module")
def installed(root, tmp_path_factory):
    """A folder with the wheel in it, and a function that runs Python there without ROS."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    sources = folder / "sources"  # setuptools leaves its own folders where it builds
    names = ["hybrid_contact_ros", "hybrid_contact_msgs", "launch", "config", "resource"]
    files = ["setup.py", "setup.cfg", "pyproject.toml", "package.xml"]
    sources.mkdir()
    for name in names + files:
        (sources / name).symlink_to(root / name)
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(sources)], check=True)
    (wheel,) = folder.glob("*.whl")
    place = folder / "site"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(place), str(wheel)], check=True)
    (folder / "sitecustomize.py").write_text(BLOCKER)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AMENT", "ROS", "COLCON"))}
    environment = kept | {"PYTHONPATH": f"{folder}{os.pathsep}{place}"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return place, run


def test_the_message_definitions_travel_with_the_wheel(installed, root):
    place, run = installed
    module, folder, types = run("-c", READ).splitlines()
    assert module.startswith(str(place)) and folder.startswith(str(place))
    for definition in (root / "hybrid_contact_msgs" / "msg").glob("*.msg"):
        assert f"hybrid_contact_msgs/msg/{definition.stem}" in types


def test_check_works_without_ros(installed):
    place, run = installed
    config = place / "share" / "hybrid_contact_ros" / "config"
    told = run(
        "-m", "hybrid_contact_ros.programs", "command", "check", str(config / "cube.urdf"), str(config / "cube.yaml")
    )
    assert "0.37 kg" in told


def test_every_verb_is_there_without_ros(installed):
    _, run = installed
    told = run("-m", "hybrid_contact_ros.programs", "command", "--help")
    assert all(verb in told for verb in ("replay", "identify", "convert", "check"))
