"""Drift that accelerations can balance: the least that is taken out, and nothing where rows are independent."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.kernels.mechanics.contact_drift import balanced_drift


def rotation_rows(points) -> np.ndarray:
    """Velocities (m, 3, 6) of points of a body that moves freely."""
    rows = np.zeros((len(points), 3, 6))
    for i, (x, y, z) in enumerate(points):
        rows[i] = np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])
    return rows


def balanced(rows, drift, touching) -> np.ndarray:
    out = drift.copy()
    m, width, nv = rows.shape
    balanced_drift(width, rows, np.array(touching, dtype=np.uint8), np.zeros((m * width, nv)), np.zeros(m * width), out)
    return out


def left(rows, drift, touching) -> float:
    """What no acceleration can balance."""
    chosen = np.array(touching) != 0
    a, b = rows[chosen].reshape(-1, rows.shape[2]), drift[chosen].reshape(-1)
    return float(np.abs(a @ np.linalg.lstsq(a, b, rcond=None)[0] - b).max())


SOLE = [(0.1, 0.05, -0.1), (0.1, -0.05, -0.1), (-0.1, 0.05, -0.1), (-0.1, -0.05, -0.12)]


@pytest.mark.parametrize("touching", [(1, 1, 1, 1), (0, 1, 0, 1), (1, 0, 0, 0), (0, 0, 0, 0)])
def test_some_acceleration_balances_the_drift_of_what_touches_and_the_rest_is_as_it_was(touching):
    rng = np.random.default_rng(3)
    rows, drift, flags = rotation_rows(SOLE), rng.normal(size=(4, 3)), np.array(touching)
    found = balanced(rows, drift, touching)
    np.testing.assert_array_equal(found[flags == 0], drift[flags == 0])
    if flags.any():
        assert left(rows, found, touching) < 1e-12
    if flags.sum() > 1:
        assert left(rows, drift, touching) > 1e-2


def test_drift_that_can_be_balanced_stays():
    rows, rng = rotation_rows(SOLE), np.random.default_rng(4)
    drift = rows @ rng.normal(size=6)
    np.testing.assert_allclose(balanced(rows, drift, (1, 1, 1, 1)), drift, atol=1e-13)


def test_the_edge_of_a_box_that_tips_over_it_keeps_its_drift():
    points = np.array([(0.1, 0.0, -0.1), (-0.1, 0.0, -0.1)])
    omega = np.array([4.0, 0.0, 0.0])
    drift = np.cross(omega, np.cross(omega, points))
    assert np.abs(drift).max() > 1.0
    np.testing.assert_allclose(balanced(rotation_rows(points), drift, (1, 1)), drift, atol=1e-13)


def test_independent_rows_are_left_alone_and_rows_of_zeros_cannot_accelerate():
    rng = np.random.default_rng(5)
    rows, drift = rng.normal(size=(4, 3, 18)), rng.normal(size=(4, 3))
    rows[3, 1:] = 0.0  # a joint limit
    found = balanced(rows, drift, (1, 1, 1, 1))
    np.testing.assert_array_equal(found[:3], drift[:3])
    np.testing.assert_array_equal(found[3], [drift[3, 0], 0.0, 0.0])
