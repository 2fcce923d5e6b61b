"""Polyhedral cones and their Gaussian measure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from hybrid_contact_ros.sensitivity.cones import gaussian_measure, has_interior, irredundant


def test_interior():
    assert has_interior(np.zeros((0, 2)))
    assert has_interior(np.array([[1.0, 0.0], [1.0, 1e-3]]))
    assert not has_interior(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert not has_interior(np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]]))  # a ray


def test_rows_that_others_imply_are_left_out():
    rows = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])
    np.testing.assert_allclose(irredundant(rows), [[1.0, 0.0], [0.0, 1.0]])


@given(st.integers(0, 2**32 - 1))
def test_of_a_sector_in_the_plane_the_measure_is_its_angle(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(2, 2)) + 2.0 * np.eye(2)
    rows = rng.normal(size=(2, 2))
    a, b = rows @ root  # of standard normal numbers
    angle = np.pi - np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1.0, 1.0))
    measure = gaussian_measure(rows, np.zeros(2), root @ root.T)
    assert measure == pytest.approx(angle / (2.0 * np.pi), abs=1e-6)


def test_one_row_and_none_and_what_is_certain():
    rows, mean, covariance = np.array([[1.0, -1.0]]), np.array([0.5, 0.0]), np.diag([0.1, 0.15])
    assert gaussian_measure(rows, mean, covariance) == pytest.approx(0.841344746, abs=1e-8)
    assert gaussian_measure(np.zeros((0, 2)), mean, covariance) == 1.0
    assert gaussian_measure(rows, mean, np.zeros((2, 2))) == 1.0
    assert gaussian_measure(-rows, mean, np.zeros((2, 2))) == 0.0


def test_cones_that_are_no_simplices_are_measured_too():
    rows = np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]])
    rng = np.random.default_rng(1)
    inside = (rng.normal(size=(400_000, 3)) @ rows.T >= 0.0).all(axis=1).mean()
    assert gaussian_measure(rows, np.zeros(3), np.eye(3)) == pytest.approx(inside, abs=3e-3)


def widest(rows):
    """The largest t with rows z ≥ t in the unit cube, by a linear program."""
    r, k = rows.shape
    found = linprog(
        np.r_[np.zeros(k), -1.0],
        A_ub=np.hstack((-rows, np.ones((r, 1)))),
        b_ub=np.zeros(r),
        bounds=[(-1.0, 1.0)] * k + [(None, 1.0)],
    )
    return -found.fun


@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 3).filter(any), min_size=1, max_size=7))
def test_interiors_and_facets_are_those_of_linear_programs(rows):
    rows = np.array(rows, dtype=float)
    assert has_interior(rows) == (widest(rows) > 1e-6)
    facets = irredundant(rows)
    points = np.random.default_rng(0).normal(size=(200, 3))
    np.testing.assert_array_equal((points @ facets.T >= 0.0).all(axis=1), (points @ rows.T >= 0.0).all(axis=1))
    if has_interior(rows):
        for i in range(len(facets)):  # beyond each facet alone there is something
            assert widest(np.vstack((np.delete(facets, i, axis=0), -facets[i]))) > 1e-6


def test_opposite_rows_leave_nothing():
    rows = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert not has_interior(rows)
    assert gaussian_measure(rows, np.array([0.1, 0.0]), np.eye(2)) == pytest.approx(0.0, abs=1e-9)
