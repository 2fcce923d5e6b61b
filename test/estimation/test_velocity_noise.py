"""The noise of velocities, learned from the states themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.estimation.velocity_noise import VelocityNoise

SIGMA = np.array([0.02, 0.05, 0.3])
MS = 1_000_000


def learned(stamps, values):
    noise = VelocityNoise(np.shape(values)[1])
    for stamp, v in zip(stamps, values, strict=True):
        noise.add(int(stamp), np.asarray(v))
    return noise.seen().sigma


def motion(stamps):
    """Swinging legs: some rad/s at a few hertz."""
    t = 1e-9 * np.asarray(stamps)[:, None]
    return np.array([0.5, 3.0, 8.0]) * np.sin(2 * np.pi * np.array([2.0, 3.0, 4.0]) * t + np.arange(3))


def noisy(stamps, seed=0):
    return motion(stamps) + SIGMA * np.random.default_rng(seed).normal(size=(len(stamps), 3))


def irregular(count, seed=1):
    return np.cumsum(np.random.default_rng(seed).integers(MS, 4 * MS, count))


@pytest.mark.parametrize("stamps", [np.arange(400) * MS, np.arange(400) * 2 * MS, irregular(400)])
def test_white_noise_is_found_coordinate_by_coordinate_and_smooth_motion_leaves_nothing(stamps):
    np.testing.assert_allclose(learned(stamps, noisy(stamps)), SIGMA, rtol=0.25)  # three deviations of the median
    assert (learned(stamps, motion(stamps)) < 0.02 * SIGMA).all()


def test_a_stream_of_a_hundred_hertz_is_enough():
    stamps = np.arange(300) * 10 * MS
    np.testing.assert_allclose(learned(stamps, noisy(stamps)), SIGMA, rtol=0.3)


def test_impacts_are_no_noise():
    stamps = np.arange(256) * MS
    jumps = 5.0 * (np.arange(256)[:, None] // 100) * np.array([1.0, -1.0, 2.0])
    assert (learned(stamps, motion(stamps) + jumps) < 0.02 * SIGMA).all()
    np.testing.assert_allclose(learned(stamps, noisy(stamps) + jumps), SIGMA, rtol=0.4)


def test_values_that_are_held_between_measurements_are_not_taken_for_exact():
    """Odometry of 200 Hz within a stream of 1 kHz: four of five differences of its values are zero."""
    stamps = np.arange(256) * MS
    values = noisy(stamps)
    values[:, 0] = values[np.arange(256) // 5 * 5, 0]
    np.testing.assert_allclose(learned(stamps, values), SIGMA, rtol=0.5)
    values[:, 0] = 1.0
    assert learned(stamps, values)[0] == 0.0


def test_a_pause_is_not_bridged():
    """States of before and after it have little in common: a difference over both would take motion for noise."""
    before, after = np.arange(12) * MS, 500 * MS + np.arange(12) * MS
    values = np.r_[motion(before), motion(after) + 100.0]
    assert (learned(np.r_[before, after], values) < 0.02 * SIGMA).all()
    far = np.arange(60) * 80 * MS
    assert (learned(far, noisy(far)) == 0.0).all()


def test_little_tells_nothing_and_a_reset_forgets():
    stamps = np.arange(100) * MS
    assert (learned(stamps[:5], noisy(stamps[:5])) == 0.0).all() and (learned(stamps[:0], np.zeros((0, 3))) == 0).all()
    assert (learned(stamps[:6], noisy(stamps[:6])) > 0.0).all()
    noise = VelocityNoise(3)
    for stamp, v in zip(stamps, noisy(stamps), strict=True):
        noise.add(int(stamp), v)
    kept = noise.seen()
    noise.reset()
    assert (noise.seen().sigma == 0.0).all() and (kept.sigma > 0.0).all()
    for stamp, v in zip(stamps, motion(stamps), strict=True):
        noise.add(int(stamp), v)
    assert noise.seen().sigma.tobytes() == learned(stamps, motion(stamps)).tobytes()


def test_a_state_that_comes_twice_or_too_soon_adds_nothing():
    stamps = np.arange(100) * MS
    values = noisy(stamps)
    often = np.stack((stamps, stamps, stamps + 100_000), axis=1).ravel()
    assert learned(often, np.repeat(values, 3, axis=0)).tobytes() == learned(stamps, values).tobytes()


def test_a_filter_hides_what_its_noise_has_in_common():
    """First order, 30 Hz: the noise has SIGMA after it. A third is not seen, and at 5 Hz more than half."""
    stamps = np.arange(256) * MS
    white = np.random.default_rng(2).normal(size=(2000, 3))
    seen = []
    for hertz in (30.0, 5.0):
        a = 1.0 - np.exp(-2.0 * np.pi * hertz * 1e-3)
        error = np.zeros((2000, 3))
        for k in range(1, 2000):
            error[k] = (1.0 - a) * error[k - 1] + np.sqrt(a * (2.0 - a)) * white[k]
        seen.append(np.mean(learned(stamps, motion(stamps) + SIGMA * error[-256:]) / SIGMA))
    assert 0.5 < seen[0] < 0.8 and seen[1] < 0.45


@given(
    st.lists(st.integers(MS, 5 * MS), min_size=12, max_size=60),
    st.floats(-8.0, 8.0),
    st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3),
)
def test_quadratics_in_time_are_no_noise_and_noise_has_a_scale(gaps, factor, quadratic):
    stamps = np.cumsum(gaps)
    t = 1e-7 * (stamps - stamps[0])[:, None]
    noise = np.random.default_rng(len(gaps)).normal(size=(len(gaps), 2))
    alone = learned(stamps, noise)
    found = learned(stamps, factor * noise + np.hstack((t**0, t, t * t)) @ np.array(quadratic)[:, None])
    np.testing.assert_allclose(found, abs(factor) * alone, rtol=1e-6, atol=1e-8)
