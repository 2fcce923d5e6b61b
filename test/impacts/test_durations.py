"""How long impacts last and what they lose, against the numbers of Halm's Lemmas 2 and 3 and Theorem 3."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import random_problem
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts import durations
from hybrid_contact_ros.impacts.routh import routh_path
from hybrid_contact_ros.impacts.theory import net_force_direction
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

PLANAR = [rocking_block_impact, compass_gait_impact, box_and_wall_impact]


def speed(problem, v):
    return float(np.sqrt(v @ problem.mass @ v))


def from_unit_speed(problem, rng):
    v = np.linalg.solve(np.linalg.cholesky(problem.mass).T, rng.normal(size=problem.nv))
    return problem.with_velocity(v / speed(problem, v))


def rod(rng, friction, tangents=1):
    """One contact of a random body."""
    n = 2 + tangents
    root = rng.normal(size=(n, n))
    rows = rng.normal(size=(1 + tangents, n))
    mass = root @ root.T + 0.1 * np.eye(n)
    return ContactProblem(mass, rng.normal(size=n), rows[:1], rows[None, 1:], [friction])


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.05, 0.3, 1.0, 4.0]))
def test_lemma2_a_single_impact_is_over_by_kappa(seed, friction):
    problem = rod(np.random.default_rng(seed), friction)
    path = routh_path(problem)
    kappa = durations.single_impact_constant(problem)
    assert path.status is Status.SOLVED
    assert path.s[-1] <= kappa * speed(problem, problem.velocity) * (1 + 1e-9)
    assert kappa <= durations.printed_single_impact_constant(problem) * (1 + 1e-12)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 1.0, 4.0]))
def test_lemma2_in_space(seed, friction):
    problem = rod(np.random.default_rng(seed), friction, tangents=2)
    found = post_impact_set(problem, 0.02 * speed(problem, problem.velocity), 1, 10000, directions=32)
    total = found.impulses[0, 0, 0]
    assert found.terminated.all()
    assert total <= durations.single_impact_constant(problem) * speed(problem, problem.velocity) * 1.01


def test_lemma2_kappa_is_attained_without_friction_and_by_a_slide_that_stops():
    falling = ContactProblem(4 * np.eye(2), [0.0, -1.5], [[0, 1.0]], [[[1.0, 0]]], [0.0])
    assert durations.single_impact_constant(falling) == pytest.approx(2.0)  # √m: s = m |v|
    assert durations.printed_single_impact_constant(falling) == np.inf
    assert routh_path(falling).s[-1] == pytest.approx(2.0 * speed(falling, falling.velocity))
    # (94) of the block of Halm's Table 4 at rest on one corner; the proof's number and ours agree where μ = 1
    block = rocking_block_impact().problem
    for contact in (0, 1):
        kappa = durations.single_impact_constant(block, contact)
        assert kappa == pytest.approx(0.9220, abs=1e-4)
        assert kappa == pytest.approx(durations.printed_single_impact_constant(block, contact))


@pytest.mark.parametrize("make", [*PLANAR, disk_stacking_impact])
def test_lemma2_epsilon_is_the_least_ratio_of_94(make):
    """κ = 1/(ε min(μ, 1)), with ε as sampled from its definition."""
    problem = make().problem
    for i in range(problem.contacts):
        rows = np.vstack([problem.normal_jacobian[i], problem.tangent_jacobian[i]])
        half = np.linalg.solve(np.linalg.cholesky(problem.mass), rows.T)  # J in coordinates where M = I
        basis = np.linalg.svd(half, full_matrices=False)[0]
        angle = np.linspace(0, 2 * np.pi, 20001)
        z = basis @ np.array([np.cos(angle), np.sin(angle)])
        u = half.T @ z
        epsilon = (np.abs(u[0]) + np.abs(u[1])).min()
        printed = durations.printed_single_impact_constant(problem, i)
        assert printed == pytest.approx(1 / (epsilon * min(problem.friction[i], 1.0)), rel=2e-3)
        assert 1 / printed <= epsilon * min(problem.friction[i], 1.0) * (1 + 1e-12)


@pytest.mark.parametrize("make", PLANAR)
def test_proposition4_no_impact_of_the_inclusion_outlasts_its_rate(make):
    problem = make().problem
    longest, rng = durations.termination_rate(problem), np.random.default_rng(1)
    ends = []
    for _ in range(40):
        start = from_unit_speed(problem, rng)
        path = routh_path(start, rates=rng.dirichlet([0.2, 0.2]) + 1e-6)
        if path.status is Status.SOLVED:
            ends.append(path.s[-1])
        found = post_impact_set(start, 0.3, 50, 1000)
        ends.append(found.impulses[found.terminated][:, :, 0].sum(axis=1).max())
    assert 0.3 * longest < max(ends) <= longest * (1 + 1e-9)


@pytest.mark.parametrize("make", PLANAR)
def test_theorem3_every_impact_loses_alpha(make):
    problem, rng = make().problem, np.random.default_rng(2)
    seen = 0
    for _ in range(60):
        path = routh_path(from_unit_speed(problem, rng), rates=rng.dirichlet([0.2, 0.2]) + 1e-6)
        for s, v in zip(path.s[1:], path.velocities[1:], strict=True):
            seen += 1
            assert speed(problem, v) <= 1 - durations.least_dissipation(problem, s) + 1e-12
    assert seen > 40
    assert durations.least_dissipation(problem, 1.01 * durations.termination_rate(problem)) == 1.0


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([0.0, 0.3]))
def test_theorem3_what_weakly_coupled_contacts_lose(seed, contacts, friction):
    """Ĝ is positive definite here, and nearly what paths lose: every path loses more than ½ ΛᵀĜΛ."""
    rng = np.random.default_rng(seed)
    nv = 2 * contacts
    rows = np.eye(nv) + 0.1 * rng.normal(size=(nv, nv)) / nv
    problem = ContactProblem(
        np.eye(nv),
        rng.normal(size=nv),
        rows[:contacts],
        rows[contacts:, None],
        np.full(contacts, friction),
    )
    loss = durations.loss_matrix(problem)
    if friction == 0.0:
        assert np.linalg.eigvalsh(loss)[0] > 0.0
    path = routh_path(problem, rates=rng.dirichlet(np.full(contacts, 0.3)) + 1e-6)
    assert path.status is Status.SOLVED
    start = speed(problem, problem.velocity) ** 2
    for v, impulse in zip(path.velocities, path.impulses, strict=True):
        lost = 0.5 * (start - speed(problem, v) ** 2)
        assert lost >= 0.5 * impulse[:, 0] @ loss @ impulse[:, 0] - 1e-12 * start


def test_theorem3_parallel_contacts_lose_no_more_than_the_bound():
    """Three contacts of one frictionless point at three speeds, the slowest first: the loss is just the bound's."""
    # one mass, walls that move at 0, 1 and 2 m/s: coordinates 2-4 are the walls', which are too heavy to move
    mass = np.diag([1.0, 1e9, 1e9, 1e9])
    rows = np.hstack([np.ones((3, 1)), -np.eye(3)])
    problem = ContactProblem(mass, [-1.0, 0.0, 1.0, 2.0], rows, np.zeros((3, 1, 4)), np.zeros(3))
    loss = durations.loss_matrix(problem)
    np.testing.assert_allclose(loss, np.eye(3), atol=1e-8)
    impulse = np.ones(3)  # each stops what is left of its own approach: 1, then 1, then 1 m/s
    v, lost = problem.velocity.copy(), 0.0
    for i in range(3):
        before = v @ mass @ v
        v = v + np.linalg.solve(mass, rows[i])
        assert rows[i] @ v == pytest.approx(0.0, abs=1e-8)
        lost += 0.5 * (before - v @ mass @ v)
    assert lost == pytest.approx(0.5 * impulse @ loss @ impulse, rel=1e-5)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_lemma6_least_r_is_the_reciprocal_of_the_slowest_net_force(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, "plain")
    nu = durations.net_force_size(problem)
    weights = rng.exponential(size=(300, problem.contacts)) * (rng.random((300, problem.contacts)) < 0.6)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    side = rng.normal(size=(300, problem.contacts, problem.tangents))
    side *= (problem.friction / np.linalg.norm(side, axis=2))[..., None]
    force = np.einsum("sm,mn->sn", weights, problem.normal_jacobian)
    force += np.einsum("sm,smd,mdn->sn", weights, side, problem.tangent_jacobian)
    moved = np.sqrt(np.einsum("sn,sn->s", force, np.linalg.solve(problem.mass, force.T).T))
    assert (moved[weights.sum(axis=1) > 0.5] >= nu * (1 - 1e-9)).all()
    if nu == 0.0:
        assert durations.termination_rate(problem) == np.inf and durations.least_dissipation(problem, 1.0) is None
    elif problem.tangents == 1:
        r = net_force_direction(problem)
        assert np.sqrt(r @ np.linalg.solve(problem.mass, r)) >= 1 / nu * (1 - 1e-6)


