"""Messages in, states out: what is refused and why, and which messages make one state."""

from __future__ import annotations

from types import SimpleNamespace as Space

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.swaying_base import Swaying, unit_message
from hybrid_contact_ros.config import EstimatorConfig, InputConfig
from hybrid_contact_ros.mechanics.joints import BaseMeasurement
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.odometry import Base, OdometryReader
from hybrid_contact_ros.messages.refusals import REASONS

LEG = """<robot name="leg">
<link name="base"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="foot"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="knee" type="prismatic"><parent link="base"/><child link="foot"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>"""
BODY = """<robot name="body"><link name="base"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
MS = 1_000_000


def model(urdf: str = LEG, floating: bool = True) -> RigidBodyModel:
    link = "foot" if urdf is LEG else "base"
    return RigidBodyModel.from_urdf(
        urdf, EstimatorConfig.from_mapping({"floating_base": floating, "contacts": {"c": {"link": link}}})
    )


FLOATING, FIXED = model(), model(floating=False)


def intake(robot=FLOATING, **config) -> Intake:
    return Intake(robot, InputConfig(**config))


def stamp(ns: int) -> Space:
    return Space(sec=ns // 10**9, nanosec=ns % 10**9)


def joints(ns: int, q=0.1, dq=0.2, effort=(0.3,), names=("knee",)) -> Space:
    return Space(
        header=Space(stamp=stamp(ns), frame_id=""),
        name=list(names),
        position=[q] * len(names),
        velocity=[dq] * len(names),
        effort=list(effort),
    )


def xyz(values) -> Space:
    return Space(**dict(zip("xyzw", values, strict=False)))


def odometry(ns: int, p=(0, 0, 0), o=(0, 0, 0, 1), u=(0, 0, 0), w=(0, 0, 0), P=(0.0,) * 36, V=(0.0,) * 36) -> Space:
    return Space(
        header=Space(stamp=stamp(ns), frame_id="odom"),
        pose=Space(pose=Space(position=xyz(p), orientation=xyz(o)), covariance=P),
        twist=Space(twist=Space(linear=xyz(u), angular=xyz(w)), covariance=V),
    )


def feed(streams: Intake, *messages: Space) -> list:
    """States that these messages give; the clock is the stamp."""
    states = []
    for msg in messages:
        ns = msg.header.stamp.sec * 10**9 + msg.header.stamp.nanosec
        take = streams.joint_state if hasattr(msg, "name") else streams.odometry
        state = take(msg, ns)
        if state is not None:
            states.append(state)
    return states


# --- pairing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["odometry", "joints"])
def test_messages_of_one_stamp_make_one_state_in_either_order(first):
    streams, states = intake(), []
    for k in range(1, 6):
        pair = [odometry(k * MS, p=(k, 0, 0)), joints(k * MS, q=k)]
        states += feed(streams, *(pair if first == "odometry" else reversed(pair)))
    assert [s.stamp_ns for s in states] == [k * MS for k in range(1, 6)]
    assert [s.q[0] for s in states] == [1, 2, 3, 4, 5] == [s.q[7] for s in states]
    assert not streams.faults and streams.frame_id == "odom" and streams.states == 5


def test_slower_odometry_is_carried_along_its_twist_without_waiting():
    streams = intake()
    # The third joint state shows that the streams are not in step; after it no state waits.
    states = feed(streams, odometry(10 * MS, p=(1, 0, 0), u=(2, 0, 0)), joints(10 * MS), joints(12 * MS))
    assert [s.stamp_ns for s in states] == [10 * MS]
    states = feed(streams, joints(14 * MS), joints(16 * MS))
    assert [s.stamp_ns for s in states] == [14 * MS, 16 * MS]
    assert states[0].q[0] == pytest.approx(1 + 2 * 0.004) and states[1].q[0] == pytest.approx(1 + 2 * 0.006)
    assert streams.faults == {"odometry_late": 1}


def test_a_base_that_is_carried_comes_with_what_it_may_have_done_since():
    streams = intake()
    states = []
    for k in range(1, 100):
        if k % 20 == 1:
            states += feed(streams, odometry(k * MS, u=(0.1 * (-1) ** (k // 20), 0, 0)))
        states += feed(streams, joints(k * MS))
    measured, carried = states[-19], states[-10]
    assert measured.stamp_ns == 81 * MS and measured.base_carried is None and carried.base_covariance is None
    # The base turned round each 20 ms; by 5 ms its stamps may be later than what they measure.
    assert np.sqrt(carried.base_carried[1, 0, 0]) == pytest.approx(0.2 * np.hypot(9, 5) / 20)
    streams.reset()
    assert feed(streams, odometry(200 * MS), joints(200 * MS), joints(201 * MS))[0].base_carried is None


def test_odometry_that_is_late_is_taken_for_when_it_was_measured():
    streams = intake(odometry_delay=0.003)
    states = feed(streams, odometry(10 * MS, p=(1, 0, 0), u=(2, 0, 0)), joints(10 * MS), joints(11 * MS))
    assert [s.stamp_ns for s in states] == [10 * MS, 11 * MS] and not streams.faults
    assert [s.q[0] for s in states] == pytest.approx([1 + 2 * 0.003, 1 + 2 * 0.004])


def test_a_joint_state_whose_odometry_was_overtaken_by_a_newer_one_is_answered_at_once():
    streams = intake()
    feed(streams, *(m for k in range(10, 13) for m in (odometry(k * MS), joints(k * MS))))
    # The odometry at 13 ms is lost: it was overwritten before it was taken.
    states = feed(streams, odometry(14 * MS, p=(1, 0, 0), u=(2, 0, 0)), joints(13 * MS))
    assert [s.stamp_ns for s in states] == [13 * MS] and states[0].q[0] == pytest.approx(1 - 2 * 0.001)
    (state,) = feed(streams, joints(14 * MS))
    assert state.stamp_ns == 14 * MS and state.q[0] == 1.0
    assert not streams.faults


def test_covariances_come_in_the_axes_of_the_base():
    """The message has the pose's in the axes of the world, the twist's in those of the base."""
    turn = Rotation.from_rotvec([0.0, 0.0, np.pi / 2])
    P, V = np.diag([1.0, 4.0, 9.0, 0.1, 0.2, 0.3]), np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    streams = intake()
    (state,) = feed(streams, odometry(MS, o=turn.as_quat(), P=P.reshape(-1), V=V.reshape(-1)), joints(MS))
    np.testing.assert_allclose(np.diag(state.base_covariance[0]), [4.0, 1.0, 9.0, 0.2, 0.1, 0.3])
    np.testing.assert_allclose(state.base_covariance[1], V, atol=1e-12)
    in_world = Intake(FLOATING, InputConfig(), twist_in_world=True)
    (state,) = feed(in_world, odometry(MS, o=turn.as_quat(), V=V.reshape(-1)), joints(MS))
    np.testing.assert_allclose(np.diag(state.base_covariance[1]), [2.0, 1.0, 3.0, 5.0, 4.0, 6.0])


@pytest.mark.parametrize("numbers", [np.zeros(36), np.full(36, np.nan), -np.eye(6).reshape(-1), np.full(36, np.inf)])
def test_what_is_no_covariance_counts_as_none(numbers):
    (state,) = feed(intake(), odometry(MS, P=numbers, V=numbers), joints(MS))
    assert state.base_covariance is None
    (state,) = feed(intake(), odometry(MS, P=numbers, V=np.eye(6).reshape(-1)), joints(MS))
    assert not state.base_covariance[0].any() and state.base_covariance[1].any()


def test_covariances_are_left_alone_where_they_are_not_wanted():
    (state,) = feed(intake(use_covariance=False), odometry(MS, P=np.eye(6).reshape(-1)), joints(MS))
    assert state.base_covariance is None


def test_streams_that_fall_into_step_again_wait_for_each_other_again():
    streams = intake()
    feed(streams, joints(10 * MS), joints(11 * MS), odometry(11 * MS))
    # Out of step: answered at once with the odometry before, also though its own comes right after it.
    assert len(feed(streams, joints(12 * MS), odometry(12 * MS), joints(13 * MS), odometry(13 * MS))) == 2
    assert feed(streams, joints(14 * MS)) == []
    assert [s.stamp_ns for s in feed(streams, odometry(14 * MS))] == [14 * MS]


@pytest.mark.parametrize("every", [2, 3, 5])
def test_slow_odometry_that_shares_some_stamps_costs_no_states(every):
    streams = intake()
    messages = [m for k in range(1, 101) for m in ([odometry(k * MS)] if k % every == 0 else []) + [joints(k * MS)]]
    states = feed(streams, *messages)
    assert len(states) >= 100 - every and not set(streams.faults) - {"no_odometry", "odometry_late"}
    assert [s.stamp_ns for s in states][-50:] == [k * MS for k in range(51, 101)]


def test_odometry_too_far_away_is_refused():
    streams = intake(odometry_timeout=0.02)
    feed(streams, odometry(10 * MS), joints(10 * MS), joints(30 * MS))
    assert feed(streams, joints(31 * MS)) == []
    assert streams.faults["odometry_timeout"] == 1 and "0.021 s" in streams.last_fault[1]


def test_a_floating_base_without_odometry_gives_no_state_and_says_why():
    streams = intake()
    assert feed(streams, *(joints(k * MS) for k in range(1, 6))) == []
    assert streams.faults["no_odometry"] >= 4


def test_a_fixed_base_needs_no_odometry_and_does_not_read_it():
    streams = intake(FIXED)
    states = feed(streams, odometry(1 * MS, o=(0, 0, 0, 0)), joints(2 * MS))
    assert states[0].q.tolist() == [0.1] and not streams.faults


def test_a_body_without_joints_needs_its_odometry_only():
    streams = intake(model(BODY))
    state = feed(streams, odometry(3 * MS, p=(1, 2, 3)), joints(4 * MS, names=(), effort=()))[0]
    assert state.q.tolist() == [1, 2, 3, 0, 0, 0, 1] and state.effort.tolist() == [0] * 6


def test_carrying_a_base_along_its_twist_is_rigid_motion():
    rotation = Rotation.from_rotvec([0.3, -0.5, 0.2])
    base = BaseMeasurement(np.array([1.0, 2, 3]), rotation.as_quat(), np.array([0.5, 0, 1]), np.array([0, 0, 2.0]))
    later = carried(base, 0.1)
    turned = rotation * Rotation.from_rotvec([0, 0, 0.2])
    np.testing.assert_allclose(later.position, base.position + rotation.apply(base.linear_velocity) * 0.1)
    assert (Rotation.from_quat(later.quaternion_xyzw).inv() * turned).magnitude() < 1e-12
    np.testing.assert_allclose(turned.apply(later.linear_velocity), rotation.apply(base.linear_velocity))
    still = Base(np.zeros(13), None)
    assert still.at(0.0) is still


def carried(base: BaseMeasurement, seconds: float) -> BaseMeasurement:
    parts = (base.position, base.quaternion_xyzw, base.linear_velocity, base.angular_velocity)
    return Base(np.concatenate(parts), base.covariance).at(seconds).measurement


def test_a_twist_in_world_axes_is_turned_into_the_base():
    rotation = Rotation.from_euler("z", 90, degrees=True)
    msg = odometry(1, o=rotation.as_quat(), u=(1, 0, 0), w=(0, 1, 0))
    reader = OdometryReader(twist_in_world=True)
    reader.read(msg)
    base = reader.base()[0].measurement
    np.testing.assert_allclose(base.linear_velocity, rotation.inv().apply([1, 0, 0]), atol=1e-15)
    np.testing.assert_allclose(base.angular_velocity, rotation.inv().apply([0, 1, 0]), atol=1e-15)


# --- refusals --------------------------------------------------------------------------------------------------------


def without(msg: Space, **changes) -> Space:
    return Space(**(vars(msg) | changes))


@pytest.mark.parametrize(
    ("reason", "msg"),
    [
        ("invalid_stamp", joints(0)),
        ("invalid_stamp", without(joints(1), header=Space(stamp=Space(sec=1, nanosec=10**9)))),
        ("invalid_stamp", without(joints(1), header=Space(stamp=Space(sec=-1, nanosec=0)))),
        ("no_velocity", without(joints(1), velocity=[])),
        ("array_length", without(joints(1), position=[])),
        ("array_length", without(joints(1), velocity=[1.0, 2.0])),
        ("array_length", without(joints(1), effort=[1.0, 2.0])),
        ("array_length", without(joints(1), position=[1.0], name=[], velocity=[], effort=[])),
        ("joint_names", joints(1, names=("elbow",))),
        ("joint_names", joints(1, names=("knee", "knee"), effort=())),
        ("joint_names", joints(1, names=(), effort=())),
        ("not_finite", joints(1, q=float("nan"))),
        ("not_finite", joints(1, dq=float("inf"))),
    ],
)
def test_a_joint_state_that_may_not_be_used_is_counted_by_its_reason(reason, msg):
    streams = intake(FIXED)
    assert streams.joint_state(msg, 1) is None
    assert dict(streams.faults) == {reason: 1} and streams.last_fault[0] == reason and reason in REASONS
    assert feed(streams, joints(5 * MS))[0].stamp_ns == 5 * MS  # and the next good one is fine


@pytest.mark.parametrize(
    ("reason", "msg"),
    [
        ("not_finite", odometry(1, p=(0, float("nan"), 0))),
        ("not_finite", odometry(1, w=(0, float("-inf"), float("inf")))),
        ("quaternion_norm", odometry(1, o=(0, 0, 0, 0))),
        ("quaternion_norm", odometry(1, o=(0, 0, 0, 1.1))),
        ("invalid_stamp", odometry(0)),
    ],
)
def test_an_odometry_that_may_not_be_used_is_counted_by_its_reason(reason, msg):
    streams = intake()
    assert streams.odometry(msg, 1) is None
    assert dict(streams.faults) == {reason: 1}
    assert len(feed(streams, odometry(5 * MS), joints(5 * MS))) == 1


def test_values_of_joints_that_the_model_has_not_may_be_anything():
    streams = intake(FIXED)
    msg = joints(1, names=("gripper", "knee"), effort=())
    msg.position[0] = msg.velocity[0] = float("nan")
    assert streams.joint_state(msg, 1).q.tolist() == [0.1] and not streams.faults


def test_an_effort_that_is_not_finite_costs_the_effort_not_the_state():
    streams = intake(FIXED)
    state = streams.joint_state(joints(1, effort=(float("inf"),)), 1)
    assert state.effort is None and streams.faults == {"effort_not_finite": 1}


def test_stamps_that_go_back_or_repeat_are_refused():
    streams = intake(FIXED)
    states = feed(streams, joints(5 * MS), joints(5 * MS), joints(4 * MS), joints(6 * MS))
    assert [s.stamp_ns for s in states] == [5 * MS, 6 * MS]
    assert streams.faults == {"repeated_stamp": 1, "backward_stamp": 1}


def test_two_publishers_with_different_clocks_do_not_set_the_clock_back():
    streams = intake(FIXED, stale_after=0.0)
    for k in range(100):
        states = feed(streams, joints(10**10 + k * MS), joints(10**9 + k * MS))
        assert [s.stamp_ns for s in states] == [10**10 + k * MS]
    assert not streams.set_back and "clock_set_back" not in streams.faults


def test_a_clock_that_was_set_back_is_followed_and_announced_once():
    streams = intake()
    feed(streams, *(m for k in range(100, 120) for m in (odometry(k * MS), joints(k * MS))))
    states, announced = [], []
    for k in range(1, 40):
        for msg in (odometry(k * MS), joints(k * MS)):
            state = feed(streams, msg)
            states += state
            announced += [streams.set_back] * len(state)
    assert [s.stamp_ns for s in states][-20:] == [k * MS for k in range(20, 40)]
    assert len(states) >= 28 and announced[0] and sum(announced) <= 2 and not any(announced[3:])


@pytest.mark.parametrize("first", [odometry, joints])
@pytest.mark.parametrize("jump", [-100_000, 100_000])
def test_one_jump_of_the_clock_is_one_fault_and_states_are_answered_from_the_third_on(jump, first):
    streams = intake(stale_after=0.0)
    pair = (odometry, joints) if first is odometry else (joints, odometry)
    answered = []
    for k in range(200_000, 200_100):
        stamp = (k + (jump if k >= 200_050 else 0)) * MS
        states = [s for make in pair if (s := streams_take(streams, make, stamp, k * MS)) is not None]
        answered.append([s.stamp_ns for s in states] == [stamp])
    assert [k for k, yes in enumerate(answered) if not yes] == [50, 51]
    assert dict(streams.faults) == {"clock_set_back" if jump < 0 else "clock_set_ahead": 1}
    assert "second publisher" not in " ".join(streams.sentences.values())


def streams_take(streams, make, stamp, receive):
    return streams.odometry(make(stamp), receive) if make is odometry else streams.joint_state(make(stamp), receive)


def test_old_and_future_messages_are_used_and_reported():
    streams = intake(FIXED, stale_after=0.1)
    assert streams.joint_state(joints(10 * MS), 200 * MS) is not None
    assert streams.joint_state(joints(400 * MS), 200 * MS) is not None
    assert streams.faults == {"stale": 1, "future": 1}


def test_names_that_change_with_every_message_do_not_fill_the_memory():
    streams = intake(FIXED)
    for k in range(1, 200):
        streams.joint_state(joints(k, names=("knee", f"other_{k}"), effort=()), k)
    assert streams.states == 199 and len(streams._reader._maps) <= 16


@pytest.mark.parametrize("kind", ["array", "numpy"])
def test_arrays_of_messages_may_be_reused_after_the_call(kind):
    import array

    streams = intake(FIXED)
    msg = joints(1)
    msg.position = array.array("d", msg.position) if kind == "array" else np.array(msg.position)
    state = streams.joint_state(msg, 1)
    msg.position[0] = 99.0
    assert state.q[0] == 0.1


@pytest.mark.parametrize("late, with_unit", [(0, True), (4, True), (4, False)])
def test_states_of_an_odometry_in_step_are_of_the_time_that_they_say(late, with_unit):
    motion = Swaying(3, place=np.zeros(3))
    streams = Intake(FLOATING, InputConfig(imu=with_unit))
    for ms in range(0, 3000, 2):
        if with_unit:
            streams.side_input("imu", unit_message(motion.measured(1e-3 * ms)), ms * MS)
        n = motion.base(1e-3 * (ms - late)).numbers
        states = feed(streams, joints(ms * MS), odometry(ms * MS, n[:3], n[3:7], n[7:10], n[10:]))
    (state,) = states
    true, measured = motion.base(2.998).numbers, n
    if late and with_unit:
        assert state.base_late == pytest.approx(0.004, abs=3e-4)
        np.testing.assert_allclose(state.v[:3], true[7:10], atol=0.005)
        assert np.abs(measured[7:10] - true[7:10]).max() > 0.015
        assert state.base_carried is not None
    else:
        assert state.base_late == 0.0 and state.base_carried is None
        np.testing.assert_array_equal(state.v[:6], measured[7:])
