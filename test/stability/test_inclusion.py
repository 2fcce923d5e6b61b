"""The set-valued bouncing ball: Or, Lemma 1, (18), (19), and the sharp Zeno time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.stability.inclusion import bounces, decay, or_ames_zeno_time
from hybrid_contact_ros.systems.ball import zeno_time

E = st.floats(0.0, 0.9)


def ball_with_changing_weight(height, speed, e, a_min, a_max, choose):
    """(time of first impact, its speed, Zeno time, Σ jumps) where φ̈ = −choose(t since launch, φ̇) in short pieces."""
    time, first, jumps, h, v, since = 0.0, None, 0.0, height, speed, 0.0
    scale = np.hypot(speed, np.sqrt(2 * a_max * height)) + 1e-300
    for _ in range(200_000):
        a = choose(since, v)
        piece = (abs(v) + 1e-3 * scale) / a_max / 20
        inside = v**2 + 2 * a * h
        fall = (v + np.sqrt(inside)) / a
        dt = min(piece, fall)
        time, since, h, v = time + dt, since + dt, h + v * dt - a * dt**2 / 2, v - a * dt
        if dt == fall:
            first = first or (time, -v)
            jumps, v, h, since = jumps - (1 + e) * v, -e * v, 0.0, 0.0
            if v < 1e-4 * scale:
                left = 2 * v / a_max / (1 - e)  # within the margin of the comparison
                return (*first, time + left, jumps + v * (1 + e) / (1 - e))
            scale = max(v, 1e-300) if first[0] == time else scale
    raise AssertionError("the ball does not come to rest")


@given(st.integers(0, 10**6), E, st.floats(1.0, 2.0), st.floats(0.0, 2.0), st.floats(-2.0, 2.0))
def test_random_weights_stay_inside_the_bounds(seed, e, ratio, height, speed):
    found = bounces(height, speed, e, 1.0, ratio)
    if found is None:
        assert e * np.sqrt(ratio) >= 1.0 - 1e-9
        return
    if height + abs(speed) < 1e-3:
        return
    rng = np.random.default_rng(seed)
    switch = rng.uniform(-1.0, 1.0)
    styles = [
        lambda since, v: rng.uniform(1.0, ratio),
        lambda since, v: 1.0 if v > switch else ratio,
        lambda since, v: ratio if v > switch else 1.0,
    ]
    run = ball_with_changing_weight(height, speed, e, 1.0, ratio, styles[seed % 3])
    limits = found.first_impact, found.impact_speed, found.zeno_time, found.impulse
    for value, (low, high) in zip(run, limits, strict=True):
        assert low * (1 - 2e-3) - 1e-9 <= value <= high * (1 + 2e-3) + 1e-9


@pytest.mark.parametrize(("a_max", "e"), [(1.5, 0.5), (3.0, 0.5), (1.1, 0.9), (1.0, 0.7)])
def test_zeno_time_bounds_are_attained_by_the_best_and_worst_falls(a_max, e):
    def extreme(rise, early, late, best):  # the best speed to change from ``early`` to ``late``, for every flight
        c = 0.0
        for _ in range(300):
            height = 1.0 / (2.0 * rise)
            change = np.linspace(0.0, np.sqrt(2.0 * early * height), 4001)
            impact = np.sqrt(np.maximum(change**2 + 2.0 * late * (height - change**2 / (2.0 * early)), 0.0))
            c = best(1.0 / rise + change / early + (impact - change) / late + c * e * impact)
        return c

    found = bounces(0.0, 1.0, e, 1.0, a_max)
    np.testing.assert_allclose(found.zeno_time[1], extreme(1.0, 1.0, a_max, np.max), rtol=1e-5)
    np.testing.assert_allclose(found.zeno_time[0], extreme(a_max, a_max, 1.0, np.min), rtol=1e-5)


@given(st.floats(0, 2), st.floats(-3, 3), E, st.floats(0.1, 20))
def test_constant_weight_is_the_geometric_series(height, speed, e, a):
    found = bounces(height, speed, e, a, a)
    np.testing.assert_allclose(found.zeno_time, zeno_time(height, speed, e, a), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(found.impact_speed, np.sqrt(speed**2 + 2 * a * height), rtol=1e-9, atol=1e-300)


@given(E, st.floats(1.0, 3.0), st.floats(0.01, 2.0))
def test_or_ames_13_is_never_sharper(e, ratio, speed):
    found = bounces(0.0, -speed, e, 1.0, ratio)
    if found is not None:
        ours, theirs = found.zeno_time[1], or_ames_zeno_time(speed, e, 1.0, ratio)
        np.testing.assert_allclose(ours, theirs * (1 + e) / (1 + e * decay(1.0, ratio)), rtol=1e-9, atol=1e-12)


def test_no_bounds_without_or_ames_6():
    assert bounces(0.0, 1.0, 0.5, 1.0, 4.0) is None  # e γ = 1
    assert bounces(0.0, 1.0, 0.5, 0.0, 1.0) is None
    assert bounces(0.0, 1.0, 0.5, 1.0, np.nan) is None
    assert bounces(-1.0, 1.0, 0.5, 1.0, 1.0) is None
    assert bounces(0.0, 1.0, 1.0, 1.0, 1.0) is None
