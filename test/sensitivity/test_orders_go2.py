"""Orders and words of the feet of a quadruped: a floating base, turning bodies, configuration-dependent inertia."""

import numpy as np
import pytest

from helpers.robot_systems import example
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.sensitivity.orders import order_outcomes
from hybrid_contact_ros.sensitivity.words import touchdown_words
from hybrid_contact_ros.simulation.execution import ExecutionEventKind
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.robot import RobotSystem

APART = 5e-6  # s


@pytest.fixture(scope="module")
def go2():
    return example("go2", "go2_description/urdf/go2.urdf")


@pytest.fixture(scope="module")
def corner(go2):
    """Falling on the feet 0 and 3 at 1 m/s with some turning, the other two drawn up; limp."""
    q, v = np.zeros(go2.nq), np.zeros(go2.nv)
    q[6], q[7:] = 1.0, np.concatenate([(0.05, 0.9, -1.8), (0.0, 1.1, -2.2), (0.0, 1.1, -2.2), (0.05, 0.9, -1.8)])
    q[2] = 1.0 - go2.problem(RobotState(0, np.r_[q[:2], 1.0, q[3:]], v)).gap[[0, 3]].mean()
    rng = np.random.default_rng(2)
    v[:] = 0.1 * rng.normal(size=go2.nv)
    v[2] = -1.0
    return q, v


def kinetic(problem, change):
    return np.sqrt(change @ problem.mass @ change)


def test_pace_burden_eq_13_gives_one_outcome_for_all_orders_of_the_feet(go2, corner):
    problem = go2.problem(RobotState(0, *corner)).replace(friction=np.zeros(4))
    both = plastic_impact(problem, [0, 3]).velocity
    for first in (0, 3):
        then = problem.with_velocity(plastic_impact(problem, [first]).velocity)
        nested = plastic_impact(then, [0, 3]).velocity
        assert kinetic(problem, nested - both) < 1e-9 * kinetic(problem, problem.velocity)


def test_outcomes_of_two_feet_are_those_of_executions_with_the_touchdowns_apart(go2, corner):
    words = touchdown_words(go2, *corner, [0, 3])
    problem = go2.problem(RobotState(0, words.q, words.v))
    found = order_outcomes(problem, [0, 3])
    assert [outcome.status for outcome in found.orders] == [Status.SOLVED] * 2
    assert {word.word for word in words.words} == {outcome.word for outcome in found.orders}
    system = RobotSystem(go2)
    rows = problem.normal_jacobian[[0, 3]]
    lift = np.linalg.solve(problem.mass, rows.T)
    for outcome in found.orders:
        gaps = [words.speeds[k] * APART * (1 + outcome.order.index(foot)) for k, foot in enumerate((0, 3))]
        q = system.integrate(words.q, lift @ np.linalg.solve(rows @ lift, np.array(gaps)))
        run = simulate(go2, q, words.v, 4 * APART, law="simultaneous", gap_tolerance=1e-14)
        assert kinetic(problem, run.v[-1] - outcome.velocity) < 0.03 * found.jump


def test_the_map_of_two_feet_misses_executions_by_the_square_of_the_deviation(go2, corner):
    words = touchdown_words(go2, *corner, [0, 3])
    assert words.complete and len(words.words) == 2
    assert words.probabilities(np.eye(36)).sum() == pytest.approx(1.0, abs=1e-9)
    system, nv, rng = RobotSystem(go2), go2.nv, np.random.default_rng(4)
    problem = system.problem(words.q, words.v)
    falling = np.linalg.solve(problem.mass, -problem.bias_force)
    x = rng.normal(size=2 * nv)
    word, errors, without = words.word_of(x), [], []
    for size in (1e-4, 1e-5):
        before = 6.0 * size  # s, the start before the corner's instant, to second order
        d = size * x
        speed = words.v + d[nv:]
        q = system.integrate(words.q, d[:nv] - before * speed + 0.5 * before**2 * falling)
        run = simulate(go2, q, speed - before * falling, 2.0 * before, law="simultaneous", gap_tolerance=1e-13)
        seen = tuple(e.contacts for e in run.events if e.kind == ExecutionEventKind.TOUCHDOWN)
        assert seen == tuple(step.struck for step in word.chain)
        _, after = words.after(d)
        errors.append(kinetic(problem, run.v[-1] - word.acceleration * before - after))
        without.append(kinetic(problem, run.v[-1] - word.acceleration * before - word.velocity))
    assert errors[1] < 0.03 * errors[0], (errors, without)
    assert errors[1] < 0.02 * without[1], (errors, without)
