"""J §2.6–2.7: impulse-velocity complementarity and the pseudo-impulse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.mode_problems import GRAVITY, foot, frictionless, massless_leg, random_problem, rod, seeds
from helpers.rounding import terms
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
from hybrid_contact_ros.modes.pseudo_impulse import pseudo_impulse_mode

pytestmark = pytest.mark.usefixtures("rounding")

counts = st.integers(0, 5)


@given(seeds, counts)
def test_johnson_theorem_2_impulse_form_is_the_velocity_form(seed, count):
    problem = frictionless(seed, count, moving=True)
    solution = impulse_velocity_mode(problem, range(count))
    assert solution.status is Status.SOLVED
    assert solution.unique
    rate = problem.normal_jacobian @ solution.velocity  # J 51–52
    slow = 1e-8 * (terms(problem.normal_jacobian, problem.velocity) + terms(problem.normal_jacobian, solution.velocity))
    weak = 1e-8 * terms(problem.mass, problem.velocity).max()
    for i in range(count):
        if i in solution.mode:
            assert abs(rate[i]) < slow[i]
            assert solution.impulses[i, 0] > -weak
        else:
            assert rate[i] > -slow[i]
            assert solution.impulses[i, 0] == 0.0
    change = problem.mass @ (solution.velocity - problem.velocity)
    np.testing.assert_allclose(change, problem.normal_jacobian.T @ solution.impulses[:, 0], atol=10 * weak)


@given(seeds, counts)
def test_impact_never_adds_energy(seed, count):
    problem = frictionless(seed, count, moving=True)
    velocity = impulse_velocity_mode(problem, range(count)).velocity
    assert velocity @ problem.mass @ velocity <= problem.velocity @ problem.mass @ problem.velocity * (1 + 1e-9)


@given(seeds, counts, st.floats(0.0, 0.5))
def test_johnson_eq_59_pseudo_impulse_keeps_the_mode_of_the_impulse(seed, count, duration):
    problem = frictionless(seed, count, moving=True)
    solution = pseudo_impulse_mode(problem, range(count), duration)
    if solution.status is Status.SOLVED:  # its existence is J's Assumption A10
        assert impulse_velocity_mode(problem, range(count)).mode <= solution.mode


@given(seeds, counts)
def test_no_pseudo_impulse_without_duration(seed, count):
    problem = frictionless(seed, count, moving=True)
    assert pseudo_impulse_mode(problem, range(count), 0.0).mode == impulse_velocity_mode(problem, range(count)).mode


@given(seeds, st.floats(0.01, 100.0))
def test_johnson_lemma_10_mode_does_not_depend_on_the_speed(seed, factor):
    problem = frictionless(seed, 3, moving=True)
    # the first contact impacts, the others are closed already
    held = problem.normal_jacobian[1:]
    inverse = np.linalg.solve(problem.mass, held.T)
    velocity = problem.velocity - inverse @ np.linalg.solve(held @ inverse, held @ problem.velocity)
    slow = impulse_velocity_mode(problem.with_velocity(velocity), range(3))
    assert slow.mode == impulse_velocity_mode(problem.with_velocity(factor * velocity), range(3)).mode


def test_pseudo_impulse_holds_the_far_end_of_a_slow_rod_but_not_of_a_fast_one():
    for speed, held in ((0.01, True), (2.0, False)):
        # turning about the left end, the right end lands; the left one would lift
        problem = rod((-0.2, 0.2), friction=0.0, velocity=(0.0, -0.5 * speed, -2.5 * speed))
        assert impulse_velocity_mode(problem, [0, 1]).mode == {1}
        assert (0 in pseudo_impulse_mode(problem, [0, 1], 0.03).mode) == held


def test_pseudo_impulse_threshold_of_the_rod():
    # G = [1.48 0.52; 0.52 1.48] 1/kg, right end at speed 1: Λ in mode {0, 1} is −0.52/1.92 N s at the left end; the
    # weight puts g/2 on it, so that δt = (0.52/1.92) / (g/2) decides.
    problem = rod((-0.2, 0.2), friction=0.0, velocity=(0.0, -0.5, -2.5))
    threshold = (0.52 / 1.92) / (0.5 * GRAVITY)
    assert 0 in pseudo_impulse_mode(problem, [0, 1], 1.01 * threshold).mode
    assert 0 not in pseudo_impulse_mode(problem, [0, 1], 0.99 * threshold).mode


def test_impact_of_a_massless_leg():
    solution = impulse_velocity_mode(massless_leg(velocity=(0.4, -1.0, 2.0)), [0])
    assert solution.mode == {0}
    np.testing.assert_allclose(solution.impulses, [[3.0, 0.0]], atol=1e-12)
    away = impulse_velocity_mode(massless_leg(velocity=(0.4, 1.0, 2.0)), [0])
    assert away.mode == frozenset()  # J 50 needs no separation velocity
    assert away.status is Status.SOLVED


def test_massless_foot_that_can_slide_breaks_assumption_a5():
    solution = impulse_velocity_mode(massless_leg(velocity=(0.4, -1.0, 2.0)), [0], sliding=[0])
    assert solution.mode == frozenset()
    assert np.isfinite(solution.velocity).all()


def test_flat_foot_lands_on_all_its_corners():
    # redundant contacts (J Assumption A2 fails): the least impulses are equal here
    solution = impulse_velocity_mode(foot(np.zeros(6), velocity=(0.0, 0.0, -1.0, 0.0, 0.0, 0.0)), range(4))
    assert solution.mode == {0, 1, 2, 3}
    np.testing.assert_allclose(solution.impulses[:, 0], 0.25, atol=1e-12)
    np.testing.assert_allclose(solution.velocity, 0.0, atol=1e-12)


def test_scope_is_what_touches_and_does_not_separate():
    problem = random_problem(1, 4, 2, friction=0.0)
    rows = problem.normal_jacobian
    velocity = np.linalg.lstsq(rows, [-1.0, -1.0], rcond=None)[0]
    far = ContactProblem(problem.mass, velocity, rows, problem.tangent_jacobian, [0.0, 0.0], gap=[0.0, 0.1])
    assert impulse_velocity_mode(far).mode <= {0}


@given(st.floats(0.05, 1.2), st.floats(0.1, 5.0))
def test_sliding_without_normal_speed_is_an_impact_of_none(slope, speed):
    normal, along = np.array([-np.sin(slope), np.cos(slope)]), np.array([np.cos(slope), np.sin(slope)])
    problem = ContactProblem(np.eye(2), speed * along, [normal], [[along]], [0.0])  # J_n v⁻ = 0 up to rounding
    solution = impulse_velocity_mode(problem, [0])
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.velocity, problem.velocity, atol=1e-14 * speed)


@given(seeds)
def test_massless_legs_touch_down_without_impulse(seed):
    rng = np.random.default_rng(seed)
    mass = np.zeros((7, 7))
    mass[:3, :3] = np.diag(rng.uniform(0.1, 10.0, 3))
    rows = np.zeros((2, 2, 7))  # two legs of two joints, both feet with friction
    rows[:, :, :3] = rng.normal(size=(2, 2, 3))
    rows[0, :, 3:5], rows[1, :, 5:] = rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    problem = ContactProblem(mass, rng.normal(size=7), rows[:, 0], rows[:, 1:], [0.5, 2.0])
    solution = impulse_velocity_mode(problem, [0, 1])
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.velocity[:3], problem.velocity[:3], atol=1e-7)


def test_no_contacts_no_mode():
    solution = impulse_velocity_mode(random_problem(0, 3, 0, moving=True))
    assert solution.mode == frozenset()
    assert solution.unique


def test_bad_arguments_are_refused():
    problem = random_problem(0, 4, 2, moving=True)
    with pytest.raises(ValueError, match="numbered"):
        impulse_velocity_mode(problem, [2])
    with pytest.raises(ValueError, match="duration"):
        pseudo_impulse_mode(problem, [0], -1.0)
    with pytest.raises(ValueError, match="enumerated"):
        impulse_velocity_mode(random_problem(0, 20, 13), range(13), enumerate_all=True)


@pytest.mark.parametrize("space", [False, True])
def test_redundant_impulses_are_the_least_within_the_cones_and_so_those_of_mirror_images_are_mirrored(space):
    n = 3 if space else 2
    axes = np.eye(n)
    tangents = [[axes[1], *axes[2:]], [axes[0], *axes[2:]]]
    velocity = [-1.0, -1.0, -0.4][:n]
    problem = ContactProblem(np.eye(n), velocity, axes[:2], tangents, [0.5, 0.5])  # a corner of two walls
    solution = impulse_velocity_mode(problem, [0, 1])
    assert solution.mode == {0, 1} and solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.velocity, 0.0, atol=1e-12)
    np.testing.assert_allclose(solution.impulses[0], solution.impulses[1], atol=1e-12)
    # λ_n + λ_t = 1 at each wall with λ_t ≤ μ λ_n: 2/3 and 1/3; in space half of the fall along the edge besides
    rubs = np.sqrt(0.5**2 * solution.impulses[0, 0] ** 2 - (0.2 if space else 0.0) ** 2)
    assert solution.impulses[0, 1] == pytest.approx(rubs, rel=0.02 if space else 1e-9)
    if space:
        np.testing.assert_allclose(solution.impulses[:, 2], 0.2, atol=1e-12)


def test_redundant_impulses_of_an_uneven_hit_are_no_larger_than_others_that_do_the_same():
    problem = ContactProblem(np.eye(2), [-1.0, -0.8], np.eye(2), [[[0.0, 1.0]], [[1.0, 0.0]]], [0.5, 0.5])
    impulse = impulse_velocity_mode(problem, [0, 1]).impulses
    (a, b), (c, d) = impulse
    np.testing.assert_allclose([a + d, b + c], [1.0, 0.8], atol=1e-12)
    size = a * a + b * b + c * c + d * d
    for p in np.linspace(0.0, 1.0, 101):  # the normal impulses (p, r) with frictions (1 − p) at b and (0.8 − r) at a
        for r in np.linspace(0.0, 0.8, 81):
            if abs(0.8 - r) <= 0.5 * p and abs(1.0 - p) <= 0.5 * r:
                assert size <= p * p + r * r + (1.0 - p) ** 2 + (0.8 - r) ** 2 + 1e-9
