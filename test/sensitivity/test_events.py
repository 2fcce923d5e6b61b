"""``saltation_matrix`` for events of executions and for states given by hand, and what it refuses."""

import numpy as np
import pytest
import sympy

from helpers.robot_systems import block, standing
from hybrid_contact_ros import Constraint, LagrangianSystem, saltation_matrix, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.force_events import liftoff_saltation, slip_saltation
from hybrid_contact_ros.sensitivity.gradients import problem_gradient
from hybrid_contact_ros.sensitivity.local_event import LocalEvent
from hybrid_contact_ros.sensitivity.mode_gradient import motion_derivative
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.painleve_rod import painleve_rod
from hybrid_contact_ros.systems.robot import RobotSystem
from hybrid_contact_ros.systems.rocking_block import rocking_block

EXACT = {"rtol": 1e-11, "atol": 1e-13}
HELD = ContactMode(frozenset({0}))
x, y = sympy.symbols("x y")


def point(force=None, mu=0.5, slope=0.0):
    tangents = (sympy.Matrix([[1, 0]]),) if mu else ()
    ground = Constraint("ground", y, tangents, mu)
    return LagrangianSystem("point", [x, y], sympy.eye(2), 9.81 * y + slope * x, [ground], force)


def rising(time, q, v, mode):
    return [8.0 * q[0], 25.0 * time + 8.0 * q[0] + 3.0 * (0 not in mode)]


def pushed(time, q, v, mode):
    return [10.0 * time + 0.3 * np.sin(q[0]), 0.5 * time]


EXECUTIONS = {
    "touchdown": (point(), [0, 0.1], [1.0, 0], 0.2),
    "touchdown and stick": (point(), [0, 0.1], [1.0, 0], 0.6),
    "reversal": (point(mu=0.3, slope=6.0), [0, 0.1], [1.5, 0], 0.8),
    "liftoff": (point(rising, mu=0.0), [0.0, 0.01], [0.3, 0.0], 0.5),
    "slip": (point(pushed), [0, 0.1], [0.1, 0], 0.7),
    "rod": (painleve_rod(1.0), [0.36, 1.03, 1.2], [0.2, 0.1, 0.3], 0.3),
    "rod that bounces on a corner": (rocking_block(), [0, 1.2, 0.3], [0.3, 0, 0.4], 0.35),
}


@pytest.mark.parametrize("name", EXECUTIONS)
def test_an_event_of_an_execution_has_the_matrix_of_its_flow(name):
    system, q, v, t = EXECUTIONS[name]
    execution = simulate(system, q, v, t, **EXACT)
    flow = variational_flow(execution)
    assert flow.saltations and flow.inadmissible is None
    for event, known in zip(execution.events, flow.saltations, strict=True):
        turns = event.kind.value == "slip" and event.contacts <= event.before.sliding
        # The speed of slip is zero there, and says no direction
        way = {0: np.sign(execution.at(event.time - 1e-3)[1][:1])} if event.kind.value in ("slip", "stick") else {}
        before = ContactMode(event.before.closed, event.before.sliding, way if event.before.sliding else {})
        after = ContactMode(event.after.closed, event.after.sliding, {0: -way[0]}) if turns else event.after
        kind = "reversal" if turns else event.kind
        if kind == "reversal":
            assert known.kind == "reversal"
        found = saltation_matrix(
            system, event.q, event.velocity_before, kind, event.contacts, before, after, time=event.time
        )
        assert found.valid, found
        np.testing.assert_allclose(found.matrix, known.matrix, atol=1e-6 * np.abs(known.matrix).max())
        np.testing.assert_allclose(found.time, known.time, atol=1e-6 * np.abs(known.time).max())


def test_liftoff_time_is_that_of_the_force():
    # In contact λ = 9.81 − 25 t − 8 x − u. At x₀ = 0.1, moving at 0.3 m/s, λ̇ = −25 − 8 · 0.3.
    system, q, v = point(rising, mu=0.0), np.array([0.1, 0.0]), np.array([0.3, 0.0])
    time = (9.81 - 0.8) / 25.0
    controls = np.array([[0.0], [1.0]])
    found = liftoff_saltation(LocalEvent(system, q, v, 0, HELD, time), controls=controls)
    assert found.valid, found
    rate = -25.0 - 8.0 * 0.3
    np.testing.assert_allclose(found.time, [8.0 / rate, 0.0, 0.0, 0.0], atol=1e-9)
    assert found.parameters == (("friction", 0), ("control", 0))
    np.testing.assert_allclose(found.parameter_time, [0.0, 1.0 / rate], atol=1e-9)
    jump = np.array([0.0, 0.0, 0.0, 3.0])  # F⁺ − F⁻: the thrust switches on
    np.testing.assert_allclose(found.matrix, np.eye(4) - np.outer(jump, found.time), atol=1e-8)
    assert found.rank() == 4 and found.lost == ()


