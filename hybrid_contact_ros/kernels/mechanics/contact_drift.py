"""The part of the drift of touching contacts that accelerations of the robot, and so contact forces, can balance."""

from __future__ import annotations

import math

from numba import njit

# A row whose part across all earlier ones is below this much of it depends on them.
_DEPENDENT = 1e-6


@njit(cache=True, nogil=True)
def balanced_drift(width, rows, touching, basis, values, drift):
    """Make J̇v of the contacts that touch one that J v̇ + J̇v = 0 can be solved for.

    Where rows depend on each other (points of one sole, feet of legs with few joints) their drifts do too, as long as
    the contacts hold: J v = 0. A measured v does not satisfy that, and by the squares of its rates, ω × (ω × ρ) of a
    sole's points, the contacts would have to move apart. No force could give that, so no mode were free of a residual.
    Gram-Schmidt over the rows with their drifts beside them finds each dependent row; its drift becomes the one that
    the earlier rows' drifts imply. Independent rows are left as they are.

    Args:
        width: rows of a contact. rows (m, width, nv). touching (m,) uint8.
        basis: scratch (m width, nv). values: scratch (m width,).
        drift: in and out (m, width).
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
            for _ in range(2):  # once more, since one pass loses the digits that tell dependence
                for j in range(found):
                    along = 0.0
                    for c in range(nv):
                        along += basis[j, c] * row[c]
                    for c in range(nv):
                        row[c] -= along * basis[j, c]
                    value -= along * values[j]
            left = 0.0
            for c in range(nv):
                left += row[c] * row[c]
            if left <= _DEPENDENT * _DEPENDENT * square:
                drift[i, k] -= value
                continue
            scale = 1.0 / math.sqrt(left)
            for c in range(nv):
                row[c] *= scale
            values[found] = value * scale
            found += 1
