"""What extrapolations missed, learned from landing to landing."""

import numpy as np
import pytest

from hybrid_contact_ros.estimation.velocity_errors import Missed, VelocityErrors

MS = 1_000_000
OPEN, STANDS = np.array([0, 0], dtype=np.uint8), np.array([0, 1], dtype=np.uint8)
STRIDE, FALL = 300, 40  # ms


def stride(thing: VelocityErrors, begin: int, jerk, closed=OPEN, count=FALL, noise=None):
    """Contact 0 touches after ``count`` ms in which v̇ = 2 + jerk t and v follows it; the touch is told after it."""
    for k in range(count):
        t = 0.001 * k
        v = np.array([2.0 * t, 0.5 * jerk * t * t]) + (0.0 if noise is None else noise[k])
        thing.add((begin + k) * MS, v, np.array([2.0, jerk * t]), closed)
    thing.touched([(0, (begin + count - 1) * MS)])
    thing.add((begin + count) * MS, np.zeros(2), np.zeros(2), closed)


def asked(thing: VelocityErrors, begin: int, jerk, at: int, closed=OPEN):
    """What is known ``at`` ms after the begin of another stride."""
    for k in range(at + 1):
        thing.add((begin + k) * MS, np.array([0.002 * k, 0.0]), np.array([2.0, 0.001 * jerk * k]), closed)
    return thing.seen()


def test_the_jerk_that_ends_each_fall_is_what_extrapolations_miss():
    """v − (v₀ + T a₀) = ½ jerk T², in the coordinate that has one."""
    thing = VelocityErrors(2, 4)
    for i in range(3):
        stride(thing, i * STRIDE, 50.0)
    found = asked(thing, 3 * STRIDE, 50.0, 20).before(0, 0.02)
    assert found is not None and found.errors.shape == (3, 2)
    np.testing.assert_allclose(found.errors, [[0.0, 0.5 * 50.0 * 0.02**2]] * 3, atol=1e-12)
    assert 0.0 < found.middle(np.zeros(2))[1] < 0.01  # three landings do not make it certain


def test_situations_that_are_not_alike_teach_nothing():
    thing = VelocityErrors(2, 4)
    for i in range(3):
        few = asked(thing, (2 * i) * STRIDE, 50.0, 20).before(0, 0.02)
        assert few is None if i == 0 else not few.settled
        stride(thing, (2 * i + 1) * STRIDE, 50.0)
    assert asked(thing, 6 * STRIDE, 50.0, 20).before(0, 0.02) is not None
    assert thing.seen().before(1, 0.02) is None  # another contact
    assert thing.seen().before(0, 0.2) is None  # too long before
    assert asked(thing, 7 * STRIDE, 50.0, 20, STANDS).before(0, 0.02) is None  # another mode
    thing.reset()
    assert thing.seen().before(0, 0.02) is None


def test_soon_after_a_touch_only_what_was_as_soon_after_one_counts():
    thing = VelocityErrors(2, 4)
    for i in range(3):
        thing.touched([(1, (i * STRIDE - 1) * MS)])
        stride(thing, i * STRIDE, 50.0, count=25)
    thing.touched([(1, (3 * STRIDE - 1) * MS)])
    seen = asked(thing, 3 * STRIDE, 50.0, 3)
    assert seen.before(0, 0.02) is not None
    assert seen.before(0, 0.012) is None  # that long before its touch, it was 11 ms after the other one


def test_one_or_two_errors_widen_what_is_foreseen_and_do_not_move_it():
    thing = VelocityErrors(2, 4)
    for i in range(2):
        stride(thing, 2 * i * STRIDE, 50.0)
        found = asked(thing, (2 * i + 1) * STRIDE, 50.0, 20).before(0, 0.02)
        assert not found.middle(np.zeros(2)).any()
        sigma = np.sqrt(np.diag(found.covariance(1e-8 * np.eye(2), np.zeros((2, 2)), np.eye(2))))
        assert sigma[1] == pytest.approx(0.01, rel=0.25) and sigma[0] < 1e-3


