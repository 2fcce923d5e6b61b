"""The Bouligand derivative of simultaneous touchdowns, held against differences of ``simulate``."""

import itertools
import math

import numpy as np
import pinocchio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from helpers.landing_feet import CASES, EXACT, feet
from helpers.robot_systems import free_body
from hybrid_contact_ros import LagrangianSystem, bouligand_derivative, saltation_matrix, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.systems.robot import RobotSystem

BEFORE, AFTER = 0.03, 0.04


class Counting(LagrangianSystem):
    """Counts its contact problems."""

    asked = 0

    def problem(self, *args, **kwargs):
        self.asked += 1
        return super().problem(*args, **kwargs)


def backwards(system, q, v, span, held=()):
    """The state from which the motion without the other contacts reaches (q, v); ``held`` coordinates rest."""
    n = len(q)

    def field(_, x):
        problem = system.problem(x[:n], x[n:])
        acceleration = np.linalg.solve(problem.mass, -problem.bias_force)
        acceleration[list(held)] = 0.0
        return np.concatenate((x[n:], acceleration))

    start = np.concatenate((q, v))
    found = solve_ivp(field, (0.0, -span), start, method="DOP853", rtol=1e-12, atol=1e-14)
    return found.y[:n, -1], found.y[n:, -1]


def transition(system, q, v, span, mode=()):
    """∂x(span)/∂x(0) without the touchdown at its end, and the state there."""
    run = simulate(system, q, v, span, mode=list(mode), **EXACT)
    return variational_flow(run).matrix, np.concatenate((run.q[-1], run.v[-1]))


def along(derivative, order, rng):
    """A direction before the instant in the middle of an order's cone, of length 1."""
    times = derivative.corners[0].times
    change = rng.normal(size=times.shape[1])
    wanted = np.zeros(len(order))
    wanted[list(order)] = np.linspace(-0.6, 0.6, len(order))
    change -= np.linalg.pinv(times) @ (times @ change - wanted)
    return change / np.linalg.norm(change)


def total(name):
    """The derivative from BEFORE the touchdowns until AFTER them, and the states at both ends."""
    system, q, v, closed = CASES[name]
    q, v = np.array(q, float), np.array(v, float)
    corner = bouligand_derivative(system, q, v, closed=closed)
    assert corner.valid, corner.why
    start = backwards(system, q, v, BEFORE, closed)
    first, _ = transition(system, *start, BEFORE - 1e-8, closed)
    side = corner.corners[0].after
    last, end = transition(system, q, side.velocity, AFTER, sorted(side.mode))
    return system, corner, np.concatenate(start), end, first, corner.after(first).then(last), closed


def outcome(system, state, direction, closed=()):
    n = len(state) // 2
    x = state + direction[1:]
    run = simulate(system, x[:n], x[n:], BEFORE + AFTER + direction[0], mode=list(closed), gap_tolerance=1e-12, **EXACT)
    return np.concatenate((run.q[-1], run.v[-1]))


