"""The impact law of a landing: (M + diag k) (v⁺ − v⁻) = −s (h − Sᵀτ) + Jᵀ λ, with Coulomb's cone and rebounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from benchmarks.estimator import go2
from benchmarks.impact_problems import KINDS, random_problem
from benchmarks.landing_draws import go2_landing
from hybrid_contact_ros import ContactProblem, LandingTerms, simultaneous_impact
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.landing_set import LandingLaw

kinds, seeds = st.sampled_from(KINDS), st.integers(0, 2**32 - 1)
REDUNDANT = 2e-3  # residual where operator splitting answers


def outcome(problem, duration=0.0, drive=0.0, left=None):
    """v⁺, λ (m, 1 + d), its residual and status, for one case."""
    m, d, n = problem.tangent_jacobian.shape
    law = LandingLaw(LandingTerms(), d, n, problem.friction, (np.zeros(m),) * 2, np.zeros(n, dtype=bool))
    found, push, residual, status = law.solve(
        problem.mass, problem.bias_force, problem.jacobian(), problem.velocity, np.full(1, duration),
        np.full((1, n), drive), problem.friction[None].copy(), np.zeros((1, m * (1 + d))) if left is None else left,
    )  # fmt: skip
    return found[0], push[0].reshape(m, 1 + d), residual[0], status


def violation(problem, v, push, left, drive):
    """Largest violation of the law's definition, in parts of the fastest contact, by nothing but the definition."""
    m, d, n = problem.tangent_jacobian.shape
    J = problem.jacobian()
    G = J @ np.linalg.solve(problem.mass + drive * np.eye(n), J.T)
    g = np.diag(G).reshape(m, 1 + d).mean(axis=1)
    after = (J @ v - left).reshape(m, 1 + d)
    free = (after.ravel() - G @ push.ravel()).reshape(m, 1 + d)
    worst, scale = 0.0, np.abs(free).max(initial=0.0)
    for i in range(m):
        normal, tangent, slide = g[i] * push[i, 0], g[i] * push[i, 1:], after[i, 1:]
        scale = max(scale, np.abs(g[i] * push[i]).max())
        speed, limit = np.linalg.norm(slide), problem.friction[i] * normal
        against = np.linalg.norm(tangent + limit * slide / speed) if speed > 0.0 else 0.0
        worst = max(
            worst, abs(min(normal, after[i, 0])), np.linalg.norm(tangent) - max(limit, 0.0), min(against, speed)
        )
    return worst / scale if scale else 0.0


def case(kind, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind)
    problem = problem.replace(bias_force=rng.normal(size=problem.nv))
    m, d = problem.contacts, problem.tangents
    left = np.zeros((m, 1 + d))
    left[:, 0] = rng.uniform(-0.2, 0.4, m) * -np.minimum(problem.normal_jacobian @ problem.velocity, 0.0)
    return problem, rng.uniform(0.0, 0.05), float(rng.choice([0.0, 0.3])), left.reshape(1, -1)


@settings(max_examples=150)
@given(kinds, seeds)
def test_the_residual_tells_the_violation_of_the_law_and_momentum_balances(kind, seed):
    problem, duration, drive, left = case(kind, seed)
    v, push, residual, status = outcome(problem, duration, drive, left)
    J, n = problem.jacobian(), problem.nv
    gained = (problem.mass + drive * np.eye(n)) @ (v - problem.velocity) + duration * problem.bias_force
    given_by = J.T @ push.ravel()
    terms = np.abs(J).T @ np.abs(push.ravel()) + np.abs(problem.mass) @ (np.abs(v) + np.abs(problem.velocity)) + 1e-9
    assert (np.abs(gained - given_by) <= 1e-7 * terms.max()).all()
    assert (status == Status.SOLVED) == (residual <= 1e-3)
    measured = violation(problem, v, push, left[0], drive)
    assert measured == pytest.approx(residual, abs=1e-6, rel=0.1)


@settings(max_examples=150)
@given(kinds, seeds)
def test_kinetic_energy_with_reflected_inertia_does_not_rise_without_duration_and_rebound(kind, seed):
    problem, _, drive, left = case(kind, seed)
    v, push, residual, status = outcome(problem, 0.0, drive, np.minimum(left, 0.0))
    if status != Status.SOLVED:
        return
    inertia = problem.mass + drive * np.eye(problem.nv)
    before, after = (0.5 * x @ inertia @ x for x in (problem.velocity, v))
    speeds = np.abs(problem.jacobian()) @ np.abs(problem.velocity)
    assert after <= before + (10.0 * residual + 1e-9) * (before + np.abs(push.ravel()) @ speeds)


