"""The velocities that no contact impulse changes: an M-orthonormal basis of the null space of the contact rows."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import backward_solve, cholesky_factor, forward_rows
from hybrid_contact_ros.kernels.compiling import kernel

_SOLVED, _SINGULAR, _INACCURATE = int(Status.SOLVED), int(Status.SINGULAR), int(Status.INACCURATE)
_MASS_PIVOT = 1e-14  # of the largest diagonal entry of M: with a smaller pivot M counts as singular
_DEPENDENT = 1e-8  # of the largest ‖L⁻¹Jᵢᵀ‖: a contact row with no more than this beside the others is one of them
_PLAIN = 0.1  # of √M_jj: a coordinate with more than this beside what is spanned already may lead the next row
_RESIDUAL = 1e-7  # scaled: largest residual of a basis that counts as solved


@kernel
def _cleaned(n, count, span, at):
    """Take from span[at] its parts along the first ``count`` rows, twice for accuracy; returns the norm of the rest."""
    row = span[at]
    for _ in range(2):
        for i in range(count):
            other = span[i]
            part = 0.0
            for k in range(n):
                part += other[k] * row[k]
            for k in range(n):
                row[k] -= part * other[k]
    total = 0.0
    for k in range(n):
        total += row[k] * row[k]
    return math.sqrt(total)


@kernel
def _orthonormal_rows(n, count, span):
    """Make orthonormal rows of the first ``count`` rows of ``span``, the largest remainder first.

    Returns:
        (their number, which is the rank; the norm of the largest row).
    """
    largest = 0.0
    rank = 0
    while rank < min(count, n):
        most = 0.0
        best = rank
        for i in range(rank, count):
            total = 0.0
            for k in range(n):
                total += span[i, k] * span[i, k]
            if total > most:
                most = total
                best = i
        if rank == 0:
            largest = math.sqrt(most)
        if best != rank:
            for k in range(n):
                other = span[rank, k]
                span[rank, k] = span[best, k]
                span[best, k] = other
        size = _cleaned(n, rank, span, rank)
        if not size > _DEPENDENT * largest:
            break
        lead = span[rank]
        for k in range(n):
            lead[k] /= size
        rank += 1
        for i in range(rank, count):
            part = 0.0
            for k in range(n):
                part += lead[k] * span[i, k]
            for k in range(n):
                span[i, k] -= part * lead[k]
    return rank, largest


@kernel
def _complete(n, rank, rows, L, span):
    """Complete ``rank`` orthonormal rows of ``span`` to n by coordinate directions Lᵀeⱼ; returns how many there are.

    Coordinates that no contact row has come first, then the others, each in their order; those that have little beside
    what is spanned wait for a next turn. Every row therefore points along its own coordinate, whatever rounding says.
    """
    found = rank
    threshold = _PLAIN
    while found < n and threshold > 1e-12:
        for turn in range(2):
            for j in range(n):
                if found == n:
                    break
                moves = 0
                for i in range(rows.shape[0]):
                    if rows[i, j] != 0.0:
                        moves = 1
                        break
                if moves != turn:
                    continue
                size = 0.0
                for k in range(n):
                    span[found, k] = L[j, k] if k <= j else 0.0
                    size += span[found, k] * span[found, k]
                left = _cleaned(n, found, span, found)
                if left > threshold * math.sqrt(size):
                    for k in range(n):
                        span[found, k] /= left
                    found += 1
        threshold *= 0.1
    return found


@kernel
def invariant_basis(mass, rows, L, span, basis):
    """Rows B with J Bᵀ = 0 and B M Bᵀ = 1, for M = L Lᵀ and the contact rows J.

    With y = Lᵀv the kinetic norm is Euclidean: the rows L⁻¹Jᵀ are made orthonormal, the coordinate directions complete
    them, and B = Z L⁻¹ of these. B has n − rank J rows.

    Args:
        mass: M (n, n), its lower triangle is read. rows: J (r, n), of any rank.
        L: scratch and out, (n, n): M = L Lᵀ in its lower triangle. span: scratch, (≥ max(r, n), n).
        basis: out, (n, n), of which the first n − rank rows are written.

    Returns:
        (status, rank of J, residual): SINGULAR where M is not positive definite, and then without a basis. The residual
        is the larger of |B M Bᵀ − 1| and |J Bᵀ| over the largest ‖L⁻¹Jᵢᵀ‖.
    """
    n = mass.shape[0]
    count = rows.shape[0]
    if cholesky_factor(n, _MASS_PIVOT, mass, L) < n:
        return _SINGULAR, 0, 0.0
    for i in range(count):
        for k in range(n):
            span[i, k] = rows[i, k]
    forward_rows(n, count, L, span)
    rank, largest = _orthonormal_rows(n, count, span)
    found = _complete(n, rank, rows, L, span)
    free = found - rank
    for i in range(free):
        for k in range(n):
            basis[i, k] = span[rank + i, k]
        backward_solve(n, L, basis[i])
    residual = 0.0
    for i in range(free):
        moved = span[0]
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += (mass[j, k] if k <= j else mass[k, j]) * basis[i, k]
            moved[j] = total
        for a in range(free):
            total = -1.0 if a == i else 0.0
            for k in range(n):
                total += basis[a, k] * moved[k]
            residual = max(residual, abs(total))
        for a in range(count):
            total = 0.0
            for k in range(n):
                total += rows[a, k] * basis[i, k]
            if largest > 0.0:
                residual = max(residual, abs(total) / largest)
    return _SOLVED if found == n and residual <= _RESIDUAL else _INACCURATE, rank, residual
