"""Every input fault is counted, named in the diagnostics, and leaves the node answering as before."""

import threading
import time

import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from helpers import leg
from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.messages.refusals import REASONS
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode


@pytest.fixture
def modes(bench):
    return bench.listen(ContactMode, "contact_mode")


@pytest.fixture
def node(bench, modes):
    node = bench.start(ContactSuiteNode)
    bench.answer(modes)
    return node


FAULTS = {
    "not_finite": {"position": (0.0, leg.NAN)},
    "array_length": {"position": (0.0,)},
    "no_velocity": {"velocity": ()},
    "joint_names": {"names": ("hip", "elbow")},
}


@pytest.mark.parametrize("reason", FAULTS)
def test_bad_joint_state_is_counted_named_and_without_effect(bench, node, modes, reason):
    before = bench.answer(modes)
    bench.diagnostics.clear()
    bench.send(**FAULTS[reason])
    bench.until(lambda: bench.fault_count(node, reason) == 1)
    level, _, values = bench.told(node, REASONS[reason])
    assert level in (DiagnosticStatus.WARN, DiagnosticStatus.ERROR)
    assert values[f"input fault: {reason}"] == "1"
    after = bench.answer(modes)
    assert after.contacts[0].gap == before.contacts[0].gap
    assert after.mode == before.mode


def test_effort_of_nan_is_reported_and_the_state_used_without_effort(bench, node, modes):
    answer = bench.answer(modes, effort=(leg.NAN, 0.0))
    assert not answer.validity & ContactMode.VALID_EFFORT
    assert bench.fault_count(node, "effort_not_finite") == 1
    assert bench.answer(modes).validity & ContactMode.VALID_EFFORT


def test_reordered_joints_with_strangers_among_them_give_the_same_answer(bench, node, modes):
    plain = bench.answer(modes, position=(0.2, -0.4), velocity=(1.0, 2.0))
    mixed = bench.answer(
        modes, names=("gripper", "knee", "hip"), position=(9.0, -0.4, 0.2), velocity=(0.0, 2.0, 1.0), effort=(0.0,) * 3
    )
    assert mixed.contacts[0].gap == plain.contacts[0].gap
    assert mixed.contacts[0].normal_velocity == plain.contacts[0].normal_velocity


@pytest.mark.parametrize(("ahead", "reason"), [(-50_000_000, "backward_stamp"), (0, "repeated_stamp")])
def test_stamps_that_do_not_advance_are_refused(bench, node, modes, ahead, reason):
    bench.answer(modes)
    newest = bench.now
    bench.send(stamp=bench.stamp(ahead))
    bench.until(lambda: bench.fault_count(node, reason) >= 1)
    bench.now = newest
    bench.answer(modes)


def test_stale_input_is_used_and_reported(bench, modes):
    node = bench.start(ContactSuiteNode, parameters=leg.PARAMETERS.replace("stale_after: 0.0", "stale_after: 0.1"))
    bench.answer(modes)  # the tests' stamps are decades old
    assert bench.fault_count(node, "stale") >= 1
    assert bench.diagnosis(node)[2]["input fault: stale"]


def test_floating_base_without_odometry_says_so(bench, modes):
    node = bench.start(ContactSuiteNode)
    bench.diagnostics.clear()
    for _ in range(5):
        bench.joints.publish(leg.joint_state(bench.stamp()))
        bench.spin(0.02)
    bench.until(lambda: bench.fault_count(node, "no_odometry") >= 1)
    assert modes == []
    assert bench.told(node, "odometry")[0] == DiagnosticStatus.ERROR
    for _ in range(5):  # the first may still be taken for one without odometry: the streams are not in step yet
        bench.send()
        bench.spin(0.02)
    bench.until(lambda: modes)


