"""What is added to the efforts and to the mass of a state, of errors of the efforts that are known.

How they are learned, and when they are applied: :mod:`.effort_errors`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.records import Array

KINDS = 4
SCALE, BIAS, FRICTION, INERTIA = range(KINDS)
"""Rows of ``EffortCorrection.applied``."""
_SIGN_SPEED = 0.1  # rad/s (m/s): slower joints have a part of their friction


class EffortCorrection(NamedTuple):
    """What :func:`~.measure.measure` adds to the efforts and to the mass matrix."""

    active: NDArray[np.uint8]  # (1,), whether anything is
    applied: Array  # (KINDS, nv): scale less 1, bias and friction, N m (N), and inertia, kg m² (kg)
    added: Array  # (nv,), N m (N), to the efforts of this state
    drives: Array  # (nv,), kg m² (kg), their inertia: to the diagonal of the mass matrix of this state
    unsure: Array  # (nv,), N m (N), of :func:`~.effort_errors.doubt_torques`


@kernel
def smooth_sign(speed):
    """−1 to 1, and the sign of speeds (rad/s, m/s) that are large."""
    return speed / math.sqrt(speed * speed + _SIGN_SPEED * _SIGN_SPEED)


@kernel
def correct_efforts(velocity, effort, bias, mass, correction):
    """Add what is applied to the efforts of a state, and take it from ``bias``, h − Sᵀτ; add the drives' inertia to the
    mass matrix."""
    applied, added = correction.applied, correction.added
    for k in range(effort.shape[0]):
        correction.drives[k] = applied[INERTIA, k]
        mass[k, k] += applied[INERTIA, k]
        added[k] = applied[SCALE, k] * effort[k] + applied[BIAS, k]
        if applied[FRICTION, k] != 0.0:
            added[k] += applied[FRICTION, k] * smooth_sign(velocity[k])
        effort[k] += added[k]
        bias[k] -= added[k]
