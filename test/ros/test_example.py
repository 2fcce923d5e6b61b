"""The controller-side example acts on what a node publishes."""

import importlib.util
import sys
from pathlib import Path

import pytest
from rclpy.serialization import serialize_message

from helpers import leg
from hybrid_contact_msgs.msg import ConstraintStability, ContactMode, ContactState, PostImpactVelocitySet
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode

FILE = Path(__file__).resolve().parents[2] / "examples" / "controller_side.py"


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("controller_side", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["controller_side"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["controller_side"]


@pytest.fixture
def controller(bench, example):
    node = example.ControllerSide(context=bench.context)
    bench.executor.add_node(node)
    yield node
    bench.executor.remove_node(node)
    node.destroy_node()


def mode(status, **fields) -> bytes:
    contact = ContactState(name="foot", status=status, **fields)
    return serialize_message(ContactMode(validity=ContactMode.VALID_STATE, contacts=[contact]))


def test_lands_before_the_touchdown_of_a_running_node(bench, controller):
    bench.start(ContactSuiteNode)
    bench.until(lambda: controller.count_publishers("contact_mode"))

    def phase_at(height):
        stamp = bench.stamp()
        bench.base.publish(leg.odometry(stamp, height=height, fall=-1.0))
        bench.joints.publish(leg.joint_state(stamp))
        bench.spin(0.05)
        return getattr(controller.plans.get("foot"), "phase", None)

    bench.until(lambda: phase_at(1.5) == "swing")
    bench.until(lambda: phase_at(0.61) == "landing")  # 10 ms before it


def test_the_wider_the_set_the_softer_the_landing(bench, controller, example):
    landing = mode(ContactState.OPEN, next_event=ContactState.EVENT_TOUCHDOWN, time_to_event_earliest=0.005)
    controller._on_mode(landing)
    firm = controller.plans["foot"].stiffness
    outcomes = PostImpactVelocitySet(contacts=["foot"], count=2, dof=1, velocities=[0.0, example.WIDE])
    controller._on_set(serialize_message(outcomes))
    controller._on_mode(landing)
    assert controller.plans["foot"].phase == "landing"
    assert controller.plans["foot"].stiffness == pytest.approx(0.5 * firm)


EMPTY = {
    name: [value]
    for names, value in (
        ("bounded_time_stability zeno grazing pseudo_impulse", ConstraintStability.UNDECIDED),
        ("constraint_force gap_acceleration chatter_end chatter_end_earliest chatter_end_latest", leg.NAN),
        ("touchdown_speed friction_margin pseudo_impulse_margin", leg.NAN),
    )
    for name in names.split()
}
"""What a message says of one contact of which nothing is known."""


def test_holds_a_contact_that_fails_and_not_one_that_is_undecided(bench, controller):
    for flag, phase in ((ConstraintStability.UNDECIDED, "stance"), (ConstraintStability.FAILS, "hold")):
        flags = {"constraint_stability": [flag], "friction": [ConstraintStability.HOLDS]}
        message = ConstraintStability(contacts=["foot"], closed=[True], **EMPTY, **flags)
        controller._on_stability(serialize_message(message))
        controller._on_mode(mode(ContactState.STICKING))
        assert controller.plans["foot"].phase == phase
