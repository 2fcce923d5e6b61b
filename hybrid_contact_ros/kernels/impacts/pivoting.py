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

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.blocking import NOTHING, OWN_WIDTH, blocking, first_blocking
from hybrid_contact_ros.kernels.impacts.tableau import (
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

_PIVOTS_PER_ROW = 20  # most pivots of a solve, over p + 2


@kernel(forceinline=True)
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
    out = first_blocking(problem, top, over, tableau)
    if out == NOTHING:
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
        leaving, opposite = blocking(problem, top, over, out, own, tableau)
        if leaving == NOTHING:
            return RAY, pivots
        if leaving == out:
            if not opposite:
                return RAY, pivots  # back at t = 0
            step = (top - T[p + 1, out]) / T[p, out]
            read(problem, step, own, tableau, z)
            return SOLVED, pivots
        if leaving == OWN_WIDTH:
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
