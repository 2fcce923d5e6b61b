"""Drivers that publish positions alone: velocities are the slopes of the positions, and the suite says so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.config import EstimatorConfig, InputConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.definitions import blank
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.slopes import LEAST, LONGEST, WINDOW, PositionSlopes

INERTIA = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = (
    f'<robot name="leg"><link name="trunk">{INERTIA}</link><link name="thigh">{INERTIA}</link>'
    f'<link name="wheel">{INERTIA}</link>'
    '<joint name="hip" type="revolute"><parent link="trunk"/><child link="thigh"/><axis xyz="0 1 0"/>'
    '<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
    '<joint name="axle" type="continuous"><parent link="thigh"/><child link="wheel"/><axis xyz="0 1 0"/></joint>'
    "</robot>"
)
MODEL = RigidBodyModel.from_urdf(URDF, EstimatorConfig.from_mapping({"floating_base": False}))
NAMES = ("axle", "gripper", "hip")  # not the model's order, and with a stranger
MS = 1_000_000
NAN = float("nan")
NONE, UNKNOWN = (), (NAN, NAN, NAN)


def message(ms: float, position, velocity=NONE, effort=()):
    header = blank("Header", stamp=blank("Time", sec=1, nanosec=round(ms * MS)))
    arrays = {"position": list(position), "velocity": list(velocity), "effort": list(effort)}
    return blank("JointState", header=header, name=list(NAMES), **arrays)


def moving(ms: float, speed=(3.0, 0.0, -0.5), **more):
    return message(ms, [0.1 + 1e-3 * ms * v for v in speed], **more)


def fed(streams: Intake, messages, as_bytes: bool):
    for msg in messages:
        stamp = 10**9 + msg.header.stamp.nanosec
        yield streams.joint_state(serialize("JointState", msg) if as_bytes else msg, stamp)


@pytest.mark.parametrize("as_bytes", [True, False])
@pytest.mark.parametrize("velocity", [NONE, UNKNOWN], ids=["empty", "NaN"])
@pytest.mark.parametrize("effort", [(), (0.5, NAN, 1.5)], ids=["no effort", "efforts"])
def test_joints_without_velocities_move_as_their_positions_do(velocity, effort, as_bytes):
    streams = Intake(MODEL, InputConfig())
    sent = [moving(2 * k, velocity=velocity, effort=effort) for k in range(1, 9)]
    states = list(fed(streams, sent, as_bytes))
    assert states[: LEAST - 1] == [None, None] and None not in states[LEAST - 1 :]
    for state in states[LEAST - 1 :]:
        np.testing.assert_allclose(state.v, [-0.5, 3.0], atol=1e-9)  # hip, axle: the model's order
        assert (state.effort is None) == (not effort)
    assert streams.faults == {"no_velocity": LEAST - 1, "velocity_from_positions": 6}


def test_a_position_of_another_device_that_is_not_a_number_costs_nothing():
    streams = Intake(MODEL, InputConfig())
    sent = [moving(2 * k, speed=(3.0, NAN, -0.5), velocity=(NAN, 0.0, NAN)) for k in range(1, 5)]
    assert list(fed(streams, sent, True))[-1].v == pytest.approx([-0.5, 3.0])


def test_one_velocity_of_several_that_is_not_a_number_is_a_fault_as_before():
    streams = Intake(MODEL, InputConfig())
    assert list(fed(streams, [moving(2, velocity=(NAN, 0.0, 1.0)), moving(4, velocity=(1.0, 0.0, NAN))], True)) == [
        None,
        None,
    ]
    assert streams.faults == {"not_finite": 2}


def test_a_position_that_is_refused_is_in_no_slope_after_it():
    streams = Intake(MODEL, InputConfig())
    sent = [moving(2 * k) for k in range(1, 9)]
    sent[5] = message(12, [0.1, 0.0, 1e7])
    states = list(fed(streams, sent, True))
    assert states[5] is None and streams.faults["implausible"] == 1
    np.testing.assert_allclose(states[6].v, [-0.5, 3.0], atol=1e-9)


def test_a_missing_velocity_among_others_is_refused_and_costs_no_state_after_it():
    streams = Intake(MODEL, InputConfig())
    measured = (1.0, 0.0, 2.0)
    sent = [moving(2, velocity=measured), moving(4), moving(6, velocity=measured)]
    first, second, third = fed(streams, sent, True)
    assert second is None and first.v.tolist() == third.v.tolist() == [2.0, 1.0]
    assert streams.faults == {"no_velocity": 1}


def test_slopes_do_not_reach_across_a_clock_that_was_set_or_a_reset():
    slopes = PositionSlopes()
    for k in range(5):
        slopes.add(k * MS, ("a",), np.array([0.1 * k]))
    assert slopes.add(2 * MS, ("a",), np.array([7.0])) is None
    streams = Intake(MODEL, InputConfig())
    list(fed(streams, [moving(2 * k) for k in range(1, 5)], True))
    streams.reset()
    assert list(fed(streams, [moving(20)], True)) == [None]


def test_other_joints_and_positions_that_are_too_old_begin_anew():
    slopes = PositionSlopes()
    for k in range(5):
        slopes.add(k * MS, ("a",), np.zeros(1))
    assert slopes.add(5 * MS, ("b",), np.zeros(1)) is None
    assert slopes.add(6 * MS, ("b",), np.zeros(1)) is None and slopes.add(7 * MS, ("b",), np.zeros(1)) is not None
    assert slopes.add(8 * MS + round(LONGEST * 1e9), ("b",), np.zeros(1)) is None


def test_an_angle_that_jumps_by_a_turn_has_not_moved():
    slopes = PositionSlopes()
    for k in range(6):
        angle = 3.1 + 0.02 * k
        found = slopes.add(2 * k * MS, ("a",), np.array([(angle + np.pi) % (2 * np.pi) - np.pi]))
    assert found == pytest.approx([10.0])


@given(st.lists(st.integers(1, 40), min_size=LEAST + 1, max_size=12), st.integers(0, 2**32 - 1))
def test_the_slope_is_numpys_least_squares_line_through_the_last_positions(steps, seed):
    rng, slopes = np.random.default_rng(seed), PositionSlopes()
    stamps = np.cumsum(steps) * MS
    positions = rng.uniform(-1.0, 1.0, (len(stamps), 2))
    for stamp, position in zip(stamps.tolist(), positions, strict=True):
        found = slopes.add(stamp, ("a", "b"), position)
    ages = 1e-9 * (stamps[-1] - stamps)
    chosen = (ages <= WINDOW + 1e-9) | (np.arange(len(ages)) >= len(ages) - LEAST)
    assert found == pytest.approx(np.polyfit(-ages[chosen], positions[chosen], 1)[0], rel=1e-6, abs=1e-9)
