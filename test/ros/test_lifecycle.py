"""Every transition of every node with an engine, and what is published in between."""

import pytest
from lifecycle_msgs.msg import State
from rclpy.lifecycle import TransitionCallbackReturn

from helpers import leg
from hybrid_contact_msgs.msg import ConstraintStability, ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.nodes.constraint_stability import ConstraintStabilityNode
from hybrid_contact_ros.nodes.contact_mode import ContactModeNode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.nodes.impact_set import ImpactSetNode

NODES = {
    ContactModeNode: ("contact_mode", ContactMode),
    ImpactSetNode: ("impact_set", PostImpactVelocitySet),
    ConstraintStabilityNode: ("constraint_stability", ConstraintStability),
    ContactSuiteNode: ("contact_mode", ContactMode),
}
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


def state_of(node):
    return node._state_machine.current_state[0]


@pytest.mark.parametrize("make", NODES, ids=lambda make: make.__name__)
def test_every_transition_twice_and_silence_while_inactive(bench, make):
    topic, kind = NODES[make]
    heard = bench.listen(kind, topic)
    node = bench.start(make, configure=False)
    for _ in range(2):
        assert node.trigger_configure() == SUCCESS
        assert state_of(node) == State.PRIMARY_STATE_INACTIVE
        bench.until(lambda: bench.joints.get_subscription_count() == 1)
        bench.spin(0.1)
        heard.clear()
        bench.send()
        bench.spin(0.2)
        assert heard == []
        assert node.trigger_activate() == SUCCESS
        bench.spin(0.2)
        for _ in range(20):
            bench.send()
            bench.spin(0.01)
        bench.until(lambda: heard)
        assert node.trigger_deactivate() == SUCCESS
        assert node.trigger_activate() == SUCCESS
        assert node.trigger_deactivate() == SUCCESS
        assert node.trigger_cleanup() == SUCCESS
        assert state_of(node) == State.PRIMARY_STATE_UNCONFIGURED
        assert node.stream is None
    assert node.trigger_shutdown() == SUCCESS
    assert state_of(node) == State.PRIMARY_STATE_FINALIZED


@pytest.mark.parametrize("active", [False, True])
def test_shutdown_from_inactive_and_from_active(bench, active):
    node = bench.start(ContactSuiteNode, activate=active)
    assert node.trigger_shutdown() == SUCCESS
    assert state_of(node) == State.PRIMARY_STATE_FINALIZED


def test_without_a_robot_description_configure_fails_and_can_be_tried_again(bench):
    node = bench.start(ContactSuiteNode, configure=False, robot_description="")
    assert node.trigger_configure() == FAILURE
    assert state_of(node) == State.PRIMARY_STATE_UNCONFIGURED
    bench.describe()
    bench.until(lambda: node._description.there)
    assert node.trigger_configure() == SUCCESS


def test_a_node_without_autostart_says_once_what_it_waits_for(bench, capfd):
    node = bench.start(ContactSuiteNode, configure=False)
    name = node.get_fully_qualified_name()
    bench.spin(0.5)
    told = capfd.readouterr().err
    assert told.count("waiting to be configured") == 1
    for command in (f"ros2 lifecycle set {name} configure", f"ros2 lifecycle set {name} activate", "autostart:=true"):
        assert command in told
    bench.diagnosis(node)
    assert bench.diagnosis(node)[1] == f"not configured; `ros2 lifecycle set {name} configure` configures it"
    assert node.trigger_configure() == SUCCESS and node.trigger_cleanup() == SUCCESS
    bench.spin(0.3)
    assert "waiting to be configured" not in capfd.readouterr().err


def test_urdf_without_the_named_link_fails_configure_by_name(bench, capfd):
    node = bench.start(ContactSuiteNode, configure=False, parameters=leg.PARAMETERS.replace("shank", "schank"))
    assert node.trigger_configure() == FAILURE
    assert "schank" in capfd.readouterr().err


def test_autostart_waits_for_the_description_then_activates(bench):
    node = bench.start(ContactSuiteNode, configure=False, robot_description="", autostart=True)
    bench.spin(0.3)
    assert state_of(node) == State.PRIMARY_STATE_UNCONFIGURED
    bench.describe()
    bench.until(lambda: state_of(node) == State.PRIMARY_STATE_ACTIVE)


def test_suite_publishes_mode_stability_and_set_with_the_stamp_of_the_measurement(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    flags = bench.listen(ConstraintStability, "constraint_stability")
    sets = bench.listen(PostImpactVelocitySet, "impact_set")
    bench.start(ContactSuiteNode)
    stamp = bench.stamp()
    bench.base.publish(leg.odometry(stamp, height=0.62, fall=-1.0))  # the foot touches in 20 ms
    bench.joints.publish(leg.joint_state(stamp))
    bench.until(lambda: modes and flags and sets)
    for message in (modes[0], flags[0], sets[0]):
        assert message.header.stamp == stamp
        assert message.header.frame_id == "map"
    contact = modes[0].contacts[0]
    assert (contact.name, contact.next_event) == ("foot", contact.EVENT_TOUCHDOWN)
    assert contact.gap == pytest.approx(0.02)
    assert list(sets[0].contacts) == ["foot"]
    assert sets[0].count > 0
    assert len(sets[0].velocities) == sets[0].count * sets[0].dof


def test_namespace_moves_all_topics(bench):
    heard = bench.listen(ContactMode, "/robot/contact_mode")
    node = bench.start(ContactSuiteNode, arguments=["-r", "__ns:=/robot"], configure=False)
    assert node.trigger_configure() == SUCCESS
    assert node.trigger_activate() == SUCCESS
    joints = bench.partner.create_publisher(type(leg.joint_state(bench.stamp())), "/robot/joint_states", 10)
    base = bench.partner.create_publisher(type(leg.odometry(bench.stamp())), "/robot/odom", 10)
    bench.until(lambda: joints.get_subscription_count() and base.get_subscription_count())
    bench.spin(0.1)
    stamp = bench.stamp()
    base.publish(leg.odometry(stamp))
    joints.publish(leg.joint_state(stamp))
    bench.until(lambda: heard)


@pytest.mark.parametrize("configure", [False, True])
def test_a_destroyed_node_leaves_the_graph_while_its_process_lives_on(bench, configure):
    """A participant that stays takes one of the 32 places that discovery on one machine has."""
    node = bench.start(ContactModeNode, configure=configure)
    name = node.get_name()
    bench.until(lambda: name in bench.partner.get_node_names())
    bench.nodes.remove(node)
    bench.executor.remove_node(node)
    node.destroy_node()
    bench.until(lambda: name not in bench.partner.get_node_names())
