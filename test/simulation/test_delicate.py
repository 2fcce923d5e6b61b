"""Executions where it is delicate: grazing, vanishing forces, alternation, Zeno, limits, bad input."""

from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from helpers.execution_systems import GRAVITY, bouncing_ball, sliding_point, tumbling_box
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation import zeno
from hybrid_contact_ros.simulation.execution import ExecutionEventKind, ExecutionStatus
from hybrid_contact_ros.simulation.options import Tolerances
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.curves import STAYS, curve
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem


@pytest.mark.parametrize("case", list("abcd"))
def test_johnson_figure_2_point_stays_on_the_curve_where_the_gap_is_trending_negative(case):
    execution = simulate(curve(case), [0.0, 0.0], [1.0, 0.0], 0.3)
    assert execution.word == (("{curve}" if STAYS[case] else "{}"),)


def test_johnson_figure_2c_point_leaves_the_curve_where_its_force_changes_sign():
    start = np.array([1.0, -3.0 / 8.0])  # along the curve y = −x³/8 at x = −1
    execution = simulate(curve("c"), [-1.0, 1.0 / 8.0], start, 2.0)
    assert execution.word == ("{curve}", "{}")
    np.testing.assert_allclose(execution.events[0].q, 0.0, atol=1e-7)
    assert execution.events[0].trend_order == 1


def test_johnson_figure_2d_open_contact_closes_without_impact():
    # The case that Johnson's own simulation misses (§4.4): the contact is not active before
    execution = simulate(curve("d"), [-1.0, 0.0], [1.0, 0.0], 1.5)
    assert execution.word == ("{}", "{curve}")
    (event,) = execution.events
    assert event.kind is ExecutionEventKind.CLOSING
    assert event.time == pytest.approx(1.0, abs=1e-4)  # the gap is (1 − t)³
    assert event.trend_order == 1


def under_a_ceiling(height):
    x, y = sympy.symbols("x y")
    return LagrangianSystem("thrown", [x, y], sympy.eye(2), GRAVITY * y, [Constraint("ceiling", height - y)])


def test_grazing_is_noticed_and_changes_nothing():
    top = 2.0**2 / (2 * GRAVITY)
    execution = simulate(under_a_ceiling(top), [0.0, 0.0], [1.0, 2.0], 0.6)
    assert [event.kind for event in execution.events] == [ExecutionEventKind.GRAZING]
    assert execution.events[0].time == pytest.approx(2.0 / GRAVITY, abs=1e-6)
    assert execution.word == ("{}",)
    assert simulate(under_a_ceiling(top + 1e-6), [0.0, 0.0], [1.0, 2.0], 0.6).events == ()


def test_dip_between_two_steps_is_not_missed():
    top = 2.0**2 / (2 * GRAVITY)
    execution = simulate(under_a_ceiling(top - 1e-7), [0.0, 0.0], [1.0, 2.0], 0.6, max_step=0.5)
    assert [event.kind for event in execution.events] == [ExecutionEventKind.TOUCHDOWN, ExecutionEventKind.LIFTOFF]


def passing(curve):
    """A point that flies over y = −curve(x) with a speed of 1 m/s, without weight."""
    x, y = sympy.symbols("x y")
    bump = Constraint("bump", y + curve(x), restitution=0.5)
    return LagrangianSystem("passing", (x, y), sympy.eye(2), sympy.S.Zero, [bump])


@pytest.mark.parametrize("start", [-2.0, -2.013, -1.7, -3.3])
@pytest.mark.parametrize("curve", [lambda x: x**2, lambda x: x**4, lambda x: 1 - sympy.cos(x)])
def test_grazing_is_seen_wherever_the_samples_of_a_step_fall(curve, start):
    for height in (0.0, 1e-10):
        (event,) = simulate(passing(curve), [start, height], [1.0, 0.0], 4.5).events
        assert event.kind is ExecutionEventKind.GRAZING
        assert event.time == pytest.approx(-start, abs=1e-6)
    assert simulate(passing(curve), [start, 1e-8], [1.0, 0.0], 4.5).events == ()


def test_a_dip_within_the_gap_tolerance_is_the_same_impact_from_every_start():
    for start in (-2.0, -2.013, -1.7, -3.3):
        (event,) = simulate(passing(lambda x: x**2), [start, -1e-10], [1.0, 0.0], 4.5).events
        assert event.kind is ExecutionEventKind.TOUCHDOWN and event.bounced == {0}
        assert event.time == pytest.approx(-start - 1e-5, abs=1e-9)
        (event,) = simulate(passing(lambda x: x**4), [start, -1e-10], [1.0, 0.0], 4.5).events
        assert event.kind is ExecutionEventKind.GRAZING  # it falls by less than the velocity tolerance


