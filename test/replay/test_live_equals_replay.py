"""One engine, two drivers: the live node and the replay say the same, to the bit."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace as Message

import numpy as np
import pytest

from helpers.random_messages import masked
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.config import InputConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.messages.cdr import Layout, serialize
from hybrid_contact_ros.messages.definitions import blank
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.replay.session import OUTPUTS, SENSITIVITY

rclpy = pytest.importorskip("rclpy", reason="needs ROS 2")
pytest.importorskip("hybrid_contact_msgs.msg", reason="hybrid_contact_msgs is not built")

COMPARED = ("/contact_mode", "/constraint_stability", "/contact_events")
SETS, MAPS = "/impact_set", "/event_sensitivity"
"""Which states get these depends on time; each that is published is that of the replay."""
TYPES = OUTPUTS | SENSITIVITY


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


KINDS = {"/odom": "nav_msgs/msg/Odometry", "/joint_states": "sensor_msgs/msg/JointState"}
BESIDE = {
    "/joint_command": "hybrid_contact_msgs/msg/JointCommand",
    "/imu": "sensor_msgs/msg/Imu",
    "/left": "geometry_msgs/msg/WrenchStamped",
    "/contact_sensors": "sensor_msgs/msg/JointState",
    "/commanded_contacts": "sensor_msgs/msg/JointState",
}
"""What a robot may have or not; none of it is in most recordings here."""


def heard(recording, fall, walker, serialized, expected):
    """What a live node publishes when it is sent the messages of a recording, one after the other, without what depends
    on the machine; and its intake. It waits for as many as are ``expected``."""
    from rclpy.parameter import Parameter
    from rclpy.qos import QoSProfile

    from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
    from hybrid_contact_ros.ros.executor import make_executor

    overrides = {"robot_description": fall.urdf, "contact_names": list(walker.contacts), "serialized_io": serialized}
    for name in ("base", "command", "imu", "contact_sensors", "commanded_contacts", "wrench_topics"):
        value = getattr(walker.input, name)
        overrides[f"input.{name}"] = list(value) if isinstance(value, tuple) else value
    overrides["impact.deadline"] = 0.0  # none: it would cut sets short by the clock
    overrides |= {f"contacts.{name}.link": contact.link for name, contact in walker.contacts.items()}
    node = ContactSuiteNode(parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()])
    driver = rclpy.create_node("driver")
    executor = make_executor()
    executor.add_node(node)
    executor.add_node(driver)
    received: dict[str, list[bytes]] = {topic: [] for topic in (*COMPARED, SETS, MAPS)}
    try:
        assert node.trigger_configure().name == "SUCCESS"
        assert node.trigger_activate().name == "SUCCESS"
        intake = node.stream.intake
        for topic, into in received.items():
            driver.create_subscription(
                generated(TYPES[topic]),
                topic,
                lambda data, topic=topic, into=into: into.append(
                    without_times(data, TYPES[topic], means_nothing=not serialized)
                ),
                QoSProfile(depth=1000),
                raw=True,
            )
        with BagReader(recording) as reader:
            kinds = {topic: kind for topic, kind in (KINDS | BESIDE).items() if topic in reader.topics}
        publishers = {topic: driver.create_publisher(generated(kind), topic, 10) for topic, kind in kinds.items()}

        def until(done, seconds: float) -> bool:
            end = time.monotonic() + seconds
            while not done() and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.02)
            return bool(done())

        assert until(
            lambda: (
                all(driver.count_publishers(topic) for topic in received)
                and all(p.get_subscription_count() for p in publishers.values())
            ),
            30.0,
        )
        with BagReader(recording) as reader:
            for topic, _, data in reader.messages(list(kinds), raw=kinds):
                publishers[topic].publish(data)
                name, before = topic.lstrip("/").replace("odom", "odometry"), intake.received.copy()
                # Nothing may be lost: each message is taken, and each state answered, before the next one is sent.
                assert until(lambda name=name, n=before[name]: intake.received[name] > n, 30.0)
                assert until(lambda: len(received["/contact_mode"]) == intake.states, 30.0)
                if intake.states % 8 == 1:  # on a busy machine the threads beside the states might never get to one
                    assert until(lambda: node.stream.sets.at_rest and node.stream.maps.at_rest, 30.0)
        until(lambda: all(len(received[topic]) >= len(expected[topic]) for topic in COMPARED), 10.0)
        until(lambda: all(received[topic] or not expected[topic] for topic in (SETS, MAPS)), 10.0)
        return received, intake
    finally:
        for each in (node, driver):
            executor.remove_node(each)
            each.destroy_node()
        executor.shutdown()


def written(path):
    """What a replay wrote, without what depends on the machine."""
    with BagReader(path) as reader:
        expected = {topic: [] for topic in (*COMPARED, SETS, MAPS)}
        there = [topic for topic in expected if topic in reader.topics and reader.count([topic])]
        for topic, _, data in reader.messages(there, raw=expected):
            expected[topic].append(without_times(data, TYPES[topic]))
    return expected


def assert_same(received, expected):
    for topic in COMPARED:
        assert len(received[topic]) == len(expected[topic]) > 0, topic
        same = np.array([a == b for a, b in zip(received[topic], expected[topic], strict=True)])
        assert same.all(), f"{topic}: {np.flatnonzero(~same)[:10]} differ of {same.size}"
    for topic in (SETS, MAPS):
        assert received[topic] and set(received[topic]) <= set(expected[topic]), topic


@pytest.mark.parametrize("serialized", [True, False], ids=["bytes", "objects"])
def test_the_live_node_publishes_what_replay_writes(ros, fall, walker, tmp_path, serialized):
    """The bytes themselves. Of objects rclpy makes the bytes, which leaves rubbish between fields."""
    write_recording(fall, tmp_path / "fall.mcap")
    replay_bag(tmp_path / "fall.mcap", walker, fall.urdf, tmp_path / "out.mcap", complete_sets=True, sensitivity=True)
    expected = written(tmp_path / "out.mcap")
    received, _ = heard(tmp_path / "fall.mcap", fall, walker, serialized, expected)
    assert_same(received, expected)


def spoil(source, target):
    """The recording with messages that cannot be read between the others, and with rubbish behind some of them; how
    many there are of these."""
    unreadable = 0
    with BagReader(source) as reader, BagWriter(target) as bag:
        for topic, kind in KINDS.items():
            bag.add(topic, kind)
        for number, (topic, time_ns, data) in enumerate(reader.messages(list(KINDS), raw=KINDS)):
            if number % 7 == 3:  # joint states and odometry in turns
                wrong = [b"", data[:-9], data[: len(data) // 2], b"\0\1\0\0" + bytes(range(32)), b"\0\xff" + data[2:]]
                bag.write(topic, time_ns, wrong[unreadable % len(wrong)])
                unreadable += 1
            spare = bytes([0xA5]) * [0, 1, 3, 4, 9, 70][number % 6]
            bag.write(topic, time_ns, data + spare)
    return unreadable


@pytest.mark.parametrize("serialized", [True, False], ids=["bytes", "objects"])
def test_both_go_on_after_messages_that_cannot_be_read_and_count_them_alike(ros, fall, walker, tmp_path, serialized):
    write_recording(fall, tmp_path / "whole.mcap")
    unreadable = spoil(tmp_path / "whole.mcap", tmp_path / "fall.mcap")
    asked = {"complete_sets": True, "sensitivity": True}
    result = replay_bag(tmp_path / "fall.mcap", walker, fall.urdf, tmp_path / "out.mcap", **asked)
    assert result.states == fall.time.size and result.damage is None
    assert result.faults == {"unreadable": unreadable} and "no message of the type" in result.last_fault[1]
    expected = written(tmp_path / "out.mcap")
    received, intake = heard(tmp_path / "fall.mcap", fall, walker, serialized, expected)
    assert {"stale": 2 * fall.time.size} | result.faults == dict(intake.faults)  # by the clock of today they are old
    assert_same(received, expected)
    replay_bag(tmp_path / "whole.mcap", walker, out=tmp_path / "of_whole.mcap", **asked)
    assert written(tmp_path / "of_whole.mcap") == expected


def commanded(source, target, walker):
    """The recording with a command after each second joint state, which pulls the legs in more and more; every tenth
    one cannot be used."""
    with BagReader(source) as reader, BagWriter(target) as bag:
        for topic in (*KINDS, "/joint_command"):
            bag.add(topic, (KINDS | BESIDE)[topic])
        number = 0
        for topic, time_ns, data in reader.messages(list(KINDS), raw=KINDS):
            bag.write(topic, time_ns, data)
            number += topic == "/joint_states"
            if topic == "/joint_states" and number % 2:
                pull = float("inf") if number % 20 == 11 else 0.1 * number
                arrays = {"position": [0.001 * number] * 2, "velocity": [], "effort": [pull, 0.0]}
                gains = {"stiffness": [300.0, 200.0], "damping": [5.0, 4.0]}
                stamp = Message(sec=time_ns // 10**9, nanosec=time_ns % 10**9)
                header = Message(stamp=stamp, frame_id="")
                told = Message(header=header, name=["left_knee", "right_knee"], **arrays, **gains)
                bag.write("/joint_command", time_ns, serialize("JointCommand", told))


@pytest.mark.parametrize("serialized", [True, False], ids=["bytes", "objects"])
def test_commands_are_taken_alike_and_change_sets_alone(ros, fall, walker, tmp_path, serialized):
    write_recording(fall, tmp_path / "plain.mcap")
    commanded(tmp_path / "plain.mcap", tmp_path / "fall.mcap", walker)
    walker = replace(walker, input=replace(walker.input, command="joint_command"))
    asked = {"complete_sets": True, "sensitivity": True}
    result = replay_bag(tmp_path / "fall.mcap", walker, fall.urdf, tmp_path / "out.mcap", **asked)
    assert result.faults == {"not_finite": 10}
    expected = written(tmp_path / "out.mcap")
    received, intake = heard(tmp_path / "fall.mcap", fall, walker, serialized, expected)
    assert intake.faults["not_finite"] == 10 and intake.side["joint_command"].used == fall.time.size - 1
    assert_same(received, expected)
    replay_bag(tmp_path / "plain.mcap", walker, fall.urdf, tmp_path / "of_plain.mcap", **asked)
    plain = written(tmp_path / "of_plain.mcap")
    assert all(plain[topic] == expected[topic] for topic in COMPARED)
    assert plain[SETS] != expected[SETS]


def sensed(source, target):
    """The recording with an inertial measurement, a wrench and readings after each joint state; every tenth of them
    cannot be used."""
    with BagReader(source) as reader, BagWriter(target) as bag:
        for topic, kind in (KINDS | BESIDE).items():
            if topic != "/joint_command":
                bag.add(topic, kind)
        number = 0
        for topic, time_ns, data in reader.messages(list(KINDS), raw=KINDS):
            bag.write(topic, time_ns, data)
            number += topic == "/joint_states"
            if topic != "/joint_states":
                continue
            value = float("nan") if number % 10 == 5 else 0.1 * number
            header = Message(stamp=Message(sec=time_ns // 10**9, nanosec=time_ns % 10**9), frame_id="")
            bag.write("/imu", time_ns, serialize("Imu", blank("Imu", header=header, angular_velocity=xyz(value))))
            wrench = blank("Wrench", force=xyz(value))
            bag.write(
                "/left", time_ns, serialize("WrenchStamped", blank("WrenchStamped", header=header, wrench=wrench))
            )
            names = {"name": ["left", "right"], "effort": [value, number % 50]}
            readings = serialize("JointState", blank("JointState", header=header, **names))
            wanted = {"name": ["right"], "position": [2.0 if number % 10 == 3 else float(number // 40 % 2)]}
            bag.write(
                "/commanded_contacts", time_ns, serialize("JointState", blank("JointState", header=header, **wanted))
            )
            bag.write("/contact_sensors", time_ns, readings if number % 10 != 7 else readings[:-9])


def xyz(value):
    return blank("Vector3", x=value)


def told(state):
    """What a state has of sensors, as bytes."""
    imu, force, reading, wanted = state.imu, state.contact_force, state.contact_reading, state.commanded_contacts
    parts = [state.stamp_ns, imu and (imu.stamp_ns, imu.angular_velocity.tobytes())]
    parts.append(force and (force.stamp_ns.tobytes(), force.force.tobytes(), force.valid.tobytes()))
    parts.append(reading and (reading.stamp_ns, reading.load.tobytes(), reading.valid.tobytes()))
    parts.append(wanted and (wanted.stamp_ns, wanted.wanted.tobytes(), wanted.since_ns.tobytes()))
    return parts


def without_odometry(source, target):
    """The recording with an inertial unit in place of odometry."""
    with BagReader(source) as reader, BagWriter(target) as bag:
        for topic in ("/imu", "/joint_states"):
            bag.add(topic, (KINDS | BESIDE)[topic])
        for topic, time_ns, data in reader.messages(list(KINDS), raw=KINDS):
            header = Message(stamp=Message(sec=time_ns // 10**9, nanosec=time_ns % 10**9), frame_id="")
            upright, force = blank("Quaternion", w=1.0), blank("Vector3", z=9.81)
            unit = blank("Imu", header=header, orientation=upright, linear_acceleration=force)
            odometry = topic == "/odom"
            bag.write("/imu" if odometry else topic, time_ns, serialize("Imu", unit) if odometry else data)


def test_a_base_from_the_legs_is_the_same_live_and_in_a_replay(ros, fall, walker, tmp_path):
    write_recording(fall, tmp_path / "plain.mcap")
    without_odometry(tmp_path / "plain.mcap", tmp_path / "fall.mcap")
    walker = replace(walker, input=InputConfig(base="imu"))
    asked = {"complete_sets": True, "sensitivity": True}
    result = replay_bag(tmp_path / "fall.mcap", walker, fall.urdf, tmp_path / "out.mcap", **asked)
    assert result.states == fall.time.size and not result.faults
    expected = written(tmp_path / "out.mcap")
    received, intake = heard(tmp_path / "fall.mcap", fall, walker, True, expected)
    assert intake.states == fall.time.size
    assert all(received[topic] == expected[topic] for topic in COMPARED)


@pytest.mark.parametrize("serialized", [True, False], ids=["bytes", "objects"])
def test_sensors_are_taken_alike(ros, fall, walker, tmp_path, serialized, monkeypatch):
    write_recording(fall, tmp_path / "plain.mcap")
    sensed(tmp_path / "plain.mcap", tmp_path / "fall.mcap")
    walker = replace(
        walker, input=InputConfig(imu=True, contact_sensors=True, commanded_contacts=True, wrench_topics=("left", ""))
    )
    states = []
    result = replay_bag(
        tmp_path / "fall.mcap", walker, fall.urdf, tmp_path / "out.mcap", complete_sets=True, sensitivity=True,
        on_prediction=lambda state, _: states.append(told(state)),
    )  # fmt: skip
    assert result.faults == {"not_finite": 40, "unreadable": 20, "implausible": 20}
    assert None not in states[-1][1:]
    expected = written(tmp_path / "out.mcap")
    live, update = [], ContactEstimator.update
    watched = lambda self, state, *given: live.append(told(state)) or update(self, state, *given)  # noqa: E731
    monkeypatch.setattr(ContactEstimator, "update", watched)
    received, intake = heard(tmp_path / "fall.mcap", fall, walker, serialized, expected)
    assert_same(received, expected)
    assert [one for one in live if one[0] >= 10**9] == states
    assert {reason: intake.faults[reason] for reason in result.faults} == dict(result.faults)
