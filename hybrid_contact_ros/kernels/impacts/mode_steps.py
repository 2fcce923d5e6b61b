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
until the first is at a bound, and that one leaves. Where only velocities and caps have changed since the last answer,
as after a cut for a slip that stops (:mod:`.slip_stop`), its mode is the guess.

The guess is :mod:`.mode_guess`, a change :mod:`.mode_changes`, the basis :mod:`.mode_basis`. Nothing proves that this
ends: after some changes it is given up, and pivoting answers. An answer counts only if its residual, computed afresh,
is rounding. Every contact keeps the conditions of :mod:`.pivoting`, of its own.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.mode_basis import GIVEN_UP, follow, resolve
from hybrid_contact_ros.kernels.impacts.mode_changes import face_slip, join, leave, to_bound, turn
from hybrid_contact_ros.kernels.impacts.mode_guess import guess, guess_again
from hybrid_contact_ros.kernels.impacts.tableau import X_BASIC

_CHANGES = 40  # of the mode, after which the guess is given up
_EXCHANGES = 8  # of one impulse that depends on the basis
_MET = 1e-11  # scaled: a condition that is missed by less is met


@kernel(forceinline=True)
def _most_violated(problem, tableau, z, after):
    """The row whose condition is violated most, −1 if there is none, and its contact: a bound, or the sign of w'."""
    cap, c = problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    worst = _MET
    found = -1
    where = -1
    for k in range(cap.shape[0]):
        a = k * n
        at_bound = -side[a] * after[a] if cap[k] > 0.0 else 0.0
        beyond = max(-z[a], z[a] - cap[k])
        by = beyond if holds[a] == X_BASIC else at_bound
        if by > worst:
            worst = by
            found = a
            where = k
        if (holds[a] != X_BASIC and side[a] > 0.0) or c[k] == 0.0:
            continue
        bound = c[k] * z[a]
        for i in range(a + 1, a + n):
            at_bound = -side[i] * after[i]
            beyond = abs(z[i]) - bound
            by = beyond if holds[i] == X_BASIC else at_bound
            if by > worst:
                worst = by
                found = i
                where = k
    return found, where


@kernel(forceinline=True)
def _change(problem, i, k, count, tableau, z, after):
    """Change the mode so that the condition of row i of contact k is met; returns as :func:`.take_out`."""
    H, cap, c = problem.H, problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    a = k * n
    turns = False
    if holds[i] != X_BASIC:
        follow(problem, k, tableau, z)
        most = cap[k] * H[a, a] if i == a else 2.0 * c[k] * z[a] * H[i, i]
        turns = abs(after[i]) > most and holds[a] != X_BASIC
        if i == a and side[a] > 0.0 and not turns:
            face_slip(problem, k, tableau, after)
    j = i  # i itself, or what leaves so that i can join
    for _ in range(2 * _EXCHANGES):
        done = True
        if turns:
            turn(problem, i, k, tableau, z, after)
        elif holds[j] == X_BASIC:
            count = leave(problem, j, j // n, count, tableau, z, after)
            done = j == i
        else:
            j = i
            count, j = join(problem, i, k, count, tableau, z, after)
            done = j < 0 or j == i
        if count >= 0 and j >= 0 and j % n == 0 and holds[j] != X_BASIC:
            count = to_bound(problem, j // n, count, tableau, z, after)
        # where the contact of an axis that was to join has opened there is nothing to join
        if done or count < 0 or (i != a and holds[a] != X_BASIC and side[a] > 0.0):
            return count
    return GIVEN_UP


@kernel(forceinline=True)
def solve_by_mode(again, problem, tableau, z, after):
    """Solve one increment LCP from a guess; see the module.

    Args:
        again: whether ``tableau`` and ``z`` are what this kernel answered last, and H and c the same: only velocities
            and caps are others, and so its mode is the guess.
        problem: :class:`.IncrementProblem`. tableau: scratch, :class:`.Tableau`, of which T has at least twice as many
            rows as unknowns that can be in the basis together; ``holds`` and ``side`` become those of the answer's
            mode. z: out, (p,), impulses. after: out, (p,), w + H z.

    Returns:
        (whether all conditions are met, changes of the mode).
    """
    count = guess_again(problem, tableau, z, after) if again else guess(problem, tableau, z, after)
    if count < 0:
        return False, 0
    for change in range(_CHANGES):
        i, k = _most_violated(problem, tableau, z, after)
        if i < 0:
            if resolve(count, tableau, z, after):
                continue  # rounding
            for x in range(problem.cap.shape[0]):
                follow(problem, x, tableau, z)
            tableau.column[z.shape[0]] = count
            return True, change
        count = _change(problem, i, k, count, tableau, z, after)
        if count < 0:
            return False, change
        resolve(count, tableau, z, after)
    return False, _CHANGES
