"""The listener of the demo says whether the suite could be configured."""

import pytest
from std_msgs.msg import String

from helpers import leg
from hybrid_contact_ros.demo.frames import FAILED, READY
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.nodes.demo.listener import DemoListener
from hybrid_contact_ros.ros.qos import LATCHED


@pytest.mark.parametrize("good", [False, True])
def test_a_failure_is_told_though_nobody_saw_the_transition_and_waiting_is_none(bench, good):
    bench.start(ContactSuiteNode, configure=False, robot_description="", autostart=True)
    frames = []
    listener = DemoListener(frames.append, context=bench.context)
    listener.destroy_subscription(next(s for s in listener.subscriptions if s.topic.endswith("transition_event")))
    bench.executor.add_node(listener)
    try:
        bench.until(lambda: len(bench.diagnostics) > 1)  # "no robot description yet" is no failure
        assert [frame for frame in frames if frame.topic in (FAILED, READY)] == []
        description = bench.partner.create_publisher(String, "robot_description", LATCHED)
        description.publish(String(data=leg.URDF if good else "<robot"))
        bench.until(lambda: any(frame.topic in (FAILED, READY) for frame in frames))
        assert {frame.topic for frame in frames if frame.topic in (FAILED, READY)} == {READY if good else FAILED}
    finally:
        bench.executor.remove_node(listener)
        listener.destroy_node()
