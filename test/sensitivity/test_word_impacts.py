"""The impacts of a word: their derivatives in closed form, and the saltation matrices whose product is its map."""

import numpy as np
import pytest

from helpers.mechanics_robots import random_state
from helpers.robot_systems import cube, example
from helpers.straight_systems import Flat, Standing, box
from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.gradients import differences, problem_gradient
from hybrid_contact_ros.sensitivity.touchdown import touchdown_saltation
from hybrid_contact_ros.sensitivity.word_impacts import UnsmoothError, course_of, derivative_of, resolved
from hybrid_contact_ros.sensitivity.words import touchdown_words
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox
from hybrid_contact_ros.systems.robot import RobotSystem

WORDS = {  # system, q, v, contacts, closed
    "friction": (flat := Flat(2, 3, 5, 0.3), np.zeros(5), flat.v, (0, 1, 2), ()),
    "restitution": (bouncy := Flat(3, 3, 4, 0.0, 0.4), np.zeros(4), bouncy.v, (0, 1, 2), ()),
    "a foot that stands": (stands := Standing(4, 3, 6, 0.3), np.zeros(6), stands.v, (1, 2), (0,)),
    "box": (box(), np.array([0.0, 0.11, 0.02]), np.array([0.1, -1.0, 0.0]), (0, 1), ()),
}


def mode_of(problem, resting):
    """Which of the resting contacts the forces hold, and which of these slide."""
    if not resting:
        return ContactMode()
    found = force_acceleration_mode(problem, sorted(resting))
    slides = [k for k in found.mode if found.contact_status[k] == ContactStatus.SLIPPING and problem.friction[k] > 0.0]
    against = {k: -found.forces[k, 1:] / np.linalg.norm(found.forces[k, 1:]) for k in slides}
    return ContactMode(found.mode, frozenset(slides), against)


@pytest.mark.parametrize("name", WORDS)
def test_a_words_matrix_is_the_product_of_the_saltation_matrices_of_its_touchdowns(name):
    system, q, v, contacts, closed = WORDS[name]
    words = touchdown_words(system, q, v, contacts, closed)
    compared = 0
    for word in words.words:
        if word.matrix is None or any(len(step.struck) > 1 for step in word.chain):
            continue
        v, matrix = words.v, np.eye(2 * len(words.v))
        mode = mode_of(system.problem(words.q, v), words.closed)
        for step in word.chain:
            problem = system.problem(words.q, v)
            course, after, _ = course_of(problem, sorted(mode.closed | step.struck), 1e-6)
            then = mode_of(system.problem(words.q, after), step.rests)
            (contact,) = step.struck
            jump = touchdown_saltation(system, words.q, v, contact, mode, then, course.closed_form(problem))
            matrix, v, mode = jump.required() @ matrix, after, then
        np.testing.assert_allclose(word.matrix, matrix, atol=1e-7 * np.abs(matrix).max())
        compared += 1
    assert compared >= 2


def landing_box():
    corners = [Corner(f"{x}{y}", x, y, (0.0, 1.0)) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    return PlanarBox(0.4, 0.2, 1.0, 0.3, corners, 0.4)


SYSTEMS = {
    "planar box": (landing_box, {"sticks", "slides", "bounces", "holds"}),
    "cube": (lambda: RobotSystem(cube()), {"slides", "bounces", "holds"}),
    "go2": (lambda: RobotSystem(example("go2", "go2_description/urdf/go2.urdf")), {"sticks", "slides"}),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_closed_form_of_an_impact_is_what_differences_of_its_course_approach(name):
    make, kinds = SYSTEMS[name]
    system, seen, compared = make(), set(), 0
    for seed in (*range(12), 29, 53):  # in the last two a contact keeps another from pressing it in
        rng = np.random.default_rng(seed)
        if isinstance(system, RobotSystem):
            q = random_state(system.model, seed, effort=False).q
            v = rng.normal(size=system.nv)
        else:
            q, v = rng.normal(size=3), rng.normal(size=3)
        scope = sorted(rng.choice(system.problem(q, v).contacts, 2, replace=False).tolist())
        v *= -np.sign((system.problem(q, v).normal_jacobian[scope] @ v).sum())  # one of them approaches at least
        problem = system.problem(q, v)
        try:
            course, after, _ = course_of(problem, scope, 1e-6)
        except UnsmoothError:
            continue
        if any(np.linalg.norm(course.after[k, 1:]) < 0.1 for k in course.slides):
            continue  # a slip that nearly ends bends too much for differences
        if len(course.sticks) == 2 and course.bounces and name != "go2":
            continue  # two points of one body that stick have no unique impulses, and these bounce

        def outcome(moved, system=system, q=q, v=v, course=course):
            dq, dv = moved.reshape(2, -1)
            there = system.integrate(q, dq) if isinstance(system, RobotSystem) else q + dq
            return resolved(system.problem(there, v + dv), course)[0]

        found, expected = derivative_of(problem_gradient(system, q, v), course), differences(outcome, 2 * len(v), 1e-4)
        np.testing.assert_allclose(found.velocity, after, atol=1e-9 * np.abs(v).max())
        np.testing.assert_allclose(found.velocity_state, expected, atol=1e-7 * np.abs(expected).max())
        seen |= {kind for kind in ("sticks", "slides", "bounces", "holds") if getattr(course, kind)}
        compared += 1
    assert compared >= 4 and seen >= kinds
