"""Executions with massless limbs: Johnson's Assumptions A5, A6 and A12, and the friction of §2.8."""

import numpy as np
import pytest

from helpers.massless_leg import GRAVITY, LENGTH, MASS, one_leg
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import ExecutionEventKind, ExecutionStatus
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex, RHexParameters


def test_mass_on_a_massless_leg_swings_as_a_pendulum():
    angle = 0.1
    execution = simulate(one_leg(1.0), [0.0, LENGTH * np.cos(angle), angle], np.zeros(3), 0.2)
    assert execution.word == ("{toe}",)
    rate = np.sqrt(GRAVITY / LENGTH)  # an inverted one: it falls away from the vertical
    expected = angle * np.cosh(rate * 0.2)
    assert execution.q[-1, 2] == pytest.approx(expected, rel=2e-3)
    energy = execution.energy()
    assert np.ptp(energy) < 1e-8
    np.testing.assert_allclose(
        execution.q[:, 0] + LENGTH * np.sin(execution.q[:, 2]), LENGTH * np.sin(angle), atol=1e-9
    )


def test_dynamics_of_the_massless_leg_by_hand():
    leg = one_leg(1.0, torque=lambda t, q, v: 2.0)
    q = np.array([0.0, LENGTH * np.cos(0.3), 0.3])
    system = AdaptedSystem(leg, q, np.zeros(3))
    now = ModeDynamics(system, HybridMode.of([0]), False, 1e-6).motion(0.0, q, np.zeros(3))
    along = np.array([-np.sin(0.3), np.cos(0.3)])  # from toe to mass
    across = np.array([np.cos(0.3), np.sin(0.3)])
    force = now.force[0, ::-1]  # (x, z)
    assert across @ force == pytest.approx(-2.0 / LENGTH)  # no inertia: the torque is at the toe
    assert along @ force == pytest.approx(MASS * GRAVITY * np.cos(0.3))
    free = ModeDynamics(system, HybridMode(), False, 1e-6).motion(0.0, q, np.zeros(3))
    np.testing.assert_allclose(free.acceleration, [0.0, -GRAVITY, 0.0], atol=1e-12)


def test_johnson_section_2_8_toe_slides_without_friction_once_the_cone_is_left():
    pushing = one_leg(0.4, torque=lambda t, q, v: -60.0 * t)
    execution = simulate(pushing, [0.0, LENGTH * np.cos(0.3), 0.3], np.zeros(3), 0.3)
    assert execution.word[:2] == ("{toe}", "{toe~}")
    event = execution.events[0]
    assert event.kind is ExecutionEventKind.SLIP
    before = execution.intervals[0]
    now = ModeDynamics(execution.system, before.mode, False, 1e-6).motion(event.time, event.q, event.velocity_before)
    assert abs(now.force[0, 1]) == pytest.approx(0.4 * now.force[0, 0], rel=1e-9)
    sliding = ModeDynamics(execution.system, event.after, False, 1e-6).motion(event.time, event.q, event.velocity_after)
    assert sliding.force[0, 1] == 0.0


def test_johnson_a6_leg_in_the_air_moves_by_itself_and_carries_nothing():
    falling = one_leg(1.0, air=lambda q, v: 3.0)
    execution = simulate(falling, [0.0, 5.0, 0.2], [1.0, 0.0, 0.0], 0.5)
    assert execution.word == ("{}",)
    np.testing.assert_allclose(execution.q[-1], [0.5, 5.0 - GRAVITY / 8, 0.2 + 3.0 / 8], atol=1e-9)


def test_johnson_a12_leg_whose_impulse_leaves_the_cone_gets_out_of_the_way():
    execution = simulate(one_leg(0.05, air=lambda q, v: 60.0), [0.0, 0.45, 0.6], [1.5, -1.0, 0.0], 0.05)
    event = execution.events[0]
    assert event.kind is ExecutionEventKind.TOUCHDOWN
    assert event.after == HybridMode()
    np.testing.assert_allclose(event.velocity_after[:2], event.velocity_before[:2], atol=1e-9)  # no momentum
    problem = execution.system.problem(event.q, event.velocity_after)
    assert problem.normal_jacobian[0] @ event.velocity_after > -1e-9


def test_sliding_toe_below_its_mass_breaks_a5_and_is_reported():
    upright = simulate(one_leg(0.0), [0.0, LENGTH, 0.0], [0.0, 0.0, 0.0], 0.1)
    assert upright.status is ExecutionStatus.SINGULAR
    assert "A5" in upright.why


def test_slippery_robot_ends_with_a_status_and_without_penetration():
    robot = PlanarRHex(RHexParameters(friction=0.05), start=0.05)
    q = np.array([0.0, 0.0, 0.1, robot.stance, robot.stance])
    q[1] = 0.02 - robot.gap(q).min()
    execution = simulate(robot, q, np.zeros(5), 0.3, max_events=100, max_steps=5000)
    assert isinstance(execution.status, ExecutionStatus)
    assert min(robot.gap(x).min() for x in execution.q) > -1e-7


def test_limb_that_touches_and_carries_nothing_stays_out_of_the_ground_until_it_is_pressed():
    # The motor pulls the toe off while its own motion (Johnson's A6) would press it in: it rests until that is over
    robot = PlanarRHex(start=10.0)
    q = np.array([0.0, 0.0, -0.05, robot.stance, robot.stance])
    q[1] = -robot.gap(q)[0]
    execution = simulate(robot, q, [0.0, -0.1, 0.0, 0.0, 0.0], 0.25, law="pseudo-impulse")
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.word[-4:] == ("{front, rear}", "{rear}", "{front~, rear}", "{front, rear}")
    resting = execution.intervals[-3]
    assert resting.end - resting.start > 1e-3
    gap = np.array([robot.gap(x)[0] for x in resting.q])
    assert np.abs(gap).max() < 1e-8
    force = (
        ModeDynamics(execution.system, resting.mode, False, 1e-6)
        .motion(resting.start, resting.q[0], resting.v[0])
        .force
    )
    np.testing.assert_array_equal(force[0], 0.0)
