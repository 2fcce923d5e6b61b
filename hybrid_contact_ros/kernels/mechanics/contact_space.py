"""From generalised coordinates to contact space: Delassus matrix and free contact acceleration."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve, forward_rows, row_products
from hybrid_contact_ros.kernels.compiling import kernel

_SOLVED, _SINGULAR = int(Status.SOLVED), int(Status.SINGULAR)
# Smallest pivot of M over its largest diagonal entry that is not rounding. Joint inertias of 1e-5 kg m² beside a
# body of 50 kg are real; a massless limb is below this.
_MASS_PIVOT = 1e-13


@kernel
def contact_space(mass, bias, rows, drift, L, half, G, b):
    """Compute G = J M⁻¹ Jᵀ and b = J̇v − J M⁻¹ bias, so that the contacts' accelerations are G λ + b.

    Args:
        mass: M (nv, nv). bias: h − Sᵀτ (nv,). rows: J (n, nv). drift: J̇v (n,).
        L: scratch and out, (nv, nv): Cholesky factor of M, for :func:`generalised_acceleration`.
        half: scratch, (n + 1, nv): L⁻¹Jᵀ as rows, then L⁻¹ bias.
        G: out, (n, n), 1/kg. b: out, (n,), m/s².

    Returns:
        SOLVED, or SINGULAR where M is not positive definite (massless limbs).
    """
    nv = mass.shape[0]
    n = rows.shape[0]
    if cholesky_factor(nv, _MASS_PIVOT, mass, L) < nv:
        return _SINGULAR
    for i in range(n):
        for k in range(nv):
            half[i, k] = rows[i, k]
    for k in range(nv):
        half[n, k] = bias[k]
    forward_rows(nv, n + 1, L, half)
    row_products(nv, n, half, G)
    for i in range(n):
        total = 0.0
        for k in range(nv):
            total += half[i, k] * half[n, k]
        b[i] = drift[i] - total
    return _SOLVED


@kernel
def generalised_acceleration(L, bias, rows, forces, acceleration):
    """Write v̇ = M⁻¹(Jᵀλ − bias) into ``acceleration`` (nv,), with the factor L of :func:`contact_space`."""
    nv = bias.shape[0]
    for k in range(nv):
        acceleration[k] = -bias[k]
    for i in range(rows.shape[0]):
        force = forces[i]
        if force != 0.0:
            for k in range(nv):
                acceleration[k] += rows[i, k] * force
    cholesky_solve(nv, L, acceleration)


@kernel
def is_regular(mass, L):
    """Whether M (nv, nv) is positive definite; L (nv, nv) is scratch."""
    return cholesky_factor(mass.shape[0], _MASS_PIVOT, mass, L) == mass.shape[0]
