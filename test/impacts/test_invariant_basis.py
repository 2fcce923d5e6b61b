"""The basis of what impulses leave alone (Yang and Posa), and the largest changes beside it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import KINDS, box, random_problem
from helpers.mechanics_robots import load, random_state
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.invariant_basis import OtherTerms, basis_of, invariant_basis, set_changes
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.impacts.sequential import sequential_impact
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.state import RobotState

pytestmark = pytest.mark.usefixtures("rounding")

SEEDS = st.integers(0, 2**32 - 1)


def kinetic_norm(mass, velocity):
    return np.sqrt(velocity @ mass @ velocity)


def scaled_rows(problem):
    """L⁻¹Jᵀ as rows: a velocity of kinetic norm 1 moves a contact at most by the norm of its row."""
    return np.linalg.solve(np.linalg.cholesky(problem.mass), problem.jacobian().T).T


def outcomes(problem, rng):
    """(v⁺, Σ ‖M⁻¹Jᵢᵀ Λᵢ‖) of all laws: what Λ is added up to, and what its rounding is relative to."""
    every = range(problem.contacts)
    sizes = np.linalg.norm(scaled_rows(problem), axis=1)
    for law in (
        simultaneous_impact(problem),
        plastic_impact(problem, every),
        sequential_impact(problem, rng.permutation(problem.contacts)),
    ):
        yield law.velocity, np.abs(law.impulse).ravel() @ sizes
    scale = impulse_scale(problem)
    if scale > 0.0:
        elastic = problem.replace(restitution=rng.uniform(0.0, 1.0, problem.contacts))
        for law, given_problem in (("inelastic", problem), ("stronge", elastic), ("poisson", elastic)):
            found = post_impact_set(given_problem, 0.3 * scale, 8, 100, law=law)
            for v, impulse in zip(found.velocities, found.impulses, strict=True):
                yield v, np.abs(impulse).ravel() @ sizes


@settings(max_examples=120)
@given(st.sampled_from(KINDS), SEEDS)
def test_components_keep_their_value_under_every_law_with_friction_and_redundant_contacts(kind, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind)
    basis = invariant_basis(problem)
    assert basis.status == Status.SOLVED
    before, speed = basis.components(problem.velocity), kinetic_norm(problem.mass, problem.velocity)
    for after, pushed in outcomes(problem, rng):
        np.testing.assert_allclose(basis.components(after), before, rtol=0, atol=1e-10 * (speed + pushed))


@settings(max_examples=150)
@given(st.sampled_from(KINDS), SEEDS)
def test_rows_are_orthonormal_beside_the_contacts_and_complete(kind, seed):
    problem = random_problem(np.random.default_rng(seed), kind)
    basis, scaled = invariant_basis(problem), scaled_rows(problem)
    rank = np.linalg.matrix_rank(scaled, tol=1e-8 * np.linalg.norm(scaled, axis=1).max())
    assert basis.rank == rank and basis.rows.shape == (problem.nv - rank, problem.nv)
    np.testing.assert_allclose(basis.rows @ problem.mass @ basis.rows.T, np.eye(problem.nv - rank), atol=1e-10)
    assert np.abs(problem.jacobian() @ basis.rows.T).max(initial=0.0) < 1e-10 * np.linalg.norm(scaled, axis=1).max()
    # What is projected away can be made by impulses: it lies in the range of M⁻¹Jᵀ
    gone = problem.velocity - basis.project(problem.velocity)
    reach = np.linalg.solve(problem.mass, problem.jacobian().T)
    rest = gone - reach @ np.linalg.lstsq(reach, gone, rcond=1e-10)[0]
    assert kinetic_norm(problem.mass, rest) < 1e-8 * max(kinetic_norm(problem.mass, problem.velocity), 1e-12)


def test_soles_with_many_corners_leave_what_three_corners_leave():
    rng = np.random.default_rng(2)
    flat = box(rng, 8)
    assert invariant_basis(flat).rank == 6 and invariant_basis(flat).rows.shape == (0, 6)
    edge = invariant_basis(flat, [0, 1])  # the line through two corners: the box may still turn about it
    assert edge.rank == 5 and edge.rows.shape == (1, 6)
    along = np.array([0.0, 1.0, 0.0])  # corners (−1, −1, −1) and (−1, 1, −1)
    turn = edge.rows[0, 3:]
    np.testing.assert_allclose(np.cross(turn, along), 0.0, atol=1e-12)
    np.testing.assert_allclose(edge.rows[0, :3], -np.cross(turn, [-1.0, 0.0, -1.0]), atol=1e-12)


def test_without_contacts_everything_stays_and_massless_limbs_have_no_basis():
    problem = random_problem(np.random.default_rng(0), "plain")
    free = invariant_basis(problem, [])
    np.testing.assert_allclose(free.project(problem.velocity), problem.velocity, atol=1e-12)
    none = basis_of(np.diag([1.0, 0.0]), np.array([[1.0, 0.0]]))
    assert none.status == Status.SINGULAR and none.rows.shape == (0, 2)
    with pytest.raises(ValueError, match="contacts"):
        invariant_basis(problem, [problem.contacts])


@pytest.mark.parametrize("name", ["go2", "anymal", "arm"])
def test_robots_and_fixed_arms_keep_their_components_whatever_contacts_act(name):
    model = load(name)
    rng = np.random.default_rng(4)
    for seed in range(5):
        problem = model.problem(random_state(model, seed))
        for count in range(1, min(problem.contacts, 4) + 1):
            chosen = sorted(rng.choice(problem.contacts, count, replace=False))
            some = problem.select(chosen)
            basis = invariant_basis(problem, chosen)
            assert basis.status == Status.SOLVED and basis.residual < 1e-10
            before, speed = basis.components(some.velocity), kinetic_norm(some.mass, some.velocity)
            for after, pushed in outcomes(some, rng):
                np.testing.assert_allclose(basis.components(after), before, rtol=0, atol=1e-9 * (speed + pushed))


def test_an_arm_whose_every_motion_meets_a_contact_has_an_empty_basis():
    model = load("arm")
    basis = invariant_basis(model.problem(random_state(model, 1)))
    assert basis.status == Status.SOLVED and basis.rank == model.nv and basis.rows.shape == (0, model.nv)
    np.testing.assert_array_equal(basis.project(np.ones(model.nv)), 0.0)


def test_the_basis_moves_no_further_than_the_robot_does():
    """Between configurations 1e-4 apart, rows turn by some 1e-4 for every choice of a standing Go2's feet."""
    model = load("go2")
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = model.neutral()
        q[7:] = np.tile([0.0, 0.8, -1.6], 4)
        q = model.integrate(q, np.r_[0, 0, 0, 0.2 * rng.normal(size=3), 0.3 * rng.normal(size=12)])
        step = 1e-4 * rng.normal(size=model.nv)
        here = model.problem(RobotState(0, q, np.zeros(model.nv)))
        there = model.problem(RobotState(0, model.integrate(q, step), np.zeros(model.nv)))
        for chosen in itertools.chain.from_iterable(itertools.combinations(range(4), k) for k in range(1, 5)):
            one, two = invariant_basis(here, chosen), invariant_basis(there, chosen)
            turned = one.rows @ here.mass @ two.rows.T - np.eye(len(one.rows))
            assert np.abs(turned).max() < 2e-3


