"""The part of the drift of touching contacts that accelerations of the robot, and so contact forces, can balance."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

# A row depends on the earlier ones where its part across all of them is below this part of its length.
_DEPENDENT = 1e-6


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
            value = drift[i, k]
            for _ in range(2):  # twice, since one pass loses the digits that tell dependence
                for j in range(found):
                    along = 0.0
                    for c in range(nv):
                        along += basis[j, c] * row[c]
                    for c in range(nv):
                        row[c] -= along * basis[j, c]
                    value -= along * values[j]
            remainder = 0.0
            for c in range(nv):
                remainder += row[c] * row[c]
            if remainder <= _DEPENDENT * _DEPENDENT * square:
                drift[i, k] -= value
                continue
            scale = 1.0 / math.sqrt(remainder)
            for c in range(nv):
                row[c] *= scale
            values[found] = value * scale
            found += 1