@pytest.mark.parametrize("order", [1, 3, 5, 7, 9])
@pytest.mark.parametrize("mode", [None, [0]])
def test_a_force_that_starts_to_lift_by_a_high_derivative_lifts(order, mode):
    lifted = LagrangianSystem(
        "lifted",
        (sympy.Symbol("y"),),
        sympy.eye(1),
        sympy.S.Zero,
        [Constraint("ground", sympy.Symbol("y"))],
        force=lambda t, q, v, mode: [t**order],
    )
    execution = simulate(lifted, [0.0], [0.0], 1.0, mode=mode)
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.word[-1] == "{}"
    assert execution.q[-1, 0] == pytest.approx(1.0 / ((order + 1) * (order + 2)), abs=1e-6)


def test_between_steps_an_execution_is_as_good_as_at_them():
    y = sympy.Symbol("y")
    system = LagrangianSystem("oscillator", (y,), sympy.eye(1), 450 * y**2, [Constraint("wall", y + 2)])
    execution = simulate(system, [1.0], [0.0], 1.0)
    assert len(execution.times) < 100
    error = [
        max(abs(q[0] - np.cos(30 * t)), abs(v[0] + 30 * np.sin(30 * t)) / 30)
        for t in np.linspace(0.0, 1.0, 999)
        for q, v in [execution.at(t)]
    ]
    assert max(error) < 1e-8
    for part in simulate(bouncing_ball(0.5), [1.0], [0.0], 2.0).intervals:
        for i, time in enumerate(part.times):
            np.testing.assert_array_equal(np.concatenate(part.at(time)), np.concatenate((part.q[i], part.v[i])))


class Corners:
    """A planar box of 1 kg over a floor and beside a wall: the vertical and horizontal gaps of four corners."""

    def __init__(self, width, height, friction):
        self.half, self.friction = (width, height), friction
        self.inertia = (width**2 + height**2) / 3.0

    def problem(self, q, v):
        c, s = np.cos(q[2]), np.sin(q[2])
        normals, tangents, gaps, drifts = [], [], [], []
        for a, b in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            r = np.array([c * a * self.half[0] - s * b * self.half[1], s * a * self.half[0] + c * b * self.half[1]])
            along, up, centripetal = [1, 0, -r[1]], [0, 1, r[0]], -r * v[2] ** 2
            normals += [up, along]
            tangents += [[along], [up]]
            gaps += [q[1] + r[1], q[0] + r[0]]
            drifts += [centripetal[::-1], centripetal]
        mass, n = np.diag([1.0, 1.0, self.inertia]), len(gaps)
        bias = [0, GRAVITY, 0]
        mu = np.full(n, self.friction)
        return ContactProblem(mass, v, normals, tangents, mu, gap=gaps, bias_force=bias, jacobian_drift=drifts)


def test_johnson_theorem_8_holds_where_an_impact_sends_back_a_contact_that_was_leaving():
    # At 0.33305 s a corner hits while another is 4e-11 m off and leaving, and sends it back: one impact of both
    box = Corners(0.23429187528485518, 0.2651030837197312, 0.6)
    execution = simulate(box, [0.9452, 0.653, -2.0793], [-2.8717, -0.093, 3.5186], 0.45, law="simultaneous")
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.most_at_once <= 2


@pytest.mark.parametrize("law", ["impulse-velocity", "pseudo-impulse", "simultaneous"])
def test_a_symmetric_hit_of_a_corner_is_answered_symmetrically(law):
    x, y = sympy.symbols("x y")
    walls = [
        Constraint("a", x, (sympy.Matrix([[0, 1]]),), 0.5, 0.5),
        Constraint("b", y, (sympy.Matrix([[1, 0]]),), 0.5, 0.5),
    ]
    corner = LagrangianSystem("corner", (x, y), sympy.eye(2), sympy.S.Zero, walls)
    execution = simulate(corner, [1.0, 1.0], [-1.0, -1.0], 2.0, law=law)
    np.testing.assert_allclose(execution.v[-1], [1 / 3, 1 / 3], atol=1e-9)  # each wall pushes 2/3, rubs 1/3
    np.testing.assert_allclose(execution.events[0].impulse, [[1.0, 1 / 3], [1.0, 1 / 3]], atol=1e-9)


