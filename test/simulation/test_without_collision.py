"""Impacts without collision (Painlevé's paradox) in event-driven executions."""

from math import cos, sin

import numpy as np
import pytest
import sympy

from hybrid_contact_ros.continuous_time.continuous_path import Phase
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.impacts.routh import routh_path
from hybrid_contact_ros.simulation.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.simulation.without_collision import impact_without_collision
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.painleve_rod import GRAVITY, painleve_rod, rod_state
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

ALL = frozenset({0})
JAMMED = [(mu, angle, slip) for mu in (1.6, 2.0, 5.0) for angle in (0.9, 1.1, 1.3) for slip in (-3.0, -0.01)]


@pytest.mark.parametrize(("friction", "angle", "slip"), JAMMED)
def test_the_impulse_is_that_of_rouths_path(friction, angle, slip):
    problem = painleve_rod(friction).problem(*rod_state(angle, slip, -0.5))
    found, path = impact_without_collision(problem, ALL, 1e-6), routh_path(problem, (0,))
    np.testing.assert_allclose(found.velocity, path.velocity, atol=2e-8 * abs(slip))
    np.testing.assert_allclose(found.impulse, path.impulses[-1], atol=2e-8 * abs(slip))
    assert found.mode.closed == ALL and not found.mode.sliding


@pytest.mark.parametrize(("friction", "angle"), [(1.6, 0.3), (1.6, 0.6), (2.0, 0.3), (1.0, 1.1)])
def test_there_is_none_where_forces_hold_the_contact(friction, angle):
    problem = painleve_rod(friction).problem(*rod_state(angle, -3.0, -0.5))
    assert impact_without_collision(problem, ALL, 1e-6) is None


def test_there_is_none_at_rest():
    problem = painleve_rod(5.0).problem(*rod_state(0.9, 0.0, 0.0))
    assert impact_without_collision(problem, ALL, 1e-6) is None


@pytest.mark.parametrize(("friction", "angle", "rate"), [(1.6, 0.9, 0.0), (2.0, 1.1, 1.0), (5.0, 0.3, -1.0)])
def test_a_rod_that_jams_stops_and_goes_on_as_in_continuous_time(friction, angle, rate):
    rod, state = painleve_rod(friction), rod_state(angle, -3.0, rate)
    execution, path = simulate(rod, *state, 0.3), continuous_time_path(rod, *state, 0.3)
    assert execution.status is ExecutionStatus.FINISHED
    first = execution.events[0]
    assert first.kind is EventKind.IMPACT_WITHOUT_COLLISION and first.time == 0.0 and first.contacts == ALL
    np.testing.assert_allclose(execution.q[-1], path.q[-1], atol=3e-8)
    assert np.diff(execution.energy()).max() < 1e-8
    assert execution.energy()[-1] < execution.energy()[0] - 1.0


def test_a_rod_that_slides_into_the_jam_is_stopped_where_forces_grow_beyond_bounds():
    rod, state = painleve_rod(2.0), rod_state(0.4, -4.0, 3.0)
    execution, path = simulate(rod, *state, 0.5), continuous_time_path(rod, *state, 0.5)
    assert execution.status is ExecutionStatus.FINISHED
    first = execution.events[0]
    (piece,) = [piece for piece in path.pieces if piece.phase is Phase.IMPACT_WITHOUT_COLLISION]
    assert first.kind is EventKind.IMPACT_WITHOUT_COLLISION
    assert first.time == pytest.approx(path.t[piece.start], abs=1e-8)
    np.testing.assert_allclose(first.velocity_after, path.v[piece.stop], atol=1e-5)
    np.testing.assert_allclose(execution.q[-1], path.q[-1], atol=1e-5)


def rod_in_space(heading, friction=2.0):
    """The rod of ``painleve_rod`` in the vertical plane that a heading (rad) says, free to drift across it."""
    x, y, z, angle = sympy.symbols("x y z theta")
    across = sympy.sin(angle)
    ways = (cos(heading) * across, sin(heading) * across)
    tangents = (sympy.Matrix([[1, 0, 0, ways[0]]]), sympy.Matrix([[0, 1, 0, ways[1]]]))
    end = Constraint("A", z - sympy.sin(angle), tangents, friction)
    inertia = sympy.diag(1, 1, 1, sympy.Rational(1, 3))
    return LagrangianSystem("rod in space", (x, y, z, angle), inertia, GRAVITY * z, [end])


