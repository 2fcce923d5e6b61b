"""What acts on the base for a while from outside, as an explanation of what right efforts leave of the motion.

A person who leans on the trunk, or a tether, is six numbers that change slowly: a push. A load that the robot carries,
and its model does not know, is four: its part of the weight, and where it is. It needs the force that carries and
accelerates the robot once more, for that part of it, wherever it is. What the contacts leave of these, e = P w
(:mod:`.effort_trust`), looks at any one moment like errors of joints' efforts, and constants of 36 joints follow a push
more closely than it is known. Time tells them apart: what errors of joints leave changes with the efforts, the speeds
and the posture of the legs, and what a push or a load leaves does not. w is found by least squares with a short memory,
and foretells the next state as the errors of joints do (:mod:`.effort_errors`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_basis import take_off_rows

_WRENCH = 6
PARTS = _WRENCH + 4
"""Of what acts from outside: force and moment of a push, the part of the weight that is carried, and its moments."""
CROSS, PUSH, FACTOR = PARTS, PARTS + 1, PARTS + 2
"""Rows of a push (22, 10): the normal matrix, its right side, the push in parts of the weight by levers, scratch."""
_SIGMA = 0.3  # of the weight, before anything was seen


def no_push(count: int) -> NDArray[np.float64]:
    """Of so many pushes nothing is known."""
    return np.zeros((count, FACTOR + PARTS, PARTS))


@kernel
def outside_columns(found, scale, basis, needed, settled, columns):
    """Write what contacts leave of a 1 of each part of a push on a robot whose base floats.

    Args:
        found, basis: of the contacts. scale: (nv,), into parts of the weight.
        needed: (nv,), low-passed, of which the first three are the force that carries and accelerates the robot, in the
            base's axes and parts of the weight. settled: answer of the low-pass to a 1.
        columns: (PARTS, nv), out.
    """
    for a in range(PARTS):
        for k in range(columns.shape[1]):
            columns[a, k] = 0.0
        if a < _WRENCH:
            columns[a, a] = 1.0
        elif a == _WRENCH:
            for k in range(3):
                columns[a, k] = needed[k] / settled
        elif scale[3] > 0.0:
            j, k = (a - _WRENCH) % 3, (a - _WRENCH + 1) % 3  # a load that is along the axis before these
            columns[a, 3 + j] = -needed[k] / settled * scale[3 + j] / scale[3]
            columns[a, 3 + k] = needed[j] / settled * scale[3 + k] / scale[3]
    take_off_rows(found, basis, columns, 0)


@kernel
def learn_push(certain, keep, noise, columns, left, push):
    """Add one sample with the weight ``certain`` to the least squares, of which ``keep`` remains, and solve it.

    Args:
        noise: the square of what is left, over that which the samples are weighted with.
        columns: of :func:`outside_columns`. left: (nv,), what contacts leave of the motion. P is a projection: both may
            be taken as it leaves them.
        push: (22, 10), in and out, of :func:`no_push`.
    """
    for a in range(PARTS):
        total = 0.0
        for k in range(left.shape[0]):
            total += columns[a, k] * left[k]
        push[CROSS, a] = keep * push[CROSS, a] + certain * total
        for b in range(a + 1):
            total = 0.0
            for k in range(left.shape[0]):
                total += columns[a, k] * columns[b, k]
            push[a, b] = keep * push[a, b] + certain * total
    _solve(noise, push)


@kernel
def take_push(columns, push, left):
    """Take from ``left`` (nv,) what the push leaves of the motion."""
    for a in range(PARTS):
        for k in range(left.shape[0]):
            left[k] -= push[PUSH, a] * columns[a, k]


@kernel
def _solve(noise, push):
    factor = push[FACTOR:]
    for a in range(PARTS):
        push[PUSH, a] = push[CROSS, a]
        for b in range(a + 1):
            factor[a, b] = push[a, b]
        factor[a, a] += noise / (_SIGMA * _SIGMA)
    if cholesky_factor(PARTS, 1e-12, factor, factor) == PARTS:
        cholesky_solve(PARTS, factor, push[PUSH])
    else:
        for a in range(PARTS):
            push[PUSH, a] = 0.0
