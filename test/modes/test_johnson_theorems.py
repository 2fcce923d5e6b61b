"""J Lemmas 4, 5, 8–10 and Theorems 1–3 on random problems, massless limbs among them.

Regular inertia without friction is in the tests of this folder already; these are about singular inertia, about the
statements as the paper proves them (with M†, A†, Λ of the modes), and about the converse directions.
"""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from helpers.mode_problems import frictionless, seeds
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.mechanics.block_inverse import block_inverse, constrained_motion
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import modes_of
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
from hybrid_contact_ros.modes.massless import massless_mode
from hybrid_contact_ros.modes.pseudo_impulse import pseudo_impulse_mode

pytestmark = pytest.mark.usefixtures("rounding")


def with_massless_limb(seed, contacts=3):
    """Two massless directions of six, held by the two rows of contact 0, which sticks; the others have no friction."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(6, 4))
    rows = rng.normal(size=(contacts, 2, 6))
    friction = np.zeros(contacts)
    friction[0] = 1e6
    return ContactProblem(
        root @ root.T,
        rng.normal(size=6),
        rows[:, 0],
        rows[:, 1:],
        friction,
        bias_force=5.0 * rng.normal(size=6),
        jacobian_drift=rng.normal(size=(contacts, 2)),
    )


def held(problem, mode):
    """Rows A_J (k, nv) and their drift, and the place of each contact's normal among them."""
    rows, drift, place = [], [], {}
    for i in sorted(mode):
        place[i] = len(rows)
        rows.append(problem.normal_jacobian[i])
        drift.append(problem.jacobian_drift[i, 0])
        if problem.friction[i] > 0.0:
            rows.append(problem.tangent_jacobian[i, 0])
            drift.append(problem.jacobian_drift[i, 1])
    return np.array(rows), np.array(drift), place


def well_conditioned(problem, *modes):
    for mode in modes:
        rows, _, _ = held(problem, mode)
        k = rows.shape[0]
        matrix = np.block([[problem.mass, rows.T], [rows, np.zeros((k, k))]])
        assume(np.linalg.cond(matrix) < 1e4)


def subsets(contacts):
    return chain.from_iterable(combinations(contacts, k) for k in range(len(contacts) + 1))


@given(seeds, st.integers(1, 6), st.integers(0, 6), st.integers(0, 6))
def test_lemma_4_block_matrix_is_invertible_exactly_when_the_reduced_inertia_is(seed, nv, rank, count):
    rank, count = min(rank, nv), min(count, nv)
    rng = np.random.default_rng(seed)
    root, rows = rng.normal(size=(nv, rank)), rng.normal(size=(count, nv))
    free = np.linalg.svd(rows)[2][count:].T if count else np.eye(nv)  # generalized velocities ẏ with q̇ = H ẏ
    reduced = free.T @ root @ root.T @ free
    expected = np.linalg.matrix_rank(root.T @ free) == nv - count  # generic: rank of the reduced inertia
    assert expected == (rank >= nv - count)
    assume(not expected or np.linalg.cond(reduced) < 1e8 if reduced.size else True)
    assert (block_inverse(root @ root.T, rows) is not None) == expected


@given(seeds)
def test_lemma_5_dynamics_of_a_massless_limb_are_the_limit_of_light_ones(seed):
    problem = with_massless_limb(seed)
    well_conditioned(problem, [0, 1])
    rows, drift, _ = held(problem, [0, 1])
    limit = constrained_motion(problem.mass, rows, rows, -problem.bias_force, -drift)
    errors = []
    for light in (1e-4, 1e-6):
        inverse = np.linalg.inv(problem.mass + light * np.eye(6))
        force = -np.linalg.solve(rows @ inverse @ rows.T, rows @ inverse @ -problem.bias_force + drift)  # J 18
        motion = inverse @ (rows.T @ force - problem.bias_force)  # J 17
        errors.append(max(np.abs(motion - limit.motion).max(), np.abs(force - limit.reaction).max()))
    scale = 1.0 + np.abs(limit.motion).max() + np.abs(limit.reaction).max()
    assert errors[1] <= 0.05 * errors[0] + 1e-6 * scale


