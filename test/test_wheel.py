"""The wheel is enough for all that needs no ROS: it is built here, and used where nothing of ROS can be imported."""

import json
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
WRITE = """
import numpy as np
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.bags.writer import BagWriter

types = typestore().types
time = lambda k: 10**9 + 2_000_000 * k
with BagWriter("feet.mcap") as bag:
    for topic in ("/truth", "/detector"):
        bag.add(topic, "std_msgs/msg/Bool")
    for k in range(5000):
        bag.write("/truth", time(k), types["std_msgs/msg/Bool"](data=bool(k // 100 % 2)))
        bag.write("/detector", time(k), types["std_msgs/msg/Bool"](data=bool((k - 3) // 100 % 2)))
part = lambda name, **of: types[name](**of)
three = lambda kind, *v: part(f"geometry_msgs/msg/{kind}", **dict(zip("xyzw", map(float, v))))
with BagWriter("cube.mcap") as bag:
    bag.add("/odom", "nav_msgs/msg/Odometry")
    for k in range(60):
        fall = 0.3 - 0.5 * 9.81 * (0.002 * k) ** 2
        stamp = part("builtin_interfaces/msg/Time", sec=time(k) // 10**9, nanosec=time(k) % 10**9)
        upright = three("Quaternion", 0, 0, 0, 1)
        pose = part("geometry_msgs/msg/Pose", position=three("Point", 0, 0, fall), orientation=upright)
        down, still = three("Vector3", 0, 0, -9.81 * 0.002 * k), three("Vector3", 0, 0, 0)
        twist = part("geometry_msgs/msg/Twist", linear=down, angular=still)
        none = np.zeros(36)
        bag.write("/odom", time(k), part(
            "nav_msgs/msg/Odometry",
            header=part("std_msgs/msg/Header", stamp=stamp, frame_id="odom"), child_frame_id="",
            pose=part("geometry_msgs/msg/PoseWithCovariance", pose=pose, covariance=none),
            twist=part("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=none),
        ))
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


@pytest.fixture(scope="module")
def recordings(installed):
    """Written there, beside the wheel: feet.mcap and cube.mcap."""
    installed[1]("-c", WRITE)


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


@pytest.mark.usefixtures("recordings")
def test_score_and_compare_work_without_ros(installed):
    """On a recording of a detector and its truth, and one of the cube that the wheel brings."""
    place, run = installed
    command = ("-m", "hybrid_contact_ros.programs", "command")
    truth = ("--truth", "left=/truth", "--result")
    run(*command, "score", "feet.mcap", "--estimate", "left=/detector", *truth, "one", "--force")
    run(*command, "score", "feet.mcap", "--estimate", "left=/truth", *truth, "two", "--force")
    assert "accuracy" in run(*command, "compare", "one.result.zip", "two.result.zip")
    config = place / "share" / "hybrid_contact_ros" / "config"
    cube = ("--config", str(config / "cube.yaml"), "--urdf", str(config / "cube.urdf"))
    told = run(*command, "score", "cube.mcap", *cube, "--result", "cube", "--force", "--json")
    assert json.loads(told)["states"] == 60
    assert json.loads(run(*command, "replay", "cube.mcap", *cube, "--no-out", "--json"))["states"] == 60


@pytest.mark.usefixtures("recordings")
def test_identify_and_report_work_without_ros(installed):
    """Of the falling cube again: its noise, and a page of its result."""
    place, run = installed
    command = ("-m", "hybrid_contact_ros.programs", "command")
    config = place / "share" / "hybrid_contact_ros" / "config"
    cube = ("--config", str(config / "cube.yaml"), "--urdf", str(config / "cube.urdf"))
    told = run(*command, "identify", "cube.mcap", *cube, "--noise")
    assert "base" in told
    run(*command, "score", "cube.mcap", *cube, "--result", "page", "--force")
    run(*command, "report", "page.result.zip", "-o", "page.html", "--force")
    page = (place.parent / "page.html").read_text()
    assert "<html" in page and "cube.mcap" in page


def test_every_verb_is_there_without_ros(installed):
    _, run = installed
    told = run("-m", "hybrid_contact_ros.programs", "command", "--help")
    verbs = ("replay", "score", "compare", "report", "identify", "configure", "convert", "check")
    assert all(verb in told for verb in verbs)
