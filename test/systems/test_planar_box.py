"""The planar boxes of H against finite differences."""

import numpy as np
import pytest

from hybrid_contact_ros.systems.box_and_wall import box_and_wall
from hybrid_contact_ros.systems.rocking_block import rocking_block


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
