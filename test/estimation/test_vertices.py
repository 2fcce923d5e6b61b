"""Points that do not matter to an impact: those within the hull of the others of their sole."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.vertices import ContactVertices, extreme, spread
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

BODY = """<robot name="body"><link name="body"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def grid(nx: int, ny: int, z: float = -0.05) -> list[float]:
    return [x for a in np.linspace(-0.1, 0.1, nx) for b in np.linspace(-0.05, 0.05, ny) for x in (a, b, z)]


def body(points, **more) -> ContactEstimator:
    contact = {"link": "body", "points": list(points), "friction": 0.5, **more}
    config = EstimatorConfig.from_mapping({"contacts": {"sole": contact}, "impact": {"deadline": 0.0}})
    return ContactEstimator(RigidBodyModel.from_urdf(BODY, config), config)


@pytest.mark.parametrize(
    ("points", "kept"),
    [
        ([[1, 2, 3]], [0]),
        ([[1, 2, 3], [1, 2, 3]], [0]),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2], [-1, -1, -1]], [2, 3]),
        ([[0, 0, 5], [1, 0, 5], [0, 1, 5]], [0, 1, 2]),
        ([[0, 0, 5], [1, 0, 5], [0, 1, 5], [0.2, 0.2, 5], [0.5, 0.5, 5]], [0, 1, 2]),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, 0.2]], [0, 1, 2, 3]),
    ],
)
def test_extreme_points_in_space_in_a_plane_and_on_a_line(points, kept):
    assert extreme(np.array(points, dtype=np.float64)).tolist() == kept


def test_every_entry_keeps_its_own_corners_and_joint_limits_stay():
    config = EstimatorConfig.from_mapping(
        {
            "contacts": {
                "left": {"link": "a", "points": grid(3, 2)},
                "ball": {"link": "b"},
                "right": {"link": "c", "points": grid(2, 2)},
            }
        }
    )
    vertices = ContactVertices(config, 6 + 1 + 4 + 2)
    assert vertices.of(np.arange(13)).tolist() == [0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert vertices.of(np.array([0, 2, 4, 12])).tolist() == [0, 4, 12]  # of those that touch
    assert vertices.of(np.zeros(0, dtype=np.intp)).size == 0


def test_a_sole_of_many_points_leaves_an_impact_like_its_corners_alone():
    few, many = body(grid(2, 2), restitution=0.2), body(grid(8, 8), restitution=0.2)
    velocity = np.array([0.3, 0.1, -1.0, 0.5, -0.3, 0.0])
    state = RobotState(0, np.array([0, 0, 0.05, 0, 0, 0, 1.0]), velocity, np.zeros(6))
    a, b = few.impact(state, samples=32), many.impact(state, samples=32)
    assert b.contacts.size == 64 and a.contacts.size == 4
    np.testing.assert_allclose(a.velocities, b.velocities, atol=1e-12)
    assert (np.einsum("mn,kn->km", many.model.problem(state).normal_jacobian, b.velocities) > -1e-6).all()


def ellipse(k: int) -> list[float]:
    angles = np.linspace(0.0, 2.0 * np.pi, k, endpoint=False)
    return [x for a in angles for x in (0.1 * np.cos(a), 0.05 * np.sin(a), -0.05)]


def test_a_sole_given_as_several_entries_is_one_unless_it_differs():
    corners = np.reshape(grid(3, 2), (-1, 3)).tolist()
    entries = {f"p{k}": {"link": "a", "points": point} for k, point in enumerate(corners)}
    config = EstimatorConfig.from_mapping({"contacts": entries})
    assert ContactVertices(config, 6).of(np.arange(6)).tolist() == [0, 1, 4, 5]
    other = EstimatorConfig.from_mapping({"contacts": entries | {"p2": {**entries["p2"], "friction": 0.1}}})
    assert ContactVertices(other, 6).of(np.arange(6)).tolist() == [0, 1, 2, 4, 5]


def test_an_impact_never_has_many_corners():
    """One LCP with 64 of them took 0.3 s."""
    feet = {f"foot{k}": {"link": f"l{k}", "points": ellipse(32)} for k in range(2)}
    vertices = ContactVertices(EstimatorConfig.from_mapping({"contacts": feet}), 64)
    found = vertices.of(np.arange(64))
    assert (found < 32).sum() == (found >= 32).sum() == 8
    assert vertices.of(np.arange(24)).size == 24  # few enough
    six = {f"foot{k}": {"link": f"l{k}", "points": grid(2, 2)} for k in range(7)}
    assert ContactVertices(EstimatorConfig.from_mapping({"contacts": six}), 28).of(np.arange(28)).size == 28


def test_points_that_are_far_apart():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [10, 0, 0]])
    assert spread(points, 2).tolist() == [0, 4]
    assert spread(points, 3).tolist() == [0, 3, 4]
    assert spread(points, 9).tolist() == [0, 1, 2, 3, 4]
    assert spread(np.zeros((5, 3)), 3).size <= 3


def test_a_round_sole_leaves_an_impact_nearly_as_all_its_points_would():
    state = RobotState(0, np.array([0, 0, 0.05, 0, 0, 0, 1.0]), np.array([0.3, 0.1, -1.0, 0.5, -0.3, 0]), np.zeros(6))
    few, many = body(ellipse(8)).impact(state, samples=64), body(ellipse(64)).impact(state, samples=64)
    size = np.abs(few.nominal - few.velocity_minus).max()
    assert np.abs(few.nominal - many.nominal).max() < 0.05 * size
