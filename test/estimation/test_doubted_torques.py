"""How wrong the efforts of an arm may be: what they left of its motion, and the friction of joints that stand still."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.effort_correction import (
    CONSTANTS,
    FRICTION,
    KINDS,
    RATES,
    UNREST,
    follow_efforts,
)
from hybrid_contact_ros.kernels.estimation.effort_errors import doubt_torques
from hybrid_contact_ros.kernels.estimation.error_forecasts import FORETOLD, JUDGED, MEASURED, NUMBERS, UNIT, WHITE

LEVER = 0.2  # m


def doubted(
    presses=0.04, active=False, measured=9.0, foretold=0.0, friction=0.0, speed=0.0, seconds=2.0, effort=0.0, late=0.0,
    rate=0.0, unit=1.0, white=0.0,
):  # fmt: skip
    """Standard deviations (N m) of two joints, of which the second one belongs to no limb, of a robot of 50 N."""
    table = SimpleNamespace(
        presses=presses, floor=0.06, share=1.0, scale=np.array([1.0 / (50.0 * LEVER), 0.0]), limb=np.array([0, -2])
    )
    numbers = np.zeros(NUMBERS)
    numbers[JUDGED], numbers[MEASURED], numbers[FORETOLD] = seconds, seconds * measured, seconds * foretold
    numbers[UNIT], numbers[WHITE] = unit, white
    applied = np.zeros((KINDS, 2))
    applied[FRICTION] = friction
    correction = SimpleNamespace(
        active=[CONSTANTS * active], applied=applied, unsure=np.full(2, np.nan), late=np.r_[late, 0.0],
        effort_rate=np.outer(np.eye(RATES)[UNREST], np.full(2, rate)),
    )  # fmt: skip
    doubt_torques.py_func(np.full(2, speed), np.full(2, effort), table, numbers, correction)
    assert correction.unsure[1] == 0.0
    return correction.unsure[0]


def test_what_the_efforts_leave_of_the_motion_is_what_they_may_be_wrong_by():
    floor = 0.06 * 0.04 * 50.0 * LEVER  # N m
    assert doubted(seconds=200.0) == pytest.approx(3.0 * floor, rel=1e-3)
    assert doubted(active=True, foretold=0.25, seconds=200.0) == pytest.approx(0.5 * floor, rel=1e-3)  # corrected
    assert doubted(measured=0.0) == 0.0
    # What is left is counted in units of nine squares of the floor, because noise leaves as much.
    assert doubted(measured=1.0, unit=9.0, seconds=200.0) == pytest.approx(3.0 * floor, rel=1e-3)


def test_what_noise_leaves_of_the_motion_is_no_error_that_lasts_but_for_a_tenth():
    floor = 0.06 * 0.04 * 50.0 * LEVER  # N m
    assert doubted(measured=1.0, unit=100.0, white=64.0, seconds=200.0) == pytest.approx(6.0 * floor, rel=2e-3)
    for white in (100.0, 1000.0):  # it is not known to better than that
        assert doubted(measured=1.0, unit=100.0, white=white, seconds=200.0) == pytest.approx(
            math.sqrt(10.0) * floor, rel=2e-3
        )


def test_the_friction_of_a_joint_that_stands_still_is_between_none_and_all_of_it():
    assert doubted(active=True, friction=-0.6) == pytest.approx(0.6 / math.sqrt(12.0))
    assert doubted(active=True, friction=-0.6, speed=2.0) < 0.01
    assert doubted(active=False, measured=0.0, friction=-0.6) == 0.0  # it is not made up for


def test_before_an_arm_has_moved_its_efforts_may_be_wrong_by_a_part_of_themselves():
    first, later, last = (doubted(measured=0.0, effort=10.0, seconds=seconds) for seconds in (0.0, 0.2, 5.0))
    assert first == pytest.approx(0.5) and later == pytest.approx(0.25) and last < 0.02


def test_half_of_a_leap_of_the_efforts_may_be_of_the_time_before_or_after_it():
    """Of a controller that asks for the torques of a stance before the foot has touched."""
    correction = SimpleNamespace(
        active=[0], added=np.array([0.5, 0.0]), slow=np.zeros(2), late=np.zeros(2), unsure=np.zeros(2),
        effort_rate=np.zeros((RATES, 2)),
    )  # fmt: skip
    table, numbers = SimpleNamespace(presses=1.0), np.zeros(NUMBERS)
    said = []
    for dt, effort in ((0.0, 3.0), (0.002, 3.0), (0.002, 11.0), (0.002, 11.0), (1.0, 5.0)):
        follow_efforts.py_func(dt, np.array([effort + 0.5, 0.0]), correction)  # 0.5 N m are made up for
        doubt_torques.py_func(np.zeros(2), np.zeros(2), table, numbers, correction)
        said.append(correction.unsure.tolist())
    assert said == [[0.0, 0.0], [0.0, 0.0], [4.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    for k in range(50):  # a ramp, as steep
        follow_efforts.py_func(0.002, np.array([8.0 * k, 0.0]), correction)
        doubt_torques.py_func(np.zeros(2), np.zeros(2), table, numbers, correction)
    assert correction.unsure.max() < 1e-6


def test_nothing_is_doubted_of_robots_that_stand():
    assert doubted(presses=1.0, effort=10.0) == 0.0


def test_efforts_that_are_late_may_be_wrong_by_how_much_their_rate_has_changed_of_late():
    assert doubted(presses=1.0, late=0.006, rate=500.0) == pytest.approx(3.0)
    without = doubted(seconds=200.0)
    assert doubted(seconds=200.0, late=0.006, rate=500.0) == pytest.approx(math.hypot(3.0, without))
