"""The launch file: its arguments, what they start, and a real launch where ROS 2 launch is installed."""

import ast
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

ABSENT = "ROS 2 launch is not on PyPI: it comes with a ROS 2 installation"
SEPARATE = {"contact_mode", "impact_set", "constraint_stability"}


@pytest.fixture
def file(root):
    return root / "launch" / "contact_suite.launch.py"


def test_every_argument_is_in_the_readme_and_described(root, file):
    tree = ast.parse(file.read_text())
    table = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "ARGUMENTS"  # type: ignore[attr-defined]
    )
    names = {key.value for key in table.keys}
    described = dict(re.findall(r"^\| `(\w+):=` \| (.+) \|$", (root / "README.md").read_text(), re.MULTILINE))
    assert set(described) == names
    assert all(len(value.elts) == 2 and value.elts[1].value for value in table.values)


@pytest.fixture
def description(file):
    sources = pytest.importorskip("launch.launch_description_sources", reason=ABSENT)
    pytest.importorskip("launch_ros", reason=ABSENT)
    return sources.get_launch_description_from_python_launch_file(str(file))


def started(description, **arguments):
    """Names of the executables that would be started, and the parameters that each is given by hand."""
    from launch.actions import DeclareLaunchArgument, OpaqueFunction
    from launch_ros.actions import Node

    from launch import LaunchContext

    context = LaunchContext()
    context.launch_configurations.update(arguments)
    names = set()
    for entity in description.entities:
        if isinstance(entity, DeclareLaunchArgument | OpaqueFunction):
            entity.execute(context)
        else:
            assert isinstance(entity, Node)
            if entity.condition.evaluate(context):
                names.add("".join(part.perform(context) for part in entity.cmd[0]).rsplit("/", 1)[-1])
    return names


@pytest.mark.parametrize("markers", ["true", "false"])
@pytest.mark.parametrize("composed", ["true", "false"])
def test_composition_is_one_process_or_one_a_node(description, composed, markers):
    expected = {"contact_suite"} if composed == "true" else SEPARATE
    assert started(description, composed=composed, markers=markers) == expected | (
        {"contact_markers"} if markers == "true" else set()
    )


def test_rviz_comes_with_its_markers(description):
    assert started(description, rviz="true") == {"contact_suite", "contact_markers", "rviz2"}


def check_files(file):
    """The launch file's function of that name, with ROS 2 launch or with stand-ins for the names that it imports."""
    tree = ast.parse(file.read_text())
    body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check_files"]

    class Configuration:
        def __init__(self, name):
            self.name = name

        def perform(self, context):
            return context.launch_configurations[self.name]

    names = {"LaunchConfiguration": Configuration, "Path": Path}
    exec(compile(ast.Module(body, []), str(file), "exec"), names)
    return names["check_files"]


def test_files_are_made_absolute_and_those_that_are_not_there_are_refused(file, tmp_path, monkeypatch):
    check = check_files(file)
    (tmp_path / "robot.yaml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in ("robot.yaml", "~/robot.yaml", str(tmp_path / "robot.yaml")):
        context = SimpleNamespace(launch_configurations={"config": given, "urdf_file": ""})
        check(context)
        assert context.launch_configurations == {"config": str(tmp_path / "robot.yaml"), "urdf_file": ""}
    for configuration in (
        {"config": "robto.yaml", "urdf_file": ""},
        {"config": str(tmp_path), "urdf_file": ""},
        {"config": "", "urdf_file": ""},
        {"config": "robot.yaml", "urdf_file": "robot.urdf"},
    ):
        with pytest.raises((FileNotFoundError, ValueError), match=r"config:=|urdf_file:=robot\.urdf"):
            check(SimpleNamespace(launch_configurations=configuration))


SCRIPT = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService(argv=[])
source = PythonLaunchDescriptionSource(sys.argv[1])
arguments = [tuple(text.split(":=")) for text in sys.argv[2:]]
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)]))
sys.exit(service.run())
"""


@pytest.mark.parametrize("composed", ["true", "false"])
@pytest.mark.parametrize(("autostart", "expected"), [("true", State.PRIMARY_STATE_ACTIVE),
                                                     ("false", State.PRIMARY_STATE_UNCONFIGURED)])  # fmt: skip
def test_a_real_launch_brings_the_nodes_up_in_their_namespace(
    description, root, file, tmp_path, composed, autostart, expected
):
    arguments = [
        f"config:={root}/config/cube.yaml", f"urdf_file:={root}/config/cube.urdf", "namespace:=robot1",
        f"composed:={composed}", f"autostart:={autostart}",
    ]  # fmt: skip
    context = Context()
    context.init()
    node = Node("watcher", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    with (tmp_path / "log").open("w") as log:
        launched = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(file), *arguments], stdout=log, stderr=log, start_new_session=True
        )
    try:
        end = time.monotonic() + 300.0
        for name in {"contact_suite"} if composed == "true" else SEPARATE:
            client = node.create_client(GetState, f"/robot1/{name}/get_state")
            state = None
            while state != expected:
                assert launched.poll() is None and time.monotonic() < end, (tmp_path / "log").read_text()
                if client.service_is_ready():
                    asked = client.call_async(GetState.Request())
                    executor.spin_until_future_complete(asked, timeout_sec=5.0)
                    state = asked.result().current_state.id if asked.result() else None
                executor.spin_once(timeout_sec=0.1)
        os.killpg(launched.pid, signal.SIGINT)
        assert launched.wait(timeout=120.0) == 0
    finally:
        if launched.poll() is None:
            os.killpg(launched.pid, signal.SIGKILL)
        executor.shutdown()
        node.destroy_node()
        context.try_shutdown()
