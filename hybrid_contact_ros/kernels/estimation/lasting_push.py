"""A push on the base that lasts, as an explanation of what right efforts leave of the motion.

A person who leans on the trunk, a tether, or a payload that the model does not know acts on the base as six numbers
that change slowly. What the contacts leave of it, e = P w (:mod:`.effort_trust`), looks at any one moment like errors
of joints' efforts, and constants of 36 joints follow a push more closely than it is known. Time tells them apart: what
errors of joints leave changes with the efforts, the speeds and the posture, and what a push leaves does not. w is found
by least squares with a short memory, and foretells the next state as the errors of joints do (:mod:`.effort_errors`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_basis import take_off

PARTS = 6
CROSS, PUSH, FACTOR = PARTS, PARTS + 1, PARTS + 2
"""Rows of a push (14, 6): the normal matrix, its right side, the push in parts of the weight by levers, and scratch."""
_SIGMA = 0.3  # of the weight, before anything was seen
_BASE = -1  # in ``TrustTable.limb``


def no_push() -> NDArray[np.float64]:
    """Nothing is known."""
    return np.zeros((FACTOR + PARTS, PARTS))


@kernel
def what_push_leaves(found, limb, basis, left, part, work, push):
    """The square of what the push that was found up to now leaves of ``left`` (nv,).

    Args:
        found, basis: of the contacts. limb: (nv,), −1 for the base. part: (≥ found,), work: (nv,), scratch.
    """
    for k in range(work.shape[0]):
        work[k] = push[PUSH, k] if k < PARTS and limb[k] == _BASE else 0.0
    take_off(found, basis, work, part)
    square = 0.0
    for k in range(work.shape[0]):
        square += (left[k] - work[k]) ** 2
    return square


@kernel
def learn_push(certain, keep, found, limb, basis, left, push):
    """Add one sample with the weight ``certain`` to the least squares, of which ``keep`` remains, and solve it.

    P is a projection: the product of its columns is its entry, and that of a column with ``left`` is an entry of it.
    """
    for a in range(PARTS):
        if limb[a] != _BASE:
            return
        push[CROSS, a] = keep * push[CROSS, a] + certain * left[a]
        for b in range(a + 1):
            total = 1.0 if a == b else 0.0
            for i in range(found):
                total -= basis[i, a] * basis[i, b]
            push[a, b] = keep * push[a, b] + certain * total
            push[b, a] = push[a, b]
    _solve(push)


@kernel
def _solve(push):
    factor = push[FACTOR:]
    for a in range(PARTS):
        push[PUSH, a] = push[CROSS, a]
        for b in range(a + 1):
            factor[a, b] = push[a, b]
        factor[a, a] += 1.0 / (_SIGMA * _SIGMA)
    if cholesky_factor(PARTS, 1e-12, factor, factor) == PARTS:
        cholesky_solve(PARTS, factor, push[PUSH])
    else:
        for a in range(PARTS):
            push[PUSH, a] = 0.0
