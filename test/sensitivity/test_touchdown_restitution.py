"""Touchdowns with restitution whose course is not given: the maps of ``variational_flow``, or a refusal."""

import numpy as np
import pytest
import sympy

from helpers.robot_systems import block, example
from helpers.straight_systems import Standing
from hybrid_contact_ros import Constraint, LagrangianSystem, saltation_matrix, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.robot import RobotSystem


def rod(friction, restitution, feet=("A",)):
    """A uniform rod of 2 m and 1 kg over the ground, one or both ends of which may touch it."""
    x, y, angle = sympy.symbols("x y theta")
    ends = []
    for name in feet:
        side = -1 if name == "A" else 1
        gap, slip = y + side * sympy.sin(angle), sympy.Matrix([[1, 0, -side * sympy.sin(angle)]])
        ends.append(Constraint(name, gap, (slip,), friction, restitution))
    return LagrangianSystem("rod", (x, y, angle), sympy.diag(1, 1, sympy.Rational(1, 3)), 9.81 * y, ends)


def landing_rod():
    return rod(5.0, 0.4), np.array([0.0, 0.05 + np.sin(0.9), 0.9]), np.array([0.3, -1.0, 0.2]), 0.08


def tilted_block():
    system = RobotSystem(block(friction=3.0, restitution=0.5))
    q = system.integrate(system.neutral(), np.array([0, 0, 0, 0.3, 0.2, 0.1]))
    q[2] += 0.02 - system.gap(q).min()
    return system, q, np.array([0.05, 0.02, -1.0, 0.1, 0.2, -0.1]), 0.03


def falling_go2():
    model = example("go2", "go2_description/urdf/go2.urdf")
    model.restitution[:] = 0.5
    model.friction[:] = 3.0
    system = RobotSystem(model)
    q = system.integrate(system.neutral(), np.r_[0, 0, 0, 0.1, 0.15, 0.0, np.zeros(12)])
    q[7:] = np.tile([0.0, 0.9, -1.8], 4)
    q[2] += 0.01 - system.gap(q).min()
    return system, q, np.r_[0, 0, -1.0, np.zeros(15)], 0.012


@pytest.mark.parametrize("make", [landing_rod, tilted_block, falling_go2])
def test_a_touchdown_with_restitution_has_the_map_of_the_variational_flow(make):
    system, q, v, time = make()
    execution = simulate(system, q, v, time)
    event, expected = execution.events[0], variational_flow(execution).saltations[0]
    (contact,) = event.contacts
    found = saltation_matrix(system, event.q, event.velocity_before, "touchdown", event.contacts)
    assert found.valid, found.why
    leaves = system.problem(event.q, found.velocity).normal_jacobian[contact] @ found.velocity
    assert leaves > 0.1
    np.testing.assert_allclose(found.velocity, event.velocity_after, atol=1e-9 * np.abs(event.velocity_after).max())
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-7 * np.abs(expected.matrix).max())
    assert found.lost == expected.lost


@pytest.mark.parametrize("friction", [0.0, 3.0])
def test_the_other_end_of_a_rod_that_lands_with_restitution_lifts_off_or_stays_as_in_simulate(friction):
    system = rod(friction, 0.3, ("A", "B"))
    q, v = np.array([np.cos(0.1), np.sin(0.1), 0.1]), np.array([np.sin(0.1), -np.cos(0.1), -1.0])
    v[0] *= friction > 0.0
    execution = simulate(system, q, v, 0.12, mode=[0])
    event, expected = execution.events[0], variational_flow(execution).saltations[0]
    assert event.contacts == {1} and event.before.closed == {0}
    found = saltation_matrix(system, event.q, event.velocity_before, "touchdown", 1, event.before)
    np.testing.assert_allclose(found.velocity, event.velocity_after, atol=1e-9)
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-7 * np.abs(expected.matrix).max())


def sliding_rod(friction, restitution):
    system = rod(friction, restitution)
    return system, np.array([0.0, np.sin(0.9), 0.9]), np.array([2.0, -1.0, 0.2])


def test_a_contact_that_slides_as_it_bounces_needs_its_course():
    system, q, v = sliding_rod(0.1, 0.4)
    found = saltation_matrix(system, q, v, "touchdown", 0)
    assert found.validity is Validity.UNEXPLAINED
    assert "contact 0 slides" in found.why and "give the course" in found.why
    course = ImpactCourse(frozenset({0}), sliding={0: np.ones(1)}, bounced=frozenset({0}))
    assert saltation_matrix(system, q, v, "touchdown", 0, course=course).valid


def test_a_bounce_with_friction_that_opens_a_closed_contact_needs_its_course():
    system = Standing(2, 2, 6, 1.0, 0.4)
    found = saltation_matrix(system, np.zeros(6), system.v, "touchdown", 1, before=[0])
    assert found.validity is Validity.UNEXPLAINED
    assert "contact 0 opens" in found.why and "give the course" in found.why


def test_a_mode_after_that_keeps_a_bouncing_contact_needs_its_course():
    system, q, v = sliding_rod(5.0, 0.4)
    found = saltation_matrix(system, q, v, "touchdown", 0, after=[0])
    assert found.validity is Validity.UNEXPLAINED and "give the course" in found.why
    assert saltation_matrix(system, q, v, "touchdown", 0, after=[0], course=ImpactCourse(frozenset({0}))).valid


def test_a_bounce_without_friction_is_differentiated_by_the_restitution():
    system, q, v = sliding_rod(0.0, 0.4)
    found = saltation_matrix(system, q, v, "touchdown", 0)
    more, less = (saltation_matrix(rod(0.0, e), q, v, "touchdown", 0).velocity for e in (0.401, 0.399))
    column = found.parameters.index(("restitution", 0))
    np.testing.assert_allclose(found.parameter_matrix[3:, column], (more - less) / 0.002, atol=1e-9)
