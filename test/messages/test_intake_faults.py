"""Inputs that are odd rather than broken: implausible values, wrong links, stamps that jump, each with its sentence."""

from __future__ import annotations

from types import SimpleNamespace as Space

import pytest

from hybrid_contact_ros.config import EstimatorConfig, InputConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.refusals import ADVICE, Fault

INERTIA = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LEG = (
    f'<robot name="leg"><link name="trunk">{INERTIA}</link><link name="shank">{INERTIA}</link><link name="head"/>'
    '<joint name="knee" type="revolute"><parent link="trunk"/><child link="shank"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
    '<joint name="neck" type="fixed"><parent link="trunk"/><child link="head"/><origin xyz="0 0 0.3"/></joint></robot>'
)
FLOATING, FIXED = (
    RigidBodyModel.from_urdf(LEG, EstimatorConfig.from_mapping({"floating_base": floating}))
    for floating in (True, False)
)
MS = 1_000_000
NAN = float("nan")


def header(ns: int, frame: str = "") -> Space:
    return Space(stamp=Space(sec=ns // 10**9, nanosec=ns % 10**9), frame_id=frame)


def joints(ns: int, q=0.0, v=0.0, effort=0.0) -> Space:
    return Space(header=header(ns), name=["knee"], position=[q], velocity=[v], effort=[effort])


def odometry(ns: int, p=0.0, u=0.0, w=0.0, o=1.0, child="trunk", P=(0.0,) * 36, V=(0.0,) * 36) -> Space:
    return Space(
        header=header(ns, "map"),
        child_frame_id=child,
        pose=Space(pose=Space(position=Space(x=p, y=0.0, z=0.0), orientation=Space(x=0, y=0, z=0, w=o)), covariance=P),
        twist=Space(twist=Space(linear=Space(x=u, y=0.0, z=0.0), angular=Space(x=0.0, y=w, z=0.0)), covariance=V),
    )


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ({"q": 1e300}, "position of joint 'knee' is 1e+300 rad"),
        ({"v": 1e6}, "velocity of joint 'knee' is 1e+06 rad/s"),
        ({"v": -1e6, "effort": 1e300}, "velocity of joint 'knee' is -1e+06 rad/s"),
    ],
)
def test_an_implausible_joint_is_refused_by_name_and_value(bad, what):
    streams = Intake(FIXED, InputConfig())
    assert streams.joint_state(joints(MS, **bad), MS) is None
    assert dict(streams.faults) == {"implausible": 1}
    text = streams.sentences[Fault("joint_states", "implausible")]
    assert text.startswith("joint_states: ") and what in text and text.endswith(ADVICE["implausible"])
    assert streams.joint_state(joints(2 * MS), 2 * MS) is not None
    assert Intake(FIXED, InputConfig(limit_factor=0.0)).joint_state(joints(MS, **bad), MS) is not None


def test_an_implausible_effort_costs_the_effort_not_the_state():
    streams = Intake(FIXED, InputConfig())
    state = streams.joint_state(joints(MS, q=0.3, effort=1e300), MS)
    assert state is not None and state.effort is None and state.q[0] == 0.3
    assert dict(streams.faults) == {"effort_implausible": 1}
    assert "effort of joint 'knee' is 1e+300 N m" in streams.last_fault[1]
    assert streams.joint_state(joints(2 * MS, effort=80.0), 2 * MS).effort is not None


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ({"p": 1e300}, "position 1e+300 m, more than 1e+08"),
        ({"u": 1e4}, "linear velocity 10000 m/s, more than 1000"),
        ({"w": -1e5}, "angular velocity 100000 rad/s, more than 1000"),
    ],
)
def test_an_implausible_base_is_refused_with_its_odometry(bad, what):
    streams = Intake(FLOATING, InputConfig())
    streams.odometry(odometry(MS, **bad), MS)
    assert dict(streams.faults) == {"implausible": 1} and what in streams.last_fault[1]
    assert streams.last_fault[1].startswith("odom: ")
    assert streams.odometry(odometry(2 * MS, p=5e6, u=3.0, w=20.0), 2 * MS) is None and streams.faults.total() == 1


@pytest.mark.parametrize("child", ["trunk", "/trunk", "", "base_link_of_someone_else"])
def test_odometry_of_the_root_link_or_of_an_unknown_one_is_not_blamed(child):
    streams = Intake(FLOATING, InputConfig())
    streams.odometry(odometry(MS, child=child), MS)
    assert streams.joint_state(joints(MS), MS) is not None and not streams.faults


