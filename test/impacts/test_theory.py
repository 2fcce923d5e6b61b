"""The numbers that H's lemmas and theorems promise: Lemmas 1 and 6, Theorems 8 and 9."""

from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import polygon, random_problem
from hybrid_contact_ros.impacts import theory
from hybrid_contact_ros.impacts.increments import increment_outcomes
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 4, 8]))
def test_lemma6_every_admissible_impulse_moves_v_along_r_by_its_normal_part(seed, directions):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "plain")
    r = theory.net_force_direction(problem, directions)
    m, d = problem.contacts, problem.tangents
    D = polygon(directions, d)
    normal = rng.exponential(size=(200, m)) * (rng.random((200, m)) < 0.5)
    split = rng.dirichlet(np.ones(len(D) + 1), size=(200, m))[:, :, :-1]
    edges = rng.random((200, m)) < 0.7
    corner = np.eye(len(D))[rng.integers(0, len(D), (200, m))]
    tangential = (np.where(edges[..., None], corner, split) @ D) * (problem.friction * normal)[..., None]
    impulse = np.concatenate([normal[..., None], tangential], axis=2).reshape(200, -1)
    moved = np.linalg.solve(problem.mass, problem.jacobian().T @ impulse.T)
    if r is not None:
        assert (r @ moved >= normal.sum(axis=1) * (1 - 1e-9)).all()
        return
    # No r: some admissible impulse moves nothing (Farkas); non-negative weights of the cone's edges show it.
    from scipy.optimize import nnls

    rays = problem.normal_jacobian[:, None] + problem.friction[:, None, None] * np.einsum(
        "kx,mxn->mkn", D, problem.tangent_jacobian
    )
    rays = rays.reshape(-1, problem.nv)
    _, left = nnls(np.vstack([rays.T, np.ones(len(rays))]), np.append(np.zeros(problem.nv), 1.0))
    assert left < 1e-6


def test_an_object_between_two_walls_jams():
    problem = ContactProblem(np.eye(2), [0, -1.0], [[1.0, 0], [-1.0, 0]], [[[0, 1.0]], [[0, 1.0]]], [0.5, 0.5])
    assert theory.net_force_direction(problem) is None
    assert theory.termination_constant(problem, 1.0) is None
    assert theory.sufficient_steps(problem, 1.0, 0.1) is None


def test_lemma6_has_no_direction_where_impulses_move_nothing():
    nowhere = ContactProblem(np.eye(2), [-1.0, 0.0], np.zeros((1, 2)), np.zeros((1, 1, 2)), [0.5])
    assert theory.net_force_direction(nowhere) is None and theory.termination_constant(nowhere, 1.0) is None


def test_r_of_a_particle_on_the_ground_is_its_mass_upwards():
    problem = ContactProblem(3 * np.eye(2), [0.0, -2.0], [[0, 1.0]], [[[1.0, 0]]], [0.5])
    np.testing.assert_allclose(theory.net_force_direction(problem), [0.0, 3.0], atol=1e-9)
    assert theory.termination_constant(problem, 0.5) == 4 * ceil(2 * 3 / (0.5 * 3**0.5))  # (78)
    assert theory.net_force_direction(problem.select([])).shape == (2,)


@pytest.mark.parametrize("make", [rocking_block_impact, box_and_wall_impact, compass_gait_impact])
@pytest.mark.parametrize("part", [1.0, 0.05])
def test_theorem8_bounds_the_steps_of_samples(make, part):
    example = make()
    step = part * example.step
    m, v = example.problem.contacts, example.problem.velocity
    c = theory.termination_constant(example.problem, step)
    steps = post_impact_set(example.problem, step, 500, 20000).steps
    base = c * ceil(np.sqrt(v @ example.problem.mass @ v))
    for k in (1, 5, 20):
        assert (steps > base + k).mean() <= exp(-k / (m + 1) ** 2)
    assert theory.sufficient_steps(example.problem, step, 0.01) == base + ceil((m + 1) ** 2 * log(100))


def test_algorithm_2_line_2_psi_bounds_an_increments_motion():
    problem = compass_gait_impact().problem
    psi = theory.step_response(problem)
    for epsilon in (1e-3, 0.1):
        for one in increment_outcomes(problem, [epsilon, epsilon]):
            assert np.linalg.norm(one.velocity - problem.velocity) <= psi * epsilon


@pytest.mark.parametrize(("radius", "failure"), [(0.5, 0.1), (0.2, 0.05), (0.05, 1e-6)])
def test_lemma1_count_is_the_least_that_its_probability_allows(radius, failure):
    arguments = (1.0, 1.5, 2, radius)
    count = theory.covering_samples(*arguments, failure)
    assert theory.covering_probability(count, *arguments) >= 1 - failure
    assert theory.covering_probability(count - 1, *arguments) < 1 - failure


def test_lemma1_holds_for_random_nets():
    """Of the identity on [0, 1]²: how often N draws are an ε-net is at least the probability promised."""
    rng, radius = np.random.default_rng(0), 0.5
    count = theory.covering_samples(1.0, 1.0, 2, radius, 0.1)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 21)] * 2), axis=-1).reshape(-1, 1, 2)
    held = sum(np.linalg.norm(grid - rng.random((1, count, 2)), axis=2).min(axis=1).max() <= radius for _ in range(100))
    assert held >= 90


def test_theorem9_counts_are_lemma_1_of_all_draws_and_may_be_astronomic():
    one = theory.outcome_set_samples(0.3, 2, 1, 2.0, 0.1, 0.05)
    assert one == theory.covering_samples(0.3, 2.0, 2, 0.1, 0.05)
    many = theory.outcome_set_samples(0.3, 2, 10, 2.0, 0.1, 0.05)
    cells = ceil(0.3 * 2.0**10 * 20**0.5 / 0.1) ** 20
    assert many >= cells * log(cells / 0.05) * (1 - 1e-12)
    assert many <= cells * log(cells / 0.05) * (1 + 1e-5)
    assert theory.covering_samples(1.0, 1.0, 1, 2.0, 0.5) == 1


def test_wrong_arguments_are_named():
    problem = rocking_block_impact().problem
    for call, message in (
        (lambda: theory.termination_constant(problem, 0.0), "step"),
        (lambda: theory.covering_probability(10, 1.0, 1.0, 1, 0.0), "radius is 0.0"),
        (lambda: theory.covering_probability(-1, 1.0, 1.0, 1, 0.1), "samples is -1"),
        (lambda: theory.sufficient_steps(problem, 1.0, 1.0), "failure"),
        (lambda: theory.covering_samples(1.0, 1.0, 2, 0.0, 0.1), "radius"),
        (lambda: theory.covering_samples(1.0, np.inf, 2, 0.1, 0.1), "lipschitz"),
        (lambda: theory.covering_samples(1.0, 1.0, 0, 0.1, 0.1), "dimensions"),
        (lambda: theory.outcome_set_samples(1.0, 0, 1, 1.0, 0.1, 0.1), "contacts"),
        (lambda: theory.net_force_direction(problem, 5), "directions"),
        (lambda: theory.net_force_direction(ContactProblem([[0.0]], [0], [[1.0]], [[[0.0]]], [0.0])), "singular"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
