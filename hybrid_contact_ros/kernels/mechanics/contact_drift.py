"""The part of the drift of touching contacts that accelerations of the robot, and so contact forces, can balance."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

# A row depends on the earlier ones where its part across all of them is below this part of its length.
_DEPENDENT = 1e-6
# Of the square of a row: where less remains after one pass, rounding may have left parts along the earlier rows.
_CANCELLED = 0.01


@kernel
def balanced_drift(width, rows, touching, basis, values, drift):
    """Change J̇v of the contacts that touch so that J v̇ + J̇v = 0 has a solution v̇.

    Where rows of J depend on each other (points of one sole, feet of legs with few joints) their drifts do too, as long
    as the contacts hold, J v = 0. A measured v does not satisfy that, and the squares of its rates, ω × (ω × ρ) at the
    points of a sole, ask the contacts to move apart. No force can do that, so that every mode would have a residual.
    Gram-Schmidt over the rows with their drifts beside them finds each dependent row, whose drift becomes the one that
    the drifts of the earlier rows imply. Independent rows are left as they are.

    Args:
        width: rows of one contact, 1 + d. rows: J (m, width, nv). touching: (m,) uint8.
        basis: scratch, (m width, nv). values: scratch, (m width,).
        drift: in and out, J̇v (m, width), m/s².
    """
    nv = rows.shape[2]
    found = 0
    for i in range(touching.shape[0]):
        if not touching[i]:
            continue
        for k in range(width):
            row = basis[found]
            square = 0.0
            for c in range(nv):
                row[c] = rows[i, k, c]
                square += row[c] * row[c]
            value, remainder = _reduce(nv, found, drift[i, k], basis, values)
            if remainder < _CANCELLED * square:  # one pass loses the digits that tell dependence
                value, remainder = _reduce(nv, found, value, basis, values)
            if remainder <= _DEPENDENT * _DEPENDENT * square:
                drift[i, k] -= value
                continue
            scale = 1.0 / math.sqrt(remainder)
            for c in range(nv):
                row[c] *= scale
            values[found] = value * scale
            found += 1


@kernel
def _reduce(nv, found, value, basis, values):
    """Take from row ``found`` of the basis its parts along the rows before it, and from ``value`` theirs.

    Returns (value, square of what remains of the row). Four rows are taken at once: their sums do not wait for each
    other.
    """
    row = basis[found]
    blocks = found // 4
    for block in range(blocks):
        j = 4 * block
        p, q, s, t = basis[j], basis[j + 1], basis[j + 2], basis[j + 3]
        a = b = c = d = 0.0
        for k in range(nv):
            entry = row[k]
            a += entry * p[k]
            b += entry * q[k]
            c += entry * s[k]
            d += entry * t[k]
        for k in range(nv):
            row[k] -= (a * p[k] + b * q[k]) + (c * s[k] + d * t[k])
        value -= (a * values[j] + b * values[j + 1]) + (c * values[j + 2] + d * values[j + 3])
    for j in range(4 * blocks, found):
        along = 0.0
        for k in range(nv):
            along += basis[j, k] * row[k]
        for k in range(nv):
            row[k] -= along * basis[j, k]
        value -= along * values[j]
    remainder = 0.0
    for k in range(nv):
        remainder += row[k] * row[k]
    return value, remainder