@pytest.mark.parametrize("child", ["head", "shank"])
def test_odometry_of_another_link_of_the_robot_is_used_and_reported(child):
    streams = Intake(FLOATING, InputConfig())
    for k in range(1, 4):
        streams.odometry(odometry(k * MS, child=child), k * MS)
        assert streams.joint_state(joints(k * MS), k * MS) is not None
    assert dict(streams.faults) == {"child_frame": 3}
    assert f"'{child}' instead of 'trunk'" in streams.last_fault[1]


@pytest.mark.parametrize(
    ("which", "values"), [("pose", [NAN] * 36), ("twist", [1e13] * 36), ("twist", [0.0] * 35 + [NAN])]
)
def test_a_covariance_that_is_none_is_reported_and_counts_as_none(which, values):
    streams = Intake(FLOATING, InputConfig())
    streams.odometry(odometry(MS, **{"P" if which == "pose" else "V": values}), MS)
    state = streams.joint_state(joints(MS), MS)
    assert state.base_covariance is None
    assert dict(streams.faults) == {"covariance": 1} and f"that of the {which}" in streams.last_fault[1]


def test_unknown_covariances_are_not_blamed():
    streams = Intake(FLOATING, InputConfig())
    streams.odometry(odometry(MS, P=[-1.0] + [0.0] * 35), MS)
    assert streams.joint_state(joints(MS), MS).base_covariance is None and not streams.faults


def test_the_frame_of_a_fixed_base_is_its_root_link_and_else_that_of_the_odometry():
    assert Intake(FIXED, InputConfig()).frame_id == "trunk"
    streams = Intake(FLOATING, InputConfig())
    assert streams.frame_id == ""
    streams.odometry(odometry(MS), MS)
    assert streams.frame_id == "map"


def test_one_stamp_from_the_future_does_not_make_the_next_ones_old():
    streams = Intake(FIXED, InputConfig())
    answered = 0
    for k in range(1, 101):
        at = k * MS + (3600 * 10**9 if k == 50 else 0)
        answered += streams.joint_state(joints(at), k * MS) is not None
    assert answered == 99 and dict(streams.faults) == {"stamp_jump": 1}
    assert "3600.001 s ahead of the one before" in streams.last_fault[1]


def test_both_streams_follow_a_clock_that_was_set_ahead():
    streams = Intake(FLOATING, InputConfig(stale_after=0.0))
    answered = []
    for k in range(1, 101):
        at = k * MS + (10**12 if k > 50 else 0)
        streams.odometry(odometry(at), k * MS)
        answered.append(streams.joint_state(joints(at), k * MS) is not None)
    assert all(answered[:50]) and all(answered[-38:])
    assert streams.faults["clock_set_ahead"] == 1


def test_every_sentence_names_its_input_and_the_last_of_each_kind_is_kept():
    streams = Intake(FLOATING, InputConfig())
    streams.odometry(odometry(MS, o=0.0), MS)
    streams.joint_state(joints(103 * MS), 206 * MS)
    streams.joint_state(joints(104 * MS, q=NAN), 104 * MS)
    streams.joint_state(joints(105 * MS), 105 * MS)
    stale = streams.sentences[Fault("joint_states", "stale")]
    assert stale.startswith("joint_states: the message is older than input.stale_after (it is 0.103 s old); ")
    assert streams.sentences[Fault("odom", "quaternion_norm")].startswith("odom: the orientation is not a unit")
    missing = streams.sentences[Fault("odom", "no_odometry")]
    assert "the last one was refused: the orientation is not a unit quaternion: its norm is 0" in missing


def test_a_joint_state_that_waited_is_blamed_itself_and_not_the_odometry_that_came():
    streams = Intake(FLOATING, InputConfig())
    for k in (1, 2, 3):
        streams.odometry(odometry(k * MS), k * MS)
        streams.joint_state(joints(k * MS), k * MS)
    streams.joint_state(joints(4 * MS, v=1e6), 4 * MS)
    assert streams.odometry(odometry(4 * MS), 4 * MS) is None
    assert dict(streams.kinds) == {Fault("joint_states", "implausible"): 1}


def test_losses_are_counted_by_the_numbers_that_the_middleware_gives():
    streams = Intake(FIXED, InputConfig())
    for k in (1, 2, 5, 6, 16):
        streams.joint_state(joints(k * MS), k * MS, k, b"writer")
    assert streams.rates["joint_states"].lost == 11 and not streams.faults
    streams.joint_state(joints(0), 17 * MS, 17, b"writer")
    streams.joint_state(joints(18 * MS), 18 * MS, 18, b"writer")
    assert streams.rates["joint_states"].lost == 11  # a message without a stamp did come
