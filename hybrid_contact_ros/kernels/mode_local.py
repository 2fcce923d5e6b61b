"""Coulomb friction at one contact whose neighbours are fixed: the local problem of the sweeps in mode_friction."""

from __future__ import annotations

import math

from numba import njit

OPEN, STICK, SLIP = 0, 1, 2
_BISECTIONS = 60


@njit(cache=True, nogil=True)
def moving_contact(d, first, friction, shift, G, slip, residual, force):
    """Force on a contact that already slides along the unit vector ``slip`` (d,): only λ_n is free.

    ``residual`` (1 + d,) is the contact's acceleration at λ = 0. Writes ``force`` (1 + d,) and returns OPEN or
    SLIP. Where the contact jams (G_nn ≤ μ G_nt·slip, Painlevé) it is left open: there is no local answer.
    """
    width = G[first, first] + shift
    for k in range(d):
        width -= friction * G[first, first + 1 + k] * slip[k]
    for k in range(1 + d):
        force[k] = 0.0
    if residual[0] >= 0.0 or width <= 1e-12 * G[first, first]:
        return OPEN
    force[0] = -residual[0] / width
    for k in range(d):
        force[1 + k] = -friction * force[0] * slip[k]
    return SLIP


@njit(cache=True, nogil=True)
def resting_contact(d, first, friction, shift, G, residual, force):
    """Force on a contact at rest: open, sticking, or about to slide against its friction.

    With a_t = −κ λ_t, κ ≥ 0, sliding is a one-dimensional search: κ = 0 is sticking, κ → ∞ is no friction; in
    between ‖λ_t‖ − μ λ_n changes sign, so that bisection always ends at a solution. ``residual`` (1 + d,) is the
    contact's acceleration at λ = 0; ``shift`` is added to the diagonal of G. Writes ``force`` and returns OPEN,
    STICK or SLIP.
    """
    for k in range(1 + d):
        force[k] = 0.0
    if residual[0] >= 0.0:
        return OPEN
    gnn = G[first, first] + shift
    x = first + 1
    # Schur complement S on the tangents, in its eigenvectors (c, s), (−s, c); r: the free tangential acceleration
    gx = G[first, x]
    rx = residual[1] - gx * residual[0] / gnn
    p = G[x, x] + shift - gx * gx / gnn
    c, s, gy, ry, q = 1.0, 0.0, 0.0, 0.0, 1.0
    if d == 2:
        y = x + 1
        gy = G[first, y]
        ry = residual[2] - gy * residual[0] / gnn
        q = G[y, y] + shift - gy * gy / gnn
        off = G[x, y] - gx * gy / gnn
        angle = 0.5 * math.atan2(2.0 * off, p - q)
        c = math.cos(angle)
        s = math.sin(angle)
        p, q = c * c * p + 2.0 * c * s * off + s * s * q, s * s * p - 2.0 * c * s * off + c * c * q
        rx, ry = c * rx + s * ry, c * ry - s * rx
        gx, gy = c * gx + s * gy, c * gy - s * gx
    floor = 1e-14 * gnn
    p = max(p, floor)
    q = max(q, floor)
    tx = -rx / p
    ty = -ry / q
    normal = -(residual[0] + gx * tx + gy * ty) / gnn
    state = STICK
    if math.sqrt(tx * tx + ty * ty) > friction * normal:
        state = SLIP
        low = 0.0
        high = p + q
        for _ in range(200):
            tx = -rx / (p + high)
            ty = -ry / (q + high)
            normal = -(residual[0] + gx * tx + gy * ty) / gnn
            if math.sqrt(tx * tx + ty * ty) <= friction * normal:
                break
            low = high
            high *= 4.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            tx = -rx / (p + middle)
            ty = -ry / (q + middle)
            normal = -(residual[0] + gx * tx + gy * ty) / gnn
            if math.sqrt(tx * tx + ty * ty) <= friction * normal:
                high = middle
            else:
                low = middle
            if high - low <= 1e-14 * high:
                break
        if normal < 0.0:
            normal = 0.0
        size = math.sqrt(tx * tx + ty * ty)
        scale = friction * normal / size if size > 0.0 else 0.0
        tx *= scale
        ty *= scale
    force[0] = normal
    force[1] = c * tx - s * ty
    if d == 2:
        force[2] = s * tx + c * ty
    return state
