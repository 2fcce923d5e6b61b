"""The whole force-acceleration solve of one state, from M, J and velocities to modes: one call, no allocation."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hybrid_contact_ros.kernels.mode_enumerate import enumerate_modes
from hybrid_contact_ros.kernels.mode_friction import solve_modes
from hybrid_contact_ros.kernels.mode_local import OPEN, SLIP, STICK
from hybrid_contact_ros.kernels.mode_names import name_modes
from hybrid_contact_ros.kernels.mode_residual import contact_accelerations, mode_residual, problem_scale
from hybrid_contact_ros.kernels.mode_space import contact_space, generalised_acceleration
from hybrid_contact_ros.kernels.status import Status

_SINGULAR = int(Status.SINGULAR)
_SOLVED = int(Status.SOLVED)
# Most touching contacts for which all modes are tried when the solver fails: 3^4
_TRIED = 4
# One mode is enough, without splitting. Not int: numba would compile the search again for literal numbers.
_ONE, _NO_STEPS = np.int64(1), np.int64(0)


@njit(cache=True, nogil=True)
def force_acceleration(
    d,
    warm,
    steps,
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
    intended,
    other_slip,
    found,
    other_forces,
    G,
    b,
    forces,
    accelerations,
    acceleration,
    status,
):
    """Contact modes, forces and accelerations of one state (J 38 with Coulomb friction; see mode_friction).

    Args, n = m (1 + d):
        d: tangents per contact. warm: start from the mode, slip directions, forces and accelerations that ``state``,
            ``slip``, ``forces`` and ``accelerations`` still hold of an earlier, solved state.
        steps: of splitting at most. slip_speed: m/s; faster contact points slide. tolerance: of the scaled residual.
        mass (nv, nv), bias (nv,), rows (n, nv), drift (n,), friction (m,), velocity (nv,): of the contact problem.
        touching: (m,) uint8.
        L (nv, nv), half (n + 1, nv), A (2 n + mode_splitting.ROWS, n), work (2, n): scratch.
        order (2 n,) int64, moving (m,) uint8: scratch.
        slip: in (if warm) and out (m, d): unit direction in which each contact slides, or starts to.
        state: in (if warm) and out (m,) int64.
        intended (m,) int64, other_slip (m, d), found (1, m) uint8, other_forces (1, n): scratch.
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
            work[0, k] = total
            speed += total * total
        speed = math.sqrt(speed)
        moving[i] = speed > slip_speed or friction[i] == 0.0
        known = warm and state[i] == SLIP and not moving[i]
        for k in range(d):
            if speed > slip_speed:
                slip[i, k] = work[0, k] / speed
            elif not known:
                slip[i, k] = 0.0
        if not touching[i]:
            state[i] = OPEN
        elif moving[i]:
            state[i] = SLIP
        elif not warm:
            state[i] = STICK
        if not warm:
            for k in range(w):
                forces[i * w + k] = 0.0
                accelerations[i * w + k] = 0.0
    code, residual, iterations = solve_modes(
        d, steps, tolerance, G, b, friction, touching, moving, slip, state, A, work, order, forces, accelerations
    )
    count = 0
    for i in range(m):
        count += touching[i]
    if code != _SOLVED and count <= _TRIED:
        for i in range(m):
            for k in range(d):
                other_slip[i, k] = slip[i, k] if moving[i] else 0.0
        known = enumerate_modes(
            d,
            _ONE,
            _NO_STEPS,
            tolerance,
            G,
            b,
            friction,
            touching,
            moving,
            other_slip,
            state,
            intended,
            A,
            work,
            order,
            accelerations,
            status,
            found,
            other_forces,
        )
        if known:
            code = _SOLVED
            for k in range(m * w):
                forces[k] = other_forces[0, k]
            for i in range(m):
                for k in range(d):
                    slip[i, k] = other_slip[i, k]
        contact_accelerations(G, b, forces, accelerations)
        scale = problem_scale(d, b, touching)
        residual = mode_residual(d, scale, G, friction, touching, moving, slip, forces, accelerations)
    generalised_acceleration(L, bias, rows, forces, acceleration)
    name_modes(d, G, b, touching, moving, slip, forces, accelerations, status)
    return code, residual, iterations
