"""Chatter down to bounces lower than the tolerance of gaps: none is lost, and Zeno times are as good as they say."""

import numpy as np
import pytest
import sympy

from helpers.execution_systems import GRAVITY, bouncing_ball
from hybrid_contact_ros.simulation.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.options import Tolerances
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.ball import zeno_time
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

x, y = sympy.symbols("x y")


def hill(restitution):
    ground = Constraint("hill", y - sympy.exp(-(x**2) / 2), restitution=restitution)
    return LagrangianSystem("hill", (x, y), sympy.eye(2), GRAVITY * y, [ground])


@pytest.mark.parametrize(("restitution", "speed"), [(0.5, 0.5), (0.5, 1.5), (0.3, 1.7), (0.6, 1.0)])
def test_no_small_bounce_is_taken_for_a_graze(restitution, speed):
    system, start = hill(restitution), [-0.2, float(np.exp(-0.02)) + 0.02]
    whole = simulate(system, start, [speed, 0.0], 1.0)
    cut = simulate(system, start, [speed, 0.0], 1.0, truncation=Tolerances(1e-4, 1e-4, 1e-4))
    assert {event.kind for event in whole.events} <= {EventKind.TOUCHDOWN, EventKind.CLOSING}
    assert min(system.gap(q)[0] for q in whole.q) > -2e-9
    assert np.diff(whole.energy()).max() < 1e-12
    (lower, upper), (first, last) = whole.zeno_times[0], cut.zeno_times[0]
    assert lower < last and first < upper  # both know the same time
    assert upper - lower < 1e-6 and last - first < 1e-7
    np.testing.assert_allclose(whole.q[-1], cut.q[-1], atol=1e-7)


@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("height", [0.1, 1.0, 2.0])
def test_zeno_times_contain_the_geometric_series_whether_truncated_or_come_to_rest(restitution, height):
    exact = zeno_time(height, 0.0, restitution, GRAVITY)
    for truncation in (None, Tolerances(1e-3, 1e-3, 1e-3), Tolerances(1e-5, 1e-4, 1e-4)):
        execution = simulate(bouncing_ball(restitution), [height], [0.0], exact + 0.1, truncation=truncation)
        ((lower, upper),) = execution.zeno_times
        assert lower <= exact <= upper
        assert upper - lower < (2e-6 if truncation is None else 1e-7)


def test_zeno_times_get_wider_with_a_coarser_integrator():
    pushed = bouncing_ball(0.5, force=lambda t, q, v, mode: [2.0 * np.sin(40.0 * t)])
    fine = simulate(pushed, [1.0], [0.0], 2.0)
    coarse = simulate(pushed, [1.0], [0.0], 2.0, rtol=1e-4, atol=1e-6)
    (lower, upper), (first, last) = fine.zeno_times[0], coarse.zeno_times[0]
    assert first < lower and upper < last


def test_truncation_sees_forces_of_the_present_time():
    """The bounce is in the air for longer as the weight goes down; at time 0 it weighs its full weight."""
    lifted = bouncing_ball(0.5, force=lambda t, q, v, mode: [0.9 * GRAVITY if t > 0.5 else 0.0])
    whole = simulate(lifted, [1.0], [0.0], 12.0)
    cut = simulate(lifted, [1.0], [0.0], 12.0, truncation=Tolerances(1e-3, 1e-2, 1e-2))
    assert cut.events[-1].kind is EventKind.TRUNCATION
    assert cut.zeno_times[0][0] < whole.zeno_times[0][1] and whole.zeno_times[0][0] < cut.zeno_times[0][1]


def test_contacts_that_bounce_together_are_truncated_by_their_chatter_to_first_order():
    a, b = sympy.symbols("a b")
    ground = [Constraint(str(s), s, restitution=0.6) for s in (a, b)]
    balls = LagrangianSystem("balls", (a, b), sympy.diag(1, 3), GRAVITY * (a + 3 * b), ground)
    whole = simulate(balls, [0.5, 0.5], [0.0, 0.0], 2.0)
    cut = simulate(balls, [0.5, 0.5], [0.0, 0.0], 2.0, truncation=Tolerances(1e-4, 1e-2, 1e-2))
    assert cut.status is ExecutionStatus.FINISHED
    assert len(cut.events) < len(whole.events) - 5
    assert cut.events[-1].kind is EventKind.TRUNCATION and cut.events[-1].contacts == {0, 1}
    assert cut.word[-1] == "{a, b}"
    ((lower, upper),) = cut.zeno_times
    assert lower < zeno_time(0.5, 0.0, 0.6, GRAVITY) < upper < lower + 1e-2


@pytest.mark.parametrize("height", [1e3, 1e5])
def test_bounces_lower_than_the_rounding_of_the_gap_do_not_fall_through(height):
    ground = Constraint("ground", y - height, restitution=0.5)
    mountain = LagrangianSystem("mountain", (y,), sympy.eye(1), GRAVITY * y, [ground])
    execution = simulate(mountain, [height + 1.0], [0.0], 2.0, atol=1e-9)
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.word[-1] == "{ground}"
    assert (execution.q[:, 0] - height).min() > -2e-9 - 4e-16 * height
    ((lower, upper),) = execution.zeno_times
    assert lower <= zeno_time(1.0, 0.0, 0.5, GRAVITY) <= upper


def test_truncation_covers_forces_that_change_until_the_zeno_point():
    shaken = bouncing_ball(0.5, force=lambda t, q, v, mode: [3.0 * np.sin(40.0 * t)])
    whole = simulate(shaken, [0.6], [0.0], 2.0, rtol=1e-11, atol=1e-13)
    cut = simulate(shaken, [0.6], [0.0], 2.0, truncation=Tolerances(1e-4, 1e-3, 1e-3))
    (first, last), (lower, upper) = whole.zeno_times[0], cut.zeno_times[0]
    assert cut.events[-1].kind is EventKind.TRUNCATION
    assert lower < last and first < upper
    assert upper - lower < 1e-4