@settings(max_examples=100)
@given(kinds, seeds)
def test_contacts_do_not_penetrate_and_push_within_their_cones(kind, seed):
    problem, duration, drive, left = case(kind, seed)
    v, push, residual, status = outcome(problem, duration, drive, np.maximum(left, 0.0))
    if status != Status.SOLVED:
        return
    u = problem.normal_jacobian @ v
    G = problem.normal_jacobian @ np.linalg.solve(problem.mass, problem.normal_jacobian.T)
    unit = (
        np.abs(problem.jacobian() @ problem.velocity).max() + np.abs(problem.jacobian() @ (v - problem.velocity)).max()
    )
    unit += np.abs(np.diag(G)) @ push[:, 0] + 0.05
    assert (u >= np.maximum(left, 0.0).reshape(push.shape)[:, 0] - (residual + 1e-7) * 10.0 * unit).all()
    assert (push[:, 0] >= 0.0).all()
    assert (np.linalg.norm(push[:, 1:], axis=1) <= problem.friction * push[:, 0] * (1.0 + 1e-5) + 1e-9).all()


@pytest.mark.parametrize("kind", ["plain", "box corners", "duplicated"])
@settings(max_examples=40)
@given(seeds)
def test_with_all_terms_off_it_is_the_nominal_impact_of_contacts_without_friction(kind, seed):
    problem = random_problem(np.random.default_rng(seed), kind)
    problem = problem.replace(friction=np.zeros(problem.contacts))
    v, _, residual, status = outcome(problem)
    nominal = simultaneous_impact(problem)
    assert status == Status.SOLVED and nominal.status == Status.SOLVED
    L = np.linalg.cholesky(problem.mass)
    apart = np.linalg.norm(L.T @ (v - nominal.velocity))
    assert apart <= (100.0 * np.sqrt(residual) + 1e-6) * np.linalg.norm(L.T @ problem.velocity)


def one_contact(seed, d):
    """One contact below the friction that would jam it, where there may be two outcomes."""
    problem = random_problem(np.random.default_rng(seed), "plain", m=1, d=d)
    J = problem.jacobian()
    G = J @ np.linalg.solve(problem.mass, J.T)
    return problem.replace(friction=np.minimum(problem.friction, 0.9 * G[0, 0] / np.linalg.norm(G[0, 1:]))), G


@settings(max_examples=60)
@given(seeds)
def test_with_all_terms_off_one_contact_in_the_plane_is_the_nominal_impact(seed):
    problem, _ = one_contact(seed, 1)
    v, _, _, status = outcome(problem)
    nominal = simultaneous_impact(problem)
    assert status == Status.SOLVED
    L = np.linalg.cholesky(problem.mass)
    apart, jump = (np.linalg.norm(L.T @ (x - v)) for x in (nominal.velocity, problem.velocity))
    assert apart <= 1e-6 * jump + 1e-9 * np.linalg.norm(L.T @ problem.velocity)


def impulses_on_the_cone(G, before, friction):
    """All impulses (k, 3) of one contact that stops along the normal, by the definition alone: the one that sticks, and
    those that slide against their friction, whose directions are bracketed on a circle."""
    sticking = -np.linalg.solve(G, before)
    found = [sticking] if np.linalg.norm(sticking[1:]) <= friction * sticking[0] else []

    def sliding(angle):
        """Impulse against slip at this angle that stops the normal, what slip it leaves across and along the angle."""
        along = np.array([np.cos(angle), np.sin(angle)])
        push = np.r_[1.0, -friction * along]
        push = push * (-before[0] / (G[0] @ push))
        slip = (before + G @ push)[1:]
        return push, along[0] * slip[1] - along[1] * slip[0], along @ slip

    angles = np.linspace(-np.pi, np.pi, 2001)
    across = np.array([sliding(angle)[1] for angle in angles])
    for i in np.flatnonzero(across[1:] * across[:-1] <= 0.0):
        angle = brentq(lambda x: sliding(x)[1], angles[i], angles[i + 1], xtol=1e-14)
        push, _, speed = sliding(angle)
        if push[0] > 0.0 and speed > 0.0:
            found.append(push)
    return np.array(found)


