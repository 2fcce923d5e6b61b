"""What the last second tells of errors of joints where something acts on the robot from outside.

A push or a load (:mod:`.lasting_push`) that nobody knows of is taken to be the same for a second, and another one the
next second. The least squares for the constants of joints (:mod:`.error_squares`) then has these ten unknowns more
for each second. They are eliminated: N − M (O + prior)⁻¹ Mᵀ is what a second tells of the constants, N their normal
matrix, O that of what acts from outside, and M what both share. So constants do not follow a payload that is put down.
Where nothing from outside would explain at least half of what the constants leave of this second, there is none, and N
is taken as it is: slow gaits would teach little else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, forward_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.effort_correction import KINDS
from hybrid_contact_ros.kernels.estimation.lasting_push import PARTS, SIGMA

_CROSS, _REST, _SUM, _SOLVED, _FACTOR = range(PARTS, PARTS + 5)
"""Rows of a window (24, 10) behind its normal matrix: sides of what contacts leave, and of what the constants leave of
it, whose sum of squares is next; and scratch: the first of these sides by the inverse of the factor, the factor."""
_SUMS, _TAKEN = 0, 1
"""Members of ``shared``: M (k, 10), and M by the inverse of the factor of O."""
_HELPS = 0.5  # part of what the constants leave of a second, that what acts from outside leaves of it at most


def no_window() -> NDArray[np.float64]:
    """Nothing was seen yet."""
    return np.zeros((_FACTOR + PARTS, PARTS))


@kernel
def add_outside(certain, keep, columns, errors):
    """Add one sample, of which the least squares for the constants know already, with the weight ``certain``; ``keep``:
    of what was there before, as in those.

    Args:
        columns: (PARTS, nv), of :func:`~.lasting_push.outside_columns`.
    """
    window, sums, joint = errors.window, errors.shared[_SUMS], errors.joint
    n, left, rest, late = joint.shape[0], errors.left[0], errors.left[1], KINDS * joint.shape[0]
    for a in range(PARTS):
        cross = remains = by_rate = 0.0
        for k in range(left.shape[0]):
            cross += columns[a, k] * left[k]
            remains += columns[a, k] * rest[k]
            by_rate += columns[a, k] * errors.work[k]  # of efforts that are late
        window[_CROSS, a] = keep * window[_CROSS, a] + certain * cross
        window[_REST, a] = keep * window[_REST, a] + certain * remains
        for b in range(a + 1):
            both = 0.0
            for k in range(left.shape[0]):
                both += columns[a, k] * columns[b, k]
            window[a, b] = keep * window[a, b] + certain * both
        for p in range(late):
            sums[p, a] = keep * sums[p, a] + certain * errors.row[p] * columns[a, joint[p % n]]
        sums[late, a] = keep * sums[late, a] + certain * by_rate
    window[_SUM, 0] *= keep
    for k in range(rest.shape[0]):
        window[_SUM, 0] += certain * rest[k] * rest[k]


@kernel
def weigh_outside(errors):
    """Whether something from outside explains much of this window; then ``shared_entry`` is what both share."""
    window, factor = errors.window, errors.window[_FACTOR:]
    for a in range(PARTS):
        for b in range(a + 1):
            factor[a, b] = window[a, b]
        factor[a, a] += 1.0 / (SIGMA * SIGMA)
    if cholesky_factor(PARTS, 1e-12, factor, factor) != PARTS:
        return False
    explained = 0.0
    solved = window[_SOLVED]
    _divide(factor, window[_REST], solved)
    for a in range(PARTS):
        explained += solved[a] * solved[a]
    if explained < (1.0 - _HELPS) * window[_SUM, 0]:
        return False
    _divide(factor, window[_CROSS], solved)
    for p in range(errors.cross.shape[0]):
        _divide(factor, errors.shared[_SUMS, p], errors.shared[_TAKEN, p])
    return True


@kernel
def shared_entry(p, q, errors):
    """Entry of M (O + prior)⁻¹ Mᵀ."""
    total = 0.0
    for a in range(PARTS):
        total += errors.shared[_TAKEN, p, a] * errors.shared[_TAKEN, q, a]
    return total


@kernel
def shared_cross(p, errors):
    """Entry of M (O + prior)⁻¹ times the side of what acts from outside."""
    total = 0.0
    for a in range(PARTS):
        total += errors.shared[_TAKEN, p, a] * errors.window[_SOLVED, a]
    return total


@kernel
def end_window(outside, errors):
    """Begin a new second; for good, nothing is known of the constants that it told by what acts from ``outside``."""
    if outside:
        for p in range(errors.cross.shape[0]):
            errors.cross[p] -= shared_cross(p, errors)
            for q in range(p + 1):
                errors.normal[p, q] -= shared_entry(p, q, errors)
    for row in range(errors.window.shape[0]):
        for a in range(PARTS):
            errors.window[row, a] = 0.0
    for p in range(errors.cross.shape[0]):
        for a in range(PARTS):
            errors.shared[_SUMS, p, a] = 0.0


@kernel
def _divide(factor, side, solved):
    """Write the inverse of a lower triangle times a side."""
    for a in range(PARTS):
        solved[a] = side[a]
    forward_solve(PARTS, factor, solved)
