"""A node that loses states says so and leaves parts out; faults of the input are logged."""

import time
from types import SimpleNamespace

import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from helpers import leg
from hybrid_contact_msgs.msg import ConstraintStability, ContactMode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros import diagnostics
from hybrid_contact_ros.ros.diagnostics import FaultLog
from hybrid_contact_ros.ros.subscription import Numbered

FIXED = leg.PARAMETERS.replace("floating_base: true", "floating_base: false")


def flood(bench, node, states, seconds=0.005):
    """Send states every 5 ms from outside of the executor, while the node spins at its own pace."""
    sent = 0
    end = time.monotonic() + states * seconds
    due = time.monotonic()
    while time.monotonic() < end:
        while due <= time.monotonic():
            bench.joints.publish(leg.joint_state(bench.stamp(5_000_000)))
            due += seconds
            sent += 1
        bench.executor.spin_once(timeout_sec=0.001)
    return sent


def test_states_that_the_middleware_dropped_are_counted_and_warned_of_by_their_share(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode, parameters=FIXED)
    update = node.stream.estimator.update

    def slow(*given):
        time.sleep(0.03)
        return update(*given)

    node.stream.estimator.update = slow
    bench.diagnostics.clear()
    sent = flood(bench, node, 300)
    rate = node.stream.intake.rates["joint_states"]
    bench.until(lambda: rate.lost + rate.received >= sent - 10)  # what is lost before the first one is not known of
    assert rate.exact and rate.lost > 0.4 * sent
    assert rate.lost + rate.received <= sent
    assert rate.period_ns == 5_000_000
    level, text, values = bench.told(node, "of states lost")
    assert level == DiagnosticStatus.WARN
    assert int(values["joint_states lost"]) > 0 and float(values["share answered"]) < 0.6
    assert f"{100 * (1 - float(values['share answered'])):.0f} % of states lost" in text
    bench.until(lambda: len(modes) == node.stream.intake.states == rate.received)


