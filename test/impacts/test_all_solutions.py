"""All solutions of the impact LCPs: Halm (31), compass gait, RAMone, against brute force over complementary bases."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import KINDS, box, enumerate_lcp, halm_posa_lcp, random_problem
from helpers.rounding import terms
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.increments import increment_outcomes, reachable_outcomes
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.compass_gait import compass_gait, compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

pytestmark = pytest.mark.usefixtures("rounding")


def velocities(problem, W, w, impulse):
    """Distinct velocities of the complementary basic solutions."""
    found = []
    for z in enumerate_lcp(W, w, 1e-8):
        v = problem.velocity + np.linalg.solve(problem.mass, problem.jacobian().T @ impulse(z).ravel())
        if all(np.abs(v - other).max() > 1e-6 for other in found):
            found.append(v)
    return found


def rubbing(seed, m, d):
    """A random problem with so much friction that solutions are often several; every other one is a wide step."""
    rng = np.random.default_rng(seed)
    if (m, d) == (2, 1) and seed % 2:
        pitch, rate = np.radians(rng.uniform(72, 84, 2)), rng.uniform(0.1, 0.6, 2)
        standing = compass_gait(friction=rng.uniform(3, 8)).problem((0, 0, -pitch[0], pitch[1]), np.zeros(4))
        hip = -standing.jacobian()[[3, 2], 2:] @ rate  # the trailing foot rests
        return standing.with_velocity([*hip, *rate]), rng
    problem = random_problem(rng, "plain", m=m, d=d)
    return ContactProblem(
        problem.mass,
        problem.velocity,
        problem.normal_jacobian,
        problem.tangent_jacobian,
        rng.uniform(0.5, 6.0, m),
    ), rng


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 1), (1, 2), (2, 1)]), st.booleans())
def test_enumeration_agrees_with_brute_force_over_complementary_bases(seed, size, capped):
    problem, rng = rubbing(seed, *size)
    cap = rng.uniform(0, 1, size[0]) * (impulse_scale(problem) or 1.0) if capped else None
    expected = velocities(problem, *halm_posa_lcp(problem, cap, 4))
    found = simultaneous_impact(problem, all_solutions=True) if cap is None else increment_outcomes(problem, cap)
    assert found.complete
    scale = max(1.0, np.abs(problem.velocity).max())
    for v in expected:
        assert min(np.abs(v - one.velocity).max() for one in found) < 1e-6 * scale
    for one in found:
        assert found.continuum or min(np.abs(v - one.velocity).max() for v in expected) < 1e-6 * scale


def test_brute_force_sees_several_solutions_in_some_of_these_problems():
    """So that the test above is not about unique solutions only."""
    several = sum(len(simultaneous_impact(rubbing(seed, 2, 1)[0], all_solutions=True)) > 1 for seed in range(60))
    assert several >= 15


@settings(max_examples=80)
@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.sampled_from([(1, 2), (2, 1), (3, 1), (2, 2)]))
def test_every_solution_is_complementary_dissipative_and_does_not_penetrate(kind, seed, size):
    problem = random_problem(np.random.default_rng(seed), kind, *size)
    outcomes = simultaneous_impact(problem, 4, True)
    assert outcomes.complete
    speed = np.sqrt(problem.velocity @ problem.mass @ problem.velocity)
    chosen = simultaneous_impact(problem)
    assert outcomes.continuum or min(np.abs(chosen.velocity - one.velocity).max() for one in outcomes) < 1e-6
    for one in outcomes:
        assert one.status == Status.SOLVED
        assert one.residual < 1e-8
        assert one.velocity @ problem.mass @ one.velocity <= speed**2 * (1 + 1e-9) + 1e-15
        room = 1e-7 * terms(problem.normal_jacobian, np.abs(problem.velocity) + np.abs(one.velocity))
        assert (problem.normal_jacobian @ one.velocity >= -room).all()


def test_compass_gait_has_three_outcomes_trailing_foot_lifts_slides_or_sticks():
    """Halm Fig. 4b; A, the leading foot, comes to rest in all of them."""
    problem = compass_gait_impact().problem
    outcomes = simultaneous_impact(problem, all_solutions=True)
    assert (len(outcomes), outcomes.complete, outcomes.continuum) == (3, True, False)
    for one in outcomes:
        np.testing.assert_allclose((problem.jacobian() @ one.velocity)[:2], 0.0, atol=1e-9)
    normal, tangent = np.array([(problem.jacobian() @ one.velocity)[2:] for one in outcomes]).T
    lifts = normal > 1e-3
    sticks = ~lifts & (np.abs(tangent) < 1e-9)
    slides = ~lifts & ~sticks
    assert (lifts.sum(), slides.sum(), sticks.sum()) == (1, 1, 1)
    edge = outcomes[int(np.flatnonzero(slides)[0])].impulse[1]
    assert abs(edge[1]) == pytest.approx(5.0 * edge[0])


def test_ramone_has_the_same_three_outcomes_at_infinite_friction():
    """Remy (2017): sliding with infinite friction."""
    problem = ramone_impact().problem
    outcomes = simultaneous_impact(problem, all_solutions=True)
    assert (len(outcomes), outcomes.complete) == (3, True)
    u = np.array([problem.jacobian() @ one.velocity for one in outcomes])
    np.testing.assert_allclose(u[:, :2], 0.0, atol=1e-9)
    assert sorted((u[:, 2] > 1e-5) * 2 + (np.abs(u[:, 3]) > 1e-5)) == [0, 1, 3]


@pytest.mark.parametrize("published", [False, True])
def test_disks_have_one_simultaneous_outcome_rest(published):
    """Halm §5.4.5."""
    outcomes = simultaneous_impact(disk_stacking_impact(published).problem, all_solutions=True)
    assert (len(outcomes), outcomes.complete) == (1, True)
    np.testing.assert_allclose(disk_stacking_impact(published).problem.jacobian() @ outcomes[0].velocity, 0, atol=1e-9)


def test_redundant_contacts_share_impulses_but_have_one_velocity():
    problem = box(np.random.default_rng(0), 4).with_velocity([0, 0, -1.0, 0, 0, 0])
    outcomes = simultaneous_impact(problem, all_solutions=True)
    assert (len(outcomes), outcomes.complete, outcomes.continuum) == (1, True, False)
    np.testing.assert_allclose(outcomes[0].velocity, 0.0, atol=1e-9)


def test_a_continuum_of_velocities_is_flagged_and_given_by_its_ends():
    """A contact at the edge of jamming, 1 = μ a, that grazes at J_n v = 0: any impulse up to the one that stops it."""
    a, b = 2.0, 0.5
    problem = ContactProblem(np.eye(2), [0.0, 1.0], [[1.0, 0.0]], [[[a, b]]], [1.0 / a])
    outcomes = simultaneous_impact(problem, all_solutions=True)
    assert outcomes.continuum
    sliding = sorted(float(problem.tangent_jacobian[0, 0] @ one.velocity) for one in outcomes)
    np.testing.assert_allclose(sliding, [0.0, b], atol=1e-9)


def test_increment_with_one_cap_of_zero_is_that_of_the_other_contact():
    problem = compass_gait_impact().problem
    alone = increment_outcomes(problem.select([0]), [0.1])
    both = increment_outcomes(problem, [0.1, 0.0])
    assert len(alone) == len(both) == 1
    np.testing.assert_allclose(alone[0].velocity, both[0].velocity, atol=1e-12)
    assert not both[0].impulse[1].any()


@pytest.mark.parametrize("make", [rocking_block_impact, compass_gait_impact, ramone_impact])
def test_every_sample_is_among_what_its_draws_can_reach(make):
    example, rng = make(), np.random.default_rng(2)
    draws = example.step * rng.random((12, example.max_steps, 2))
    for seed in range(2):
        result = post_impact_set(example.problem, example.step, 12, example.max_steps, seed, maximum_impulses=draws)
        for i in range(12):
            reachable = reachable_outcomes(example.problem, draws[i])
            assert reachable.complete
            near = min(reachable, key=lambda one, i=i: np.abs(one.velocity - result.velocities[i]).max())
            np.testing.assert_allclose(near.velocity, result.velocities[i], atol=1e-7)
            assert (near.status == Status.SOLVED) == result.terminated[i]


def test_no_contacts_or_no_motion_have_one_outcome_the_velocity_itself():
    for problem in (
        rocking_block_impact().problem.select([]),
        rocking_block_impact().problem.with_velocity(np.zeros(3)),
    ):
        for found in (
            simultaneous_impact(problem, all_solutions=True),
            increment_outcomes(problem, np.ones(problem.contacts)),
            reachable_outcomes(problem, np.ones((3, problem.contacts))),
        ):
            assert len(found) == 1
            np.testing.assert_array_equal(found[0].velocity, problem.velocity)


@pytest.mark.parametrize("caps", [[1.0], [1.0, -1.0], [1.0, np.inf], [np.nan, 1.0]])
def test_wrong_caps_are_refused(caps):
    with pytest.raises(ValueError, match="maximum_impulse "):
        increment_outcomes(rocking_block_impact().problem, caps)


def test_the_shape_that_was_given_and_the_one_that_is_needed_are_named():
    problem = rocking_block_impact().problem.select([0])
    with pytest.raises(ValueError, match=re.escape("maximum_impulse has shape (3,), (1,) is needed")):
        increment_outcomes(problem, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=re.escape("maximum_impulses has shape (3,), (steps, 1) is needed")):
        reachable_outcomes(problem, [1.0, 2.0, 3.0])


def test_a_search_that_is_cut_says_so():
    problem = compass_gait_impact().problem
    search, space = SolutionSearch(ContactSpace(problem, 4)), ContactSpace(problem, 4)
    cut = search.all(space.w, np.full(2, np.inf), limit=3)
    assert not cut.complete
    assert len(cut.z) < 3
    whole = search.all(space.w, np.full(2, np.inf), limit=1000)
    assert whole.complete
    assert len(whole.z) == 3
