"""Simultaneous impacts, H eq. (31)–(35)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import KINDS, enumerate_lcp, halm_posa_lcp, random_problem
from helpers.rounding import terms
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.bounds import outcome_bounds
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

pytestmark = pytest.mark.usefixtures("rounding")


def kinetic(problem, velocity):
    return 0.5 * velocity @ problem.mass @ velocity


@settings(max_examples=150)
@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.sampled_from([2, 4, 6, 8, 16]))
def test_solved_by_residual_dissipative_and_within_bounds(kind, seed, directions):
    problem = random_problem(np.random.default_rng(seed), kind)
    outcome = simultaneous_impact(problem, directions)
    assert outcome.status == Status.SOLVED
    assert outcome.residual < 1e-9
    before = kinetic(problem, problem.velocity)
    assert kinetic(problem, outcome.velocity) <= before * (1 + 1e-9)
    speed = np.sqrt(2 * before)
    gap_speed = problem.normal_jacobian @ outcome.velocity
    size = np.sqrt(
        np.einsum("mi,ij,mj->m", problem.normal_jacobian, np.linalg.inv(problem.mass), problem.normal_jacobian)
    )
    assert (gap_speed >= -1e-8 * speed * np.maximum(size, 1e-3)).all()
    momentum = problem.mass @ (outcome.velocity - problem.velocity)
    np.testing.assert_allclose(
        momentum,
        problem.jacobian().T @ outcome.impulse.ravel(),
        atol=1e-9 * max(1.0, np.abs(outcome.impulse).max()) * max(1.0, np.abs(problem.mass).max()),
    )
    # Tight bounds of many contacts take seconds; test_bounds.py has them.
    lower, upper = outcome_bounds(problem, effort="tight" if problem.contacts <= 3 else "fast")
    room = 1e-12 * np.sqrt(2 * before * np.diag(np.linalg.inv(problem.mass)))  # of the fastest a coordinate can be
    assert (outcome.velocity >= lower - room).all()
    assert (outcome.velocity <= upper + room).all()


def test_planar_answers_are_among_the_enumerated_solutions():
    rng = np.random.default_rng(8)
    for _ in range(25):
        problem = random_problem(rng, "plain", m=2, d=1)
        W, w, impulse = halm_posa_lcp(problem, None, 2)
        outcome = simultaneous_impact(problem)
        assert min(np.abs(outcome.impulse - impulse(z)).max() for z in enumerate_lcp(W, w)) < 1e-8


def test_rocking_block_comes_to_rest_as_in_h_figure_1b():
    outcome = simultaneous_impact(rocking_block_impact().problem)
    assert outcome.status == Status.SOLVED
    np.testing.assert_allclose(outcome.velocity, 0.0, atol=1e-12)


@pytest.mark.parametrize("directions", [2, 4, 8, 16])
def test_single_sliding_contact_loses_mu_times_the_normal_impulse_along_a_vertex(directions):
    problem = ContactProblem(2 * np.eye(3), [3.0, 0.0, -1.0], [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], [0.25])
    np.testing.assert_allclose(simultaneous_impact(problem, directions).velocity, [2.75, 0.0, 0.0], atol=1e-10)


def test_no_contacts_no_motion_and_no_approach_leave_the_velocity_alone():
    still = rocking_block_impact().problem.with_velocity(np.zeros(3))
    leaving = rocking_block_impact().problem.with_velocity([0.5, 1.0, 0.1])
    free = rocking_block_impact().problem.select([])
    for problem in (still, leaving, free):
        outcome = simultaneous_impact(problem)
        assert outcome.status == Status.SOLVED
        np.testing.assert_array_equal(outcome.velocity, problem.velocity)
        assert not outcome.impulse.any()
        for bound in outcome_bounds(problem):
            np.testing.assert_array_equal(bound, problem.velocity)


def test_a_velocity_that_is_zero_but_for_rounding_at_the_contacts_is_left_alone():
    """Rows along (1, −1, 2) and −1, −1 (equal contacts, tangent against normal): J v is rounding of zero."""
    rows = np.array([[[-1.0, 0, 0], [-1.0, 0, 0], [1.0, -1.0, 2.0]]] * 2)
    problem = ContactProblem(
        [[6.0, 0, -3], [0, 5, 2], [-3, 2, 11]], [4e-16, 1.0, -1.0], rows[:, 0], rows[:, 1:], [1.18, 1.02]
    )
    assert simultaneous_impact(problem, 2).status == Status.SOLVED


def test_singular_mass_is_a_status_with_infinite_bounds():
    problem = ContactProblem(np.diag([1.0, 0.0]), [0.0, -1.0], [[0, 1.0]], [[[1.0, 0]]], [0.5])
    assert simultaneous_impact(problem).status == Status.SINGULAR
    lower, upper = outcome_bounds(problem)
    assert np.isneginf(lower).all()
    assert np.isposinf(upper).all()


@pytest.mark.parametrize("directions", [0, 1, 3, -2])
def test_odd_or_too_few_directions_are_refused(directions):
    with pytest.raises(ValueError, match="directions"):
        simultaneous_impact(rocking_block_impact().problem, directions)


@pytest.mark.parametrize(
    ("friction", "decades"), [(1e-9, 0), (10.0, 0), (1000.0, 0), (None, 8)], ids=["1e-9", "10", "1000", "inertias"]
)
def test_extreme_friction_and_inertias_are_solved(friction, decades):
    """The basis that pivoting ends with is right where its numbers are not: they are refined."""
    rng = np.random.default_rng(8)
    failed = 0
    for number in range(220):
        problem = random_problem(rng, KINDS[number % len(KINDS)])
        size = 10.0 ** rng.uniform(-decades / 4, decades / 4, problem.nv)
        problem = ContactProblem(
            problem.mass * size[:, None] * size,
            problem.velocity,
            problem.normal_jacobian,
            problem.tangent_jacobian,
            problem.friction if friction is None else np.full(problem.contacts, friction),
        )
        outcome = simultaneous_impact(problem)
        failed += outcome.status != Status.SOLVED
        after = problem.normal_jacobian @ outcome.velocity
        if outcome.status == Status.SOLVED:
            assert (after >= -1e-6 * terms(problem.normal_jacobian, problem.velocity).max()).all()
    assert failed <= (3 if decades else 0)  # impulses of 1e7 times what stops a contact: their rounding is more
