"""One-sided derivatives past instants with several touchdowns, against differences of ``simulate``."""

import numpy as np
import pytest
import sympy

from hybrid_contact_ros import Constraint, LagrangianSystem, simulate
from hybrid_contact_ros.orbits.directional import directional_flow
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.rocking_block import rocking_block
from hybrid_contact_ros.systems.trotters import rigid_trotter, sequential_spin

EXACT = {"rtol": 1e-12, "atol": 1e-14}
END = 0.35
Q, V = np.array([0.2, 0.2, 0.7]), np.zeros(3)


def feet(left=0.0, right=0.0, damping=0.5):
    """Two feet on springs below a body, all falling alike, and a cubic damper between body and the feet's mean."""
    a, b, z = sympy.symbols("a b z")

    def force(time, q, v, mode):
        pull = damping * (v[2] - 0.5 * (v[0] + v[1])) ** 3
        return [0.5 * pull, 0.5 * pull, -pull]

    potential = 9.81 * (0.1 * (a + b) + z) + 50.0 * ((z - a - 0.5) ** 2 + (z - b - 0.5) ** 2)
    contacts = [Constraint("left", a - left), Constraint("right", b - right)]
    return LagrangianSystem("feet", [a, b, z], sympy.diag(0.1, 0.1, 1.0), potential, contacts, force)


def damper(time, q, v, mode):
    pull = (v[2] - 0.5 * (v[0] + v[1])) ** 3
    return np.array([[0.5 * pull], [0.5 * pull], [-pull]])


def outcome(change, left=0.0, right=0.0, damping=0.0, end=END):
    run = simulate(feet(left, right, 0.5 + damping), Q + change[:3], V + change[3:], end, **EXACT)
    return np.concatenate((run.q[-1], run.v[-1]))


@pytest.fixture(scope="module")
def execution():
    run = simulate(feet(), Q, V, END, **EXACT)
    assert [event.contacts for event in run.events] == [{0, 1}]
    return run


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("heights", [(0.0, 0.0), (0.4, -0.9)])
def test_directional_derivative_with_parameters_is_its_one_sided_difference(execution, seed, heights):
    direction = np.random.default_rng(seed).normal(size=6)
    change = {("height", 0): heights[0], ("height", 1): heights[1], ("control", 0): 0.7}
    flow = directional_flow(execution, direction, change, damper)
    assert flow.piece.inadmissible is None and flow.end == END and flow.wordwise is None
    errors = []
    here = outcome(np.zeros(6))
    for alpha in (1e-3, 1e-4, 1e-5):
        there = outcome(alpha * direction, alpha * heights[0], alpha * heights[1], alpha * 0.7)
        errors.append(np.abs((there - here) / alpha - flow.change).max())
    assert errors[2] < 2e-3 and errors[2] < 0.15 * errors[1] < 0.03 * errors[0], errors


def test_each_order_has_its_piece_and_they_differ(execution):
    direction = np.array([1.0, -1.0, 0.3, 0.0, 0.0, 0.2])
    ahead, back = directional_flow(execution, direction), directional_flow(execution, -direction)
    assert (ahead.orders, back.orders) == (((1, 0),), ((0, 1),))
    assert np.abs(ahead.change + back.change).max() > 0.01  # no linear map
    # A ground that rises takes the place of a foot that falls.
    raised = directional_flow(execution, np.zeros(6), {("height", 0): 1.0})
    assert raised.orders == ((0, 1),)
    np.testing.assert_allclose(raised.piece.matrix, back.piece.matrix, atol=1e-12)


def test_where_no_contacts_touch_together_it_is_the_flow():
    start = Q + np.array([0.01, 0.0, 0.0])
    run = simulate(feet(), start, V, END, **EXACT)
    direction = np.random.default_rng(3).normal(size=6)
    flow = directional_flow(run, direction)
    np.testing.assert_allclose(flow.change, variational_flow(run).matrix @ direction, atol=1e-12)
    assert flow.orders == ()


def test_words_that_lead_to_the_velocity_of_the_execution_carry_the_flow_on():
    # A low block with friction: constraints are not orthogonal, and yet the order of its corners changes nothing.
    system, q = rocking_block(width=0.4, height=0.2, friction=0.8), np.array([0.0, 0.2, 0.0])
    run = simulate(system, q, np.zeros(3), 0.3, **EXACT)
    assert variational_flow(run).inadmissible.validity is Validity.SIMULTANEOUS
    for sign in (1.0, -1.0):
        direction = np.array([0.3, 0.2, sign * 0.5, 0.4, -0.1, sign * 0.1])
        flow = directional_flow(run, direction)
        assert flow.piece.inadmissible is None, flow.piece.inadmissible
        alpha = 1e-5
        there = simulate(system, q + alpha * direction[:3], alpha * direction[3:], 0.3, **EXACT)
        found = (np.concatenate((there.q[-1], there.v[-1])) - np.concatenate((run.q[-1], run.v[-1]))) / alpha
        np.testing.assert_allclose(flow.change, found, atol=1e-3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_where_orders_lead_apart_the_word_of_the_direction_is_given_and_the_flow_ends(sign):
    system, q = rigid_trotter(), np.array([0.0, 0.7, 0.0])
    run = simulate(system, q, np.zeros(3), 0.25, **EXACT)
    touchdown = run.events[0]
    direction = np.array([0.0, 0.1, sign, 0.2, 0.3, 0.0])
    flow = directional_flow(run, direction)
    assert flow.piece.inadmissible.validity is Validity.SIMULTANEOUS
    assert flow.end == pytest.approx(touchdown.time) and flow.wordwise is not None
    word = flow.wordwise
    spin = sequential_spin(-touchdown.velocity_before[1])
    assert word.velocity[2] == pytest.approx(-sign * spin, rel=1e-6)
    assert abs(touchdown.velocity_after[2]) < 1e-12
    errors = []
    for alpha in (1e-4, 1e-5):
        late = 3.0 * alpha
        there = simulate(system, q + alpha * direction[:3], alpha * direction[3:], touchdown.time + late, **EXACT)
        after = simulate(system, word.q, word.velocity, late, **EXACT)
        moved = np.concatenate((there.q[-1] - after.q[-1], there.v[-1] - after.v[-1]))
        errors.append(np.abs(moved - alpha * word.change).max())
    assert errors[1] < 1e-7 and errors[1] < 0.02 * errors[0], errors


@pytest.mark.parametrize(
    ("direction", "parameters"),
    [(np.zeros(5), None), (np.full(6, np.nan), None), (np.zeros(6), {("height", 7): 1.0}),
     (np.zeros(6), {("height", 0): np.inf})],
)  # fmt: skip
def test_a_direction_that_is_none_is_refused(execution, direction, parameters):
    with pytest.raises(ValueError, match=r"needed|none of"):
        directional_flow(execution, direction, parameters)
