"""The papers' systems against the matrices of the published implementation, wherever those are at hand."""

import json

import numpy as np
import pytest

from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

SYSTEMS = {
    "rocking_block": [rocking_block_impact],
    "box_and_wall": [box_and_wall_impact],
    "compass_gait": [compass_gait_impact],
    "ramone": [ramone_impact],
    "disk_stacking": [disk_stacking_impact, lambda: disk_stacking_impact(published=True)],
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_matrices_are_those_of_the_published_implementation(shared, name):
    files = sorted((shared / "reference" / "routh").glob(f"{name}/problem*.json"))
    if not files:
        pytest.skip(f"the published matrices of {name} are not in {shared}")
    for file in files:
        data = json.loads(file.read_text())
        example = min((make() for make in SYSTEMS[name]), key=lambda one: np.abs(one.problem.mass - data["M"]).max())
        problem = example.problem
        np.testing.assert_allclose(problem.mass, data["M"], atol=1e-9)
        np.testing.assert_allclose(problem.normal_jacobian, data["Jn"], atol=1e-9)
        published = np.array(data["Jt"])
        for row, other in zip(problem.tangent_jacobian[:, 0], published, strict=True):
            assert min(np.abs(row - other).max(), np.abs(row + other).max()) < 1e-9  # which way along it is free
        np.testing.assert_allclose(problem.velocity, data["v_minus"], atol=1e-9)
        np.testing.assert_allclose(problem.friction, data["mu"], rtol=1e-12)
        np.testing.assert_allclose(problem.gap, 0.0, atol=1e-9)
        assert (example.step, example.max_steps) == (data["h"], data["N"])
