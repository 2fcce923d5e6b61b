"""The examples of J in executions: hill, settling block, ceiling, leaping robot."""

import numpy as np
import pytest

from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
from hybrid_contact_ros.modes.pseudo_impulse import pseudo_impulse_mode
from hybrid_contact_ros.simulation.execution import ExecutionEventKind, ExecutionStatus
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.ceiling import ceiling
from hybrid_contact_ros.systems.curves import curve
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex
from hybrid_contact_ros.systems.point_and_hill import point_and_hill, stopping_speed
from hybrid_contact_ros.systems.settling_block import (
    HEIGHT,
    LEAN,
    MASS,
    WIDTH,
    corner_impulse,
    leaning,
    resting_speed,
    settling_block,
)

LAWS = ("impulse-velocity", "pseudo-impulse")


def landing_on_r(speed, width=WIDTH, height=HEIGHT, mass=MASS):
    """The block flat on the ground, turning about l so that its centre falls at ``speed``."""
    rate = 2.0 * speed / width
    return settling_block(width, height, mass).problem([0.0, height / 2, 0.0], [rate * height / 2, -speed, -rate])


@pytest.mark.parametrize(("width", "height"), [(0.05, 0.1), (0.1, 0.05), (0.1, 0.072), (0.1, 0.069)])
def test_johnson_eq_100_impulse_at_the_corner_that_stays(width, height):
    outcome = plastic_impact(landing_on_r(0.2, width, height), [0, 1])
    assert outcome.impulse[0, 0] == pytest.approx(corner_impulse(0.2, width, height), rel=1e-9)


@pytest.mark.parametrize("height", [0.069, 0.072])
def test_johnson_eq_101_a_slender_block_lifts_its_other_corner_at_any_speed(height):
    width = 0.1  # with the sign as in corner_impulse: h² > w² − 4 I / m, that is h > w / √2 = 0.0707
    for speed in (1e-3, 1.0):
        mode = impulse_velocity_mode(landing_on_r(speed, width, height), [0, 1]).mode
        assert mode == ({1} if height > 0.0707 else {0, 1})


def test_johnson_eq_102_103_block_rests_below_six_point_three_centimetres_a_second():
    threshold = resting_speed()
    assert round(100 * threshold, 1) == 6.3  # cm/s, as published
    assert pseudo_impulse_mode(landing_on_r(0.99 * threshold), [0, 1], 0.03).mode == {0, 1}
    assert pseudo_impulse_mode(landing_on_r(1.01 * threshold), [0, 1], 0.03).mode == {1}


def test_johnson_eq_100_as_printed_contradicts_the_published_speed():
    inertia = MASS * (WIDTH**2 + HEIGHT**2) / 12.0
    printed = (2.0 * inertia + MASS * (WIDTH**2 - HEIGHT**2) / 2.0) / WIDTH**2
    assert -0.03 * MASS * 9.81 / 2.0 / printed == pytest.approx(0.2207, abs=1e-4)  # m/s, not 0.063


def test_johnson_figures_8_and_9_the_block_chatters_without_and_rests_with_the_pseudo_impulse():
    start, block = leaning(0.2), settling_block()
    plain = simulate(block, start, np.zeros(3), 0.8)
    held = simulate(block, start, np.zeros(3), 0.8, law="pseudo-impulse", duration=0.03)
    assert plain.status is held.status is ExecutionStatus.FINISHED
    # Johnson (104), and Corollary 1: at the Zeno point both are closed
    zeno = plain.word[: plain.word.index("{l, r}")]
    assert len(zeno) > 20
    assert all(label == ("{l}", "{r}")[i % 2] for i, label in enumerate(zeno) if i < 20)
    assert plain.word[-1] == "{l, r}"
    assert len(plain.zeno_times) == 1
    # identical until the last impact, which is the first slower than 6.3 cm/s
    assert held.word[-1] == "{l, r}"
    assert held.word[:-1] == plain.word[: len(held.word) - 1]
    speeds = [-event.velocity_before[1] for event in held.events]
    assert speeds[-1] < resting_speed() < min(speeds[:-1])
    np.testing.assert_allclose(held.v[-1], 0.0, atol=1e-12)
    for one, other in zip(held.events[:-1], plain.events, strict=False):
        assert one.time == other.time


def test_johnson_figure_9_the_impact_that_ends_it_comes_at_0_27_seconds_with_4_99_centimetres_a_second():
    start, block = leaning(LEAN), settling_block()
    plain = simulate(block, start, np.zeros(3), 0.4)
    held = simulate(block, start, np.zeros(3), 0.4, law="pseudo-impulse", duration=0.03)
    last = held.events[-1]
    assert round(last.time, 2) == 0.27 and last.time == pytest.approx(0.2699, abs=5e-5)
    assert -100 * last.velocity_before[1] == pytest.approx(4.99, abs=5e-3)  # cm/s, below the 6.3 of Johnson (103)
    assert -100 * held.events[-2].velocity_before[1] > 6.3  # and the one before is above
    assert held.word == ("{l}", "{r}", "{l}", "{l, r}")
    # identical until then, with and without; then the one rests and the other goes on
    twin = plain.events[len(held.events) - 1]
    assert twin.time == last.time and np.array_equal(twin.velocity_before, last.velocity_before)
    np.testing.assert_allclose(last.velocity_after, 0.0, atol=1e-12)
    assert twin.velocity_after[1] > 0.03 and len(plain.events) > len(held.events) + 3


