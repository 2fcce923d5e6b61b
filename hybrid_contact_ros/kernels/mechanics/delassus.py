"""The Delassus matrix G = J M⁻¹ Jᵀ: what a unit force at one contact does to the acceleration of another."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, forward_solve
from hybrid_contact_ros.kernels.compiling import kernel

_SOLVED = int(Status.SOLVED)
_SINGULAR = int(Status.SINGULAR)


@kernel
def delassus(tolerance, mass, rows, L, half, G):
    """Factor the mass matrix, M = L Lᵀ, and compute G = J M⁻¹ Jᵀ as (L⁻¹Jᵀ)ᵀ (L⁻¹Jᵀ).

    Args:
        tolerance: a pivot of M below ``tolerance`` times its largest diagonal entry counts as zero.
        mass: M (nv, nv), read in its lower triangle. rows: J (n, nv).
        L: out, (nv, nv), lower triangle written. half: out, (n, nv), the rows L⁻¹Jᵀ.
        G: out, (n, n), 1/kg for contacts without rotation.

    Returns:
        SOLVED, or SINGULAR where M is not positive definite (massless limbs) or not finite; then only L was touched.
    """
    nv = mass.shape[0]
    n = rows.shape[0]
    if cholesky_factor(nv, tolerance, mass, L) < nv:
        return _SINGULAR
    for i in range(n):
        for k in range(nv):
            half[i, k] = rows[i, k]
        forward_solve(nv, L, half[i])
        for j in range(i + 1):
            total = 0.0
            for k in range(nv):
                total += half[i, k] * half[j, k]
            G[i, j] = total
            G[j, i] = total
    return _SOLVED
