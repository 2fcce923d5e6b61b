"""Whether the increment LCPs of a configuration have one solution: the orientation of the map behind them.

In x = z − w' the LCP of :mod:`.pivoting` is F(x) = −w with F piecewise linear, one piece a mode of
:mod:`.increment_modes`. F − x is bounded, so that F has degree 1: the signs of the pieces' determinants at the
solutions of one LCP sum to 1. If all determinants are positive there is exactly one solution, whatever w and the caps
(:func:`coherent`); if one is negative there are three or more for some w.

Such w need not be velocities of the robot, w = J v. A piece where no velocity of the robot has the signs that it asks
for holds only solutions that another piece has too, and where rows of J depend on each other a zero determinant only
says that impulses are shared arbitrarily. :func:`fold` looks for a negative piece beyond these.
"""

from numba import njit

from hybrid_contact_ros.kernels.impacts.increment_modes import ACTIVE, OPEN, decode, mode_count

_ZERO = 1e-9  # a pivot below counts as zero
_AXES = 6  # more than these make too many pieces of a contact
_SHARED = 8  # unknowns of a mode whose rows depend on each other: with more it is not looked into


@njit(cache=True, nogil=True, error_model="numpy")
def _dominant(g, H, c, A):
    """Whether every piece's matrix is block diagonally dominant by contacts, with positive diagonal determinants.

    Then no piece is singular on the way to its block diagonal part, and its determinant is positive: much cheaper than
    looking at all pieces, and enough for robots whose feet hardly feel each other. Scratch A (≥ 1 + g, ≥ p).
    """
    p = H.shape[0]
    m = c.shape[0]
    n = 1 + g
    if g > _AXES:
        return False
    pieces = 1
    for _ in range(g):
        pieces *= 4
    for k in range(m):
        a = k * n
        for active in range(2):
            for piece in range(pieces):
                rest = piece
                for q in range(n):
                    for j in range(p):
                        A[q, j] = H[a + q, j]
                skip = False
                for q in range(1, n):
                    state = rest % 4  # 0 sticks, 1 and 2 slide; which way does not matter unless the contact is active
                    rest //= 4
                    if state == 3 or (state == 2 and not active) or (state == 0 and c[k] == 0.0):
                        skip = True
                        break
                    sigma = 1.0 if state == 1 else -1.0
                    if state != 0:
                        for x in range(n):
                            A[x, a] += sigma * c[k] * A[x, a + q]
                if skip:
                    continue
                rest = piece << 2  # digit 0 for the normal
                used = 0
                for q in range(n):
                    state = rest % 4
                    rest //= 4
                    if not (active if q == 0 else state == 0):
                        for x in range(n):
                            A[x, a + q] = 0.0  # no unknown of this piece
                        continue
                    used += 1
                    pivot = A[q, a + q]
                    if not pivot > _ZERO:
                        return False
                    for x in range(n):
                        if x != q:
                            factor = A[x, a + q] / pivot
                            if factor != 0.0:
                                for j in range(p):
                                    A[x, j] -= factor * A[q, j]
                if used == 0:
                    continue
                rest = piece << 2
                for q in range(n):
                    state = rest % 4
                    rest //= 4
                    if not (active if q == 0 else state == 0):
                        continue
                    total = 0.0
                    for i in range(m):
                        if i != k:
                            b = i * n
                            total += abs(A[q, b])
                            for j in range(b + 1, b + n):
                                total += max(1.0, c[i]) * abs(A[q, j])
                    if not total < 0.99 * A[q, a + q]:
                        return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def coherent(g, limit, H, c, T, ints):
    """Whether the increment LCP has exactly one solution for every velocity and all caps (H Assumption 6, and more).

    True if and only if all pieces of F have positive determinants. They come as products of
    pivots, in an order in which every leading one is the determinant of a piece too. limit: pieces to look at, at most;
    scratch T (m + 1, p, ≥ p), ints (≥ 2, p). Returns 1 yes, 0 no, −1 not known.
    """
    p = H.shape[0]
    m = c.shape[0]
    n = 1 + g
    if m == 0 or _dominant(g, H, c, T[0]):
        return 1
    piece = ints[0]
    states = ints[1]
    for i in range(p):
        for j in range(p):
            T[0, i, j] = H[i, j]
    subsets = 1
    signs = 1
    for _ in range(g):
        subsets *= 2
        signs *= 3
    k = 0
    piece[0] = 0
    nodes = 0
    while k >= 0:
        rubs = c[k] > 0.0
        if piece[k] == (subsets + signs if rubs else 2):
            k -= 1
            if k >= 0:
                piece[k] += 1
            continue
        if nodes == limit:
            return -1
        nodes += 1
        a = k * n
        active = piece[k] >= (subsets if rubs else 1)
        rest = piece[k] - subsets if active else piece[k]
        for q in range(a + 1, a + n):
            if not rubs:
                states[q] = 1
            elif active:
                states[q] = rest % 3 - 1
                rest //= 3
            else:
                states[q] = rest % 2
                rest //= 2
        S = T[k]
        N = T[k + 1]
        first = a + n
        for i in range(a, p):
            for j in range(first, p):
                N[i, j] = S[i, j]
            along = S[i, a]
            for q in range(a + 1, first):
                N[i, q] = S[i, q]
                along += states[q] * c[k] * S[i, q]
            N[i, a] = along
        for q in range(first - 1, a - 1, -1):
            if states[q] != 0 if q > a else not active:
                continue
            pivot = N[q, q]
            if not pivot > _ZERO:
                return 0
            for i in range(a, p):
                if i != q:
                    factor = N[i, q] / pivot
                    if factor != 0.0:
                        for j in range(first, p):
                            N[i, j] -= factor * N[q, j]
                        for j in range(a, q):
                            N[i, j] -= factor * N[q, j]
        if k < m - 1:
            k += 1
            piece[k] = 0
        else:
            piece[k] += 1
    return 1


@njit(cache=True, nogil=True, error_model="numpy")
def _unreachable(g, S, states, strict):
    """Whether the signs that the rows in ``strict`` ask for force one more of them to rest, as far as pairs tell.

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


@njit(cache=True, nogil=True, error_model="numpy")
def _asked(i, n, states):
    """The sign of w'_i that a mode asks for."""
    if i % n == 0:
        return 1.0 if states[i] == OPEN else -1.0
    return -float(states[i])


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _turns(count, rank, A, B):
    """Whether principal minors of order ``rank`` of A (count, count) say that a piece may turn the map around.

    Where its rows depend on each other (rank < count) contacts share impulses in some way Λ > 0, and the orientation
    Σ_S Λ_S det A_SS, by Cauchy and Binet over the sets S of ``rank`` rows, must be positive for all of them.
    """
    if count > _SHARED and rank < count:
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


@njit(cache=True, nogil=True, error_model="numpy")
def fold(g, limit, H, c, S, A, B, ints):
    """Whether a piece that velocities of the robot reach may turn the map around, so that solutions come in threes.

    For every mode: its rows at rest (active normals, sticking axes) and the impulses that it leaves free give the
    matrix whose orientation :func:`_turns` tells. Modes that only a set of measure zero can lead to are left out, as
    far as pairs of rows tell: their velocities have more rows at rest than their impulses have freedom. No is an
    indication, not a proof.
    limit: modes to look at, at most; scratch S, A, B (p, p), ints (≥ 5, p). Returns 1 yes, 0 no, −1 not known.
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
                if _turns(count, rank, A, B):
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
