"""One step towards the configuration where given contacts touch together."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.sensitivity.elimination import eliminate

_MASS_PIVOT = 1e-13  # as in kernels/mechanics/contact_space.py


@kernel
def corner_step(
    # problem:
    mass, rows, gap, which,
    # scratch:
    factor, lift, tableau, order,
    # out:
    step,
):  # fmt: skip
    """Write the least step in the kinetic metric that closes the gaps to first order, −M⁻¹Jᵀ(JM⁻¹Jᵀ)⁻¹φ.

    Args:
        mass: M (nv, nv). rows: J (m, 3, nv), gap: φ (m,), of all contacts. which: (c,), those that are to touch.
        factor: (nv, nv), lift: (c, nv), tableau: (c, c + 1), order: (c,): scratch. step: out, (nv,).

    Returns:
        (the largest |φ|, m; the length of the step, √J s). NaN where M is not positive definite.
    """
    nv, c = mass.shape[0], which.shape[0]
    largest = 0.0
    for a in range(c):
        largest = max(largest, abs(gap[which[a]]))
        if not math.isfinite(gap[which[a]]):
            return math.nan, math.nan
    if cholesky_factor(nv, _MASS_PIVOT, mass, factor) < nv:
        return math.nan, math.nan
    for a in range(c):
        for k in range(nv):
            lift[a, k] = rows[which[a], 0, k]
        cholesky_solve(nv, factor, lift[a])
        for b in range(a + 1):
            total = 0.0
            for k in range(nv):
                total += lift[a, k] * rows[which[b], 0, k]
            tableau[a, b] = tableau[b, a] = total
        tableau[a, c] = gap[which[a]]
    eliminate(c, 1, tableau, order)
    length = 0.0
    for k in range(nv):
        step[k] = 0.0
    for a in range(c):
        length += gap[which[a]] * tableau[a, c]
        for k in range(nv):
            step[k] -= lift[a, k] * tableau[a, c]
    return largest, math.sqrt(max(length, 0.0))
