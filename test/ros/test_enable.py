"""The services ``~/enable`` and ``~/reset``; the diagnostics say it where a node stays disabled."""

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import SetBool, Trigger

from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode


@pytest.fixture
def modes(bench):
    return bench.listen(ContactMode, "contact_mode")


def enable(bench, on):
    return bench.call(SetBool, "enable", SetBool.Request(data=on))


def test_stops_and_resumes_predictions_and_reset_answers(bench, modes):
    bench.start(ContactSuiteNode)
    bench.answer(modes)
    assert enable(bench, False).success
    modes.clear()
    bench.send()
    bench.spin(0.2)
    assert modes == []
    assert enable(bench, True).success
    assert bench.call(Trigger, "reset", Trigger.Request()).success
    bench.answer(modes)


def test_diagnostics_name_a_disabled_node_so_and_an_inactive_one_so(bench, modes):
    node = bench.start(ContactSuiteNode)
    enable(bench, False)
    bench.diagnosis(node)
    assert bench.diagnosis(node)[:2] == (DiagnosticStatus.OK, "disabled by ~/enable")
    node.trigger_deactivate()
    bench.diagnosis(node)
    says = f"inactive; `ros2 lifecycle set {node.get_fully_qualified_name()} activate` activates it"
    assert bench.diagnosis(node)[:2] == (DiagnosticStatus.OK, says)


@pytest.mark.parametrize("anew", [False, True])
def test_activating_enables(bench, modes, anew):
    node = bench.start(ContactSuiteNode)
    enable(bench, False)
    node.trigger_deactivate()
    if anew:
        node.trigger_cleanup()
        node.trigger_configure()
    node.trigger_activate()
    bench.until(lambda: bench.joints.get_subscription_count() == 1)
    bench.spin(0.2)
    bench.answer(modes)


@pytest.mark.parametrize("on", [False, True])
def test_is_refused_while_the_node_is_not_active(bench, on):
    bench.start(ContactSuiteNode, activate=False)
    response = enable(bench, on)
    assert not response.success and response.message.startswith("not active")


def test_enabling_again_forgets_what_was_before(bench, modes):
    node = bench.start(ContactSuiteNode)
    bench.answer(modes, height=0.6, position=(0.0, 0.0))
    enable(bench, False)
    bench.now += 10**9
    bench.send(height=1.0)
    bench.spin(0.1)
    enable(bench, True)
    assert node.stream.estimator.stamp_ns is None
    assert bench.answer(modes, height=1.0).contacts[0].gap == pytest.approx(0.4)


def test_enabling_an_enabled_node_forgets_nothing(bench, modes):
    node = bench.start(ContactSuiteNode)
    bench.answer(modes)
    enable(bench, True)
    assert node.stream.estimator.stamp_ns is not None
