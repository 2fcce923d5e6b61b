"""Contacts that share an impulse in no unique way: a derivative where the outcome is unique, or a refusal."""

import numpy as np
import pytest

from helpers.robot_systems import block, standing
from hybrid_contact_ros import saltation_matrix
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.gradients import problem_gradient
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse, impact_derivative
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox
from hybrid_contact_ros.systems.robot import RobotSystem

BOTH = frozenset({0, 1})
FALLING = np.array([0.2, -1.0, 0.4])


def footed(step, restitution=0.5, friction=1.0):
    """A box on two feet, the right one higher by ``step`` (m), as is its ground: q = 0 touches with both."""
    feet = (Corner("left", -0.2, -0.1, (0.0, 1.0), -0.1), Corner("right", 0.3, step - 0.1, (0.0, 1.0), step - 0.1))
    return PlanarBox(1.0, 0.2, 1.0, friction, feet, restitution)


def impact(step, course, **options):
    return impact_derivative(problem_gradient(footed(step, **options), np.zeros(3), FALLING), course)


def returned(step, velocity, share=0.0, angle=0.0):
    """v⁺ of two sticking points that bounce, with a pair of impulses along the line between them on top."""
    problem = footed(step).problem([0.0, 0.0, angle], velocity)
    rows = problem.jacobian()
    impulse = np.linalg.lstsq(rows.T, -problem.mass @ velocity, rcond=1e-10)[0]
    along = np.array([0.5, step])
    line = np.concatenate((-along[::-1], along[::-1]))  # normal first
    assert angle != 0.0 or np.abs(line @ rows).max() < 1e-12
    back = 0.5 * (impulse + share * line)[::2]
    return np.linalg.solve(problem.mass, problem.normal_jacobian.T @ back)


def test_two_sticking_points_on_steps_that_bounce_have_no_unique_velocity():
    apart = returned(0.1, FALLING, 0.0) - returned(0.1, FALLING, 1.0)
    assert np.abs(apart).max() > 0.05  # the reason
    with pytest.raises(Unsolvable, match="velocity after it depends") as caught:
        impact(0.1, ImpactCourse(BOTH, bounced=BOTH))
    assert not caught.value.unique
    found = saltation_matrix(
        footed(0.1), np.zeros(3), FALLING * [0, 1, 0], "touchdown", 1, course=ImpactCourse(BOTH, bounced=BOTH)
    )
    assert found.validity is Validity.NOT_UNIQUE and found.matrix is None


def test_two_sticking_points_at_one_height_that_bounce_have_one_velocity():
    np.testing.assert_allclose(returned(0.0, FALLING, 0.0), returned(0.0, FALLING, 1.0), atol=1e-12)
    found = impact(0.0, ImpactCourse(BOTH, bounced=BOTH))
    np.testing.assert_allclose(found.velocity, returned(0.0, FALLING), atol=1e-12)
    by_velocity = np.array([
        (returned(0.0, FALLING + h) - returned(0.0, FALLING - h)) / 2e-6 for h in 1e-6 * np.eye(3)
    ]).T  # fmt: skip
    np.testing.assert_allclose(found.velocity_state[:, 3:], by_velocity, atol=1e-8)
    # Of changes of q only those along the ground keep both feet on it, and these change nothing.
    np.testing.assert_allclose(found.velocity_state[:, 0], 0.0, atol=1e-12)


def test_impulses_that_nothing_returns_may_be_shared_in_any_way():
    found = impact(0.1, ImpactCourse(BOTH))
    np.testing.assert_allclose(found.velocity, np.zeros(3), atol=1e-12)
    np.testing.assert_allclose(found.velocity_state[:, 3:], np.zeros((3, 3)), atol=1e-12)


@pytest.mark.parametrize("restitution", [[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.2]])
def test_a_block_that_lands_on_four_corners_has_a_velocity_only_where_they_bounce_alike(restitution):
    system = RobotSystem(block(friction=0.0, restitution=0.5))
    q, v = standing(0.05, (0, 0, -1.0, 0.3, 0.1, 0))
    gradient = problem_gradient(system, q, v)
    object.__setattr__(gradient, "problem", gradient.problem.replace(restitution=restitution))
    every = frozenset(range(4))
    if len(set(restitution)) > 1:
        with pytest.raises(Unsolvable, match="no unique way"):
            impact_derivative(gradient, ImpactCourse(every, bounced=every))
        return
    found = impact_derivative(gradient, ImpactCourse(every, bounced=every))
    np.testing.assert_allclose(found.velocity[2:5], -0.5 * v[2:5], atol=1e-12)
    np.testing.assert_allclose(found.velocity_state[2:5, 8:11], -0.5 * np.eye(3), atol=1e-9)
