"""Pose and twist of an odometry are those of one motion, or it is told what is wrong with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.messages.odometry import Base
from hybrid_contact_ros.messages.odometry_doubts import OdometryDoubts

PERIOD = 0.005  # s


def walk(seconds=8.0, speed=0.4, turn=0.5, heading=2.0):
    """Stamps (ns), positions, rotations and velocities in world axes of a base that walks along a circle."""
    t = PERIOD * np.arange(1, int(seconds / PERIOD))
    yaw = heading + turn * t
    velocity = speed * np.column_stack((np.cos(yaw), np.sin(yaw), 0.1 * np.cos(9.0 * t)))
    position = np.cumsum(PERIOD * velocity, axis=0)
    return np.rint(1e9 * t).astype(int), position, Rotation.from_rotvec(np.outer(yaw, [0.0, 0.0, 1.0])), velocity


def told(stamps, position, quaternion, linear, in_world=False):
    doubts = OdometryDoubts()
    rows = np.hstack((position, quaternion, linear, np.zeros((len(stamps), 3))))
    found = [doubts.add(int(stamp), Base(row, None, in_world)) for stamp, row in zip(stamps, rows, strict=True)]
    return [words for words in found if words]


@settings(deadline=None, max_examples=25)
@given(
    speed=st.floats(-2.0, 2.0), turn=st.floats(-2.0, 2.0), heading=st.floats(-3.0, 3.0), noise=st.floats(0.0, 0.1),
    scale=st.floats(0.8, 1.2), in_world=st.booleans(),
)  # fmt: skip
def test_one_motion_is_not_doubted_with_noise_and_an_odometry_that_is_off_by_a_fifth(
    speed, turn, heading, noise, scale, in_world
):
    stamps, position, rotation, velocity = walk(5.0, speed, turn, heading)
    rng = np.random.default_rng(0)
    linear = scale * rotation.inv().apply(velocity) + noise * rng.normal(size=velocity.shape)
    assert told(stamps, position + 0.002 * rng.normal(size=position.shape), rotation.as_quat(), linear, in_world) == []


@pytest.mark.parametrize("in_world", [False, True])
def test_a_twist_in_other_axes_than_said_is_told_with_the_parameter(in_world):
    stamps, position, rotation, velocity = walk()
    world = velocity if in_world else rotation.inv().apply(velocity)  # what the message should have
    message = rotation.inv().apply(velocity) if in_world else velocity
    as_read = rotation.inv().apply(message) if in_world else message
    right = rotation.inv().apply(world) if in_world else world
    assert told(stamps, position, rotation.as_quat(), right, in_world) == []
    found = told(stamps, position, rotation.as_quat(), as_read, in_world)
    axes = ("base", "world") if in_world else ("world", "base")
    assert found and all(
        f"is it in the axes of the {axes[0]}, not of the {axes[1]}? (twist_in_world)" in x for x in found
    )


def test_a_position_in_millimetres_and_a_quaternion_that_begins_with_w_are_told():
    stamps, position, rotation, velocity = walk()
    linear, right = rotation.inv().apply(velocity), rotation.as_quat()
    found = told(stamps, 1e3 * position, right, linear)
    assert found and all("are both in metres?" in words for words in found)
    found = told(stamps, position, np.roll(right, 1, axis=1), linear)
    assert found and all("is the quaternion x, y, z, w" in words for words in found)


def test_a_level_base_that_walks_straight_with_w_first_is_told_to_be_upside_down():
    """A half turn about the axis along which it walks: position and twist agree."""
    stamps, position, rotation, velocity = walk(turn=0.0, heading=0.0)
    linear, first = rotation.inv().apply(velocity), np.roll(rotation.as_quat(), 1, axis=1)
    assert told(stamps, position, rotation.as_quat(), linear) == []
    found = told(stamps, position, first, linear)
    assert found and all("upside down" in words for words in found)
    assert told(stamps, 0.0 * position, first, 0.0 * linear)  # one that stands, too


@pytest.mark.parametrize(("speed", "turn"), [(0.4, 0.5), (0.05, 0.0), (0.0, 0.2)])
def test_a_twist_that_nobody_fills_is_told_however_slowly_the_base_moves(speed, turn):
    stamps, position, rotation, velocity = walk(speed=speed, turn=turn)
    found = told(stamps, position, rotation.as_quat(), 0.0 * velocity)
    assert found and all(words.endswith("and the twist says 0: is it filled?") for words in found)


def test_a_base_at_rest_whose_twist_is_zero_is_not_told_nor_one_jump_of_its_position():
    stamps, position, _, velocity = walk()
    noise = 0.002 * np.random.default_rng(0).normal(size=position.shape)
    level = np.tile([0.0, 0.0, 0.0, 1.0], (len(stamps), 1))
    assert told(stamps, noise, level, 0.0 * velocity) == []
    assert told(stamps, noise + np.where(stamps > 3e9, 0.5, 0.0)[:, None], level, 0.0 * velocity) == []


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_a_base_that_lies_on_its_back_is_told_until_it_stands_again(scale):
    """Also where pose and twist are not of one motion before, and nothing moves after it."""
    stamps, position, rotation, velocity = walk(10.0, turn=0.0, heading=0.0)
    quaternion = rotation.as_quat()
    quaternion[stamps < 6e9] = [1.0, 0.0, 0.0, 0.0]
    moves = (stamps < 4e9)[:, None]
    position = scale * np.where(moves, position, position[stamps < 4e9][-1])
    doubts, found = OdometryDoubts(), []
    for k, stamp in enumerate(stamps):
        row = np.hstack((position[k], quaternion[k], np.where(moves[k], velocity[k], [0.0, 0.0, 1e-3]), np.zeros(3)))
        found.append(doubts.add(int(stamp), Base(row, None, False)))
    assert "upside down" in found[np.searchsorted(stamps, 5_900_000_000)]
    assert not any("upside down" in words for words in found[np.searchsorted(stamps, 7_100_000_000) :])


def test_positions_that_are_corrected_now_and_then_pauses_and_a_robot_that_stands_are_not_told():
    stamps, position, rotation, velocity = walk(12.0)
    linear, right = rotation.inv().apply(velocity), rotation.as_quat()
    jumps = 0.8 * np.floor(stamps / 4e9)[:, None] * [1.0, -1.0, 0.0]  # a loop closes every 4 s
    assert told(stamps, position + jumps, right, linear) == []
    kept = stamps % 400_000_000 < 200_000_000
    assert told(stamps[kept], position[kept], right[kept], velocity[kept]) == []  # wrong axes, but never for a second
    assert told(stamps, 0.0 * position, np.tile(right[0], (len(right), 1)), 0.0 * linear) == []
