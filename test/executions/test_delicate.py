"""Executions where it is delicate: grazing, vanishing forces, alternation, Zeno, limits, bad input."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import sympy
from execution_systems import GRAVITY, bouncing_ball, sliding_point, tumbling_box

from hybrid_contact_ros.executions.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.executions.options import Tolerances
from hybrid_contact_ros.executions.simulate import simulate
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
    # The case that J's own simulation misses (§4.4): the contact is not active before
    execution = simulate(curve("d"), [-1.0, 0.0], [1.0, 0.0], 1.5)
    assert execution.word == ("{}", "{curve}")
    (event,) = execution.events
    assert event.kind is EventKind.CLOSING
    assert event.time == pytest.approx(1.0, abs=1e-4)  # the gap is (1 − t)³
    assert event.trend_order == 1


def under_a_ceiling(height):
    x, y = sympy.symbols("x y")
    return LagrangianSystem("thrown", [x, y], sympy.eye(2), GRAVITY * y, [Constraint("ceiling", height - y)])


def test_grazing_is_noticed_and_changes_nothing():
    top = 2.0**2 / (2 * GRAVITY)
    execution = simulate(under_a_ceiling(top), [0.0, 0.0], [1.0, 2.0], 0.6)
    assert [event.kind for event in execution.events] == [EventKind.GRAZING]
    assert execution.events[0].time == pytest.approx(2.0 / GRAVITY, abs=1e-6)
    assert execution.word == ("{}",)
    assert simulate(under_a_ceiling(top + 1e-6), [0.0, 0.0], [1.0, 2.0], 0.6).events == ()


def test_dip_between_two_steps_is_not_missed():
    top = 2.0**2 / (2 * GRAVITY)
    execution = simulate(under_a_ceiling(top - 1e-7), [0.0, 0.0], [1.0, 2.0], 0.6, max_step=0.5)
    assert [event.kind for event in execution.events] == [EventKind.TOUCHDOWN, EventKind.LIFTOFF]


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

    module = ModuleType("hybrid_contact_ros.stability.truncation")
    module.reliable_truncation = reliable_truncation
    monkeypatch.setitem(sys.modules, "hybrid_contact_ros.stability.truncation", module)
    return calls


def test_reliable_truncation_carries_on_with_the_contact_closed(monkeypatch):
    calls = fake_truncation(monkeypatch, True)
    execution = simulate(bouncing_ball(0.5), [1.0], [0.0], 2.0, truncation=Tolerances(1e-2, 1e-2, 1e-2))
    assert execution.events[-1].kind is EventKind.TRUNCATION
    assert execution.word[-1] == "{ground}"
    ((lower, upper),) = execution.zeno_times
    assert lower == upper == pytest.approx(3.0 * np.sqrt(2.0 / GRAVITY), rel=1e-9)
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
    assert kinds.count(EventKind.TRUNCATION) == 2
    assert kinds.count(EventKind.LIFTOFF) == 1
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


def test_forces_that_are_not_numbers_end_an_execution_and_not_the_program():
    broken = bouncing_ball(force=lambda t, q, v, mode: [np.nan if t > 0.2 else 0.0])
    execution = simulate(broken, [1.0], [0.0], 1.0)
    assert execution.status in (ExecutionStatus.DIVERGED, ExecutionStatus.SINGULAR)
    assert execution.intervals[-1].end == pytest.approx(0.2, abs=0.02)
    broken = bouncing_ball(force=lambda t, q, v, mode: [np.nan])
    assert simulate(broken, [1.0], [0.0], 1.0).status in (ExecutionStatus.DIVERGED, ExecutionStatus.SINGULAR)
