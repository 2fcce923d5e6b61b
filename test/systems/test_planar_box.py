"""The planar boxes of H against finite differences and the published matrices."""

import json

import numpy as np
import pytest

from hybrid_contact_ros.systems.box_and_wall import box_and_wall, box_and_wall_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block, rocking_block_impact


@pytest.mark.parametrize("make", [rocking_block, box_and_wall])
def test_rows_are_the_rate_of_the_gap_and_drift_is_its_second_rate(make):
    box, rng, step = make(), np.random.default_rng(3), 1e-5
    for _ in range(20):
        q, v = rng.normal(size=3), rng.normal(size=3)
        here, ahead, behind = box.problem(q, v), box.problem(q + step * v, v), box.problem(q - step * v, v)
        np.testing.assert_allclose(here.normal_jacobian @ v, (ahead.gap - behind.gap) / (2 * step), atol=1e-8)
        np.testing.assert_allclose(
            here.jacobian_drift[:, 0], (ahead.normal_jacobian - behind.normal_jacobian) @ v / (2 * step), atol=1e-8
        )
        np.testing.assert_allclose(
            here.jacobian_drift[:, 1],
            (ahead.tangent_jacobian[:, 0] - behind.tangent_jacobian[:, 0]) @ v / (2 * step),
            atol=1e-8,
        )


@pytest.mark.parametrize(
    ("folder", "make"), [("rocking_block", rocking_block_impact), ("box_and_wall", box_and_wall_impact)]
)
def test_matrices_are_those_of_the_published_implementation(shared, folder, make):
    published = json.loads((shared / "reference" / "routh" / folder / "problem.json").read_text())
    example = make()
    problem = example.problem
    np.testing.assert_allclose(problem.mass, published["M"], atol=1e-12)
    np.testing.assert_allclose(problem.normal_jacobian, published["Jn"], atol=1e-9)
    sign = np.array([[1.0], [1.0 if folder == "rocking_block" else -1.0]])  # B's tangent runs up the wall here
    np.testing.assert_allclose(problem.tangent_jacobian[:, 0] * sign, published["Jt"], atol=1e-9)
    np.testing.assert_allclose(problem.velocity, published["v_minus"], atol=1e-9)
    np.testing.assert_allclose(problem.gap, 0.0, atol=1e-12)
    assert (example.step, example.max_steps) == (published["h"], published["N"])
