"""The rank of a word's saltation matrix, by its blocks."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.sensitivity.local_model import dot

_RANK = 1e-9  # of the largest entry: smaller pivots are zero
_REACHED = 1e-8  # of the largest entry of B: smaller images are rounding


@kernel
def rank_of(steps, matrix, levels, small, echelon):
    """The rank of S = [Q 0; B V] (2 nv, 2 nv) of a word of so many impacts.

    A vector that S loses has Q δq = 0, and V δv = −B δq. So many are lost as V loses, and Q, less those of the latter
    whose B δq is none of V. Q is 1 + L T with the columns L of lifts and rows T of τ: what it loses is L ξ with
    (1 + T L) ξ = 0.
    """
    nv = matrix.shape[0] // 2
    for e in range(steps):
        for f in range(steps):
            small[e, f] = dot(levels.tau[e], levels.lift[f], nv) + (1.0 if e == f else 0.0)
    null = _null_vectors(steps, small)
    for i in range(nv):
        for k in range(nv):
            echelon[i, k] = matrix[nv + i, nv + k]
    for f in range(null):
        size = 0.0
        for i in range(nv):
            total = 0.0
            for e in range(steps):
                total += levels.lift[e, i] * small[e, steps + f]
            echelon[i, nv + null] = total
            size += total * total
        scale = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
        for i in range(nv):
            total = 0.0
            for k in range(nv):
                total += matrix[nv + i, k] * echelon[k, nv + null]
            echelon[i, nv + f] = total * scale
    largest = 0.0
    for i in range(nv):
        for k in range(nv):
            largest = max(largest, abs(matrix[nv + i, k]))
    rank = _reduce(nv, nv + null, echelon)
    # What is left below the rows of V are the images that V does not reach.
    more = 0
    for e in range(null):
        best, row = _REACHED * largest, -1
        for i in range(rank + more, nv):
            if abs(echelon[i, nv + e]) > best:
                best, row = abs(echelon[i, nv + e]), i
        if row < 0:
            continue
        for k in range(nv, nv + null):
            echelon[row, k], echelon[rank + more, k] = echelon[rank + more, k], echelon[row, k]
        for i in range(rank + more + 1, nv):
            factor = echelon[i, nv + e] / echelon[rank + more, nv + e]
            for k in range(nv, nv + null):
                echelon[i, k] -= factor * echelon[rank + more, k]
        more += 1
    return nv - null + rank + more


@kernel
def _reduce(size, width, matrix):
    """Row echelon form of the first ``size`` rows and columns of a matrix, whose ``width`` columns follow; the rank."""
    rank, largest = 0, 0.0
    for i in range(size):
        for k in range(size):
            largest = max(largest, abs(matrix[i, k]))
    for column in range(size):
        row, best = -1, _RANK * largest
        for i in range(rank, size):
            if abs(matrix[i, column]) > best:
                row, best = i, abs(matrix[i, column])
        if row < 0:
            continue
        if row != rank:
            for k in range(width):
                matrix[row, k], matrix[rank, k] = matrix[rank, k], matrix[row, k]
        pivot = matrix[rank]
        for i in range(rank + 1, size):
            factor = matrix[i, column] / pivot[column]
            if factor != 0.0:
                below = matrix[i]
                for k in range(column, width):
                    below[k] -= factor * pivot[k]
        rank += 1
        if rank == size:
            break
    return rank


@kernel
def _null_vectors(size, matrix):
    """Write null vectors of the first ``size`` rows and columns behind those columns; returns how many there are."""
    # Reduced echelon form with pivots sought in the whole matrix; unknowns are told by their place in the last column.
    order = 2 * size
    largest, rank = 1.0, size  # the matrix is 1 and more
    for k in range(size):
        matrix[k, order] = k
    for k in range(size):
        row, column, best = k, k, 0.0
        for i in range(k, size):
            for e in range(k, size):
                if abs(matrix[i, e]) > best:
                    row, column, best = i, e, abs(matrix[i, e])
        largest = max(largest, best)
        if best <= _RANK * largest or best == 0.0:
            rank = k
            break
        for e in range(size):
            matrix[k, e], matrix[row, e] = matrix[row, e], matrix[k, e]
        for i in range(size):
            matrix[i, k], matrix[i, column] = matrix[i, column], matrix[i, k]
        matrix[k, order], matrix[column, order] = matrix[column, order], matrix[k, order]
        for i in range(size):
            factor = matrix[i, k] / matrix[k, k]
            if i != k and factor != 0.0:
                for e in range(k, size):
                    matrix[i, e] -= factor * matrix[k, e]
    for f in range(size - rank):
        for i in range(size):
            matrix[i, size + f] = 0.0
        matrix[int(matrix[rank + f, order]), size + f] = 1.0
        for i in range(rank):
            matrix[int(matrix[i, order]), size + f] = -matrix[i, rank + f] / matrix[i, i]
    return size - rank