def approaching(problem, rng):
    """The same, with all contacts on their way down at 0.5 to 2 m/s."""
    normals, v = problem.normal_jacobian, problem.velocity
    down = normals @ v + rng.uniform(0.5, 2.0, problem.contacts)
    return problem.replace(velocity=v - np.linalg.pinv(normals) @ down)


def draws(rng, problem, terms, count):
    """Outcomes of (M + diag k) Δv = −s b + JᵀΛ with s, k, e and μ drawn from their intervals, ends included."""
    n = problem.nv
    found = []
    for _ in range(count):
        part = np.clip(2.0 * rng.random(n + 3) - 0.5, 0.0, 1.0)
        k = part[0] * terms.drive + part[3:] * terms.drive_own
        k[: terms.first_joint] = 0.0
        mass = problem.mass + np.diag(k)
        free = problem.velocity - part[1] * terms.duration * np.linalg.solve(mass, problem.bias_force)
        changed = problem.replace(mass=mass, velocity=free, friction=problem.friction * (0.5 + part[2]))
        restored = changed.replace(restitution=rng.uniform(0.0, 0.3, problem.contacts))
        found.append(simultaneous_impact(changed).velocity)
        found += list(post_impact_set(restored, impulse_scale(changed), 1, 100, law="poisson").velocities)
    return np.array(found)


