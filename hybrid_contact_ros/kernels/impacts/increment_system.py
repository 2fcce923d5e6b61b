"""The linear system of one mode of the increment LCP (:mod:`.increment_modes`), regular or not."""

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.increment_modes import ACTIVE, CAPPED, FEASIBLE, OPEN

_RANK = 1e-11  # a pivot below counts as zero
_CONSISTENT = 1e-8  # right-hand side of an eliminated row below which the system has a solution
_STILL = 1e-10  # rate |H d| of the velocity along a line d of solutions, below which they all have one velocity


@kernel(forceinline=True)
def _fill_system(g, H, w, cap, c, states, A, rows):
    """Write the equations w'_i = 0 of a mode for its unknowns, and which rows these are; return how many.

    A (≥ p, ≥ p + 1): out, the matrix and, behind its last column, the right-hand side. rows (p,): out. A sliding axis
    is no unknown: its impulse is a multiple of the normal one, into whose column it is folded.
    """
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
    return count


@kernel(forceinline=True)
def _eliminate(count, A, rows, line):
    """Bring ``count`` equations to echelon form by partial pivoting. Returns (rank, free unknowns, the first free one).

    The first free unknown is −1 if there is none; its column is kept up to date, the columns of others are not.
    line (p,): NaN marks an unknown without pivot.
    """
    free = 0
    rank = 0
    first_free = -1
    for y in range(count):
        best = rank
        for x in range(rank + 1, count):
            if abs(A[x, y]) > abs(A[best, y]):
                best = x
        if rank == count or abs(A[best, y]) < _RANK:
            free += 1
            if first_free < 0:
                first_free = y
            line[rows[y]] = math.nan
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
                if first_free >= 0 and first_free < y:
                    A[x, first_free] -= factor * A[rank, first_free]
        rank += 1
    return rank, free, first_free


@kernel
def solve_mode(g, H, w, cap, c, states, rows, A, z):
    """Find the impulses of one mode.

    Args:
        g, H, w, cap, c: :class:`.IncrementProblem`, flat because this is called thousands of times.
        states: (p,) int64, as of :func:`.increment_modes.decode`. rows: scratch (p,) int64.
        A: (p + 1, p + 1), scratch, but for the last row, which is out: the direction of the ``line`` (p,) along which
            the solutions move when the first free impulse grows.
        z: out, (p,), the impulses, of which free ones are 0.

    Returns:
        −1 if the system has no solution, or how many impulses are free.
    """
    n = 1 + g
    line = A[w.shape[0]]
    count = _fill_system(g, H, w, cap, c, states, A, rows)
    for i in range(w.shape[0]):
        z[i] = 0.0
        line[i] = 0.0
    rank, free, first_free = _eliminate(count, A, rows, line)
    for x in range(rank, count):
        if abs(A[x, count]) > _CONSISTENT:
            return -1
    x = 0
    for y in range(count):
        if math.isnan(line[rows[y]]):
            line[rows[y]] = 1.0 if y == first_free else 0.0
        else:
            z[rows[y]] = A[x, count] / A[x, y]
            if first_free >= 0:
                line[rows[y]] = -A[x, first_free] / A[x, y]
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


@kernel
def _trim(value, rate, lo, hi):
    """The part of [lo, hi] where value + rate t ≥ 0 up to rounding, empty as (1, −1)."""
    if abs(rate) <= _STILL:
        if value < -FEASIBLE:
            return 1.0, -1.0
        return lo, hi
    end = -value / rate
    if rate > 0.0:
        return max(lo, end), hi
    return lo, min(hi, end)


@kernel
def segment(g, H, w, cap, c, states, z, line):
    """Find the t ∈ [lo, hi] for which z + t line satisfies the conditions of its mode; lo > hi if there is none.

    Returns (lo, hi, moving), of which ``moving`` says whether the velocity w' changes along the line.
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


@kernel
def may_hold(g, H, w, cap, c, states, z, line, after):
    """Whether a mode with two or more free impulses may have solutions: False only where its velocity rules them out.

    The velocity is known where free impulses do not change it. That is tested along ``line`` alone, so that this is a
    filter and no proof. after: scratch (p,).
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
