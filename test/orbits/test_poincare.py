"""Return maps and their derivatives: multipliers in closed form, and differences of the simulated return map."""

import numpy as np
import pytest
import sympy

from helpers.robot_systems import ball, standing
from hybrid_contact_ros import Constraint, LagrangianSystem, PoincareMap, Section, orbit_stability, periodic_orbit
from hybrid_contact_ros.orbits.piecewise import Answer
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems import ball_on_table, rimless_wheel

G = 9.81
TABLE = np.eye(4)[:, :2]
"""At the apex: the height and the phase; the drive's rate is left out."""


def falling(k, n):
    """The section where coordinate k of n is at its apex."""
    gradient = np.zeros(2 * n)
    gradient[n + k] = -1.0
    return Section(lambda q, v: -v[k], lambda q, v: gradient)


def table(share):
    """The return map of the ball on the table, and its orbit's apex; a share of the largest stable stroke."""
    stroke = share * ball_on_table.largest_stable_stroke()
    period = ball_on_table.PERIOD
    system = ball_on_table.ball_on_table(stroke)
    returning = PoincareMap(system, falling(0, 2), 1.5 * period, shortest=0.1 * period)
    return returning, ball_on_table.bouncing_state(stroke), ball_on_table.multipliers(stroke)


@pytest.mark.parametrize("share, answer", [(0.7, "YES"), (0.95, "YES"), (1.1, "NO")])
def test_ball_on_a_table_has_the_multipliers_of_the_closed_form(share, answer):
    returning, (q, v), exact = table(share)
    again = returning(q, v)
    assert again.time == pytest.approx(ball_on_table.PERIOD, abs=1e-9)
    np.testing.assert_allclose(again.q - q, [0.0, 2.0 * np.pi], atol=1e-9)
    derivative = returning.derivative(q, v, TABLE)
    found = np.linalg.eigvals(derivative.pieces[0].matrix)
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(exact), atol=1e-6)
    assert orbit_stability(derivative).answer.name == answer


def test_ball_on_a_table_is_undecided_where_it_doubles_its_period():
    returning, (q, v), exact = table(1.0)
    assert np.abs(exact + 1.0).min() < 1e-9
    assert orbit_stability(returning.derivative(q, v, TABLE), error=1e-5).answer is Answer.UNDECIDED


def test_the_orbit_of_the_ball_on_a_table_is_found_from_nearby():
    returning, (q, v), _ = table(0.7)
    beside = q + np.array([0.004, 0.03])
    orbit = periodic_orbit(clocked(returning), beside, v, TABLE, within=TABLE)
    np.testing.assert_allclose(orbit.q, q, atol=1e-8)
    assert orbit.residual < 1e-8
    assert orbit.stability().answer is Answer.YES


def clocked(returning):
    """The map modulo a turn of the phase."""

    class Clocked(PoincareMap):
        def displacement(self, q, v, other_q, other_v):
            moved = super().displacement(q, v, other_q, other_v)
            moved[1] -= 2.0 * np.pi
            return moved

    return Clocked(returning.system, returning.section, returning.longest, returning.shortest)


def wheel():
    q, v = rimless_wheel.rolling_state()
    n = rimless_wheel.SPOKES
    section = Section(lambda q, v: -np.sin(n * q[2]), lambda q, v: [0.0, 0.0, -n * np.cos(n * q[2]), 0.0, 0.0, 0.0])
    return PoincareMap(rimless_wheel.rimless_wheel(), section, 2.0, shortest=0.1), q, v


def test_rimless_wheel_has_the_multiplier_of_the_closed_form():
    returning, q, v = wheel()
    again = returning(q, v)
    assert again.execution.word == ("{spoke 0}", "{spoke 1}")
    np.testing.assert_allclose(again.v, v, atol=1e-8)
    faster = np.concatenate((np.zeros(3), v))
    derivative = returning.derivative(q, v, faster, again)
    assert derivative.pieces[0].matrix.item() == pytest.approx(rimless_wheel.multiplier(), abs=1e-7)
    found = orbit_stability(derivative)
    assert found.answer is Answer.YES and found.certificate.rate == pytest.approx(rimless_wheel.multiplier(), abs=1e-6)
    # how far it has come is shifted and never forgotten: with it the derivative does not decide
    everything = returning.derivative(q, v, found=again)
    moduli = np.sort(np.abs(np.linalg.eigvals(everything.pieces[0].matrix)))
    np.testing.assert_allclose(moduli, [rimless_wheel.multiplier(), 1.0], atol=1e-6)
    assert orbit_stability(everything).answer is Answer.UNDECIDED


def test_the_rolling_of_the_wheel_is_found_from_another_speed():
    returning, q, v = wheel()
    faster = np.concatenate((np.zeros(3), v))
    orbit = periodic_orbit(returning, q, 1.1 * v, faster)
    np.testing.assert_allclose(orbit.v, v, atol=1e-8)
    assert orbit.residual < 1e-8 and orbit.stability().answer is Answer.YES