def test_quaternion_of_zeros_is_refused(bench, node, modes):
    stamp = bench.stamp()
    bad = leg.odometry(stamp)
    bad.pose.pose.orientation.w = 0.0
    bench.base.publish(bad)
    bench.until(lambda: bench.fault_count(node, "quaternion_norm") == 1)
    bench.answer(modes)


def test_two_publishers_on_one_input_are_named(bench, node, modes):
    second = bench.partner.create_publisher(type(leg.joint_state(Time())), "joint_states", 10)
    bench.until(lambda: second.get_subscription_count() == 1)
    bench.answer(modes)
    for _ in range(3):
        level, text, values = bench.diagnosis(node)
        if values["publishers on joint_states"] == "2":
            break
        bench.answer(modes)
    assert values["publishers on joint_states"] == "2"
    bench.answer(modes)
    level, text, values = bench.diagnosis(node)
    assert level == DiagnosticStatus.WARN
    assert "joint_states" in text


def test_a_command_becomes_part_of_the_states_that_follow_and_is_counted(bench, modes):
    node = bench.start(ContactSuiteNode, **{"input.command_stiffness": [60.0], "input.command_damping": [2.0]})
    plain = bench.answer(modes)
    assert not any("joint_command" in key for key in bench.diagnosis(node)[2])

    def commanded():
        bench.beside("joint_command").publish(leg.joint_state(bench.stamp(1), position=(0.1, -0.2), velocity=()))
        bench.until(lambda: node.stream.intake.received["joint_command"])
        return bench.answer(modes)

    told = commanded()
    assert told.contacts[0].gap == plain.contacts[0].gap
    assert node.stream.estimator._latest.state.command.position.tolist()[6:] == [0.1, -0.2]
    _, _, values = bench.diagnosis_after(
        commanded, node, lambda level, _, values: level == DiagnosticStatus.OK and "joint_command rate [Hz]" in values
    )
    assert int(values["states with joint_command"]) >= 1
    assert values["publishers on joint_command"] == "1"


def test_two_publishers_of_commands_are_named(bench, node, modes):
    bench.beside("joint_command")
    second = bench.partner.create_publisher(type(leg.joint_state(Time())), "joint_command", 10)
    bench.until(lambda: second.get_subscription_count() == 1)
    bench.diagnosis_after(
        lambda: bench.answer(modes), node, lambda level, text, _: "joint_command: 2 publishers" in text
    )


def test_gains_that_are_not_as_many_as_joints_are_refused_at_configure(bench):
    node = bench.start(ContactSuiteNode, configure=False, **{"input.command_stiffness": [1.0, 2.0, 3.0]})
    assert node.trigger_configure().name == "FAILURE"
    assert "command_stiffness has 3 numbers" in bench.told(node, "not configured")[1]


def test_good_input_is_diagnosed_ok_with_rate_and_latency(bench, node, modes):
    good = DiagnosticStatus.OK, "predicting"
    _, _, values = bench.diagnosis_after(
        lambda: [bench.answer(modes) for _ in range(20)], node, lambda level, text, _: (level, text) == good
    )
    assert float(values["predictions rate [Hz]"]) > 0
    assert float(values["compute p99 [ms]"]) > 0


def test_silence_is_diagnosed_as_stale(bench, node):
    bench.diagnosis(node)
    assert bench.diagnosis(node)[0] == DiagnosticStatus.STALE


def test_use_sim_time_takes_ages_from_the_clock_topic(bench, modes):
    node = bench.start(ContactSuiteNode, configure=False)
    node.set_parameters([Parameter("use_sim_time", value=True)])
    clock = bench.partner.create_publisher(Clock, "/clock", 10)
    node.trigger_configure()
    node.trigger_activate()
    bench.until(lambda: clock.get_subscription_count() == 1 and bench.joints.get_subscription_count() == 1)
    stamp = bench.stamp()
    clock.publish(Clock(clock=Time(sec=stamp.sec, nanosec=stamp.nanosec + 5_000_000)))
    bench.until(lambda: node.now_ns() == bench.now + 5_000_000)
    bench.send(stamp=stamp)
    bench.until(lambda: modes)
    assert modes[0].input_age.nanosec == 5_000_000


