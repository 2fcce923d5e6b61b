"""Executions of robots from a URDF: configurations with quaternions, against closed forms."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

from helpers.robot_systems import GRAVITY, ball, block, cube, free_body, standing, turning
from hybrid_contact_ros.simulation.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.hybrid_system import hybrid_system
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.robot import RobotSystem

LAWS = ("impulse-velocity", "pseudo-impulse", "simultaneous")
SPINNING = (1.0, -0.5, 2.0, 7.0, -5.0, 3.0)


def world_velocity(q, v):
    return pin.Quaternion(q[3:7]).toRotationMatrix() @ v[:3]


def test_a_thrown_cube_keeps_energy_and_angular_momentum_and_its_centre_of_mass_follows_a_parabola():
    model = cube()
    q, v = standing(1.0, SPINNING)
    execution = simulate(model, q, v, 0.5)
    assert execution.word == ("{}",)
    assert np.ptp(execution.energy()) < 1e-10
    assert np.abs(np.linalg.norm(execution.q[:, 3:7], axis=1) - 1.0).max() < 1e-14
    robot, data = model.pinocchio_model, model.pinocchio_model.createData()
    centres, spins = [], []
    for q_, v_ in zip(execution.q, execution.v, strict=True):
        spins.append(pin.computeCentroidalMomentum(robot, data, q_, v_).angular.copy())
        centres.append(pin.centerOfMass(robot, data, q_, v_).copy())
    rate = data.vcom[0] + [0.0, 0.0, GRAVITY * 0.5]
    t = execution.times[:, None]
    np.testing.assert_allclose(centres, centres[0] + rate * t - [0.0, 0.0, GRAVITY / 2] * t**2, atol=1e-9)
    np.testing.assert_allclose(spins, spins[:1] * len(spins), atol=1e-10)


def test_free_rotation_agrees_with_eulers_equations_and_products_of_exponentials():
    """About the middle axis, where it tumbles; the base's velocity is in the base frame and turns with it."""
    moments = np.array([0.01, 0.03, 0.05])
    model = free_body([(0.0, 0.0, 0.0)], 2.0, moments)
    q, v = standing(50.0, (3.0, 0.0, 0.0, 0.1, 8.0, 0.2))
    execution = simulate(model, q, v, 1.5)
    fine = np.linspace(0.0, 1.5, 6001)
    euler = solve_ivp(
        lambda t, w: np.cross(moments * w, w) / moments, (0, 1.5), v[3:], "DOP853", fine, rtol=1e-11, atol=1e-12
    )
    middle = 0.5 * (euler.y.T[1:] + euler.y.T[:-1])
    turned = np.eye(3)
    for w in middle:
        turned = turned @ pin.exp3(w * (fine[1] - fine[0]))
    np.testing.assert_allclose(execution.v[-1, 3:], euler.y[:, -1], atol=1e-7)
    np.testing.assert_allclose(pin.Quaternion(execution.q[-1, 3:7]).toRotationMatrix(), turned, atol=1e-5)
    np.testing.assert_allclose(world_velocity(execution.q[-1], execution.v[-1]), [3, 0, -1.5 * GRAVITY], atol=1e-8)


def test_states_between_steps_are_on_the_manifold_and_near_the_flow():
    q, v = standing(1.0, SPINNING)
    coarse, fine = (simulate(cube(), q, v, 0.2, max_step=step) for step in (0.02, 0.001))
    for time in (0.0, 0.0512, 0.1234, 0.2):
        (a, b), (c, d) = coarse.at(time), fine.at(time)
        assert abs(np.linalg.norm(a[3:7]) - 1.0) < 1e-14
        np.testing.assert_allclose(a, c, atol=2e-5)
        np.testing.assert_allclose(b, d, atol=2e-3)


def test_bounces_of_a_ball_are_a_geometric_series_while_it_spins():
    e, first = 0.6, np.sqrt(2.0 / GRAVITY)
    q, v = standing(1.1, (0.5, 0.0, 0.0, 0.0, 0.0, 9.0))
    execution = simulate(ball(restitution=e, friction=0.0), q, v, 2.5)
    times = np.array([event.time for event in execution.events])
    np.testing.assert_allclose(times[:9], first * (1 + 2 * np.cumsum([0, *(e**k for k in range(1, 9))])), rtol=1e-8)
    ((lower, upper),) = execution.zeno_times
    assert lower - 1e-6 <= first * (1.0 + 2.0 * e / (1.0 - e)) <= upper + 1e-6
    np.testing.assert_allclose(world_velocity(execution.q[-1], execution.v[-1]), [0.5, 0.0, 0.0], atol=1e-8)


