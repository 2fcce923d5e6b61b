"""Samples whose truth is none. Feet that skim the ground touch several times in a few milliseconds, and a truth that is
sampled at 1 kHz sees them open in all samples of some stretch, in every second one, or in none, by chance. Points of a
sole that has tilted are in the air, and a truth that knows no liftoffs has them closed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from benchmarks.estimation_scores.episodes import Array, Bools

TILT = 0.01  # m, between two points of a rigid sole on level ground: the higher one does not touch
LONGEST = 5  # samples between two impulses of one foot: a shorter opening is none (as for blips in the shared truth)


def chatter(touched: Bools, closed: Bools, longest: int = LONGEST) -> Bools:
    """The samples (n, k) at which ``closed`` says open although the foot touches again and again.

    Args:
        touched: (n, k), whether an impulse acts between each sample and the next. closed: (n, k), the truth.
        longest: an opening of at most so many samples between two impulses is chatter.

    Example:
        >>> touched = np.array([1, 0, 0, 1, 0, 0, 0, 0, 1], dtype=bool)[:, None]
        >>> closed = np.zeros((9, 1), dtype=bool)
        >>> chatter(touched, closed, longest=3)[:, 0].astype(int).tolist()
        [1, 1, 1, 1, 0, 0, 0, 0, 1]
    """
    bridged = touched.copy()
    for foot, own in enumerate(touched.T):
        at = np.flatnonzero(own)
        for before, after in pairwise(at):
            if after - before <= longest:
                bridged[before : after + 1, foot] = True
    return np.asarray(bridged & ~closed)


def tilted(height: Array, closed: Bools, soles: Sequence[tuple[int, ...]], tilt: float = TILT) -> Bools:
    """The samples (n, k) at which ``closed`` says that a point touches although it is above a lower point of the same
    rigid sole, on level ground: a truth that has touchdowns inferred from the motion, and no liftoffs, stays closed.

    Args:
        height: (n, k), m, of the points. closed: (n, k), the truth. soles: the points of each sole.

    Example:
        >>> height = np.array([[0.001, 0.004], [0.002, 0.025]])
        >>> tilted(height, np.ones((2, 2), dtype=bool), [(0, 1)])[:, 1].tolist()
        [False, True]
    """
    above = np.zeros_like(height)
    for sole in soles:
        above[:, sole] = height[:, sole] - height[:, sole].min(axis=1, keepdims=True)
    return np.asarray((above > tilt) & closed)
