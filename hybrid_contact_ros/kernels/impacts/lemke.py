"""Lemke's method on a dense LCP: the independent oracle for the contact-space solver, and for small LCPs elsewhere."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
PIVOT_LIMIT = int(Status.PIVOT_LIMIT)

_ENTRY = 1e-11  # column entries below take no part in the ratio test
_EQUAL = 1e-12  # relative: ratios this close are equal, and the next column of the inverse decides


@kernel
def _leaving_row(T, column, artificial):
    """Lexicographic minimum ratio test: the row with the lexicographically least (rhs, B⁻¹) / entry, or −1.

    The first n columns of T are B⁻¹ (they started as the identity). The artificial variable wins every tie in the
    right-hand side, because the method ends with a solution when that variable leaves.
    """
    n = T.shape[0]
    last = T.shape[1] - 1
    best = -1
    for r in range(n):
        entry = T[r, column]
        if not entry > _ENTRY:
            continue
        if best < 0:
            best = r
            continue
        for k in range(n + 1):
            j = last if k == 0 else k - 1
            here = T[r, j] / entry
            there = T[best, j] / T[best, column]
            slack = _EQUAL * (1.0 + abs(here) + abs(there))
            if here < there - slack:
                best = r
                break
            if here > there + slack:
                break
            if k == 0 and r == artificial:
                best = r
                break
            if k == 0 and best == artificial:
                break
    return best


@kernel
def lemke(limit, W, q, T, basis, z):
    """Find z with w = W z + q ≥ 0, z ≥ 0, zᵀ w = 0.

    This is Lemke's complementary pivoting with covering vector 1 and a lexicographic ratio test (Cottle, Pang, Stone,
    ch. 4). The problem is to be scaled first, because tolerances are absolute.

    Args:
        limit: of pivots. W: (n, n). q: (n,).
        T: scratch, (n, 2 n + 2). basis: scratch, (n,) int64.
        z: out, (n,).

    Returns:
        (status, pivots): SOLVED; PIVOT_LIMIT; RAY where the method ends on a secondary ray, which for the copositive
        LCPs of impacts only rounding can cause.
    """
    n = q.shape[0]
    rhs = 2 * n + 1
    cover = 2 * n
    least = 0
    for i in range(n):
        z[i] = 0.0
        if q[i] < q[least]:
            least = i
    if n == 0 or q[least] >= 0.0:
        return SOLVED, 0
    for i in range(n):
        for j in range(n):
            T[i, j] = 1.0 if i == j else 0.0
            T[i, n + j] = -W[i, j]
        T[i, cover] = -1.0
        T[i, rhs] = q[i]
        basis[i] = i
    row = least
    entering = cover
    for pivots in range(1, limit + 1):
        scale = T[row, entering]
        for j in range(rhs + 1):
            T[row, j] = T[row, j] / scale  # not × 1/scale: x/x is exactly 1
        for r in range(n):
            if r != row:
                factor = T[r, entering]
                if factor != 0.0:
                    for j in range(rhs + 1):
                        T[r, j] -= factor * T[row, j]
                    T[r, entering] = 0.0
        leaving = basis[row]
        basis[row] = entering
        if leaving == cover:
            for r in range(n):
                if basis[r] >= n and basis[r] < cover:
                    z[basis[r] - n] = max(T[r, rhs], 0.0)
            return SOLVED, pivots
        entering = leaving + n if leaving < n else leaving - n
        artificial = -1
        for r in range(n):
            if basis[r] == cover:
                artificial = r
        row = _leaving_row(T, entering, artificial)
        if row < 0:
            return RAY, pivots
    return PIVOT_LIMIT, limit


@kernel
def lcp_residual(W, q, z):
    """Largest component of |min(z, W z + q)|: how far z (n,) is from solving the LCP of W (n, n) and q (n,)."""
    worst = 0.0
    for i in range(q.shape[0]):
        s = q[i]
        for j in range(q.shape[0]):
            s += W[i, j] * z[j]
        part = abs(min(z[i], s))
        if not part <= worst:
            worst = part
    return worst
