"""Derivatives of contact problems: closed forms against central differences, and the order of these."""

import numpy as np
import pytest

from helpers.mechanics_robots import joint, link, random_state, robot
from helpers.robot_systems import cube, example
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.sensitivity.gradients import differenced_gradient, problem_gradient
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid
from hybrid_contact_ros.systems.lagrangian import LagrangianSystem
from hybrid_contact_ros.systems.painleve_rod import painleve_rod
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex
from hybrid_contact_ros.systems.robot import RobotSystem


def mimicking():
    """Two links, of which the second turns −0.7 times as far as the first, with a ball at the end and a limit."""
    follower = joint("second", "b", "c", "revolute", '<mimic joint="first" multiplier="-0.7" offset="0.2"/>')
    text = robot(link("a"), link("b"), link("c"), joint("first", "a", "b"), follower)
    config = {
        "contacts": {"tip": {"link": "c", "points": [0.1, 0.05, -0.3], "radius": 0.04}},
        "joint_limits": ["first"],
    }
    return RigidBodyModel.from_urdf(text, EstimatorConfig.from_mapping(config))


ROBOTS = {
    "cube": cube,
    "mimic": mimicking,
    "go2": lambda: example("go2", "go2_description/urdf/go2.urdf"),
}


def compared(system, q, v, rng, step):
    """Pairs of (closed form, differences), each with the scale of its terms."""
    exact, rough = problem_gradient(system, q, v), differenced_gradient(system, q, v, step=step)
    n, shape = exact.problem.nv, (exact.problem.contacts, 1 + exact.problem.tangents)
    w, force = rng.normal(size=n), rng.normal(size=shape)
    pairs = [
        (exact.momentum(w), rough.momentum(w)),
        (exact.rates(w), rough.rates(w)),
        (exact.pushes(force), rough.pushes(force)),
        *zip(exact.motion(w), rough.motion(w), strict=True),
    ]
    return [(a, b, max(1.0, float(np.abs(b).max(initial=0.0)))) for a, b in pairs]


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("seed", range(3))
def test_closed_forms_of_a_robot_are_its_differences(name, seed):
    model = ROBOTS[name]()
    system = RobotSystem(model)
    state = random_state(model, seed)
    for exact, rough, scale in compared(system, state.q, state.v, np.random.default_rng(seed), 1e-3):
        np.testing.assert_allclose(exact, rough, atol=1e-8 * scale, rtol=0.0)


def test_differences_approach_the_closed_form_with_the_fourth_order():
    model = ROBOTS["go2"]()
    state = random_state(model, 5)
    errors = []
    for step in (4e-2, 2e-2):
        pairs = compared(RobotSystem(model), state.q, state.v, np.random.default_rng(5), step)
        errors.append(np.array([np.abs(exact - rough).max() for exact, rough, _ in pairs]))
    # ∂/∂v of what is quadratic in v has no error but rounding.
    curved = [0, 1, 2, 3, 5]
    assert (np.log2(errors[0][curved] / errors[1][curved]) > 3.8).all()
    assert (errors[1][[4, 6]] < 1e-9).all()


@pytest.mark.parametrize(
    "system",
    [ball_on_sinusoid(), pendulum_with_stop(), painleve_rod(), PlanarRHex()],
    ids=lambda system: system.name,
)
def test_symbolic_derivatives_are_their_differences(system):
    rng = np.random.default_rng(0)
    q, v = rng.uniform(0.2, 0.8, system.nv), rng.normal(size=system.nv)
    for exact, rough, scale in compared(system, q, v, rng, 1e-3):
        np.testing.assert_allclose(exact, rough, atol=1e-9 * scale, rtol=0.0)


def test_an_effort_that_is_a_function_is_part_of_the_bias():
    model = ROBOTS["cube"]()
    system = RobotSystem(model, lambda t, q, v, mode: np.concatenate((np.sin(q[:3]) * v[0], np.zeros(3))))
    state = random_state(model, 1)
    exact, rough = problem_gradient(system, state.q, state.v), differenced_gradient(system, state.q, state.v)
    still = np.zeros(6)
    for mine, other in zip(exact.motion(still)[:2], rough.motion(still)[:2], strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-9 * max(1.0, np.abs(other).max()), rtol=0.0)
    assert np.abs(exact.motion(still).force_v[:3, 0]).max() > 0.1


def test_a_force_of_a_lagrangian_system_is_part_of_the_bias():
    base = pendulum_with_stop()
    args = base.name, base.coordinates, base.inertia, base.potential, base.constraints
    driven = LagrangianSystem(*args, force=lambda t, q, v, mode: [-3.0 * np.sin(q[0]) * v[1], -0.4 * v[1] ** 3])
    q, v = np.array([0.3, 0.5]), np.array([-1.0, 0.7])
    more = problem_gradient(driven, q, v).motion(np.zeros(2))
    less = problem_gradient(base, q, v).motion(np.zeros(2))
    np.testing.assert_allclose(more.force_q - less.force_q, [[3.0 * np.cos(0.3) * 0.7, 0], [0, 0]], atol=1e-11)
    np.testing.assert_allclose(more.force_v - less.force_v, [[0, 3.0 * np.sin(0.3)], [0, 1.2 * 0.49]], atol=1e-11)
