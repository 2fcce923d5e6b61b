"""Simultaneous impacts of the public repository apace2/20-mechanical-simultaneous-impact (Pace's dissertation, ch. 3).

The biped is that of ``biped/Biped.py`` and ``biped/salt_calc.py``: body and feet of 1 kg, hips 1/4 m from the
middle, springs of 27 N/m and 1/2 m to the feet, g = 1, plastic impacts; all fall at 1 m/s as both feet land. In
``PCrBiped`` a flywheel turns the body with 1.5 (ż_l − ż_r)². The double pendulum is ``pendulum/DP_PCr_salt.py``:
l = 1/2 and 2/7 m, 1 kg, e = 0.3, ρ̇ = (−1, 1), stops at θ1 ≥ 0 and θ2 ≤ arccos(−2/3), no gravity; its links have the
inertia m l²/3 about their middle, so that the two stops are orthogonal in M⁻¹. ``pendulum/DecoupledDP.py`` joins two
links by a spring instead, which is at rest as they hit. Closed forms are derived here by hand.
"""

from functools import cache
from math import acos, sqrt

import numpy as np
import pytest
import sympy

from hybrid_contact_ros import Constraint, LagrangianSystem, saltation_matrix, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse
from hybrid_contact_ros.sensitivity.words import touchdown_words

E = 0.3
STOP = acos(-2.0 / 3.0)
TORQUE = 1.5
ZL, ZR, SPIN = 4, 5, 13  # heights of the feet and rate of the body's turn, in the biped's (q, v)


def biped(torque):
    """q = (x_b, x_l, x_r, z_b, z_l, z_r, θ); contact 0 is the left foot."""
    symbols = sympy.symbols("xb xl xr zb zl zr theta")
    xb, xl, xr, zb, zl, zr, theta = symbols
    potential = zb + zl + zr
    for hip, x, z in ((-0.25, xl, zl), (0.25, xr, zr)):
        across, up = xb + hip * sympy.cos(theta) - x, zb + hip * sympy.sin(theta) - z
        potential += 27 * (sympy.sqrt(across**2 + up**2) - 0.5) ** 2 / 2

    def flywheel(time, q, v, mode):
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, torque * (v[4] - v[5]) ** 2]

    feet = [Constraint("left", zl), Constraint("right", zr)]
    return LagrangianSystem("biped", symbols, sympy.eye(7), potential, feet, flywheel)


def double_pendulum():
    """q = (θ1, θ2), θ2 relative to the first link; M of Murray, Li and Sastry, §4.2.3, with I = m l²/3."""
    first, second = sympy.symbols("theta1 theta2")
    l1, l2 = sympy.Rational(1, 2), sympy.Rational(2, 7)
    a = (l1**2 + l2**2) / 3 + (l1 / 2) ** 2 + l1**2 + (l2 / 2) ** 2
    b, d = l1 * l2 / 2, l2**2 / 3 + (l2 / 2) ** 2
    coupling = d + b * sympy.cos(second)
    inertia = sympy.Matrix([[a + 2 * b * sympy.cos(second), coupling], [coupling, d]])
    stops = [Constraint("first", first, restitution=E), Constraint("second", STOP - second, restitution=E)]
    return LagrangianSystem("double pendulum", (first, second), inertia, sympy.Integer(0), stops)


def decoupled_pendulum():
    """q = (θ1, x2, y2, θ2): a spring of 1 N/m, without length, joins the links."""
    symbols = sympy.symbols("theta1 x2 y2 theta2")
    first, x, y, second = symbols
    l1, l2 = sympy.Rational(1, 2), sympy.Rational(2, 7)
    across = x - l2 / 2 * sympy.cos(second) - l1 * sympy.cos(first)
    up = y - l2 / 2 * sympy.sin(second) - l1 * sympy.sin(first)
    inertia = sympy.diag(sympy.Rational(7, 48), 1, 1, sympy.Rational(1, 147))
    stops = [Constraint("first", first, restitution=E), Constraint("second", STOP - second, restitution=E)]
    return LagrangianSystem("decoupled pendulum", symbols, inertia, (across**2 + up**2) / 2, stops)


