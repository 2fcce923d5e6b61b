"""Outer bounds: what no outcome exceeds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from benchmarks.impact_problems import KINDS, random_problem
from benchmarks.impacts import go2_landing
from hybrid_contact_ros import ContactProblem, outcome_bounds, post_impact_set, simultaneous_impact
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_states import contact_modes
from hybrid_contact_ros.impacts.sequential import sequential_impact
from hybrid_contact_ros.impacts.velocity_set import impulse_scale
from hybrid_contact_ros.kernels.impacts.linear_bound import maximum
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact


def ball(friction=0.5, coupling=0.0):
    """Two unit masses over a plane, coupled through the inverse mass matrix."""
    M = np.linalg.inv(np.array([[1.0, coupling], [coupling, 1.0]]))
    normals = np.eye(2)
    return ContactProblem(M, np.array([-1.0, -1.0]), normals, np.zeros((2, 1, 2)), [friction, friction])


def problems(rng, kind, m):
    """A random problem; "coupled": impulses at different contacts act nearly alike; "jamming": no pointed cone."""
    if kind not in ("coupled", "jamming"):
        return random_problem(rng, kind, m=m)
    p = random_problem(rng, "plain", m=max(m, 2))
    normals = p.normal_jacobian.copy()
    for i in range(1, p.contacts):
        normals[i] = normals[0] + 0.2 * normals[i] if kind == "coupled" else normals[i]
    if kind == "jamming":
        normals[1] = -normals[0]
    v = p.velocity - np.linalg.pinv(normals[:1]) @ (normals[:1] @ p.velocity + 1.0)
    return ContactProblem(p.mass, v, normals, p.tangent_jacobian, p.friction)


def sparse(rng, shape):
    """A density under which few contacts take part in an increment, so that impacts come nearly one after another."""
    return rng.random(shape) * (rng.random(shape) < 0.4)


def outcomes_of(problem, seed, directions, steps, restitution=0.0, **material):
    """Terminated outcomes: sampled with several steps and densities, in sequence, all at once."""
    scale, found = impulse_scale(problem), []
    if restitution:
        material = {"law": "poisson", "restitution": (0.0, restitution)}
    for step, density in zip(steps, (None, sparse, *(None,) * len(steps)), strict=False):
        batch = post_impact_set(
            problem, step * scale, 24, 400, seed=seed, directions=directions, density=density, **material
        )
        found.append(batch.velocities[batch.terminated])
    order = np.random.default_rng(seed).permutation(problem.contacts)
    few = problem.contacts * problem.tangents <= 2
    at_once = simultaneous_impact(problem, directions, all_solutions=True) if few else []
    for outcome in (simultaneous_impact(problem, directions), sequential_impact(problem, order, directions), *at_once):
        if outcome.status == Status.SOLVED:
            found.append(outcome.velocity[None])
    return np.concatenate(found)


def assert_within(values, bounds):
    room = 1e-9 * (1.0 + np.abs(values).max(initial=0.0))
    assert (values >= bounds[0] - room).all() and (values <= bounds[1] + room).all()


@settings(max_examples=20)
@given(
    kind=st.sampled_from((*KINDS, "coupled", "coupled", "jamming")),
    seed=st.integers(0, 10**6),
    m=st.integers(1, 4),
    step=st.floats(0.05, 3.0),
    directions=st.sampled_from([2, 4, 6, 8, 12]),
)
def test_no_outcome_of_any_step_order_or_polygon_leaves_the_bounds(kind, seed, m, step, directions):
    problem = problems(np.random.default_rng(seed), kind, m)
    if not impulse_scale(problem) > 0.0:
        return
    outcomes = outcomes_of(problem, seed, directions, (step, 10.0))
    rows = np.concatenate([np.eye(problem.nv), problem.jacobian()])
    assert_within(outcomes @ rows.T, outcome_bounds(problem, rows))
    assert_within(outcomes, outcome_bounds(problem, directions=directions))
    assert_within(outcomes, outcome_bounds(problem, effort="fast"))


@settings(max_examples=8)
@given(
    kind=st.sampled_from((*KINDS, "coupled")), seed=st.integers(0, 10**6), m=st.integers(1, 3), e=st.floats(0.01, 1.0)
)
def test_no_outcome_with_poisson_restitution_leaves_the_bounds(kind, seed, m, e):
    problem = problems(np.random.default_rng(seed), kind, m)
    if not impulse_scale(problem) > 0.0:
        return
    outcomes = outcomes_of(problem, seed, 4, (0.1, 1.0), restitution=e)
    assert_within(outcomes, outcome_bounds(problem, restitution=e))
    assert_within(outcomes, outcome_bounds(problem, restitution=e, directions=4))


@settings(max_examples=20)
@given(
    kind=st.sampled_from((*KINDS, "coupled")),
    seed=st.integers(0, 10**6),
    m=st.integers(1, 3),
    law=st.sampled_from(["inelastic", "poisson", "stronge", "stronge"]),
    least=st.floats(0.0, 1.0),
    e=st.floats(0.01, 1.0),
    common=st.booleans(),
    directions=st.sampled_from([2, 4, 8]),
)
def test_no_outcome_of_any_law_with_intervals_of_e_and_mu_leaves_the_bounds(
    kind, seed, m, law, least, e, common, directions
):
    problem = problems(np.random.default_rng(seed), kind, m)
    if not impulse_scale(problem) > 0.0:
        return
    mu = problem.friction
    material = {"law": law, "friction": (least * mu, 1.2 * mu)}
    if law != "inelastic":
        material["restitution"] = (least * e, e)
    found = [
        post_impact_set(
            problem, step * impulse_scale(problem), 24, 400, seed=seed, directions=directions, density=density,
            common_material=common, **material,
        )
        for step, density in ((0.2, None), (2.0, sparse))
    ]  # fmt: skip
    outcomes = np.concatenate([each.velocities[each.terminated] for each in found])
    rows = np.concatenate([np.eye(problem.nv), problem.jacobian()])
    assert_within(outcomes @ rows.T, outcome_bounds(problem, rows, directions=directions, **material))
    assert_within(outcomes, outcome_bounds(problem, effort="fast", **material))


@pytest.mark.parametrize("law", ["poisson", "stronge"])
def test_of_a_single_contact_without_friction_both_laws_leave_e_times_the_approach(law):
    problem = ContactProblem(np.eye(1), np.array([-2.0]), np.eye(1), np.zeros((1, 1, 1)), [0.0])
    for effort in ("tight", "fast"):
        lower, upper = outcome_bounds(problem, law=law, restitution=(0.1, 0.3), effort=effort)
        assert lower[0] == pytest.approx(0.0, abs=1e-5) and upper[0] == pytest.approx(0.6, abs=3e-3)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 4), d=st.integers(1, 2), e=st.floats(0.0, 1.0))
def test_by_stronges_law_impulses_stay_below_what_approach_and_closing_impulses_allow(seed, m, d, e):
    """a (C + R) ≤ (1 + e) (max(−u⁻, 0) + N)."""
    problem = random_problem(np.random.default_rng(seed), "plain", m=m, d=d)
    scale = impulse_scale(problem)
    if not scale > 0.0:
        return
    G = problem.jacobian() @ np.linalg.solve(problem.mass, problem.jacobian().T)
    normal = np.arange(m) * (1 + d)
    rub = np.array(
        [[problem.friction[j] * np.linalg.norm(G[i, k + 1 : k + 1 + d]) for j, k in enumerate(normal)] for i in normal]
    )
    direct = G[np.ix_(normal, normal)]
    closing = np.maximum(rub - direct, 0.0)
    np.fill_diagonal(closing, 0.0)
    opening = np.diag(direct - rub)
    approach = np.maximum(-problem.normal_jacobian @ problem.velocity, 0.0)
    found = post_impact_set(problem, 0.5 * scale, 16, 400, seed=seed, law="stronge", restitution=e)
    for total in found.impulses[found.terminated][:, :, 0]:
        room = 1e-4 * (1.0 + np.abs(G).max() * total.sum() + np.linalg.norm(approach))
        assert (opening * total <= (1.0 + e) * (approach + closing @ total) + room).all()


@given(seed=st.integers(0, 10**6), d=st.integers(1, 2))
@settings(max_examples=12)
def test_tight_bounds_are_within_fast_ones_and_more_knowledge_never_loosens_them(seed, d):
    problem = random_problem(np.random.default_rng(seed), "plain", m=2, d=d)
    if not impulse_scale(problem) > 0.0:
        return
    fast, tight, one = (
        outcome_bounds(problem, effort="fast"),
        outcome_bounds(problem),
        outcome_bounds(problem, directions=4),
    )
    assert (tight[0] >= fast[0]).all() and (tight[1] <= fast[1]).all()
    assert (one[1] - one[0]).sum() <= (fast[1] - fast[0]).sum()


@pytest.mark.parametrize(
    ("impact", "most"),
    [(rocking_block_impact, 1.1), (box_and_wall_impact, 1.5), (compass_gait_impact, 1.2), (ramone_impact, 1.3)],
)
def test_the_planar_examples_of_the_paper_are_bounded_nearly_to_their_sampled_sets(impact, most):
    problem = impact().problem
    outcomes = outcomes_of(problem, 1, 4, [0.1] + [1.0] * 12)
    outcomes = np.concatenate([outcomes, *(outcomes_of(problem, k, 4, [0.5, 1.0]) for k in range(2, 20))])
    lower, upper = outcome_bounds(problem)
    assert_within(outcomes, (lower, upper))
    width = np.ptp(outcomes, axis=0)
    moved = width > 1e-5
    assert np.exp(np.mean(np.log((upper - lower)[moved] / width[moved]))) < most


@settings(max_examples=300)
@given(
    seed=st.integers(0, 10**9),
    polygon=st.sampled_from([1, 2, 4, 6, 8, 14, 10**6]),
    known=st.booleans(),
    axis=st.integers(0, 40),
)
def test_every_increment_is_in_a_mode_that_allows_its_friction(seed, polygon, known, axis):
    """Maximal dissipation over the polygon (1: in the plane; 10⁶: the circle), ties and sticking included."""
    rng = np.random.default_rng(seed)
    d, mu = (1 if polygon == 1 else 2), float(rng.uniform(0.1, 2.0))
    angles = np.array([0.0, np.pi]) if d == 1 else 2.0 * np.pi * np.arange(min(polygon, 10**4)) / min(polygon, 10**4)
    vertices = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, :d]
    turn = np.pi * axis / 12 if axis < 24 else rng.uniform(0.0, 7.0)  # u_t at right angles to edges, too
    slip = np.array([np.cos(turn), np.sin(turn)])[:d] * (0.0 if axis == 40 else 1.0)
    slip = np.where(np.abs(slip) < 1e-12, 0.0, slip)
    best = np.flatnonzero(vertices @ slip <= (vertices @ slip).min() + 1e-12)
    friction = rng.dirichlet(np.ones(len(best))) @ vertices[best]
    velocity = np.concatenate([[-rng.uniform()], slip])
    normals, tangents = rng.normal(size=200), rng.normal(size=(200, d))
    gain = normals + mu * tangents @ friction
    given = None if not known or d == 1 or polygon == 10**6 else polygon
    assert any(
        (mode.velocity @ velocity <= 1e-9).all() and (mode.most(normals, tangents, mu) >= gain - 1e-9).all()
        for mode in contact_modes(d, mu, given, True)
    )


def test_a_quadrupeds_landing_is_bounded_within_three_times_its_sampled_set():
    problem = go2_landing()
    if problem is None:
        pytest.skip("example-robot-data is not installed")
    outcomes = np.concatenate([outcomes_of(problem, seed, 4, [0.1, 0.5, 1.0, 5.0] * 4) for seed in range(4)])
    lower, upper = outcome_bounds(problem, directions=4)
    assert_within(outcomes, (lower, upper))
    width = np.ptp(outcomes, axis=0)
    moved = width > 1e-5
    assert np.exp(np.mean(np.log((upper - lower)[moved] / width[moved]))) < 3.0


def test_a_contact_that_may_jam_is_left_with_the_ball_of_energy():
    problem = problems(np.random.default_rng(3), "jamming", 2)
    np.testing.assert_array_equal(outcome_bounds(problem), outcome_bounds(problem, effort="fast"))


def test_a_maximum_whose_simplex_method_is_stopped_early_is_still_an_upper_bound():
    rows = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1], [0.6, 0.8], [0.8, 0.6]])
    rhs, c, box = np.array([9.0, 9, 9, 9, 1, 1]), np.array([1.0, 1.0]), np.full(2, 9.0)
    best = linprog(-c, rows, rhs, bounds=(None, None)).fun
    values = []
    for limit in range(6):
        basis = np.array([0, 1])
        values.append(
            maximum(2, 6, limit, rows, rhs, c, box, basis, np.empty((2, 2)), np.empty((2, 2)), np.empty((4, 2)))
        )
    assert (np.array(values) >= -best).all() and values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(-best, rel=1e-12)


@settings(max_examples=200)
@given(seed=st.integers(0, 10**9), p=st.integers(1, 6), extra=st.integers(1, 20))
def test_maxima_are_those_of_linprog_or_certainly_empty(seed, p, extra):
    rng = np.random.default_rng(seed)
    rows = np.concatenate([np.eye(p), -np.eye(p), rng.integers(-3, 4, (extra, p)).astype(float)])
    rhs = np.concatenate([np.full(2 * p, 5.0), rng.integers(-2, 5, extra).astype(float)])
    c = rng.normal(size=p)
    basis = np.where(c >= 0.0, np.arange(p), p + np.arange(p))
    work, vectors = np.empty((2, p, p)), np.empty((4, p))
    value = maximum(p, len(rows), 500, rows, rhs, c, np.full(p, 5.0), basis, work[0], work[1], vectors)
    answer = linprog(-c, rows, rhs, bounds=(None, None))
    if answer.status == 0:
        assert value == pytest.approx(-answer.fun, rel=1e-8, abs=1e-8)
    else:
        assert answer.status == 2 and value == -np.inf


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
    assert_within(found.velocities[found.terminated], outcome_bounds(problem, restitution=e, law=law, effort="fast"))


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


def test_an_unknown_law_an_empty_interval_and_restitution_of_the_inelastic_law_are_refused():
    with pytest.raises(ValueError, match="law"):
        outcome_bounds(ball(), law="newton")
    with pytest.raises(ValueError, match="friction"):
        outcome_bounds(ball(), friction=(0.5, 0.4))
    with pytest.raises(ValueError, match="inelastic"):
        outcome_bounds(ball(), law="inelastic", restitution=0.5)


def test_an_unknown_effort_and_odd_directions_are_refused():
    with pytest.raises(ValueError, match="effort"):
        outcome_bounds(ball(), effort="great")
    with pytest.raises(ValueError, match="directions"):
        outcome_bounds(ball(), directions=5)
