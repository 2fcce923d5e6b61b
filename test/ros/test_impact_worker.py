"""Impact sets on their own thread: each is the replay's set or its beginning, and nothing else depends on them."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import State
from std_srvs.srv import SetBool, Trigger

from helpers import leg
from helpers.node_bench import Bench
from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.impacts.steps import LONG
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.nodes import worker as worker_of_nodes
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros.message_types import nanoseconds

BOUNCY = leg.PARAMETERS.replace("deadline: 0.5", "deadline: 10.0, restitution_margin: 0.4")
HURRIED = BOUNCY.replace("deadline: 10.0", "deadline: 1.0e-6")
LONG_WAIT = 120.0  # s; a machine with much else to do takes its time


class Gate:
    """Holds every set of a node up in the middle of its computation until it is opened."""

    def __init__(self):
        self.reached, self.open = threading.Semaphore(0), threading.Event()
        self.made = 0

    def hold(self, node):
        sets = node.stream.sets._sets
        ahead = sets.ahead

        def held(*given, **named):
            self.reached.release()
            yield LONG  # the thread does not keep the states' turn meanwhile
            assert self.open.wait(LONG_WAIT)
            self.made += 1
            return (yield from ahead(*given, **named))

        sets.ahead = held

    def wait(self):
        assert self.reached.acquire(timeout=LONG_WAIT)


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.open.set()


def feed(bench, node, count=1, height=0.62):
    """Answer states that the node gets one by one; returns their stamps in ns."""
    stamps = []
    for _ in range(count):
        stamp = bench.stamp()
        node.stream.on_odometry(leg.odometry(stamp, height), None, None)
        node.stream.on_joint_state(leg.joint_state(stamp), None, None)
        bench.until(lambda stamp=stamp: node.stream.estimator.stamp_ns == nanoseconds(stamp))
        stamps.append(nanoseconds(stamp))
    return stamps


def at_rest(node):
    """Wait until the thread of the sets has nothing to do."""
    limit = time.monotonic() + LONG_WAIT
    while not node.stream.sets.at_rest:
        assert time.monotonic() < limit
        time.sleep(0.001)


@pytest.mark.parametrize("parameters", [BOUNCY, HURRIED])
def test_each_published_set_is_the_one_of_the_replay_or_its_beginning_to_the_bit(bench, parameters):
    heard = bench.listen(PostImpactVelocitySet, "impact_set", 100)
    node = bench.start(ContactSuiteNode, parameters=parameters)
    estimator = node.stream.estimator
    update, seen = estimator.update, []
    estimator.update = lambda state, parts: (seen.append(state), update(state, parts))[1]
    for k in range(40):
        feed(bench, node, height=0.63 - 0.001 * k)
        bench.spin(0.002 * (k % 3))
        if k % 4 == 0:
            at_rest(node)
    at_rest(node)
    bench.until(lambda: len(heard) >= node.stream.monitor.sets.made)
    assert len(heard) >= 5
    config = replace(estimator.config, impact=replace(estimator.config.impact, deadline=0.0))
    replay = ContactEstimator(RigidBodyModel.from_urdf(leg.URDF, config), config)
    whole = {state.stamp_ns: replay.update(state).impact for state in seen}
    for message in heard:
        full = whole[nanoseconds(message.header.stamp)]
        assert full is not None
        live = np.reshape(message.velocities, (message.count, message.dof))
        assert 1 <= len(live) <= len(full.velocities)
        assert live.tobytes() == full.velocities[: len(live)].tobytes()
        assert message.truncated == (len(live) < len(full.velocities))
        for name, value in (("v_minus", full.velocity_minus), ("v_nominal", full.nominal)):
            assert np.array(getattr(message, name)).tobytes() == value.tobytes()
        assert message.time_to_impact == full.time_to_impact and list(message.contacts) == ["foot"]
        if not message.truncated:
            assert np.array(message.lower).tobytes() == full.lower.tobytes()
            assert message.coverage == full.coverage
    cut = [message.truncated for message in heard]
    assert all(cut) if parameters is HURRIED else not any(cut)


def outputs(directory, monkeypatch, sets):
    """Everything but the sets that a node says of the same states, with sets computed, slow or not at all."""
    bench = Bench(directory)
    try:
        with monkeypatch.context() as patched:
            if sets == "slow":
                ahead = ImpactSets.ahead

                def slow(*given, **named):
                    found = yield from ahead(*given, **named)
                    yield LONG
                    time.sleep(0.03)
                    return found

                patched.setattr(ImpactSets, "ahead", slow)
            heard = [
                bench.listen(ContactMode, "contact_mode", 100),
                bench.listen(ConstraintStability, "constraint_stability", 100),
                bench.listen(ContactEvent, "contact_events", 100),
            ]
            node = bench.start(ContactSuiteNode)
            if sets == "off":
                node.stream.sets = None
            worked, events = node.stream.monitor.sets, []
            publish = node.publish
            node.publish = lambda prediction, *times: (events.extend(prediction.events), publish(prediction, *times))
            for k in range(60):
                feed(bench, node, height=0.66 - 0.001 * k)
            bench.until(lambda: len(heard[0]) == len(heard[1]) == 60 and len(heard[2]) == len(events))
            bench.until(lambda: worked.made or sets == "off")
            assert not (worked.made and sets == "off")
        for message in heard[0]:
            message.compute_time.sec = message.compute_time.nanosec = 0
            message.input_age.sec = message.input_age.nanosec = 0
        for message in heard[1]:
            message.compute_time.sec = message.compute_time.nanosec = 0
        return [repr(messages) for messages in heard]  # repr of a float has all its bits, and NaN equals NaN
    finally:
        bench.close()


def test_nothing_else_depends_on_whether_a_set_was_computed(tmp_path, monkeypatch):
    said = []
    for sets in ("on", "off", "slow"):
        (tmp_path / sets).mkdir()
        said.append(outputs(tmp_path / sets, monkeypatch, sets))
    assert len(said[0][2]) > 2  # there were events
    assert said[0] == said[1] == said[2]


def test_of_states_that_come_during_a_set_the_newest_is_next(bench, gate):
    heard = bench.listen(PostImpactVelocitySet, "impact_set")
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode)
    gate.hold(node)
    first = feed(bench, node)
    gate.wait()
    later = feed(bench, node, 3)
    bench.until(lambda: len(modes) == 4)  # no state waits for the set
    gate.open.set()
    bench.until(lambda: len(heard) == 2)
    bench.spin(0.1)
    assert [nanoseconds(m.header.stamp) for m in heard] == [first[0], later[-1]]
    assert node.stream.monitor.sets.overtaken == 2
    values = node.stream.monitor.sets.values(1.0)
    assert values["impact sets rate [Hz]"] == "2.0" and values["impact sets overtaken before they began"] == "2"


def test_what_a_set_is_computed_from_is_a_copy(bench):
    node = bench.start(ContactSuiteNode)
    feed(bench, node)
    estimator = node.stream.estimator
    ahead, moment = estimator.impact_ahead(), estimator._latest
    for mine, theirs in (
        (ahead.q, moment.state.q),
        (ahead.v, moment.state.v),
        (ahead.effort, moment.state.effort),
        (ahead.acceleration, moment.acceleration),
        (ahead.closed, moment.closed),
        (ahead.backed, moment.backed),
        (ahead.event_times, moment.event_times),
    ):
        assert mine.tobytes() == theirs.tobytes() and not np.shares_memory(mine, theirs)
    before = ahead.velocities._runs[-1].values.copy()
    for k in range(600):  # more than are remembered
        estimator._foresight._noise.add(ahead.stamp_ns + k * 1_000_000, np.full(ahead.v.size, float(k)))
    assert ahead.velocities._runs[-1].values.tobytes() == before.tobytes()
    assert node.stream.sets._sets._model is not estimator.model


@pytest.mark.parametrize("how", ["reset", "deactivate", "disable"])
def test_a_set_in_work_is_not_published_after_its_state_was_forgotten(bench, gate, how):
    heard = bench.listen(PostImpactVelocitySet, "impact_set")
    node = bench.start(ContactSuiteNode)
    gate.hold(node)
    feed(bench, node)
    gate.wait()
    feed(bench, node)  # this one waits
    if how == "reset":
        assert bench.call(Trigger, "reset", Trigger.Request()).success
    elif how == "disable":
        for on in (False, True):
            assert bench.call(SetBool, "enable", SetBool.Request(data=on)).success
    else:
        node.trigger_deactivate()
        node.trigger_activate()
    gate.open.set()
    at_rest(node)
    assert gate.made == 1  # the one that waited was not begun
    bench.spin(0.2)
    assert not heard
    (stamp,) = feed(bench, node)
    bench.until(lambda: heard)
    assert nanoseconds(heard[0].header.stamp) == stamp


def test_cleanup_waits_for_the_thread_and_nothing_is_published_afterwards(bench, gate):
    heard = bench.listen(PostImpactVelocitySet, "impact_set")
    node = bench.start(ContactSuiteNode)
    gate.hold(node)
    feed(bench, node)
    gate.wait()
    worker = node.stream.sets
    threading.Timer(0.2, gate.open.set).start()
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert not worker._thread.is_alive() and gate.made == 1 and node.lifecycle_state == State.PRIMARY_STATE_UNCONFIGURED
    bench.spin(0.2)
    assert not heard and not any(t.name.startswith("impact_set") and t.is_alive() for t in threading.enumerate())
    node.trigger_configure()
    node.trigger_activate()
    bench.until(lambda: bench.joints.get_subscription_count())
    feed(bench, node)
    bench.until(lambda: heard)


def test_a_set_that_does_not_end_holds_up_neither_cleanup_nor_the_end_of_the_node(bench, gate, monkeypatch):
    monkeypatch.setattr(worker_of_nodes, "_LONGEST_END", 0.05)
    heard = bench.listen(PostImpactVelocitySet, "impact_set")
    node = bench.start(ContactSuiteNode)
    gate.hold(node)
    feed(bench, node)
    gate.wait()
    worker = node.stream.sets
    bench.executor.remove_node(node)
    bench.nodes.remove(node)
    node.destroy_node()
    assert worker._thread.is_alive()
    gate.open.set()
    worker._thread.join(LONG_WAIT)
    assert not worker._thread.is_alive()
    bench.spin(0.1)
    assert not heard and worker.counter.made == worker.counter.failures == 0


def test_a_fault_of_the_suite_in_a_set_is_told_and_the_next_set_comes(bench, monkeypatch):
    heard = bench.listen(PostImpactVelocitySet, "impact_set")
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(ContactSuiteNode)
    with monkeypatch.context() as broken:
        broken.setattr(ImpactSets, "ahead", lambda *_, **__: 1 / 0)
        bench.diagnostics.clear()
        bench.answer(modes)
        at_rest(node)
    level, _, values = bench.told(node, "internal error: ZeroDivisionError")
    assert level == DiagnosticStatus.ERROR
    assert values["failed impact sets"] == "1"
    bench.answer(modes)
    bench.until(lambda: heard)
    bench.diagnosis(node)
    assert "internal error" not in bench.diagnosis(node)[1]
