"""When bouncing ends, whatever the acceleration does within its uncertainty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.kernels.stability.chatter_bounds import chatter_bounds
from hybrid_contact_ros.stability.inclusion import bounces

seeds = st.integers(0, 2**32 - 1)


def ends(gap, rate, acceleration, e, gap_sigma=0.0, rate_sigma=0.0, acceleration_sigma=0.0, margin=0.0, zeno=1):
    found = np.full((2, 1), -1.0)
    one = [np.array([float(x)]) for x in (gap, rate, gap_sigma, rate_sigma, acceleration, e)]
    flags = np.array([zeno], dtype=np.uint8)
    chatter_bounds(2.0, acceleration_sigma, margin, *one, flags, found)
    return found[:, 0]


def test_without_uncertainty_both_bounds_are_the_geometric_series():
    speed = np.sqrt(0.3**2 + 2 * 9.81 * 0.02)
    exact = (0.3 + speed) / 9.81 + 2 * 0.6 * speed / (9.81 * (1 - 0.6))
    np.testing.assert_allclose(ends(0.02, 0.3, -9.81, 0.6), exact, rtol=1e-12)


@given(st.floats(0.0, 0.5), st.floats(-2.0, 2.0), st.floats(0.1, 0.8), st.floats(0.0, 2.0))
def test_with_an_uncertain_acceleration_they_are_those_of_the_bouncing_ball_of_changing_weight(gap, rate, e, sigma):
    found = bounces(gap, rate, e, 9.81 - 2 * sigma, 9.81 + 2 * sigma)
    bounds = ends(gap, rate, -9.81, e, acceleration_sigma=sigma)
    if found is None:
        assert np.isinf(bounds[1])
    else:
        np.testing.assert_allclose(bounds, found.zeno_time, rtol=1e-9, atol=1e-12)


@given(seeds)
def test_no_course_within_the_uncertainty_ends_outside(seed):
    rng = np.random.default_rng(seed)
    gap, rate, e = rng.uniform(0.0, 0.2), rng.normal(), rng.uniform(0.1, 0.7)
    sigmas = rng.uniform(0.0, (0.02, 0.2, 1.5))
    early, late = ends(gap, rate, -9.81, e, *sigmas, margin=0.05)
    for _ in range(10):
        height = max(gap + 2 * sigmas[0] * rng.uniform(-1, 1), 0.0)
        speed = rate + 2 * sigmas[1] * rng.uniform(-1, 1)
        bounce, time = e + 0.05 * rng.uniform(-1, 1), 0.0
        low, high = 9.81 - 2 * sigmas[2], 9.81 + 2 * sigmas[2]
        for _ in range(60):  # each flight: one weight up to some moment, another after it
            first, second = rng.choice([low, high, rng.uniform(low, high)], 2)
            switch = rng.uniform(0.0, 2.0 * (abs(speed) + np.sqrt(height)) / low)
            flight = fall(height, speed, first)
            if flight > switch:
                height, speed = height + speed * switch - first * switch**2 / 2, speed - first * switch
                flight = fall(max(height, 0.0), speed, second)
                time, speed = time + switch, speed - second * flight
            else:
                speed -= first * flight
            time, height, speed = time + flight, 0.0, -bounce * speed
        assert early - 1e-6 <= time <= late + 1e-9


def fall(height, speed, weight):
    return (speed + np.sqrt(speed**2 + 2.0 * weight * height)) / weight


def test_a_contact_that_is_not_heading_into_chatter_has_no_bounds():
    for zeno in (0, 2):
        assert np.isnan(ends(0.1, 0.0, -9.81, 0.5, zeno=zeno)).all()


@pytest.mark.parametrize("sigma", [4.8, 5.0])
def test_where_the_acceleration_might_vanish_nothing_bounds_the_end(sigma):
    early, late = ends(0.1, -0.1, -9.81, 0.5, acceleration_sigma=sigma)
    assert np.isinf(late) and 0.0 < early < 0.3
