"""Derivatives of executions with massless limbs, held by contacts or in the air, against differences."""

import numpy as np
import pytest
from scipy.linalg import null_space

from helpers.massless_leg import LENGTH, one_leg
from hybrid_contact_ros import saltation_matrix, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.gradients import problem_gradient
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex

EXACT = {"rtol": 1e-11, "atol": 1e-13}


def swing(q, v):
    """The leg's own motion in the air."""
    return 3.0 - 2.0 * q[2] - 0.5 * v[2]


def motor(time, q, v):
    return 2.0 - 3.0 * q[2] - v[2]


def dropped():
    robot = PlanarRHex(start=10.0)
    return robot, robot.crouch() + np.array([0.0, 0.05, 0.1, 0.0, 0.0])


CASES = {
    "in the air": (one_leg(1.0, air=swing), [0, 5, 0.2], [1, 0, 0], 0.3, []),
    "in stance": (one_leg(1.0, motor), [0, LENGTH * np.cos(0.3), 0.3], [0, 0, 0], 0.15, []),
    "lands": (
        one_leg(1.0, motor, swing), [0, LENGTH * np.cos(0.1) + 0.05, 0.1], [0.3, 0, 0], 0.15, ["touchdown"],
    ),
    "RHex leaps": (PlanarRHex(), PlanarRHex().crouch(), np.zeros(5), 0.2, ["liftoff", "slip", "liftoff"]),
    "RHex lands": (*dropped(), np.zeros(5), 0.12, ["touchdown"]),
}  # fmt: skip


def admissible(system, q, v, mode):
    """A basis of changes that keep closed contacts closed: J δq = 0 of sticking points, too, and J v stays zero."""
    gradient = problem_gradient(system, q, v, 0.0, mode.closed)
    problem, rates = gradient.problem, gradient.rates(v)
    rows = []
    for i in sorted(mode.closed):
        for r in range(1 if i in mode.sliding else 1 + problem.tangents):
            own = problem.jacobian().reshape(problem.contacts, -1, problem.nv)[i, r]
            rows += [np.concatenate((own, np.zeros(problem.nv))), np.concatenate((rates[i, r], own))]
    return null_space(np.array(rows)) if rows else np.eye(2 * problem.nv)


@pytest.mark.parametrize("name", CASES)
def test_derivative_with_massless_limbs_is_its_difference(name):
    system, q, v, end, kinds = CASES[name]
    q, v = np.array(q, float), np.array(v, float)
    n = len(v)
    execution = simulate(system, q, v, end, **EXACT)
    flow = variational_flow(execution)
    assert flow.inadmissible is None, flow.inadmissible
    assert [jump.kind for jump in flow.saltations] == kinds
    # The first interval that lasts has the mode of the start
    basis = admissible(system, q, v, next(part.mode for part in execution.intervals if len(part.times) > 1))
    for seed in range(2):
        direction = basis @ np.random.default_rng(seed).normal(size=basis.shape[1])
        exact, ends = flow.matrix @ direction, []
        for sign in (1.0, -1.0):
            moved = sign * 1e-4 * direction
            there = simulate(system, q + moved[:n], v + moved[n:], end, **EXACT)
            assert there.word[-1] == execution.word[-1]
            ends.append(np.concatenate((there.q[-1], there.v[-1])))
        found = (ends[0] - ends[1]) / 2e-4
        np.testing.assert_allclose(found, exact, atol=1e-5 * max(1.0, np.abs(exact).max()))  # of differences


def test_a_leg_in_the_air_keeps_its_speed_as_another_one_lands():
    robot, q = dropped()
    execution = simulate(robot, q, np.zeros(5), 0.12, **EXACT)
    (event,) = execution.events
    before, after = (next(p.mode for p in execution.intervals[k:] if len(p.times) > 1) for k in (0, 1))
    found = saltation_matrix(
        robot, event.q, event.velocity_before, event.kind, event.contacts, before, after, time=event.time
    )
    assert found.valid, found
    np.testing.assert_allclose(found.velocity, event.velocity_after, atol=1e-9)
    np.testing.assert_allclose(found.matrix, variational_flow(execution).saltations[0].matrix, atol=1e-6)
    assert found.velocity[3] == pytest.approx(event.velocity_before[3])


def test_what_no_contact_holds_in_its_direction_is_refused_as_singular():
    # Upright and without friction: the toe feels the leg's turning along the ground alone (Johnson's A5).
    found = saltation_matrix(one_leg(0.0), [0.0, LENGTH, 0.0], [0.0, -1.0, 0.0], "touchdown", 0)
    assert found.validity is Validity.SINGULAR and "singular" in found.why


def test_a_limb_that_gets_out_of_the_way_has_no_course():
    execution = simulate(one_leg(0.05, air=lambda q, v: 60.0), [0.0, 0.45, 0.6], [1.5, -1.0, 0.0], 0.05)
    bad = variational_flow(execution).inadmissible
    assert bad.validity is Validity.UNEXPLAINED and bad.why