def test_slip_time_has_a_column_for_friction():
    # The cone's margin is 0.5 (9.81 − 0.5 t) − 10 t − 0.3 sin x.
    system, q, v = point(pushed), np.array([0.0, 0.0]), np.zeros(2)
    time = 0.5 * 9.81 / 10.25
    found = slip_saltation(LocalEvent(system, q, v, 0, HELD, time))
    assert found.valid, found
    np.testing.assert_array_equal(found.matrix, np.eye(4))
    np.testing.assert_allclose(found.time, [-0.3 / 10.25, 0.0, 0.0, 0.0], atol=1e-9)
    normal = 9.81 - 0.5 * time
    np.testing.assert_allclose(found.parameter_time, [normal / 10.25], atol=1e-9)


def test_redundant_corners_of_a_block_that_slides_have_the_derivative_of_its_motion():
    model = block(friction=0.4)
    q, v = standing(0.05, (0.6, 0.3, 0, 0, 0, 0))
    mode = ContactMode(frozenset(range(4)), frozenset(range(4)))
    found = motion_derivative(problem_gradient(RobotSystem(model), q, v), mode)
    speed = np.hypot(0.6, 0.3)
    np.testing.assert_allclose(found.motion.acceleration[:2], -0.4 * 9.81 * np.array([0.6, 0.3]) / speed, atol=1e-9)
    # Across the slip friction turns with the velocity: ∂v̇/∂v⊥ = −μ g / |v|.
    across = np.array([-0.3, 0.6]) / speed
    np.testing.assert_allclose(across @ found.acceleration[:2, 6:8] @ across, -0.4 * 9.81 / speed, rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "contacts", "validity"),
    [
        ("grazing", 0, Validity.GRAZING),
        ("closing", 0, Validity.GRAZING),
        ("truncation", 0, Validity.ZENO),
        ("impact without collision", 0, Validity.WITHOUT_COLLISION),
        ("touchdown", (0, 1), Validity.SIMULTANEOUS),
        ("touchdown", (), Validity.NOT_TOUCHING),
        ("liftoff", 0, Validity.NOT_TOUCHING),
        ("slip", 0, Validity.NOT_TOUCHING),
        ("stick", 0, Validity.NOT_TOUCHING),
    ],
)
def test_events_without_a_derivative_are_refused(kind, contacts, validity):
    found = saltation_matrix(rocking_block(), [0, 1.0, 0], [0, -1.0, 0], kind, contacts)
    assert found.validity is validity and found.why and found.matrix is None
    with pytest.raises(ValueError, match=found.validity.value):
        found.required()


def test_a_liftoff_with_a_force_is_none():
    found = saltation_matrix(point(), [0, 0], [0, 0], "liftoff", 0, {0})
    assert found.validity is Validity.NOT_TOUCHING


def test_an_unknown_kind_or_contact_is_an_error():
    with pytest.raises(ValueError, match="kind is 'bump'"):
        saltation_matrix(point(), [0, 0], [0, -1], "bump", 0)
    with pytest.raises(ValueError, match="contacts holds 7"):
        saltation_matrix(point(), [0, 0], [0, -1], "touchdown", 7)


def test_redundant_contacts_that_slide_in_different_directions_have_no_unique_forces():
    model = block(friction=0.4)
    q, v = standing(0.05, (0.6, 0.3, 0, 0, 0, 2.0))
    sliding = ContactMode(frozenset(range(4)), frozenset(range(4)))
    found = saltation_matrix(model, q, v, "liftoff", 0, sliding)
    assert found.validity is Validity.NOT_UNIQUE and "directions" in found.why


def test_in_space_a_slip_does_not_turn_back():
    z = sympy.Symbol("z")
    rows = (sympy.Matrix([[1, 0, 0]]), sympy.Matrix([[0, 1, 0]]))
    system = LagrangianSystem("point", [x, y, z], sympy.eye(3), 9.81 * z, [Constraint("ground", z, rows, 0.3)])
    sliding = ContactMode(frozenset({0}), frozenset({0}))
    found = saltation_matrix(system, [0, 0, 0], [1e-7, 0, 0], "reversal", 0, sliding, sliding)
    assert found.validity is Validity.SPATIAL_SLIP_END
