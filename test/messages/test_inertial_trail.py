"""Bases that are carried along what an inertial unit measured, and odometry that is later than it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.swaying_base import GRAVITY, PLACE, Swaying
from hybrid_contact_ros.estimation.stream_offsets import odometry_offset
from hybrid_contact_ros.kernels.messages.inertial_trail import KEPT
from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.messages.carried_base import CarriedBases
from hybrid_contact_ros.messages.inertial_trail import InertialTrail
from hybrid_contact_ros.messages.odometry_lag import OdometryLag

MS = 1_000_000
STILL = np.zeros((2, 3))


def measured_trail(motion: Swaying, end: float, every: float = 0.0025) -> InertialTrail:
    unit = InertialTrail()
    for k in range(round(end / every) + 1):
        unit.add(motion.measured(k * every))
    return unit


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("start, end", [(0.1013, 0.1207), (0.12, 0.1), (0.1, 0.1025), (0.11, 0.11), (0.18, 0.203)])
def test_a_base_that_is_carried_along_the_unit_is_where_the_motion_leads(seed, start, end):
    motion = Swaying(seed)
    unit = measured_trail(motion, 0.2)
    ns = round(1e9 * start), round(1e9 * end)
    assert unit.covers(*ns)
    found, true = unit.carried(motion.base(start).numbers, *ns, STILL), motion.base(end).numbers
    # The last measurement is held on for 3 ms, in which the motion goes on.
    close = 1e-3 if end <= 0.2 else 0.2
    np.testing.assert_allclose(found[:3], true[:3], atol=0.02 * close)
    assert (Rotation.from_quat(found[3:7]).inv() * Rotation.from_quat(true[3:7])).magnitude() < 0.3 * close
    np.testing.assert_allclose(found[7:10], true[7:10], atol=2.0 * close)
    np.testing.assert_allclose(found[10:], true[10:], atol=10.0 * close)


def test_offsets_of_the_unit_are_taken_out():
    motion, off = Swaying(1), np.array([[0.05, -0.02, 0.01], [0.3, 0.1, -0.2]])
    right, wrong = InertialTrail(), InertialTrail()
    for k in range(41):
        one = motion.measured(0.0025 * k)
        right.add(one)
        wrong.add(ImuMeasurement(one.stamp_ns, None, one.angular_velocity + off[0], one.acceleration + off[1], PLACE))
    numbers = motion.base(0.05).numbers
    exact = right.carried(numbers, 50 * MS, 71 * MS, STILL)
    np.testing.assert_allclose(wrong.carried(numbers, 50 * MS, 71 * MS, off), exact, atol=1e-12)
    assert np.abs(wrong.carried(numbers, 50 * MS, 71 * MS, STILL) - exact).max() > 1e-3


def test_what_nobody_measured_is_not_covered():
    unit = InertialTrail()
    assert not unit.covers(0, 0) and unit.newest == 0
    motion = Swaying()
    for k in [*range(40), *range(60, 80)]:
        unit.add(motion.measured(1e-3 * k))
    assert unit.covers(10 * MS, 39 * MS) is False  # a gap of 21 ms lies behind, which asks from where on
    assert unit.covers(60 * MS, 79 * MS) and unit.covers(79 * MS, 60 * MS) and unit.covers(60 * MS, 99 * MS)
    assert not unit.covers(60 * MS, 100 * MS) and not unit.covers(50 * MS, 70 * MS)
    unit.add(motion.measured(0.01))  # the clock was set back
    assert unit.newest == 10 * MS and not unit.covers(5 * MS, 10 * MS) and unit.covers(10 * MS, 20 * MS)
    unit.reset()
    assert not unit.covers(10 * MS, 20 * MS)


def test_a_unit_without_accelerations_or_rates_leads_nowhere():
    unit = InertialTrail()
    unit.add(ImuMeasurement(MS, None, None, -GRAVITY))
    unit.add(ImuMeasurement(MS, None, np.zeros(3), None))
    assert unit.newest == 0


def test_long_trails_forget_their_older_half_and_no_more():
    unit, motion = InertialTrail(), Swaying()
    for k in range(3 * KEPT + 7):
        unit.add(motion.measured(1e-3 * k))
        assert k < KEPT // 2 or unit.covers((k - KEPT // 2 + 1) * MS, k * MS)
    numbers = motion.base(1.5).numbers
    found = unit.carried(numbers, 1500 * MS, 1520 * MS, STILL)
    np.testing.assert_allclose(found[7:10], motion.base(1.52).numbers[7:10], atol=1e-3)


def odometry_lag(late: float, every: int, noise: float = 0.0, size: float = 1.0, period: int = 2, filled: int = 4000):
    """Of an odometry each ``every`` ms beside a unit each ``period`` ms, over 4 s: what is made up for, ms."""
    rng, motion, unit = np.random.default_rng(0), Swaying(2, size), InertialTrail()
    lag = OdometryLag(unit)
    bias, found = 0.02 * rng.normal(size=3), []
    for ms in range(filled):
        if ms % period == 0:
            one = motion.measured(1e-3 * ms)
            spin = one.angular_velocity + bias + noise * rng.normal(size=3)
            unit.add(ImuMeasurement(one.stamp_ns, None, spin, one.acceleration, PLACE))
        if ms % every == 0:
            lag.note(ms * MS, motion.spin(1e-3 * ms - late) + noise * rng.normal(size=3))
            found.append(1e-6 * lag.ns)
    return np.array(found)


@pytest.mark.parametrize("every, period", [(20, 2), (10, 4), (1, 1), (5, 10)])
@pytest.mark.parametrize("late", [0.003, 0.006, 0.02])
def test_an_odometry_that_is_late_shows_by_how_much(late, every, period):
    assert odometry_lag(late, every, 0.01, period=period)[-1] == pytest.approx(1e3 * late, abs=0.5)


@pytest.mark.parametrize(
    "late, size, noise", [(0.0, 1.0, 0.01), (0.0, 1.0, 0.0), (-0.004, 1.0, 0.0), (0.006, 0.0, 0.01), (0.1, 1.0, 0.0)]
)
def test_a_lag_is_made_up_for_only_where_it_is_certain(late, size, noise):
    assert not odometry_lag(late, 10, noise, size).any()


def test_a_lag_is_made_up_for_by_degrees_and_forgotten_once_it_is_gone():
    found = odometry_lag(0.006, 20)
    assert found[:40].max() == 0.0 and np.abs(np.diff(found)).max() <= 0.4 + 1e-9  # ms in 20 ms
    motion, unit = Swaying(2), InertialTrail()
    lag = OdometryLag(unit)
    for ms in range(20_000):
        if ms % 2 == 0:
            unit.add(motion.measured(1e-3 * ms))
        if ms % 20 == 0:
            lag.note(ms * MS, motion.spin(1e-3 * ms - (0.006 if ms < 4000 else 0.0)))
        if ms == 4000:
            assert lag.ns > 5 * MS
    assert lag.ns == 0
    lag.reset()
    assert lag.ns == 0


def followed(bases: CarriedBases, unit: InertialTrail, motion: Swaying, late: float = 0.0, faulty=None) -> None:
    """3 s of odometry each 20 ms, and somewhat more of a unit each 2 ms."""
    for ms in range(0, 3019, 2):
        one = motion.measured(1e-3 * ms)
        unit.add(one if faulty is None else faulty(one))
        if ms % 20 == 0:
            bases.note(motion.base(1e-3 * ms - late), ms * MS)


def off_by(found, motion: Swaying, t: float) -> float:
    return float(np.abs(found.numbers[7:10] - motion.base(t).numbers[7:10]).max())


def test_bases_are_carried_along_what_leads_where_the_next_ones_are():
    motion, unit = Swaying(3), InertialTrail()
    bases, alone = CarriedBases(unit), CarriedBases()
    followed(bases, unit, motion)
    followed(alone, InertialTrail(), motion)
    start = motion.base(3.0)
    carried, blind = (each.at(start, 3000 * MS, 3016 * MS) for each in (bases, alone))
    assert off_by(carried, motion, 3.016) < 0.01 < 0.08 < off_by(blind, motion, 3.016)
    assert carried.late == 0.0
    assert carried.carried[1, :3, :3].trace() < 0.2 * blind.carried[1, :3, :3].trace()


@pytest.mark.parametrize(
    "faulty",
    [
        lambda one: ImuMeasurement(one.stamp_ns, None, one.angular_velocity, one.acceleration / 9.81, PLACE),
        lambda one: ImuMeasurement(one.stamp_ns, None, np.rad2deg(one.angular_velocity), one.acceleration, PLACE),
        lambda one: ImuMeasurement(one.stamp_ns, None, one.angular_velocity[::-1], -one.acceleration, PLACE),
    ],
)
def test_a_unit_in_other_units_or_axes_leads_no_base_astray(faulty):
    motion, unit = Swaying(3), InertialTrail()
    bases, alone = CarriedBases(unit), CarriedBases()
    followed(bases, unit, motion, faulty=faulty)
    followed(alone, InertialTrail(), motion)
    squares = np.zeros(2)
    for ms in range(2700, 3000, 10):
        true = motion.base(1e-3 * ms + 0.016).numbers[7:]
        for k, each in enumerate((bases, alone)):
            off = each.at(motion.base(1e-3 * ms), ms * MS, (ms + 16) * MS).numbers[7:] - true
            squares[k] += off[:3] @ off[:3] + 0.09 * off[3:] @ off[3:]  # of feet 0.3 m from the base
    assert squares[0] <= 1.01 * squares[1]


def test_a_late_base_is_carried_from_when_it_was_measured():
    motion, unit = Swaying(3), InertialTrail()
    bases = CarriedBases(unit)
    followed(bases, unit, motion, late=0.006)
    stated = np.stack((1e-6 * np.eye(6), 1e-4 * np.eye(6)))
    found = bases.at(motion.base(2.994, stated), 3000 * MS, 3010 * MS)
    assert found.late == pytest.approx(0.006, abs=5e-4)
    assert off_by(found, motion, 3.01) < 0.02
    np.testing.assert_allclose(found.covariance, stated + found.carried)
    bases.reset()
    assert bases.at(motion.base(2.994), 3000 * MS, 3010 * MS).late == 0.0


def test_an_odometry_of_which_the_rates_alone_are_late_is_not_made_earlier():
    """Filters low-pass rates, and have the velocity as it is."""
    motion, unit = Swaying(3), InertialTrail()
    bases = CarriedBases(unit)
    for ms in range(0, 3019, 2):
        unit.add(motion.measured(1e-3 * ms))
        if ms % 20 == 0:
            base = motion.base(1e-3 * ms)
            base.numbers[10:13] = motion.spin(1e-3 * ms - 0.012)
            bases.note(base, ms * MS)
    found = bases.at(base, 3000 * MS, 3016 * MS)
    assert found.late == 0.0 and off_by(found, motion, 3.016) < 0.01
    np.testing.assert_allclose(found.numbers[10:], motion.spin(3.016), atol=0.2)


def test_a_jump_of_the_odometry_does_not_mislead_the_next_carried_bases():
    motion, unit = Swaying(3), InertialTrail()
    bases = CarriedBases(unit)
    followed(bases, unit, motion)
    jumped = motion.base(3.02)
    jumped.numbers[[0, 7]] += 10.0
    bases.note(jumped, 3020 * MS)
    assert off_by(bases.at(motion.base(3.0), 3000 * MS, 3016 * MS), motion, 3.016) < 0.02


def test_a_lateness_that_is_made_up_for_is_told():
    assert odometry_offset(0.006).sentence == "odometry: 6.0 ms too late against the inertial unit; this is made up for"
    assert odometry_offset(0.006).notable and not odometry_offset(0.001).notable
