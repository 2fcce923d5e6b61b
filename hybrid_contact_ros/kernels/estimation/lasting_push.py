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
from hybrid_contact_ros.kernels.estimation.contact_basis import left_entry

PARTS = 6
CROSS, PUSH, FACTOR = PARTS, PARTS + 1, PARTS + 2
"""Rows of a push (14, 6): the normal matrix, its right side, the push in parts of the weight by levers, and scratch."""
_SIGMA = 0.3  # of the weight, before anything was seen


def no_push() -> NDArray[np.float64]:
    """Nothing is known."""
    return np.zeros((FACTOR + PARTS, PARTS))


@kernel
def learn_push(certain, keep, found, basis, left, push):
    """Add one sample with the weight ``certain`` to the least squares, of which ``keep`` remains, and solve it.

    P is a projection: the product of its columns is its entry, and that of a column with ``left`` is an entry of it.

    Args:
        found, basis: of the contacts of a robot whose base floats. left: (nv,), what they leave of the motion.
        push: in and out, of :func:`no_push`.
    """
    for a in range(PARTS):
        push[CROSS, a] = keep * push[CROSS, a] + certain * left[a]
        for b in range(a + 1):
            push[a, b] = keep * push[a, b] + certain * left_entry(found, basis, a, b)
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
