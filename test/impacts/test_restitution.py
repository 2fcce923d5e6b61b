"""Sets with restitution: energy, the inelastic limit, textbook answers, intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import KINDS, random_problem
from helpers.clocks import clock_of_work
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

pytestmark = pytest.mark.usefixtures("rounding")

LAWS = ("stronge", "poisson")


def particle(velocity, friction=0.0, spin=False) -> ContactProblem:
    """A unit mass above the floor, planar; with spin a ball of radius 1 and inertia 2/5 (x, y, ω)."""
    n = 3 if spin else 2
    mass = np.diag([1.0, 1.0, 0.4][:n])
    return ContactProblem(mass, velocity, np.eye(n)[1:2], np.array([[[1.0, 0.0, 1.0][:n]]]), [friction])


def rod(angle: float, velocity, friction: float) -> ContactProblem:
    """A uniform rod of length 2 and mass 1 that strikes the floor with one end: normal and tangent are coupled."""
    x, y = -np.cos(angle), -np.sin(angle)
    return ContactProblem(np.diag([1, 1, 1 / 3]), velocity, [[0.0, 1.0, x]], [[[1.0, 0.0, -y]]], [friction])


def energies(problem: ContactProblem, velocities: np.ndarray) -> tuple[np.ndarray, float]:
    v = problem.velocity
    return 0.5 * np.einsum("ni,ij,nj->n", velocities, problem.mass, velocities), 0.5 * float(v @ problem.mass @ v)


def contact_velocities(problem: ContactProblem, velocities: np.ndarray) -> np.ndarray:
    return velocities @ problem.jacobian().T


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=60)
@example("integers", 262144, 0.0, 1.0, 0.01, False)  # a tangent that nothing can move in
@example("few coordinates", 0, 0.0, 1e-10, 5.0, True)  # a restitution of the size of rounding
@given(
    st.sampled_from(KINDS),
    st.integers(0, 2**31),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    st.sampled_from([0.01, 0.2, 1.0, 5.0]),
    st.booleans(),
)
def test_energy_never_rises_and_nothing_approaches_whatever_e_and_friction(law, kind, seed, e1, e2, step, common):
    problem = random_problem(np.random.default_rng(seed), kind)
    scale = impulse_scale(problem)
    if scale == 0.0:
        return
    found = post_impact_set(
        problem,
        step * scale,
        16,
        60,
        law=law,
        restitution=(min(e1, e2), max(e1, e2)),
        friction=(0.5 * problem.friction, 2.0 * problem.friction),
        common_material=common,
    )
    after, before = energies(problem, found.velocities)
    assert (after <= before * (1.0 + 1e-11)).all()
    assert found.residual < 1e-8 and found.status in (Status.SOLVED, Status.STEP_LIMIT)
    gaps = found.velocities[found.terminated] @ problem.normal_jacobian.T
    assert gaps.min(initial=0.0) >= -1e-7 * np.sqrt(before * np.linalg.eigvalsh(problem.mass)[-1]) - 1e-7
    assert (found.impulses[:, :, 0] >= -1e-10 * scale).all()
    reach = 2.0 * problem.friction * found.impulses[:, :, 0]
    assert (np.linalg.norm(found.impulses[:, :, 1:], axis=2) <= reach * (1 + 1e-9) + 1e-9).all()
    assert (found.velocities >= found.lower - 1e-9).all() and (found.velocities <= found.upper + 1e-9).all()


def test_poissons_law_that_would_create_energy_ends_at_the_energy_before():
    """Two coupled contacts with friction, e = 0.9: found by search, some samples reach the guard and none passes it."""
    rng, reached = np.random.default_rng(0), 0
    for _ in range(40):
        problem = random_problem(rng, "plain", m=int(rng.integers(2, 4)), d=1)
        scale = impulse_scale(problem)
        if scale == 0.0:
            continue
        found = post_impact_set(problem, scale, 32, 200, law="poisson", restitution=0.9)
        after, before = energies(problem, found.velocities)
        assert (after <= before * (1.0 + 1e-12)).all()
        reached += bool((after >= before * (1.0 - 1e-12)).any())
    assert reached > 0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
def test_without_restitution_the_set_is_the_inelastic_one_bit_by_bit(law, kind):
    for seed in range(4):
        problem = random_problem(np.random.default_rng(seed), kind)
        scale = impulse_scale(problem)
        if scale == 0.0:
            continue
        plain = post_impact_set(problem, 0.7 * scale, 12, 50, seed=seed)
        found = post_impact_set(problem, 0.7 * scale, 12, 50, seed=seed, law=law, restitution=0.0)
        for name in ("velocities", "impulses", "steps", "terminated", "lower", "upper"):
            assert np.array_equal(getattr(plain, name), getattr(found, name)), name
        assert (plain.residual, plain.coverage, plain.unique) == (found.residual, found.coverage, found.unique)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("step", [0.05, 1.0])
def test_frictionless_particle_leaves_with_e_times_its_approach(law, e, step):
    problem = particle([0.3, -2.0])
    found = post_impact_set(problem, step * impulse_scale(problem), 32, 1000, law=law, restitution=e)
    assert found.status == Status.SOLVED
    tolerance = 1e-8 if step == 1.0 else 1e-3  # the last crumb of a store, 1e-3 of its energy, is given up
    np.testing.assert_allclose(found.velocities, np.tile([0.3, 2.0 * e], (32, 1)), atol=2 * tolerance)


@pytest.mark.parametrize("law", LAWS)
def test_sliding_contact_has_the_answer_of_newton_and_coulomb(law):
    """All the way sliding one way, Newton, Poisson and Stronge agree: u_n⁺ = −e u_n⁻, Λ_t = −μ Λ_n."""
    problem, e, mu = rod(1.0, [2.0, -1.0, 0.3], 0.2), 0.4, 0.2
    J = problem.jacobian()
    along = J @ np.linalg.solve(problem.mass, J.T @ [1.0, -mu])
    u = J @ problem.velocity
    impulse = -(1 + e) * u[0] / along[0]
    assert u[1] + along[1] * impulse > 0  # still sliding
    found = post_impact_set(problem, impulse_scale(problem), 32, 100, law=law, restitution=e)
    np.testing.assert_allclose(found.impulses[:, 0], np.tile([impulse, -mu * impulse], (32, 1)), rtol=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_rolling_ball_bounces_without_slip(law):
    problem = particle([1.0, -1.0, 0.0], friction=1.0, spin=True)
    found = post_impact_set(problem, impulse_scale(problem), 32, 100, law=law, restitution=0.5)
    u = contact_velocities(problem, found.velocities)
    np.testing.assert_allclose(u, np.tile([0.5, 0.0], (32, 1)), atol=1e-7)
    np.testing.assert_allclose(found.velocities[:, 0], 1.0 / 1.4 * np.ones(32))  # m r² / (m r² + I) of the slip is left


def routh(problem: ContactProblem, e: float, law: str, n: int = 200_000) -> float:
    """Normal impulse of a single planar contact, integrated along Λ_n in small steps (explicit Routh's method)."""
    J = problem.jacobian()
    G, u, mu = J @ np.linalg.solve(problem.mass, J.T), J @ problem.velocity, float(problem.friction[0])
    d = 6.0 * -u[0] / G[0, 0] / n
    total, work, stored, compression = 0.0, 0.0, None, 0.0
    while True:
        stuck = -G[1, 0] / G[1, 1]
        sliding = abs(u[1]) > abs(G[1]).sum() * d
        t = -mu * np.sign(u[1]) if sliding else np.clip(stuck - u[1] / (G[1, 1] * d), -mu, mu)
        before = u[0]
        u = u + G @ [d, t * d]
        total += d
        mean = 0.5 * (before + u[0]) * d
        if stored is None:
            work -= mean
            if u[0] >= 0:
                stored, compression = e * e * work, total
        else:
            stored -= mean
        if stored is not None and (stored <= 0 if law == "stronge" else total >= (1 + e) * compression):
            return total


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("slip", [0.3, 0.8])
def test_slip_that_stops_within_the_impact_is_routhss_answer_as_steps_shrink(law, slip):
    """A tilted rod whose slip stops (and sticks or reverses): Poisson's and Stronge's answers differ there."""
    problem = rod(0.9, [slip, -1.0, 0.0], 0.5)
    found = post_impact_set(problem, 0.01 * impulse_scale(problem), 16, 2000, law=law, restitution=0.7)
    assert found.terminated.all()
    np.testing.assert_allclose(found.impulses[:, 0, 0], routh(problem, 0.7, law), rtol=0.01)


@pytest.mark.parametrize("law", LAWS)
def test_elastic_balls_of_equal_mass_swap_velocities(law):
    problem = ContactProblem(np.eye(2), [2.0, -0.5], [[-1.0, 1.0]], np.zeros((1, 1, 2)), [0.0])
    found = post_impact_set(problem, impulse_scale(problem), 16, 100, law=law, restitution=1.0)
    np.testing.assert_allclose(found.velocities, np.tile([-0.5, 2.0], (16, 1)), atol=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_newtons_cradle_of_three_conserves_and_contains_the_simultaneous_answer(law):
    """One ball strikes two at rest, e = 1. Compressing all, then restituting all gives (−1, 2, 2) / 3 (Poisson)."""
    problem = ContactProblem(np.eye(3), [1.0, 0.0, 0.0], [[-1, 1, 0], [0, -1, 1.0]], np.zeros((2, 1, 3)), [0, 0.0])
    found = post_impact_set(problem, impulse_scale(problem), 512, 400, law=law, restitution=1.0)
    assert found.terminated.all()
    v = found.velocities
    np.testing.assert_allclose(v.sum(axis=1), 1.0, atol=1e-9)
    assert (np.diff(v, axis=1) >= -1e-8).all()
    if law == "stronge":  # a coarse step knows the work of two coupled contacts only together: little is lost
        assert (v**2).sum(axis=1).min() > 0.95 and np.median((v**2).sum(axis=1)) > 0.999
    assert np.linalg.norm(v - np.array([-1.0, 2.0, 2.0]) / 3.0, axis=1).min() < 0.05
    assert np.linalg.norm(v.max(axis=0) - v.min(axis=0)) > 0.2  # and many others


@pytest.mark.parametrize("common", [True, False])
def test_intervals_are_covered_with_their_ends(common):
    problem = ContactProblem(
        np.eye(4), [0.5, -1.0, 0.5, -1.0], np.eye(4)[[1, 3]], np.eye(4)[[0, 2]][:, None], [0.1, 0.1]
    )
    found = post_impact_set(
        problem, 2.0, 256, 100, law="poisson", restitution=(0.2, [0.6, 0.4]), friction=(0.1, 0.3),
        common_material=common,
    )  # fmt: skip
    u, impulse = found.velocities, found.impulses
    for k, high in ((0, 0.6), (1, 0.4)):
        e = u[:, 1 + 2 * k]
        assert e.min() == pytest.approx(0.2, abs=1e-9) and e.max() == pytest.approx(high, abs=1e-9)
        mu = -impulse[:, k, 1] / impulse[:, k, 0]
        assert mu.min() == pytest.approx(0.1, abs=1e-9) and mu.max() == pytest.approx(0.3, abs=1e-9)
        assert np.abs(np.sort(e) - np.sort(np.linspace(0.2, high, 256))).max() < 0.15 * (high - 0.2)
    same_place = np.abs((u[:, 1] - 0.2) / 0.4 - (u[:, 3] - 0.2) / 0.2).max() < 1e-6
    assert same_place == common


def test_problems_own_restitution_is_the_default_and_the_inelastic_law_ignores_it():
    problem = ContactProblem(np.eye(2), [0.0, -1.0], [[0.0, 1.0]], [[[1.0, 0.0]]], [0.0], restitution=[0.25])
    assert post_impact_set(problem, 1.0, 4, 50, law="stronge").velocities[:, 1] == pytest.approx(0.25)
    assert post_impact_set(problem, 1.0, 4, 50).velocities[:, 1] == pytest.approx(0.0, abs=1e-12)


def test_friction_intervals_work_with_the_inelastic_law_too():
    problem = particle([1.0, -1.0], friction=9.0)
    found = post_impact_set(problem, 1.0, 64, 50, friction=(0.1, 0.2))
    ratio = -found.impulses[:, 0, 1] / found.impulses[:, 0, 0]
    assert ratio.min() == pytest.approx(0.1) and ratio.max() == pytest.approx(0.2)


@pytest.mark.parametrize("law", LAWS)
def test_sets_are_reproducible_and_a_set_stopped_in_time_is_a_prefix(monkeypatch, law):
    problem = random_problem(np.random.default_rng(3), "plain", m=4, d=2)
    scale = impulse_scale(problem)
    options = {"law": law, "restitution": (0.2, 0.5), "friction": (0.1, 0.4)}
    full = post_impact_set(problem, scale, 600, 80, **options)
    assert np.array_equal(full.velocities, post_impact_set(problem, scale, 600, 80, **options).velocities)
    with monkeypatch.context() as patched:
        clock_of_work(patched)
        short = post_impact_set(problem, scale, 600, 80, deadline_ns=1, **options)
    assert short.status == Status.DEADLINE and 1 <= len(short.velocities) < 600
    assert np.array_equal(short.velocities, full.velocities[: len(short.velocities)])
    shared = post_impact_set(problem, scale, 600, 80, threads=2, **options)
    assert np.array_equal(shared.velocities, full.velocities)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", [3, 8, 34])
def test_outcomes_of_the_same_draws_do_not_depend_on_the_unit_of_mass(law, seed):
    """Grams instead of kilograms change roundings only; a contact that sticks must not slip by its rounding's sign."""
    problem = random_problem(np.random.default_rng(seed), "plain", m=3, d=1)
    scale, options = impulse_scale(problem), {"law": law, "restitution": 0.4}
    grams = problem.replace(mass=1e3 * problem.mass)
    found = post_impact_set(problem, 0.5 * scale, 64, 100, **options)
    again = post_impact_set(grams, 0.5e3 * scale, 64, 100, **options)
    assert np.array_equal(found.steps, again.steps)
    np.testing.assert_allclose(again.velocities, found.velocities, atol=1e-9 * np.abs(problem.velocity).max())


@pytest.mark.parametrize("law", LAWS)
def test_an_increment_whose_restitution_was_cut_counts_once_as_searched(law):
    for seed in (8, 21, 34):
        problem = random_problem(np.random.default_rng(seed), "plain", m=3, d=1)
        found = post_impact_set(problem, 0.5 * impulse_scale(problem), 64, 100, law=law, restitution=0.4)
        assert found.searched == 1.0 and found.several <= 1.0


def test_an_empty_interval_is_named_by_its_contact_and_both_ends():
    problem = ContactProblem(np.eye(2), [0.0, -1.0], np.eye(2), np.eye(2)[::-1, None], [0.0, 0.0])
    with pytest.raises(ValueError, match=r"friction of contact 0 has a low end 0.5 above its high end 0.4"):
        post_impact_set(problem, 1.0, 4, 10, friction=([0.5, 0.9], [0.4, 1.0]))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"law": "newton"}, "law is 'newton'"),
        ({"law": "stronge", "restitution": 1.2}, "restitution must lie in"),
        ({"law": "stronge", "restitution": -0.1}, "≥ 0"),
        ({"law": "stronge", "restitution": (0.5, 0.2)}, "low end"),
        ({"law": "stronge", "restitution": (0.1, 0.2, 0.3)}, "tuple of 3"),
        ({"law": "poisson", "friction": [0.1, 0.2]}, "friction has shape"),
        ({"law": "poisson", "friction": float("nan")}, "finite"),
        ({"restitution": 0.3}, "no restitution"),
    ],
)
def test_impossible_materials_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        post_impact_set(particle([0.0, -1.0]), 1.0, 4, 10, **options)
