"""The derivative of executions whose chatter was cut off, and what the cut leaves out of the Zeno execution's."""

import numpy as np
import pinocchio as pin
import pytest
import sympy

from helpers.robot_systems import ball, standing
from hybrid_contact_ros import Constraint, LagrangianSystem, Tolerances, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.robot import RobotSystem

EXACT = {"rtol": 1e-11, "atol": 1e-13}
G, MU, E, Q, V, END = 9.81, 0.2, 0.5, np.array([0.0, 0.2]), np.array([2.0, 0.0]), 1.0
COARSE, FINE = Tolerances(1e-2, 1e-1, 1e-1), Tolerances(1e-4, 1e-3, 1e-3)
x, y = sympy.symbols("x y")


def point(friction=MU, surface=y, force=None):
    """A point that bounces without friction and then slides with it (Johnson's Assumption A12)."""
    rows = (sympy.Matrix([[1, 0]]),) if friction else ()
    return LagrangianSystem("point", [x, y], sympy.eye(2), G * y, [Constraint("g", surface, rows, friction, E)], force)


def wind(time, q, v, mode):
    return [-0.3 * v[1] ** 2 - 0.2 * q[1], 0.1 * v[0]]


def chatter(system, tolerances, q=Q, v=V):
    return simulate(system, q, v, END, truncation=tolerances, **EXACT)


def zeno_derivative():
    """∂(u, x)(t)/∂(x₀, y₀, u₀, μ, e, height): u(t) = u₀ − μ g (t − τ), τ = t₀ (1 + e)/(1 − e), t₀ = √(2 y₀/g)."""
    t0 = np.sqrt(2.0 * Q[1] / G)
    tau, by_y, by_e = t0 * (1 + E) / (1 - E), (1 + E) / (1 - E) / (G * t0), 2.0 * t0 / (1 - E) ** 2
    late = END - tau
    speed = [0.0, MU * G * by_y, 1.0, -G * late, MU * G * by_e, -MU * G * by_y]
    way = [1.0, MU * G * late * by_y, END, -0.5 * G * late**2, MU * G * late * by_e, -MU * G * late * by_y]
    return np.array([speed, way])


def slide(flow_parts):
    """Those entries of both parts of a flow."""
    state, parameters = flow_parts
    return np.hstack((state[[2, 0]][:, :3], parameters[[2, 0]]))


@pytest.mark.parametrize("tolerances", [COARSE, FINE, None])
def test_what_the_truncation_leaves_out_is_told_to_the_order_of_its_next_term(tolerances):
    execution = chatter(point(), tolerances)
    flow = variational_flow(execution, truncated=True)
    assert flow.inadmissible is None and flow.end == END and flow.saltations[-1].kind == "truncation"
    found, left_out = slide(flow.at(END)), slide(flow.truncation_error())
    exact = zeno_derivative()
    error = np.abs(found - exact).max(axis=0)
    remaining = abs(execution.zeno_times[-1][1] - execution.events[-1].time)
    assert (np.abs(found - left_out - exact).max(axis=0) <= 0.15 * error + 1e-4 * remaining + 1e-6).all()
    assert tolerances is None or error[1] > 1e-4  # so there is something to tell
    assert np.abs(flow.truncation_error(0.0)[0]).max() == 0.0
    height = flow.parameters.index(("height", 0))
    assert flow.parameter_matrix[1, height] == pytest.approx(1.0, abs=1e-9)  # the point lies on the ground


def test_closed_form_is_that_of_the_series_of_bounces():
    bounces = Q[1] * 2.0 / (G * np.sqrt(2.0 * Q[1] / G))  # t₀
    flights = bounces + sum(2.0 * bounces * E ** (k + 1) for k in range(60))
    assert flights == pytest.approx(bounces * (1 + E) / (1 - E))
    assert chatter(point(), FINE).zeno_times[0][0] == pytest.approx(flights, abs=1e-8)


@pytest.mark.parametrize("tolerances", [COARSE, FINE])
@pytest.mark.parametrize(
    "system", [point(), point(0.0, y - 0.1 * sympy.sin(x)), point(0.3, force=wind)], ids=["plain", "curved", "wind"]
)
def test_derivative_of_a_truncated_execution_is_its_difference(system, tolerances):
    execution = chatter(system, tolerances)
    flow = variational_flow(execution, truncated=True)
    direction = np.random.default_rng(0).normal(size=4)
    ends = []
    for sign in (1.0, -1.0):
        there = chatter(system, tolerances, Q + sign * 1e-5 * direction[:2], V + sign * 1e-5 * direction[2:])
        assert there.word == execution.word
        ends.append(np.concatenate((there.q[-1], there.v[-1])))
    np.testing.assert_allclose(flow.matrix @ direction, (ends[0] - ends[1]) / 2e-5, atol=1e-8)


def test_a_bouncing_robot_goes_on_after_its_chatter():
    system = RobotSystem(ball(restitution=0.5))
    q, v = standing(0.3, (0.5, -0.2, 0.0, 0.3, 0.2, 0.1))
    run = {"t_final": 1.0, "truncation": FINE, **EXACT}
    execution = simulate(system, q, v, **run)
    flow = variational_flow(execution, truncated=True)
    assert flow.inadmissible is None and [one.kind for one in flow.saltations].count("truncation") == 1
    direction, ends = np.random.default_rng(1).normal(size=12), []
    for sign in (1.0, -1.0):
        moved = sign * 1e-5 * direction
        there = simulate(system, system.integrate(q, moved[:6]), v + moved[6:], **run)
        assert there.word == execution.word
        apart = pin.difference(system.model.pinocchio_model, execution.q[-1], there.q[-1])
        ends.append(np.concatenate((apart, there.v[-1])))
    np.testing.assert_allclose(flow.matrix @ direction, (ends[0] - ends[1]) / 2e-5, atol=1e-6)
    assert np.isfinite(flow.truncation_error()[0]).all()


def test_unless_asked_for_a_truncation_ends_the_derivative():
    flow = variational_flow(chatter(point(), FINE))
    assert flow.inadmissible.validity is Validity.ZENO and flow.inadmissible.matrix is None
    assert flow.end < END and np.abs(flow.truncation_error()[0]).max() == 0.0


def test_a_truncation_after_the_first_bounce_has_no_estimate():
    execution = simulate(point(), [0.0, 1e-6], [1.0, 0.0], 0.2, truncation=COARSE, **EXACT)
    assert [event.kind.value for event in execution.events] == ["touchdown", "truncation"]
    flow = variational_flow(execution, truncated=True)
    assert flow.inadmissible is None and np.isfinite(flow.matrix).all()
    with pytest.raises(ValueError, match="have not bounced before"):
        flow.truncation_error()
