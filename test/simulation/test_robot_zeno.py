"""Robots as systems: how q moves, charts in which v = q̇, and Zeno analyses through them."""

import numpy as np
import pinocchio as pin
import pytest

from helpers.robot_systems import GRAVITY, ball, block, cube, example, standing, turning
from hybrid_contact_ros import reliable_truncation, zeno_analysis
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.simulation.execution import EventKind
from hybrid_contact_ros.simulation.options import Tolerances
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.chart import RobotChart
from hybrid_contact_ros.systems.robot import RobotSystem


def tilted(model, turn, lift=0.0):
    """A configuration whose lowest contact is ``lift`` above the ground, and that contact."""
    q = model.neutral()
    q[3:7] = pin.Quaternion(pin.exp3(np.array(turn))).coeffs()
    gap = RobotSystem(model).gap(q)
    q[2] += lift - gap.min()
    return q, int(np.argmin(gap))


@pytest.mark.parametrize("name", ["cube", "continuous", "go2", "panda"])
def test_the_rate_of_a_configuration_is_the_derivative_of_its_integration(name):
    model = {
        "cube": cube,
        "continuous": lambda: turning("continuous"),
        "go2": lambda: example("go2", "go2_description/urdf/go2.urdf"),
        "panda": lambda: example("arm", "panda_description/urdf/panda.urdf"),
    }[name]()
    system, rng = RobotSystem(model), np.random.default_rng(3)
    q, v, h = system.integrate(model.neutral(), rng.normal(size=model.nv)), rng.normal(size=model.nv), 1e-6
    slope = (system.integrate(q, h * v) - system.integrate(q, -h * v)) / (2.0 * h)
    np.testing.assert_allclose(system.configuration_rate(q, v), slope, atol=1e-9)
    np.testing.assert_array_equal(system.integrate(q, 0.0 * v), q)


def test_a_rate_preserves_the_length_of_a_quaternion_that_is_not_one():
    system, rng = RobotSystem(cube()), np.random.default_rng(4)
    q, v = rng.normal(size=7), rng.normal(size=6)
    rate = system.configuration_rate(q, v)
    assert rate[3:7] @ q[3:7] == pytest.approx(0.0, abs=1e-14)
    unit = system.integrate(q, np.zeros(6))
    np.testing.assert_allclose(rate[:3], system.configuration_rate(unit, v)[:3], rtol=1e-12)
    np.testing.assert_allclose(system.problem(q, v).gap, system.problem(unit, v).gap, atol=1e-15)


def test_flight_in_a_chart_is_that_of_the_robot():
    model = cube()
    q, _ = tilted(model, (0.3, 0.5, 0.2), 1.0)
    v = np.array([0.3, -0.2, 0.5, 2.0, 3.0, -1.0])
    chart = RobotChart(RobotSystem(model), q)
    there = simulate(model, q, v, 0.3)
    here = simulate(chart, np.zeros(6), v, 0.3)
    end_q, end_v = chart.back(here.q[-1], here.v[-1])
    np.testing.assert_allclose(end_q, there.q[-1], atol=1e-9)
    np.testing.assert_allclose(end_v, there.v[-1], atol=1e-8)


def test_bounces_of_a_ball_in_space_end_at_their_zeno_time():
    e, speed = 0.6, 0.02
    q, v = standing(0.1, (0.3, 0.0, speed, 0.0, 0.0, 1.0))
    found = zeno_analysis(ball(restitution=e, friction=0.0), q, v)
    expected = 2.0 * speed / (GRAVITY * (1.0 - e))
    assert found.proved and not found.guaranteed
    assert found.zeno_time == pytest.approx(expected, rel=1e-9)
    assert found.zeno_time_bounds[0] <= expected <= found.zeno_time_bounds[1]
    assert found.zeno_q.shape == (7,)
    np.testing.assert_allclose(found.zeno_q[:3], [0.3 * expected, 0.0, 0.1], atol=1e-6)


def test_chatter_of_a_cubes_corner_ends_in_the_bounds_and_may_be_cut_short():
    model = cube()
    q, corner = tilted(model, (0.7, 0.5, 0.2))
    problem = RobotSystem(model).problem(q, np.zeros(6))
    v = 1e-3 * np.linalg.solve(problem.mass, problem.normal_jacobian[corner])
    v[3:] += 0.01
    sizes = {"epsilon_q": 1e-3, "epsilon_v": 0.2, "epsilon_t": 1e-2}
    cut = reliable_truncation(model, q, v, corner, **sizes)
    assert cut.reliable, cut.why
    assert cut.q.shape == (7,) and cut.q_bounds.shape == (2, 6)
    whole = simulate(model, q, v, 0.01)
    end = whole.events[-1]
    assert not end.bounced and whole.modes[-1].closed == {corner}
    assert cut.zeno_time[0] - 1e-6 <= end.time <= cut.zeno_time[1] + 1e-6
    assert np.abs(cut.q - end.q).max() < 1e-3
    short = simulate(model, q, v, 0.01, truncation=Tolerances(*sizes.values()))
    assert [event.kind for event in short.events][-1] is EventKind.TRUNCATION
    assert len(short.events) < len(whole.events)
    np.testing.assert_allclose(short.q[-1], whole.q[-1], atol=1e-4)


def test_an_arm_without_quaternions_needs_no_chart():
    hinge = turning(axis="0 1 0", joint_limits=["hinge"])
    found = zeno_analysis(RobotSystem(hinge, effort=[1.0]), [0.499], [0.1], 1)
    assert found.q[0] == pytest.approx(0.5)
    assert found.bounded_time_stability.name == "HOLDS"


class Turned:
    """v ≠ q̇, and not from a URDF."""

    def configuration_rate(self, q, v):
        return 2.0 * v

    def integrate(self, q, step):
        return q + 2.0 * step

    def problem(self, q, v):
        return RobotSystem(block()).problem(*standing(float(q[0])))


def test_what_cannot_be_done_with_robots_says_why():
    with pytest.raises(ValueError, match="v ≠ q̇"):
        zeno_analysis(Turned(), [0.1], [0.0])
    with pytest.raises(ValueError, match="planar"):
        continuous_time_path(cube(), *standing(1.0), 1.0)
    with pytest.raises(ValueError, match="manifold"):
        zeno_analysis(cube(), np.zeros(7), np.zeros(6))
