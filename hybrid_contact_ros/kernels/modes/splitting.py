"""Contact forces by operator splitting: slower than an active set, and hardly ever without an answer.

The problem of :mod:`.friction` is 0 ∈ G λ + b + s + N_K(λ). K is the product of the friction cones (for a contact that
slides already, of the ray λ_t = −μ λ_n u_t/‖u_t‖), N_K(λ) is its normal cone, and s adds μ ‖a_t‖, or μ u_t·a_t/‖u_t‖,
to the normal of each contact (de Saxcé and Feng 1998), so that friction opposes the slip without lifting the contact.
The alternating direction method of multipliers splits the problem into a linear system and a projection for each
contact, with s one step behind (Carpentier, Le Lidec and Montaut 2024). Contacts are scaled so that their own inverse
mass is 1. The method does not mind redundant contacts, whose forces need not be unique: where any forces in the cones
hold the mode it finds some.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, forward_rows, row_products
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, contact_scale, mode_residual

_BALANCE = 10.0  # the penalty changes where one of the primal and the dual residual is this many times the other
_FIRST_PENALTY = 0.1  # times a contact's own inverse mass
_STEPS_BETWEEN_LOOKS = 10  # at the residual; at every second look the penalty may change
_RELAXED_TOLERANCE = 1e-6  # of the relaxed problem, whose answer is a guess: nobody needs more digits of it
LASTING = 2 * _STEPS_BETWEEN_LOOKS  # steps: fewer change no penalty
_PENALTY_CHANGES = 12  # at most, so that the method becomes one that converges
_PIVOT = 1e-16  # a pivot below this part of the largest diagonal entry is rounding


@kernel
def split_forces(steps, relaxed, tolerance, scale, dynamics, touching, moving, iterate, A):
    """Solve from nothing, in at most ``steps`` steps.

    Args:
        relaxed: 1 leaves s out: a convex problem, whose forces exist and are bounded for every G and b, but whose
            friction lifts contacts that slide. It is a guess where the contact laws have no answer. 0: the problem.
        tolerance: of the residual, which is over ``scale`` (m/s²; :func:`~.residual.mode_residual`).
        dynamics, touching, moving: as of :func:`~.friction.solve_modes`.
        iterate: only its ``slip`` of moving contacts is read; forces and accelerations are written, also when the
            residual is not below the tolerance.
        A: scratch, (2 n + SPLITTING_ROWS, n).

    Returns:
        (residual, steps made).
    """
    forces = iterate.forces
    if not splitting_inverse(dynamics.d, dynamics.G, touching, A):
        for j in range(forces.shape[0]):
            forces[j] = 0.0
        return math.inf, 0
    return split_again(steps, relaxed, tolerance, scale, dynamics, touching, moving, iterate, A)


@kernel
def splitting_inverse(d, G, touching, A):
    """What :func:`split_again` needs of G and ``touching``. Returns whether rounding leaves G definite enough."""
    n = G.shape[0]
    w = 1 + d
    size = A[2 * n]
    for i in range(n // w):
        for k in range(w):
            size[i * w + k] = 1.0 / math.sqrt(contact_scale(d, i * w, G)) if touching[i] else 0.0
    return _invert(n, _FIRST_PENALTY, G, size, A[n : 2 * n], A[:n])


@kernel
def split_again(steps, relaxed, tolerance, scale, dynamics, touching, moving, iterate, A):
    """:func:`split_forces` after :func:`splitting_inverse`, or after another problem with the same G and ``touching``
    that took fewer than LASTING steps, which leave it as it was."""
    d, G, b, friction = dynamics.d, dynamics.G, dynamics.b, dynamics.friction
    slip, forces, accelerations = iterate.slip, iterate.forces, iterate.accelerations
    m = friction.shape[0]
    w = 1 + d
    n = m * w
    inverse, work = A[:n], A[n : 2 * n]
    # size: diagonal of S. x: forces over S that solve the linear system. z: those in the cones. y: multipliers.
    size, x, z, y = A[2 * n], A[2 * n + 1], A[2 * n + 2], A[2 * n + 3]
    right, before, load = A[2 * n + 4], A[2 * n + 5], A[2 * n + 6]
    largest_load = 0.0
    for j in range(n):
        z[j] = 0.0
        y[j] = 0.0
        forces[j] = 0.0
        load[j] = size[j] * b[j]
        largest_load = max(largest_load, abs(load[j]))
    penalty = _FIRST_PENALTY
    changes = 0
    residual = math.inf
    for step in range(1, steps + 1):
        _right_side(relaxed, penalty, load, friction, moving, slip, z, y, right)
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
                before[k] = z[k]
                z[k] = x[k] + y[k] / penalty
            _project(d, f, friction[i], moving[i], slip[i], z)
            for k in range(f, f + w):
                y[k] += penalty * (x[k] - z[k])
                primal = max(primal, abs(x[k] - z[k]))
                dual = max(dual, penalty * abs(z[k] - before[k]))
        if step % _STEPS_BETWEEN_LOOKS and step < steps:
            continue
        for j in range(n):
            forces[j] = size[j] * z[j]
        contact_accelerations(G, b, forces, accelerations)
        residual = mode_residual(scale, dynamics, touching, moving, slip, forces, accelerations)
        if residual <= tolerance or (relaxed and max(primal, dual) <= _RELAXED_TOLERANCE * largest_load):
            return residual, step
        if step % LASTING == 0 and changes < _PENALTY_CHANGES:
            factor = 1.0
            if primal > _BALANCE * dual:
                factor = math.sqrt(_BALANCE)
            elif dual > _BALANCE * primal:
                factor = 1.0 / math.sqrt(_BALANCE)
            if factor != 1.0:
                changes += 1
                penalty *= factor
                if not _invert(n, penalty, G, size, work, inverse):
                    return residual, step
    return residual, steps


@kernel
def _invert(n, penalty, G, size, work, inverse):
    """inverse = (S G S + penalty)⁻¹ = L⁻ᵀ L⁻¹; False where rounding makes it indefinite. work: scratch (n, n)."""
    L = inverse  # until its place is needed
    for i in range(n):
        for j in range(n):
            L[i, j] = size[i] * G[i, j] * size[j]
            work[i, j] = 0.0
        L[i, i] += penalty
        work[i, i] = 1.0
    if cholesky_factor(n, _PIVOT, L, L) < n:
        return False
    forward_rows(n, n, L, work)
    row_products(n, n, work, inverse)
    return True


@kernel
def _right_side(relaxed, penalty, load, friction, moving, slip, z, y, right):
    """penalty z − y − S b − s, where −y = S (G λ + b) + s, of which s has no tangential part (relaxed: none)."""
    d = slip.shape[1]
    w = 1 + d
    for i in range(friction.shape[0]):
        f = i * w
        rate = 0.0
        for k in range(d):
            rate += -y[f + 1 + k] * slip[i, k] if moving[i] else y[f + 1 + k] * y[f + 1 + k]
        if not moving[i]:
            rate = math.sqrt(rate)
        for k in range(f, f + w):
            right[k] = penalty * z[k] - y[k] - load[k]
        if not relaxed:
            right[f] -= friction[i] * rate


@kernel
def _project(d, first, friction, moving, slip, z):
    """Move one contact's entries of z to the nearest point of its cone, or of its ray."""
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
