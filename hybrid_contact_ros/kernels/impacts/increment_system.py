"""The linear system of one mode of the increment LCP (:mod:`.increment_modes`), regular or not."""

import math

from numba import njit

from hybrid_contact_ros.kernels.impacts.increment_modes import ACTIVE, CAPPED, FEASIBLE, OPEN

_RANK = 1e-11  # a pivot below counts as zero
_CONSISTENT = 1e-8
_STILL = 1e-10  # |H d| along a line of solutions: below, they all have one velocity


@njit(cache=True, nogil=True, error_model="numpy")
def solve_mode(g, H, w, cap, c, states, A, rows, z, line):
    """Impulses z (p,) of one mode, by elimination with partial pivoting.

    states (p,) as from the search; scratch A (p, p + 1), rows (p,) int64. Returns −1 if the system has no solution, or
    how many unknowns are free: z has the free ones at 0, and line (p,) is the direction in which the first one grows.
    """
    p = w.shape[0]
    n = 1 + g
    count = 0
    for k in range(cap.shape[0]):
        a = k * n
        if not cap[k] > 0.0 or states[a] == OPEN:
            continue
        if states[a] == ACTIVE:
            rows[count] = a
            count += 1
        for q in range(a + 1, a + n):
            if states[q] == 0:
                rows[count] = q
                count += 1
    for x in range(count):
        i = rows[x]
        A[x, count] = -w[i]
        for y in range(count):
            j = rows[y]
            entry = H[i, j]
            if j % n == 0:
                for q in range(j + 1, j + n):
                    entry += states[q] * c[j // n] * H[i, q]
            A[x, y] = entry
        for k in range(cap.shape[0]):
            a = k * n
            if cap[k] > 0.0 and states[a] == CAPPED:
                entry = H[i, a]
                for q in range(a + 1, a + n):
                    entry += states[q] * c[k] * H[i, q]
                A[x, count] -= entry * cap[k]
    for i in range(p):
        z[i] = 0.0
        line[i] = 0.0
    free = 0
    rank = 0
    loose = -1
    for y in range(count):
        best = rank
        for x in range(rank + 1, count):
            if abs(A[x, y]) > abs(A[best, y]):
                best = x
        if rank == count or abs(A[best, y]) < _RANK:
            free += 1
            if loose < 0:
                loose = y
            line[rows[y]] = math.nan  # marks a column without pivot
            continue
        for j in range(count + 1):
            swap = A[best, j]
            A[best, j] = A[rank, j]
            A[rank, j] = swap
        over = 1.0 / A[rank, y]
        for x in range(count):
            if x != rank and A[x, y] != 0.0:
                factor = A[x, y] * over
                A[x, y] = 0.0
                for j in range(y + 1, count + 1):
                    A[x, j] -= factor * A[rank, j]
                if loose >= 0 and loose < y:
                    A[x, loose] -= factor * A[rank, loose]
        rank += 1
    for x in range(rank, count):
        if abs(A[x, count]) > _CONSISTENT:
            return -1
    x = 0
    for y in range(count):
        if math.isnan(line[rows[y]]):
            line[rows[y]] = 1.0 if y == loose else 0.0
        else:
            z[rows[y]] = A[x, count] / A[x, y]
            if loose >= 0:
                line[rows[y]] = -A[x, loose] / A[x, y]
            x += 1
    for k in range(cap.shape[0]):
        a = k * n
        if not cap[k] > 0.0 or states[a] == OPEN:
            continue
        if states[a] == CAPPED:
            z[a] = cap[k]
        for q in range(a + 1, a + n):
            if states[q] != 0:
                z[q] = states[q] * c[k] * z[a]
                line[q] = states[q] * c[k] * line[a]
    return free


@njit(cache=True, nogil=True, error_model="numpy")
def _trim(value, rate, lo, hi):
    """The part of [lo, hi] where value + rate t ≥ 0, to rounding."""
    if abs(rate) <= _STILL:
        if value < -FEASIBLE:
            return 1.0, -1.0
        return lo, hi
    end = -value / rate
    if rate > 0.0:
        return max(lo, end), hi
    return lo, min(hi, end)


@njit(cache=True, nogil=True, error_model="numpy")
def segment(g, H, w, cap, c, states, z, line):
    """Where z + t line satisfies the conditions of its mode: (lo, hi, moving); lo > hi if nowhere.

    ``moving``: whether w' changes along it.
    """
    p = w.shape[0]
    n = 1 + g
    lo = -math.inf
    hi = math.inf
    moving = False
    for i in range(p):
        value = w[i]
        rate = 0.0
        for j in range(p):
            value += H[i, j] * z[j]
            rate += H[i, j] * line[j]
        if abs(rate) > _STILL:
            moving = True
        k = i // n
        a = k * n
        if not cap[k] > 0.0:
            continue
        if i == a:
            if states[a] == OPEN:
                lo, hi = _trim(value, rate, lo, hi)
            elif states[a] == CAPPED:
                lo, hi = _trim(-value, -rate, lo, hi)
            else:
                lo, hi = _trim(z[a], line[a], lo, hi)
                if cap[k] < math.inf:
                    lo, hi = _trim(cap[k] - z[a], -line[a], lo, hi)
        elif states[a] != OPEN and c[k] > 0.0:
            if states[i] != 0:
                lo, hi = _trim(-states[i] * value, -states[i] * rate, lo, hi)
            else:
                lo, hi = _trim(c[k] * z[a] - z[i], c[k] * line[a] - line[i], lo, hi)
                lo, hi = _trim(c[k] * z[a] + z[i], c[k] * line[a] + line[i], lo, hi)
    return lo, hi, moving


@njit(cache=True, nogil=True, error_model="numpy")
def may_hold(g, H, w, cap, c, states, z, line, after):
    """Whether a system with two or more free unknowns may have solutions: not if the velocity says otherwise.

    The velocity is known where the free impulses do not move it; tested on ``line`` alone, so that this is a filter.
    """
    n = 1 + g
    p = w.shape[0]
    for i in range(p):
        value = w[i]
        rate = 0.0
        for j in range(p):
            value += H[i, j] * z[j]
            rate += H[i, j] * line[j]
        if abs(rate) > _STILL:
            return True
        after[i] = value
    for i in range(p):
        a = i // n * n
        if not cap[i // n] > 0.0:
            continue
        if i == a:
            if (states[a] == OPEN and after[i] < -FEASIBLE) or (states[a] == CAPPED and after[i] > FEASIBLE):
                return False
        elif states[a] != OPEN and c[i // n] > 0.0 and states[i] * after[i] > FEASIBLE:
            return False
    return True
