"""Small linear systems that may be singular, with right sides in their range."""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel

_RANK = 1e-10  # smaller pivots, relative to the largest, are zero


@kernel
def eliminate(size, width, tableau, order):
    """Solve A X = B in place, for the tableau [A | B] (size, size + width): X takes the place of B.

    Where A is singular, and B lies in its range, X is one of the solutions. Pivots are sought in the whole matrix.

    Returns:
        The rank.
    """
    for k in range(size):
        order[k] = k
    largest, rank = 0.0, size
    for k in range(size):
        row, column, best = k, k, 0.0
        for r in range(k, size):
            for e in range(k, size):
                if abs(tableau[r, e]) > best:
                    row, column, best = r, e, abs(tableau[r, e])
        largest = max(largest, best)
        if best <= _RANK * largest or best == 0.0:
            rank = k
            break
        if column != k:
            order[k], order[column] = order[column], order[k]
            for r in range(size):
                tableau[r, k], tableau[r, column] = tableau[r, column], tableau[r, k]
        if row != k:
            for e in range(size + width):
                tableau[k, e], tableau[row, e] = tableau[row, e], tableau[k, e]
        scale = 1.0 / tableau[k, k]
        for e in range(k, size + width):
            tableau[k, e] *= scale
        for r in range(size):
            factor = tableau[r, k]
            if r != k and factor != 0.0:
                for e in range(k, size + width):
                    tableau[r, e] -= factor * tableau[k, e]
    for k in range(rank, size):
        for e in range(width):
            tableau[k, size + e] = 0.0
    # Unknowns back into their order: one cycle of the permutation after the other.
    for k in range(size):
        while order[k] != k:
            other = order[k]
            for e in range(size, size + width):
                tableau[k, e], tableau[other, e] = tableau[other, e], tableau[k, e]
            order[k], order[other] = order[other], order[k]
    return rank
