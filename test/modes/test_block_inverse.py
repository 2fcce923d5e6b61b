"""J §2.3–2.5: the block inverse of regular and singular inertia."""

import numpy as np
import pytest
from hypothesis import assume, given

from helpers.mode_problems import massless_leg, random_problem, seeds
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.mechanics.block_inverse import block_inverse, constrained_motion

pytestmark = pytest.mark.usefixtures("rounding")


def assert_equations_10_and_11(mass, rows, inverse):
    k, nv = rows.shape
    dagger, rows_dagger, minus = inverse.mass_dagger, inverse.rows_dagger, inverse.minus_effective_mass
    np.testing.assert_allclose(rows_dagger @ rows.T, np.eye(k), atol=1e-8)
    np.testing.assert_allclose(rows @ rows_dagger.T, np.eye(k), atol=1e-8)
    np.testing.assert_allclose(dagger @ rows.T, 0.0, atol=1e-8)
    np.testing.assert_allclose(rows @ dagger, 0.0, atol=1e-8)
    np.testing.assert_allclose(dagger @ mass + rows_dagger.T @ rows, np.eye(nv), atol=1e-8)
    np.testing.assert_allclose(rows_dagger @ mass + minus @ rows, 0.0, atol=1e-7)


@given(seeds)
def test_johnson_eq_10_and_11_regular_mass(seed):
    problem = random_problem(seed, 8, 2, tangents=2)
    inverse = block_inverse(problem.mass, problem.jacobian())
    assert inverse is not None
    assert_equations_10_and_11(problem.mass, problem.jacobian(), inverse)


def test_johnson_eq_10_and_11_massless_leg():
    problem = massless_leg()
    inverse = block_inverse(problem.mass, problem.jacobian())
    assert inverse is not None
    assert_equations_10_and_11(problem.mass, problem.jacobian(), inverse)


@given(seeds)
def test_johnson_lemma_4_block_inverse_exists_exactly_when_the_reduced_mass_is_regular(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2, 5))
    for heavy in (2, 3):  # with three massive directions and two constraints all five are decided
        root = rng.normal(size=(5, heavy))
        mass = root @ root.T
        basis = np.linalg.svd(rows)[2][2:].T
        reduced = np.linalg.svd(basis.T @ mass @ basis, compute_uv=False)
        assume(heavy == 2 or reduced[2] > 1e-6 * reduced[0])  # a draw may be as good as singular
        regular = bool(reduced[2] > 1e-9 * reduced[0])
        assert regular == (heavy == 3)
        assert (block_inverse(mass, rows) is not None) == regular


def test_block_inverse_of_massless_limbs_is_the_limit_of_small_masses():
    problem = massless_leg()  # J 7–8
    limit = block_inverse(problem.mass, problem.jacobian())
    near = block_inverse(problem.mass + 1e-7 * np.eye(3), problem.jacobian())
    np.testing.assert_allclose(near.mass_dagger, limit.mass_dagger, atol=1e-6)
    np.testing.assert_allclose(near.rows_dagger, limit.rows_dagger, atol=1e-5)


def test_no_block_inverse_of_redundant_rows_or_of_loose_massless_limbs():
    rows = np.array([[1.0, 0.0], [2.0, 0.0]])
    assert block_inverse(np.eye(2), rows) is None  # A2
    assert block_inverse(np.diag([1.0, 0.0]), np.array([[1.0, 0.0]])) is None  # A5


