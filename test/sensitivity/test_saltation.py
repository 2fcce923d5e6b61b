"""Saltation matrices at single events: closed forms, differences of the impact laws, ranks and refusals."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.mechanics_robots import random_state
from helpers.robot_systems import cube, example
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.gradients import differences, problem_gradient
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse, Turning, impact_derivative
from hybrid_contact_ros.sensitivity.saltation import Validity, saltation
from hybrid_contact_ros.sensitivity.touchdown import touchdown_saltation
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid
from hybrid_contact_ros.systems.painleve_rod import painleve_rod, rod_state
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop
from hybrid_contact_ros.systems.robot import RobotSystem
from hybrid_contact_ros.systems.rocking_block import rocking_block


@pytest.fixture(scope="module")
def go2():
    return RobotSystem(example("go2", "go2_description/urdf/go2.urdf"))


def touching(system, contact, seed):
    """A state of a robot in which one contact arrives at its surface, and no other is near."""
    rng = np.random.default_rng(seed)
    state = random_state(system.model, seed, effort=False)
    q, v = state.q.copy(), rng.normal(size=system.nv)
    for _ in range(3):
        problem = system.problem(q, v)
        row = problem.normal_jacobian[contact]
        q = system.integrate(q, -row * problem.gap[contact] / (row @ row))
    problem = system.problem(q, v)
    row = problem.normal_jacobian[contact]
    v -= row * (row @ v + 1.0) / (row @ row)
    return q, v


def test_the_ball_of_underactuated_robotics_example_17_2():
    # Ξ = [[−e, 0], [(1 + e) g/ẏ⁻·(−1), −e]] of a ball that bounces vertically, with ẏ⁻ < 0
    e, g, speed = 0.8, 9.81, -3.0
    reset = np.diag([1.0, -e])
    jump = saltation(reset, np.array([1.0, 0.0]), np.array([speed, -g]), np.array([-e * speed, -g]))
    np.testing.assert_allclose(jump.matrix, [[-e, 0.0], [-(1.0 + e) * g / speed, -e]], rtol=1e-14)
    assert jump.rank() == 2
    assert jump.time[0] == pytest.approx(-1.0 / speed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("friction", [0.0, 10.0])
def test_plastic_impact_of_a_quadruped_has_the_derivative_of_plastic_impact(go2, seed, friction):
    q, v = touching(go2, 1, seed)
    course = ImpactCourse(frozenset({1, 2}), frozenset() if friction else frozenset({1, 2}))

    def after(change):
        moved = go2.problem(go2.integrate(q, change[:18]), v + change[18:])
        return plastic_impact(moved, {1, 2}, course.smooth).velocity

    found = impact_derivative(problem_gradient(go2, q, v), course)
    np.testing.assert_allclose(found.velocity, after(np.zeros(36)), atol=1e-9)
    errors = [np.abs(differences(after, 36, step) - found.velocity_state).max() for step in (8e-3, 4e-3)]
    assert errors[1] < 1e-4 * np.abs(found.velocity_state).max()
    assert np.log2(errors[0] / errors[1]) > 3.5


def sliding_impact(problem, contact, direction, e, newton):
    """v⁺ of one contact at the edge of its cone, written down directly."""
    row = problem.normal_jacobian[contact]
    push = row - problem.friction[contact] * (direction @ problem.tangent_jacobian[contact])
    flexible = np.linalg.solve(problem.mass, push)
    impulse = -(row @ problem.velocity) / (row @ flexible)
    if newton:
        return problem.velocity + (1.0 + e) * impulse * flexible
    return problem.velocity + impulse * flexible + e * impulse * np.linalg.solve(problem.mass, row)


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("turning", [Turning.FIXED, Turning.BEFORE])
def test_sliding_impact_with_restitution_has_the_derivative_of_its_law(newton, turning):
    system = RobotSystem(cube())
    q, v = touching(system, 0, 4)
    e = float(system.restitution[0])
    assert e > 0.0
    first = system.problem(q, v)
    slip = first.tangent_jacobian[0] @ v
    fixed = slip / np.linalg.norm(slip)
    course = ImpactCourse(frozenset({0}), sliding={0: fixed}, bounced=frozenset({0}), turning=turning, newton=newton)

    def after(change):
        moved = system.problem(system.integrate(q, change[:6]), v + change[6:])
        slip = moved.tangent_jacobian[0] @ moved.velocity
        return sliding_impact(moved, 0, fixed if turning is Turning.FIXED else slip / np.linalg.norm(slip), e, newton)

    found = impact_derivative(problem_gradient(system, q, v), course)
    np.testing.assert_allclose(found.velocity, after(np.zeros(12)), atol=1e-12)
    np.testing.assert_allclose(
        found.velocity_state, differences(after, 12), atol=1e-8 * np.abs(found.velocity_state).max()
    )


@pytest.mark.parametrize("newton", [False, True])
def test_friction_and_restitution_have_columns_of_their_own(newton):
    system = RobotSystem(cube())
    q, v = touching(system, 0, 4)
    first = system.problem(q, v)
    slip = first.tangent_jacobian[0] @ v
    course = ImpactCourse(
        frozenset({0}), sliding={0: slip / np.linalg.norm(slip)}, bounced=frozenset({0}), newton=newton
    )
    mu, e = first.friction[0], first.restitution[0]

    def after(change):
        moved = first.replace(friction=first.friction + change[0])
        return sliding_impact(moved, 0, course.sliding[0], e + change[1], newton)

    found = impact_derivative(problem_gradient(system, q, v), course)
    columns = np.column_stack((found.velocity_friction[:, 0], found.velocity_restitution[:, 0]))
    assert mu > 0.01
    np.testing.assert_allclose(columns, differences(after, 2), atol=1e-9 * np.abs(columns).max())


def test_friction_that_follows_the_slip_after_the_impact():
    # Coulomb's law on the whole impulse is implicit: it is solved by Newton's method here, to rounding.
    system = RobotSystem(cube())
    q, v = touching(system, 0, 4)

    def solve(problem):
        slip = problem.tangent_jacobian[0] @ problem.velocity
        direction = slip / np.linalg.norm(slip)
        for _ in range(200):
            velocity = sliding_impact(problem, 0, direction, 0.0, False)
            slip = problem.tangent_jacobian[0] @ velocity
            direction = slip / np.linalg.norm(slip)
        return sliding_impact(problem, 0, direction, 0.0, False), direction

    weak = np.full(8, 0.05)
    start = system.problem(q, v).replace(friction=weak[: system.contacts])
    direction = solve(start)[1]

    def after(change):
        moved = system.problem(system.integrate(q, change[:6]), v + change[6:])
        return solve(moved.replace(friction=start.friction))[0]

    class Slippery:
        def __init__(self):
            self.inner = problem_gradient(system, q, v)
            self.problem = start

        def __getattr__(self, name):
            return getattr(self.inner, name)

    course = ImpactCourse(frozenset({0}), sliding={0: direction}, turning=Turning.AFTER)
    found = impact_derivative(Slippery(), course)
    np.testing.assert_allclose(found.velocity, after(np.zeros(12)), atol=1e-12)
    np.testing.assert_allclose(
        found.velocity_state, differences(after, 12), atol=1e-8 * np.abs(found.velocity_state).max()
    )


def test_plastic_touchdown_of_a_quadruped_loses_its_closed_rows_and_the_gap(go2):
    q, v = touching(go2, 1, 0)
    course = ImpactCourse(frozenset({1}))
    found = touchdown_saltation(go2, q, v, 1, course=course)
    assert found.valid
    assert found.lost == (
        "normal velocity of contact 1",
        "slip 1 of contact 1",
        "slip 2 of contact 1",
        "gap of contact 1",
    )
    assert found.rank() == 36 - 4
    row = go2.problem(q, v).normal_jacobian[1]
    # What arrives is on the surface and stays there, whatever the perturbation.
    np.testing.assert_allclose(row @ found.matrix[:18], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.time[:18], -row / (row @ v), atol=1e-12)


def test_raising_the_ground_is_lowering_the_robot(go2):
    # The law feels the height of the base by its gaps alone: to raise the ground by ε is to lower the robot by ε until
    # after the event, and to lift it again.
    q, v = touching(go2, 1, 0)
    found = touchdown_saltation(go2, q, v, 1, course=ImpactCourse(frozenset({1})))
    turned = go2.model.coordinates.full_position(q)[3:7]
    lift = np.zeros(36)
    lift[:3] = pin.Quaternion(turned).toRotationMatrix().T[:, 2]
    column = found.parameters.index(("height", 1))
    np.testing.assert_allclose(found.parameter_matrix[:, column], lift - found.apply(lift), atol=1e-10)
    assert found.parameter_time[column] == pytest.approx(-found.time @ lift)


@settings(max_examples=30)  # sympy derives a system for each
@given(st.floats(0.0, 1.0), st.floats(-2.0, 2.0), st.floats(0.3, 3.0))
def test_a_frictionless_bounce_on_a_curve_keeps_what_restitution_keeps(e, x, speed):
    # det Ξ of a bounce: volumes of the phase space shrink by e² (velocity and time between bounces), so rank is 4 or 2
    system = ball_on_sinusoid(restitution=e)
    q, v = np.array([x, np.sin(x)]), np.array([0.4, 0.4 * np.cos(x) - speed])
    course = ImpactCourse(frozenset({0}), bounced=frozenset({0}) if e > 0.0 else frozenset())
    found = touchdown_saltation(system, q, v, 0, course=course)
    assert found.valid
    assert np.linalg.det(found.matrix) == pytest.approx(e**2, abs=1e-9)


@pytest.mark.parametrize("case", ["above", "below", "leaving", "grazing", "closed", "pulls", "nan"])
def test_states_without_a_touchdown_are_refused(case):
    system = ball_on_sinusoid()
    q, v, before, why = np.array([0.3, np.sin(0.3)]), np.array([0.0, -1.0]), ContactMode(), Validity.NOT_TOUCHING
    if case in ("above", "below"):
        q[1] += {"above": 1e-3, "below": -1e-3}[case]
    elif case == "leaving":
        v[1] = 1.0
    elif case == "grazing":
        v[:], why = (1.0, np.cos(0.3)), Validity.GRAZING
    elif case == "closed":
        before = ContactMode(frozenset({0}))
    elif case == "pulls":
        # turning about its corner B, the slender block lands on A, and B would have to be held down
        system, q, v = rocking_block(), np.array([0.0, 1.0, 0.0]), np.array([-1.0, -0.5, 1.0])
        before, why = ContactMode(frozenset({1})), Validity.UNEXPLAINED
    else:
        v[0], why = np.nan, None
    if case == "nan":
        with pytest.raises(ValueError, match="finite"):
            touchdown_saltation(system, q, v, 0, before)
        return
    found = touchdown_saltation(system, q, v, 0, before)
    assert found.validity is why and found.why
    assert found.matrix is None and not found.valid
    with pytest.raises(ValueError, match="no saltation matrix"):
        found.apply(np.zeros(4))


def test_a_perturbation_of_another_size_is_refused():
    found = touchdown_saltation(pendulum_with_stop(), [0.3, 0.0], [0.2, -1.0], 0)
    with pytest.raises(ValueError, match="shape"):
        found.apply(np.zeros(3))


def test_a_painleve_rod_that_lands_and_sticks():
    q, v = rod_state(1.2, 0.3, 0.1)
    v[1] -= 1.0
    found = touchdown_saltation(painleve_rod(friction=5.0), q, v, 0)
    assert found.valid and found.rank() == 3
    assert len(found.lost) == 3
