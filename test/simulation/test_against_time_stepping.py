"""Executions against another method: Moreau's time stepping, which knows no modes and no events."""

import numpy as np
import pytest

from helpers.execution_systems import bouncing_ball, tumbling_box
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.box_and_wall import box_and_wall
from hybrid_contact_ros.systems.compass_gait import compass_gait


def time_stepping(system, q, v, t_final, step):
    """q and v at the end; contacts without gap take impulses by H (31) in each step."""
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    for _ in range(round(t_final / step)):
        problem = system.problem(q, v)
        free = v - step * np.linalg.solve(problem.mass, problem.bias_force)
        active = np.flatnonzero(problem.gap <= 0.0)
        v = free
        if active.size:
            v = simultaneous_impact(problem.with_velocity(free).select(active)).velocity
        q = q + step * v
    return q, v


@pytest.mark.parametrize("friction", [0.0, 0.3, 2.0])
def test_tumbling_box_ends_where_time_stepping_takes_it(friction):
    box = tumbling_box(friction)
    start, speed = [0.0, 0.75, 0.5], [0.6, 0.0, -0.5]
    execution = simulate(box, start, speed, 0.45, law="simultaneous")
    assert len(execution.events) >= 1
    coarse = time_stepping(box, start, speed, 0.45, 2e-4)[0]
    fine = time_stepping(box, start, speed, 0.45, 1e-4)[0]
    assert np.abs(fine - execution.q[-1]).max() < 2e-3
    assert np.abs(fine - execution.q[-1]).max() < 0.8 * np.abs(coarse - execution.q[-1]).max() + 1e-5


def test_box_slides_into_the_wall_as_in_time_stepping():
    box = box_and_wall(friction=0.2)
    start, speed = [-1.5, 0.7, 1.2], [1.0, 0.0, 0.0]
    execution = simulate(box, start, speed, 0.6, law="simultaneous")
    fine = time_stepping(box, start, speed, 0.6, 1e-4)[0]
    assert {i for part in execution.intervals for i in part.mode.closed}
    assert np.abs(fine - execution.q[-1]).max() < 3e-3


def test_linkage_without_gap_function_falls_on_its_feet():
    walker = compass_gait()
    q = [0.0, 0.0, -0.3, 0.3]
    q[1] = 0.01 - walker.problem(q, np.zeros(4)).gap.min()
    execution = simulate(walker, q, np.zeros(4), 0.1)
    assert execution.events[0].contacts == {0, 1}
    assert execution.word[:2] == ("{}", "{A, B}")


def test_ball_agrees_to_the_order_of_the_step():
    execution = simulate(bouncing_ball(), [0.2], [0.0], 0.3)
    assert abs(time_stepping(bouncing_ball(), [0.2], [0.0], 0.3, 1e-4)[0] - execution.q[-1]) < 1e-3
