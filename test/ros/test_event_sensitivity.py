"""``event_sensitivity`` of live nodes: for listeners alone, beside the states, left out first, as a replay says it."""

import threading

import numpy as np
import pytest

from helpers import leg
from hybrid_contact_msgs.msg import ConstraintStability, ContactMode, EventSensitivity, PostImpactVelocitySet
from hybrid_contact_ros.codes import EventKind, EventValidity
from hybrid_contact_ros.estimation.event_maps import EventMaps
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.impacts.steps import LONG
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.sensitivity_reader import read_event_sensitivity
from hybrid_contact_ros.nodes.constraint_stability import ConstraintStabilityNode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.nodes.outputs import SENSITIVITY
from hybrid_contact_ros.ros.message_types import message_types, nanoseconds

EVERY = leg.PARAMETERS + "    sensitivity: {interval: 0.0}\n"
LONG_WAIT = 120.0  # s; a machine with much else to do takes its time


class Gate:
    """Holds every sensitivity of a node up until it is opened."""

    def __init__(self, node):
        self.reached, self.open = threading.Semaphore(0), threading.Event()
        self.stamps = []
        maps = node.stream.maps._maps
        ahead = maps.ahead

        def held(given):
            self.stamps.append(given.stamp_ns)
            self.reached.release()
            yield LONG
            assert self.open.wait(LONG_WAIT)
            return (yield from ahead(given))

        maps.ahead = held


def with_covariance(bench, stamp, height=0.62):
    msg = leg.odometry(stamp, height)
    msg.pose.covariance = (1e-6 * np.eye(6)).reshape(-1)
    msg.twist.covariance = (1e-4 * np.eye(6)).reshape(-1)
    return msg


def feed(bench, node, known=True):
    """Answer a state that the node gets; its stamp in ns."""
    stamp = bench.stamp()
    odometry = with_covariance(bench, stamp) if known else leg.odometry(stamp, 0.62)
    node.stream.on_odometry(odometry, None, None)
    node.stream.on_joint_state(leg.joint_state(stamp), None, None)
    bench.until(lambda: node.stream.estimator.stamp_ns == nanoseconds(stamp))
    return nanoseconds(stamp)


@pytest.mark.parametrize("serialized", [True, False], ids=["bytes", "objects"])
@pytest.mark.parametrize("make", [ContactSuiteNode, ConstraintStabilityNode])
def test_a_listener_gets_the_sensitivity_of_a_landing(bench, make, serialized):
    heard = bench.listen(EventSensitivity, "event_sensitivity")
    node = bench.start(make, serialized_io=serialized)
    bench.until(lambda: bench.partner.count_publishers("event_sensitivity"))
    bench.until(lambda: node._sensitivity.heard)
    stamp = feed(bench, node)
    bench.until(lambda: heard)
    (msg,) = heard
    assert nanoseconds(msg.header.stamp) == stamp and msg.header.frame_id == "map"
    assert (msg.kind, list(msg.contacts), list(msg.closed)) == (EventKind.TOUCHDOWN, ["foot"], [])
    assert msg.validity == EventValidity.VALID and msg.time_sigma_valid and msg.probability_valid
    assert msg.dof == 8 and len(msg.words[0].saltation) == 16 * 16 and np.isfinite(msg.words[0].saltation).all()
    assert msg.model_hash == node.stream.estimator.model.hash and nanoseconds(msg.compute_time) > 0


def test_without_odometry_covariance_probabilities_are_flagged(bench):
    heard = bench.listen(EventSensitivity, "event_sensitivity")
    node = bench.start(ContactSuiteNode)
    bench.until(lambda: node._sensitivity.heard)
    feed(bench, node, known=False)
    bench.until(lambda: heard)
    (msg,) = heard
    assert np.isnan(msg.time_sigma).all() and np.isnan(msg.words[0].probability)
    assert not (msg.time_sigma_valid or msg.probability_valid or msg.mixture_valid) and not len(msg.covariance)


def test_nothing_is_computed_while_nobody_listens(bench, monkeypatch):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode)
    asked = []
    events_ahead = node.stream.estimator.events_ahead
    node.stream.estimator.events_ahead = lambda: asked.append(1) or events_ahead()
    for _ in range(3):
        bench.answer(modes)
    assert not asked
    subscription = bench.partner.create_subscription(EventSensitivity, "event_sensitivity", (heard := []).append, 10)
    bench.until(lambda: node._sensitivity.heard)
    bench.answer(modes)
    bench.until(lambda: heard)
    bench.partner.destroy_subscription(subscription)
    bench.until(lambda: not node._sensitivity.heard)
    del asked[:]
    bench.answer(modes)
    assert not asked