@pytest.mark.parametrize(
    "terms",
    [
        OtherTerms(duration=4e-3, first_joint=6),
        OtherTerms(drive=2.4e-3, first_joint=6),
        OtherTerms(drive_own=1e-3, first_joint=6),
        OtherTerms(4e-3, 2.4e-3, 1e-3, 6),
    ],
)
def test_no_draw_of_a_landing_changes_a_component_by_more_than_is_said(terms):
    """B M Δv = −s B b − B K Δv, of draws of the whole law on the Go2 with all feet, or with two that stand."""
    model = load("go2")
    rng = np.random.default_rng(7)
    share = []
    for seed, chosen in itertools.product(range(3), ([0, 1, 2, 3], [1, 2], [0, 1, 3])):
        problem = approaching(model.problem(random_state(model, seed)).select(chosen), rng)
        found = draws(rng, problem, terms, 40)
        basis = invariant_basis(problem)
        change, jump = set_changes(basis, terms, problem.bias_force, problem.velocity, found)
        moved = np.abs(basis.components(found - problem.velocity))
        assert (moved <= change * (1 + 1e-9) + 1e-9 * kinetic_norm(problem.mass, problem.velocity)).all()
        np.testing.assert_allclose(jump, np.abs(found - problem.velocity).max(axis=0), rtol=1e-12)
        share.append(moved.max(axis=0) / change)
    # The bound is of use: the duration reaches it, and draws of drives come to a third of it.
    assert np.median(np.concatenate(share)) > (0.95 if terms.drive == terms.drive_own == 0.0 else 0.3)


@pytest.mark.parametrize("seed", range(8))
def test_components_change_by_no_more_than_is_said_where_some_drives_end_at_half_of_their_joints_inertia(seed):
    """|B K Δv| for K = min(k, M_jj / 2), at each cap and 400 other values of k: jumps by contacts alone, of which
    B M Δv is 0."""
    rng = np.random.default_rng(seed)
    n, size = 7, np.sqrt(np.geomspace(1e-4, 1.0, 7))
    axes = rng.normal(size=(n, 3 * n))
    mass = axes @ axes.T / (3 * n) * np.outer(size, size)
    J = rng.normal(size=(2, n)) * size
    jumps = np.linalg.solve(mass, J.T @ rng.normal(size=(2, 5))).T
    basis = basis_of(mass, J)
    change, _ = set_changes(basis, OtherTerms(drive=0.1), np.zeros(n), np.zeros(n), jumps)
    caps = 0.5 * mass.diagonal()
    k = np.minimum(np.r_[np.linspace(0.0, 0.1, 400), caps[caps < 0.1]][:, None], caps)
    moved = np.abs(np.einsum("ij,kj,pj->kpi", basis.rows, k, jumps)).max(axis=(0, 1))
    assert (moved <= change * (1 + 1e-9)).all() and (moved >= 0.999 * change).all()


def test_without_other_terms_nothing_is_said_to_change():
    model = load("go2")
    problem = approaching(model.problem(random_state(model, 0)), np.random.default_rng(0))
    found = simultaneous_impact(problem).velocity
    change, jump = set_changes(
        invariant_basis(problem), OtherTerms(), problem.bias_force, problem.velocity, found[None]
    )
    assert change.max() < 1e-9 * kinetic_norm(problem.mass, found - problem.velocity)
    np.testing.assert_allclose(jump, np.abs(found - problem.velocity), rtol=1e-14)


@given(SEEDS)
@settings(max_examples=40)
def test_largest_jumps_and_changes_are_reached_by_points_of_the_set_and_exceeded_by_none(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "plain")
    n, margin = problem.nv, 0.3
    points, generators = rng.normal(size=(5, n)), 0.2 * rng.normal(size=(3, n))
    basis = invariant_basis(problem)
    change, jump = set_changes(basis, OtherTerms(), problem.bias_force, problem.velocity, points, generators, margin)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    corners = (points[:, None] + signs @ generators).reshape(-1, n) - problem.velocity
    # The farthest point of a ball of the kinetic norm along coordinate j is M⁻¹eⱼ / √(M⁻¹)ⱼⱼ
    inverse = np.linalg.inv(problem.mass)
    ball = margin * inverse / np.sqrt(np.diag(inverse))
    np.testing.assert_allclose(jump, np.abs(corners).max(axis=0) + np.diag(ball), rtol=1e-9)
    momenta = np.abs(basis.components(corners)).max(axis=0)
    np.testing.assert_allclose(change, momenta + margin, rtol=1e-9)
