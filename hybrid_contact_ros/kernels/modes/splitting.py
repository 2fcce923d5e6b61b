"""Contact forces by operator splitting: slower than an active set, and hardly ever without an answer.

The problem of :mod:`.friction` is 0 ∈ G λ + b + s + N_K(λ): K is the product of the friction cones (for a contact
that slides already, of the ray λ_t = −μ λ_n u_t/‖u_t‖), and s adds μ ‖a_t‖, or μ u_t·a_t/‖u_t‖, to the normal of each
contact (de Saxcé and Feng 1998), so that friction opposes the slip without lifting the contact. The alternating
direction method of multipliers splits it into a linear system and a projection per contact, s lagging by one step
(Carpentier, Le Lidec and Montaut 2024). Contacts are scaled so that their own inverse mass is 1. It does not mind
redundant contacts, whose forces need not be unique: where any in the cones hold the mode it finds some.
"""

from __future__ import annotations

import math

from numba import njit

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, contact_scale, mode_residual

ROWS = 6  # of scratch beside the two matrices
_BALANCE = 10.0  # primal over dual residual, or its inverse, that the penalty follows
_PENALTY = 0.1  # at the start, of a contact's own inverse mass
_LOOK = 10  # steps between looks at the residual; at every second look the penalty may change
_RELAXED = 1e-6  # of the relaxed problem: nobody needs more digits of a guess
_CHANGES = 12  # of the penalty, after which the method is one that converges


@njit(cache=True, nogil=True)
def split_forces(d, steps, relaxed, tolerance, scale, G, b, friction, touching, moving, slip, A, forces, accelerations):
    """Solve from nothing, in at most ``steps`` steps; arguments as of :func:`~.friction.solve_modes`.

    Args:
        relaxed: 1 leaves s out: a convex problem, whose forces exist and are bounded for every G and b, but whose
            friction lifts contacts that slide. It is a guess where the contact laws have no answer. 0: the problem.
        scale: of the residual. A: scratch, (2 n + ROWS, n).
        forces, accelerations: (n,), out, also when the residual is not below the tolerance.

    Returns:
        (residual, steps made).
    """
    m = friction.shape[0]
    w = 1 + d
    n = m * w
    L = A[:n]
    inverse = A[n : 2 * n]
    size, x, z, y, right, kept = A[2 * n], A[2 * n + 1], A[2 * n + 2], A[2 * n + 3], A[2 * n + 4], A[2 * n + 5]
    for i in range(m):
        for k in range(w):
            size[i * w + k] = 1.0 / math.sqrt(contact_scale(d, i * w, G)) if touching[i] else 0.0
    for j in range(n):
        z[j] = 0.0
        y[j] = 0.0
        forces[j] = 0.0
    forced = 0.0
    for j in range(n):
        forced = max(forced, abs(size[j] * b[j]))
    penalty = _PENALTY
    changes = 0
    residual = math.inf
    if not _invert(n, penalty, G, size, L, inverse):
        return residual, 0
    for step in range(1, steps + 1):
        _right_side(d, relaxed, penalty, b, friction, moving, slip, size, z, y, right)
        for j in range(n):
            x[j] = 0.0
        for i in range(n):
            value = right[i]
            for j in range(n):
                x[j] += inverse[i, j] * value
        primal = 0.0
        dual = 0.0
        for i in range(m):
            if not touching[i]:
                continue
            f = i * w
            for k in range(f, f + w):
                kept[k] = z[k]
                z[k] = x[k] + y[k] / penalty
            _project(d, f, friction[i], moving[i], slip[i], z)
            for k in range(f, f + w):
                y[k] += penalty * (x[k] - z[k])
                primal = max(primal, abs(x[k] - z[k]))
                dual = max(dual, penalty * abs(z[k] - kept[k]))
        if step % _LOOK and step < steps:
            continue
        for j in range(n):
            forces[j] = size[j] * z[j]
        contact_accelerations(G, b, forces, accelerations)
        residual = mode_residual(d, scale, G, friction, touching, moving, slip, forces, accelerations)
        if residual <= tolerance or (relaxed and max(primal, dual) <= _RELAXED * forced):
            return residual, step
        if step % (2 * _LOOK) == 0 and changes < _CHANGES:
            factor = 1.0
            if primal > _BALANCE * dual:
                factor = math.sqrt(_BALANCE)
            elif dual > _BALANCE * primal:
                factor = 1.0 / math.sqrt(_BALANCE)
            if factor != 1.0:
                changes += 1
                penalty *= factor
                if not _invert(n, penalty, G, size, L, inverse):
                    return residual, step
    return residual, steps


@njit(cache=True, nogil=True)
def _invert(n, penalty, G, size, L, inverse):
    """inverse = (S G S + penalty)⁻¹; False where rounding makes it indefinite."""
    for i in range(n):
        for j in range(n):
            L[i, j] = size[i] * G[i, j] * size[j]
        L[i, i] += penalty
    if cholesky_factor(n, 1e-16, L, L) < n:
        return False
    for i in range(n):
        for j in range(n):
            inverse[i, j] = 0.0
        inverse[i, i] = 1.0
        cholesky_solve(n, L, inverse[i])
    return True


@njit(cache=True, nogil=True)
def _right_side(d, relaxed, penalty, b, friction, moving, slip, size, z, y, right):
    """penalty z − y − S b − s, where −y = S (G λ + b) + s, of which s has no tangential part (relaxed: none)."""
    w = 1 + d
    for i in range(friction.shape[0]):
        f = i * w
        rate = 0.0
        for k in range(d):
            rate += -y[f + 1 + k] * slip[i, k] if moving[i] else y[f + 1 + k] * y[f + 1 + k]
        if not moving[i]:
            rate = math.sqrt(rate)
        for k in range(f, f + w):
            right[k] = penalty * z[k] - y[k] - size[k] * b[k]
        if not relaxed:
            right[f] -= friction[i] * rate


@njit(cache=True, nogil=True)
def _project(d, first, friction, moving, slip, z):
    """Nearest point of the contact's cone, or ray, in place."""
    normal = z[first]
    if moving:
        along = normal
        length = 1.0
        for k in range(d):
            along -= friction * slip[k] * z[first + 1 + k]
            length += (friction * slip[k]) ** 2
        normal = max(along, 0.0) / length
        z[first] = normal
        for k in range(d):
            z[first + 1 + k] = -friction * slip[k] * normal
        return
    size = 0.0
    for k in range(d):
        size += z[first + 1 + k] ** 2
    size = math.sqrt(size)
    if size <= friction * normal:
        return
    normal = max((normal + friction * size) / (1.0 + friction * friction), 0.0)
    z[first] = normal
    for k in range(d):
        z[first + 1 + k] *= friction * normal / size if size > 0.0 else 0.0
