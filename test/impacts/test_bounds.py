"""Outer bounds: what no outcome exceeds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from impact_problems import KINDS, random_problem

from hybrid_contact_ros import ContactProblem, outcome_bounds, post_impact_set
from hybrid_contact_ros.impacts.velocity_set import impulse_scale
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact


def ball(friction=0.5, coupling=0.0):
    """Two unit masses over a plane, coupled through the inverse mass matrix."""
    M = np.linalg.inv(np.array([[1.0, coupling], [coupling, 1.0]]))
    normals = np.eye(2)
    return ContactProblem(M, np.array([-1.0, -1.0]), normals, np.zeros((2, 1, 2)), [friction, friction])


@settings(max_examples=150)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6), step=st.floats(0.05, 3.0))
def test_no_sample_of_any_step_leaves_the_bounds(kind, seed, step):
    problem = random_problem(np.random.default_rng(seed), kind)
    scale = impulse_scale(problem)
    if not scale > 0.0:
        return
    found = post_impact_set(problem, step * scale, 32, 400, seed=seed, directions=4 + 2 * (seed % 3))
    outcomes = found.velocities[found.terminated]
    jacobian = problem.jacobian()
    for rows, values in ((None, outcomes), (jacobian, outcomes @ jacobian.T)):
        lower, upper = outcome_bounds(problem, rows)
        room = 1e-9 * (1.0 + np.abs(values).max(initial=0.0))
        assert (values >= lower - room).all() and (values <= upper + room).all()


@settings(max_examples=60)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 10**6),
    e=st.floats(0.0, 1.0),
    law=st.sampled_from(["poisson", "stronge"]),
)
def test_the_bounds_of_a_set_hold_for_every_sample_terminated_or_not(kind, seed, e, law):
    problem = random_problem(np.random.default_rng(seed), kind)
    scale = impulse_scale(problem)
    if not scale > 0.0:
        return
    found = post_impact_set(problem, 0.3 * scale, 24, 1 + seed % 40, seed=seed, law=law, restitution=(0.0, e))
    room = 1e-9 * (1.0 + np.abs(found.velocities).max(initial=0.0))
    assert (found.velocities >= found.lower - room).all() and (found.velocities <= found.upper + room).all()
    lower, upper = outcome_bounds(problem, restitution=e)
    if law == "poisson":
        outcomes = found.velocities[found.terminated]
        assert (outcomes >= lower - room).all() and (outcomes <= upper + room).all()


def test_uncoupled_contacts_without_friction_are_bounded_to_the_point():
    lower, upper = outcome_bounds(ball(friction=0.0))
    np.testing.assert_allclose(lower, 0.0, atol=1e-6)
    np.testing.assert_allclose(upper, 0.0, atol=1e-6)


def test_restitution_widens_the_interval_to_the_textbook_answer():
    lower, upper = outcome_bounds(ball(), restitution=0.5)
    np.testing.assert_allclose(lower, 0.0, atol=1e-6)
    np.testing.assert_allclose(upper, 0.5, atol=1e-6)


def test_a_pushed_neighbour_opens_by_no_more_than_the_coupling():
    _, upper = outcome_bounds(ball(coupling=0.25))
    assert (upper <= 0.25 + 1e-6).all()  # Λ ≤ 1 at each, a quarter of which acts at the other


def test_bounds_of_rows_agree_with_those_of_the_velocity():
    problem = rocking_block_impact().problem
    both = outcome_bounds(problem), outcome_bounds(problem, np.eye(problem.nv))
    for of_velocity, of_rows in zip(*both, strict=True):
        np.testing.assert_allclose(of_rows, of_velocity, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("rows", [np.ones(3), np.ones((2, 7)), np.full((1, 3), np.nan)])
def test_rows_of_the_wrong_shape_or_not_finite_are_refused(rows):
    with pytest.raises(ValueError, match="rows"):
        outcome_bounds(rocking_block_impact().problem, rows)


def test_restitution_out_of_range_is_refused():
    with pytest.raises(ValueError, match="restitution"):
        outcome_bounds(ball(), restitution=1.5)