def test_an_acceleration_that_is_wrong_is_wrong_until_the_touch_itself():
    """v̇ is told 3 m/s² too small in coordinate 0: the last half millisecond misses 3 T, as those before did."""
    thing = VelocityErrors(2, 4)
    for i in range(4):
        for k in range(FALL):
            thing.add((i * STRIDE + k) * MS, np.array([5e-3 * k, 0.0]), np.array([2.0, 0.0]), OPEN)
        thing.touched([(0, (i * STRIDE + FALL) * MS)])
    found = asked(thing, 4 * STRIDE, 0.0, FALL - 1).before(0, 0.0005)
    np.testing.assert_allclose(found.errors, [[3.0 * 0.0005, 0.0]] * 4, atol=1e-12)


def test_contacts_that_slid_before_are_told_from_those_that_noise_moves():
    rng, noise = np.random.default_rng(2), np.diag([0.02, 0.05, 0.05] * 2) ** 2
    slip = np.r_[0.0, 0.1, 0.0, 0.0, 0.0, 0.0]  # of the first contact, along its first tangent
    shaken = rng.normal(size=(200, 12, 6)) @ np.sqrt(2.0 * noise)
    slides = np.array([Missed(slip + one).slides(np.eye(6), noise, 0.0) for one in shaken])
    assert slides[:, 0].mean() > 0.9 and slides[:, 1].mean() < 0.1
    assert not Missed(slip + shaken[0]).slides(np.eye(6), noise, 0.2).any()  # slower than what is called a slip
    assert not Missed(slip[None]).slides(np.eye(6), np.zeros((6, 6)), 0.0).any()  # once is not yet always


def test_only_the_last_touches_are_kept_and_a_pause_forgets_states_alone():
    thing, none = VelocityErrors(2, 3), VelocityErrors(2, 0)
    for i, jerk in enumerate((10.0, 20.0, 30.0, 40.0)):
        stride(none, i * STRIDE, jerk)
        stride(thing, i * STRIDE, jerk)
        thing.pause()
    found = asked(thing, 4 * STRIDE, 30.0, 20).before(0, 0.02)
    np.testing.assert_allclose(found.errors[:, 1], 0.5 * np.array([20.0, 30.0, 40.0]) * 0.02**2, atol=1e-12)
    assert none.seen().before(0, 0.02) is None


def test_the_covariance_is_that_of_the_errors_between_what_was_foreseen_and_what_came():
    rng = np.random.default_rng(3)
    true = np.diag([0.3, 0.02]) ** 2
    foreseen, none = np.diag([0.05, 0.05]) ** 2, np.zeros((2, 2))
    found = [Missed(rng.normal(size=(16, 2)) @ np.sqrt(true)).covariance(foreseen, none, np.eye(2)) for _ in range(200)]
    size = np.sqrt(np.mean([np.diag(one) for one in found], axis=0))
    assert 0.2 < size[0] < 0.35 and 0.02 < size[1] < 0.04
    certain = Missed(np.full((16, 2), 0.02)).covariance(foreseen, none, np.eye(2))
    assert (np.diag(certain) < 0.1 * np.diag(foreseen)).all()


def test_errors_that_noise_alone_makes_add_nothing_to_it():
    """Each error has the noise of two velocities; its scatter is not taken for one of the motion."""
    rng, sigma, n = np.random.default_rng(5), np.array([0.02, 0.05, 0.05]), 16
    noise = np.diag(sigma**2)
    sizes, biases = [], []
    for _ in range(200):
        missed = Missed(np.sqrt(2.0) * sigma * rng.normal(size=(n, 3)))
        biases.append(missed.middle(sigma))
        sizes.append(np.diag(missed.covariance(noise, noise, np.eye(3))))
    assert np.median(sizes, axis=0) == pytest.approx(sigma**2)
    assert np.mean(np.array(biases) == 0.0) > 0.85


def test_one_landing_unlike_the_others_does_not_widen_what_they_say():
    rng = np.random.default_rng(1)
    errors = 0.01 * rng.normal(size=(9, 3))
    one = np.vstack((errors[:-1], [[50.0, -20.0, 5.0]]))
    none, foreseen = np.zeros((3, 3)), 1e-4 * np.eye(3)
    alike, other = (Missed(x).covariance(foreseen, none, np.eye(3)) for x in (errors, one))
    assert np.trace(other) < 3.0 * np.trace(alike)
