"""A touch of a point within its sole, whose corners are all closed: a set is made for it as for any other."""

import numpy as np
import pytest

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.mechanics.model import RigidBodyModel

BLOCK = """<robot name="block"><link name="body"><inertial><mass value="2"/><origin xyz="0 0 0.1"/>
  <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link></robot>"""
# Four corners, and a point in the middle of an edge: soles of five and more have such.
POINTS = [0.1, 0.05, 0.0, 0.1, -0.05, 0.0, -0.1, 0.05, 0.0, -0.1, -0.05, 0.0, 0.1, 0.0, 0.0]


@pytest.mark.parametrize("apart", [0.0, 0.002])  # s, half of the bounds
def test_a_point_between_closed_corners_that_is_foretold_to_touch_has_a_set(tmp_path, apart):
    file = tmp_path / "block.urdf"
    file.write_text(BLOCK)
    config = EstimatorConfig.from_mapping(
        {"contacts": {"sole": {"link": "body", "points": POINTS}}, "impact": {"deadline": 0.0}}
    )
    model = RigidBodyModel.from_urdf(file, config)
    times = np.full((5, 3), np.inf)
    times[4] = 0.005 + np.array([0.0, -apart, apart])
    v = np.zeros(model.nv)
    v[2] = -0.2
    ahead = ImpactAhead(
        stamp_ns=0, q=model.neutral(), v=v, effort=None, acceleration=np.zeros(model.nv),
        closed=np.array([1, 1, 1, 1, 0], np.uint8), backed=np.full(5, EventKind.TOUCHDOWN, np.uint8), event_times=times,
    )  # fmt: skip
    steps = ImpactSets(model, config).ahead(ahead)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found = end.value
            break
    assert found is not None and 4 in found.contacts
    assert found.earliest == pytest.approx(0.005 - apart) and found.latest == pytest.approx(0.005 + apart)
    assert np.isfinite(found.velocities).all() and len(found.velocities)
