"""Faults of the suite end in the log, with their traceback; they end neither a node nor a service, and no input is
blamed."""

import pytest

from helpers import leg
from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_msgs.srv import PredictImpact
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros.boundary import protected


class Log:
    def __init__(self):
        self.lines = []

    def error(self, text, **_options):
        self.lines.append(text)


@pytest.fixture
def node(bench):
    return bench.start(ContactSuiteNode)


@pytest.fixture
def modes(bench):
    return bench.listen(ContactMode, "contact_mode")


def test_a_fault_is_logged_with_its_traceback_and_told_in_one_sentence():
    log, told = Log(), []
    with protected(log, told.append):
        {}["nothing"]
    assert told == ["internal error: KeyError('nothing')"]
    assert len(log.lines) == 1 and "Traceback" in log.lines[0] and __name__.split(".")[-1] in log.lines[0]


def test_nothing_is_told_where_nothing_is_wrong():
    log, told = Log(), []
    with protected(log, told.append):
        pass
    assert not told and not log.lines


@pytest.mark.parametrize("how", [KeyboardInterrupt, SystemExit])
def test_who_ends_the_process_is_let_through(how):
    with pytest.raises(how), protected(Log(), print):
        raise how


def test_a_fault_in_the_intake_is_told_and_the_next_state_is_answered(bench, node, modes, monkeypatch):
    monkeypatch.setattr(node.stream.intake, "joint_state", lambda *_: {}["nothing"])
    bench.diagnostics.clear()
    bench.send()
    bench.until(lambda: bench.fault_count(node, "internal") == 1)
    assert node.stream.intake.faults.total() == 0
    bench.told(node, "KeyError('nothing')")
    monkeypatch.undo()
    bench.answer(modes)


def test_a_fault_in_a_request_is_told_to_the_client_and_the_next_is_answered(bench, node, monkeypatch):
    def ask():
        stamp = bench.stamp()
        request = PredictImpact.Request(joints=leg.joint_state(stamp), odometry=leg.odometry(stamp, 0.6))
        return bench.call(PredictImpact, "predict_impact", request)

    monkeypatch.setattr("hybrid_contact_ros.estimator.ContactEstimator.impact", lambda *_, **__: {}["nothing"])
    answer = ask()
    assert not answer.success and answer.message == "internal error: KeyError('nothing')"
    monkeypatch.undo()
    assert ask().success


def test_a_value_error_of_ours_is_told_as_a_fault_and_no_state_is_blamed(bench, node, modes, monkeypatch):
    def update(*_, **__):
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr("hybrid_contact_ros.estimator.ContactEstimator.update", update)
    bench.send()
    bench.until(lambda: bench.fault_count(node, "internal") == 1)
    assert node.stream.intake.faults.total() == 0
    monkeypatch.undo()
    bench.answer(modes)