@given(seeds)
def test_lemma_5_dynamics_of_a_massless_limb_are_johnson_eq_12_and_13(seed):
    problem = with_massless_limb(seed)
    well_conditioned(problem, [0, 1, 2])
    rows, drift, _ = held(problem, [0, 1, 2])
    inverse = block_inverse(problem.mass, rows)
    got = constrained_motion(problem.mass, rows, rows, -problem.bias_force, -drift)
    motion = inverse.mass_dagger @ -problem.bias_force - inverse.rows_dagger.T @ drift
    force = inverse.rows_dagger @ -problem.bias_force - inverse.minus_effective_mass @ drift  # J's sign: pulls
    np.testing.assert_allclose(got.motion, motion, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(got.reaction, -force, rtol=1e-6, atol=1e-6)


@given(seeds)
def test_lemma_8_impulse_of_a_massless_limb_is_the_limit_of_light_ones(seed):
    problem = with_massless_limb(seed)
    well_conditioned(problem, [0, 2])
    rows, _, _ = held(problem, [0, 2])
    limit = plastic_impact(problem, [0, 2])
    assert limit.status is Status.SOLVED
    got = np.array([limit.impulse[0, 0], limit.impulse[0, 1], limit.impulse[2, 0]])
    errors = []
    for light in (1e-4, 1e-6):
        inverse = np.linalg.inv(problem.mass + light * np.eye(6))
        expected = -np.linalg.solve(rows @ inverse @ rows.T, rows @ problem.velocity)  # J 26
        errors.append(np.abs(got - expected).max())
    assert errors[1] <= 0.05 * errors[0] + 1e-6 * (1.0 + np.abs(got).max())


@given(seeds)
def test_johnson_eq_25_three_forms_of_the_contact_impulse(seed):
    problem = with_massless_limb(seed)
    well_conditioned(problem, [0, 1])
    rows, _, _ = held(problem, [0, 1])
    inverse = block_inverse(problem.mass, rows)
    outcome = plastic_impact(problem, [0, 1])
    momentum = problem.mass @ problem.velocity
    body = -problem.mass @ (outcome.velocity - problem.velocity)  # J 24
    forms = (
        inverse.rows_dagger @ body,
        -inverse.minus_effective_mass @ rows @ problem.velocity,
        inverse.rows_dagger @ momentum,
    )
    got = np.array([*outcome.impulse[0], outcome.impulse[1, 0]])
    for form in forms:
        np.testing.assert_allclose(-form, got, rtol=1e-6, atol=1e-6)


@given(seeds, st.integers(0, 4))
def test_lemma_9_biconditional_has_the_modes_of_the_separate_statements(seed, count):
    problem = frictionless(seed, count)
    inverse = np.linalg.inv(problem.mass)
    J = problem.normal_jacobian
    free = J @ inverse @ -problem.bias_force + problem.jacobian_drift[:, 0]
    G = J @ inverse @ J.T

    def forces(mode):
        found = np.zeros(count)
        index = list(mode)
        if index:
            found[index] = np.linalg.solve(G[np.ix_(index, index)], -free[index])
        return found

    separate = []  # J 28–29: forces of the closed ones and accelerations of the open ones
    for mode in subsets(range(count)):
        force = forces(mode)
        acceleration = free + G @ force
        if all(force[j] >= 0.0 for j in mode) and all(acceleration[k] > 0.0 for k in set(range(count)) - set(mode)):
            separate.append(sum(1 << j for j in mode))

    def holds(mask, k):
        return bool(forces([j for j in range(count) if mask >> j & 1])[k] >= 0.0)

    assert modes_of(count, holds)[0] == separate  # J 31


@given(seeds)
def test_theorem_1_separation_and_force_have_opposite_signs_with_massless_limbs(seed):
    problem = with_massless_limb(seed)
    for without, k in (((0,), 1), ((0, 2), 1)):
        closed = (*without, k)
        well_conditioned(problem, without, closed)
        rows, drift, _ = held(problem, without)
        more, more_drift, place = held(problem, closed)
        in_j = constrained_motion(problem.mass, rows, rows, -problem.bias_force, -drift)
        in_k = constrained_motion(problem.mass, more, more, -problem.bias_force, -more_drift)
        normal = problem.normal_jacobian[k]
        separation = normal @ in_j.motion + problem.jacobian_drift[k, 0]
        mobility = normal @ block_inverse(problem.mass, rows).mass_dagger @ normal
        assert mobility > 0.0  # J 118
        assert separation == pytest.approx(-mobility * in_k.reaction[place[k]], rel=1e-5, abs=1e-6)  # J 45


@given(seeds)
def test_theorem_2_separation_and_impulse_have_opposite_signs_with_massless_limbs(seed):
    problem = with_massless_limb(seed)
    for without, k in (((0,), 2), ((0, 1), 2)):
        well_conditioned(problem, without, (*without, k))
        rows, _, _ = held(problem, without)
        normal = problem.normal_jacobian[k]
        rate = normal @ plastic_impact(problem, without).velocity
        impulse = plastic_impact(problem, (*without, k)).impulse[k, 0]
        mobility = normal @ block_inverse(problem.mass, rows).mass_dagger @ normal
        assert rate == pytest.approx(-mobility * impulse, rel=1e-5, abs=1e-6)  # J 54


@given(seeds)
@settings(max_examples=50)
def test_theorems_1_and_2_make_the_modes_of_massless_limbs_complementary(seed):
    problem = with_massless_limb(seed)
    well_conditioned(problem, (0,), (0, 1), (0, 2), (0, 1, 2))
    by_force = massless_mode(problem.with_velocity(np.zeros(6)), frozenset(range(3)), 1e-6)
    if by_force.status is Status.SOLVED and 0 in by_force.mode:
        for k in {1, 2} - by_force.mode:
            second = problem.normal_jacobian[k] @ by_force.acceleration + problem.jacobian_drift[k, 0]
            assert second > -1e-6  # J 40
        assert (by_force.forces[sorted(by_force.mode), 0] > -1e-6).all()
    by_impulse = impulse_velocity_mode(problem, range(3))
    if by_impulse.status is Status.SOLVED and 0 in by_impulse.mode:
        for k in {1, 2} - by_impulse.mode:
            assert problem.normal_jacobian[k] @ by_impulse.velocity > -1e-6  # J 52
        assert (by_impulse.impulses[sorted(by_impulse.mode), 0] > -1e-6).all()


def impacting(problem, active, other):
    """The problem with the ``active`` contacts at rest and another one approaching at 1 m/s."""
    rows, _, _ = held(problem, active)
    inverse = block_inverse(problem.mass, rows)
    velocity = problem.velocity - inverse.rows_dagger.T @ rows @ problem.velocity
    rate = problem.normal_jacobian[other] @ velocity
    assume(abs(rate) > 1e-3)
    return problem.with_velocity(-velocity / rate)


def slowed(problem, closed, factor):
    """q̇_s of J 60: the velocity in the rows of ``closed`` is s times what it was, the rest is as it was."""
    rows, _, _ = held(problem, closed)
    inverse = block_inverse(problem.mass, rows)
    velocity = problem.velocity - (1.0 - factor) * inverse.rows_dagger.T @ rows @ problem.velocity
    return problem.with_velocity(velocity)


@given(seeds, st.floats(1e-3, 1e2))
@settings(suppress_health_check=[HealthCheck.filter_too_much])
def test_lemma_10_mode_after_an_impact_does_not_depend_on_its_speed_with_massless_limbs(seed, factor):
    problem = with_massless_limb(seed)
    # Closed together, contacts 1 and 2 hold the massless directions without 0, and their impulses are exactly zero, a
    # tie that belongs to the mode. Where their rows nearly depend on each other rounding is larger than any tie.
    well_conditioned(problem, (0,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    fast = impacting(problem, (0, 1), 2)
    slow = slowed(fast, (0, 1, 2), factor)
    for mode in ((0, 2), (0, 1, 2)):  # J 63
        np.testing.assert_allclose(
            plastic_impact(slow, mode).impulse, factor * plastic_impact(fast, mode).impulse, rtol=1e-5, atol=1e-7
        )
    first, second = impulse_velocity_mode(fast, range(3)), impulse_velocity_mode(slow, range(3))
    assume(first.unique and np.abs(first.impulses[sorted(first.mode), 0]).min(initial=1.0) > 1e-6)
    assert first.mode == second.mode


@given(seeds, st.floats(1e-3, 0.1))
@settings(max_examples=50, suppress_health_check=[HealthCheck.filter_too_much])
def test_theorem_3_the_pseudo_impulse_holds_a_pressed_contact_at_all_small_speeds(seed, duration):
    problem = frictionless(seed, 2, moving=True)
    fast = impacting(problem, (0,), 1)
    assume(impulse_velocity_mode(fast, range(2)).mode == {1})  # contact 0 lifts at any speed
    rows, _, _ = held(fast, (0, 1))
    pressed = -(block_inverse(fast.mass, rows).rows_dagger @ -fast.bias_force)
    assume(pressed[0] > 1e-2)  # J 66: the steady forces press it
    impulse = plastic_impact(fast, (0, 1)).impulse[0, 0]
    last = -duration * pressed[0] / impulse  # s̄ where the two are in balance
    for factor in (1e-6, 0.5, 0.99):
        assert 0 in pseudo_impulse_mode(slowed(fast, (0, 1), factor * last), range(2), duration).mode
    assert 0 not in impulse_velocity_mode(slowed(fast, (0, 1), 0.5 * last), range(2)).mode