@given(seeds)
def test_johnson_lemma_5_dynamics_through_the_block_inverse(seed):
    problem = random_problem(seed, 7, 3, tangents=1, moving=True)
    rows, drift = problem.jacobian(), problem.jacobian_drift.reshape(-1)
    got = constrained_motion(problem.mass, rows, rows, -problem.bias_force, -drift)
    inverse = np.linalg.inv(problem.mass)
    # J 17–18 with λ positive along the rows
    force = -np.linalg.solve(rows @ inverse @ rows.T, rows @ inverse @ -problem.bias_force + drift)
    np.testing.assert_allclose(got.reaction, force, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(got.motion, inverse @ (rows.T @ force - problem.bias_force), rtol=1e-6, atol=1e-7)


@given(seeds)
def test_johnson_lemma_8_plastic_impulse_with_regular_mass(seed):
    problem = random_problem(seed, 9, 3, tangents=2, friction=0.5, moving=True)
    outcome = plastic_impact(problem, [0, 2])
    rows = problem.jacobian().reshape(3, 3, 9)[[0, 2]].reshape(6, 9)
    expected = -np.linalg.solve(rows @ np.linalg.solve(problem.mass, rows.T), rows @ problem.velocity)
    assert outcome.status is Status.SOLVED
    np.testing.assert_allclose(outcome.impulse[[0, 2]].reshape(-1), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(outcome.impulse[1], 0.0)
    np.testing.assert_allclose(rows @ outcome.velocity, 0.0, atol=1e-9)


@given(seeds)
def test_plastic_impact_never_adds_energy(seed):
    problem = random_problem(seed, 8, 4, tangents=1, moving=True)
    energy = problem.velocity @ problem.mass @ problem.velocity
    for mode in ([], [1], [0, 3], [0, 1, 2, 3]):
        velocity = plastic_impact(problem, mode).velocity
        assert velocity @ problem.mass @ velocity <= energy * (1 + 1e-12)


def test_plastic_impact_of_a_massless_leg_stops_the_body_above_it():
    problem = massless_leg(velocity=(0.4, -1.0, 2.0))
    outcome = plastic_impact(problem, [0])
    assert outcome.status is Status.SOLVED
    # the leg pushes along itself only: x goes on, y stops, and the foot stays as the leg turns
    np.testing.assert_allclose(outcome.velocity, [0.4, 0.0, -0.8], atol=1e-12)
    np.testing.assert_allclose(outcome.impulse, [[3.0, 0.0]], atol=1e-12)


def test_plastic_impact_says_where_assumption_a5_fails():
    problem = massless_leg(velocity=(0.4, -1.0, 2.0))
    outcome = plastic_impact(problem, [0], sliding=[0])  # nothing holds the foot sideways
    assert outcome.status is Status.SINGULAR
    np.testing.assert_array_equal(outcome.velocity, problem.velocity)


def test_limb_without_mass_or_contact_keeps_its_velocity():
    problem = massless_leg(velocity=(0.4, -1.0, 2.0))
    outcome = plastic_impact(problem, [])  # A6
    assert outcome.status is Status.SOLVED
    np.testing.assert_allclose(outcome.velocity, problem.velocity, atol=1e-12)


def test_sliding_contact_holds_its_normal_only():
    problem = random_problem(3, 6, 2, tangents=2, friction=0.5, moving=True)
    outcome = plastic_impact(problem, [0, 1], sliding=[1])
    np.testing.assert_array_equal(outcome.impulse[1, 1:], 0.0)
    assert abs(problem.normal_jacobian[1] @ outcome.velocity) < 1e-10
    assert np.abs(problem.tangent_jacobian[1] @ outcome.velocity).max() > 1e-3


def test_plastic_impact_refuses_unknown_contacts():
    problem = random_problem(0, 4, 1, moving=True)
    with pytest.raises(ValueError, match="numbered"):
        plastic_impact(problem, [1])
    with pytest.raises(ValueError, match="not in mode"):
        plastic_impact(problem, [], sliding=[0])


def test_plastic_impact_of_contacts_whose_velocity_is_rounding_is_solved():
    """Contacts that slide and rest: J_n v⁻ is rounding of zero, and no measure of what is left of it."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, 9, 3, tangents=2, friction=0.0)
        rows = problem.normal_jacobian
        velocity = rng.normal(size=9)
        still = problem.with_velocity(velocity - np.linalg.pinv(rows) @ (rows @ velocity))
        outcome = plastic_impact(still, [0, 1, 2])
        assert outcome.status is Status.SOLVED
        np.testing.assert_allclose(outcome.velocity, still.velocity, atol=1e-12 * np.abs(velocity).max())
