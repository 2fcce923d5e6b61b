"""How far bases that are carried along their twist are believed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.kernels.messages.measurements import missed
from hybrid_contact_ros.messages.carried_base import CarriedBases
from hybrid_contact_ros.messages.odometry import Base

EVERY = 0.02  # s
LATER = itertools.count(10**12, 10**12)  # ns


def base(place=(0, 0, 0), turn=None, linear=(0, 0, 0), angular=(0, 0, 0), covariance=None) -> Base:
    quaternion = (turn or Rotation.identity()).as_quat()
    return Base(np.concatenate((place, quaternion, linear, angular)).astype(float), covariance)


def measured(bases: CarriedBases, *found: Base, every: float = EVERY) -> None:
    """One base after the other, each so many seconds after the last; the first one long after all that were before."""
    start = next(LATER)
    for k, one in enumerate(found):
        bases.note(one, start + round(1e9 * every * k))


def at(bases: CarriedBases, found: Base, seconds: float) -> Base:
    """A base so many seconds later."""
    return bases.at(found, 0, round(1e9 * seconds))


def accelerated(bases: CarriedBases, a: float, count: int = 6) -> None:
    """Bases that accelerate along x, to and fro."""
    measured(bases, *(base(linear=(0.5 * a * 0.02 * (-1) ** k, 0, 0)) for k in range(count)))


@pytest.mark.parametrize("seed", range(8))
def test_what_a_carried_base_misses_is_its_displacement_in_the_axes_of_the_one_measured(seed):
    rng = np.random.default_rng(seed)
    first = base(rng.normal(size=3), Rotation.random(random_state=seed), rng.normal(size=3), rng.normal(size=3))
    there = first.at(0.02).numbers
    moved, turned = 1e-4 * rng.normal(size=3), 1e-4 * rng.normal(size=3)
    rotation = Rotation.from_quat(there[3:7]) * Rotation.from_rotvec(turned)
    twist = rng.normal(size=6)
    after = np.concatenate((there[:3] + rotation.apply(moved), rng.choice([-1, 1]) * rotation.as_quat(), twist))
    out = np.empty((2, 6))
    missed(there, after, np.empty((3, 3)), out)
    np.testing.assert_allclose(out[0], np.concatenate((moved, turned)), atol=1e-12)
    np.testing.assert_allclose(out[1], twist - there[7:], atol=1e-12)


def test_a_base_that_accelerates_is_believed_less_the_further_it_is_carried():
    bases = CarriedBases()
    accelerated(bases, 8.0)
    for ms in (5, 10, 20):
        found = at(bases, base(), 1e-3 * ms)
        assert found.covariance is None
        twist, pose = found.carried[1], found.carried[0]
        unseen = np.hypot(ms, 5)  # ms: by so much stamps may be later than what they measure
        assert np.sqrt(twist[0, 0]) == pytest.approx(8e-3 * unseen)
        # The base stood where it was, so that its velocity of 0.08 m/s led astray.
        assert np.sqrt(pose[0, 0]) == pytest.approx(0.08e-3 * unseen)
        assert not twist[1:].any() and not pose[1:].any()


def test_a_stated_covariance_is_that_of_the_measurement_and_of_the_way():
    bases = CarriedBases()
    accelerated(bases, 8.0)
    stated = np.stack((1e-6 * np.eye(6), 1e-4 * np.eye(6)))
    found = at(bases, base(covariance=stated), 0.01)
    np.testing.assert_allclose(found.covariance, stated + found.carried)
    assert at(bases, base(covariance=stated), 0.0).carried is None


def test_one_base_or_bases_far_apart_do_not_tell():
    bases = CarriedBases()
    measured(bases, base())
    assert at(bases, base(), 0.01).carried is None
    measured(bases, base(), base(linear=(1, 0, 0)), every=1.0)
    assert at(bases, base(), 0.01).carried is None
    accelerated(bases, 8.0)
    assert at(bases, base(), 0.01).carried is not None
    bases.reset()
    assert at(bases, base(), 0.01).carried is None


def test_what_was_missed_long_ago_is_forgotten():
    bases = CarriedBases()
    accelerated(bases, 8.0)
    measured(bases, *(base(linear=(0.08, 0, 0), place=(0.08 * 0.02 * k, 0, 0)) for k in range(101)))
    assert np.sqrt(at(bases, base(), 0.02).carried[1, 0, 0]) < 0.03  # of 0.16 m/s, after 2 s


@pytest.mark.parametrize("jump", [10.0, 1e150])
def test_a_jump_of_the_odometry_does_not_make_the_next_bases_doubtful(jump):
    bases = CarriedBases()
    found = [base(place=(0.0 if k < 40 else jump, 0, 0), linear=(0.002 * (-1) ** k, 0, 0)) for k in range(60)]
    for k in range(1, 60):
        measured(bases, *found[k - 1 : k + 1])
        carried = at(bases, base(), 0.02).carried
        assert carried is not None and np.sqrt(carried[0, 0, 0]) < 0.003  # m


def test_a_robot_that_begins_to_move_is_believed_less_within_a_third_of_a_second():
    bases = CarriedBases()
    moves = (base(linear=(0.2 * (-1) ** k, 0, 0)) for k in range(16))  # 20 m/s², to and fro
    measured(bases, *(base() for _ in range(50)), *moves)
    assert np.sqrt(at(bases, base(), 0.02).carried[1, 0, 0]) > 0.2  # of 0.4 m/s
