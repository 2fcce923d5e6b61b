"""Orientations as matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def rotation_matrix(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation (3, 3), from the turned axes into the others, of a quaternion x, y, z, w of length 1."""
    x, y, z, w = quaternion.tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
