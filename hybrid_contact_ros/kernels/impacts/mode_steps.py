"""One solution of an increment LCP by correcting a guess of its mode, with a basis of the few impulses inside bounds.

Parametric pivoting (:mod:`.pivoting`) goes from mode to mode from z = 0 on, in a tableau of all unknowns. But the
impulses of all contacts on one body act on it through six numbers: G = J M⁻¹ Jᵀ has rank six or less a sole, whatever
its corners, so that no more than six of its unknowns are determined by w'_i = 0. Here only these have a basis: the
inverse B⁻¹ of the k by k matrix of their responses, and the velocities of all rows per unit of each, k by p. A change
of the mode costs k (k + p) multiplications instead of p², and contacts that stay open cost one comparison.

A few sweeps of projected Gauss and Seidel give a guess: all impulses at the bounds that they come closest to. Then the
condition that is violated most changes the mode, one after the other: an impulse joins the basis, so that its w'_i
becomes 0, or leaves it at the bound that it is beyond. One that depends on the basis, nearly so or exactly, as the
fourth corner of a sole does on the other three, joins in exchange: all move in the proportions that change no velocity,
until the first is at a bound, and that one leaves.

The basis itself is :mod:`.mode_basis`. Nothing proves that this ends: after some changes it is given up, and pivoting
answers. An answer counts only if its residual, computed afresh, is rounding. Every contact keeps the conditions of
:mod:`.pivoting`, of its own.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.mode_basis import STIFF, join, leave, resolve, set_impulse, turn
from hybrid_contact_ros.kernels.impacts.tableau import X_BASIC, Y_BASIC

_SWEEPS = 3  # of Gauss and Seidel
_CHANGES = 40  # of the mode, after which the guess is given up
_MET = 1e-11  # scaled: a condition that is missed by less is met


@kernel(forceinline=True)
def _sweep(problem, z, after):
    """Give each impulse in turn the value that its own conditions ask for while all others are held."""
    H, cap, c = problem.H, problem.cap, problem.c
    n = 1 + problem.g
    for k in range(cap.shape[0]):
        a = k * n
        if z[a] == 0.0 and after[a] >= 0.0:
            continue
        if H[a, a] > STIFF:
            set_impulse(problem, a, min(max(z[a] - after[a] / H[a, a], 0.0), cap[k]), z, after)
        bound = c[k] * z[a]
        for i in range(a + 1, a + n):
            value = -bound if after[i] > 0.0 else bound
            if H[i, i] > STIFF:
                value = min(max(z[i] - after[i] / H[i, i], -bound), bound)
            set_impulse(problem, i, value, z, after)


@kernel(forceinline=True)
def _to_bounds(problem, tableau, z, after):
    """Bring every impulse to the bound that it is closest to: the mode in which nothing is inside."""
    cap, c = problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    for k in range(cap.shape[0]):
        a = k * n
        holds[a] = Y_BASIC
        side[a] = 1.0 if z[a] < 0.5 * cap[k] or cap[k] == 0.0 else -1.0
        value = 0.0 if side[a] > 0.0 else cap[k]
        for i in range(a + 1, a + n):
            holds[i] = Y_BASIC
            side[i] = 1.0 if z[i] < 0.0 or (z[i] == 0.0 and after[i] > 0.0) else -1.0
            set_impulse(problem, i, -side[i] * c[k] * value, z, after)
        set_impulse(problem, a, value, z, after)


@kernel(forceinline=True)
def _most_violated(problem, tableau, z, after):
    """The row whose condition is violated most, −1 if there is none: a bound of one in the basis, or the sign of w'."""
    cap, c = problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    worst = _MET
    found = -1
    for k in range(cap.shape[0]):
        a = k * n
        by = -side[a] * after[a]
        if holds[a] == X_BASIC:
            by = max(-z[a], z[a] - cap[k])
        elif cap[k] == 0.0:
            continue
        if by > worst:
            worst = by
            found = a
        if (holds[a] != X_BASIC and side[a] > 0.0) or c[k] == 0.0:
            continue
        bound = c[k] * z[a]
        for i in range(a + 1, a + n):
            by = abs(z[i]) - bound if holds[i] == X_BASIC else -side[i] * after[i]
            if by > worst:
                worst = by
                found = i
    return found


@kernel(forceinline=True)
def solve_by_mode(problem, tableau, z, after):
    """Solve one increment LCP from a guess; see the module.

    Args:
        problem: :class:`.IncrementProblem`. tableau: scratch, :class:`.Tableau`, of which T has at least twice as many
            rows as unknowns that can be in the basis together; ``holds`` and ``side`` become those of the answer's
            mode. z: out, (p,), impulses. after: out, (p,), w + H z.

    Returns:
        (whether all conditions are met, changes of the mode).
    """
    H, w, cap, c = problem.H, problem.w, problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    for i in range(z.shape[0]):
        z[i] = 0.0
        after[i] = w[i]
    for _ in range(_SWEEPS):
        _sweep(problem, z, after)
    _to_bounds(problem, tableau, z, after)
    count = 0
    for change in range(_CHANGES):
        i = _most_violated(problem, tableau, z, after)
        if i < 0:
            return True, change
        a = i // n * n
        k = i // n
        if holds[i] == X_BASIC:
            count = leave(problem, i, count, tableau, z, after)
        elif abs(after[i]) > (cap[k] * H[a, a] if i == a else 2.0 * c[k] * z[a] * H[i, i]) and holds[a] != X_BASIC:
            count = turn(problem, i, count, tableau, z, after)
        else:
            if i == a and side[a] > 0.0:  # closes: slides against its velocity
                for q in range(a + 1, a + n):
                    side[q] = 1.0 if after[q] > 0.0 else -1.0
            count = join(problem, i, count, tableau, z, after)
        if count < 0:
            return False, change
        resolve(problem, count, tableau, z, after)
    return False, _CHANGES
