"""The robot near the corner of a cluster: contact space, and how M⁻¹Jᵀ and J M⁻¹Jᵀ change with q."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.mechanics.contact_gradient import contact_force_gradient
from hybrid_contact_ros.kernels.sensitivity.rigid_body import (
    bias_force,
    contact_drift,
    place_bodies,
    rate_gradient,
    spread,
    take_mass_gradient,
)

_SOLVED, _SINGULAR = int(Status.SOLVED), int(Status.SINGULAR)
_MASS_PIVOT = 1e-13  # as in kernels/mechanics/contact_space.py


@kernel
def add_product(rows, inner, width, X, Y, out):
    """Add X Y to ``out``, of the first ``rows`` of X, ``inner`` columns of it, and ``width`` columns of Y."""
    for i in range(rows):
        target = out[i]
        j = 0
        while j + 3 <= inner:
            a, b, c = X[i, j], X[i, j + 1], X[i, j + 2]
            p, q, r = Y[j], Y[j + 1], Y[j + 2]
            if a != 0.0 or b != 0.0 or c != 0.0:
                for k in range(width):
                    target[k] += a * p[k] + b * q[k] + c * r[k]
            j += 3
        while j < inner:
            a, p = X[i, j], Y[j]
            if a != 0.0:
                for k in range(width):
                    target[k] += a * p[k]
            j += 1


@kernel
def dot(a, b, count):
    """The scalar product of the first entries of two arrays: four sums at once, since one waits for each addition."""
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    k = 0
    while k + 4 <= count:
        p += a[k] * b[k]
        q += a[k + 1] * b[k + 1]
        r += a[k + 2] * b[k + 2]
        s += a[k + 3] * b[k + 3]
        k += 4
    while k < count:
        p += a[k] * b[k]
        k += 1
    return (p + q) + (r + s)


@kernel
def clear(matrix):
    """Zero (r, w)."""
    for i in range(matrix.shape[0]):
        for k in range(matrix.shape[1]):
            matrix[i, k] = 0.0


@kernel
def prepare(tree, bodies, spheres, problem, local):
    """Write the local model; returns SOLVED, or SINGULAR."""
    nv, c = problem.velocity.shape[0], problem.which.shape[0]
    n = 3 * c
    if cholesky_factor(nv, _MASS_PIVOT, problem.mass, local.factor) < nv:
        return _SINGULAR
    for i in range(nv):
        for k in range(nv):
            local.inverse[i, k] = 1.0 if i == k else 0.0
        cholesky_solve(nv, local.factor, local.inverse[i])
    for a in range(c):
        contact = problem.which[a]
        local.friction[a], local.restitution[a] = problem.friction[contact], problem.restitution[contact]
        for d in range(3):
            for k in range(nv):
                local.J[3 * a + d, k] = problem.rows[contact, d, k]
    clear(local.A)
    add_product(n, nv, nv, local.J, local.inverse, local.A)
    for r in range(n):
        for s in range(r + 1):
            local.G[r, s] = local.G[s, r] = dot(local.A[r], local.J[s], nv)
    place_bodies(
        tree, bodies.inertia, problem.placement, problem.columns, local.body, local.carried, local.momentum
    )  # fmt: skip
    for a in range(c):
        for d in range(3):
            _turn(3 * a + d, problem.which[a], d, tree, spheres, problem, local)
    return _SOLVED


@kernel
def _turn(r, contact, d, tree, spheres, problem, local):
    """Write turn, rate and bend of row r of contact space."""
    nv = problem.velocity.shape[0]
    gradient, turn = local.gradient, local.turn[r]
    local.unit[contact, d] = 1.0
    contact_force_gradient(
        tree.parent, tree.first, tree.size, tree.lead, tree.ratio, spheres.joint, spheres.point, spheres.radius,
        spheres.normal, spheres.tangent, problem.columns, problem.placement, local.unit, gradient,
    )  # fmt: skip
    local.unit[contact, d] = 0.0
    spread(tree, local.A[r], local.full)
    take_mass_gradient(
        tree, problem.columns, local.carried, local.momentum, local.full, local.twist, local.force, local.swept,
        local.pulled, gradient,
    )  # fmt: skip
    rate_gradient(
        tree, spheres, problem.which, problem.columns, problem.placement, local.twist, local.rate[r]
    )  # fmt: skip
    clear(turn)
    add_product(nv, nv, nv, local.inverse, gradient, turn)
    bend = local.bend[r]
    for i in range(bend.shape[0]):
        for k in range(nv):
            bend[i, k] = local.rate[r, i, k]
    add_product(bend.shape[0], nv, nv, local.A, gradient, bend)


@kernel
def free_motion(tree, gravity, spheres, velocity, problem, local, acceleration, free):
    """Write v̇ (nv,) without contact forces at a velocity (nv,), and that of the contacts, J v̇ + J̇v (n,)."""
    nv = velocity.shape[0]
    spread(tree, velocity, local.full)
    bias_force(tree, gravity, problem.columns, local.body, local.full, local.twist, local.force, local.bias)
    contact_drift(spheres, problem.which, problem.placement, local.twist, free)
    for i in range(nv):
        local.bias[i] -= problem.effort[i]
        acceleration[i] = 0.0
    for k in range(nv):
        value, row = local.bias[k], local.inverse[k]
        for i in range(nv):
            acceleration[i] -= row[i] * value
    for r in range(free.shape[0]):
        free[r] += dot(local.J[r], acceleration, nv)
