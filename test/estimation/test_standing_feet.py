"""What standing feet say of the velocity of a base that is uncertain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from hybrid_contact_ros.kernels.estimation.standing_feet import steady_base

SHARE, REST, FREEDOM = 100.0, 0.02, 3.0


def told(rows, velocity, covariance, force=None, weight=None, stood=None, believed=None):
    """δ, and the covariance after that."""
    m = len(rows)
    stood = np.ones(m, np.uint8) if stood is None else np.array(stood, np.uint8)
    force = np.full(m, SHARE) if force is None else np.array(force, float)
    weight = np.ones(m) if weight is None else np.array(weight, float)
    believed = np.zeros((m, 2)) if believed is None else np.array(believed, float)
    base = np.full((8, 6), np.nan)
    steady_base(
        SHARE, REST, rows, velocity, np.ascontiguousarray(covariance), stood, force, weight, believed,
        np.full((m, 2), np.nan), base,
    )  # fmt: skip
    return base[6], base[:6]


def legs(rng, m, nv=9):
    return rng.normal(size=(m, 3, nv))


def spd(rng, scale):
    root = rng.normal(size=(6, 6))
    return scale**2 * (root @ root.T + 0.1 * np.eye(6))


def dense(rows, velocity, covariance, variance):
    """The same by up to four solutions of the whole least squares."""
    H, factor = rows[:, :, :6].reshape(-1, 6), np.ones(len(rows))
    for _ in range(4):
        noise = np.repeat(variance * factor, 3)
        gain = covariance @ H.T @ np.linalg.inv(H @ covariance @ H.T + np.diag(noise))
        delta, after = -gain @ velocity.ravel(), covariance - gain @ H @ covariance
        left = velocity + np.einsum("msk,k->ms", rows[:, :, :6], delta)
        last, factor = factor, (FREEDOM + (left**2).sum(axis=1) / variance) / (FREEDOM + 3.0)
        if (np.abs(factor - last) <= 0.2 * factor).all():
            break
    return delta, after


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_the_velocity_of_the_base_is_that_of_the_least_squares_of_all_feet_at_once(seed, m):
    rng = np.random.default_rng(seed)
    rows, covariance, velocity = legs(rng, m), spd(rng, 0.05), 0.1 * rng.normal(size=(m, 3))
    force = SHARE * rng.uniform(0.2, 2.0, m)
    found, after = told(rows, velocity, covariance, force)
    variance = (REST * np.maximum(1.0, SHARE / force)) ** 2
    for mine, theirs in zip((found, after), dense(rows, velocity, covariance, variance), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-7 * np.abs(covariance).max() ** 0.5)


@pytest.mark.parametrize("seed", range(6))
def test_it_is_nearly_the_most_likely_one(seed):
    """Of a normal prior, and Student's t for each foot; four legs on the ground, of which one slides."""
    rng = np.random.default_rng(seed)
    place = np.array([[0.3, 0.2], [0.3, -0.2], [-0.3, 0.2], [-0.3, -0.2]])
    rows = np.zeros((4, 3, 6))
    for k, (x, y) in enumerate(place):
        arm = np.array([x, y, -0.4])
        rows[k, :, :3] = np.eye(3)[[2, 0, 1]]
        rows[k, :, 3:] = -np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])[[2, 0, 1]]
    covariance = np.diag([0.1, 0.1, 0.1, 0.5, 0.5, 0.5]) ** 2
    error = 0.7 * np.sqrt(np.diag(covariance)) * rng.normal(size=6)
    velocity = -np.einsum("msk,k->ms", rows, error) + 0.5 * REST * rng.normal(size=(4, 3))
    velocity[3, 1] += 0.3
    found, _ = told(rows, velocity, covariance)

    def unlikely(delta):
        left = ((velocity + np.einsum("msk,k->ms", rows, delta)) ** 2).sum(axis=1) / REST**2
        odd = 0.5 * (FREEDOM + 3.0) * np.log1p(left / FREEDOM).sum()
        return odd + 0.5 * delta @ np.linalg.solve(covariance, delta)

    best = minimize(unlikely, error, method="BFGS").x
    scale = np.sqrt(np.diag(covariance))
    assert np.abs((found - best) / scale).max() < 0.05
    assert np.abs((found - error) / scale).max() < 0.5  # the foot that slides by 0.3 m/s counts little


@pytest.mark.parametrize(
    "silent",
    [
        {"stood": [0]},
        {"force": [0.09 * SHARE]},
        {"weight": [0.4]},
        {"force": [np.nan], "believed": [[0.89, 0.0]]},
        {"weight": [np.nan], "believed": [[0.95, 0.1]]},
    ],
)
def test_a_foot_that_does_not_stand_or_bears_nothing_says_nothing(silent):
    rng = np.random.default_rng(2)
    rows, covariance = legs(rng, 1), spd(rng, 0.05)
    found, after = told(rows, np.full((1, 3), 0.05), covariance, **silent)
    assert not found.any() and np.array_equal(after, covariance)
    for heard in ({}, {"force": [np.nan], "believed": [[0.95, 0.0]]}):
        assert told(rows, np.full((1, 3), 0.05), covariance, **heard)[0].any()


def test_what_is_no_covariance_moves_no_foot_far():
    """Drivers state all kinds of numbers; off the diagonal they may be larger than on it."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        rows = legs(rng, 4)
        covariance = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-3, 3)
        covariance = 0.5 * (covariance + covariance.T)
        velocity = 0.1 * rng.normal(size=(4, 3))
        found, _ = told(rows, velocity, covariance)
        moved = np.einsum("msk,k->ms", rows[:, :, :6], found)
        assert np.isfinite(found).all() and np.abs(moved).max() < 10.0
