"""Whether the increment LCPs of a configuration have one solution whatever the velocity: orientation of their map.

In x = z − w' the LCP of :mod:`.pivoting` is F(x) = −w with F piecewise linear; each piece is a mode of
:mod:`.increment_modes`. F − x is bounded, so that F has degree 1: the signs of the pieces' determinants at the
solutions of one LCP sum to 1. If all determinants are positive there is exactly one solution, whatever w and the caps
(:func:`coherent`). If one is negative there are three or more for some w; whether such a w is a velocity that the robot
can have is the question of :mod:`.folding`.
"""

from hybrid_contact_ros.kernels.compiling import kernel

_ZERO = 1e-9  # a pivot below counts as zero
_MOST_AXES = 6  # of a contact whose pieces are looked at one by one: there are 2·4^g codes of them
_DOMINANT = 0.99  # part of a pivot up to which the couplings with other contacts may add up


@kernel
def _dominant(g, H, c, A):
    """Whether every piece's matrix is block diagonally dominant by contacts, with blocks of positive determinant.

    Then no matrix between a piece and its block diagonal part is singular, so that the piece's determinant is positive
    too. This is much cheaper than looking at all pieces, and enough for robots whose feet hardly feel each other.
    A: scratch (≥ 1 + g, ≥ p).
    """
    p = H.shape[0]
    m = c.shape[0]
    n = 1 + g
    if g > _MOST_AXES:
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
                    if not total < _DOMINANT * A[q, a + q]:
                        return False
    return True


@kernel
def coherent(g, limit, H, c, T, ints):
    """Decide whether the increment LCP has exactly one solution for every velocity and all caps.

    This is Halm's Assumption 6, and more. It holds if and only if all pieces of F have positive determinants. These are
    found as products of pivots, in an order in which every leading product is the determinant of a piece too.

    Args:
        g: friction axes of a contact. limit: pieces to look at, at most.
        H: (p, p), scaled Delassus matrix, p = m (1 + g). c: (m,), bound of an axis' impulse per normal impulse.
        T: scratch (m + 1, p, ≥ p). ints: scratch (≥ 2, p) int64.

    Returns:
        1 if it has, 0 if not, −1 if that is not known within ``limit``.
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
