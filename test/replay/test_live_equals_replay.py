"""One engine, two drivers: the live node and the replay say the same, to the bit."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.messages.cdr import Layout, masked
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.replay.session import OUTPUTS

rclpy = pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("hybrid_contact_msgs.msg", reason="hybrid_contact_msgs is not built")

COMPARED = ("/contact_mode", "/constraint_stability", "/contact_events")
SETS = "/impact_set"
"""Which states get a set depends on time; each set that is published is that of the replay."""


def without_times(data: bytes, kind: str, means_nothing: bool = False) -> bytes:
    """A message without what depends on the machine, and without what ``means_nothing``: what lies between fields."""
    layout = Layout(kind.split("/")[-1], data)
    out = bytearray(masked(layout, data) if means_nothing else data)
    for name in ("compute_time", "input_age"):
        for part in ("sec", "nanosec"):
            number = layout.numbers.get(f"{name}.{part}")
            if number is not None:
                out[number.offset : number.end] = bytes(4)
    return bytes(out)


def generated(full: str):
    """The class that rosidl generated for a message type."""
    import importlib

    package, _, name = full.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


@pytest.fixture
def ros():
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.mark.parametrize("serialized", [True, False], ids=["bytes", "objects"])
def test_the_live_node_publishes_what_replay_writes(ros, fall, walker, tmp_path, serialized):
    """The bytes themselves. Of objects rclpy makes the bytes, which leaves rubbish between fields."""
    from rclpy.parameter import Parameter
    from rclpy.qos import QoSProfile
    from rclpy.serialization import deserialize_message

    from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
    from hybrid_contact_ros.ros.executor import make_executor

    write_recording(fall, tmp_path / "fall.mcap")
    replay_bag(tmp_path / "fall.mcap", walker, out=tmp_path / "out.mcap", complete_sets=True)
    with BagReader(tmp_path / "out.mcap") as reader:
        expected = {topic: [] for topic in (*COMPARED, SETS)}
        for topic, _, data in reader.messages(list(expected), raw=expected):
            expected[topic].append(without_times(data, OUTPUTS[topic]))

    overrides = {"robot_description": fall.urdf, "contact_names": list(walker.contacts), "serialized_io": serialized}
    overrides["impact.deadline"] = 0.0  # none: it would cut sets short by the clock
    overrides |= {f"contacts.{name}.link": contact.link for name, contact in walker.contacts.items()}
    node = ContactSuiteNode(parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()])
    driver = rclpy.create_node("driver")
    executor = make_executor()
    executor.add_node(node)
    executor.add_node(driver)
    received: dict[str, list[bytes]] = {topic: [] for topic in expected}
    try:
        assert node.trigger_configure().name == "SUCCESS"
        assert node.trigger_activate().name == "SUCCESS"
        for topic in expected:
            driver.create_subscription(
                generated(OUTPUTS[topic]),
                topic,
                lambda data, topic=topic: received[topic].append(
                    without_times(data, OUTPUTS[topic], means_nothing=not serialized)
                ),
                QoSProfile(depth=1000),
                raw=True,
            )
        kinds = {"/odom": "nav_msgs/msg/Odometry", "/joint_states": "sensor_msgs/msg/JointState"}
        publishers = {topic: driver.create_publisher(generated(kind), topic, 10) for topic, kind in kinds.items()}

        def until(done, seconds: float) -> bool:
            end = time.monotonic() + seconds
            while not done() and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.02)
            return bool(done())

        assert until(
            lambda: (
                all(driver.count_publishers(topic) for topic in expected)
                and all(p.get_subscription_count() for p in publishers.values())
            ),
            10.0,
        )
        with BagReader(tmp_path / "fall.mcap") as reader:
            for topic, _, msg in reader.messages(list(kinds)):
                data = bytes(typestore().serialize_cdr(msg, kinds[topic]))
                publishers[topic].publish(deserialize_message(data, generated(kinds[topic])))
                if topic == "/joint_states":  # the second of each pair: wait for the answer, as nothing may be lost
                    so_far = len(received["/contact_mode"])
                    assert until(lambda so_far=so_far: len(received["/contact_mode"]) > so_far, 5.0)
        until(lambda: all(len(received[topic]) >= len(expected[topic]) for topic in COMPARED), 5.0)
    finally:
        for each in (node, driver):
            executor.remove_node(each)
            each.destroy_node()
        executor.shutdown()
    for topic in COMPARED:
        assert len(received[topic]) == len(expected[topic]) > 0, topic
        same = np.array([a == b for a, b in zip(received[topic], expected[topic], strict=True)])
        assert same.all(), f"{topic}: {np.flatnonzero(~same)[:10]} differ of {same.size}"
    assert received[SETS] and set(received[SETS]) <= set(expected[SETS])
