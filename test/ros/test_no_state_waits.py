"""Whatever comes when, and whatever the middleware says of it: no state waits for the next one to come."""

import time
from types import SimpleNamespace as Space

import pytest
from builtin_interfaces.msg import Time
from hypothesis import given
from hypothesis import strategies as draws

from helpers import leg
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.intake import JOINTS
from hybrid_contact_ros.nodes.state_stream import StateStream

MS = 1_000_000
FIXED = leg.PARAMETERS.replace("floating_base: true", "floating_base: false")


class Executor:
    """Handles tasks in the order in which they came, when it is told to."""

    def __init__(self):
        self.tasks = []

    def create_task(self, task):
        self.tasks.append(task)

    def run(self, count):
        for _ in range(min(count, len(self.tasks))):
            self.tasks.pop(0)()


class Node:
    """What a stream sees of a node."""

    parts = kept = Parts.MODE
    active = True

    def __init__(self, executor):
        self.executor, self.answered = executor, []

    def get_logger(self):
        return Space(error=pytest.fail, warning=lambda text: None)

    def now_ns(self):
        return time.time_ns()

    def unheard(self):
        return 0

    def publish(self, prediction, compute_ns, age_ns):
        self.answered.append(prediction.mode.stamp_ns)


class Stage:
    """A stream, its node, and states that come as they are told to."""

    def __init__(self, model, config):
        self.executor = Executor()
        self.node = Node(self.executor)
        self.stream = StateStream(self.node, model, config, False, False)
        self.stream.enabled = True
        self.sent = []

    def send(self, received):
        self.sent.append((len(self.sent) + 1) * MS)
        stamp = Time(sec=0, nanosec=self.sent[-1])
        self.stream.on_joint_state(leg.joint_state(stamp), None, None, received)


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    file = tmp_path_factory.mktemp("robot") / "leg.yaml"
    file.write_text(FIXED)
    config = EstimatorConfig.from_file(file)
    return RigidBodyModel.from_urdf(leg.URDF, config), config


# What the middleware says of the time of reception, after the end of the last answer, ns; None: nothing.
TOLD = draws.one_of(draws.none(), draws.sampled_from([-1, 0, 1]), draws.integers(-(10**10), 10**10))
STEP = draws.one_of(
    draws.tuples(draws.just("comes"), TOLD),
    draws.tuples(draws.just("comes during an answer"), TOLD),
    draws.tuples(draws.just("others have their turn"), draws.integers(1, 3)),
    draws.tuples(draws.just("a message is lost"), draws.none()),
)


@given(steps=draws.lists(STEP, max_size=30))
def test_a_state_is_answered_or_a_turn_is_queued_for_it(robot, steps):
    stage = Stage(*robot)
    stream, node, executor = stage.stream, stage.node, stage.executor

    def received(told):
        return 0 if told is None else max(1, stream._done + told)

    for what, how in steps:
        if what == "comes":
            stage.send(received(how))
        elif what == "comes during an answer":
            # The executor takes it when that answer is over. A take that finds nothing does not come here.
            stage.send(received(None if how is None else -abs(how)))
        elif what == "others have their turn":
            executor.run(how)
        elif what == "a message is lost":
            stream.intake.rates[JOINTS].lost += 1
        assert stream._waiting is None or executor.tasks, "it waits, and nothing is queued that would answer it"
        assert len(executor.tasks) <= 1
    executor.run(2)
    assert stream._waiting is None
    assert node.answered == sorted(set(node.answered))
    assert not stage.sent or node.answered[-1] == stage.sent[-1]
    assert len(node.answered) + stream.monitor.states_overtaken == len(stage.sent)


@pytest.mark.parametrize("ahead", [10**9, 10**7])
def test_a_reception_in_the_future_says_nothing_of_what_came_before(robot, ahead):
    """Of clocks that differ. If it counted, every state of a fast stream would be answered at its own turn, and what
    came behind it would wait for all of them."""
    stage = Stage(*robot)
    stage.send(time.time_ns())
    for _ in range(5):
        before = len(stage.node.answered)
        stage.send(time.time_ns() + ahead)
        assert len(stage.node.answered) == before and len(stage.executor.tasks) == 1
        stage.executor.run(1)
        assert len(stage.node.answered) == before + 1


def test_a_clock_that_is_set_back_delays_no_state(robot, monkeypatch):
    stage, real = Stage(*robot), time.time_ns
    stage.send(real())
    monkeypatch.setattr(time, "time_ns", lambda: real() - 10**10)
    for k in range(3):
        stage.send(time.time_ns())
        # The first one looks as if it had come during the last answer; after that both clocks agree again.
        assert len(stage.executor.tasks) == (k == 0)
        stage.executor.run(1)
        assert stage.node.answered[-1] == stage.sent[-1]
