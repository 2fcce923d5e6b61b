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

Nothing proves that this ends. After some changes it is given up, and pivoting answers. An answer counts only if its
residual, computed afresh, is rounding. Every contact keeps the conditions of :mod:`.pivoting`, of its own.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.tableau import X_BASIC, Y_BASIC

_SWEEPS = 3  # of Gauss and Seidel
_CHANGES = 40  # of the mode, after which the guess is given up
_EXCHANGES = 8  # of one impulse that depends on the basis
_MET = 1e-11  # scaled: a condition that is missed by less is met
_DEPENDENT = 1e-3  # scaled: an impulse whose own response, with w' of the basis at 0, is smaller depends on the basis
_STIFF = 1e-8  # scaled: what responds less cannot be moved
_GIVEN_UP = -1


@kernel(forceinline=True)
def _set(problem, i, value, z, after):
    """Give impulse i a value, and change the velocities accordingly."""
    H = problem.H
    if z[i] != value:
        change = value - z[i]
        for j in range(after.shape[0]):
            after[j] += change * H[i, j]
        z[i] = value


@kernel(forceinline=True)
def _sweep(problem, z, after):
    """Give each impulse in turn the value that its own conditions ask for while all others are held."""
    H, cap, c = problem.H, problem.cap, problem.c
    n = 1 + problem.g
    for k in range(cap.shape[0]):
        a = k * n
        if z[a] == 0.0 and after[a] >= 0.0:
            continue
        if H[a, a] > _STIFF:
            _set(problem, a, min(max(z[a] - after[a] / H[a, a], 0.0), cap[k]), z, after)
        bound = c[k] * z[a]
        for i in range(a + 1, a + n):
            value = -bound if after[i] > 0.0 else bound
            if H[i, i] > _STIFF:
                value = min(max(z[i] - after[i] / H[i, i], -bound), bound)
            _set(problem, i, value, z, after)


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
            _set(problem, i, -side[i] * c[k] * value, z, after)
        _set(problem, a, value, z, after)


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
def _place(i, count, tableau):
    """The place of row i in the basis of ``count``; −1 if it is not there."""
    for x in range(count):
        if int(tableau.column[x]) == i:
            return x
    return -1


