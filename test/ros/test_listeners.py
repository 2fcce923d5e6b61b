"""What nobody listens to is neither computed nor sent; who comes later gets what is said of the next state."""

import time

import pytest
from rclpy.parameter import Parameter

from hybrid_contact_msgs.msg import ConstraintStability, ContactMode
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.nodes.constraint_stability import ConstraintStabilityNode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.nodes.outputs import STABILITY


def asked(node):
    """The parts that updates are asked for from now on."""
    update, parts = node.stream.estimator.update, []

    def noted(state, wanted):
        parts.append(int(wanted))
        return update(state, wanted)

    node.stream.estimator.update = noted
    return parts


@pytest.mark.parametrize("serialized", [True, False])
@pytest.mark.parametrize("make", [ContactSuiteNode, ConstraintStabilityNode])
def test_flags_are_computed_for_listeners_alone(bench, make, serialized):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(make, serialized_io=serialized)
    parts = asked(node)
    for k in range(3):
        bench.send()
        bench.until(lambda k=k: len(parts) > k)
    assert not any(wanted & STABILITY for wanted in parts)
    if make is ContactSuiteNode:
        bench.until(lambda: len(modes) == 3)
    subscription = bench.partner.create_subscription(
        ConstraintStability, "constraint_stability", (flags := []).append, 10
    )
    bench.until(lambda: node._stability.heard and subscription.get_publisher_count())
    del parts[:]
    stamp = bench.send()
    bench.until(lambda: flags)
    assert flags[0].header.stamp == stamp and all(wanted & STABILITY for wanted in parts)
    bench.partner.destroy_subscription(subscription)
    bench.until(lambda: not node._stability.heard)
    del parts[:]
    bench.send()
    bench.until(lambda: parts)
    assert not parts[0] & STABILITY


def test_parts_that_are_left_out_are_left_out_for_listeners_too(bench):
    flags = bench.listen(ConstraintStability, "constraint_stability")
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode)
    bench.answer(modes)
    bench.until(lambda: flags)
    node.stream.budget.parts = Parts.MODE
    del flags[:]
    for _ in range(3):
        bench.answer(modes)
    bench.spin(0.1)
    assert not flags


def test_an_inactive_node_sends_nothing(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode)
    bench.answer(modes)
    estimator = node.stream.estimator
    message = node.stream.encoder.mode(estimator.update(estimator._latest.state).mode)
    assert isinstance(message, bytes)
    node.trigger_deactivate()
    del modes[:]
    node._mode._mode.publish(message)
    bench.spin(0.2)
    assert not modes


def test_the_clock_is_that_of_the_node_whenever_simulated_time_begins_and_ends(bench):
    node = bench.start(ContactSuiteNode)
    assert abs(node.now_ns() - time.time_ns()) < 10**9
    for simulated in (True, False, True):
        node.set_parameters([Parameter("use_sim_time", value=simulated)])
        real = abs(node.now_ns() - time.time_ns()) < 10**9
        assert real is not simulated
        assert abs(node.now_ns() - node.get_clock().now().nanoseconds) < 10**9


def test_a_listener_is_noticed_without_a_turn_of_the_executor(bench):
    node = bench.start(ContactSuiteNode)
    assert not node._stability.heard
    subscription = bench.partner.create_subscription(ConstraintStability, "constraint_stability", lambda _: None, 10)
    limit = time.monotonic() + 10.0
    while not node._stability.heard and time.monotonic() < limit:
        time.sleep(0.01)  # nobody spins
    assert node._stability.heard
    bench.partner.destroy_subscription(subscription)