@pytest.mark.parametrize("name", CASES)
def test_in_each_cone_its_selection_is_approached_and_no_other(name):
    system, corner, start, end, first, flow, closed = total(name)
    rng, selections = np.random.default_rng(5), flow.selections()
    n = len(corner.corners[0].contacts)
    assert len(selections) == math.factorial(n)
    for selection in selections:
        change = along(corner, selection.orders[0], rng)
        for i in closed:  # closed feet stay closed
            change[[i, len(change) // 2 + i]] = 0.0
        direction = np.concatenate(([rng.normal()], np.linalg.solve(first, change)))
        assert flow.orders(direction) == selection.orders and selection.holds(direction)
        predicted = flow.apply(direction)
        np.testing.assert_allclose(selection.matrix @ direction, predicted, rtol=1e-9, atol=1e-9)
        errors, others = [], []
        for step in (1e-3, 1e-4):
            found = (outcome(system, start, step * direction, closed) - end) / step
            errors.append(np.abs(found - predicted).max())
            apart = [np.abs(other.matrix @ direction - found).max() for other in selections if other is not selection]
            others.append(min(apart))
        assert errors[1] < 0.15 * errors[0] + 1e-6
        assert others[1] > 5.0 * errors[1]
        assert others[1] == pytest.approx(
            min(np.abs((o.matrix - selection.matrix) @ direction).max() for o in selections if o is not selection),
            rel=0.5,
        )


@given(st.integers(0, 1000))
def test_raising_all_grounds_is_lowering_the_robot_and_one_ground_changes_the_order(seed):
    rng = np.random.default_rng(seed)
    landing = bouligand_derivative(feet(), [0, 0, 0.38], [-1.0, -1.3, -0.9])
    direction, lift = rng.normal(size=7), np.array([0, 1, 1, 1, 0, 0, 0.0])
    height = float(rng.normal())
    raised = landing.apply(direction, {0: height, 1: height})
    lowered = height * lift[1:] + landing.apply(direction - height * lift)
    np.testing.assert_allclose(raised, lowered, atol=1e-9 * (1.0 + np.abs(lowered).max()))
    assert landing.orders(direction, {0: 1e3}) == ((0, 1),) and landing.orders(direction, {0: -1e3}) == ((1, 0),)


@pytest.mark.parametrize("name", CASES)
def test_selections_agree_where_two_contacts_touch_together(name):
    system, q, v, closed = CASES[name]
    corner = bouligand_derivative(system, q, v, closed=closed)
    contacts, times = corner.corners[0].contacts, corner.corners[0].times
    rng, selections = np.random.default_rng(2), {s.orders[0]: s for s in corner.selections()}
    seen = 0
    for order, selection in selections.items():
        for k in range(len(order) - 1):
            swapped = (*order[:k], order[k + 1], order[k], *order[k + 2 :])
            other = selections[swapped]
            row = times[contacts.index(order[k])] - times[contacts.index(order[k + 1])]
            change = rng.normal(size=row.size)
            change -= row * (row @ change) / (row @ row)
            direction = np.append(rng.normal(), change)
            size = np.abs(selection.matrix @ direction).max()
            np.testing.assert_allclose(selection.matrix @ direction, other.matrix @ direction, atol=1e-10 * size)
            assert np.linalg.matrix_rank(selection.matrix - other.matrix, tol=1e-9 * size) == 1
            seen += 1
    assert seen == len(selections) * (len(contacts) - 1)


@pytest.fixture(scope="module")
def three():
    return bouligand_derivative(*CASES["three feet"][:3])


@given(
    direction=st.lists(st.floats(-1.0, 1.0), min_size=9, max_size=9),
    factor=st.floats(1e-3, 1e3),
    place=st.integers(0, 8),
)
@settings(max_examples=60, deadline=None)
def test_it_is_homogeneous_continuous_and_one_of_its_selections(three, direction, factor, place):
    corner, pieces = three, three.selections()
    here = corner.apply(direction)
    np.testing.assert_allclose(corner.apply(factor * np.array(direction)), factor * here, atol=1e-9 * (1 + factor))
    assert any(
        np.allclose(s.matrix @ direction, here, atol=1e-9) for s in pieces if s.orders == corner.orders(direction)
    )
    near = np.array(direction) + 1e-7 * np.eye(9)[place]
    largest = max(float(np.abs(s.matrix).sum(axis=1).max()) for s in pieces)
    assert np.abs(corner.apply(near) - here).max() <= 1e-7 * largest + 1e-12  # Lipschitz, across all boundaries


@pytest.mark.parametrize("name", CASES)
def test_motion_before_becomes_motion_after_and_feet_that_landed_stay(name):
    system, q, v, closed = CASES[name]
    corner = bouligand_derivative(system, q, v, closed=closed)
    problem, before = system.problem(q, v), corner.corners[0].side(frozenset()).field
    for selection in corner.selections():
        np.testing.assert_allclose(selection.matrix[:, 1:] @ before, corner.field, atol=1e-9)
        rows = problem.normal_jacobian[list(corner.corners[0].contacts)]
        np.testing.assert_allclose(rows @ selection.matrix[: system.nv, 1:], 0.0, atol=1e-10)
        # Each foot that lands loses its gap and its speed, one that keeps standing its speed.
        standing = corner.corners[0].after.mode & set(closed)
        assert selection.rank() == 2 * (system.nv - len(rows)) - len(standing)


def fields(system, q, v):
    """F of every set of landed feet, written down for constant M and flat ground."""
    found = {}
    for landed in ((), (0,), (1,), (0, 1)):
        rate = np.array(v, float)
        rate[list(landed)] = 0.0
        problem = system.problem(q, rate)
        acceleration = -problem.bias_force / np.diag(problem.mass)
        acceleration[list(landed)] = 0.0
        found[landed] = np.concatenate((rate, acceleration))
    return found


@pytest.mark.parametrize(("coupling", "own"), [(40.0, 0.0), (40.0, 25.0), (0.0, 25.0)])
def test_two_selections_differ_by_the_formula_of_rank_one_and_not_where_forces_are_additive(coupling, own):
    system, (q, v) = feet(coupling=coupling, own=own), CASES["two feet"][1:3]
    first, second = bouligand_derivative(system, q, v).selections()
    difference = second.matrix[:, 1:] - first.matrix[:, 1:]
    found = fields(system, q, v)
    both = np.diag([1.0, 1, 1, 0, 0, 1])
    jump = found[0, 1] - both @ (found[0,] + found[1,] - found[()])
    rows = np.eye(6)
    formula = np.outer(jump, rows[0] / v[0] - rows[1] / v[1])
    size = np.abs(first.matrix).max()
    assert min(np.abs(difference - sign * formula).max() for sign in (1.0, -1.0)) < 1e-9 * size
    if coupling:
        assert np.linalg.matrix_rank(difference, tol=1e-8 * size) == 1
        assert np.linalg.norm(difference) > 0.05 * np.linalg.norm(first.matrix[:, 1:])
    else:
        assert np.abs(difference).max() < 1e-9 * size
    np.testing.assert_array_equal(first.matrix[:, 0], second.matrix[:, 0])


def test_one_contact_has_the_saltation_matrix():
    system, q, v, _ = CASES["curved"]
    q, v = np.array(q), np.array(v)
    q[3] += 0.01
    (only,) = bouligand_derivative(system, q, v).selections()
    expected = saltation_matrix(system, q, v, "touchdown", 0).required()
    np.testing.assert_allclose(only.matrix[:, 1:], expected, atol=1e-9 * np.abs(expected).max())


def test_a_direction_takes_as_many_motions_as_there_are_contacts():
    system = feet(8, kind=Counting)
    corner = bouligand_derivative(system, [*[0.0] * 8, 0.38], [*np.linspace(-1.0, -1.7, 8), -0.9])
    assert corner.valid
    before = system.asked
    corner.apply(np.random.default_rng(0).normal(size=19))
    assert 0 < system.asked - before <= 2 * (8 + 1)  # n steps and n + 1 states, not 8! orders
    with pytest.raises(ValueError, match="40320 orders"):
        corner.selections()


def test_the_chain_rule_holds_through_two_instants():
    system = feet(4)
    later_q, later_v = np.array([0, 0, 0, 0, 0.37]), np.array([0, 0, -0.9, -1.2, -0.5])
    between, n = 0.04, 5
    second = bouligand_derivative(system, later_q, later_v, closed=[0, 1])
    q, v = backwards(system, later_q, later_v, between, [0, 1])
    held = v.copy()
    v[:2] = -1.0, -1.4
    first = bouligand_derivative(system, q, v)
    assert first.valid and second.valid and first.corners[0].contacts == (0, 1)
    np.testing.assert_allclose(first.corners[0].after.velocity, held, atol=1e-12)
    start = np.concatenate(backwards(system, q, v, BEFORE))
    a, _ = transition(system, start[:n], start[n:], BEFORE - 1e-8)
    b, _ = transition(system, q, held, between - 1e-8, [0, 1])
    c, end = transition(system, later_q, second.corners[0].after.velocity, AFTER, range(4))
    flow = first.after(a).then(b).then(second).then(c)
    assert len(flow.corners) == 2
    selections = {s.orders: s for s in flow.selections()}
    assert set(selections) == set(itertools.product([(0, 1), (1, 0)], [(2, 3), (3, 2)]))
    rng, seen = np.random.default_rng(3), {}
    while len(seen) < 4:
        direction = rng.normal(size=11)
        direction /= np.linalg.norm(direction)
        seen.setdefault(flow.orders(direction), direction)
    for orders, direction in seen.items():
        predicted = flow.apply(direction)
        assert [o for o, s in selections.items() if s.holds(direction)] == [orders]
        np.testing.assert_allclose(selections[orders].matrix @ direction, predicted, atol=1e-9)
        errors = []
        for step in (1e-3, 1e-4):
            x = start + step * direction[1:]
            t = BEFORE + between + AFTER + step * direction[0]
            run = simulate(system, x[:n], x[n:], t, gap_tolerance=1e-12, **EXACT)
            errors.append(np.abs((np.concatenate((run.q[-1], run.v[-1])) - end) / step - predicted).max())
        assert errors[1] < 0.15 * errors[0] + 1e-6


def test_parts_of_a_chain_must_fit_and_refusals_stay():
    system, q, v, _ = CASES["two feet"]
    corner = bouligand_derivative(system, q, v)
    refused = bouligand_derivative(system, q, [1.0, 1.0, 0.0])
    assert corner.then(refused) is refused and refused.then(corner) is refused and refused.after(np.eye(6)) is refused
    with pytest.raises(ValueError, match="shape"):
        corner.then(np.eye(5))
    with pytest.raises(ValueError, match="shape"):
        corner.apply(np.zeros(6))
    assert corner.then(np.eye(6), field=np.ones(6)).apply([2.0, 0, 0, 0, 0, 0, 0]).tolist() == [2.0] * 6


def test_a_floating_body_with_points_at_its_radius_of_gyration_agrees_with_differences():
    """A rod in space, rolled about its axis, whose ends do not feel each other; its fall pushes it along."""

    def effort(time, q, v, mode):
        return np.array([15.0 * v[2] ** 2, 0.0, 0.0, 0.0, 0.0, 0.0])

    model = free_body([(0.1, 0.0, 0.0), (-0.1, 0.0, 0.0)], 2.0, (0.01, 0.02, 0.02), friction=0.0)
    system = RobotSystem(model, effort)
    q, v = np.zeros(7), np.array([0.3, 0.1, -1.0, 0.4, 1.5, -0.8])
    q[3], q[6] = math.sin(0.1), math.cos(0.1)
    corner = bouligand_derivative(system, q, v)
    assert corner.valid and corner.corners[0].contacts == (0, 1), corner.why
    one, other = (selection.matrix for selection in corner.selections())
    assert np.linalg.matrix_rank(one - other, tol=1e-9) == 1 and np.abs(one - other).max() > 1.0
    reverse = simulate(system, q, -v, BEFORE, mode=[], **EXACT)  # forces that are even in v, so that time may run back
    q0, v0 = reverse.q[-1], -reverse.v[-1]
    first, _ = transition(system, q0, v0, BEFORE - 1e-8)
    resting = simulate(system, q, corner.corners[0].after.velocity, AFTER, mode=[0, 1], **EXACT)
    flow = corner.after(first).then(variational_flow(resting).matrix)
    rng = np.random.default_rng(4)
    for order in ((0, 1), (1, 0)):
        direction = np.concatenate(([rng.normal()], np.linalg.solve(first, along(corner, order, rng))))
        assert flow.orders(direction) == (order,)
        predicted, errors = flow.apply(direction), []
        for step in (1e-3, 1e-4):
            moved = model.integrate(q0, step * direction[1:7])
            span = BEFORE + AFTER + step * direction[0]
            run = simulate(system, moved, v0 + step * direction[7:], span, gap_tolerance=1e-12, **EXACT)
            turned = pinocchio.difference(model.pinocchio_model, resting.q[-1], run.q[-1])
            errors.append(np.abs(np.concatenate((turned, run.v[-1] - resting.v[-1])) / step - predicted).max())
        assert errors[1] < 0.15 * errors[0] + 1e-6
