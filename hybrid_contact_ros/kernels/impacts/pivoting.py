"""Parametric bounded pivoting: the increment LCP of Halm (72)–(75) in contact space.

Problem, scaled (:mod:`.friction_axes`): find z with w' = w + H z such that for each contact

    0 ≤ z_n ≤ cap;      z_n = 0 → w'_n ≥ 0,    0 < z_n < cap → w'_n = 0,    z_n = cap → w'_n ≤ 0     (Halm (73)–(74))
    |z_l| ≤ c z_n;      z_l = −c z_n → w'_l ≥ 0,  inside → w'_l = 0,  z_l = c z_n → w'_l ≤ 0         (Halm (72d))

for every friction axis l of the contact. Polygonal friction is a sum of segments, so that (72d) separates into its axes
exactly, and β, γ and the split of λ_D of (75) are not needed.

Method: the caps are multiplied by t, and t goes from 0, where z = 0 is the solution, to 1 along the path of solutions,
which Lemke's pivots follow. Variables come as complementary pairs (x_i, y_i), both ≥ 0, one of them 0:

    normal   x = z_n,           y = w'_n       side +1        x = t cap − z_n,  y = −w'_n     side −1
    axis     x = c z_n + σ z_l,  y = σ w'_l     side σ = ±1

The upper bound of x, its width (t cap, or 2 c z_n), has no row in the tableau (:mod:`.tableau`); it is a test in the
ratio test. When the width blocks, the pair changes its side. The axes of an open contact (z_n = 0) have width 0: they
are left out of the ratio test, and turned to the right side when the contact closes. Degenerate problems are followed
for slightly perturbed velocities w + δ, and the answer is read from the unperturbed column; since no two solutions of
the perturbed path meet, the method cannot cycle and ends at t = 1 whatever the matrix. Where the LCP has several
solutions it finds one.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.tableau import (
    NO_CAP,
    X_BASIC,
    Y_BASIC,
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
_TIE = 1e-13  # of two blocking variables this close, the one with the larger entry leaves
_PIVOTS_PER_ROW = 20  # most pivots of a solve, over p + 2

_NOTHING, _OWN_WIDTH = -1, -2  # what blocks a step if it is no pair


@kernel(forceinline=True)
def _blocks(value, fall, best, strength):
    """Whether value − fall · step ≥ 0 ends the step before ``best``, or with ``best`` but with a larger pivot."""
    if fall < _COEFFICIENT:
        return False
    return value < (best - _TIE) * fall or (value < (best + _TIE) * fall and fall > strength)


@kernel(forceinline=True)
def _first(problem, top, over, tableau):
    """The ratio test of the first step, in which t enters and all y are basic.

    Returns the blocking pair, or _NOTHING where t reaches ``top``, which stands for 1.
    """
    cap, c = problem.cap, problem.c
    T = tableau.T
    p = problem.H.shape[0]
    n = 1 + problem.g
    best = top
    leaving = _NOTHING
    for k in range(cap.shape[0]):
        a = k * n
        if cap[k] * over > NO_CAP:
            last = a + n if tableau.side[a] < 0.0 and c[k] > 0.0 else a + 1
            for i in range(a, last):
                if T[p, i] < -_COEFFICIENT and T[p + 2, i] < -best * T[p, i]:
                    best = max(T[p + 2, i], 0.0) / -T[p, i]
                    leaving = i
    return leaving


@kernel(forceinline=True)
def _blocking(problem, top, over, out, own, tableau):
    """What ends the step of the entering variable: (pair, whether the width of its x does).

    The pair ``out`` stands for t, which reaches ``top`` "by its width". _NOTHING: nothing blocks; _OWN_WIDTH: the width
    of the entering variable itself does. ``own`` is the pair of the entering variable if that is an x, else −1.
    """
    cap, c = problem.cap, problem.c
    T, side, holds = tableau.T, tableau.side, tableau.holds
    p = problem.H.shape[0]
    n = 1 + problem.g
    perturbed = p + 2
    t = T[perturbed, out]
    t_rate = T[p, out]
    best = math.inf
    strength = 0.0
    leaving = _NOTHING
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
            value = T[perturbed, a]
            rate = T[p, a]
            if _blocks(max(value, 0.0), -rate, best, strength):
                best, strength, leaving, opposite = max(value, 0.0) / -rate, -rate, a, False
        if holds[a] == X_BASIC or own == a:
            if _blocks(max(width - value, 0.0), rate - width_rate, best, strength):
                best, strength, opposite = max(width - value, 0.0) / (rate - width_rate), rate - width_rate, True
                leaving = a if own != a else _OWN_WIDTH
        else:
            if side[a] > 0.0:
                continue  # open
            value = 0.0
            rate = 0.0
        if c[k] == 0.0:
            continue
        if side[a] < 0.0:
            value = width - value
            rate = width_rate - rate
        width = 2.0 * c[k] * value  # of the axes
        width_rate = 2.0 * c[k] * rate
        for i in range(a + 1, a + n):
            value = 0.0
            rate = 1.0
            if i != out:
                value = T[perturbed, i]
                rate = T[p, i]
                if _blocks(max(value, 0.0), -rate, best, strength):
                    best, strength, leaving, opposite = max(value, 0.0) / -rate, -rate, i, False
            if (holds[i] == X_BASIC or own == i) and _blocks(
                max(width - value, 0.0), rate - width_rate, best, strength
            ):
                best, strength, opposite = max(width - value, 0.0) / (rate - width_rate), rate - width_rate, True
                leaving = i if own != i else _OWN_WIDTH
    return leaving, opposite


@kernel
def solve(problem, size, attempt, tableau, z):
    """Solve one increment LCP; see the module.

    Args:
        problem: :class:`.IncrementProblem`. size: of the perturbation. attempt: its number, which changes the
            perturbation.
        tableau: scratch and out, :class:`.Tableau`: ``holds`` and ``side`` of the answer's mode. z: out, (p,).

    Returns:
        (status, pivots): SOLVED, RAY or PIVOT_LIMIT.
    """
    T, row, column, side, holds = tableau.T, tableau.row, tableau.column, tableau.side, tableau.holds
    cap = problem.cap
    n = 1 + problem.g
    p = z.shape[0]
    for i in range(p):
        z[i] = 0.0
    top = 0.0
    for k in range(cap.shape[0]):
        top = max(top, cap[k])
    if not top > 0.0:
        return SOLVED, 0
    fill(problem, top, size, attempt, tableau)
    over = 1.0 / top
    out = _first(problem, top, over, tableau)
    if out == _NOTHING:
        read(problem, top, -1, tableau, z)
        return SOLVED, 0
    for j in range(p + 3):
        row[j] = T[j, out]
    by = exchange(p, tableau)
    for j in range(p + 3):
        T[j, out] = -row[j] * by
    column[out] = by
    enter(out, 1.0, p, tableau)
    own = out
    limit = _PIVOTS_PER_ROW * (p + 2)
    for pivots in range(1, limit):
        if own >= 0 and own % n == 0 and side[own] > 0.0:
            turn_axes(problem, own, tableau)
        leaving, opposite = _blocking(problem, top, over, out, own, tableau)
        if leaving == _NOTHING:
            return RAY, pivots
        if leaving == out:
            if not opposite:
                return RAY, pivots  # back at t = 0
            step = (top - T[p + 1, out]) / T[p, out]
            read(problem, step, own, tableau, z)
            return SOLVED, pivots
        if leaving == _OWN_WIDTH:
            slack(problem, over, out, own, out, tableau)
            exchange(p, tableau)
            side[out] = -side[out]
            enter(out, -1.0, p, tableau)
            own = -1
            continue
        if opposite:
            slack(problem, over, out, own, leaving, tableau)
        else:
            for j in range(p + 3):
                row[j] = T[j, leaving]
        at = T[p, out]
        by = exchange(p, tableau)
        for j in range(p + 3):  # t moves to the row of the leaving variable, the entering one gets that of its pair
            T[j, leaving] = T[j, out]
            T[j, out] = -row[j] * by
        column[leaving] = at * by
        column[out] = by
        if opposite:
            side[leaving] = -side[leaving]
            enter(leaving, -1.0, p, tableau)
        else:
            enter(leaving, 1.0, p, tableau)
        holds[out] = X_BASIC if own >= 0 else Y_BASIC
        own = leaving if holds[leaving] == Y_BASIC else -1
        holds[leaving] = Y_BASIC
        out = leaving
    return PIVOT_LIMIT, limit