def test_block_and_gait_in_numbers():
    block, gait = rocking_block_impact().problem, compass_gait_impact().problem
    assert durations.termination_rate(block) == pytest.approx(2.0)  # 2 √m: r is m times upwards
    assert durations.termination_rate(gait) == pytest.approx(2 * np.sqrt(2.0), rel=1e-6)
    assert durations.least_dissipation(block, 1.0) == pytest.approx(8e-5, rel=0.05)


@pytest.mark.parametrize(
    ("make", "rate", "loss"),
    [
        (rocking_block_impact, 2.0, 7.874e-5),
        (compass_gait_impact, 2.8284, 3.812e-7),
        (box_and_wall_impact, 3.4945, 9.872e-6),
        (disk_stacking_impact, 5.7786, 6.294e-27),
    ],
)
def test_proposition4_and_theorem3_in_numbers(make, rate, loss):
    problem = make().problem
    assert durations.termination_rate(problem) == pytest.approx(rate, rel=1e-3)
    assert durations.least_dissipation(problem, 1.0) == pytest.approx(loss, rel=1e-2)


def test_jamming_and_wrong_arguments():
    jammed = ContactProblem(np.eye(2), [0, -1.0], [[1.0, 0], [-1.0, 0]], [[[0, 1.0]], [[0, 1.0]]], [0.5, 0.5])
    assert durations.net_force_size(jammed) == 0.0 and durations.termination_rate(jammed) == np.inf
    assert durations.least_dissipation(jammed, 1.0) is None
    block = rocking_block_impact().problem
    for call, message in (
        (lambda: durations.single_impact_constant(block, 2), "no contact 2"),
        (lambda: durations.least_dissipation(block, 0.0), "s is 0.0"),
        (lambda: durations.net_force_size(block.replace(mass=np.zeros((3, 3)))), "mass"),
        (
            lambda: durations.single_impact_constant(
                ContactProblem(np.eye(2), [0, 0], [[0.0, 0]], [[[1.0, 0]]], [0.5])
            ),
            "moves nothing",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()
