"""One increment of an impact, checked: H eq. 72–75 with caps, eq. 31–35 without."""

from numba import njit

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.impacts.pivoting import solve
from hybrid_contact_ros.kernels.impacts.refinement import refine
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

SOLVED = int(Status.SOLVED)
INACCURATE = int(Status.INACCURATE)

TOLERANCE = 1e-9
"""Largest residual of an answer that counts as solved, scaled."""

_GOOD = 1e-10  # an attempt this good ends the search
_ATTEMPTS = 8
_FREE = 100.0  # cap, in velocity scales, that stands for none
_FREER = 1e8  # the last that is tried: impulses may nearly jam


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def increment(g, H, w, cap, c, tableau, lines, z, after):
    """Solve the increment LCP, scaled, and check the answer from the data.

    H (p, p) symmetric, w (p,), cap, c (m,); scratch tableau (p + 3, p rounded up to whole blocks), lines (5, p + 3), or
    larger; out: z (p,), after (p,) = w + H z. An answer that is not accurate is refined within its mode. Attempts
    differ in the perturbation that resolves degeneracy; the best is kept. Returns (status, residual, pivots): the
    status is SOLVED, INACCURATE, or what stopped the best attempt.
    """
    p = H.shape[0]
    best = 1e300
    total = 0
    outcome = SOLVED
    for attempt in range(_ATTEMPTS + 1):
        last = attempt == _ATTEMPTS  # repeats the best, which was overwritten
        which = outcome if last else attempt
        size = 1e-11
        if which % 4 == 2:
            size = 1e-12
        elif which % 4 == 3:
            size = 1e-10
        elif which == 4:
            size = 1e-13
        if which > 4:
            size = 1e-8  # of a tableau that rounding has spoilt: what the answer lacks refinement mends
        status, pivots = solve(
            g,
            20 * (p + 2),
            H,
            w,
            cap,
            c,
            size,
            which,
            tableau,
            lines,
            z,
        )
        residual = axes_residual(g, H, w, cap, c, z, after)
        if status == SOLVED and not residual <= _GOOD:
            residual = refine(g, H, w, cap, c, residual, tableau, lines, z, after)
        total += pivots
        if last:
            if residual <= TOLERANCE:
                return SOLVED, residual, total
            return (INACCURATE if status == SOLVED else status), residual, total
        if residual <= _GOOD:
            return SOLVED, residual, total
        if residual < best:
            best = residual
            outcome = attempt
    return INACCURATE, best, total


@njit(cache=True, nogil=True, error_model="numpy")
def simultaneous(g, H, w, cap, c, tableau, lines, z, after):
    """Solve Anitescu and Potra's LCP (H 31–35), scaled: all contacts at once, no caps.

    The increment LCP with a cap that no impulse reaches is the same problem. cap (m,) is scratch; the rest as in
    :func:`increment`. The residual is that of the problem without caps.
    """
    status = INACCURATE
    residual = 0.0
    total = 0
    free = _FREE
    while True:
        cap[:] = free
        status, residual, pivots = increment(g, H, w, cap, c, tableau, lines, z, after)
        total += pivots
        cap[:] = 1e300
        residual = axes_residual(g, H, w, cap, c, z, after)
        if residual <= TOLERANCE:
            return SOLVED, residual, total
        if free >= _FREER:
            break
        free *= 10.0
    return (INACCURATE if status == SOLVED else status), residual, total
