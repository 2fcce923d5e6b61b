"""An increment's answer made as accurate as its mode allows.

Parametric pivoting (:mod:`.pivoting`) updates one tableau from pivot to pivot, and what rounding does to it grows with
every small one: with friction coefficients of 1000, or inertias over eight decades, the basis it ends with is right
and its numbers are not. The mode says which rows are w'_i = 0 of which impulses: that linear system is set up from H
afresh.
"""

from numba import njit

from hybrid_contact_ros.kernels.impacts.residual import axes_residual
from hybrid_contact_ros.kernels.impacts.tableau import COLUMN, HOLDS, ROW, SIDE, X

_ROUNDS = 3  # corrections; each has the rounding errors of the remainder only


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _correct(g, H, c, after, T, lines, z):
    """One correction of z (p,) with which the rows of the mode's unknowns vanish; False if its matrix is singular.

    lines[COLUMN] names the unknowns; T and lines[ROW] are scratch.
    """
    n = 1 + g
    p = z.shape[0]
    count = 0
    for i in range(p):
        if lines[HOLDS, i] == 1.0:
            lines[COLUMN, count] = i
            count += 1
    for x in range(count):
        i = int(lines[COLUMN, x])
        lines[ROW, x] = -after[i]
        for y in range(count):
            j = int(lines[COLUMN, y])
            entry = H[i, j]
            if j % n == 0:  # axes that slide follow their normal
                for q in range(j + 1, j + n):
                    if lines[HOLDS, q] != 1.0:
                        entry -= lines[SIDE, q] * c[j // n] * H[i, q]
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
            lines[ROW, y], lines[ROW, best] = lines[ROW, best], lines[ROW, y]
        for x in range(y + 1, count):
            factor = T[x, y] / T[y, y]
            if factor != 0.0:
                for j in range(y + 1, count):
                    T[x, j] -= factor * T[y, j]
                lines[ROW, x] -= factor * lines[ROW, y]
    for x in range(count - 1, -1, -1):
        s = lines[ROW, x]
        for y in range(x + 1, count):
            s -= T[x, y] * lines[ROW, y]
        lines[ROW, x] = s / T[x, x]
        z[int(lines[COLUMN, x])] += lines[ROW, x]
    return True


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _into_mode(g, cap, c, lines, z):
    """Give every impulse that is at a bound in its mode the value of that bound, and keep the others within theirs."""
    for k in range(cap.shape[0]):
        a = k * (1 + g)
        if lines[HOLDS, a] != 1.0:
            z[a] = 0.0 if lines[SIDE, a] > 0.0 else cap[k]
        z[a] = min(max(z[a], 0.0), cap[k])
        bound = c[k] * z[a]
        for i in range(a + 1, a + 1 + g):
            if lines[HOLDS, i] != 1.0:
                z[i] = -lines[SIDE, i] * bound
            z[i] = min(max(z[i], -bound), bound)


@njit(cache=True, nogil=True, error_model="numpy")
def refine(g, H, w, cap, c, residual, T, lines, z, after):
    """Improve the answer z (p,) of :func:`.pivoting.solve`, whose basis ``lines`` has; after (p,) = w + H z.

    The other arguments as there; T is overwritten. Returns the residual: ``residual``, that of the answer given, where
    nothing is better.
    """
    p = z.shape[0]
    for i in range(p):
        lines[X, i] = z[i]
    best = residual
    _into_mode(g, cap, c, lines, z)
    axes_residual(g, H, w, cap, c, z, after)
    for _ in range(_ROUNDS):
        if not _correct(g, H, c, after, T, lines, z):
            break
        _into_mode(g, cap, c, lines, z)
        now = axes_residual(g, H, w, cap, c, z, after)
        if not now < best:
            break
        best = now
        for i in range(p):
            lines[X, i] = z[i]
    for i in range(p):
        z[i] = lines[X, i]
    return axes_residual(g, H, w, cap, c, z, after)
