"""An intake that takes bytes says the same as one that takes messages, to the bit: states, refusals and sentences."""

from __future__ import annotations

import copy
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bodies import same_bits
from helpers.random_messages import FULL, bits, littered, messages
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.config import EstimatorConfig, InputConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.cdr import Layout, serialize
from hybrid_contact_ros.messages.definitions import blank
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.serialized import UnreadableMessageError, as_message

INERTIA = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = (
    f'<robot name="leg"><link name="trunk">{INERTIA}</link><link name="thigh">{INERTIA}</link>'
    f'<link name="wheel">{INERTIA}</link><link name="head"/>'
    '<joint name="hip" type="revolute"><parent link="trunk"/><child link="thigh"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
    '<joint name="axle" type="continuous"><parent link="thigh"/><child link="wheel"/><axis xyz="0 1 0"/></joint>'
    '<joint name="neck" type="fixed"><parent link="trunk"/><child link="head"/><origin xyz="0 0 0.3"/></joint></robot>'
)
BODY = f'<robot name="body"><link name="trunk">{INERTIA}</link></robot>'
FLOATING, FIXED, FREE = (
    RigidBodyModel.from_urdf(urdf, EstimatorConfig.from_mapping({"floating_base": floating}))
    for urdf, floating in ((URDF, True), (URDF, False), (BODY, True))
)
MS = 1_000_000
NAN, INF = float("nan"), float("inf")
NAMES = ("axle", "gripper", "hip")


def joints(
    ns, names=NAMES, q=(0.5, 9.0, -0.25), v=(1.0, 9.0, 2.0), effort=(0.5, 9.0, 1.5), frame=""
) -> SimpleNamespace:
    header = blank("Header", stamp=stamp(ns), frame_id=frame)
    arrays = {"position": list(q), "velocity": list(v), "effort": list(effort)}
    return blank("JointState", header=header, name=list(names), **arrays)


def odometry(ns, change=(), frame="odom", child="trunk") -> SimpleNamespace:
    made = blank("Odometry", header=blank("Header", stamp=stamp(ns), frame_id=frame), child_frame_id=child)
    made.pose.pose.orientation = blank("Quaternion", x=0.1, y=-0.2, z=0.3, w=0.9273618495495703)
    made.pose.pose.position = blank("Point", x=1.0, y=2.0, z=0.5)
    made.twist.twist.linear.x, made.twist.twist.angular.z = 0.5, -1.5
    made.pose.covariance = (np.eye(6) * [1, 2, 3, 0.1, 0.2, 0.3]).reshape(-1).tolist()
    for path, value in dict(change).items():
        *way, last = path.split(".")
        of = made
        for name in way:
            of = getattr(of, name)
        if last.isdigit():
            of[int(last)] = value
        else:
            setattr(of, last, value)
    return made


