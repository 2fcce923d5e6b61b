"""Streams that repeat their last measurement with new stamps (:mod:`.frozen`)."""

import numpy as np
import pytest

from hybrid_contact_ros.messages.frozen import Frozen
from test.messages.test_intake import FIXED, FLOATING, MS, intake, joints, odometry


def test_numbers_that_stay_while_velocities_move_something_are_told_after_a_quarter_of_a_second_until_they_change():
    frozen = Frozen()
    told = [frozen.add(k * 10 * MS, np.array([0.1]), np.array([0.3])) for k in range(40)]
    assert [bool(text) for text in told] == [k >= 25 for k in range(40)]
    assert "0.39 s" in told[-1] and "0.3" in told[-1]
    assert not frozen.add(400 * MS, np.array([0.1001]), np.array([0.3]))
    assert not frozen.add(410 * MS, np.array([0.1001]), np.array([0.3]))


@pytest.mark.parametrize("rate", [0.0, 1e-4])
def test_a_robot_at_rest_may_repeat_its_numbers(rate):
    frozen = Frozen()
    assert not any(frozen.add(k * 10 * MS, np.array([0.1]), np.array([rate])) for k in range(200))


def test_a_clock_that_jumps_and_a_slow_stream_that_is_late_are_not_told():
    frozen = Frozen()
    stamps = [0, 10, 20, 100_000, 100_010, 100_020, 100_300, 100_600]
    assert not any(frozen.add(ms * MS, np.array([0.1]), np.array([0.3])) for ms in stamps)


def test_one_joint_that_moves_shows_that_a_stream_is_alive():
    frozen = Frozen()
    assert not any(frozen.add(k * MS, np.array([0.1, 1e-6 * k]), np.array([0.3, 0.0])) for k in range(2000))


def play(robot, count, frozen_joints, frozen_base):
    """Counts of faults of streams at 100 Hz, of which one repeats its numbers from 0.5 s on."""
    streams = intake(robot)
    states = 0
    for k in range(1, count):
        t = k * 10 * MS
        still = min(k, 50)
        j, b = (still if frozen_joints else k), (still if frozen_base else k)
        streams.odometry(odometry(t, p=(0.002 * b, 0.0, 0.5), u=(0.2, 0.0, 0.0)), t)
        states += streams.joint_state(joints(t, q=0.2 + 0.002 * j, dq=0.2), t) is not None
    return streams, states


@pytest.mark.parametrize("robot", [FLOATING, FIXED], ids=["floating", "fixed"])
def test_joints_that_freeze_are_told_by_name_and_are_no_doubt_of_their_velocities(robot):
    streams, states = play(robot, 300, True, False)
    assert streams.faults["frozen"] > 200 and not streams.faults["velocity"]
    assert states >= 290  # they are used
    assert "joint_states" in streams.last_fault[1] and "driver" in streams.last_fault[1]
    assert streams.contradictions(0.1)


def test_an_odometry_that_freezes_is_told_and_joints_are_not_blamed():
    streams, _ = play(FLOATING, 300, False, True)
    assert streams.faults["frozen"] > 200 and {kind.topic for kind in streams.kinds} == {"odom"}
    assert not streams.faults["twist"]


def test_streams_that_move_are_not_told():
    streams, _ = play(FLOATING, 300, False, False)
    assert not streams.faults