LANDING = (np.array([0.0, -0.25, 0.25, 0.5, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, -1.0, -1.0, -1.0, 0.0]))
HIT = (np.array([0.0, STOP]), np.array([-1.0, 1.0]))
APART = (np.array([0.0, 0.5 - 2.0 / 21.0, sqrt(5.0) / 21.0, STOP]), np.array([-1.0, 0.0, -0.5, 1.0]))
CASES = {
    "decoupled biped": (lambda: biped(0.0), *LANDING),
    "biped with a flywheel": (lambda: biped(TORQUE), *LANDING),
    "double pendulum": (double_pendulum, *HIT),
    "decoupled pendulum": (decoupled_pendulum, *APART),
}
ORDERS = [(0, 1), (1, 0)]
EXACT = {"rtol": 1e-12, "atol": 1e-14, "gap_tolerance": 1e-13}


@cache
def case(name):
    """A system with its state at the corner."""
    made, q, v = CASES[name]
    return made(), q, v


def selection(name, order):
    """Ξ of the contacts in this order, v⁺, and the contacts that stay closed."""
    system, q, v = case(name)
    matrix, closed = np.eye(2 * len(v)), frozenset()
    for i in order:
        bounces = system.restitution[i] > 0.0
        course = ImpactCourse(closed | {i}, bounced=frozenset({i} if bounces else ()))
        found = saltation_matrix(system, q, v, "touchdown", i, closed, course=course)
        matrix, v = found.apply(matrix), found.velocity
        closed |= frozenset(() if bounces else {i})
    return matrix, v, closed


