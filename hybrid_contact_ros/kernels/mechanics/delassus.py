"""The Delassus matrix G = J M⁻¹ Jᵀ: what a unit force at one contact does to the acceleration of another."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, forward_rows, row_products
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
    forward_rows(nv, n, L, half)
    row_products(nv, n, half, G)
    return _SOLVED