def test_less_is_computed_in_the_stated_order_and_returns(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    flags = bench.listen(ConstraintStability, "constraint_stability")
    node = bench.start(ContactSuiteNode, parameters=FIXED)
    estimator = node.stream.estimator
    update, delay = estimator.update, 0.03

    def slow(*given):
        time.sleep(delay)
        return update(*given)

    estimator.update = slow
    limit = time.monotonic() + 30.0
    while len(node.stream.budget.left_out) < 3 and time.monotonic() < limit:
        flood(bench, node, 40)
    assert node.stream.budget.left_out == ("impact_set", "constraint_stability", "the sequence in contact_mode")
    before = bench.now  # what was on its way comes later
    flood(bench, node, 40)
    bench.until(lambda: any(after(m, before) for m in modes))
    assert not any(after(m, before) for m in flags)
    assert not any(m.validity & ContactMode.VALID_SEQUENCE for m in modes if after(m, before))
    _, text, values = bench.diagnosis(node)
    assert values["left out"] == "impact_set, constraint_stability, the sequence in contact_mode" and "left out" in text
    delay = 0.0
    limit = time.monotonic() + 120.0
    while node.stream.budget.left_out and time.monotonic() < limit:
        bench.answer(modes)  # one after the other: none is lost, whatever else the machine does
        bench.spin(0.02)
    assert node.stream.budget.left_out == ()
    before = bench.now
    bench.answer(modes)
    bench.until(lambda: any(after(m, before) for m in flags))


def after(message, now):
    """Whether a message has a later stamp."""
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec > now


def test_what_comes_while_a_node_is_disabled_is_not_lost(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode, parameters=FIXED)
    bench.answer(modes)
    take, taken = node.stream._take, []
    node.stream._take = lambda *given: (taken.append(given[2]), take(*given))
    node.stream.enabled = False
    for k in range(20):
        bench.send()
        bench.until(lambda k=k: taken.count("joint_states") > k)
    node.stream.enabled = True
    bench.answer(modes)
    assert node.stream.intake.rates["joint_states"].exact and node.stream.intake.rates["joint_states"].lost == 0


def test_the_frame_of_a_fixed_base_is_its_root_link(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    bench.start(ContactSuiteNode, parameters=FIXED)
    assert bench.answer(modes).header.frame_id == "body"


@pytest.mark.parametrize(
    ("joints", "reason", "what"),
    [
        ({"position": (0.0, 1e300)}, "implausible", "position of joint 'knee' is 1e+300 rad"),
        ({"velocity": (1e6, 0.0)}, "implausible", "velocity of joint 'hip' is 1e+06 rad/s"),
        ({"effort": (0.0, 1e300)}, "effort_implausible", "effort of joint 'knee' is 1e+300 N m"),
        ({"names": ("hip", "knee", "knee"), "position": (0.0,) * 3, "velocity": (0.0,) * 3}, "array_length", "3 names"),
        ({"names": ("knee", "knee")}, "joint_names", "given twice: knee"),
        ({"velocity": (0.0,)}, "array_length", "velocity 1"),
        ({"names": ("", "knee")}, "joint_names", "hip"),
    ],
)
def test_each_fault_has_its_own_sentence_in_the_diagnostics(bench, joints, reason, what):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode)
    bench.answer(modes)
    bench.diagnostics.clear()
    bench.send(**joints)
    bench.until(lambda: bench.fault_count(node, reason) == 1)
    level, text, values = bench.told(node, what)
    assert level in (DiagnosticStatus.WARN, DiagnosticStatus.ERROR)
    assert "joint_states: " in text and what in values[f"latest joint_states {reason}"]
    answer = bench.answer(modes)
    assert abs(answer.contacts[0].force_model.z) < 1e6


def test_a_bad_quaternion_is_the_first_thing_that_the_diagnostics_say(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode)
    bench.answer(modes)
    bench.diagnostics.clear()
    for _ in range(60):
        stamp = bench.stamp()
        bad = leg.odometry(stamp)
        bad.pose.pose.orientation.w = 0.0
        bench.base.publish(bad)
        bench.joints.publish(leg.joint_state(stamp))
        bench.spin(0.003)
    bench.until(lambda: bench.fault_count(node, "odometry_timeout") > 0)
    _, text, _ = bench.told(node, "too far from the joint state")
    assert text.index("odom: the orientation is not a unit quaternion") < text.index("too far from the joint state")


class Logger:
    def __init__(self):
        self.lines = []

    def warning(self, text):
        self.lines.append(text)


def test_a_second_kind_of_fault_is_logged_beside_the_first(bench, monkeypatch):
    node = bench.start(ContactSuiteNode)
    logger = Logger()
    node.stream.log = FaultLog(logger)
    begin = time.monotonic()
    monkeypatch.setattr(diagnostics, "time", SimpleNamespace(monotonic=lambda: begin))  # however long it takes
    modes = bench.listen(ContactMode, "contact_mode")
    bench.answer(modes)
    for _ in range(3):
        for bad in ({"position": (0.0, leg.NAN)}, {"velocity": (0.0,) * 7}):
            before = node.stream.intake.faults.total()
            bench.send(**bad)
            bench.until(lambda before=before: node.stream.intake.faults.total() > before)
    assert sum("NaN or infinite" in line for line in logger.lines) == 1
    assert sum("not as long as name" in line for line in logger.lines) == 1
    monkeypatch.setattr(diagnostics, "time", SimpleNamespace(monotonic=lambda: begin + 6.0))
    node.stream.log.tell(node.stream.intake)
    node.stream.intake.refuse("it is bad")
    node.stream.log.tell(node.stream.intake)
    assert "joint_states: the estimator cannot compute with the state (it is bad)" in logger.lines[-1]


@pytest.mark.parametrize("wrap", [lambda message, info: (message, info), lambda message, info: ((message, info),)])
def test_numbered_callbacks_take_what_either_executor_hands_them(wrap):
    got = []
    callback = Numbered(lambda *given: got.append(given))
    numbered = {"publication_sequence_number": 7, "publisher_gid": {"data": b"x"}, "received_timestamp": 5}
    callback(*wrap("m", numbered))
    callback(*wrap("m", {"publication_sequence_number": None}))
    callback(*wrap("m", {}))
    assert got == [("m", 7, b"x", 5), ("m", None, None, 0), ("m", None, None, 0)]
