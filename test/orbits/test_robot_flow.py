"""∂x(t)/∂x(0) of a quadruped from its URDF under a joint controller: dropped, tilted, and landing foot by foot."""

import numpy as np
import pinocchio as pin
import pytest

from helpers.robot_systems import ball, example, standing
from hybrid_contact_ros import simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.systems.robot import RobotSystem

CROUCH = np.tile([0.0, 0.9, -1.8], 4)
STIFF, DAMPED = 40.0, 2.0


def hold(time, q, v, mode):
    """The joint controller of a robot that keeps its crouch."""
    return STIFF * (CROUCH - q[7:]) - DAMPED * v[6:]


def slopes(time, q, v, mode):
    joints = np.diag(np.repeat([0.0, 1.0], [6, 12]))
    return -STIFF * joints, -DAMPED * joints


hold.gradient = slopes


@pytest.fixture(scope="module")
def go2():
    return RobotSystem(example("go2", "go2_description/urdf/go2.urdf"), hold)


def tilted(system, height, tilt):
    q = system.neutral()
    q[3:7] = pin.Quaternion(pin.exp3(np.array(tilt))).coeffs()
    q[7:] = CROUCH
    q[2] += height - system.gap(q).min()
    return q, 0.1 * np.random.default_rng(1).normal(size=system.nv)


def directional(system, execution, q, v, t, direction, step):
    ends, words = [], set()
    for sign in (1.0, -1.0):
        moved = sign * step * direction
        n = len(v)
        there = simulate(system, system.integrate(q, moved[:n]), v + moved[n:], t)
        words.add(there.word)
        apart = pin.difference(system.model.pinocchio_model, execution.q[-1], there.q[-1])
        ends.append(np.concatenate((apart, there.v[-1])))
    assert words == {execution.word}
    return (ends[0] - ends[1]) / (2.0 * step)


def test_derivative_of_a_dropped_quadruped_is_its_difference(go2):
    q, v = tilted(go2, 0.01, (0.06, -0.1, 0.2))
    execution = simulate(go2, q, v, 0.07)
    flow = variational_flow(execution)
    assert flow.inadmissible is None
    assert [one.kind for one in flow.saltations] == ["touchdown"]
    for seed in range(2):
        direction = np.random.default_rng(seed).normal(size=36)
        exact = flow.matrix @ direction
        errors = [
            np.abs(directional(go2, execution, q, v, 0.07, direction, step) - exact).max() for step in (4e-5, 2e-5)
        ]
        assert errors[1] < 1e-4 * np.abs(exact).max(), errors
        assert errors[1] < 1e-6 * np.abs(exact).max() or np.log2(errors[0] / errors[1]) > 1.6, errors


def test_the_base_turns_with_its_frame():
    # A spinning ball in the air: without ad_ν the displacement of q would not turn with the body.
    system = RobotSystem(ball())
    q, v = standing(2.0, (0.3, 0.1, -0.2, 2.0, -1.0, 3.0))
    execution = simulate(system, q, v, 0.3)
    flow = variational_flow(execution)
    direction = np.random.default_rng(0).normal(size=12)
    found = directional(system, execution, q, v, 0.3, direction, 1e-4)
    np.testing.assert_allclose(flow.matrix @ direction, found, atol=1e-6)
    assert np.abs(flow.matrix - np.eye(12)).max() > 0.3


def test_a_ball_that_slides_until_it_rolls_in_space():
    system = RobotSystem(ball(friction=0.3))
    q, v = standing(0.105, (0.8, 0.5, 0.0, 0.3, 0.2, -0.4))
    t = 0.45
    execution = simulate(system, q, v, t)
    assert [event.kind.value for event in execution.events] == ["touchdown", "stick"]
    flow = variational_flow(execution)
    assert flow.inadmissible is None, flow.inadmissible
    assert len(flow.saltations[-1].lost) == 2
    for seed in range(3):
        direction = np.random.default_rng(seed).normal(size=12)
        found = directional(system, execution, q, v, t, direction, 1e-4)
        np.testing.assert_allclose(flow.matrix @ direction, found, atol=2e-5 * max(1.0, np.abs(found).max()))


PERIOD, LIFT = 0.4, 0.35
JOINTS = np.repeat([0.0, 1.0], [6, 12])


def trot(time, q, v, mode):
    """A joint controller that lifts diagonal pairs of legs in turns."""
    goal, rate = CROUCH.copy(), np.zeros(12)
    for leg, pair in enumerate((0, 1, 1, 0)):
        phase = 2.0 * np.pi * time / PERIOD + np.pi * pair
        up = max(0.0, np.sin(phase))
        goal[3 * leg + 1 : 3 * leg + 3] += LIFT * up**2 * np.array([1.0, -2.0])
        rate[3 * leg + 1 : 3 * leg + 3] += (
            LIFT * 2.0 * up * np.cos(phase) * 2.0 * np.pi / PERIOD * np.array([1.0, -2.0])
        )
    return 60.0 * (goal - q[7:]) + 2.5 * (rate - v[6:])


def test_derivative_of_a_quadruped_trotting_in_closed_loop_is_its_difference(go2):
    system = RobotSystem(go2.model, trot)
    trot.gradient = lambda time, q, v, mode: (-60.0 * np.eye(18) * JOINTS, -2.5 * np.eye(18) * JOINTS)
    q, _ = tilted(system, 0.01, (0.02, -0.03, 0.0))
    v = 0.02 * np.random.default_rng(1).normal(size=18)
    execution = simulate(system, q, v, 0.15)
    flow = variational_flow(execution)
    assert flow.inadmissible is None
    assert [one.kind for one in flow.saltations] == ["touchdown", "touchdown", "stick"]
    direction = np.random.default_rng(0).normal(size=36)
    exact = flow.matrix @ direction
    found = directional(system, execution, q, v, 0.15, direction, 1e-5)
    # A slip of simulate ends at 1e-6 m/s, which differences feel.
    np.testing.assert_allclose(found, exact, atol=1e-5 * np.abs(exact).max())