@kernel(forceinline=True)
def _resolve(problem, count, tableau, z, after):
    """Move the impulses of the basis so that their w' are 0."""
    c = problem.c
    T, move, side, holds, rows = tableau.T, tableau.row, tableau.side, tableau.holds, tableau.column
    n = 1 + problem.g
    B = T.shape[0] // 2
    for x in range(count):
        move[x] = 0.0
    for y in range(count):
        missing = after[int(rows[y])]
        if missing != 0.0:
            for x in range(count):
                move[x] -= missing * T[B + y, x]
    for x in range(count):
        j = int(rows[x])
        by = move[x]
        z[j] += by
        if j % n == 0:
            f = c[j // n] * by
            for q in range(j + 1, j + n):
                z[q] -= side[q] * f if holds[q] != X_BASIC else 0.0
        for i in range(after.shape[0]):
            after[i] += by * T[x, i]


@kernel(forceinline=True)
def _remove(at, count, tableau):
    """Take an impulse out of the basis; returns how many are left, or _GIVEN_UP where their matrix is singular."""
    T, rows = tableau.T, tableau.column
    B = T.shape[0] // 2
    pivot = T[B + at, at]
    if abs(pivot) < _STIFF:
        return _GIVEN_UP
    over = 1.0 / pivot
    last = count - 1
    for y in range(count):
        f = T[B + y, at] * over
        if y != at and f != 0.0:
            for x in range(count):
                if x != at:
                    T[B + y, x] -= f * T[B + at, x]
    if at != last:
        rows[at] = rows[last]
        for i in range(T.shape[1]):
            T[at, i] = T[last, i]
        for x in range(count):
            T[B + at, x] = T[B + last, x]
        for y in range(last):
            T[B + y, at] = T[B + y, last]
    return last


@kernel(forceinline=True)
def _at_bound(problem, a, count, tableau, z, after):
    """Give the contact with normal row a, which has just left the basis or its bound, the impulses of its new side.

    The axes of one that opens leave the basis. Returns as :func:`_remove`.
    """
    cap, c = problem.cap, problem.c
    side, holds = tableau.side, tableau.holds
    n = 1 + problem.g
    opens = side[a] > 0.0
    value = 0.0 if opens else cap[a // n]
    for q in range(a + 1, a + n):
        if opens and holds[q] == X_BASIC and count >= 0:
            holds[q] = Y_BASIC
            count = _remove(_place(q, count, tableau), count, tableau)
        if holds[q] != X_BASIC:
            _set(problem, q, -side[q] * c[a // n] * value, z, after)
    _set(problem, a, value, z, after)
    return count


@kernel(forceinline=True)
def _leave(problem, j, count, tableau, z, after):
    """Take row j out of the basis, to the bound that its impulse is closest to; returns as :func:`_remove`."""
    cap, c = problem.cap, problem.c
    T, side, holds = tableau.T, tableau.side, tableau.holds
    n = 1 + problem.g
    k = j // n
    a = k * n
    B = T.shape[0] // 2
    at = _place(j, count, tableau)
    holds[j] = Y_BASIC
    if j == a:
        side[a] = 1.0 if z[a] < 0.5 * cap[k] else -1.0
        count = _remove(at, count, tableau)
        return _at_bound(problem, a, count, tableau, z, after) if count >= 0 else count
    side[j] = -1.0 if z[j] > 0.0 else 1.0
    if holds[a] == X_BASIC:  # slides from now on: follows its normal
        f = -side[j] * c[k]
        normal = _place(a, count, tableau)
        for i in range(T.shape[1]):
            T[normal, i] += f * T[at, i]
        for y in range(count):
            T[B + y, at] -= f * T[B + y, normal]
    count = _remove(at, count, tableau)
    _set(problem, j, -side[j] * c[k] * z[a], z, after)
    return count


@kernel(forceinline=True)
def _ratio(problem, i, count, tableau, rate, z):
    """How far impulses can move at ``rate`` (p,) until one of the basis, or i, is at a bound: (step, which)."""
    cap, c = problem.cap, problem.c
    side, rows = tableau.side, tableau.column
    n = 1 + problem.g
    best = 1e300
    found = -1
    for x in range(count + 1):
        j = int(rows[x]) if x < count else i
        k = j // n
        a = k * n
        step = 1e300
        if j == a:
            if rate[j] < -_STIFF:
                step = z[j] / -rate[j]
            elif rate[j] > _STIFF:
                step = (cap[k] - z[j]) / rate[j]
        else:
            for sign in (-1.0, 1.0):
                if j == i and sign * side[i] < 0.0:
                    continue  # the bound that it comes from
                fall = sign * rate[j] - c[k] * rate[a]
                if fall > _STIFF:
                    step = min(step, (c[k] * z[a] - sign * z[j]) / fall)
        if step < best:
            best = step
            found = j
    return max(best, 0.0), found


@kernel(forceinline=True)
def _follows(i, f, normal, count, tableau):
    """Let axis i follow its normal, which is in the basis at ``normal``, by f more; returns False where it cannot.

    ``row`` holds B⁻¹ times the response of the basis to i, T[count] the velocities per unit of i.
    """
    T, share = tableau.T, tableau.row
    B = T.shape[0] // 2
    scale = 1.0 + f * share[normal]
    if abs(scale) < _STIFF:
        return False
    f_over = f / scale
    for y in range(count):
        by = f_over * T[B + y, normal]
        for x in range(count):
            T[B + y, x] -= by * share[x]
    for j in range(T.shape[1]):
        T[normal, j] += f * T[count, j]
    return True


@kernel(forceinline=True)
def _exchange(problem, i, count, tableau, z, after):
    """Move row i and the basis, on which it depends, so that velocities stay, until one is at a bound: which one it is.

    ``row`` holds B⁻¹ times the response of the basis to i, and T[count] the velocities per unit of i.
    """
    c = problem.c
    T, share, side, holds, rows = tableau.T, tableau.row, tableau.side, tableau.holds, tableau.column
    rate = T[T.shape[0] - 1]
    n = 1 + problem.g
    a = i // n * n
    p = z.shape[0]
    for j in range(p):
        rate[j] = 0.0
    rate[i] = side[i]
    for x in range(count):
        rate[int(rows[x])] = -share[x] * side[i]
    for b in range(0, p, n):
        if rate[b] != 0.0:
            for q in range(b + 1, b + n):
                if holds[q] != X_BASIC:
                    rate[q] -= side[q] * c[b // n] * rate[b]
    step, found = _ratio(problem, i, count, tableau, rate, z)
    if found < 0:
        return _GIVEN_UP
    for j in range(p):
        z[j] += step * rate[j]
    for j in range(p):
        after[j] += step * side[i] * T[count, j]
    for x in range(count):
        f = step * share[x] * side[i]
        for j in range(p):
            after[j] -= f * T[x, j]
    if found == i:
        side[i] = -side[i]
        if i != a:
            if holds[a] == X_BASIC and not _follows(
                i, -2.0 * side[i] * c[i // n], _place(a, count, tableau), count, tableau
            ):
                return _GIVEN_UP
            _set(problem, i, -side[i] * c[i // n] * z[a], z, after)
    return found


@kernel(forceinline=True)
def _join(problem, i, count, tableau, z, after):
    """Take row i into the basis, in exchange if it depends on it; returns how many there are, or _GIVEN_UP."""
    H, c = problem.H, problem.c
    T, share, other, side, holds = tableau.T, tableau.row, tableau.values, tableau.side, tableau.holds
    rows = tableau.column
    n = 1 + problem.g
    p = z.shape[0]
    k = i // n
    a = k * n
    B = T.shape[0] // 2
    for _ in range(_EXCHANGES):
        if count + 1 >= B:
            return _GIVEN_UP
        for j in range(p):
            T[count, j] = H[i, j]
        if i == a:
            for q in range(a + 1, a + n):
                if holds[q] != X_BASIC:
                    f = -side[q] * c[k]
                    for j in range(p):
                        T[count, j] += f * H[q, j]
        for x in range(count):
            share[x] = 0.0
        own = T[count, i]
        for y in range(count):
            f = T[count, int(rows[y])]
            s = 0.0
            for x in range(count):
                share[x] += f * T[B + y, x]
                s += T[B + y, x] * T[x, i]
            other[y] = s
        for x in range(count):
            own -= share[x] * T[x, i]
        if abs(own) >= _DEPENDENT:
            over = 1.0 / own
            for y in range(count):
                f = other[y] * over
                for x in range(count):
                    T[B + y, x] += f * share[x]
                T[B + y, count] = -f
            for x in range(count):
                T[B + count, x] = -share[x] * over
            T[B + count, count] = over
            rows[count] = i
            holds[i] = X_BASIC
            if i != a and holds[a] == X_BASIC:  # slid until now, and followed its normal
                f = -side[i] * c[k]
                normal = _place(a, count, tableau)
                for j in range(p):
                    T[normal, j] -= f * T[count, j]
                for y in range(count + 1):
                    T[B + y, count] += f * T[B + y, normal]
            return count + 1
        found = _exchange(problem, i, count, tableau, z, after)
        if found == i:
            return _at_bound(problem, a, count, tableau, z, after) if i == a else count
        if found >= 0:
            count = _leave(problem, found, count, tableau, z, after)
        if found < 0 or count < 0:
            return _GIVEN_UP
        if i != a and holds[a] != X_BASIC and side[a] > 0.0:  # the contact has opened
            return count
    return _GIVEN_UP


@kernel(forceinline=True)
def _turn(problem, i, count, tableau, z, after):
    """Bring row i, which is not in the basis, from one bound to the other; returns as :func:`_remove`."""
    c, side = problem.c, tableau.side
    n = 1 + problem.g
    k = i // n
    a = k * n
    side[i] = -side[i]
    if i > a:
        _set(problem, i, -side[i] * c[k] * z[a], z, after)
        return count
    if side[a] < 0.0:  # closes: slides against its velocity
        for q in range(a + 1, a + n):
            side[q] = 1.0 if after[q] > 0.0 else -1.0
    return _at_bound(problem, a, count, tableau, z, after)


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
            count = _leave(problem, i, count, tableau, z, after)
        elif abs(after[i]) > (cap[k] * H[a, a] if i == a else 2.0 * c[k] * z[a] * H[i, i]) and holds[a] != X_BASIC:
            count = _turn(problem, i, count, tableau, z, after)
        else:
            if i == a and side[a] > 0.0:  # closes: slides against its velocity
                for q in range(a + 1, a + n):
                    side[q] = 1.0 if after[q] > 0.0 else -1.0
            count = _join(problem, i, count, tableau, z, after)
        if count < 0:
            return False, change
        _resolve(problem, count, tableau, z, after)
    return False, _CHANGES
