"""Whole samples of H Algorithm 1 and 2, and distances between them."""

import numpy as np
from numba import njit

from hybrid_contact_ros.kernels.increment import increment
from hybrid_contact_ros.kernels.status import Status

SOLVED = int(Status.SOLVED)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³


@njit(cache=True, nogil=True, error_model="numpy")
def _mix(state):
    """The output function of SplitMix64 (Steele, Lea, Flood 2014)."""
    state = (state ^ (state >> _S30)) * _MIX1
    state = (state ^ (state >> _S27)) * _MIX2
    return state ^ (state >> _S31)


@njit(cache=True, nogil=True, error_model="numpy")
def stream(seed, sample):
    """State of the random stream of one sample; streams of different (seed, sample) are unrelated."""
    return _mix(_mix(np.uint64(seed) + _GOLDEN) + (np.uint64(sample) + np.uint64(1)) * _GOLDEN)


@njit(cache=True, nogil=True, error_model="numpy")
def uniform(state):
    """Next state and a number uniform in [0, 1), a multiple of 2⁻⁵³."""
    state = state + _GOLDEN
    return state, np.float64(_mix(state) >> _S11) * _UNIT


@njit(cache=True, nogil=True, error_model="numpy")
def _slowest(g, w, speed):
    """Least scaled normal velocity divided by ``speed`` (m,): the contact that approaches fastest."""
    least = np.inf
    for k in range(speed.shape[0]):
        least = min(least, w[k * (1 + g)] / speed[k])
    return least


@njit(cache=True, nogil=True, error_model="numpy")
def sample_batch(
    g, first, count, seed, step, last_step, max_steps, H, w, c, speed, given, floats, ints, cap, vectors, z, info
):
    """Run samples first … first + count − 1 of Algorithm 1 (line 1–6), then Algorithm 2's last step (line 5).

    Everything scaled. step (m,) is the largest cap of an increment, drawn uniformly below it; last_step (m,) the caps
    of the last step that a sample which still approaches after max_steps gets (0: none); H (p, p), w (p,), c (m,).
    A sample ends once w'_n ≥ −speed for every contact, speed (m,) > 0. ``given`` (samples, max_steps, m) replaces
    the draws unless it has no rows. Scratch as in :func:`~.increment.increment`, and cap (m,), vectors (3, p).
    Out, rows first … : z (samples, p) total impulse, info (samples, 3): steps, terminated, largest residual.
    Returns the worst status.
    """
    p = H.shape[0]
    m = c.shape[0]
    worst = SOLVED
    now = vectors[0]
    after = vectors[1]
    push = vectors[2]
    for sample in range(first, first + count):
        state = stream(seed, sample)
        for i in range(p):
            now[i] = w[i]
            z[sample, i] = 0.0
        largest = 0.0
        steps = 0
        while _slowest(g, now, speed) < -1.0 and steps <= max_steps:
            if steps == max_steps:
                if not last_step[0] > 0.0:
                    break
                for k in range(m):
                    cap[k] = last_step[k]
            elif given.shape[0] > 0:
                for k in range(m):
                    cap[k] = given[sample, steps, k]
            else:
                for k in range(m):
                    state, draw = uniform(state)
                    cap[k] = step[k] * draw
            status, residual, _ = increment(g, H, now, cap, c, floats, ints, push, after)
            if status != SOLVED:
                worst = status
            largest = max(largest, residual)
            for i in range(p):
                z[sample, i] += push[i]
                now[i] = after[i]
            steps += 1
        info[sample, 0] = steps
        info[sample, 1] = 1.0 if _slowest(g, now, speed) >= -1.0 else 0.0
        info[sample, 2] = largest
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def outcomes(A, scale, V, v, R, Y, first, count, z, velocities, impulses, jumps):
    """Velocities and impulses of samples, from scaled impulses on axes.

    A (g, d), scale (m,), V as in :mod:`.delassus`, v (n,), R and Y (m (1 + d), n), z (samples, m (1 + g)); out, rows
    first … first + count − 1: velocities (samples, n), impulses (samples, m, 1 + d), and jumps (samples, n), whose
    Euclidean norm is the kinetic norm of v⁺ − v⁻.
    """
    g = A.shape[0]
    d = A.shape[1]
    n = v.shape[0]
    for sample in range(first, first + count):
        for k in range(n):
            velocities[sample, k] = v[k]
            jumps[sample, k] = 0.0
        for i in range(scale.shape[0]):
            unit = V / scale[i]
            e = i * (1 + g)
            for x in range(1 + d):
                s = 0.0
                if x == 0:
                    s = z[sample, e]
                else:
                    for axis in range(g):
                        s += A[axis, x - 1] * z[sample, e + 1 + axis]
                s *= unit
                impulses[sample, i, x] = s
                if s != 0.0:
                    row = i * (1 + d) + x
                    for k in range(n):
                        velocities[sample, k] += s * R[row, k]
                        jumps[sample, k] += s * Y[row, k]


@njit(cache=True, nogil=True, error_model="numpy")
def near_count(fraction, first, count, info, jumps):
    """How many of the later samples end near one of the first ones.

    The reference set are the terminated ones of samples 0 … first − 1, ε is ``fraction`` of the norm of the largest of
    their jumps (samples, n); counted are the terminated ones of samples first … first + count − 1 within ε of the
    reference set. info as in :func:`sample_batch`. Returns (count, ε).
    """
    n = jumps.shape[1]
    largest = 0.0
    for i in range(first):
        if info[i, 1] > 0.0:
            s = 0.0
            for k in range(n):
                s += jumps[i, k] * jumps[i, k]
            largest = max(largest, s)
    bound = fraction * fraction * largest
    hits = 0
    for i in range(first, first + count):
        if info[i, 1] == 0.0:
            continue
        for j in range(first):
            if info[j, 1] == 0.0:
                continue
            s = 0.0
            for k in range(n):
                s += (jumps[i, k] - jumps[j, k]) ** 2
                if s > bound:
                    break
            if s <= bound:
                hits += 1
                break
    return hits, fraction * np.sqrt(largest)
