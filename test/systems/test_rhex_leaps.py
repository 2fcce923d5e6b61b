"""Johnson's three leaps (Figs. 1, 5, 10), the impulse of Fig. 3 and the chatter of Fig. 4, with parameters of ours."""

import numpy as np
import pytest

from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
from hybrid_contact_ros.modes.pseudo_impulse import pseudo_impulse_mode
from hybrid_contact_ros.simulation.execution import ExecutionStatus
from hybrid_contact_ros.simulation.guards import Guards
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex
from hybrid_contact_ros.systems.rhex_leaps import DURATION, LEAPS, X_RHEX, nose_height, two_footed_landing

LAWS = ("impulse-velocity", "pseudo-impulse")


def leapt(name):
    leap = LEAPS[name]
    robot = leap.robot()
    run = simulate(robot, robot.crouch(), np.zeros(5), leap.t_final, law="pseudo-impulse", duration=DURATION)
    assert run.status is ExecutionStatus.FINISHED
    assert all(event.decided for event in run.events)
    return leap, robot, run


def test_johnson_figure_5_the_vertical_leap_rises_by_37_centimetres():
    leap, robot, run = leapt("vertical")
    assert run.q[:, 1].max() - run.q[0, 1] == pytest.approx(leap.published, abs=0.005)
    assert run.word[:5] == ("{front~, rear~}", "{front, rear~}", "{front~, rear~}", "{front~}", "{}")
    # vertical: it moves far less along the ground than up, and the legs push against each other and slide
    top = int(np.argmax(run.q[:, 1]))
    assert abs(run.q[top, 0]) < 0.25 * leap.published
    assert robot.crouch()[3] == -robot.crouch()[4]


@pytest.mark.parametrize("name", ["20 cm ledge", "73 cm ledge"])
def test_johnson_figures_1_and_10_the_nose_comes_above_the_ledge(name):
    leap, robot, run = leapt(name)
    assert nose_height(robot, run.q).max() > leap.published
    before = nose_height(robot, run.q[:1])[0]
    assert before < leap.published
    assert "{}" in run.word  # it flies
    assert run.q[-1, 0] > 0.1  # forward


def test_johnson_figure_1_the_body_flies_forward_over_a_ledge_of_20_centimetres():
    leap, robot, run = leapt("20 cm ledge")
    top = int(np.argmax(run.q[:, 1]))
    assert run.q[top, 1] - 0.5 * robot.parameters.body_height > leap.published
    assert run.v[top, 0] > 1.0 and 0.0 < run.q[top, 2] < 0.5 * np.pi  # its nose first and up


@pytest.mark.parametrize(
    ("name", "front", "rear", "delay"),
    [("20 cm ledge", 1.8, 2.5, 0.01), ("vertical", 0.8, 0.8, -0.06), ("73 cm ledge", 0.8, 0.8, 0.06)],
)
def test_leaps_have_the_published_friction_and_timing(name, front, rear, delay):
    robot = LEAPS[name].robot()
    problem = robot.problem(robot.crouch(), np.zeros(5))
    np.testing.assert_array_equal(problem.friction, [front, rear, 0.0, 0.0])
    assert robot.parameters.start_delay == delay and DURATION == 0.03
    starts = robot.start, robot.start + delay  # t₂ before the rear pair, the middle pair starts
    assert min(starts) == 0.0


def test_sliding_toes_have_no_friction():
    _, _, run = leapt("vertical")
    guards = Guards(run.system, Options())
    part = next(p for p in run.intervals if p.mode.sliding and p.times.size > 2)
    state = HybridState(float(part.times[1]), part.q[1], part.v[1], part.mode, {})
    now = guards.dynamics(state, guards.kinetic(guards.regular(state))).motion(state.time, state.q, state.v)
    toe = min(part.mode.sliding)
    assert now.force[toe, 0] > 0.1 and now.force[toe, 1] == 0.0


def test_public_sizes_of_x_rhex():
    """57 × 7.5 cm, and 12.5 cm between the ground and the body when it stands."""
    standing = PlanarRHex(X_RHEX, start=10.0, stance=0.0).crouch()
    assert X_RHEX.body_length == 0.57 and X_RHEX.body_height == 0.075
    assert standing[1] - 0.5 * X_RHEX.body_height == pytest.approx(0.125)


def test_johnson_figure_3_the_second_landing_pulls_at_the_front_leg_and_the_steady_force_outweighs_it():
    """Published: −1.47 N s, and 7.91 N s of δt times the steady force; with our parameters −0.50 and 1.01."""
    robot, q, v = two_footed_landing()
    landing = simulate(robot, q, v, 0.05).events[1]
    assert landing.contacts == {1} and round(landing.time, 3) == 0.023  # where the chatter of Fig. 4 begins
    problem = robot.problem(landing.q, landing.velocity_before)
    outcome = plastic_impact(problem, [0, 1])
    pull = outcome.impulse[0, 0]
    held = force_acceleration_mode(robot.problem(landing.q, outcome.velocity), [0, 1])
    assert held.mode == {0, 1}
    assert pull == pytest.approx(-0.497, abs=1e-3)
    assert DURATION * held.forces[0, 0] == pytest.approx(1.005, abs=1e-3)
    assert impulse_velocity_mode(problem, [0, 1]).mode == {1}  # so that the front leg is lost without δt
    assert pseudo_impulse_mode(problem, [0, 1], DURATION).mode == {0, 1}


def test_johnson_figure_4_legs_chatter_without_the_pseudo_impulse_and_stay_with_it():
    robot, q, v = two_footed_landing()
    plain, held = (simulate(robot, q, v, 0.12, law=law, duration=DURATION) for law in LAWS)
    assert plain.status is held.status is ExecutionStatus.FINISHED
    assert held.word == ("{}", "{front}", "{front, rear}") and held.zeno_times == ()
    chatter = plain.word[1:-1]
    assert len(chatter) >= 8
    assert all(label == ("{front}", "{rear}")[i % 2] for i, label in enumerate(chatter))  # in turns
    times = np.array([event.time for event in plain.events[1 : len(chatter)]])
    assert (np.diff(times) > 0.0).all() and times[-1] < 0.07
    # the same until the rear leg lands
    assert plain.events[1].time == held.events[1].time