def test_a_sliding_ball_rolls_when_two_sevenths_of_its_speed_are_gone():
    """It turns while it slides, so that its base frame does too."""
    q, v = standing(0.1, (0.6, 0.8, 0.0, 0.0, 0.0, 0.0))
    execution = simulate(ball(friction=0.3), q, v, 1.5)
    assert execution.word == ("{c~}", "{c}")
    assert execution.events[0].kind is EventKind.STICK
    assert execution.events[0].time == pytest.approx(2.0 / (7.0 * 0.3 * GRAVITY), abs=1e-6)
    np.testing.assert_allclose(
        world_velocity(execution.q[-1], execution.v[-1]), np.array([0.6, 0.8, 0.0]) * 5 / 7, atol=2e-6
    )
    assert execution.gap_drift < 1e-9


def test_a_block_on_four_corners_slides_until_friction_has_eaten_its_speed():
    q, v = standing(0.05, (0.8, -0.6, 0.0, 0.0, 0.0, 0.0))
    execution = simulate(block(friction=0.4), q, v, 0.5)
    assert set(execution.word[:-1]) == {"{c_0~, c_1~, c_2~, c_3~}"}
    assert execution.word[-1] == "{c_0, c_1, c_2, c_3}"
    assert execution.events[-1].time == pytest.approx(1.0 / (0.4 * GRAVITY), abs=1e-6)
    np.testing.assert_allclose(execution.q[-1, :2], np.array([0.8, -0.6]) / (2 * 0.4 * GRAVITY), atol=1e-6)
    assert np.abs(execution.v[-1]).max() < 1e-9


def test_a_block_spun_on_its_face_stops_with_all_corners_and_stays_flat():
    q, v = standing(0.05, (0.3, 0.0, 0.0, 0.0, 0.0, 6.0))
    execution = simulate(block(friction=0.4), q, v, 1.0)
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.word[-1] == "{c_0, c_1, c_2, c_3}"
    assert np.diff(execution.energy()).max() < 1e-9
    assert np.abs(execution.q[:, 2] - 0.05).max() < 1e-9
    assert np.abs(execution.v[-1]).max() < 1e-9


@pytest.mark.parametrize("law", LAWS)
def test_a_thrown_cube_never_gains_energy_nor_enters_the_board(law):
    q, v = standing(0.12, (0.5, 0.0, 0.0, 1.0, 7.0, -5.0))
    model = cube()
    execution = simulate(model, q, v, 0.35, law=law)
    assert execution.status is ExecutionStatus.FINISHED
    assert len(execution.events) > 5
    assert np.diff(execution.energy()).max() < 1e-7
    system = RobotSystem(model)
    for part in execution.intervals:
        closed = sorted(part.mode.closed)
        for q_, v_ in zip(part.q, part.v, strict=True):
            problem = system.problem(q_, v_)
            assert problem.gap.min() > -1e-7
            assert np.abs(problem.gap[closed]).max(initial=0.0) < 1e-7
            assert np.abs(problem.normal_jacobian[closed] @ v_).max(initial=0.0) < 1e-6


def test_a_block_that_leans_on_an_edge_rocks_and_comes_to_rest_on_all_corners():
    model = block(friction=1.0)
    angle = 0.15
    q, v = standing(0.0)
    q[3:7] = pin.Quaternion(pin.exp3(np.array([angle, 0.0, 0.0]))).coeffs()
    q[2] -= RobotSystem(model).gap(q).min()
    execution = simulate(model, q, v, 1.0, law="pseudo-impulse")
    assert execution.word[0] == "{c_0, c_2}"
    assert execution.word[-1] == "{c_0, c_1, c_2, c_3}"
    assert np.abs(execution.v[-1]).max() < 1e-9
    assert np.diff(execution.energy()).max() < 1e-9


def test_a_block_starts_to_slide_in_space_where_the_push_leaves_the_friction_cone():
    """The push grows along a slanted direction; a contact in space has no two directions to choose from."""
    push = 3.0

    def effort(time, q, v, mode):
        return [0.8 * push * time, 0.6 * push * time, 0.0, 0.0, 0.0, 0.0]

    q, v = standing(0.1)
    execution = simulate(ball(friction=0.4, radius=0.1), q, v, 0.1, effort=effort)
    assert execution.word == ("{c}",)  # it rolls
    point = free_body([(0.0, 0.0, 0.0)], 2.0, (10.0, 10.0, 10.0), friction=0.1)
    execution = simulate(point, *standing(0.0), 1.0, effort=effort)
    assert [event.kind for event in execution.events] == [EventKind.SLIP]
    assert execution.events[0].time == pytest.approx(0.1 * 2.0 * GRAVITY / push, abs=1e-6)
    np.testing.assert_allclose(execution.v[-1, 0] / execution.v[-1, 1], 4.0 / 3.0, rtol=1e-6)
    later = 1.0 - execution.events[0].time
    np.testing.assert_allclose(np.hypot(*execution.v[-1, :2]), push * later**2 / 4.0, rtol=1e-5)