@pytest.mark.parametrize("heading", [0.0, 0.7, 2.5])
def test_in_space_a_rod_jams_as_in_the_plane_whatever_its_heading(heading):
    q, v = rod_state(1.1, -3.0, 0.5)
    ahead, across = np.array([cos(heading), sin(heading)]), np.array([-sin(heading), cos(heading)])
    system = rod_in_space(heading)
    execution = simulate(system, [*(q[0] * ahead), q[1], q[2]], [*(v[0] * ahead), v[1], v[2]], 0.2)
    flat = simulate(painleve_rod(2.0), q, v, 0.2)
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.events[0].kind is EventKind.IMPACT_WITHOUT_COLLISION
    at = execution.at(0.1)[0]
    expected = flat.at(0.1)[0]
    np.testing.assert_allclose([at[:2] @ ahead, at[2], at[3]], expected, atol=1e-7)
    assert abs(at[:2] @ across) < 1e-9


def test_in_space_a_jam_that_drifts_across_stops_in_both_directions_without_gain_of_energy():
    q, v = rod_state(1.1, -3.0, 0.5)
    problem = rod_in_space(0.0).problem([q[0], 0.0, *q[1:]], [v[0], 0.4, *v[1:]])
    found = impact_without_collision(problem, ALL, 1e-6)
    assert np.abs(problem.normal_jacobian @ found.velocity).max() < 1e-6
    before, after = problem.velocity, found.velocity
    assert after @ problem.mass @ after < before @ problem.mass @ before
    normal, tangent = found.impulse[0, 0], np.linalg.norm(found.impulse[0, 1:])
    assert 0.0 < tangent <= 2.0 * normal * (1.0 + 1e-9)
    np.testing.assert_allclose(problem.mass @ (after - before), problem.jacobian().T @ found.impulse.ravel(), atol=1e-9)


def test_at_the_pole_itself_where_nothing_accelerates_along_the_normal_energy_falls_all_the_same():
    """Génot and Brogliato's point: forces have no bound, and the corner's normal acceleration without them is 1e-8."""
    box = PlanarBox(0.145, 1.0, 1.0, 1.0, [Corner("A", 0.0725, -0.5, (0.0, 1.0))])
    q = np.array([0.0, 0.5, 0.13])
    problem = box.problem(q, np.zeros(3))
    row, along = problem.normal_jacobian[0], problem.tangent_jacobian[0, 0]
    drift = box.problem(q, [0.0, 0.0, 1.0]).jacobian_drift[0, 0]
    rate = np.sqrt((9.81 - 1e-8) / drift)
    v = np.array([0.0, -row[2] * rate, rate])
    v[0] = 0.4 - along[2] * rate
    inverse = np.linalg.inv(problem.mass)
    steep = (row @ inverse @ row) / (row @ inverse @ along) * (1.0 + 1e-9)
    problem = PlanarBox(0.145, 1.0, 1.0, steep, box.corners).problem(q, v)
    found = impact_without_collision(problem, ALL, 1e-6)
    assert found is not None
    change = found.velocity @ problem.mass @ found.velocity - v @ problem.mass @ v
    assert change < -1e-3
    np.testing.assert_allclose(problem.jacobian() @ found.velocity, 0.0, atol=1e-6)


def test_a_ladder_whose_upper_end_jams_as_the_lower_one_pushes():
    """The upper end's force has just passed zero: alone the lower one's push keeps it from approaching, to 1e-7."""
    ground, wall = (0.0, 1.0), (-0.9461306757055595, -0.323785028203809)
    width, friction = 0.1458132840549091, 3.095379303837681
    ends = [Corner("lower", width / 2, -0.5, ground), Corner("upper", width / 2, 0.5, wall)]
    problem = PlanarBox(width, 1.0, 1.0, friction, ends).problem(
        [-0.59166974, 0.48171656, -0.45143822], [0.66653818, 0.3782088, 2.47961604]
    )
    found = impact_without_collision(problem, frozenset({0, 1}), 1e-6)
    before, after = problem.velocity, found.velocity
    assert after @ problem.mass @ after < 0.99 * (before @ problem.mass @ before)
    assert (problem.normal_jacobian @ after > -1e-6).all()
    assert (np.abs(found.impulse[:, 1]) <= friction * found.impulse[:, 0] * (1.0 + 1e-9) + 1e-12).all()
    np.testing.assert_allclose(problem.mass @ (after - before), problem.jacobian().T @ found.impulse.ravel(), atol=1e-9)
