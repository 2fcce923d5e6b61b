"""Small dense linear algebra on preallocated arrays, for use inside other kernels.

For the sizes that occur here (up to some tens) plain loops are faster than LAPACK called from numba, allocate nothing,
and return the rank instead of raising. All matrices are C-contiguous float64. Only the leading ``n`` rows and columns
of an argument are read or written, so that scratch may be larger than the problem.
"""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel


@kernel
def cholesky_factor(n, tolerance, A, L):
    """Factor a symmetric positive definite A = L Lᵀ.

    Args:
        n: size. tolerance: a pivot below ``tolerance`` times the largest diagonal entry of A counts as zero.
        A: (n, n), of which the lower triangle is read.
        L: out, (n, n), of which the lower triangle is written; may be A itself.

    Returns:
        The number of pivots found before the first that is not positive: n when A is definite.
    """
    largest = 0.0
    for i in range(n):
        if A[i, i] > largest:
            largest = A[i, i]
    floor = tolerance * largest
    for j in range(n):
        pivot = A[j, j]
        for k in range(j):
            pivot -= L[j, k] * L[j, k]
        if not pivot > floor:  # also catches NaN
            return j
        root = pivot**0.5
        L[j, j] = root
        inverse = 1.0 / root
        blocks = (n - j - 1) // 4
        for block in range(blocks):  # four rows at once: their sums do not wait for each other
            i = j + 1 + 4 * block
            a, b, c, d = A[i, j], A[i + 1, j], A[i + 2, j], A[i + 3, j]
            for k in range(j):
                entry = L[j, k]
                a -= L[i, k] * entry
                b -= L[i + 1, k] * entry
                c -= L[i + 2, k] * entry
                d -= L[i + 3, k] * entry
            L[i, j], L[i + 1, j], L[i + 2, j], L[i + 3, j] = a * inverse, b * inverse, c * inverse, d * inverse
        for i in range(j + 1 + 4 * blocks, n):
            total = A[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total * inverse
    return n


@kernel
def cholesky_solve(n, L, x):
    """Solve L Lᵀ x = b in place: ``x`` (n,) holds b on entry and the solution afterwards."""
    forward_solve(n, L, x)
    backward_solve(n, L, x)


@kernel
def forward_solve(n, L, x):
    """Solve L y = b in place, the first half of :func:`cholesky_solve`: ``x`` (n,) holds b on entry, y afterwards."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]


@kernel
def forward_rows(n, count, L, X):
    """Solve L y = b in place for each of the first ``count`` rows of X (count, n): four at once, since the sums of one
    wait for each other."""
    blocks = count // 4
    for block in range(blocks):
        r = 4 * block
        for i in range(n):
            a, b, c, d = X[r, i], X[r + 1, i], X[r + 2, i], X[r + 3, i]
            for k in range(i):
                entry = L[i, k]
                a -= entry * X[r, k]
                b -= entry * X[r + 1, k]
                c -= entry * X[r + 2, k]
                d -= entry * X[r + 3, k]
            inverse = 1.0 / L[i, i]
            X[r, i], X[r + 1, i], X[r + 2, i], X[r + 3, i] = a * inverse, b * inverse, c * inverse, d * inverse
    for r in range(4 * blocks, count):
        forward_solve(n, L, X[r])


@kernel
def row_products(n, count, X, G):
    """G = X Xᵀ of the first ``count`` rows of X (count, n); G (count, count) is written whole."""
    for i in range(count):
        blocks = (i + 1) // 4
        for block in range(blocks):
            j = 4 * block
            a = b = c = d = 0.0
            for k in range(n):
                entry = X[i, k]
                a += entry * X[j, k]
                b += entry * X[j + 1, k]
                c += entry * X[j + 2, k]
                d += entry * X[j + 3, k]
            G[i, j], G[i, j + 1], G[i, j + 2], G[i, j + 3] = a, b, c, d
            G[j, i], G[j + 1, i], G[j + 2, i], G[j + 3, i] = a, b, c, d
        for j in range(4 * blocks, i + 1):
            total = 0.0
            for k in range(n):
                total += X[i, k] * X[j, k]
            G[i, j] = total
            G[j, i] = total


@kernel
def backward_solve(n, L, x):
    """Solve Lᵀ x = y in place, the second half of :func:`cholesky_solve`."""
    for i in range(n - 1, -1, -1):
        value = x[i] / L[i, i]
        x[i] = value
        for k in range(i):  # by rows of L, as they lie in memory
            x[k] -= L[i, k] * value


@kernel
def lu_factor(n, tolerance, A, order):
    """Factor a square A in place with partial pivoting, P A = L U.

    Args:
        n: size. tolerance: a pivot below ``tolerance`` times the largest entry of its column of A counts as zero.
        A: in and out, (n, n): L below the diagonal (unit diagonal), U on and above it.
        order: out, (n,) int64: row i of the factors is row order[i] of A.

    Returns:
        The number of pivots found before the first that is zero: n when A is regular. This is a lower bound on the
        rank, and equal to it when the columns are in general position.
    """
    for i in range(n):
        order[i] = i
    for j in range(n):
        largest = 0.0
        for i in range(n):
            value = abs(A[i, j])
            if value > largest:
                largest = value
        best = j
        size = abs(A[j, j])
        for i in range(j + 1, n):
            value = abs(A[i, j])
            if value > size:
                best = i
                size = value
        # ``largest`` is that of the whole column, U included: a column whose lower part cancelled has kept its size
        # there.
        if not size > tolerance * largest:
            return j
        if best != j:
            for k in range(n):
                swap = A[j, k]
                A[j, k] = A[best, k]
                A[best, k] = swap
            row = order[j]
            order[j] = order[best]
            order[best] = row
        inverse = 1.0 / A[j, j]
        for i in range(j + 1, n):
            factor = A[i, j] * inverse
            A[i, j] = factor
            if factor != 0.0:
                # Unsigned: an index that might be negative, and so count from the end, keeps a loop from vector units.
                for k in range(np.uint64(j + 1), np.uint64(n)):
                    A[i, k] -= factor * A[j, k]
    return n


@kernel
def lu_solve(n, A, order, b, x):
    """Solve A x = b with the factors of :func:`lu_factor`; b (n,) is read, x (n,) is written, and they must not
    overlap."""
    for i in range(n):
        total = b[order[i]]
        for k in range(i):
            total -= A[i, k] * x[k]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= A[i, k] * x[k]
        x[i] = total / A[i, i]