def test_effort_may_depend_on_the_mode_and_on_time():
    """Held up by its own weight while open, and let go at 0.1 s; in contact nothing pushes."""
    seen = set()

    def effort(time, q, v, mode):
        seen.add(mode)
        hold = time < 0.1 and not mode
        return [0.0, 0.0, 2.0 * GRAVITY if hold else 0.0, 0.0, 0.0, 0.0]

    execution = simulate(block(friction=0.5), *standing(0.06), 0.3, effort=effort, max_step=0.005)
    assert execution.word == ("{}", "{c_0, c_1, c_2, c_3}")
    assert execution.events[0].time == pytest.approx(0.1 + np.sqrt(2 * 0.01 / GRAVITY), abs=1e-5)
    assert seen == {frozenset(), frozenset(range(4))}


def test_constant_efforts_of_the_joints_or_of_all_velocities():
    hinge = turning(axis="0 0 1")  # upright: no gravity
    assert simulate(hinge, [0.0], [0.0], 0.5, effort=[0.04]).q[-1, 0] == pytest.approx(0.5 * 2.0 * 0.25, rel=1e-9)
    floating = RobotSystem(block(), np.zeros(6))
    assert not floating.effort(*standing(1.0)).any()
    assert not RobotSystem(block(), np.zeros(0)).effort(*standing(1.0)).any()  # it has no joints


def test_an_arm_stops_at_its_joint_limit_and_a_motor_takes_it_off_again():
    hinge = turning(axis="0 0 1", joint_limits=["hinge"])
    execution = simulate(hinge, [0.0], [2.0], 1.0, effort=lambda t, q, v, mode: [-0.04 if t > 0.5 else 0.02])
    assert execution.word == ("{}", "{hinge_upper}", "{}")
    assert execution.events[0].time == pytest.approx(np.sqrt(5.0) - 2.0, rel=1e-9)
    assert execution.events[1].kind is EventKind.LIFTOFF
    assert execution.events[1].time == pytest.approx(0.5, abs=1e-6)
    assert execution.q.max() < 0.5 + 1e-9


def test_a_continuous_joint_turns_at_constant_speed_on_its_circle():
    execution = simulate(turning("continuous"), [1.0, 0.0], [3.0], 2.5)
    assert (execution.q.shape[1], execution.v.shape[1]) == (2, 1)
    np.testing.assert_allclose(execution.q[-1], [np.cos(7.5), np.sin(7.5)], atol=1e-9)
    assert np.abs(np.linalg.norm(execution.q, axis=1) - 1.0).max() < 1e-14


def test_modes_of_a_block_are_those_of_its_corners():
    model = block(friction=0.5)
    found = hybrid_system(model, searches=2)
    assert {mode.closed for mode in found.modes} >= {frozenset(s) for s in ((), (0,), (0, 1), (0, 3), (0, 1, 2, 3))}
    domain = found.domains[Mode.of(range(4))]
    assert domain.witness.shape == (7,)
    assert domain.contains(domain.witness, np.zeros(6))
    rate = found.vector_field(Mode(), *standing(1.0, (0, 0, 0, 0, 0, 2.0)))
    np.testing.assert_allclose(rate, [0, 0, 0, 0, 0, 1, 0, 0, 0, -GRAVITY, 0, 0, 0], atol=1e-12)
    assert found.next_mode(Mode(), *standing(0.05)) == Mode.of(range(4))


@pytest.mark.parametrize(
    ("q", "v", "more", "why"),
    [
        (np.zeros(7), np.zeros(6), {}, "manifold"),
        (np.zeros(6), np.zeros(6), {}, "q has shape"),
        (standing(0.1)[0], np.zeros(7), {}, "v has shape"),
        (np.full(7, np.nan), np.zeros(6), {}, "finite"),
        (standing(0.01)[0], np.zeros(6), {}, "penetrates"),
        (standing(0.1)[0], np.zeros(6), {"effort": [1.0, 2.0]}, "effort has shape"),
        (standing(0.1)[0], np.zeros(6), {"effort": [np.inf] * 6}, "finite"),
        (standing(0.1)[0], np.zeros(6), {"effort": lambda t, q, v, mode: [1.0]}, "effort has shape"),
    ],
)
def test_bad_input_is_refused(q, v, more, why):
    with pytest.raises(ValueError, match=why):
        simulate(block(), q, v, 1.0, **more)


def test_an_effort_that_fails_on_the_way_ends_the_execution_with_its_reason():
    execution = simulate(block(), *standing(1.0), 0.3, effort=lambda t, q, v, m: np.full(6, np.nan if t > 0.1 else 0))
    assert execution.status is ExecutionStatus.DIVERGED
    assert "finite" in execution.why


def test_effort_is_for_robots():
    with pytest.raises(ValueError, match="forces of its own"):
        simulate(RobotSystem(block()), *standing(1.0), 0.1, effort=np.zeros(6))


def test_an_execution_of_a_robot_is_the_same_twice_to_the_bit():
    first, second = (simulate(cube(), *standing(0.12, SPINNING), 0.2) for _ in range(2))
    np.testing.assert_array_equal(first.q, second.q)
    np.testing.assert_array_equal(first.v, second.v)
