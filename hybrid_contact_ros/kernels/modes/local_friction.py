"""Coulomb friction at one contact whose neighbours' forces are given: the local problem of :mod:`.sweeps`."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import FrictionState
from hybrid_contact_ros.kernels.compiling import kernel

_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)
_STEPS = 100  # of the search at most; it takes three to six
_PRECISE = 1e-14  # relative change of κ that ends the search
_JAMMED = 1e-12  # a width below this part of G_nn counts as none


@kernel
def moving_contact(d, first, friction, shift, G, slip, residual, force):
    """Find the force on a contact that already slides along the unit vector ``slip`` (d,): only λ_n is free.

    Args:
        d: tangents. first: row of G of the contact's normal. friction: μ. shift: 1/kg, added to the diagonal of G.
        residual: (1 + d,), m/s², the contact's acceleration without its own force.
        force: out, (1 + d,), N.

    Returns:
        OPEN or SLIP. A contact that jams (G_nn ≤ μ G_nt·slip, Painlevé) is left open: there is no local answer.
    """
    width = G[first, first] + shift
    for k in range(d):
        width -= friction * G[first, first + 1 + k] * slip[k]
    for k in range(1 + d):
        force[k] = 0.0
    if residual[0] >= 0.0 or width <= _JAMMED * G[first, first]:
        return _OPEN
    force[0] = -residual[0] / width
    for k in range(d):
        force[1 + k] = -friction * force[0] * slip[k]
    return _SLIP


@kernel(forceinline=True)  # called, it would cost a cold solve 3 %
def _principal(p, q, off):
    """Return the eigenvalues of [p off; off q], off ≠ 0, and the first eigenvector (c, s): Jacobi's rotation."""
    slope = (q - p) / (2.0 * off)
    tangent = 1.0 / (abs(slope) + math.sqrt(1.0 + slope * slope))
    if slope < 0.0:
        tangent = -tangent
    c = 1.0 / math.sqrt(1.0 + tangent * tangent)
    return p - tangent * off, q + tangent * off, c, -tangent * c


@kernel
def resting_contact(d, first, friction, shift, G, residual, force):
    """Find the force on a contact at rest: open, sticking, or about to slide against its friction.

    With a_t = −κ λ_t, κ ≥ 0, sliding is a one-dimensional search: κ = 0 is sticking, κ → ∞ is no friction, and in
    between μ λ_n / ‖λ_t‖ − 1 changes sign. That function is nearly linear in κ (1/‖λ_t‖ is, as in trust regions), so
    that Newton steps, kept between two signs, end after a few. Arguments are as of :func:`moving_contact`.

    Returns:
        OPEN, STICK or SLIP.
    """
    for k in range(1 + d):
        force[k] = 0.0
    if residual[0] >= 0.0:
        return _OPEN
    gnn = G[first, first] + shift
    if friction <= 0.0:
        force[0] = -residual[0] / gnn
        return _SLIP
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
        if off != 0.0:
            p, q, c, s = _principal(p, q, off)
            rx, ry = c * rx + s * ry, c * ry - s * rx
            gx, gy = c * gx + s * gy, c * gy - s * gx
    floor = 1e-14 * gnn
    p = max(p, floor)
    q = max(q, floor)
    state = _STICK
    low = kappa = 0.0
    high = math.inf
    tx = ty = normal = 0.0
    for _ in range(_STEPS):
        tx = -rx / (p + kappa)
        ty = -ry / (q + kappa)
        normal = -(residual[0] + gx * tx + gy * ty) / gnn
        size = math.sqrt(tx * tx + ty * ty)
        if size <= friction * normal:
            if kappa == 0.0:
                break
            high = kappa
        else:
            state = _SLIP
            low = kappa
        bend_x = tx / (p + kappa)
        bend_y = ty / (q + kappa)
        off = friction * normal - size
        # derivative of μ λ_n / ‖λ_t‖ by κ, times ‖λ_t‖²
        rise = size * friction * (gx * bend_x + gy * bend_y) / gnn
        rise += friction * normal * (tx * bend_x + ty * bend_y) / size if size > 0.0 else 0.0
        step = kappa - off * size / rise if rise > 0.0 else -1.0
        if not low < step < high:
            if abs(step - kappa) <= _PRECISE * kappa:
                break
            step = 0.5 * (low + high) if high < math.inf else max(4.0 * kappa, p + q)
        if abs(step - kappa) <= _PRECISE * step:
            break
        kappa = step
    if state == _SLIP:
        normal = max(normal, 0.0)
        size = math.sqrt(tx * tx + ty * ty)
        scale = friction * normal / size if size > 0.0 else 0.0
        tx *= scale
        ty *= scale
    force[0] = normal
    force[1] = c * tx - s * ty
    if d == 2:
        force[2] = s * tx + c * ty
    return state
