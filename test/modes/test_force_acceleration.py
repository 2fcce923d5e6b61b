"""J §2.6.1 and §2.8: force-acceleration complementarity with and without friction."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.mode_problems import (
    GRAVITY,
    flat_rows,
    foot,
    frictional_violation,
    frictionless,
    massless_leg,
    point_on_slope,
    random_problem,
    rod,
    seeds,
)
from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.modes.massless import massless_mode

pytestmark = pytest.mark.usefixtures("rounding")

counts = st.integers(0, 6)


@given(seeds, counts)
def test_johnson_theorem_1_force_form_is_the_acceleration_form(seed, count):
    problem = frictionless(seed, count)
    by_forces = massless_mode(problem, frozenset(range(count)), 1e-6)  # J 38, by enumeration
    by_acceleration = force_acceleration_mode(problem, range(count))  # J 39–40
    assert by_forces.status is by_acceleration.status is Status.SOLVED
    assert by_forces.unique
    assert by_forces.mode == by_acceleration.mode
    np.testing.assert_allclose(by_forces.forces, by_acceleration.forces, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(by_forces.acceleration, by_acceleration.acceleration, rtol=1e-5, atol=1e-5)


@given(seeds, counts, st.sampled_from([1, 2]), st.booleans())
@settings(max_examples=200)
@example(277, 3, 1, True)  # sweeps that diverge to infinity
def test_frictional_answer_satisfies_the_conditions_by_definition(seed, count, tangents, moving):
    problem = random_problem(seed, (1 + tangents) * count + 1, count, tangents, moving=moving)
    solution = force_acceleration_mode(problem, range(count))
    if solution.status is Status.SOLVED:
        scale = 1.0 + np.abs(solution.forces).max(initial=0.0) * (1.0 + np.abs(problem.mass).max())
        assert frictional_violation(problem, solution, range(count)) < 1e-5 * scale
    else:  # says so; moving contacts may jam (Painlevé), and then nothing is promised but numbers
        assert solution.status is Status.INACCURATE
        assert solution.residual > 0.0
        assert np.isfinite(solution.acceleration).all()


@given(seeds, st.integers(1, 4))
def test_planar_contacts_at_rest_always_have_an_answer(seed, count):
    problem = random_problem(seed, 2 * count + 1, count, tangents=1)
    assert force_acceleration_mode(problem, range(count)).status is Status.SOLVED


@given(seeds, st.integers(1, 4))
def test_solver_agrees_with_the_enumeration_of_all_planar_modes(seed, count):
    problem = random_problem(seed, 2 * count + 1, count, tangents=1)
    solved = force_acceleration_mode(problem, range(count))
    tried = force_acceleration_mode(problem, range(count), enumerate_all=True)
    assert tried.count >= 1
    assert tried.unique == (tried.count == 1)
    assert tried.mode == solved.mode
    np.testing.assert_array_equal(tried.contact_status, solved.contact_status)


@given(seeds, st.integers(0, 8))
def test_frictionless_modes_are_unique(seed, count):
    assert force_acceleration_mode(frictionless(seed, count), range(count), enumerate_all=True).unique


@pytest.mark.parametrize("tangents", [1, 2])
def test_block_on_a_slope_sticks_below_the_friction_angle_and_slides_above(tangents):
    friction = 0.5
    for excess, status in ((-1e-3, ContactStatus.STICKING), (1e-3, ContactStatus.SLIPPING)):
        angle = np.arctan(friction) + excess
        problem = point_on_slope(angle, friction, tangents=tangents)
        solution = force_acceleration_mode(problem, [0], enumerate_all=True)
        assert solution.unique
        assert solution.contact_status[0] == status
        np.testing.assert_allclose(solution.forces[0, 0], 2.0 * GRAVITY * np.cos(angle), rtol=1e-8)
        expected = min(0.0, -GRAVITY * (np.sin(angle) - friction * np.cos(angle)))
        np.testing.assert_allclose(solution.acceleration[0], expected, atol=1e-8)


def test_friction_opposes_the_velocity_of_a_sliding_block():
    for speed in (-1.0, 1.0):
        solution = force_acceleration_mode(point_on_slope(0.2, 0.5, speed), [0])
        assert solution.contact_status[0] == ContactStatus.SLIPPING
        np.testing.assert_allclose(solution.forces[0, 1], -np.sign(speed) * 0.5 * solution.forces[0, 0])


def test_rod_on_two_contacts_shares_its_weight_and_tips():
    problem = rod(force_at=0.25)
    forces = force_acceleration_mode(problem, [0, 1]).forces
    np.testing.assert_allclose(forces[:, 0], [0.25 * GRAVITY, 0.75 * GRAVITY], rtol=1e-7)
    tipping = force_acceleration_mode(rod(force_at=0.6), [0, 1])  # the weight is beyond the right contact
    assert tipping.mode == {1}
    assert tipping.contact_status[0] == ContactStatus.OPEN
    assert (flat_rows(problem)[0, 0] @ tipping.acceleration) > 0.0


def test_contact_that_just_carries_nothing_stays_closed():
    solution = force_acceleration_mode(rod(force_at=0.5), [0, 1])  # J's ⪰: ties close
    assert solution.mode == {0, 1}
    assert abs(solution.forces[0, 0]) < 1e-7


def test_redundant_contacts_of_a_flat_foot_share_the_least_force():
    solution = force_acceleration_mode(foot([0.0, 0.0, GRAVITY, 0.0, 0.0, 0.0]), range(4))
    assert solution.mode == {0, 1, 2, 3}
    room = 1e-5 * GRAVITY  # rounding over the regularisation
    np.testing.assert_allclose(solution.forces[:, 0], GRAVITY / 4, atol=room)
    np.testing.assert_allclose(solution.forces[:, 1:], 0.0, atol=room)
    np.testing.assert_allclose(solution.acceleration, 0.0, atol=1e-7 * GRAVITY)


@given(seeds)
@settings(max_examples=200)
def test_redundant_contacts_never_keep_a_sticking_foot_from_its_forces(seed):
    rng = np.random.default_rng(seed)
    bias = np.array([0.0, 0.0, GRAVITY, 0.0, 0.0, 0.0]) + rng.normal(size=6) * [0.5, 0.5, 0.5, 0.02, 0.02, 0.02]
    problem = foot(bias)
    solution = force_acceleration_mode(problem, range(4))
    assert solution.status is Status.SOLVED
    assert frictional_violation(problem, solution, range(4)) < 1e-5


@given(seeds)
def test_least_forces_of_redundant_contacts(seed):
    rng = np.random.default_rng(seed)
    bias = np.array([0.0, 0.0, GRAVITY, 0.0, 0.0, 0.0]) + rng.normal(size=6) * [0.1, 0.1, 0.1, 0.005, 0.005, 0.005]
    problem = foot(bias, friction=2.0)
    solution = force_acceleration_mode(problem, range(4))
    rows = problem.jacobian()
    delassus = np.diag(rows @ np.linalg.solve(problem.mass, rows.T)).reshape(4, 3)
    weight = np.sqrt(np.repeat(delassus.mean(axis=1), 3))  # Σ g_i ‖λ_i‖², as documented
    least = np.linalg.pinv(rows.T / weight) @ bias / weight
    np.testing.assert_allclose(solution.forces.reshape(-1), least, atol=1e-5)


@given(seeds)
def test_the_same_contact_twice_accelerates_the_robot_as_once(seed):
    once = random_problem(seed, 7, 2, tangents=2)
    twice = ContactProblem(
        once.mass,
        once.velocity,
        once.normal_jacobian[[0, 1, 1]],
        once.tangent_jacobian[[0, 1, 1]],
        once.friction[[0, 1, 1]],
        bias_force=once.bias_force,
        jacobian_drift=once.jacobian_drift[[0, 1, 1]],
    )
    first, second = (
        force_acceleration_mode(once, range(2), enumerate_all=True),
        force_acceleration_mode(twice, range(3)),
    )
    if first.unique and second.status is Status.SOLVED:
        assert frictional_violation(twice, second, range(3)) < 1e-4 * (1 + np.abs(second.forces).max())


def jammed(acceleration):
    """A contact sliding at 1 m/s whose friction pushes it in more than its normal force pushes it out."""
    mass = np.linalg.inv(np.array([[1.0, 0.9], [0.9, 1.0]]))
    return ContactProblem(
        mass, [0.0, 1.0], [[1.0, 0.0]], [[[0.0, 1.0]]], [2.0], bias_force=mass @ np.array([-acceleration, 0.0])
    )


def test_jammed_sliding_contact_is_reported_and_not_made_up():
    # Painlevé: G_nn − μ G_nt < 0, and the contact accelerates into the surface without force
    problem = jammed(-1.0)
    solution = force_acceleration_mode(problem, [0], enumerate_all=True)
    assert solution.status is Status.NONE_FOUND
    assert solution.count == 0
    assert not solution.unique
    assert force_acceleration_mode(problem, [0]).status is Status.INACCURATE


def test_non_uniqueness_is_reported():
    # The same jammed contact accelerating away: it may lift off, and it may also slide with a force
    solution = force_acceleration_mode(jammed(1.0), [0], enumerate_all=True)
    assert solution.count == 2
    assert solution.unique is False


def test_massless_leg_pushes_along_itself():
    solution = force_acceleration_mode(massless_leg(hip_torque=1.0), [0])
    # the hip torque on a massless leg appears whole at its foot: −1 N m / 0.5 m
    assert solution.mode == {0}
    np.testing.assert_allclose(solution.forces, [[3.0 * GRAVITY, -2.0]], atol=1e-9)
    np.testing.assert_allclose(solution.acceleration[:2], [-2.0 / 3.0, 0.0], atol=1e-9)
    slipping = force_acceleration_mode(massless_leg(friction=0.05, hip_torque=1.0), [0])
    assert slipping.mode == frozenset()  # out of the cone: removed (J §2.8), and the leg leaves the dynamics (A6)
    np.testing.assert_allclose(slipping.acceleration[:2], [0.0, -GRAVITY], atol=1e-9)


def test_forces_of_a_massless_leg_that_only_its_motion_asks_for_are_solved():
    """No force acts but rounding of zero; what the leg's turning asks for (J̇v) is the only measure of the answer."""
    plain = massless_leg()
    problem = ContactProblem(
        plain.mass, plain.velocity, plain.normal_jacobian, plain.tangent_jacobian, plain.friction,
        bias_force=[1e-17, -3e-17, 0.0], jacobian_drift=[[-2.0, 0.3]],
    )  # fmt: skip
    solution = massless_mode(problem, frozenset([0]), 1e-6)
    assert solution.status is Status.SOLVED and solution.mode == {0}
    np.testing.assert_allclose(solution.forces, [[6.0, 0.0]], atol=1e-9)


