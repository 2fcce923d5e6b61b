"""One node goes through every fault; a table tells what was sent, answered meanwhile, diagnosed, and recovered.

The table stands in the summary that pytest prints (test/conftest.py).
"""

import time

import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from helpers import leg
from helpers.faults import FAULTS
from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode

LEVELS = {DiagnosticStatus.OK: "OK", DiagnosticStatus.WARN: "WARN", DiagnosticStatus.ERROR: "ERROR"}
TIMES = 10
LONGEST = 2.0  # s that a good state may take on a machine with much else to do
SETTLED = ContactMode.VALID_FORCE_ESTIMATE  # takes a while after a start anew


@pytest.fixture(scope="module")
def survivor(lasting_bench):
    """The bench, a node that is active, its modes, and its answer to a good state; the same for all faults."""
    bench = lasting_bench
    modes = bench.listen(ContactMode, "contact_mode")
    bench.describe()
    sensors = "stale_after: 0.0, imu: true, contact_sensors: true, commanded_contacts: true, wrench_topics: [wrench]"
    parameters = leg.PARAMETERS.replace("stale_after: 0.0", sensors)
    node = bench.start(ContactSuiteNode, configure=False, robot_description="", autostart=True, parameters=parameters)
    bench.until(lambda: node.active and bench.joints.get_subscription_count() == 1)
    bench.spin(0.2)
    return bench, node, modes, bench.answer(modes)


def recovered(bench, modes, before) -> ContactMode:
    """The answer to a good state, which may have to come a few times until the streams are in step again."""
    for _ in range(25):
        stamp = bench.send()
        bench.spin(0.02)
        for msg in modes:
            if msg.header.stamp == stamp and msg.contacts[0].gap == pytest.approx(before.contacts[0].gap, abs=1e-12):
                return msg
    return bench.answer(modes)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_and_survived(survivor, name, record_property):
    bench, node, modes, before = survivor
    fault = FAULTS[name]
    bench.diagnosis(node)
    sent, replies, said = [], [], []
    for _ in range(TIMES):
        replies.append(fault.act(bench, node))
        bench.spin(0.02)
        sent.append(bench.send())
        patience = time.monotonic() + (LONGEST if fault.answered else 0.0)  # not for what is never answered
        bench.spin(0.02)
        while not any(m.header.stamp == sent[-1] for m in modes) and time.monotonic() < patience:
            bench.spin(0.01)
    for _ in range(3):
        level, text, _ = bench.diagnosis(node)
        said.append((LEVELS.get(level, "STALE"), text))
        if fault.words in text:
            break
        replies.append(fault.act(bench, node))
        bench.spin(0.02)
        bench.send()
    stamps = {(m.header.stamp.sec, m.header.stamp.nanosec) for m in modes}
    answered = sum((s.sec, s.nanosec) in stamps for s in sent)
    if fault.mend is not None:
        fault.mend(bench, node)
    after = recovered(bench, modes, before)
    modes.clear()
    reply = next((str(r) for r in replies if r and not hasattr(r, "sec")), "")
    level, text = said[-1]
    record_property("fault", (name, fault.sent, f"{answered}/{TIMES}", f"{level}: {reply or text}", "yes"))
    assert fault.words in text, said
    assert not any(fault.silent in one for _, one in said), said
    assert fault.answer in reply
    assert answered >= fault.answered * TIMES
    assert after.mode == before.mode and (after.validity ^ before.validity) & ~SETTLED == 0
    assert after.contacts[0].gap == pytest.approx(before.contacts[0].gap, abs=1e-12)