def stamp(ns: int) -> SimpleNamespace:
    return blank("Time", sec=ns // 10**9, nanosec=ns % 10**9)


class Slow:
    """The general way, and how often it was taken."""

    def __init__(self) -> None:
        self.taken = 0

    def __call__(self, kind: str, data: bytes):
        self.taken += 1
        try:
            return typestore().deserialize_cdr(data, FULL[kind])
        except Exception as error:
            raise UnreadableMessageError(str(error)) from None


def played(model, feed, raw: bool, twist_in_world=False, **config) -> tuple[list, Intake, int]:
    """The states that this feed of messages (or bytes) gives, the intake, and how often bytes went the slow way."""
    slow = Slow()
    intake, states = Intake(model, InputConfig(**config), twist_in_world, slow), []
    for number, msg in enumerate(feed):
        of_joints = hasattr(msg, "effort")
        data = serialize("JointState" if of_joints else "Odometry", msg) if raw else msg
        take = intake.joint_state if of_joints else intake.odometry
        ns = msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec
        states.append(take(data, ns, number, b"publisher"))
    return states, intake, slow.taken


def same(model, feed, **how) -> Intake:
    """Play it both ways, and compare all that is said."""
    wanted, one, _ = played(model, copy.deepcopy(feed), raw=False, **how)
    states, other, _ = played(model, feed, raw=True, **how)
    assert [s is None for s in states] == [s is None for s in wanted]
    assert all(same_bits(a, b) for a, b in zip(states, wanted, strict=True))
    told = ("faults", "kinds", "sentences", "last_fault", "received", "states", "frame_id")
    assert {name: getattr(other, name) for name in told} == {name: getattr(one, name) for name in told}
    rates = ("received", "lost", "exact", "period_ns")
    for topic, rate in one.rates.items():
        assert [getattr(other.rates[topic], name) for name in rates] == [getattr(rate, name) for name in rates]
    return other


@pytest.mark.parametrize("model", [FLOATING, FIXED, FREE], ids=["floating", "fixed", "free"])
@pytest.mark.parametrize("twist_in_world", [False, True])
def test_a_stream_takes_the_slow_way_once_and_gives_the_same_states(model, twist_in_world):
    feed = [
        msg
        for k in range(1, 20)
        for msg in (odometry(k * MS, {"pose.pose.position.x": k}), joints(k * MS, q=(k, 9, 0.1)))
    ]
    same(model, feed, twist_in_world=twist_in_world)
    states, _, slow = played(model, feed, raw=True)
    assert slow == {FLOATING: 2, FIXED: 1, FREE: 1}[model] and sum(s is not None for s in states) == 19


ODD_JOINTS = {
    "position NaN": {"q": (NAN, 0.0, 0.0)},
    "position NaN of a joint that the model has not": {"q": (0.0, NAN, 0.0)},
    "angle of a wheel": {"q": (1e10, 0.0, 0.0)},
    "position absurd": {"q": (0.0, 0.0, 1e5)},
    "velocity infinite": {"v": (0.0, 0.0, INF)},
    "velocity absurd": {"v": (0.0, 0.0, 1e5)},
    "an effort NaN": {"effort": (NAN, 0.0, 0.0)},
    "all efforts NaN": {"effort": (NAN, 0.0, NAN)},
    "effort infinite": {"effort": (INF, 0.0, 0.0)},
    "effort absurd": {"effort": (0.0, 0.0, 1e9)},
    "no effort": {"effort": ()},
    "no velocity": {"v": ()},
    "a position short": {"q": (0.0, 0.0)},
    "an effort long": {"effort": (0.0,) * 4},
    "a joint missing": {"names": ("axle", "gripper", "knee")},
    "a joint twice": {"names": ("axle", "hip", "hip")},
    "no joints": {"names": (), "q": (), "v": (), "effort": ()},
    "joints in another order": {"names": NAMES[::-1]},
    "another frame": {"frame": "somewhere"},
    "as always": {},
}
ODD_ODOMETRY = {
    "position NaN": {"pose.pose.position.y": NAN},
    "orientation infinite": {"pose.pose.orientation.x": INF},
    "quaternion of zeros": {f"pose.pose.orientation.{axis}": 0.0 for axis in "xyzw"},
    "numbers that overflow": {"pose.pose.position.x": 1.7e308, "pose.pose.position.y": 1.7e308},
    "far away": {"pose.pose.position.z": -1e9},
    "fast": {"twist.twist.linear.y": 1e4},
    "turning fast": {"twist.twist.angular.x": -1e4},
    "covariance NaN": {"pose.covariance.3": NAN},
    "covariance large": {"twist.covariance.35": 1e13},
    "covariance unknown": {"pose.covariance.0": -1.0},
    "no covariance": {f"pose.covariance.{k}": 0.0 for k in range(36)},
    "both covariances": {"twist.covariance.7": 0.25, "twist.covariance.1": 0.125},
    "another link": {"child_frame_id": "head"},
    "as always": {},
}


@pytest.mark.parametrize("model", [FLOATING, FIXED], ids=["floating", "fixed"])
@pytest.mark.parametrize("odd", ODD_JOINTS)
@pytest.mark.parametrize("factor", [10.0, 0.0])
def test_odd_joint_states_are_told_alike_before_and_after_good_ones(model, odd, factor):
    feed = []
    for k in range(1, 13):
        feed += [odometry(k * MS), joints(k * MS, **(ODD_JOINTS[odd] if k % 4 == 1 else {}))]
    same(model, feed, limit_factor=factor)


@pytest.mark.parametrize("odd", ODD_ODOMETRY)
@pytest.mark.parametrize(
    "how", [{}, {"use_covariance": False}, {"limit_factor": 0.0}, {"twist_in_world": True}], ids=str
)
def test_odd_odometry_is_told_alike_before_and_after_good_ones(odd, how):
    feed = []
    for k in range(1, 13):
        feed += [odometry(k * MS, ODD_ODOMETRY[odd] if k % 4 == 1 else ()), joints(k * MS)]
    same(FLOATING, feed, **how)


@settings(max_examples=60)
@given(st.data())
def test_streams_in_any_order_with_any_stamps_are_told_alike(data):
    """Joint states before their odometry, out of step, with stamps that repeat, go back, or are none."""
    feed, now = [], 10**9
    for k in range(data.draw(st.integers(2, 40))):
        now += data.draw(st.sampled_from([MS, MS, MS, 2 * MS, 0, -5 * MS, 60 * MS, 3000 * MS]))
        for of_joints in data.draw(st.sampled_from([(False, True), (True, False), (True,), (False,)])):
            ns = data.draw(st.sampled_from([now] * 8 + [0, now - MS]))
            x = data.draw(st.floats(-1, 1))
            feed.append(joints(ns, q=(x, 9.0, x / 2)) if of_joints else odometry(ns, {"pose.pose.position.x": x + k}))
    same(FLOATING, feed)


def test_rubbish_between_fields_and_behind_them_makes_no_difference():
    intake, answered = Intake(FLOATING, InputConfig(), deserialize=(slow := Slow())), 0
    for k in range(1, 9):
        for msg, kind, take in (
            (odometry(k * MS, frame="a" * 3), "Odometry", intake.odometry),
            (joints(k * MS, frame="ab"), "JointState", intake.joint_state),
        ):
            data = serialize(kind, msg)
            answered += take(littered(data, Layout(kind, data).gaps[k % 2 :]), k * MS) is not None
    assert answered == 8 and slow.taken == 2 and not intake.faults


def test_big_endian_takes_the_slow_way_and_gives_the_same_states():
    feed = [msg for k in range(1, 5) for msg in (odometry(k * MS), joints(k * MS))]
    wanted, _, _ = played(FLOATING, feed, raw=True)
    intake, states = Intake(FLOATING, InputConfig(), deserialize=(slow := Slow())), []
    for msg in feed:
        kind = "JointState" if hasattr(msg, "effort") else "Odometry"
        data = swapped(kind, serialize(kind, msg))
        states.append((intake.joint_state if kind == "JointState" else intake.odometry)(data, 5 * MS))
    assert all(same_bits(a, b) for a, b in zip(states, wanted, strict=True)) and slow.taken == len(feed)


def swapped(kind: str, data: bytes) -> bytes:
    """The message in big endian."""
    layout, out = Layout(kind, data), bytearray(data)
    out[1] = 0
    for number in layout.numbers.values():
        values = struct.unpack_from(f"<{abs(number.size)}{number.code}", data, number.offset)
        struct.pack_into(f">{abs(number.size)}{number.code}", out, number.offset, *values)
    for at in layout.count_at.values():
        out[at : at + 4] = out[at : at + 4][::-1]
    return bytes(out)


@pytest.mark.parametrize("rubbish", [b"", b"\0\1\0\0", b"\0\1\0\0abc", b"\0\7\0\0" + bytes(200), bytes(range(256))])
def test_bytes_that_are_no_message_are_refused_by_name_and_count_as_received(rubbish):
    intake = Intake(FLOATING, InputConfig(), deserialize=Slow())
    for k in range(1, 4):
        assert intake.odometry(rubbish, k * MS, 3 * k, b"p") is None
        assert intake.odometry(serialize("Odometry", odometry(k * MS)), k * MS, 3 * k + 1, b"p") is None
        assert intake.joint_state(rubbish, k * MS) is None
        assert intake.joint_state(serialize("JointState", joints(k * MS)), k * MS) is not None
    assert dict(intake.faults) == {"unreadable": 6} and intake.received == {"joint_states": 6, "odometry": 6}
    assert intake.rates["odom"].lost == 2 and "no message of the type of the topic" in intake.last_fault[1]


def test_texts_that_change_with_every_message_do_not_fill_the_memory():
    intake = Intake(FIXED, InputConfig(), deserialize=(slow := Slow()))
    for k in range(1, 100):
        assert intake.joint_state(serialize("JointState", joints(k * MS, frame=f"{k:03}")), k * MS) is not None
    assert slow.taken == 99 and len(intake._reader._layouts._known) <= 16


def test_a_state_owns_its_memory_and_kernels_see_none_of_the_message():
    intake = Intake(FLOATING, InputConfig(), deserialize=Slow())
    states = []
    for k in range(1, 6):
        intake.odometry(serialize("Odometry", odometry(k * MS)), k * MS)
        states.append(intake.joint_state(serialize("JointState", joints(k * MS, q=(k, 0.0, k / 10))), k * MS))
    assert [s.q[7] for s in states] == [k / 10 for k in range(1, 6)]  # none was overwritten by the next
    for state in states:
        for array in (state.q, state.v, state.effort, state.base_covariance):
            assert array.flags.aligned and array.flags.c_contiguous and array.flags.writeable


@pytest.mark.parametrize("kind", ["JointState", "Odometry"])
@given(data=st.data())
def test_the_general_way_reads_what_rosbags_reads_in_either_order_of_bytes(kind, data):
    plain = serialize(kind, message := data.draw(messages(kind)))
    littered_ = littered(plain, Layout(kind, plain).gaps[1:], data.draw(st.integers(0, 99)))
    assert bits(kind, as_message(kind, littered_)) == bits(kind, message)
    assert bits(kind, as_message(kind, swapped(kind, plain))) == bits(kind, message)
    assert bits(kind, typestore().deserialize_cdr(plain, FULL[kind])) == bits(kind, message)


@pytest.mark.parametrize("kind", ["JointState", "Odometry"])
@given(data=st.data())
def test_the_general_way_takes_and_refuses_what_rclpy_does(kind, data):
    """Replay has no rclpy, and must refuse the same bytes. The four bytes in front are left alone: Fast CDR knows forms
    of CDR that no node of ROS 2 sends."""
    pytest.importorskip("rclpy", reason="needs ROS 2")
    from hybrid_contact_ros.ros.message_types import deserialize

    damaged = bytearray(serialize(kind, data.draw(messages(kind, 3))) + bytes(data.draw(st.integers(0, 20))))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(4, len(damaged) - 1))
        damaged[at] = data.draw(st.sampled_from([0, 1, 2, 0x41, 0xFF]))
    received = bytes(damaged[: data.draw(st.integers(4, len(damaged)))])

    def read(how):
        try:
            return bits(kind, how(kind, received))
        except UnreadableMessageError:
            return None

    assert read(as_message) == read(deserialize)


@pytest.mark.parametrize("kind, why", [("JointState", "ends"), ("Odometry", "it ends within pose")])
def test_what_cannot_be_read_is_told_with_its_place(kind, why):
    intake = Intake(FLOATING, InputConfig())
    whole = serialize(kind, joints(MS) if kind == "JointState" else odometry(MS))
    take = intake.joint_state if kind == "JointState" else intake.odometry
    assert take(whole[: len(whole) // 2], MS) is None
    assert why in intake.last_fault[1] and "no message of the type of the topic" in intake.last_fault[1]


def test_with_objects_every_message_is_made_one():
    intake = Intake(FIXED, InputConfig(), deserialize=(slow := Slow()), objects=True)
    for k in range(1, 10):
        assert intake.joint_state(serialize("JointState", joints(k * MS)), k * MS) is not None
    assert slow.taken == 9 and not intake.faults
