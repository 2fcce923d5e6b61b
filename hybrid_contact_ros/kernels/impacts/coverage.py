"""How many of a set's samples would be near the rest of it, if the rest were smaller."""

import numpy as np
from numba import njit

_ENOUGH = 8  # neighbours: with more, a sample is as good as certain to be near
_STRIDE = 0x9E3779B1  # prime: every sample is tried once


@njit(cache=True, nogil=True, error_model="numpy")
def near_count(fraction, kept, limit, info, jumps):
    """Expected hits and trials when each sample is compared with ``kept`` of the others, chosen at random.

    A hit is within ε of one of them; ε is ``fraction`` of the norm of the largest jump (samples, n). A sample with d
    neighbours within ε among its n − 1 others misses with probability C(n − 1 − d, kept) / C(n − 1, kept): the mean
    over all choices needs no choice. Samples that did not terminate are never hits, and nobody's neighbours. info as in
    :func:`~.sampling.sample_batch`.

    Counting ends with the trial that reaches ``limit`` comparisons. Misses are what takes comparisons, so that it ends
    with one, as in inverse sampling. Returns (hits, trials, ε).
    """
    count = jumps.shape[0]
    n = jumps.shape[1]
    largest = 0.0
    for i in range(count):
        if info[i, 1] > 0.0:
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
        if info[i, 1] == 0.0:
            continue
        near = 0
        for other in range(1, count):
            j = i + other
            if j >= count:
                j -= count
            compared += 1
            if info[j, 1] == 0.0:
                continue
            s = 0.0
            for k in range(n):
                s += (jumps[i, k] - jumps[j, k]) ** 2
                if s > bound:
                    break
            if s <= bound:
                near += 1
                if near == _ENOUGH:
                    break
        miss = 1.0
        for d in range(near):
            miss *= max(count - 1 - d - kept, 0) / (count - 1 - d)
        hits += 1.0 - miss
    return hits, trials, fraction * np.sqrt(largest)
