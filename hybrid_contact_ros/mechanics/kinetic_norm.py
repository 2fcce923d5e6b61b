"""The norm in which sizes and distances of velocities are told."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def kinetic_norm(mass: Array, v: Array) -> float:
    """‖v‖_M = √(vᵀ M v), √J, of a velocity (nv,); 0 where rounding makes a tiny square negative. M: (nv, nv)."""
    return math.sqrt(max(float(v @ mass @ v), 0.0))