def test_both_orders_of_the_decoupled_biped_have_exactly_the_same_matrix():
    # Gravity apart no force acts at the corner, so each touchdown takes its foot's height and speed to zero. Numbers
    # on the way are small multiples of 1/4, hence nothing is rounded.
    first, second = (selection("decoupled biped", order)[0] for order in ORDERS)
    np.testing.assert_array_equal(first, second)
    expected = np.eye(14)
    expected[[ZL, ZR, ZL + 7, ZR + 7]] = 0.0
    np.testing.assert_allclose(first, expected, atol=1e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_the_flywheel_turns_the_body_by_the_time_between_the_touchdowns(order):
    # Between two touchdowns at 1 m/s the torque is 1.5 for as long as heights are apart: ω⁺ = 1.5 |z_l − z_r|.
    matrix, after, _ = selection("biped with a flywheel", order)
    expected = np.eye(14)
    expected[[ZL, ZR, ZL + 7, ZR + 7]] = 0.0
    expected[SPIN, [(ZL, ZR)[i] for i in order]] = -TORQUE, TORQUE
    np.testing.assert_allclose(matrix, expected, atol=1e-14)
    np.testing.assert_allclose(after, [0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0], atol=1e-14)


def test_the_selections_of_the_flywheel_differ_by_the_formula_of_the_docs():
    # [F_ij − R_ij (F_i + F_j − F_∅)] ⊗ (Da_i/Da_iρ̇ − Da_j/Da_jρ̇): torques 0 − (1.5 + 1.5 − 0), speeds −1 of both feet
    first, second = (selection("biped with a flywheel", order)[0] for order in ORDERS)
    expected = np.zeros((14, 14))
    expected[SPIN, [ZL, ZR]] = -2.0 * TORQUE, 2.0 * TORQUE
    np.testing.assert_allclose(first - second, expected, atol=1e-14)


def pendulum_selections():
    """Ξ of both orders by hand, in (θ1, θ2, θ̇1, θ̇2).

    At the corner M = diag(39/112, 1/21) and ∂M12/∂θ2 = −β, ∂M11/∂θ2 = −2β with β = √5/42, so that between impacts
    θ̈1 = A (2 θ̇1 θ̇2 + θ̇2²) and θ̈2 = −B θ̇1² with A = 112β/39 = 8√5/117 and B = 21β = √5/2. The impact of stop 1 gives
    θ̇1⁺ = −e θ̇1 and θ̇2⁺ = θ̇2 + (1 + e) M12/M22 θ̇1, that of stop 2 θ̇2⁺ = −e θ̇2 and θ̇1⁺ = θ̇1 + (1 + e) M12/M11 θ̇2.
    """
    a, b = 8.0 * sqrt(5.0) / 117.0, sqrt(5.0) / 2.0

    def one(u, v):
        return np.array([
            [-E, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [a * (1 + E) * v * v / u, 0.0, -E, 0.0],
            [b * (1 + E) * ((1 - E) * u + v), -b * (1 + E) * u, 0.0, 1.0],
        ])  # fmt: skip

    def two(u, v):
        return np.array([
            [1.0, 0.0, 0.0, 0.0],
            [0.0, -E, 0.0, 0.0],
            [0.0, a * (1 + E) * ((E - 1) * v - 2 * u), 1.0, 0.0],
            [0.0, -b * (1 + E) * u * u / v, 0.0, -E],
        ])  # fmt: skip

    return two(E, 1.0) @ one(-1.0, 1.0), one(-1.0, -E) @ two(-1.0, 1.0)


def test_the_stops_of_the_double_pendulum_are_orthogonal():
    system, q, v = case("double pendulum")
    problem = system.problem(q, v)
    np.testing.assert_allclose(problem.mass, np.diag([39.0 / 112.0, 1.0 / 21.0]), atol=1e-15)
    np.testing.assert_allclose(problem.gap, 0.0, atol=1e-14)  # sympy writes 15 digits


@pytest.mark.parametrize("which", [0, 1])
def test_the_double_pendulum_has_the_matrices_that_are_derived_by_hand(which):
    matrix, after, _ = selection("double pendulum", ORDERS[which])
    np.testing.assert_allclose(matrix, pendulum_selections()[which], atol=1e-13)
    np.testing.assert_allclose(after, [E, -E], atol=1e-15)


def test_the_selections_of_the_double_pendulum_differ_by_a_matrix_of_rank_one():
    # (1 + e)(1 − e²) (0, 0, −A, B) ⊗ (1, 1, 0, 0): none where both stops are hit together, θ1 = −θ2.
    first, second = (selection("double pendulum", order)[0] for order in ORDERS)
    jump = np.array([0.0, 0.0, -8.0 * sqrt(5.0) / 117.0, sqrt(5.0) / 2.0])
    expected = 1.183 * np.outer(jump, [1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(first - second, expected, atol=1e-13)


def test_both_orders_of_the_decoupled_pendulum_reverse_angles_and_speeds():
    for order in ORDERS:
        matrix = selection("decoupled pendulum", order)[0]
        np.testing.assert_allclose(matrix, np.diag([-E, 1.0, 1.0, -E] * 2), atol=1e-13)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", CASES)
def test_words_of_touchdowns_have_the_same_matrices(name, order):
    system, q, v = case(name)
    words = touchdown_words(system, q, v, [0, 1]).words
    found = [word for word in words if [set(step.struck) for step in word.chain] == [{i} for i in order]]
    assert len(words) == 2 and len(found) == 1
    matrix, after, _ = selection(name, order)
    np.testing.assert_allclose(found[0].matrix, matrix, atol=1e-8)
    np.testing.assert_allclose(found[0].velocity, after, atol=1e-12)


def deviation(name, order):
    """δx beside the corner whose contacts arrive after 1 and 2 units of time: their speeds are 1."""
    system, q, v = case(name)
    rows, n = system.problem(q, v).normal_jacobian, len(v)
    change = np.random.default_rng(5).normal(size=2 * n)
    for delay, i in enumerate(order, 1):
        change[:n] += rows[i] * (delay - rows[i] @ change[:n])
    return change


def beside(name, order, size):
    """The system, and the state that is ``size`` times the deviation from the corner."""
    system, q, v = case(name)
    change = size * deviation(name, order)
    return system, q + change[: len(v)], v + change[len(v) :]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", CASES)
def test_each_selection_misses_simulate_by_the_square_of_the_deviation(name, order):
    (matrix, after, closed), change, errors = selection(name, order), deviation(name, order), []
    corner = case(name)[1]
    for size in (4e-4, 2e-4):
        moved = simulate(*beside(name, order, size), 4.0 * size, **EXACT)
        there = simulate(case(name)[0], corner, after, 4.0 * size, mode=closed, **EXACT)
        found = np.concatenate((moved.q[-1] - there.q[-1], moved.v[-1] - there.v[-1]))
        errors.append(float(np.abs(found - size * matrix @ change).max()))
    assert errors[1] < 0.1 * 2e-4
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", CASES)
def test_the_variational_flow_of_nearby_executions_approaches_the_selection_of_their_order(name, order):
    matrix, errors = selection(name, order)[0], []
    for size in (4e-4, 2e-4):
        system, q, v = beside(name, order, size)
        flow = variational_flow(simulate(system, q, v, 4.0 * size, **EXACT))
        assert [set(jump.contacts) for jump in flow.saltations] == [{i} for i in order]
        errors.append(float(np.abs(flow.matrix - matrix).max()))
    assert errors[1] < 0.1
    assert 0.8 < np.log2(errors[0] / errors[1]) < 1.2
