"""Whole samples of H Algorithm 1 and 2."""

import numpy as np
from numba import njit

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.impacts.all_solutions import search
from hybrid_contact_ros.kernels.impacts.increment import increment
from hybrid_contact_ros.kernels.impacts.increment_modes import effort
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

SOLVED = int(Status.SOLVED)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³
_CHOICES = np.uint64(0xD1B54A32D192ED03)  # the choices among solutions have streams of their own
_TURNS = 1 << 30


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


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _choose(g, limit, afford, state, H, w, cap, c, T, A, ints, modes, found, ends, known, z, after, tally):
    """Replace the solver's answer to an increment by one drawn uniformly from all solutions with different velocities.

    z, after (p,): the solver's, kept bit for bit if it is the only one; known: 1 if it is an answer, 0 if the solver
    failed. Scratch as in :func:`~.all_solutions.search`, whose z and after are found and ends here. tally (4,) counts
    searches, those that found several, those that may have missed some, and units of work. Returns (state of the
    stream, solutions).
    """
    p = w.shape[0]
    for i in range(p):
        found[0, i] = z[i]
        ends[0, i] = after[i]
    state, draw = uniform(state)
    turn = 1 + int(draw * _TURNS)
    count, spent, _, unresolved, complete = search(
        g, limit, afford, found.shape[0] - 3, turn, H, w, cap, c, T, A, ints, modes, ints[:0], known, found, ends
    )
    tally[0] += 1.0
    tally[1] += 1.0 if count > 1 else 0.0
    tally[2] += 0.0 if complete and unresolved == 0 else 1.0
    tally[3] += spent
    state, draw = uniform(state)
    chosen = int(draw * count)
    if chosen >= known and count > 0:
        for i in range(p):
            z[i] = found[chosen, i]
            after[i] = ends[chosen, i]
    return state, count


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def work(increments, searched, node):
    """Units of work with which sampling is stopped in time: increments, and what searches spent; node: :func:`.effort`.

    Of the order of a third of a microsecond.
    """
    return 3.0 * node * increments + searched


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _affordable(rest):
    """Units of work that a search may spend: just more than are left, for then the sample is given up anyway."""
    return 1.0 + max(rest, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def sample_batch(
    g,
    first,
    count,
    seed,
    step,
    last_step,
    max_steps,
    chance,
    limit,
    budget,
    H,
    w,
    c,
    speed,
    given,
    tableau,
    lines,
    cap,
    vectors,
    T,
    A,
    states,
    modes,
    found,
    ends,
    z,
    info,
):
    """Run samples first … first + count − 1 of Algorithm 1 (line 1–6), then Algorithm 2's last step (line 5).

    Everything scaled. step (m,) is the largest cap of an increment, drawn uniformly below it; last_step (m,) the caps
    of the last step that a sample which still approaches after max_steps gets (0: none); chance: with which probability
    an increment is searched for other solutions, of which one is drawn then, spending ``limit`` units at most;
    H (p, p), w (p,), c (m,). A sample ends once w'_n ≥ −speed for every contact, speed (m,) > 0. ``given``
    (samples, max_steps, m) replaces the draws of caps unless it has no rows. Scratch as in
    :func:`~.increment.increment`, cap (m,), vectors (3, p), and of the search, :func:`_choose`, from T to ends. Out,
    rows first … : z (samples, p) total impulse, info (samples, 7): steps, terminated, largest residual, increments
    searched, those with several solutions, those where some may have been missed, units of work of the searches.

    When more than ``budget`` units of :func:`work` were done, the sample under way is given up. Sample 0 is searched
    only where searches are cheap (chance ≥ 1), so that there is one soon.
    Returns (worst status, first sample that was not finished, units spent).
    """
    p = H.shape[0]
    m = c.shape[0]
    worst = SOLVED
    spent = 0.0
    node = effort(g, p)
    now = vectors[0]
    after = vectors[1]
    push = vectors[2]
    for sample in range(first, first + count):
        state = stream(seed, sample)
        choices = stream(np.uint64(seed) ^ _CHOICES, sample)
        for i in range(p):
            now[i] = w[i]
            z[sample, i] = 0.0
        for i in range(3, 7):
            info[sample, i] = 0.0
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
            status, residual, _ = increment(g, H, now, cap, c, tableau, lines, push, after)
            if chance >= 1.0 or (chance > 0.0 and sample > 0):
                choices, draw = uniform(choices)
                if draw < chance:
                    known = 1 if status == SOLVED else 0
                    choices, several = _choose(
                        g,
                        limit,
                        _affordable(budget - spent - work(steps, info[sample, 6], node)),
                        choices,
                        H,
                        now,
                        cap,
                        c,
                        T,
                        A,
                        states,
                        modes,
                        found,
                        ends,
                        known,
                        push,
                        after,
                        info[sample, 3:7],
                    )
                    if several > known:
                        residual = axes_residual(g, H, now, cap, c, push, after)
                        status = SOLVED
            if status != SOLVED:
                worst = status
            largest = max(largest, residual)
            for i in range(p):
                z[sample, i] += push[i]
                now[i] = after[i]
            steps += 1
            if spent + work(steps, info[sample, 6], node) > budget:
                return worst, sample, spent + work(steps, info[sample, 6], node)
        info[sample, 0] = steps
        info[sample, 1] = 1.0 if _slowest(g, now, speed) >= -1.0 else 0.0
        info[sample, 2] = largest
        spent += work(steps, info[sample, 6], node)
    return worst, first + count, spent


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