def test_housner_ratio_of_speeds_in_a_row_of_impacts():
    execution = simulate(settling_block(), leaning(0.2), np.zeros(3), 0.4)
    square = (WIDTH**2 + HEIGHT**2) / 12.0
    ratio = (square + (HEIGHT**2 - WIDTH**2) / 4.0) / (square + (HEIGHT**2 + WIDTH**2) / 4.0)
    for event in execution.events:
        assert event.velocity_after[2] / event.velocity_before[2] == pytest.approx(ratio, rel=1e-6)


def test_johnson_theorem_11_forces_press_both_corners_so_that_no_zeno_is_left():
    for duration in (1e-4, 1e-3, 0.03):
        execution = simulate(settling_block(), leaning(0.2), np.zeros(3), 0.6, law="pseudo-impulse", duration=duration)
        assert execution.zeno_times == ()
        assert execution.word[-1] == "{l, r}"
        assert execution.events[-1].kind is ExecutionEventKind.TOUCHDOWN


@pytest.mark.parametrize("mass", [0.1, 7.0])
@pytest.mark.parametrize("slope", [0.2, 0.7, 1.4])
def test_johnson_figure_7_a_slow_point_stops_at_the_foot_of_the_hill(mass, slope):
    hill, threshold = point_and_hill(slope, mass), stopping_speed(slope, 0.03)
    for speed in (0.98 * threshold, 1.02 * threshold):
        problem = hill.problem([0.0, 0.0], [speed, 0.0])
        assert impulse_velocity_mode(problem, [0, 1]).mode == {1}  # at any speed (Johnson, Lemma 10)
        held = pseudo_impulse_mode(problem, [0, 1], 0.03).mode
        assert held == ({0, 1} if speed < threshold else {1})


def test_johnson_figure_7_executions():
    hill = point_and_hill(0.5)
    slow = 0.5 * stopping_speed(0.5, 0.03)
    assert simulate(hill, [-0.1, 0.0], [slow, 0.0], 3.0, law="pseudo-impulse").word == ("{G}", "{G, H}")
    assert simulate(hill, [-0.1, 0.0], [slow, 0.0], 3.0).word == ("{G}", "{H}", "{G}")
    up = simulate(hill, [-0.1, 0.0], [1.0, 0.0], 0.3)
    assert np.linalg.norm(up.events[0].velocity_after) == pytest.approx(np.cos(0.5))


def test_johnson_theorem_8_ball_at_a_ceiling_impacts_and_leaves_at_one_instant():
    execution = simulate(ceiling(), [0.0], [6.0], 1.0)
    assert execution.word == ("{}", "{ceiling}", "{}")
    assert execution.most_at_once == 2
    assert execution.events[0].time == execution.events[1].time
    assert [event.kind for event in execution.events] == [ExecutionEventKind.TOUCHDOWN, ExecutionEventKind.LIFTOFF]
    assert execution.time_domain[1][0] == execution.time_domain[1][1]  # a degenerate interval of Johnson, Definition 3


def test_robot_with_massless_legs_leaps():
    # Johnson, Figs. 1 and 5 in kind (parameters are ours): the front leg leaves, then the rear one, and the body flies
    robot = PlanarRHex()
    execution = simulate(robot, robot.crouch(), np.zeros(5), 0.42)
    closed = [part.mode.closed for part in execution.intervals]
    order = [c for i, c in enumerate(closed) if i == 0 or c != closed[i - 1]]
    assert order == [{0, 1}, {1}, set()]
    assert execution.q[:, 1].max() - execution.q[0, 1] > 0.25
    apex = execution.intervals[-1]
    flight = apex.v[0, 1] / 9.81
    assert apex.q[:, 1].max() == pytest.approx(apex.q[0, 1] + apex.v[0, 1] * flight / 2, abs=1e-3)


def test_johnson_figure_3_pseudo_impulse_keeps_the_front_leg_when_the_rear_one_lands():
    robot = PlanarRHex(start=10.0)
    q = np.array([0.0, 0.0, -0.05, robot.stance, robot.stance])
    q[1] = -robot.gap(q)[0]  # the front toe on the ground
    words = [simulate(robot, q, [0.0, -0.1, 0.0, 0.0, 0.0], 0.06, law=law).word for law in LAWS]
    assert words[0][:3] == ("{}", "{front}", "{rear}")
    assert words[1][:3] == ("{}", "{front}", "{front, rear}")


def test_massless_robot_refuses_what_needs_mass():
    robot = PlanarRHex()
    with pytest.raises(ValueError, match="simultaneous"):
        simulate(robot, robot.crouch(), np.zeros(5), 0.1, law="simultaneous")


def test_impossible_parameters_are_refused():
    with pytest.raises(ValueError, match="slope"):
        point_and_hill(2.0)
    with pytest.raises(ValueError, match="case"):
        curve("e")
