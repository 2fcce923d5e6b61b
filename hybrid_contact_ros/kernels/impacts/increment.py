"""One increment of an impact, solved and checked: Halm (72)–(75) with caps, Halm (31)–(35) without."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.mode_steps import solve_by_mode
from hybrid_contact_ros.kernels.impacts.pivoting import solve
from hybrid_contact_ros.kernels.impacts.records import IncrementProblem, Tableau
from hybrid_contact_ros.kernels.impacts.refinement import refine
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

SOLVED = int(Status.SOLVED)
INACCURATE = int(Status.INACCURATE)

TOLERANCE = 1e-9
"""Largest residual of an answer that counts as solved, scaled."""

_GOOD = 1e-10  # residual at which no other attempt is made
_ATTEMPTS = 8
FEW_ROWS = 12
"""Up to so many, those of four contacts in space with two axes each, the path of solutions is followed at once."""
FIRST_PERTURBATION = 1e-11
"""Size of the perturbation that resolves degeneracy, in the first attempt."""
_FIRST_FREE_CAP = 100.0  # in velocity scales: a cap that impulses do not reach, as a rule
_LAST_FREE_CAP = 1e8  # the largest that is tried: where contacts nearly jam impulses are large


@kernel(forceinline=True)
def _perturbation(attempt):
    """Size of the perturbation that resolves degeneracy, in one of the attempts."""
    if attempt > 4:
        return 1e-8  # after attempts that rounding has spoilt: refinement removes what the perturbation does
    if attempt == 4:
        return 1e-13
    if attempt == 3:
        return 1e-10
    return 1e-12 if attempt == 2 else FIRST_PERTURBATION


@kernel(forceinline=True)
def _follow(problem, work, z, after):
    """Solve an increment by pivoting; arguments and return values as of :func:`increment`.

    Attempts differ in the perturbation that resolves degeneracy; the best is kept. An answer that is not accurate is
    refined within its mode.
    """
    g, H, w, cap, c = problem
    best = 1e300
    total = 0
    chosen = 0
    for attempt in range(_ATTEMPTS + 1):
        last = attempt == _ATTEMPTS  # repeats the best, which was overwritten
        which = chosen if last else attempt
        status, pivots = solve(problem, _perturbation(which), which, work, z)
        residual = axes_residual(g, H, w, cap, c, z, after)
        if status == SOLVED and not residual <= _GOOD:
            residual = refine(problem, residual, work, z, after)
        total += pivots
        if last:
            if residual <= TOLERANCE:
                return SOLVED, residual, total
            return (INACCURATE if status == SOLVED else status), residual, total
        if residual <= _GOOD:
            return SOLVED, residual, total
        if residual < best:
            best = residual
            chosen = attempt
    return INACCURATE, best, total


@kernel(forceinline=True)
def solve_increment(again, problem, work, z, after):
    """Solve the increment LCP, scaled, and check the answer from the data.

    Where there are many contacts a guess of the mode is corrected (:mod:`.mode_steps`); where there are few, or that
    does not end, the path of solutions is followed (:mod:`.pivoting`).

    Args:
        again: whether ``work`` and ``z`` are as this kernel left and kept them, for the same H and c.
        problem: :class:`.IncrementProblem`. work: scratch, :class:`.Tableau`.
        z: out, (p,), impulses. after: out, (p,), w + H z.

    Returns:
        (status, residual, pivots, whether the mode is kept in ``work``): SOLVED, INACCURATE, or what stopped the best
        attempt.
    """
    if z.shape[0] > FEW_ROWS:
        met, changes = solve_by_mode(again, problem, work, z, after)
        if met:
            residual = axes_residual(problem.g, problem.H, problem.w, problem.cap, problem.c, z, after)
            if residual <= _GOOD:
                return SOLVED, residual, changes, True
    status, residual, pivots = _follow(problem, work, z, after)
    return status, residual, pivots, False


@kernel(forceinline=True)
def increment(
    # problem:
    g,
    H,
    w,
    cap,
    c,
    # scratch:
    tableau,
    lines,
    # out:
    z,
    after,
):
    """:func:`solve_increment` of flat arguments, from nothing.

    Args:
        g … c: :class:`.IncrementProblem`; H (p, p), w (p,), cap and c (m,).
        tableau: scratch, (2p + 5, p rounded up to whole blocks) or larger. lines: scratch, (6, p + 3) or larger.
        z: out, (p,), impulses. after: out, (p,), w + H z.

    Returns:
        (status, residual, pivots): SOLVED, INACCURATE, or what stopped the best attempt.
    """
    problem = IncrementProblem(g, H, w, cap, c)
    work = Tableau(tableau, lines[0], lines[1], lines[2], lines[3], lines[4], lines[5])
    status, residual, pivots, _ = solve_increment(False, problem, work, z, after)
    return status, residual, pivots


@kernel
def simultaneous(
    # problem:
    g,
    H,
    w,
    # scratch and problem:
    cap,
    c,
    # scratch:
    tableau,
    lines,
    # out:
    z,
    after,
):
    """Solve the LCP of Anitescu and Potra (Halm (31)–(35)), scaled: all contacts at once, without caps.

    The increment LCP with a cap that no impulse reaches is the same problem, so that larger caps are tried until one is
    not reached. Arguments and return values as of :func:`increment`, but cap (m,) is scratch, and the residual that of
    the problem without caps.
    """
    problem = IncrementProblem(g, H, w, cap, c)
    work = Tableau(tableau, lines[0], lines[1], lines[2], lines[3], lines[4], lines[5])
    status = INACCURATE
    residual = 0.0
    total = 0
    free = _FIRST_FREE_CAP
    while True:
        cap[:] = free
        status, residual, pivots = _follow(problem, work, z, after)
        total += pivots
        cap[:] = 1e300
        residual = axes_residual(g, H, w, cap, c, z, after)
        if residual <= TOLERANCE:
            return SOLVED, residual, total
        if free >= _LAST_FREE_CAP:
            break
        free *= 10.0
    return (INACCURATE if status == SOLVED else status), residual, total