def test_each_is_the_one_of_a_replay_to_the_bit(bench):
    heard = bench.listen(EventSensitivity, "event_sensitivity", 100)
    node = bench.start(ContactSuiteNode, parameters=EVERY)
    bench.until(lambda: node._sensitivity.heard)
    states, update = [], node.stream.estimator.update
    node.stream.estimator.update = lambda state, parts: states.append(state) or update(state, parts)
    stamps = [feed(bench, node) for _ in range(5)]
    bench.until(lambda: heard and nanoseconds(heard[-1].header.stamp) == stamps[-1])
    config = node.stream.estimator.config
    replay = ContactEstimator(RigidBodyModel.from_urdf(node.urdf, config), config)
    encoder, expected = Encoder(message_types(), replay.model, "map"), {}
    for state in states:
        for event in replay.update(state, Parts.ALL | Parts.SENSITIVITY).sensitivity:
            expected[state.stamp_ns] = encoder.sensitivity(event, 0)
    for msg in heard:
        msg.compute_time.sec = msg.compute_time.nanosec = 0
        assert repr(msg) == repr(expected[nanoseconds(msg.header.stamp)])  # repr has all bits, and NaN equals NaN


def test_no_state_and_no_set_waits_and_the_newest_state_is_next(bench):
    modes, sets = bench.listen(ContactMode, "contact_mode"), bench.listen(PostImpactVelocitySet, "impact_set")
    heard = bench.listen(EventSensitivity, "event_sensitivity")
    node = bench.start(ContactSuiteNode, parameters=EVERY)
    bench.until(lambda: node._sensitivity.heard)
    gate = Gate(node)
    try:
        first = feed(bench, node)
        assert gate.reached.acquire(timeout=LONG_WAIT)
        later = [feed(bench, node) for _ in range(3)]
        bench.until(lambda: len(modes) == 4 and sets and nanoseconds(sets[-1].header.stamp) == later[-1])
        assert not heard and gate.stamps == [first]
    finally:
        gate.open.set()
    bench.until(lambda: len(heard) == 2)
    assert [nanoseconds(m.header.stamp) for m in heard] == [first, later[-1]]


def test_states_nearer_than_the_interval_have_none(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    heard = bench.listen(EventSensitivity, "event_sensitivity")
    node = bench.start(ContactSuiteNode, parameters=leg.PARAMETERS + "    sensitivity: {interval: 0.004}\n")
    bench.until(lambda: node._sensitivity.heard)
    stamps = []
    for k in range(5):  # 2 ms apart
        stamps.append(feed(bench, node))
        bench.until(lambda k=k: len(modes) == k + 1 and len(heard) == k // 2 + 1)
    assert [nanoseconds(m.header.stamp) for m in heard] == stamps[::2]


def test_what_was_begun_is_not_published_after_the_node_forgot_its_state(bench):
    heard = bench.listen(EventSensitivity, "event_sensitivity")
    node = bench.start(ContactSuiteNode, parameters=EVERY)
    bench.until(lambda: node._sensitivity.heard)
    gate = Gate(node)
    feed(bench, node)
    assert gate.reached.acquire(timeout=LONG_WAIT)
    node.stream.forget()
    gate.open.set()
    bench.until(lambda: node.stream.maps.at_rest)
    stamp = feed(bench, node)
    bench.until(lambda: heard)
    assert [nanoseconds(m.header.stamp) for m in heard] == [stamp]


def test_it_is_left_out_first_and_for_listeners_too(bench):
    heard, flags = (
        bench.listen(EventSensitivity, "event_sensitivity"),
        bench.listen(ConstraintStability, "constraint_stability"),
    )
    node = bench.start(ContactSuiteNode, parameters=EVERY)
    bench.until(lambda: node._sensitivity.heard and node._stability.heard)
    node.stream.budget.parts = Parts.ALL
    feed(bench, node)
    bench.until(lambda: flags)
    assert not node.stream.parts & SENSITIVITY and node.stream.maps.at_rest and not heard


def test_a_horizon_of_zero_has_no_topic_and_no_thread(bench):
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode, parameters=leg.PARAMETERS + "    sensitivity: {horizon: 0.0}\n")
    bench.answer(modes)
    assert node.stream.maps is None and not node.parts & SENSITIVITY
    assert not bench.partner.count_publishers("event_sensitivity")


def test_a_fault_of_the_suite_is_told_and_the_next_one_comes(bench, monkeypatch):
    heard = bench.listen(EventSensitivity, "event_sensitivity")
    node = bench.start(ContactSuiteNode, parameters=EVERY)
    bench.until(lambda: node._sensitivity.heard)
    with monkeypatch.context() as broken:
        broken.setattr(EventMaps, "ahead", lambda *_: 1 / 0)
        bench.diagnostics.clear()
        feed(bench, node)
        bench.told(node, "internal error: ZeroDivisionError")
    stamp = feed(bench, node)
    bench.until(lambda: heard)
    assert nanoseconds(heard[0].header.stamp) == stamp


def test_the_bytes_of_a_topic_are_read_by_controllers(bench):
    data = []
    bench.partner.create_subscription(EventSensitivity, "event_sensitivity", data.append, 10, raw=True)
    node = bench.start(ContactSuiteNode)
    bench.until(lambda: node._sensitivity.heard)
    stamp = feed(bench, node)
    bench.until(lambda: data)
    view = read_event_sensitivity(data[0])
    assert view.stamp_ns == stamp and view.contacts == ("foot",) and view.words[0].saltation.shape == (16, 16)