@pytest.mark.parametrize("tangents", [1, 2])
def test_no_contacts_leave_free_fall(tangents):
    problem = random_problem(0, 3, 0, tangents)
    for enumerate_all in (False, True):
        solution = force_acceleration_mode(problem, enumerate_all=enumerate_all)
        assert solution.mode == frozenset()
        np.testing.assert_allclose(problem.mass @ solution.acceleration, -problem.bias_force, atol=1e-9)


@given(seeds, st.floats(1e-4, 1e4))
@example(0, 1e4)
def test_mode_does_not_depend_on_the_units_of_force(seed, factor):
    problem = random_problem(seed, 9, 3, tangents=2)
    scaled = ContactProblem(
        factor * problem.mass,
        problem.velocity,
        problem.normal_jacobian,
        problem.tangent_jacobian,
        problem.friction,
        bias_force=factor * problem.bias_force,
        jacobian_drift=problem.jacobian_drift,
    )
    one, other = force_acceleration_mode(problem, range(3)), force_acceleration_mode(scaled, range(3))
    if (
        one.status is Status.SOLVED is other.status
        and force_acceleration_mode(problem, range(3), enumerate_all=True).unique
    ):
        np.testing.assert_array_equal(one.contact_status, other.contact_status)


def test_solution_has_forces_or_impulses_not_both():
    solution = force_acceleration_mode(rod(), [0, 1])
    with pytest.raises(AttributeError, match="force-acceleration"):
        _ = solution.impulses
    with pytest.raises(AttributeError):
        _ = solution.velocity


def test_too_many_contacts_for_an_enumeration_are_refused_and_solved_otherwise():
    problem = random_problem(5, 40, 12, tangents=2)
    assert np.isfinite(force_acceleration_mode(problem, range(12)).acceleration).all()
    with pytest.raises(ValueError, match="enumerated"):
        force_acceleration_mode(problem, range(12), enumerate_all=True)


def test_contacts_and_tolerances_of_a_wrong_kind_are_refused():
    problem = point_on_slope(0.2, 0.5)
    for touching in (0, "0", 1.5):
        with pytest.raises(ValueError, match="indices of contacts"):
            force_acceleration_mode(problem, touching)
    for value in (-1.0, np.nan):
        with pytest.raises(ValueError, match="slip_speed"):
            force_acceleration_mode(problem, [0], slip_speed=value)
        with pytest.raises(ValueError, match="tolerance"):
            force_acceleration_mode(problem, [0], tolerance=value)