def test_rimless_wheel_map_approaches_its_derivative_with_second_order():
    returning, q, v = wheel()
    errors = []
    for step in (2e-2, 1e-2, 5e-3):
        ends = [returning(q, (1.0 + sign * step) * v).v @ v / (v @ v) for sign in (1.0, -1.0)]
        errors.append(abs((ends[0] - ends[1]) / (2.0 * step) - rimless_wheel.multiplier()))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.9).all() and errors[-1] < 1e-3, errors


def valley(curvature):
    """A ball that bounces without loss where the ground y = c x²/2 is level; sections at the apex."""
    x, y = sympy.symbols("x y")
    ground = Constraint("ground", y - curvature * x**2 / 2, restitution=1.0)
    return LagrangianSystem("ball in a valley", [x, y], sympy.eye(2), G * y, [ground])


@pytest.mark.parametrize("curvature, answer", [(-0.8, "NO"), (0.9, "UNDECIDED"), (5.5, "NO")])
def test_a_ball_without_loss_has_the_trace_of_the_closed_form(curvature, answer):
    """Fall, reflection at the curved ground, rise: trace 2 − 8 c H and determinant 1 in (x, ẋ), whatever the energy."""
    height = 0.4
    returning = PoincareMap(valley(curvature), falling(1, 2), 1.0)
    sideways = np.eye(4)[:, [0, 2]]
    derivative = returning.derivative([0.0, height], [0.0, 0.0], sideways)
    matrix = derivative.pieces[0].matrix
    assert np.trace(matrix) == pytest.approx(2.0 - 8.0 * curvature * height, abs=1e-6)
    assert np.linalg.det(matrix) == pytest.approx(1.0, abs=1e-7)
    found = orbit_stability(derivative)
    assert found.answer.name == answer
    if found.certificate is not None:
        trace = 2.0 - 8.0 * curvature * height
        grows = (abs(trace) + np.sqrt(trace**2 - 4.0)) / 2.0
        assert found.certificate.growth == pytest.approx(grows, abs=1e-6) and found.certificate.holds()


def test_directions_that_mix_with_what_they_leave_out_are_refused():
    returning = PoincareMap(valley(0.9), falling(1, 2), 1.0)
    start = ([0.0, 0.4], [0.0, 0.0])
    with pytest.raises(ValueError, match="what they leave out"):
        returning.derivative(*start, np.eye(4)[:, :1])
    with pytest.raises(ValueError, match="tangent space"):
        returning.derivative(*start, np.eye(4)[:, 3:])
    with pytest.raises(ValueError, match="independent"):
        returning.derivative(*start, np.ones((4, 2)) * [[1.0], [0.0], [0.0], [0.0]])
    with pytest.raises(ValueError, match=r"\(4, k\)"):
        returning.derivative(*start, np.eye(3))


def test_no_return_and_no_derivative_are_told():
    plastic = LagrangianSystem(
        "ball", *(lambda y: ([y], sympy.eye(1), G * y, [Constraint("floor", y)]))(sympy.Symbol("y"))
    )
    with pytest.raises(ValueError, match="no return"):
        PoincareMap(plastic, falling(0, 1), 1.0)([0.5], [0.0])
    bouncing = PoincareMap(valley(0.0), Section(lambda q, v: -(v[1] ** 3)), 1.0)
    derivative = bouncing.derivative([0.0, 0.4], [0.0, 0.0])
    assert derivative.validity is Validity.GRAZING
    with pytest.raises(ValueError, match="without being crossed"):
        orbit_stability(derivative)
    with pytest.raises(ValueError, match="longest"):
        PoincareMap(plastic, falling(0, 1), 0.0)
    with pytest.raises(ValueError, match="no periodic orbit"):
        periodic_orbit(PoincareMap(valley(0.0), falling(1, 2), 1.0), [0.0, 0.4], [0.3, 0.0])


def test_a_robot_from_its_urdf_has_a_return_map_too():
    """A ball with a free-flyer that spins and bounces without loss: its derivative against differences, to order 2."""
    returning = PoincareMap(ball(restitution=1.0, friction=0.0), Section(lambda q, v: -v[2]), 1.0)
    q, v = standing(0.5, (0.2, 0.0, 0.0, 0.0, 0.0, 0.4))
    derivative = returning.derivative(q, v)
    basis = returning.directions(q, v)
    z = np.random.default_rng(0).normal(size=11)
    start, errors = returning(q, v), []
    for step in (4e-3, 2e-3, 1e-3):
        ends = []
        for sign in (1.0, -1.0):
            ended = returning(*returning.moved(q, v, sign * step * (basis @ z)))
            ends.append(returning.displacement(start.q, start.v, ended.q, ended.v))
        change = basis.T @ (ends[0] - ends[1]) / (2.0 * step)
        errors.append(np.abs(change - derivative.apply(z)).max())
    assert errors[-1] < 1e-4 and errors[0] > 3.5 * errors[1] > 12.0 * errors[2], errors
