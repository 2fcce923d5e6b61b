"""How many of a set's samples would be near the rest of it, if the rest were smaller."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.records import TERMINATED

_MOST_NEIGHBOURS = 8  # are counted: a sample with more is as good as certain to be near
BLOCK = 64  # samples compared at once, at most
_FIRST_BLOCK = 16  # as many again with each block: where samples are many, the first ones are neighbours enough
_STRIDE = 0x9E3779B1  # between samples that are tried in succession; a prime, so that every sample is tried once


@kernel(forceinline=True)
def _squares(columns, i, j, width, squares):
    """Write the squared distances from sample i to samples j … j + width − 1 to ``squares``."""
    for r in range(width):
        squares[r] = 0.0
    for k in range(columns.shape[0]):
        own = columns[k, i]
        other = columns[k, j : j + width]
        for r in range(width):
            apart = own - other[r]
            squares[r] += apart * apart


@kernel(forceinline=True)
def _neighbours(i, count, bound, columns, squares):
    """Neighbours of sample i of ``count``, up to _MOST_NEIGHBOURS, and how many samples were looked at: i + 1, i + 2,
    …, cyclically.

    Samples are compared in blocks, one coordinate after the other, which the compiler turns into vector instructions.
    """
    near = 0
    looked = 0
    block = min(_FIRST_BLOCK, squares.shape[0])
    for part in range(2):
        j = 0 if part == 1 else i + 1
        end = i if part == 1 else count
        while j < end:
            width = min(block, end - j)
            block = min(2 * block, squares.shape[0])
            _squares(columns, i, j, width, squares)
            within = 0
            for r in range(width):
                within += 1 if squares[r] <= bound else 0
            if near + within < _MOST_NEIGHBOURS:
                near += within
                looked += width
                j += width
                continue
            for r in range(width):
                looked += 1
                if squares[r] <= bound:
                    near += 1
                    if near == _MOST_NEIGHBOURS:
                        return near, looked
    return near, looked


@kernel
def near_count(fraction, kept, limit, info, jumps, columns, squares):
    """Expected hits and trials when each sample is compared with ``kept`` of the others, chosen at random.

    A hit is within ε of one of them. A sample with d neighbours within ε among its n − 1 others misses with probability
    C(n − 1 − d, kept) / C(n − 1, kept): the mean over all choices needs no choice. A sample that did not terminate is
    never a hit, and nobody's neighbour. Counting ends with the trial that reaches ``limit`` comparisons. Misses are
    what takes comparisons, so that counting ends with a miss, as in inverse sampling.

    Args:
        fraction: ε over the norm of the largest jump. kept: samples to compare with. limit: of comparisons.
        info: (samples, 7), of :func:`~.sampling.sample_batch`.
        jumps: (samples, n), in coordinates whose Euclidean norm is the kinetic norm.
        columns: scratch, (n, ≥ samples). squares: scratch, (BLOCK,).

    Returns:
        (hits, trials, ε).
    """
    count = jumps.shape[0]
    n = jumps.shape[1]
    largest = 0.0
    for i in range(count):
        s = 0.0
        for k in range(n):
            s += jumps[i, k] * jumps[i, k]
            columns[k, i] = jumps[i, k]
        if info[i, TERMINATED] > 0.0:
            largest = max(largest, s)
        elif n > 0:
            columns[0, i] = np.nan  # nobody's neighbour
    bound = fraction * fraction * largest
    hits = 0.0
    trials = 0
    compared = 0
    while trials < count and compared < limit:
        i = trials * _STRIDE % count
        trials += 1
        if info[i, TERMINATED] == 0.0:
            continue
        neighbours, looked = _neighbours(i, count, bound, columns, squares)
        compared += looked
        miss = 1.0
        for d in range(neighbours):
            miss *= max(count - 1 - d - kept, 0) / (count - 1 - d)
        hits += 1.0 - miss
    return hits, trials, fraction * np.sqrt(largest)
