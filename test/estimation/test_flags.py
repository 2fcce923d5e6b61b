"""Flags of robots with very many contacts: what the work does not reach is CUT, and nothing else is."""

import numpy as np
import pytest

from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import ModeWorkspace
from hybrid_contact_ros.stability.workspace import StabilityWorkspace

BODY = """<robot name="body"><link name="body"><inertial><mass value="20"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def flags(nx, ny, height=0.05):
    """Of a plate that stands on, or falls with, a grid of points."""
    points = [x for a in np.linspace(-0.1, 0.1, nx) for b in np.linspace(-0.05, 0.05, ny) for x in (a, b, -0.05)]
    config = EstimatorConfig.from_mapping({"contacts": {"sole": {"link": "body", "points": points}}})
    estimator = ContactEstimator(RigidBodyModel.from_urdf(BODY, config), config)
    q, v = np.array([0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0]), np.zeros(6)
    for stamp in range(3):
        found = estimator.update(RobotState(stamp * 1_000_000, q, v, np.zeros(6)), Parts.MODE | Parts.STABILITY)
    return found.stability


@pytest.mark.parametrize("height", [0.05, 0.1])
def test_up_to_sixteen_contacts_are_all_decided_on(height):
    found = flags(4, 4, height)
    assert np.isfinite(found.gap_acceleration).all() and np.isfinite(found.constraint_force).all()


def test_the_release_of_64_standing_contacts_is_cut_beyond_some_work():
    found = flags(8, 8)
    unknown = np.isnan(found.gap_acceleration)
    assert found.closed.all() and unknown.any() and not unknown[0]
    assert ((found.bounded_time_stability == Flag.CUT) == unknown).all()
    assert np.isfinite(found.constraint_force).all() and (found.friction == Flag.HOLDS).any()


def test_64_falling_contacts_are_all_decided_on():
    """Each is held alone, which is little work."""
    found = flags(8, 8, 0.1)
    assert not found.closed.any() and np.isfinite(found.gap_acceleration).all()
    assert np.isfinite(found.constraint_force).all() and (found.bounded_time_stability == Flag.HOLDS).all()


@pytest.mark.parametrize("push", [0.0, 60.0, 300.0])
def test_flags_that_are_not_cut_are_those_without_a_limit(push):
    """Of a plate on 24 points, which is pushed to the side until it slides, and turned over its edge."""
    points = [np.array([x, y, -0.05]) for x in np.linspace(-0.1, 0.1, 6) for y in np.linspace(-0.05, 0.05, 4)]
    rows = np.array([np.vstack([np.eye(3), np.cross(p, np.eye(3))]).T for p in points])
    mass, m = np.diag([20.0, 20.0, 20.0, 0.1, 0.1, 0.1]), len(points)
    bias = np.array([-push, 0.2 * push, 20.0 * 9.81, 0.0, -0.02 * push, 0.0])
    problem = ContactProblem(mass, np.zeros(6), rows[:, 2], rows[:, :2], np.full(m, 0.5), bias_force=bias)
    touching, modes = np.ones(m, np.uint8), ModeWorkspace(6, m, 2)
    modes.solve(problem, touching, 0.05)
    cut, whole = StabilityWorkspace(m, 2, 0), StabilityWorkspace(m, 2)
    for found in (cut, whole):
        found.evaluate(problem, np.zeros((m, 3)), touching, modes, 0.1, 1e-3, 0.05, 0.05, 0.03)
    reached = cut.flags != Flag.CUT
    assert not (whole.flags == Flag.CUT).any() and reached[:, 0].all()
    np.testing.assert_array_equal(cut.flags[reached], whole.flags[reached])
    assert np.isnan(cut.margins[:2][~reached[:2]]).all()
