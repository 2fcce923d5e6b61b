"""Executions against closed forms: when modes end, what comes next, and where it leads."""

from itertools import pairwise

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import hybrid_contact_ros
from helpers.execution_systems import GRAVITY, bouncing_ball, box_energy, point_in_space, sliding_point, tumbling_box
from hybrid_contact_ros.simulation.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem


def test_public_name():
    assert hybrid_contact_ros.simulate is simulate


def test_plastic_ball_falls_and_stays():
    execution = simulate(bouncing_ball(), [1.0], [0.0], 1.0)
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.word == ("{}", "{ground}")
    (event,) = execution.events
    assert event.kind is EventKind.TOUCHDOWN
    assert event.time == pytest.approx(np.sqrt(2.0 / GRAVITY), abs=1e-12)
    assert event.impulse[0, 0] == pytest.approx(np.sqrt(2.0 * GRAVITY), rel=1e-9)
    np.testing.assert_allclose(execution.q[-1], 0.0, atol=1e-12)
    assert execution.intervals[-1].end == 1.0


def test_bounces_of_a_ball_are_a_geometric_series_and_end_at_its_zeno_time():
    e, first = 0.6, np.sqrt(2.0 / GRAVITY)
    execution = simulate(bouncing_ball(e), [1.0], [0.0], 2.5)
    times = np.array([event.time for event in execution.events])
    expected = first * (1.0 + 2.0 * sum(e**k for k in range(1, 9)))
    assert times[8] == pytest.approx(expected, rel=1e-9)
    zeno = first * (1.0 + 2.0 * e / (1.0 - e))
    ((lower, upper),) = execution.zeno_times
    assert lower - 1e-6 <= zeno <= upper + 1e-6
    assert upper - lower < 1e-5
    assert execution.word[-1] == "{ground}"
    assert set(execution.word[:-1]) == {"{}"}


def test_sliding_point_stops_where_friction_has_eaten_its_speed():
    execution = simulate(sliding_point(0.5), [0.0, 0.0], [1.0, 0.0], 1.0)
    assert execution.word == ("{ground~}", "{ground}")
    assert execution.events[0].kind is EventKind.STICK
    assert execution.events[0].time == pytest.approx(1.0 / (0.5 * GRAVITY), rel=1e-9)
    np.testing.assert_allclose(execution.q[-1], [1.0 / (2 * 0.5 * GRAVITY), 0.0], atol=1e-10)
    np.testing.assert_array_equal(execution.v[-1], 0.0)


def test_point_reverses_on_a_slope_that_is_too_steep():
    slope = 0.6  # tan 0.6 > 0.5
    execution = simulate(sliding_point(0.5, slope), [0.0, 0.0], [1.0, 0.0], 1.0)
    assert execution.word == ("{ground~}", "{ground~}")
    up = 1.0 / (GRAVITY * (np.sin(slope) + 0.5 * np.cos(slope)))
    assert execution.events[0].time == pytest.approx(up, rel=1e-9)
    down = -GRAVITY * (np.sin(slope) - 0.5 * np.cos(slope)) * (1.0 - up)
    assert execution.v[-1, 0] == pytest.approx(down, rel=1e-8)


def test_johnson_eq_70_sticking_point_slips_at_the_friction_cone_and_sticks_again():
    pulled = sliding_point(0.5, force=lambda t, q, v, mode: [12.0 * np.sin(2.0 * t), 0.0])
    execution = simulate(pulled, [0.0, 0.0], [0.0, 0.0], 2.0)
    limit = 0.5 * 2.0 * GRAVITY
    assert execution.events[0].kind is EventKind.SLIP
    assert execution.events[0].time == pytest.approx(0.5 * np.arcsin(limit / 12.0), rel=1e-9)
    assert execution.word == ("{ground}", "{ground~}", "{ground}")


def test_lifted_point_leaves_when_its_normal_force_vanishes():
    lifted = sliding_point(0.5, force=lambda t, q, v, mode: [0.0, 25.0 * t])
    execution = simulate(lifted, [0.0, 0.0], [0.0, 0.0], 1.0)
    (event,) = execution.events
    assert event.kind is EventKind.LIFTOFF
    assert event.time == pytest.approx(2.0 * GRAVITY / 25.0, rel=1e-9)
    assert event.trend_order == 1  # the force is zero there, and falling (J Definition 1)


