"""The whole force-acceleration solve of one state, from M, J and velocities to modes: one call, no allocation."""

from __future__ import annotations

import math

from numba import njit

from hybrid_contact_ros.kernels.mode_friction import contact_scale, solve_modes
from hybrid_contact_ros.kernels.mode_local import OPEN, SLIP, STICK
from hybrid_contact_ros.kernels.mode_space import contact_space, generalised_acceleration
from hybrid_contact_ros.kernels.status import Status

_SINGULAR = int(Status.SINGULAR)
# The values of prediction.ContactStatus
_OPEN, _STICKING, _SLIPPING = 1, 2, 3
# An acceleration below this times the scale of b counts as zero when a solution is put into words
_ZERO = 1e-6


@njit(cache=True, nogil=True)
def force_acceleration(
    d,
    slip_speed,
    tolerance,
    mass,
    bias,
    rows,
    drift,
    friction,
    velocity,
    touching,
    L,
    half,
    A,
    work,
    order,
    moving,
    slip,
    state,
    G,
    b,
    forces,
    accelerations,
    acceleration,
    status,
):
    """Contact modes, forces and accelerations of one state (J 38 with Coulomb friction; see mode_friction).

    Args, n = m (1 + d):
        d: tangents per contact. slip_speed: m/s; faster contact points slide. tolerance: of the scaled residual.
        mass (nv, nv), bias (nv,), rows (n, nv), drift (n,), friction (m,), velocity (nv,): of the contact problem.
        touching: (m,) uint8.
        L (nv, nv), half (n + 1, nv), A (n, n), work (2, n), order (2 n,) int64, moving (m,) uint8: scratch.
        slip: scratch and out (m, d): unit direction in which each contact slides, or starts to.
        state: scratch (m,) int64.
        G (n, n), b (n,): out, Delassus matrix and free contact acceleration, of all contacts.
        forces (n,), accelerations (n,): out, λ and a = G λ + b of all contacts. acceleration (nv,): out, v̇.
        status: out (m,) uint8, the values of prediction.ContactStatus.

    Returns:
        (status, residual, iterations); SINGULAR where M is not positive definite, and then nothing else is written.
    """
    if contact_space(mass, bias, rows, drift, L, half, G, b) != 1:
        return _SINGULAR, 0.0, 0
    m = friction.shape[0]
    w = 1 + d
    for i in range(m):
        speed = 0.0
        for k in range(d):
            total = 0.0
            for j in range(velocity.shape[0]):
                total += rows[i * w + 1 + k, j] * velocity[j]
            slip[i, k] = total
            speed += total * total
        speed = math.sqrt(speed)
        moving[i] = speed > slip_speed or friction[i] == 0.0
        for k in range(d):
            slip[i, k] = slip[i, k] / speed if moving[i] and speed > slip_speed else 0.0
        state[i] = OPEN
        if touching[i]:
            state[i] = SLIP if moving[i] else STICK
    code, residual, iterations = solve_modes(
        d, tolerance, G, b, friction, touching, moving, slip, state, A, work, order, forces, accelerations
    )
    generalised_acceleration(L, bias, rows, forces, acceleration)
    name_modes(d, G, b, friction, touching, moving, slip, forces, accelerations, status)
    return code, residual, iterations


@njit(cache=True, nogil=True)
def name_modes(d, G, b, friction, touching, moving, slip, forces, accelerations, status):
    """Write OPEN, STICKING or SLIPPING for each contact of a solution.

    By its motion and not by the active set: a touching contact that does not accelerate away is closed, loaded or not
    (the ⪰ of J 38), and a closed one sticks when it neither slides nor starts to, though its force be at the edge of
    the cone.
    """
    w = 1 + d
    scale = 0.0
    for i in range(friction.shape[0]):
        if touching[i]:
            for k in range(i * w, (i + 1) * w):
                scale = max(scale, abs(b[k]))
    for i in range(friction.shape[0]):
        f = i * w
        status[i] = _OPEN
        if not touching[i]:
            continue
        g = contact_scale(d, f, G)
        if accelerations[f] > _ZERO * scale and forces[f] * g <= _ZERO * scale:
            continue
        rate = 0.0
        speed = 0.0
        for k in range(d):
            rate += accelerations[f + 1 + k] ** 2
            speed += slip[i, k] ** 2
        status[i] = _STICKING
        if math.sqrt(rate) > _ZERO * scale or (moving[i] and speed > 0.5):
            status[i] = _SLIPPING
