"""The impact problem on friction axes, scaled; and impulses and velocities back from it.

The friction polygon of a contact is a sum of segments along g axes (one in the plane, k/2 in space for k directions),
so that each axis has bounds of its own and a contact has 1 + g unknowns. Contact i is scaled by √G_nn,i and by one
speed V for all contacts, so that the scaled Delassus matrix H has ones for the normals on its diagonal and the scaled
contact velocities w are at most 1. Tolerances of the solvers are then numbers without units. In between, u = V scale w
and λ = V λ_scaled / scale.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import backward_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.mechanics.delassus import delassus

Array = NDArray[np.float64]

SOLVED = int(Status.SOLVED)
_MASS_PIVOT = 1e-14  # of the largest diagonal entry of M: with a smaller pivot M counts as singular
_ROUNDING = 1e-15  # of the sum of the sizes of its terms: a smaller contact velocity is rounding of zero
_LEAST_SPEED = 1e-5  # of ‖v‖_M: V is not smaller, so that rounding of v is never the measure of accuracy
_MASSLESS = 1e-14  # of the largest G_nn: a contact with less cannot move along its normal, and is not scaled by it


class Configuration(NamedTuple):
    """What is given of an impact."""

    mass: Array  # M (n, n), its lower triangle is read
    rows: Array  # J (r, n), r = m (1 + d), contact by contact, normal first
    velocity: Array  # v⁻ (n,)
    friction: Array  # μ (m,)


class Response(NamedTuple):
    """How the contacts respond to impulses, in SI units."""

    L: Array  # (n, n): M = L Lᵀ in its lower triangle
    Y: Array  # (r, n): the rows L⁻¹ Jᵀ, so that G = Y Yᵀ and ‖M⁻¹Jᵀλ‖_M = ‖Yᵀ λ‖
    R: Array  # (r, n): the rows M⁻¹ Jᵀ
    G: Array  # (r, r): the Delassus matrix
    u: Array  # (r,), m/s: contact velocities J v⁻


class AxesProblem(NamedTuple):
    """The same on friction axes, scaled; p = m (1 + g)."""

    A: Array  # (g, d): unit vectors of the axes
    scale: Array  # (m,): √G_nn
    H: Array  # (p, p): scaled Delassus matrix
    w: Array  # (p,): scaled contact velocities
    c: Array  # (m,): bound of the impulse along an axis, per unit of normal impulse


@kernel
def friction_axes(directions, A):
    """Write the unit vectors of the segments whose sum is the friction polygon to A (g, d).

    The polygon has its vertices at the angles 2πj/k, k = ``directions``. A regular polygon with an even number of
    vertices on the unit circle is the sum of the k/2 segments sin(π/k) [−1, 1] a_l, where a_l are the directions of its
    edges; g = k/2 in space (d = 2), and 1 in the plane (d = 1).

    Returns:
        Half the length of a segment: 1 in the plane, sin(π/k) in space.
    """
    if A.shape[1] == 1:
        A[0, 0] = 1.0
        return 1.0
    for axis in range(directions // 2):
        angle = math.pi * ((2 * axis + 1) / directions + 0.5)
        A[axis, 0] = math.cos(angle)
        A[axis, 1] = math.sin(angle)
    return math.sin(math.pi / directions)


@kernel
def _respond(configuration, response):
    """Fill in ``response``; returns SOLVED, or SINGULAR where M is not safely positive definite."""
    rows, velocity = configuration.rows, configuration.velocity
    L, Y, R, u = response.L, response.Y, response.R, response.u
    n = velocity.shape[0]
    status = delassus(_MASS_PIVOT, configuration.mass, rows, L, Y, response.G)
    if status != SOLVED:
        return status
    for a in range(rows.shape[0]):
        for i in range(n):
            R[a, i] = Y[a, i]
        backward_solve(n, L, R[a])
        s = 0.0
        size = 0.0
        for i in range(n):
            term = rows[a, i] * velocity[i]
            s += term
            size += abs(term)
        u[a] = s if abs(s) > _ROUNDING * size else 0.0
    return SOLVED


@kernel
def _condense(half, least_speed, friction, response, axes):
    """Fill in all of ``axes`` but A, which is read; returns V, ``least_speed`` or more.

    ``half`` is half the length of the friction polygon's segments.
    """
    G, u = response.G, response.u
    A, scale, H, w, c = axes.A, axes.scale, axes.H, axes.w, axes.c
    g = A.shape[0]
    d = A.shape[1]
    m = friction.shape[0]
    largest = 0.0
    for i in range(m):
        largest = max(largest, G[i * (1 + d), i * (1 + d)])
    for i in range(m):
        inertia = G[i * (1 + d), i * (1 + d)]
        if not inertia > _MASSLESS * largest:
            inertia = largest if largest > 0.0 else 1.0
        scale[i] = math.sqrt(inertia)
        c[i] = friction[i] * half
    V = least_speed
    for i in range(m):
        a = i * (1 + d)
        e = i * (1 + g)
        w[e] = u[a] / scale[i]
        V = max(V, abs(w[e]))
        for axis in range(g):
            s = 0.0
            for x in range(d):
                s += A[axis, x] * u[a + 1 + x]
            w[e + 1 + axis] = s / scale[i]
            V = max(V, abs(w[e + 1 + axis]))
        for j in range(i + 1):
            b = j * (1 + d)
            f = j * (1 + g)
            over = 1.0 / (scale[i] * scale[j])
            H[e, f] = G[a, b] * over
            for axis in range(g):
                s = 0.0
                t = 0.0
                for x in range(d):
                    s += A[axis, x] * G[a + 1 + x, b]
                    t += A[axis, x] * G[a, b + 1 + x]
                H[e + 1 + axis, f] = s * over
                H[e, f + 1 + axis] = t * over
                for q in range(g):
                    s = 0.0
                    for x in range(d):
                        for y in range(d):
                            s += A[axis, x] * A[q, y] * G[a + 1 + x, b + 1 + y]
                    H[e + 1 + axis, f + 1 + q] = s * over
            for p in range(1 + g):
                for q in range(1 + g):
                    H[f + q, e + p] = H[e + p, f + q]
    if V > 0.0:
        for e in range(m * (1 + g)):
            w[e] /= V
    return V


@kernel
def prepare(
    directions,
    # configuration:
    mass,
    rows,
    velocity,
    friction,
    # response:
    L,
    Y,
    R,
    G,
    u,
    # axes problem:
    A,
    scale,
    H,
    w,
    c,
):
    """Compute everything that the impact solvers need of one configuration.

    Args:
        directions: k, vertices of the friction polygon, even; without effect in the plane.
        mass … friction: :class:`Configuration`.
        L … u: out, :class:`Response`. A … c: out, :class:`AxesProblem`.

    Returns:
        (status, V): SOLVED or SINGULAR; V, √J, is 0 if nothing moves or the status is SINGULAR.
    """
    configuration = Configuration(mass, rows, velocity, friction)
    response = Response(L, Y, R, G, u)
    axes = AxesProblem(A, scale, H, w, c)
    status = _respond(configuration, response)
    if status != SOLVED:
        return status, 0.0
    energy = 0.0
    n = velocity.shape[0]
    for i in range(n):
        s = 0.0
        for k in range(i, n):
            s += L[k, i] * velocity[k]
        energy += s * s
    half = friction_axes(directions, A)
    return SOLVED, _condense(half, _LEAST_SPEED * math.sqrt(energy), friction, response, axes)


@kernel
def expand(A, scale, V, z, impulse):
    """Turn scaled impulses on axes, z (p,), into impulses (m, 1 + d), N s, written to ``impulse``."""
    g = A.shape[0]
    d = A.shape[1]
    for i in range(scale.shape[0]):
        e = i * (1 + g)
        unit = V / scale[i]
        impulse[i, 0] = z[e] * unit
        for x in range(d):
            s = 0.0
            for axis in range(g):
                s += A[axis, x] * z[e + 1 + axis]
            impulse[i, 1 + x] = s * unit


@kernel
def add_impulse(R, impulse, velocity):
    """Add M⁻¹ Jᵀ Λ to ``velocity`` (n,), in place: R (m (1 + d), n) has the rows M⁻¹ Jᵀ, ``impulse`` Λ (m, 1 + d)."""
    rows = impulse.shape[1]
    for i in range(impulse.shape[0]):
        for x in range(rows):
            s = impulse[i, x]
            if s != 0.0:
                for k in range(velocity.shape[0]):
                    velocity[k] += s * R[i * rows + x, k]


@kernel
def expand_samples(A, scale, V, velocity, R, Y, z, velocities, impulses, jumps):
    """Turn the scaled impulses of many samples into velocities and impulses.

    Args:
        A, scale: of :class:`AxesProblem`. V, √J. velocity: v⁻ (n,). R, Y: of :class:`Response`. z (≥ samples, p).
        velocities: out, v⁺ (samples, n). impulses: out, Λ (samples, m, 1 + d), N s.
        jumps: out, (samples, n), √J: Lᵀ (v⁺ − v⁻), whose Euclidean norm is the kinetic norm of the jump.
    """
    for sample in range(velocities.shape[0]):
        for k in range(velocity.shape[0]):
            velocities[sample, k] = velocity[k]
            jumps[sample, k] = 0.0
        expand(A, scale, V, z[sample], impulses[sample])
        add_impulse(R, impulses[sample], velocities[sample])
        add_impulse(Y, impulses[sample], jumps[sample])