def test_age_and_computation_add_up_where_a_state_waits_for_other_threads(bench, modes):
    """A wait is part of the computation alone: counted in both, the parts would be more than the whole."""
    node, has, wait = bench.start(ContactSuiteNode), threading.Event(), 0.1

    def other():
        with node.stream.turn.last:
            has.set()
            while not node.stream.turn._wanted:
                time.sleep(0.001)
            time.sleep(wait)

    bench.now = time.time_ns()
    stamp = bench.stamp(ahead_ns=0)
    bench.base.publish(leg.odometry(stamp))
    bench.until(lambda: node.stream.intake.rates["odom"].received)
    thread = threading.Thread(target=other)
    thread.start()
    assert has.wait(10.0)
    bench.joints.publish(leg.joint_state(stamp))
    bench.until(lambda: modes)
    thread.join()
    (message,) = modes
    computed = Duration.from_msg(message.compute_time).nanoseconds
    aged = Duration.from_msg(message.input_age).nanoseconds
    assert computed >= 1e9 * wait
    assert aged + computed <= time.time_ns() - bench.now


def test_before_configuring_the_diagnostics_say_what_is_awaited(bench):
    node = bench.start(ContactSuiteNode, configure=False, robot_description="")
    level, text, _ = bench.diagnosis(node)
    assert level == DiagnosticStatus.WARN
    assert "no robot description" in text


def test_an_internal_error_is_told_and_does_not_end_the_node(bench, node, modes, monkeypatch):
    monkeypatch.setattr(node.stream.estimator, "update", lambda *_: 1 / 0)
    bench.diagnostics.clear()
    bench.send()
    bench.until(lambda: bench.fault_count(node, "internal") == 1)
    assert bench.told(node, "internal error")[0] == DiagnosticStatus.ERROR
    monkeypatch.undo()
    bench.answer(modes)


def test_a_state_that_cannot_be_computed_with_is_counted_and_named(bench, modes):
    node = bench.start(ContactSuiteNode, **{"input.limit_factor": 0.0})
    bench.answer(modes)
    stamp = bench.stamp()
    spinning = leg.odometry(stamp)
    spinning.twist.twist.angular.x = 1e200
    bench.diagnostics.clear()
    bench.base.publish(spinning)
    bench.joints.publish(leg.joint_state(stamp))
    bench.until(lambda: bench.fault_count(node, "state") == 1)
    _, text, values = bench.told(node, "the estimator cannot compute with the state")
    assert "too large" in text
    assert "too large" in values["latest input fault"]
    bench.answer(modes)


def test_joints_that_nobody_publishes_can_be_locked(bench, modes):
    bench.start(ContactSuiteNode, locked_joints=["knee"])
    answer = bench.answer(modes, names=("hip",), position=(0.0,), velocity=(0.0,), effort=(0.0,))
    assert answer.contacts[0].gap == pytest.approx(0.02)


def test_the_time_before_configuring_counts_for_no_rates(bench):
    node = bench.start(ContactSuiteNode, configure=False)
    begin = time.perf_counter()
    node.trigger_configure()
    assert node.reports.begun > begin


def test_contacts_far_inside_their_plane_are_told(bench, node, modes):
    """An odometry whose height is off, the most common mistake of a first set-up."""
    _, text, values = bench.diagnosis_after(
        lambda: bench.answer(modes, height=0.5),  # the foot hangs 0.6 m below the body
        node,
        lambda level, text, _: level == DiagnosticStatus.WARN and "foot by 0.100 m" in text,
    )
    assert "offset" in text and int(values["states with contacts inside planes"]) > 0
    bench.diagnosis_after(lambda: bench.answer(modes), node, lambda level, *_: level == DiagnosticStatus.OK)