def test_friction_in_space_brakes_along_the_velocity():
    execution = simulate(point_in_space(0.4), [0.0, 0.0, 0.0], [0.6, 0.8, 0.0], 1.0)
    assert execution.word == ("{ground~}", "{ground}")
    assert execution.events[0].time == pytest.approx(1.0 / (0.4 * GRAVITY), abs=1e-6)
    np.testing.assert_allclose(execution.q[-1, :2], np.array([0.6, 0.8]) / (2 * 0.4 * GRAVITY), atol=1e-6)


def test_sideways_force_bends_the_path_of_a_sliding_point_in_space_until_it_sticks():
    blown = point_in_space(0.4, force=lambda t, q, v, mode: [0.0, 1.5, 0.0])
    execution = simulate(blown, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 2.0)
    assert execution.word[0] == "{ground~}"
    assert execution.q[-1, 1] > 1e-3
    assert execution.word[-1] == "{ground}"  # 1.5 N is less than 0.4 · 9.81 N


def test_point_in_space_slips_where_a_growing_force_leaves_the_friction_cone():
    """From rest there is no velocity that friction could oppose: it opposes the force, which has no sign to try."""
    pulled = point_in_space(0.4, force=lambda t, q, v, mode: [6.0 * t, t, 0.0])
    execution = simulate(pulled, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 1.0)
    assert execution.word == ("{ground}", "{ground~}")
    begin = 0.4 * GRAVITY / np.sqrt(37.0)
    assert execution.events[0].time == pytest.approx(begin, abs=1e-6)
    along = np.array([6.0, 1.0, 0.0]) / np.sqrt(37.0)
    np.testing.assert_allclose(execution.v[-1], 0.5 * np.sqrt(37.0) * (1.0 - begin) ** 2 * along, atol=1e-5)


def test_frictionless_sliding_of_assumption_a12_never_stops():
    execution = simulate(sliding_point(0.5), [0.0, 0.0], [1.0, 0.0], 0.5, sliding_friction=False)
    assert execution.word == ("{ground~}",)
    np.testing.assert_allclose(execution.q[-1], [0.5, 0.0], atol=1e-12)


def test_flat_box_touches_down_with_both_corners_at_one_instant():
    for law in ("impulse-velocity", "pseudo-impulse", "simultaneous"):
        execution = simulate(tumbling_box(), [0.0, 0.5, 0.0], [0.0, 0.0, 0.0], 0.5, law=law)
        assert execution.word == ("{}", "{a, b}")
        assert execution.events[0].contacts == {0, 1}


@settings(max_examples=8)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.1, 0.5, 1.5]),
    st.sampled_from([0.0, 0.0, 0.4]),
    st.sampled_from(["impulse-velocity", "pseudo-impulse", "simultaneous"]),
)
def test_thrown_boxes_obey_the_definition_of_an_execution(seed, friction, restitution, law):
    rng = np.random.default_rng(seed)
    box = tumbling_box(friction, restitution)
    q, v = [0.0, 1.0, rng.uniform(-3, 3)], rng.normal(size=3) * [1.0, 1.0, 3.0]
    execution = simulate(box, q, v, 1.0, law=law)
    assert execution.status is ExecutionStatus.FINISHED
    domain = execution.time_domain  # J Definition 3: closed intervals that meet in one point
    assert domain[0][0] == 0.0 and domain[-1][1] == 1.0
    assert all(a <= b for a, b in domain)
    assert all(one[1] == other[0] for one, other in pairwise(domain))
    assert execution.most_at_once <= 2  # J Theorem 8
    assert np.diff(box_energy(execution, box)).max() < 1e-6
    for part in execution.intervals:  # J 74: every state is in its mode's domain
        closed = sorted(part.mode.closed)
        for q, v in zip(part.q, part.v, strict=True):
            problem = box.problem(q, v)
            assert problem.gap.min() > -1e-7
            assert np.abs(problem.gap[closed]).max(initial=0.0) < 1e-7
            assert np.abs(problem.normal_jacobian[closed] @ v).max(initial=0.0) < 1e-6
    assert execution.gap_drift < 1e-7
    assert execution.velocity_drift < 1e-5


def test_johnson_theorem_9_every_consistent_mode_leads_to_the_same_execution():
    box = tumbling_box(1.0)
    q, v = [0.0, 0.3, 0.0], [0.0, 0.0, 0.0]  # both lower corners touch
    expected = simulate(box, q, v, 0.1)
    assert expected.word == ("{a, b}",)
    for closed in ((), (0,), (1,), (0, 1)):
        execution = simulate(box, q, v, 0.1, mode=Mode.of(closed))
        assert execution.word[-1] == "{a, b}"
        assert len(execution.events) <= 1
        np.testing.assert_allclose(execution.q[-1], expected.q[-1], atol=1e-12)


