"""Pace's contact mode sequence (Definition 5) beside the word of an execution (Johnson): which modes count."""

import sympy

from hybrid_contact_ros import Constraint, LagrangianSystem, simulate
from hybrid_contact_ros.systems.ceiling import ceiling
from hybrid_contact_ros.systems.trotters import rigid_trotter, soft_trotter, soft_trotter_apex

NONE, FIRST, BOTH = frozenset(), frozenset({0}), frozenset({0, 1})


def point(friction=0.5, restitution=0.0):
    x, y = sympy.symbols("x y")
    ground = Constraint("ground", y, (sympy.Matrix([[1, 0]]),), friction, restitution)
    return LagrangianSystem("point", [x, y], sympy.eye(2), 9.81 * y, [ground])


def test_pace_definition_5_counts_only_modes_that_last():
    run = simulate(ceiling(), [0.0], [6.0], 1.0)
    assert run.word == ("{}", "{ceiling}", "{}")  # closed for no time
    assert run.mode_sequence == (NONE, NONE)  # before and after the activation
    run = simulate(rigid_trotter(), [0.0, 0.7, 1e-3], [0.0, 0.0, 0.0], 0.21)
    assert run.word == ("{}", "{left}", "{right}")
    assert run.mode_sequence == (NONE, FIRST, frozenset({1}))


def test_a_bounce_separates_two_equal_modes():
    run = simulate(point(restitution=0.5), [0.0, 0.1], [0.0, 0.0], 0.2)
    assert run.mode_sequence == (NONE, NONE)


def test_the_end_of_a_slip_is_no_activation():
    run = simulate(point(), [0.0, 0.1], [1.0, 0.0], 0.6)
    assert run.word == ("{}", "{ground~}", "{ground}")
    assert run.mode_sequence == (NONE, FIRST)


def test_the_soft_trotter_stands_on_both_legs_between_two_flights():
    assert simulate(soft_trotter(), *soft_trotter_apex(), 0.8).mode_sequence == (NONE, BOTH, NONE)
    tilted = simulate(soft_trotter(), *soft_trotter_apex(tilt=1e-3), 0.8).mode_sequence
    assert tilted[:3] == (NONE, FIRST, BOTH) and tilted[-1] == NONE and len(tilted) == 5
