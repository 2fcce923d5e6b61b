"""The example that makes an input of a quadruped's low-level command, beside a running node."""

import importlib.util
import time
from pathlib import Path
from types import SimpleNamespace as Motor

import pytest

from helpers import leg
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode

FILE = Path(__file__).resolve().parents[2] / "examples" / "low_command.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("low_command", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_low_level_command_reaches_the_states_of_a_node(bench, example):
    node = bench.start(ContactSuiteNode, **{"input.command": "joint_command", "input.command_timeout": 60.0})
    adapter = example.LowCommandAdapter(("knee", "hip"), context=bench.context)
    bench.nodes.append(adapter)
    bench.executor.add_node(adapter)
    bench.until(lambda: adapter.count_subscribers("joint_command"))
    knee = Motor(q=0.3, dq=1.0, tau=2.0, kp=40.0, kd=1.5)
    free = Motor(q=example.NO_POSITION, dq=example.NO_VELOCITY, tau=3.0, kp=0.0, kd=0.0)

    def command():
        adapter.on_low_command(Motor(motor_cmd=[knee, free, free]))
        bench.now = time.time_ns()  # the adapter stamps by the clock
        bench.send(bench.stamp(0))
        bench.spin(0.05)
        return node.stream.intake.states and node.stream.estimator._latest.state.command

    bench.until(command)
    told = command()
    assert [x[6:].tolist() for x in (told.position, told.velocity, told.stiffness, told.damping)] == [
        [0.0, 0.3], [0.0, 1.0], [0.0, 40.0], [0.0, 1.5],
    ]  # fmt: skip
    assert told.effort[6:].tolist() == [3.0, 2.0] and told.known[6:].all()


def test_the_go2_has_twelve_joints_that_its_model_has(example, shared):
    from benchmarks.estimator import go2

    assert set(example.GO2) == set(go2().joint_names) and len(leg.JOINTS) == 2
