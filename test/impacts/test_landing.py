"""Sets in arrays that are used again, by compiled calls: those of ``post_impact_set``, whatever was computed before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import KINDS, random_problem
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.landing import Landing
from hybrid_contact_ros.impacts.restitution import Material
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.slip_axes import along_slip

SAMPLES, STEP, STEPS, SEED = 24, 0.7, 40, 3
LAWS = {
    "inelastic": {},
    "poisson": {"friction": (0.2, 0.6)},
    "stronge": {"restitution": (0.3, 0.9)},
}
kinds, seeds = st.sampled_from(KINDS), st.integers(0, 2**32 - 1)


def problem_of(kind, seed):
    return random_problem(np.random.default_rng(seed), kind)


def landing_at(problem, law):
    material = None
    if law != "inelastic":
        ranges = {"restitution": None, "friction": None} | LAWS[law]
        material = Material(problem, law, **ranges, common=True)
    return Landing(problem, 4, STEP, STEPS, material)


def landed(landing, problem):
    rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
    landing.prepare(problem.mass, rows, problem.velocity, np.arange(problem.contacts), SEED)
    return landing.gather(landing.sample(SAMPLES if landing.unit else 1, None, False))


def same(problem, landing):
    """The problem with the very rows that the landing has."""
    rows = landing.rows.reshape(problem.contacts, 1 + problem.tangents, problem.nv)
    return problem.replace(normal_jacobian=rows[:, 0], tangent_jacobian=rows[:, 1:])


@given(kinds, seeds)
def test_the_first_tangent_is_along_the_slip(kind, seed):
    problem = problem_of(kind, seed)
    landing = landing_at(problem, "inelastic")
    landed(landing, problem)
    turned, _ = along_slip(problem)
    assert np.allclose(landing.rows, turned.jacobian(), rtol=0.0, atol=1e-9 * np.abs(problem.jacobian()).max())


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=60)
@given(kinds, seeds)
def test_it_is_the_set_of_these_rows_to_the_bit_in_units_of_the_largest_impulse(law, kind, seed):
    problem = problem_of(kind, seed)
    landing = landing_at(problem, law)
    found = landed(landing, problem)
    problem = same(problem, landing)
    nominal = simultaneous_impact(problem)
    assert landing.nominal.tobytes() == nominal.velocity.tobytes()
    assert (landing.nominal_status, landing.nominal_residual) == (nominal.status, nominal.residual)
    together = nominal.impulse[:, 0].max() if nominal.status == Status.SOLVED else 0.0
    alone = impulse_scale(problem)
    assert landing.unit == pytest.approx(min(max(alone, together), 100.0 * alone), rel=1e-12)
    if landing.unit == 0.0:
        assert found.velocities.tobytes() == problem.velocity.tobytes()
        return
    whole = post_impact_set(problem, STEP * landing.unit, SAMPLES, STEPS, SEED, law=law, **LAWS[law])
    for name in ("velocities", "impulses", "terminated", "lower", "upper"):
        assert getattr(found, name).tobytes() == getattr(whole, name).tobytes()
    assert (found.coverage, found.coverage_radius, found.residual) == (
        whole.coverage,
        whole.coverage_radius,
        whole.residual,
    )


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=40)
@given(kinds, seeds, st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=3))
def test_what_was_computed_before_in_the_same_arrays_changes_no_bit(law, kind, seed, others):
    problem = problem_of(kind, seed)
    used = landing_at(problem, law)
    for other in others:
        rng = np.random.default_rng(other)
        before = problem.replace(mass=problem.mass * rng.uniform(0.5, 2.0), velocity=rng.normal(size=problem.nv))
        landed(used, before)
    again, fresh = landed(used, problem), landed(landing_at(problem, law), problem)
    for name in ("velocities", "impulses", "terminated", "lower", "upper"):
        assert getattr(again, name).tobytes() == getattr(fresh, name).tobytes()
    assert again.coverage == fresh.coverage and again.energy == fresh.energy


@given(kinds, seeds)
def test_kinetic_energies_are_those_of_the_velocities(kind, seed):
    problem = problem_of(kind, seed)
    found = landed(landing_at(problem, "stronge"), problem)
    energies = 0.5 * np.einsum("si,ij,sj->s", found.velocities, problem.mass, found.velocities)[found.terminated]
    before = 0.5 * problem.velocity @ problem.mass @ problem.velocity
    terms = 0.5 * np.abs(problem.velocity) @ np.abs(problem.mass) @ np.abs(problem.velocity)
    assert found.energy[0] == pytest.approx(before, abs=1e-12 * terms)
    if energies.size:
        assert found.energy[1:] == pytest.approx((energies.min(), energies.max()), abs=1e-9 * terms)
    else:
        assert np.isnan(found.energy[1:]).all()


def test_contacts_are_picked_by_their_places_and_a_singular_mass_has_no_set():
    problem = problem_of("plain", 5)
    while problem.contacts < 4:
        problem = problem_of("plain", problem.contacts + 20)
    chosen = np.array([3, 1])
    landing = landing_at(problem.select(chosen), "inelastic")
    rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
    landing.prepare(problem.mass, rows, problem.velocity, chosen, SEED)
    picked = landing.gather(landing.sample(SAMPLES, None, False))
    alone = landed(landing_at(problem.select(chosen), "inelastic"), problem.select(chosen))
    assert picked.velocities.tobytes() == alone.velocities.tobytes()
    massless = ContactProblem(
        np.diag([1.0, 0.0]), [0.0, -1.0], problem.normal_jacobian[:1, :2], problem.tangent_jacobian[:1, :, :2], [0.5]
    )
    landing = landing_at(massless, "inelastic")
    rows = massless.jacobian().reshape(1, 1 + massless.tangents, 2)
    landing.prepare(massless.mass, rows, massless.velocity, np.arange(1), SEED)
    assert landing.status == Status.SINGULAR and landing.unit == 0.0
    assert landing.nominal.tobytes() == massless.velocity.tobytes()