def test_an_execution_is_the_same_twice_to_the_bit():
    first, second = (simulate(tumbling_box(0.3), [0, 1, 0.4], [0.5, 0, 1.0], 1.0) for _ in range(2))
    assert first.word == second.word
    np.testing.assert_array_equal(first.times, second.times)
    np.testing.assert_array_equal(first.v, second.v)


def test_states_between_steps():
    execution = simulate(bouncing_ball(), [1.0], [0.0], 1.0)
    for time in (0.0, 0.1234, 0.4):
        q, v = execution.at(time)
        assert q[0] == pytest.approx(1.0 - GRAVITY * time**2 / 2, abs=1e-10)
        assert v[0] == pytest.approx(-GRAVITY * time, abs=1e-10)
    with pytest.raises(ValueError, match="not within"):
        execution.at(1.5)
    energy = execution.energy()
    assert energy[0] == pytest.approx(GRAVITY)
    assert energy[-1] == pytest.approx(0.0, abs=1e-10)
    assert "touchdown" in str(execution)


def test_point_in_space_comes_back_down_a_slope_that_is_too_steep():
    uphill = 7.0  # N against 0.4 · 9.81 N of friction
    execution = simulate(
        point_in_space(0.4, lambda t, q, v, mode: [-uphill * 0.6, -uphill * 0.8, 0.0]), [0, 0, 0], [0.6, 0.8, 0], 0.5
    )
    up = 1.0 / (uphill + 0.4 * GRAVITY)
    speed = (uphill - 0.4 * GRAVITY) * (0.5 - up)
    np.testing.assert_allclose(execution.v[-1], [-0.6 * speed, -0.8 * speed, 0.0], atol=1e-5)


def test_start_mode_must_touch():
    for mode, why in (([5], "numbered"), ([0], "touch")):
        with pytest.raises(ValueError, match=why):
            simulate(bouncing_ball(), [1.0], [0.0], 1.0, mode=mode)


def test_in_space_a_point_that_is_pushed_back_reverses_as_on_a_line():
    push = point_in_space(0.5, lambda t, q, v, mode: [6.0, 0.0, 0.0])
    execution = simulate(push, [0, 0, 0], [-1, 0, 0], 0.4)
    stop, back = 1.0 / (6.0 + 0.5 * GRAVITY), 6.0 - 0.5 * GRAVITY
    assert [event.kind for event in execution.events] == [EventKind.SLIP]
    assert execution.events[0].time == pytest.approx(stop, abs=2e-7)
    assert execution.q[-1][0] == pytest.approx(-0.5 * stop + 0.5 * back * (0.4 - stop) ** 2, abs=1e-7)


@pytest.mark.parametrize("heading", [0.0, 0.3, 0.8, 2.0])
def test_the_simultaneous_law_has_coulomb_friction_in_every_direction_of_space(heading):
    way = np.array([np.cos(heading), np.sin(heading), 0.0])
    execution = simulate(point_in_space(0.5), [0, 0, 0], 3.0 * way - [0, 0, 1.0], 0.01, law="simultaneous")
    event = execution.events[0]
    np.testing.assert_allclose(event.velocity_after, 2.5 * way, atol=1e-12)
    np.testing.assert_allclose(event.impulse[0], [1.0, *(-0.5 * way[:2])], atol=1e-12)


def test_a_fast_wheel_that_has_stopped_slipping_rolls_without_any_slip():
    """Its slip is a small difference of large speeds, and what rounding leaves of it is no reason to keep the rest."""
    x, y, z, turn = sympy.symbols("x y z theta")
    along, across = sympy.Matrix([[1, 0, 0, 1]]), sympy.Matrix([[0, 1, 0, 0]])
    ground = Constraint("ground", z, (along, across), 0.5)
    wheel = LagrangianSystem("wheel", [x, y, z, turn], sympy.diag(1.0, 1.0, 1.0, 0.5), GRAVITY * z, [ground])
    execution = simulate(wheel, np.zeros(4), [-999.99, 0.0, 0.0, 1000.0], 0.01)
    assert execution.word == ("{ground~}", "{ground}")
    assert np.abs(execution.intervals[-1].v @ [1.0, 0.0, 0.0, 1.0]).max() < 1e-11
