"""The basis of :mod:`.mode_steps`: how an impulse joins it, leaves it, or exchanges its place with another.

The basis lies in a :class:`.Tableau`: ``column`` lists its k rows, T[:k] has the velocities of all rows per unit of
each, and T[B:B + k] the inverse B⁻¹ of the matrix of their own responses, with B half the rows of T. ``holds`` says
which rows are in it, and ``side`` at which bound, or with which sign, the others are.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.tableau import X_BASIC, Y_BASIC

_EXCHANGES = 8  # of one impulse that depends on the basis
_DEPENDENT = 1e-3  # scaled: an impulse whose own response, with w' of the basis at 0, is smaller depends on the basis
STIFF = 1e-8
"""Scaled: what responds less cannot be moved."""
GIVEN_UP = -1
"""Instead of how many impulses the basis has: it cannot be changed as it should."""


@kernel(forceinline=True)
def set_impulse(problem, i, value, z, after):
    """Give impulse i a value, and change the velocities accordingly."""
    H = problem.H
    if z[i] != value:
        change = value - z[i]
        for j in range(after.shape[0]):
            after[j] += change * H[i, j]
        z[i] = value


@kernel(forceinline=True)
def _place(i, count, tableau):
    """The place of row i in the basis of ``count``; −1 if it is not there."""
    for x in range(count):
        if int(tableau.column[x]) == i:
            return x
    return -1


@kernel(forceinline=True)
def resolve(problem, count, tableau, z, after):
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
    """Take an impulse out of the basis; returns how many are left, or GIVEN_UP where their matrix is singular."""
    T, rows = tableau.T, tableau.column
    B = T.shape[0] // 2
    pivot = T[B + at, at]
    if abs(pivot) < STIFF:
        return GIVEN_UP
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
            set_impulse(problem, q, -side[q] * c[a // n] * value, z, after)
    set_impulse(problem, a, value, z, after)
    return count


@kernel(forceinline=True)
def leave(problem, j, count, tableau, z, after):
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
    set_impulse(problem, j, -side[j] * c[k] * z[a], z, after)
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
            if rate[j] < -STIFF:
                step = z[j] / -rate[j]
            elif rate[j] > STIFF:
                step = (cap[k] - z[j]) / rate[j]
        else:
            for sign in (-1.0, 1.0):
                if j == i and sign * side[i] < 0.0:
                    continue  # the bound that it comes from
                fall = sign * rate[j] - c[k] * rate[a]
                if fall > STIFF:
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
    if abs(scale) < STIFF:
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
        return GIVEN_UP
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
                return GIVEN_UP
            set_impulse(problem, i, -side[i] * c[i // n] * z[a], z, after)
    return found


@kernel(forceinline=True)
def join(problem, i, count, tableau, z, after):
    """Take row i into the basis, in exchange if it depends on it; returns how many there are, or GIVEN_UP."""
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
            return GIVEN_UP
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
            count = leave(problem, found, count, tableau, z, after)
        if found < 0 or count < 0:
            return GIVEN_UP
        if i != a and holds[a] != X_BASIC and side[a] > 0.0:  # the contact has opened
            return count
    return GIVEN_UP


@kernel(forceinline=True)
def turn(problem, i, count, tableau, z, after):
    """Bring row i, which is not in the basis, from one bound to the other; returns as :func:`_remove`."""
    c, side = problem.c, tableau.side
    n = 1 + problem.g
    k = i // n
    a = k * n
    side[i] = -side[i]
    if i > a:
        set_impulse(problem, i, -side[i] * c[k] * z[a], z, after)
        return count
    if side[a] < 0.0:  # closes: slides against its velocity
        for q in range(a + 1, a + n):
            side[q] = 1.0 if after[q] > 0.0 else -1.0
    return _at_bound(problem, a, count, tableau, z, after)
