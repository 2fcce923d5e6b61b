"""What is added to the efforts and to the mass of a state, of errors of the efforts that are known.

How they are learned, and when they are applied: :mod:`.effort_errors`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.records import Array

KINDS = 4
SCALE, BIAS, FRICTION, INERTIA = range(KINDS)
"""Rows of ``EffortCorrection.applied``."""
CONSTANTS, LATE = 1, 2
"""Bits of ``EffortCorrection.active``."""
RATES = 6
RATE, USUAL_RATE, UNREST, STEPPED, USUAL_STEP, LAST = range(RATES)
"""Rows of ``EffortCorrection.effort_rate``: of this state, low-passed, and by how much it lately was another one, N m/s
(N/s); half of what the step since the last state is larger than usual, half of the usual one, and the last effort as it
was measured, N m (N)."""
_RATE_TIME = 0.003  # s, of the low-pass that efforts are compared with for their rate
_USUAL, _UNREST = 0.005, 0.01  # s, over which a rate is the usual one, and for which one that changed is remembered
_SIGN_SPEED = 0.1  # rad/s (m/s): slower joints have a part of their friction


class EffortCorrection(NamedTuple):
    """What :func:`~.measure.measure` adds to the efforts and to the mass matrix."""

    active: NDArray[np.uint8]  # (1,), bits: CONSTANTS and LATE, what is
    applied: Array  # (KINDS, nv): scale less 1, bias and friction, N m (N), and inertia, kg m² (kg)
    added: Array  # (nv,), N m (N), to the efforts of this state
    drives: Array  # (nv,), kg m² (kg), their inertia: to the diagonal of the mass matrix of this state
    unsure: Array  # (nv,), N m (N), of :func:`~.effort_errors.doubt_torques`
    late: Array  # (nv,), s, by which efforts come after the motion
    slow: Array  # (nv,), N m (N), measured efforts, low-passed
    effort_rate: Array  # (RATES, nv): RATE, USUAL_RATE and UNREST, where efforts are late, and the steps of efforts


@kernel
def smooth_sign(speed):
    """−1 to 1, and the sign of speeds (rad/s, m/s) that are large."""
    return speed / math.sqrt(speed * speed + _SIGN_SPEED * _SIGN_SPEED)


@kernel
def correct_efforts(dt, velocity, effort, bias, mass, correction):
    """Add what is applied to the efforts of a state, ``dt`` s after the last, and take it from ``bias``, h − Sᵀτ; add
    the drives' inertia to the mass matrix."""
    applied, added, pace = correction.applied, correction.added, _pace(dt)
    for k in range(effort.shape[0]):
        correction.drives[k] = applied[INERTIA, k]
        mass[k, k] += applied[INERTIA, k]
        added[k] = applied[SCALE, k] * effort[k] + applied[BIAS, k]
        if applied[FRICTION, k] != 0.0:
            added[k] += applied[FRICTION, k] * smooth_sign(velocity[k])
        correction.effort_rate[RATE, k] = 0.0
        if correction.late[k] > 0.0 and pace > 0.0:
            correction.effort_rate[RATE, k] = pace * (effort[k] - correction.slow[k])
            added[k] += correction.late[k] * correction.effort_rate[RATE, k]
        effort[k] += added[k]
        bias[k] -= added[k]


@kernel
def follow_efforts(dt, effort, correction):
    """Low-pass the efforts of a state as they were measured, ``effort`` less what was added; begin anew after a
    pause.

    Between two states an effort may have been that of the first or that of the second, and the momentum observer takes
    their mean: half of a step may be wrong. Of a course that goes on as it did, this is next to nothing."""
    share, rate = _pace(dt) * dt, correction.effort_rate
    usual, kept = -math.expm1(-dt / _USUAL), math.exp(-dt / _UNREST)
    for k in range(effort.shape[0]):
        measured = effort[k] - correction.added[k]
        half = 0.5 * abs(measured - rate[LAST, k]) if 0.0 < dt <= LONGEST_PAUSE else 0.0
        rate[STEPPED, k] = max(half - rate[USUAL_STEP, k], 0.0)
        rate[USUAL_STEP, k] += usual * (half - rate[USUAL_STEP, k])
        rate[LAST, k] = measured
        rate[UNREST, k] = max(abs(rate[RATE, k] - rate[USUAL_RATE, k]), kept * rate[UNREST, k])
        rate[USUAL_RATE, k] += usual * (rate[RATE, k] - rate[USUAL_RATE, k])
        if share > 0.0:
            correction.slow[k] += share * (measured - correction.slow[k])
        elif dt != 0.0:
            correction.slow[k] = measured


@kernel
def _pace(dt):
    """1/s, times the difference of an effort and its low-pass of the last state: a ramp's rate; 0 after a pause."""
    return -math.expm1(-dt / _RATE_TIME) / dt if 0.0 < dt <= LONGEST_PAUSE else 0.0


@kernel
def latest(late):
    """The largest of the times (nv,), s, by which efforts are late."""
    most = 0.0
    for k in range(late.shape[0]):
        most = max(most, late[k])
    return most
