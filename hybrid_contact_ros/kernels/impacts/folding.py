"""Whether increment LCPs have several solutions for velocities that the robot can have.

A negative determinant of a piece (:mod:`.orientation`) means that there are three or more solutions for some w, which
need not be a velocity of the robot, w = J v. A piece where no velocity of the robot has the signs that it asks for
holds only solutions that another piece has too; and where rows of J depend on each other, a zero determinant only says
that impulses are shared arbitrarily. :func:`fold` looks for a negative piece beyond these.
"""

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.increment_modes import ACTIVE, OPEN, decode, mode_count

_ZERO = 1e-9  # a pivot below counts as zero
_MOST_SHARED = 8  # unknowns of a mode whose rows depend on each other; a mode with more is taken to fold


@kernel
def _unreachable(g, S, states, strict):
    """Whether the signs that the rows in ``strict`` ask for bring one more of them to rest, as far as pairs tell.

    S (p, p): the Gram matrix of the rows of J on what the mode's own rows, which are at rest, leave free. Rows that
    these bring to rest already do not count.
    """
    p = S.shape[0]
    n = 1 + g
    for i in range(p):
        if not strict[i] or S[i, i] < _ZERO:
            continue
        for j in range(i):
            if strict[j] and S[j, j] >= _ZERO and S[i, j] * S[i, j] > (1.0 - _ZERO) * S[i, i] * S[j, j]:
                here = _asked(i, n, states)
                there = _asked(j, n, states)
                if here * there * S[i, j] < 0.0:
                    return True
    return False


@kernel
def _asked(i, n, states):
    """The sign that a mode asks of w'_i."""
    if i % n == 0:
        return 1.0 if states[i] == OPEN else -1.0
    return -float(states[i])


@kernel
def _sign(size, B):
    """Sign of the determinant of the leading part of B, which is overwritten; 0 if it is singular."""
    sign = 1
    for y in range(size):
        best = y
        for x in range(y + 1, size):
            if abs(B[x, y]) > abs(B[best, y]):
                best = x
        if abs(B[best, y]) < _ZERO:
            return 0
        if best != y:
            sign = -sign
            for j in range(y, size):
                swap = B[best, j]
                B[best, j] = B[y, j]
                B[y, j] = swap
        if B[y, y] < 0.0:
            sign = -sign
        for x in range(y + 1, size):
            factor = B[x, y] / B[y, y]
            for j in range(y, size):
                B[x, j] -= factor * B[y, j]
    return sign


@kernel
def _turns_around(count, rank, A, B):
    """Whether principal minors of order ``rank`` of A (count, count) say that a piece may turn the map around.

    Where the piece's rows depend on each other (rank < count), contacts share impulses with some weights W_S > 0 of the
    sets S of ``rank`` rows. Its orientation, Σ_S W_S det A_SS by the formula of Cauchy and Binet, must be positive for
    all such weights.
    """
    if count > _MOST_SHARED and rank < count:
        return True
    some = False
    for chosen in range(1 << count):
        size = 0
        for x in range(count):
            size += (chosen >> x) & 1
        if size != rank:
            continue
        i = 0
        for x in range(count):
            if (chosen >> x) & 1:
                j = 0
                for y in range(count):
                    if (chosen >> y) & 1:
                        B[i, j] = A[x, y]
                        j += 1
                i += 1
        sign = _sign(rank, B)
        if sign < 0:
            return True
        some |= sign > 0
    return not some


@kernel
def fold(g, limit, H, c, S, A, B, ints):
    """Decide whether a piece that velocities of the robot reach may turn the map around, so that solutions come in
    threes.

    For every mode, its rows at rest (active normals, sticking axes) and the impulses that it leaves free give the
    matrix whose orientation counts. Modes that only a set of measure zero can lead to are left out, as far as pairs of
    rows
    tell: their velocities have more rows at rest than their impulses have freedom. A no is an indication, not a proof.

    Args:
        g, H, c: as of :func:`.orientation.coherent`. limit: modes to look at, at most.
        S, A, B: scratch (p, p). ints: scratch (≥ 5, p) int64.

    Returns:
        1 if one may, 0 if none was found, −1 if that is not known within ``limit``.
    """
    p = H.shape[0]
    m = c.shape[0]
    n = 1 + g
    states = ints[0]
    mode = ints[1]
    rows = ints[2]
    strict = ints[3]
    for k in range(m):
        mode[k] = 0
    for _ in range(limit):
        count = 0
        for k in range(m):
            decode(g, mode[k], c[k], states, k * n)
            a = k * n
            strict[a] = states[a] != ACTIVE
            if states[a] == ACTIVE:
                rows[count] = a
                count += 1
            for q in range(a + 1, a + n):
                strict[q] = states[a] != OPEN and c[k] > 0.0 and states[q] != 0
                if states[a] != OPEN and states[q] == 0:
                    rows[count] = q
                    count += 1
        for i in range(p):
            for j in range(p):
                S[i, j] = H[i, j]
        rank = 0
        for x in range(count):
            i = rows[x]
            pivot = S[i, i]
            if pivot < _ZERO:
                continue
            rank += 1
            for r in range(p):
                factor = S[r, i] / pivot
                if factor != 0.0 and r != i:
                    for j in range(p):
                        S[r, j] -= factor * S[i, j]
            for j in range(p):
                S[i, j] = 0.0
        if not _unreachable(g, S, states, strict):
            for x in range(count):
                for y in range(count):
                    j = rows[y]
                    entry = H[rows[x], j]
                    if j % n == 0:
                        for q in range(j + 1, j + n):
                            entry += states[q] * c[j // n] * H[rows[x], q]
                    A[x, y] = entry
            if rank < count:
                if _turns_around(count, rank, A, B):
                    return 1
            elif _sign(count, A) <= 0:
                return 1
        k = 0
        while k < m:
            mode[k] += 1
            if mode[k] < mode_count(g, 1.0, c[k]):
                break
            mode[k] = 0
            k += 1
        if k == m:
            return 0
    return -1
