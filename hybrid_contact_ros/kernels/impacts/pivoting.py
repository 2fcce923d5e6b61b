"""Parametric bounded pivoting: the impulse increment LCP of H eq. 72–75 in contact space.

Problem, scaled (:mod:`.delassus`): find z with w' = w + H z such that for each contact

    0 ≤ z_n ≤ cap;      z_n = 0 → w'_n ≥ 0,    0 < z_n < cap → w'_n = 0,    z_n = cap → w'_n ≤ 0        (H 73–74)
    |z_l| ≤ c z_n;      z_l = −c z_n → w'_l ≥ 0,  inside → w'_l = 0,  z_l = c z_n → w'_l ≤ 0            (H 72d)

for every friction axis l of it. Polygonal friction is a sum of segments, so (72d) separates into its axes exactly,
and β, γ and the split of λ_D of (75) are not needed.

Method: the caps are multiplied by t, and t goes from 0 (where z = 0 solves it) to 1 along the path of solutions,
which Lemke's pivots follow. Variables come as complementary pairs (x_i, y_i) of which both are ≥ 0 and one is 0:

    normal   x = z_n,           y = w'_n       side +1        x = t cap − z_n,  y = −w'_n     side −1
    axis     x = c z_n + σ z_l,  y = σ w'_l     side σ = ±1

The upper bound of x, its width (t cap, or 2 c z_n), is no row of the tableau (:mod:`.tableau`) but a test in the ratio
test; when it blocks, the pair changes its side. Axes of an open contact (z_n = 0) have width 0: they are left out of
the ratio test, and turned to the right side when the contact closes. Degenerate problems are followed for slightly
perturbed velocities w + δ, and the answer is read from the unperturbed column; since no two solutions of the perturbed
path meet, it cannot cycle and ends at t = 1 whatever the matrix. Where the LCP has several solutions it finds one.
"""

import math

from numba import njit

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.impacts.tableau import (
    COLUMN,
    HOLDS,
    NO_CAP,
    ROW,
    SIDE,
    enter,
    exchange,
    fill,
    read,
    slack,
    turn_axes,
)

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
PIVOT_LIMIT = int(Status.PIVOT_LIMIT)

_COEFFICIENT = 1e-11  # entries below count as zero in the ratio test
_TIE = 1e-13  # blocking variables this close: the one with the larger entry leaves


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _blocks(value, fall, best, strength):
    """Whether value − fall × step ≥ 0 ends the step before ``best``, or with it and with a larger pivot."""
    if fall < _COEFFICIENT:
        return False
    return value < (best - _TIE) * fall or (value < (best + _TIE) * fall and fall > strength)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _first(g, cap, c, top, over, p, T, lines):
    """The ratio test of the first step, in which t enters and all y are basic: the blocking row, −1 if t reaches 1."""
    n = 1 + g
    best = top
    leaving = -1
    for k in range(cap.shape[0]):
        a = k * n
        if cap[k] * over > NO_CAP:
            last = a + n if lines[SIDE, a] < 0.0 and c[k] > 0.0 else a + 1
            for i in range(a, last):
                if T[p, i] < -_COEFFICIENT and T[p + 2, i] < -best * T[p, i]:
                    best = max(T[p + 2, i], 0.0) / -T[p, i]
                    leaving = i
    return leaving


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _blocking(g, cap, c, top, over, out, own, p, T, lines):
    """What ends the step of the entering variable: (pair, whether by its width).

    The pair ``out`` stands for t, reaching 1 "by its width"; −1: nothing blocks; −2: the entering variable's own width.
    """
    n = 1 + g
    bent = p + 2
    t = T[bent, out]
    t_rate = T[p, out]
    best = math.inf
    strength = 0.0
    leaving = -1
    opposite = False
    if t_rate < -_COEFFICIENT:
        best, strength, leaving = max(t, 0.0) / -t_rate, -t_rate, out
    elif t_rate > _COEFFICIENT:
        best, strength, leaving, opposite = max(top - t, 0.0) / t_rate, t_rate, out, True
    for k in range(cap.shape[0]):
        share = cap[k] * over
        if share <= NO_CAP:
            continue
        a = k * n
        width = share * t
        width_rate = share * t_rate
        value = 0.0  # of x of the normal pair
        rate = 1.0 if own == a else 0.0
        if a != out:
            value = T[bent, a]
            rate = T[p, a]
            if _blocks(max(value, 0.0), -rate, best, strength):
                best, strength, leaving, opposite = max(value, 0.0) / -rate, -rate, a, False
        if lines[HOLDS, a] == 1.0 or own == a:
            if _blocks(max(width - value, 0.0), rate - width_rate, best, strength):
                best, strength, opposite = max(width - value, 0.0) / (rate - width_rate), rate - width_rate, True
                leaving = a if own != a else -2
        else:
            if lines[SIDE, a] > 0.0:
                continue  # open
            value = 0.0
            rate = 0.0
        if c[k] == 0.0:
            continue
        if lines[SIDE, a] < 0.0:
            value = width - value
            rate = width_rate - rate
        width = 2.0 * c[k] * value  # of the axes
        width_rate = 2.0 * c[k] * rate
        for i in range(a + 1, a + n):
            value = 0.0
            rate = 1.0
            if i != out:
                value = T[bent, i]
                rate = T[p, i]
                if _blocks(max(value, 0.0), -rate, best, strength):
                    best, strength, leaving, opposite = max(value, 0.0) / -rate, -rate, i, False
            if (lines[HOLDS, i] == 1.0 or own == i) and _blocks(
                max(width - value, 0.0), rate - width_rate, best, strength
            ):
                best, strength, opposite = max(width - value, 0.0) / (rate - width_rate), rate - width_rate, True
                leaving = i if own != i else -2
    return leaving, opposite


