"""The centre of mass above the support polygon, against the pose of the robot by Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from hybrid_contact_ros.kernels.estimation.support_polygon import is_above

POINTS = np.array(
    [[0.2, 0.12, -0.3], [0.2, -0.12, -0.28], [-0.2, 0.12, -0.25], [-0.2, -0.12, -0.33], [0.05, 0.0, -0.3]]
)


def problem(quaternion, centre, points):
    """Rows, bias and factor of a body that floats with ``quaternion``, with its ``centre`` of mass and contact
    ``points`` in its own axes, and the horizontal places of the points from the centre."""
    rotation = pin.Quaternion(*quaternion).normalized().toRotationMatrix()
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(joint, pin.Inertia(7.0, centre, np.diag([0.1, 0.2, 0.25])), pin.SE3.Identity())
    data = model.createData()
    q = np.concatenate(([0.4, -1.0, 2.0], pin.Quaternion(rotation).coeffs()))
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    bias = pin.rnea(model, data, q, np.zeros(6), np.zeros(6))
    axes = pin.Quaternion(0.3, 0.5, -0.2, 0.7).normalized().toRotationMatrix()  # of a normal and tangents, any
    directions = (rotation.T @ axes).T
    rows = np.array([np.concatenate((d, np.cross(p, d))) for p in points for d in directions])
    return rows, bias, np.linalg.cholesky(mass), ((points - centre) @ rotation.T)[:, :2]


def least_margin(places):
    """How far the origin is within the hull of places (k, 2); negative outside of it."""
    if len(places) < 3 or np.linalg.matrix_rank(places[1:] - places[0], tol=1e-9) < 2:
        return -np.inf
    return -ConvexHull(places).equations[:, -1].max()


@settings(deadline=None, max_examples=200)
@given(
    tilt=st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda x: np.linalg.norm(x) > 0.1),
    centre=st.tuples(st.floats(-0.15, 0.15), st.floats(-0.1, 0.1), st.floats(-0.05, 0.05)),
    stands=st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_it_is_above_where_the_hull_holds_it(tilt, centre, stands):
    rows, bias, factor, places = problem(tilt, np.array(centre), POINTS)
    entry = np.where(stands, 0, -1).astype(np.int64)
    margin = 0.01
    true = least_margin(places[entry >= 0])
    found = is_above(margin, entry, rows, bias, factor, np.zeros(10))
    if abs(true - margin) > 1e-9:
        assert found == (true > margin)


@pytest.mark.parametrize("standing", [(), (0,), (0, 3), (0, 1), (1, 4, 4)])
def test_what_spans_no_area_carries_nothing(standing):
    rows, bias, factor, _ = problem((0.0, 0.0, 0.0, 1.0), np.zeros(3), POINTS)
    entry = np.full(5, -1, dtype=np.int64)
    entry[list(standing)] = 0
    assert not is_above(0.01, entry, rows, bias, factor, np.zeros(10))


def test_without_weight_nothing_is_above_anything():
    rows, _, factor, _ = problem((0.0, 0.0, 0.0, 1.0), np.zeros(3), POINTS)
    assert not is_above(0.01, np.zeros(5, dtype=np.int64), rows, np.zeros(6), factor, np.zeros(10))