@settings(max_examples=60)
@given(seeds)
def test_with_all_terms_off_one_contact_is_on_the_cone_as_the_definition_has_it(seed):
    """The nominal impact has a polygon in its place, which is 7 % of the jump off with 32 edges, 1 % with 256."""
    problem, G = one_contact(seed, 2)
    before = problem.jacobian() @ problem.velocity
    v, push, _, status = outcome(problem)
    expected = impulses_on_the_cone(G, before, problem.friction[0]) if before[0] < 0.0 else np.zeros((1, 3))
    L = np.linalg.cholesky(G)
    assert status == Status.SOLVED and len(expected) == 1
    apart, jump = np.linalg.norm(L.T @ (push[0] - expected[0])), np.linalg.norm(L.T @ expected[0])
    assert apart <= 1e-6 * jump
    back = np.linalg.solve(problem.mass, problem.jacobian().T) @ expected[0]
    assert np.abs(v - problem.velocity - back).max() <= 1e-6 * np.abs(back).max(initial=0.0) + 1e-12


def projected(problem, left, drive, duration, sweeps=4000):
    """Slow reference: projected Gauss-Seidel by single rows, λ_n then λ_t, until nothing moves."""
    inertia = problem.mass + drive * np.eye(problem.nv)
    J = problem.jacobian()
    W = np.linalg.solve(inertia, J.T)
    G = J @ W
    free = problem.velocity - duration * np.linalg.solve(inertia, problem.bias_force)
    b, z, m = J @ free - left, np.zeros(len(J)), problem.contacts
    for _ in range(sweeps):
        last = z.copy()
        for i in range(0, 3 * m, 3):
            z[i] = max(0.0, z[i] - (b[i] + G[i] @ z) / G[i, i])
            tangents = slice(i + 1, i + 3)
            step = z[tangents] - (b[tangents] + G[tangents] @ z) / np.linalg.norm(G[tangents, tangents], 2)
            size = np.linalg.norm(step)
            z[tangents] = step * min(1.0, problem.friction[i // 3] * z[i] / size) if size > 0.0 else 0.0
        if np.abs(z - last).max() <= 1e-12 * np.abs(z).max(initial=1e-9):
            break
    return free + W @ z


@pytest.mark.parametrize("seed", range(12))
def test_landings_of_a_go2_agree_with_a_slow_reference(seed):
    problem, hitting = go2_landing(go2(), seed)
    rng = np.random.default_rng(seed)
    left = np.zeros((4, 3))
    left[:, 0] = rng.uniform(-0.1, 0.3) * np.where(
        hitting, -np.minimum(problem.normal_jacobian @ problem.velocity, 0), 0
    )
    drive, duration = rng.uniform(0.0, 0.003), rng.uniform(0.0, 0.004)
    v, _, residual, status = outcome(problem, duration, drive, left.reshape(1, -1))
    reference = projected(problem, left.ravel(), drive, duration)
    assert status == Status.SOLVED and residual < 1e-8
    assert np.abs(v - reference).max() <= 1e-5 * np.abs(problem.velocity).max()


def test_a_joint_with_great_reflected_inertia_keeps_its_velocity():
    problem, _ = go2_landing(go2(), 3)
    m, d, n = problem.tangent_jacobian.shape
    law = LandingLaw(LandingTerms(), d, n, problem.friction, (np.zeros(m),) * 2, np.zeros(n, dtype=bool))
    drive = np.zeros((1, n))
    drive[0, 6:] = 1e4
    found, *_ = law.solve(
        problem.mass, problem.bias_force, problem.jacobian(), problem.velocity, np.zeros(1), drive,
        problem.friction[None].copy(), np.zeros((1, m * (1 + d))),
    )  # fmt: skip
    assert np.abs(found[0, 6:] - problem.velocity[6:]).max() < 1e-2
    assert np.abs(found[0, :6] - problem.velocity[:6]).max() > 0.1


def test_without_an_approach_bias_forces_act_for_the_duration_and_nothing_else():
    up, along = np.array([[0.0, 1.0]]), np.array([[[1.0, 0.0]]])
    problem = ContactProblem(np.diag([2.0, 4.0]), [1.0, 3.0], up, along, [0.5], bias_force=[2.0, 40.0])
    v, push, _, _ = outcome(problem, 0.01)
    np.testing.assert_allclose(v, [1.0 - 0.01, 3.0 - 0.1], rtol=1e-14)
    assert not push.any()


def test_an_inertia_that_is_not_positive_definite_is_said():
    up, along = np.array([[0.0, 1.0]]), np.array([[[1.0, 0.0]]])
    massless = ContactProblem(np.diag([1.0, 0.0]), [0.0, -1.0], up, along, [0.5])
    assert outcome(massless)[3] == Status.SINGULAR
    assert outcome(massless, drive=0.1)[3] == Status.SOLVED
