"""Pace (13)–(14): constraints that are orthogonal in the metric of M⁻¹ can impact in any order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.angles import constraint_angles, coupled_pairs

pytestmark = pytest.mark.usefixtures("rounding")


def problem(mass, normals, velocity=None):
    normals = np.asarray(normals, dtype=float)
    m, nv = normals.shape
    velocity = np.zeros(nv) if velocity is None else velocity
    return ContactProblem(mass, velocity, normals, np.zeros((m, 1, nv)), np.zeros(m))


def random_problem(seed, orthogonal):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    mass = root @ root.T + 0.3 * np.eye(4)
    normals = rng.normal(size=(2, 4))
    if orthogonal:
        inverse = np.linalg.inv(mass)
        normals[1] -= (normals[0] @ inverse @ normals[1]) / (normals[0] @ inverse @ normals[0]) * normals[0]
    return problem(mass, normals, rng.normal(size=4))


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_pace_burden_eq_13_order_matters_exactly_when_not_orthogonal(seed, orthogonal):
    case = random_problem(seed, orthogonal)
    both = plastic_impact(case, [0, 1]).velocity
    first = case.with_velocity(plastic_impact(case, [0]).velocity)
    then = plastic_impact(first, [1]).velocity  # after 0 the second impact opens 0 again, unless orthogonal
    size = np.abs(case.velocity).max()
    assert (np.abs(both - then).max() < 1e-7 * size) == (abs(constraint_angles(case)[0, 1]) < 1e-7)


def test_cosines_are_those_of_the_metric_of_the_inverse_mass():
    mass = np.diag([4.0, 1.0])
    cosines = constraint_angles(problem(mass, [[1.0, 1.0], [1.0, -1.0], [2.0, 2.0]]))
    np.testing.assert_allclose(cosines, [[1.0, -0.6, 1.0], [-0.6, 1.0, -0.6], [1.0, -0.6, 1.0]], atol=1e-12)


def test_legs_on_both_sides_of_a_rod_decouple_at_its_radius_of_gyration():
    inertia, mass = 0.5, 2.0
    distance = np.sqrt(inertia / mass)
    for factor, sensitive in ((1.0, False), (1.1, True), (0.9, True)):
        rows = [[1.0, factor * distance], [1.0, -factor * distance]]
        pairs = coupled_pairs(problem(np.diag([mass, inertia]), rows), 1e-6)
        assert [(i, j) for i, j, _ in pairs] == ([(0, 1)] if sensitive else [])


def test_pairs_are_limited_to_the_contacts_asked_for():
    case = problem(np.eye(2), [[1.0, 0.1], [0.0, 1.0], [1.0, 1.0]])
    assert [(i, j) for i, j, _ in coupled_pairs(case, 1e-6, [2, 0])] == [(0, 2)]
    assert [(i, j) for i, j, _ in coupled_pairs(case, 0.5)] == [(0, 2), (1, 2)]


def test_constraint_that_no_motion_changes_has_no_angle():
    cosines = constraint_angles(problem(np.eye(2), [[0.0, 0.0], [0.0, 1.0]]))
    np.testing.assert_array_equal(cosines, [[0.0, 0.0], [0.0, 1.0]])


def test_no_contacts():
    assert constraint_angles(problem(np.eye(2), np.zeros((0, 2)))).shape == (0, 0)


def test_singular_mass_is_refused():
    with pytest.raises(ValueError, match="singular"):
        constraint_angles(problem(np.diag([1.0, 0.0]), [[1.0, 0.0]]))


def test_the_kernel_gives_the_same_cosines():
    from hybrid_contact_ros.kernels.stability.constraint import normal_cosines

    case = random_problem(3, False)
    rows = case.jacobian()
    cosines = np.empty((2, 2))
    normal_cosines(1, rows @ np.linalg.solve(case.mass, rows.T), cosines)
    np.testing.assert_allclose(cosines, constraint_angles(case), atol=1e-12)