@njit(cache=True, nogil=True, error_model="numpy")
def solve(g, limit, H, w, cap, c, size, attempt, T, lines, z):
    """Solve one increment LCP; see the module.

    g axes a contact, at most ``limit`` pivots; H (p, p), w (p,), cap (m,), c (m,), size of the perturbation and
    number of the attempt; scratch T (p + 3, p rounded up to whole blocks) and lines (5, p + 3); z (p,) out. Returns
    (status, pivots).
    """
    p = H.shape[0]
    for i in range(p):
        z[i] = 0.0
    top = 0.0
    for k in range(cap.shape[0]):
        top = max(top, cap[k])
    if not top > 0.0:
        return SOLVED, 0
    fill(g, H, w, cap, c, top, size, attempt, T, lines)
    over = 1.0 / top
    out = _first(g, cap, c, top, over, p, T, lines)
    if out == -1:
        read(g, cap, c, top, -1, p, T, lines, z)
        return SOLVED, 0
    for j in range(p + 3):
        lines[ROW, j] = T[j, out]
    by = exchange(p, T, lines)
    for j in range(p + 3):
        T[j, out] = -lines[ROW, j] * by
    lines[COLUMN, out] = by
    enter(out, 1.0, p, T, lines)
    own = out
    for pivots in range(1, limit):
        if own >= 0 and own % (1 + g) == 0 and lines[SIDE, own] > 0.0:
            turn_axes(g, c, own, p, T, lines)
        leaving, opposite = _blocking(g, cap, c, top, over, out, own, p, T, lines)
        if leaving == -1:
            return RAY, pivots
        if leaving == out:
            if not opposite:
                return RAY, pivots  # back at t = 0
            step = (top - T[p + 1, out]) / T[p, out]
            read(g, cap, c, step, own, p, T, lines, z)
            return SOLVED, pivots
        if leaving == -2:
            slack(g, cap, c, over, out, own, out, p, T, lines)
            exchange(p, T, lines)
            lines[SIDE, out] = -lines[SIDE, out]
            enter(out, -1.0, p, T, lines)
            own = -1
            continue
        if opposite:
            slack(g, cap, c, over, out, own, leaving, p, T, lines)
        else:
            for j in range(p + 3):
                lines[ROW, j] = T[j, leaving]
        at = T[p, out]
        by = exchange(p, T, lines)
        for j in range(p + 3):  # t moves to the row of the leaving variable, the entering one gets that of its pair
            T[j, leaving] = T[j, out]
            T[j, out] = -lines[ROW, j] * by
        lines[COLUMN, leaving] = at * by
        lines[COLUMN, out] = by
        if opposite:
            lines[SIDE, leaving] = -lines[SIDE, leaving]
            enter(leaving, -1.0, p, T, lines)
        else:
            enter(leaving, 1.0, p, T, lines)
        lines[HOLDS, out] = 1.0 if own >= 0 else 0.0
        own = leaving if lines[HOLDS, leaving] == 0.0 else -1
        lines[HOLDS, leaving] = 0.0
        out = leaving
    return PIVOT_LIMIT, limit
