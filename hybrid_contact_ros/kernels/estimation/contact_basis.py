"""An orthonormal basis of what contacts may push along, row by row of J, and what of a vector is across it."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

_DEPENDENT = 0.03  # A row is left out where less than this part of it is across the rows before it (a straight leg).


@kernel
def add_row(found, row, scale, scratch):
    """Make the part of a row of J across the basis its next member, if there is one. Returns whether there is.

    Args:
        found: members so far. row: (nv,). scale: (nv,), into parts of the weight. scratch: TrustScratch; ``root`` is
            read, ``basis`` and ``triangle`` get a row, ``part`` is overwritten.
    """
    nv, new, triangle = row.shape[0], scratch.basis[found], scratch.triangle[found]
    square = 0.0
    for k in range(nv):
        new[k] = row[k] * scale[k] * scratch.root[k]
        square += new[k] * new[k]
    for a in range(found):
        triangle[a] = 0.0
    # What is left after once is orthogonal to round-off unless most of the row was taken off; after twice it always is.
    rest = 0.5 * square
    for again in range(2):
        if again == 1 and rest >= 0.5 * square:
            break
        take_off(found, scratch.basis, new, scratch.part)
        for a in range(found):
            triangle[a] += scratch.part[a]
        rest = 0.0
        for k in range(nv):
            rest += new[k] * new[k]
    if not rest > _DEPENDENT * _DEPENDENT * square:
        return False
    triangle[found] = math.sqrt(rest)
    for k in range(nv):
        new[k] /= triangle[found]
    return True


@kernel
def left_entry(found, basis, k, m):
    """Entry (k, m) of the projection that takes off the parts along the basis: 1 − Σ bᵀb."""
    total = 1.0 if k == m else 0.0
    for i in range(found):
        total -= basis[i, k] * basis[i, m]
    return total


@kernel
def take_off(found, basis, vector, part):
    """Take from a vector (nv,) its parts along the basis, which become ``part``."""
    nv = vector.shape[0]
    for a in range(found):
        row = basis[a]
        total = 0.0
        for k in range(nv):
            total += row[k] * vector[k]
        part[a] = total
        for k in range(nv):
            vector[k] -= total * row[k]


@kernel
def take_off_rows(found, basis, rows, first):
    """Take from each row (nv,) from ``first`` on its parts along the basis: four at once, since the sums of one
    wait for each other."""
    count, nv = rows.shape
    blocks = (count - first) // 4
    for a in range(found):
        row = basis[a]
        for block in range(blocks):
            i = first + 4 * block
            x = y = z = w = 0.0
            for k in range(nv):
                x += row[k] * rows[i, k]
                y += row[k] * rows[i + 1, k]
                z += row[k] * rows[i + 2, k]
                w += row[k] * rows[i + 3, k]
            for k in range(nv):
                rows[i, k] -= x * row[k]
                rows[i + 1, k] -= y * row[k]
                rows[i + 2, k] -= z * row[k]
                rows[i + 3, k] -= w * row[k]
        for i in range(first + 4 * blocks, count):
            total = 0.0
            for k in range(nv):
                total += row[k] * rows[i, k]
            for k in range(nv):
                rows[i, k] -= total * row[k]
