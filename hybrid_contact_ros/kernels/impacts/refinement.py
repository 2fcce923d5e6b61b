"""Make the answer to an increment as accurate as its mode allows.

Parametric pivoting (:mod:`.pivoting`) updates one tableau from pivot to pivot, and its rounding errors grow with every
small pivot: with friction coefficients of 1000, or inertias over eight decades, the last basis is right and its numbers
are not. The mode of the answer says which rows have w'_i = 0, and for which unknown impulses: that linear system is set
up afresh from H and solved.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.residual import axes_residual
from hybrid_contact_ros.kernels.impacts.tableau import X_BASIC

_CORRECTIONS = 3  # at most; each has only the rounding errors of what the last one left


@kernel(forceinline=True)
def _correct(problem, after, tableau, z):
    """Correct z (p,) so that w'_i vanishes for the unknowns of the mode; returns False where their matrix is singular.

    ``after`` (p,) is w + H z. The tableau's T, row and column are scratch.
    """
    H, c = problem.H, problem.c
    T, right, side, holds = tableau.T, tableau.row, tableau.side, tableau.holds
    unknowns = tableau.column
    n = 1 + problem.g
    p = z.shape[0]
    count = 0
    for i in range(p):
        if holds[i] == X_BASIC:
            unknowns[count] = i
            count += 1
    for x in range(count):
        i = int(unknowns[x])
        right[x] = -after[i]
        for y in range(count):
            j = int(unknowns[y])
            entry = H[i, j]
            if j % n == 0:  # axes that slide follow their normal
                for q in range(j + 1, j + n):
                    if holds[q] != X_BASIC:
                        entry -= side[q] * c[j // n] * H[i, q]
            T[x, y] = entry
    for y in range(count):
        best = y
        for x in range(y + 1, count):
            if abs(T[x, y]) > abs(T[best, y]):
                best = x
        if T[best, y] == 0.0:
            return False
        if best != y:
            for j in range(y, count):
                T[y, j], T[best, j] = T[best, j], T[y, j]
            right[y], right[best] = right[best], right[y]
        for x in range(y + 1, count):
            factor = T[x, y] / T[y, y]
            if factor != 0.0:
                for j in range(y + 1, count):
                    T[x, j] -= factor * T[y, j]
                right[x] -= factor * right[y]
    for x in range(count - 1, -1, -1):
        s = right[x]
        for y in range(x + 1, count):
            s -= T[x, y] * right[y]
        right[x] = s / T[x, x]
        z[int(unknowns[x])] += right[x]
    return True


@kernel(forceinline=True)
def _into_mode(problem, tableau, z):
    """Give every impulse that is at a bound in its mode the value of that bound, and keep the others within theirs."""
    cap, c = problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    for k in range(cap.shape[0]):
        a = k * n
        if holds[a] != X_BASIC:
            z[a] = 0.0 if side[a] > 0.0 else cap[k]
        z[a] = min(max(z[a], 0.0), cap[k])
        bound = c[k] * z[a]
        for i in range(a + 1, a + n):
            if holds[i] != X_BASIC:
                z[i] = -side[i] * bound
            z[i] = min(max(z[i], -bound), bound)


@kernel
def refine(problem, residual, tableau, z, after):
    """Improve an answer of :func:`.pivoting.solve`.

    Args:
        problem: :class:`.IncrementProblem`. residual: of the answer given.
        tableau: :class:`.Tableau` with ``holds`` and ``side`` as the solver left them; the rest is overwritten.
        z: in and out, (p,). after: out, (p,), w + H z.

    Returns:
        The residual of ``z``: ``residual`` itself where nothing better is found.
    """
    g, H, w, cap, c = problem
    kept = tableau.values
    p = z.shape[0]
    for i in range(p):
        kept[i] = z[i]
    best = residual
    _into_mode(problem, tableau, z)
    axes_residual(g, H, w, cap, c, z, after)
    for _ in range(_CORRECTIONS):
        if not _correct(problem, after, tableau, z):
            break
        _into_mode(problem, tableau, z)
        now = axes_residual(g, H, w, cap, c, z, after)
        if not now < best:
            break
        best = now
        for i in range(p):
            kept[i] = z[i]
    for i in range(p):
        z[i] = kept[i]
    return axes_residual(g, H, w, cap, c, z, after)
