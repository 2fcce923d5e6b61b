"""How uncertain gaps and gap velocities are: by the configuration, and by the base's covariances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import ActivationConfig

Array = NDArray[np.float64]


class GapUncertainty:
    """Standard deviations of each contact's gap (m) and gap velocity (m/s)."""

    def __init__(self, contacts: int, config: ActivationConfig) -> None:
        self._gap, self._velocity = np.full(contacts, config.gap_sigma), np.full(contacts, config.velocity_sigma)

    def of(self, normals: Array, base_covariance: Array | None) -> tuple[Array, Array]:
        """Standard deviations of the gaps and of their rates, (m,) each: the configured ones, to which those of a
        floating base are added in squares (first order).

        Args:
            normals: J_n (m, nv) of a robot whose base has the first six coordinates.
            base_covariance: (2, 6, 6) as of :class:`~hybrid_contact_ros.mechanics.state.RobotState`, or None.
        """
        if base_covariance is None:
            return self._gap, self._velocity
        by_base = normals[:, :6]
        pose, twist = ((by_base @ part * by_base).sum(axis=1) for part in base_covariance)
        return np.sqrt(self._gap**2 + np.maximum(pose, 0.0)), np.sqrt(self._velocity**2 + np.maximum(twist, 0.0))
