"""Commands of joints become part of states: three types of messages, what is refused, and for how long one holds."""

from __future__ import annotations

from types import SimpleNamespace as Space

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.config import EstimatorConfig, InputConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.intake import COMMAND, Intake
from hybrid_contact_ros.messages.refusals import REASONS

INERTIA = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
ARM = (
    f'<robot name="arm"><link name="base">{INERTIA}</link><link name="upper">{INERTIA}</link>'
    f'<link name="hand">{INERTIA}</link>'
    '<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
    '<joint name="wrist" type="continuous"><parent link="upper"/><child link="hand"/><axis xyz="0 1 0"/>'
    '<limit effort="3" velocity="9"/></joint></robot>'
)
MODEL = RigidBodyModel.from_urdf(ARM, EstimatorConfig(floating_base=False, allow_no_contacts=True))
MS, NAN = 1_000_000, float("nan")
START = 1_000_000_000


def intake(**config) -> Intake:
    return Intake(MODEL, InputConfig(**config))


def header(ns: int) -> Space:
    return Space(stamp=Space(sec=ns // 10**9, nanosec=ns % 10**9), frame_id="")


def joints(ns: int) -> Space:
    return Space(header=header(ns), name=["shoulder", "wrist"], position=[0.1, 0.2], velocity=[0.0, 0.0], effort=[])


def command(ns: int, names=("wrist", "shoulder"), position=(), velocity=(), effort=(), **gains) -> Space:
    arrays = {"position": list(position), "velocity": list(velocity), "effort": list(effort), **gains}
    return Space(header=header(ns), name=list(names), **arrays)


def with_gains(ns: int, **changes) -> Space:
    arrays = {"position": [0.3, 0.4], "velocity": [1.0, 2.0], "effort": [0.5, 0.6], "stiffness": [7.0, 8.0]}
    return command(ns, **{**arrays, "damping": [0.7, 0.8], **changes})


def trajectory(ns: int, *points: Space) -> Space:
    return Space(header=header(ns), joint_names=["wrist", "shoulder"], points=list(points))


def point(positions=(), velocities=(), effort=()) -> Space:
    start = Space(sec=0, nanosec=0)
    return Space(
        positions=list(positions), velocities=list(velocities), accelerations=[], effort=list(effort),
        time_from_start=start,
    )  # fmt: skip


def state_after(streams: Intake, *messages, ns: int = START + MS):
    """The state at ``ns``, after these commands."""
    for msg in messages:
        streams.side_input(COMMAND, msg, ns)
    return streams.joint_state(joints(ns), ns)


def rows(found) -> list[list[float]]:
    return [x.tolist() for x in (found.position, found.velocity, found.effort, found.stiffness, found.damping)]


def test_without_a_command_a_state_has_none():
    assert state_after(intake()).command is None


def test_a_joint_state_commands_with_the_configured_gains_in_the_order_of_the_model():
    streams = intake(command_stiffness=(5.0, 6.0), command_damping=(0.5,))
    found = state_after(streams, command(START, position=[0.3, 0.4], effort=[1.0, 2.0])).command
    assert rows(found) == [[0.4, 0.3], [0.0, 0.0], [2.0, 1.0], [5.0, 6.0], [0.5, 0.5]]
    assert found.known.all() and found.stamp_ns == START


def test_a_joint_command_brings_its_gains():
    found = state_after(intake(command="joint_command"), with_gains(START)).command
    assert rows(found) == [[0.4, 0.3], [2.0, 1.0], [0.6, 0.5], [8.0, 7.0], [0.8, 0.7]]


def test_a_trajectory_commands_its_first_point():
    streams = intake(command="joint_trajectory", command_stiffness=(5.0,), command_damping=(1.0,))
    points = point([0.3, 0.4], [1.0, 2.0]), point([0.9, 0.9], [3.0, 3.0])
    found = state_after(streams, trajectory(START, *points)).command
    assert rows(found) == [[0.4, 0.3], [2.0, 1.0], [0.0, 0.0], [5.0, 5.0], [1.0, 1.0]]
    assert state_after(streams, trajectory(START + 1)) is None  # the state's stamp is repeated
    assert streams.faults["array_length"] == 1


def test_a_position_without_a_stiffness_that_anybody_knows_says_nothing():
    found = state_after(intake(), command(START, position=[0.3, 0.4], effort=[1.0, 1.0])).command
    assert not found.known.any() and not any(np.any(row) for row in rows(found))


def test_an_effort_alone_needs_no_gains_and_others_are_not_used():
    streams = intake(command_stiffness=(5.0,), command_damping=(1.0,))
    found = state_after(streams, command(START, effort=[1.0, NAN])).command
    assert found.known.tolist() == [False, True]
    assert rows(found) == [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_nan_is_no_command_of_that_joint():
    found = state_after(intake(command="joint_command"), with_gains(START, position=[0.3, NAN])).command
    assert found.known.all() and found.stiffness.tolist() == [0.0, 7.0] and found.damping.tolist() == [0.8, 0.7]


def test_a_command_of_some_joints_leaves_the_others_alone():
    streams = intake(command_stiffness=(5.0,), command_damping=(1.0,))
    found = state_after(streams, command(START, ("wrist", "gripper"), [0.3, 9.0])).command
    assert found.known.tolist() == [False, True] and found.position.tolist() == [0.0, 0.3]


REFUSED = {
    "joint_names": [{"names": ("arm", "leg")}, {"names": ()}, {"names": ("wrist", "wrist")}],
    "array_length": [{"position": [0.1]}, {"damping": [0.1, 0.2, 0.3]}],
    "not_finite": [{"position": [0.1, np.inf]}, {"stiffness": [-np.inf, 1.0]}],
    "implausible": [{"position": [0.1, 1e3]}, {"effort": [1e4, 0.0]}, {"velocity": [0.0, 1e3]}, {"stiffness": [-1, 1]}],
    "invalid_stamp": [{"ns": 0}],
}  # fmt: skip


@pytest.mark.parametrize(("reason", "changes"), [(reason, one) for reason, all_ in REFUSED.items() for one in all_])
@pytest.mark.parametrize("as_bytes", [False, True])
def test_what_cannot_be_used_is_refused_by_name_and_the_command_before_holds(reason, changes, as_bytes):
    streams = intake(command="joint_command")
    changes = {"ns": START + 1, **changes}
    if "names" in changes and len(changes["names"]) != 2:
        changes |= {name: [] for name in ("position", "velocity", "effort", "stiffness", "damping")}
    bad = with_gains(changes.pop("ns"), **changes)
    state = state_after(streams, with_gains(START), serialize("JointCommand", bad) if as_bytes else bad)
    assert state.command.stamp_ns == START
    assert dict(streams.faults) == {reason: 1}
    assert REASONS[reason] in streams.last_fault[1] and streams.last_fault[1].startswith("joint_command: ")


def test_bytes_that_are_no_message_are_refused():
    streams = intake()
    assert state_after(streams, b"\0\1\0\0" + bytes(range(32))).command is None
    assert streams.faults == {"unreadable": 1}


def test_a_command_holds_for_its_timeout_and_its_end_is_told_once():
    streams = intake(command_timeout=0.01, command_stiffness=(5.0,))
    assert state_after(streams, command(START, position=[0.3, 0.4]), ns=START + 10 * MS).command is not None
    assert state_after(streams, ns=START + 10 * MS + 1).command is None
    assert state_after(streams, ns=START + 20 * MS).command is None
    assert streams.faults == {"side_late": 1} and streams.side[COMMAND].used == 1
    assert state_after(streams, command(START + 30 * MS, position=[0.3, 0.4]), ns=START + 31 * MS).command is not None


def test_commands_that_go_back_are_refused_and_a_clock_that_is_set_is_followed():
    streams = intake(command_stiffness=(5.0,))
    state_after(streams, command(START, position=[0.3, 0.4]), command(START - MS, position=[0.1, 0.1]))
    assert streams.faults == {"backward_stamp": 1}
    back = START - 900 * MS
    for k in range(12):  # a recording that starts over
        state = state_after(streams, command(back + k * MS, position=[0.2, 0.2]), ns=back + k * MS)
    assert state is not None and state.command.stamp_ns == back + 11 * MS


def test_a_reset_forgets_the_command():
    streams = intake(command_stiffness=(5.0,))
    state_after(streams, command(START, position=[0.3, 0.4]))
    streams.reset()
    assert state_after(streams, ns=START + 2 * MS).command is None


def test_gains_are_one_or_one_for_each_joint():
    with pytest.raises(ValueError, match="command_damping has 3 numbers"):
        intake(command_damping=(1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="gains are not below zero"):
        EstimatorConfig.from_mapping({"allow_no_contacts": True, "input": {"command_stiffness": [-1.0]}})
    with pytest.raises(ValueError, match="joint_state, joint_trajectory, joint_command"):
        EstimatorConfig.from_mapping({"allow_no_contacts": True, "input": {"command": "torque"}})


NUMBER = st.floats(-1.0, 1.0) | st.just(NAN)


@given(data=st.data(), kind=st.sampled_from(["JointState", "JointCommand", "JointTrajectory"]))
def test_bytes_say_what_messages_say_to_the_bit(data, kind):
    config = {"JointState": "joint_state", "JointCommand": "joint_command", "JointTrajectory": "joint_trajectory"}[kind]
    both = [intake(command=config, command_stiffness=(5.0,), command_damping=(1.0,)) for _ in range(2)]
    for k in range(3):  # the first of a layout is made a message; the next ones are read where they stand
        ns = START + k * MS
        draws = [data.draw(st.lists(NUMBER, min_size=2, max_size=2) | st.just([])) for _ in range(3)]
        if kind == "JointTrajectory":
            msg = trajectory(ns, point(*draws))
        elif kind == "JointCommand":
            msg = with_gains(ns, position=draws[0], velocity=draws[1], effort=draws[2])
        else:
            msg = command(ns, position=draws[0], velocity=draws[1], effort=draws[2])
        one, other = (
            state_after(streams, form, ns=ns).command
            for streams, form in zip(both, (msg, serialize(kind, msg)), strict=True)
        )
        assert (one is None) == (other is None)
        if one is not None:
            assert rows(one) == rows(other) and one.known.tolist() == other.known.tolist()
    assert both[0].faults == both[1].faults