def test_johnson_section_4_6_forces_that_depend_on_the_mode_may_alternate():
    lifted_once_down = bouncing_ball(force=lambda t, q, v, mode: [2 * GRAVITY if mode else 0.0])
    execution = simulate(lifted_once_down, [1.0], [0.0], 1.0)
    assert execution.status is ExecutionStatus.ALTERNATING
    assert "without time passing" in execution.why
    assert execution.intervals[-1].end == pytest.approx(np.sqrt(2.0 / GRAVITY))
    assert len(execution.events) < 10


def test_forces_that_depend_on_the_mode_are_those_of_the_mode():
    pushed_once_down = sliding_point(0.5, force=lambda t, q, v, mode: [20.0 if mode else 0.0, 0.0])
    execution = simulate(pushed_once_down, [0.0, 0.1], [0.0, 0.0], 0.5)
    assert execution.word == ("{}", "{ground}", "{ground~}")
    slide = 0.5 - np.sqrt(0.2 / GRAVITY)
    assert execution.v[-1, 0] == pytest.approx((20.0 / 2.0 - 0.5 * GRAVITY) * slide, rel=1e-7)


def test_zeno_execution_without_truncation_ends_at_the_limit_of_events():
    execution = simulate(bouncing_ball(0.9), [1.0], [0.0], 100.0, max_events=30)
    assert execution.status is ExecutionStatus.EVENT_LIMIT
    assert len(execution.events) == 30


def test_limit_of_steps():
    execution = simulate(bouncing_ball(), [1.0], [0.0], 100.0, max_steps=50)
    assert execution.status is ExecutionStatus.STEP_LIMIT


def test_deadline_of_computing_keeps_what_was_done():
    execution = simulate(bouncing_ball(), [1.0], [0.0], 100.0, deadline=1e-9)
    assert execution.status is ExecutionStatus.DEADLINE and "of 100" in execution.why
    assert simulate(bouncing_ball(), [1.0], [0.0], 0.1, deadline=1e9).status is ExecutionStatus.FINISHED


def test_finite_escape_is_reported():
    runaway = bouncing_ball(force=lambda t, q, v, mode: [1e3 * (1.0 + float(v[0]) ** 2) * float(q[0])])
    with np.errstate(all="ignore"):
        execution = simulate(runaway, [1.0], [0.0], 10.0)
    assert execution.status is ExecutionStatus.DIVERGED
    assert execution.intervals[-1].end < 10.0


def fake_truncation(monkeypatch, reliable):
    calls = []

    def reliable_truncation(system, q, v, contact, *, epsilon_q, epsilon_v, epsilon_t, held=()):
        calls.append((np.array(q), np.array(v), contact, epsilon_q, epsilon_v, epsilon_t, tuple(held)))
        time = 2.0 * float(v[0]) / GRAVITY / (1.0 - 0.5)
        return SimpleNamespace(
            reliable=reliable and time < epsilon_t, zeno_time=(time, time), q=np.zeros(1), v=np.zeros(1), why=""
        )

    monkeypatch.setattr(zeno, "reliable_truncation", reliable_truncation)
    return calls


def test_reliable_truncation_carries_on_with_the_contact_closed(monkeypatch):
    calls = fake_truncation(monkeypatch, True)
    execution = simulate(bouncing_ball(0.5), [1.0], [0.0], 2.0, truncation=Tolerances(1e-2, 1e-2, 1e-2))
    assert execution.events[-1].kind is ExecutionEventKind.TRUNCATION
    assert execution.word[-1] == "{ground}"
    ((lower, upper),) = execution.zeno_times
    assert lower < 3.0 * np.sqrt(2.0 / GRAVITY) < upper < lower + 1e-12  # rounding and event location, no more
    assert len(calls) == len(execution.events) - 1
    assert calls[0][2:] == (0, 1e-2, 1e-2, 1e-2, ())
    assert execution.status is ExecutionStatus.FINISHED


def test_unreliable_truncation_leaves_the_execution_alone(monkeypatch):
    fake_truncation(monkeypatch, False)
    plain = simulate(bouncing_ball(0.5), [1.0], [0.0], 2.0)
    execution = simulate(bouncing_ball(0.5), [1.0], [0.0], 2.0, truncation=Tolerances())
    assert execution.word == plain.word
    np.testing.assert_array_equal(execution.times, plain.times)


