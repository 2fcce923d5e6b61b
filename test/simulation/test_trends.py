"""Johnson's ⪰ (Definition 1, (38)) for single modes: force_acceleration_mode with the trends of a system."""

import numpy as np
import pytest

from helpers.execution_systems import tumbling_box
from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.simulation.hybrid_system import hybrid_system
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.simulation.trends import ModeTrends
from hybrid_contact_ros.systems.curves import STAYS, curve
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex


@pytest.mark.parametrize("case", STAYS)
def test_johnson_figure_2_the_first_derivative_that_does_not_vanish_decides(case):
    system, q, v = curve(case), [0.0, 0.0], [1.0, 0.0]
    problem = system.problem(q, v)
    plain = force_acceleration_mode(problem)
    solution = force_acceleration_mode(problem, trends=ModeTrends(system, q, v))
    assert bool(solution.mode) is STAYS[case]
    assert bool(plain.mode) is (case != "a")  # by the acceleration alone (c) stays too
    assert solution.trend_order == (1 if case in "cd" else 0)  # of the force: the third of the gap
    np.testing.assert_array_equal(solution.forces, plain.forces)
    assert bool(simulate(system, q, v, 0.1).modes[-1].closed) is bool(solution.mode)


class PushedBlock:
    """A block of 1 kg on a plane with μ = 0.5, pushed by 0.5 m g + rate · t."""

    contact_names = ("ground",)

    def __init__(self, rate):
        self.rate = rate

    def problem(self, q, v, time=0.0):
        push = 0.5 * 9.81 + self.rate * time
        return ContactProblem(np.eye(2), v, [[0, 1.0]], [[[1.0, 0]]], [0.5], gap=[q[1]], bias_force=[-push, 9.81])


@pytest.mark.parametrize("rate", [-2.0, 0.0, 3.0])
def test_at_the_edge_of_the_cone_the_next_derivative_tells_stick_from_slip(rate):
    system, q, v = PushedBlock(rate), np.zeros(2), np.zeros(2)
    solution = force_acceleration_mode(system.problem(q, v), trends=ModeTrends(system, q, v))
    assert solution.contact_status[0] == (ContactStatus.SLIPPING if rate > 0 else ContactStatus.STICKING)
    (mode,) = set(simulate(system, q, v, 0.02).modes)
    assert bool(mode.sliding) is (rate > 0)


def test_without_a_tie_trends_change_nothing():
    box = tumbling_box(0.4)
    system = hybrid_system(box, [0.0, 1.0, 0.3], searches=32, spread=2.0)
    rng = np.random.default_rng(0)
    compared = 0
    for domain in system.domains.values():
        closed = sorted(domain.mode.closed)
        if not closed:
            continue
        problem = box.problem(domain.witness, np.zeros(3))
        rows = problem.normal_jacobian[closed]
        v = rng.normal(size=3)
        v -= np.linalg.pinv(rows) @ (rows @ v)  # touching contacts keep touching
        problem = box.problem(domain.witness, v)
        plain = force_acceleration_mode(problem, closed)
        trended = force_acceleration_mode(problem, closed, trends=ModeTrends(box, domain.witness, v))
        if trended.trend_order == 0:
            assert trended.mode == plain.mode
            compared += 1
        after = system.next_mode(HybridMode(), domain.witness, v)
        assert after is None or after.closed == trended.mode or trended.trend_order == 0
    assert compared >= 5


def test_massless_legs_have_trends_too():
    robot = PlanarRHex(start=10.0)
    q, v = robot.crouch(), np.zeros(5)
    solution = force_acceleration_mode(robot.problem(q, v), trends=ModeTrends(robot, q, v))
    assert solution.mode == {0, 1}
    assert simulate(robot, q, v, 0.01).modes[0].closed == solution.mode


def test_a_system_without_problems_is_refused():
    with pytest.raises(ValueError, match="problem"):
        ModeTrends(object(), [0.0], [0.0])
