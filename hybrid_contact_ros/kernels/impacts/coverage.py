"""How many of a set's samples would be near the rest of it, if the rest were smaller."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.records import TERMINATED

_MOST_NEIGHBOURS = 8  # are counted: a sample with more is as good as certain to be near
_STRIDE = 0x9E3779B1  # between samples that are tried in succession; a prime, so that every sample is tried once


@kernel
def near_count(fraction, kept, limit, info, jumps):
    """Expected hits and trials when each sample is compared with ``kept`` of the others, chosen at random.

    A hit is within ε of one of them. A sample with d neighbours within ε among its n − 1 others misses with probability
    C(n − 1 − d, kept) / C(n − 1, kept): the mean over all choices needs no choice. A sample that did not terminate is
    never a hit, and nobody's neighbour. Counting ends with the trial that reaches ``limit`` comparisons. Misses are
    what takes comparisons, so that counting ends with a miss, as in inverse sampling.

    Args:
        fraction: ε over the norm of the largest jump. kept: samples to compare with. limit: of comparisons.
        info: (samples, 7), of :func:`~.sampling.sample_batch`.
        jumps: (samples, n), in coordinates whose Euclidean norm is the kinetic norm.

    Returns:
        (hits, trials, ε).
    """
    count = jumps.shape[0]
    n = jumps.shape[1]
    largest = 0.0
    for i in range(count):
        if info[i, TERMINATED] > 0.0:
            s = 0.0
            for k in range(n):
                s += jumps[i, k] * jumps[i, k]
            largest = max(largest, s)
    bound = fraction * fraction * largest
    hits = 0.0
    trials = 0
    compared = 0
    while trials < count and compared < limit:
        i = trials * _STRIDE % count
        trials += 1
        if info[i, TERMINATED] == 0.0:
            continue
        near = 0
        for other in range(1, count):
            j = i + other
            if j >= count:
                j -= count
            compared += 1
            if info[j, TERMINATED] == 0.0:
                continue
            s = 0.0
            for k in range(n):
                s += (jumps[i, k] - jumps[j, k]) ** 2
                if s > bound:
                    break
            if s <= bound:
                near += 1
                if near == _MOST_NEIGHBOURS:
                    break
        miss = 1.0
        for d in range(near):
            miss *= max(count - 1 - d - kept, 0) / (count - 1 - d)
        hits += 1.0 - miss
    return hits, trials, fraction * np.sqrt(largest)