def test_truncation_happens_as_often_as_there_is_chatter(monkeypatch):
    fake_truncation(monkeypatch, True)
    kicked = bouncing_ball(0.5, force=lambda t, q, v, mode: [20.0 if 1.5 < t < 1.7 else 0.0])
    execution = simulate(kicked, [1.0], [0.0], 6.0, truncation=Tolerances(1e-2, 1e-2, 1e-2))
    kinds = [event.kind for event in execution.events]
    assert kinds.count(ExecutionEventKind.TRUNCATION) == 2
    assert kinds.count(ExecutionEventKind.LIFTOFF) == 1
    assert execution.word[-1] == "{ground}"
    assert len(execution.zeno_times) == 2


def test_bad_input_is_refused():
    ball = bouncing_ball()
    with pytest.raises(ValueError, match="law"):
        simulate(ball, [1.0], [0.0], 1.0, law="elastic")
    with pytest.raises(ValueError, match="penetrates"):
        simulate(ball, [-1.0], [0.0], 1.0)
    with pytest.raises(ValueError, match="finite"):
        simulate(ball, [np.nan], [0.0], 1.0)
    with pytest.raises(ValueError, match="t_final"):
        simulate(ball, [1.0], [0.0], 0.0)
    with pytest.raises(ValueError, match="max_events"):
        simulate(ball, [1.0], [0.0], 1.0, max_events=0)
    with pytest.raises(ValueError, match="duration"):
        simulate(ball, [1.0], [0.0], 1.0, duration=-1.0)
    with pytest.raises(ValueError, match="problem"):
        simulate(object(), [1.0], [0.0], 1.0)
    with pytest.raises(ValueError):
        simulate(tumbling_box(), [0.0, 1.0], [0.0, 0.0], 1.0)


def test_arguments_of_a_wrong_kind_are_refused_with_what_to_give():
    ball = bouncing_ball(0.5)
    for mode in (0, "ground", 1.5, np.array(0)):
        with pytest.raises(ValueError, match="indices of contacts"):
            simulate(ball, [0.0], [0.0], 1.0, mode=mode)
    with pytest.raises(ValueError, match="numbered"):
        simulate(ball, [0.0], [0.0], 1.0, mode=[3])
    with pytest.raises(ValueError, match=r"Tolerances\(epsilon_q"):
        simulate(ball, [1.0], [0.0], 1.0, truncation=(1e-3, 1e-3, 1e-3))
    for epsilon in (-1.0, 0.0, np.nan):
        with pytest.raises(ValueError, match="epsilon_v"):
            Tolerances(1e-3, epsilon, 1e-3)


class Fails:
    """A falling ball whose ``problem`` raises below a height."""

    def __init__(self, error, height=0.5):
        self.error, self.height = error, height

    def problem(self, q, v):
        if q[0] < self.height:
            raise self.error
        return ContactProblem([[1.0]], v, [[1.0]], [[[0.0]]], [0.0], gap=[q[0]], bias_force=[GRAVITY])


@pytest.mark.parametrize("error", [RuntimeError("out of the map"), KeyError("joint"), ValueError("no"), TypeError("x")])
def test_an_error_of_the_system_ends_an_execution_and_keeps_what_was_simulated(error):
    execution = simulate(Fails(error), [1.0], [0.0], 1.0)
    assert execution.status is ExecutionStatus.DIVERGED
    assert type(error).__name__ in execution.why and str(error.args[0]) in execution.why
    assert 0.2 < execution.intervals[-1].end <= np.sqrt(1.0 / GRAVITY)
    assert execution.q[-1, 0] == pytest.approx(1.0 - 0.5 * GRAVITY * execution.times[-1] ** 2)
    with pytest.raises(type(error)):  # at the start it is the caller's to see
        simulate(Fails(error, 2.0), [1.0], [0.0], 1.0)


def test_an_interruption_is_no_end_of_an_execution():
    with pytest.raises(KeyboardInterrupt):
        simulate(Fails(KeyboardInterrupt()), [1.0], [0.0], 1.0)


def test_forces_that_are_not_numbers_end_an_execution_and_not_the_program():
    broken = bouncing_ball(force=lambda t, q, v, mode: [np.nan if t > 0.2 else 0.0])
    execution = simulate(broken, [1.0], [0.0], 1.0)
    assert execution.status in (ExecutionStatus.DIVERGED, ExecutionStatus.SINGULAR)
    assert execution.intervals[-1].end == pytest.approx(0.2, abs=0.02)
    broken = bouncing_ball(force=lambda t, q, v, mode: [np.nan])
    assert simulate(broken, [1.0], [0.0], 1.0).status in (ExecutionStatus.DIVERGED, ExecutionStatus.SINGULAR)
