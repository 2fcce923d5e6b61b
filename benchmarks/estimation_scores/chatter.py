"""Feet that skim the ground: they touch several times in a few milliseconds, and a truth that is sampled at 1 kHz sees
them open in all samples of some stretch, in every second one, or in none, by chance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from benchmarks.estimation_scores.episodes import Bools

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
