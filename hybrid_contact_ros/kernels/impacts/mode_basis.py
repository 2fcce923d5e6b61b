"""The basis of :mod:`.mode_steps`: impulses join it, leave it, and take the values that bring their w' to 0.

The basis lies in a :class:`.Tableau`: ``column`` lists its k rows, T[:k] has the velocities of all rows per unit of
each, and T[B:B + k] the inverse B⁻¹ of the matrix of their own responses, with B half the rows of T. ``holds`` says
which rows are in it, and ``side`` at which bound, or with which sign, the others are.

The impulse z of an axis that slides is known from that of its normal. While the normal is in the basis it is not kept
up to date: whoever needs it asks for :func:`follow`.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.tableau import X_BASIC

_DEPENDENT = 1e-3  # scaled: an impulse whose own response, with w' of the basis at 0, is smaller depends on the basis
_ROUNDING = 1e-13  # scaled: a velocity of a row in the basis that is left as it is
STIFF = 1e-8
"""Scaled: what responds less cannot be moved."""
GIVEN_UP = -1
"""Instead of how many impulses the basis has: it cannot be changed as it should."""


@kernel(forceinline=True)
def add_rows(M, first, count, factors, out):
    """Add the sum of factors[x] M[first + x], x < ``count``, to ``out``, several rows at once: each pass waits for the
    one before."""
    p = out.shape[0]
    x = 0
    while x + 4 <= count:
        f, g, h, i = factors[x], factors[x + 1], factors[x + 2], factors[x + 3]
        r = first + x
        for j in range(p):
            out[j] += (f * M[r, j] + g * M[r + 1, j]) + (h * M[r + 2, j] + i * M[r + 3, j])
        x += 4
    if x + 2 <= count:
        f, g = factors[x], factors[x + 1]
        r = first + x
        for j in range(p):
            out[j] += f * M[r, j] + g * M[r + 1, j]
        x += 2
    if x < count:
        f = factors[x]
        r = first + x
        for j in range(p):
            out[j] += f * M[r, j]


@kernel(forceinline=True)
def dot(M, row, count, v):
    """Σ M[row, x] v[x], x < ``count``, in four sums: each addition waits for the one before."""
    s, t, u, w = 0.0, 0.0, 0.0, 0.0
    x = 0
    while x + 4 <= count:
        s += M[row, x] * v[x]
        t += M[row, x + 1] * v[x + 1]
        u += M[row, x + 2] * v[x + 2]
        w += M[row, x + 3] * v[x + 3]
        x += 4
    while x < count:
        s += M[row, x] * v[x]
        x += 1
    return (s + t) + (u + w)


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
def follow(problem, k, tableau, z):
    """Write the impulses of those axes of contact k that slide."""
    n = 1 + problem.g
    a = k * n
    bound = problem.c[k] * z[a]
    for q in range(a + 1, a + n):
        if tableau.holds[q] != X_BASIC:
            z[q] = -tableau.side[q] * bound


@kernel(forceinline=True)
def place(i, count, tableau):
    """The place of row i in the basis of ``count``; −1 if it is not there."""
    for x in range(count):
        if int(tableau.column[x]) == i:
            return x
    return -1


@kernel(forceinline=True)
def resolve(count, tableau, z, after):
    """Move the impulses of the basis so that their w' are 0; returns False where they are."""
    T, move, rows = tableau.T, tableau.row, tableau.column
    B = T.shape[0] // 2
    moves = False
    for x in range(count):
        move[x] = 0.0
    for y in range(count):
        missing = after[int(rows[y])]
        if abs(missing) > _ROUNDING:
            moves = True
            for x in range(count):
                move[x] -= missing * T[B + y, x]
    if moves:
        for x in range(count):
            z[int(rows[x])] += move[x]
        add_rows(T, 0, count, move, after)
    return moves


@kernel(forceinline=True)
def expand(problem, i, count, tableau):
    """Write the velocities per unit of row i, which is not in the basis, to T[count], and what the basis makes of them.

    Axes that slide are a part of their normal's velocities. ``row`` becomes B⁻¹ times the response of the basis to i,
    and ``felt`` w'_i per unit of each impulse of the basis. Returns the own response of i, with w' of the basis at 0.
    """
    H, c = problem.H, problem.c
    T, share, rows = tableau.T, tableau.row, tableau.column
    side, holds, into, felt = tableau.side, tableau.holds, tableau.values, tableau.felt
    n = 1 + problem.g
    p = H.shape[0]
    B = T.shape[0] // 2
    for j in range(p):
        T[count, j] = H[i, j]
    if i % n == 0:
        for q in range(i + 1, i + n):
            if holds[q] != X_BASIC:
                f = -side[q] * c[i // n]
                for j in range(p):
                    T[count, j] += f * H[q, j]
    for x in range(count):
        into[x] = T[count, int(rows[x])]
        felt[x] = T[x, i]
        share[x] = 0.0
    add_rows(T, B, count, into, share[:count])
    own = T[count, i]
    for x in range(count):
        own -= share[x] * felt[x]
    return own


@kernel(forceinline=True)
def is_dependent(own):
    """Whether a row with this own response depends on the basis, or nearly so."""
    return not abs(own) >= _DEPENDENT


@kernel(forceinline=True)
def take_in(i, own, count, tableau):
    """Take row i into the basis, after :func:`expand`; returns how many there are."""
    T, share, rows, felt, other = tableau.T, tableau.row, tableau.column, tableau.felt, tableau.values
    B = T.shape[0] // 2
    over = 1.0 / own
    for y in range(count):
        other[y] = over * dot(T, B + y, count, felt)
    for y in range(count):
        f = other[y]
        for x in range(count):
            T[B + y, x] += f * share[x]
        T[B + y, count] = -f
    for x in range(count):
        T[B + count, x] = -share[x] * over
    T[B + count, count] = over
    rows[count] = i
    tableau.holds[i] = X_BASIC
    return count + 1


@kernel(forceinline=True)
def take_out(at, count, tableau):
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
def slide_more(i, f, normal, count, tableau):
    """Let axis i, which is not in the basis, follow its normal, which is at ``normal``, by f more.

    After :func:`expand`. Returns False where their matrix would be singular.
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
