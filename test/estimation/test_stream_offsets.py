"""How late one stream comes against another, from what a late stream contradicts."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hybrid_contact_ros.config import TrustConfig
from hybrid_contact_ros.estimation.effort_errors import correction_and_errors
from hybrid_contact_ros.estimation.stream_offsets import note_spin, stream_offsets
from hybrid_contact_ros.kernels.estimation.stream_offsets import BASE, learn_offsets, offset_memory
from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.mechanics.state import RobotState

DT = 1e-3
PLACES = np.array([[0.2, 0.1, -0.3], [0.2, -0.1, -0.3], [-0.2, 0.1, -0.25]])
NORMALS = np.tile([0.0, 0.0, 1.0], (3, 1))
TANGENTS = np.tile(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), (3, 1, 1))
NV = 8

NO_EFFORTS = correction_and_errors(np.zeros(0, np.int64), np.zeros(0), TrustConfig(), True)


def spin(t: float) -> np.ndarray:
    return np.array([0.4 * np.sin(13.0 * t), 0.3 * np.sin(17.0 * t + 1.0), 0.2 * np.sin(9.0 * t + 2.0)])


def rows() -> np.ndarray:
    """Jacobian rows of the feet, which turn with the base: normal first."""
    found = np.zeros((3, 3, NV))
    for i, p in enumerate(PLACES):
        for side, axis in enumerate((NORMALS[i], *TANGENTS[i])):
            found[i, side, 3:6] = np.cross(p, axis)
    return found


def learned(base_late: float = 0.0, unit_late: float = 0.0, age: float = 0.0, noise: float = 0.0, stand=1):
    """Offsets after 8 s of a base that turns on feet that stand; its rates come late, the joints do not."""
    memory, rng = offset_memory(3), np.random.default_rng(0)
    J = rows()
    for k in range(8000):
        t = k * DT
        told = spin(t - base_late) + noise * rng.normal(size=3)
        flat = (J[:, :, 3:6] @ (told - spin(t))).reshape(9)
        if unit_late or age:
            stamp = round(1e9 * (1.0 + t))
            rates = spin(t - unit_late - age)
            unit = ImuMeasurement(stamp - round(1e9 * age), None, rates, None, np.zeros(3), np.zeros((3, 3, 3)))
            note_spin(memory, RobotState(stamp, np.zeros(1), np.zeros(1), imu=unit))
        closed = np.full(3, stand, np.uint8)
        learn_offsets(DT, True, told, J, TANGENTS, NORMALS, flat, closed, memory)
    return {o.stream: o for o in stream_offsets(memory, *NO_EFFORTS)}


@pytest.mark.parametrize("late", [0.003, -0.003, 0.008])
def test_feet_that_stand_tell_how_late_the_base_is(late):
    found = learned(base_late=late, noise=0.01)["the base"]
    assert found.seconds == pytest.approx(late, abs=0.0006) and found.notable
    assert ("late" if late > 0 else "early") in found.sentence and "odometry_delay" in found.sentence


def test_a_base_on_time_is_not_told_of():
    found = learned(noise=0.01)["the base"]
    assert abs(found.seconds) < 0.0005 and not found.notable


def test_feet_in_the_air_tell_nothing():
    assert "the base" not in learned(base_late=0.003, stand=0)


@pytest.mark.parametrize("age", [0.0, 0.002])
def test_a_unit_is_compared_with_the_base_and_its_stamps_are_minded(age):
    found = learned(unit_late=0.004, age=age)["the inertial unit"]
    assert found.seconds == pytest.approx(0.004, abs=0.0006) and found.notable


def test_a_unit_that_seems_early_shows_that_the_base_is_late():
    """Nothing comes before it was measured."""
    late, early = learned(unit_late=0.004)["the inertial unit"], learned(unit_late=-0.004)["the inertial unit"]
    text = r"{}: [34].\d ms too late against {}; set input.{}"
    assert re.fullmatch(text.format("the inertial unit", "the base", "imu_delay"), late.sentence)
    assert re.fullmatch(text.format("the base", "the inertial unit", "odometry_delay"), early.sentence)


@pytest.mark.parametrize(("explained", "told"), [(0.39, False), (0.58, True)])
def test_an_offset_that_explains_less_than_half_of_what_is_left_is_not_told(explained, told):
    """Feet that roll and slip look like 3 to 6 ms for certain, in recordings of which nothing is late."""
    memory, late = offset_memory(3), 0.003
    memory.sums[BASE] = late, 1.0, late**2 / explained, 100.0  # cross, square, left, seconds
    found = {o.stream: o for o in stream_offsets(memory, *NO_EFFORTS)}["the base"]
    assert found.seconds == pytest.approx(late) and found.seconds > 4.0 * found.sigma
    assert found.explained == pytest.approx(explained) and found.notable == told
