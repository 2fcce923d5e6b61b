"""The whole force-acceleration solve of one state, from M, J and velocities to modes: one call, no allocation."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.mechanics.contact_space import contact_space, generalised_acceleration
from hybrid_contact_ros.kernels.modes.enumeration import enumerate_modes
from hybrid_contact_ros.kernels.modes.friction import solve_modes
from hybrid_contact_ros.kernels.modes.jamming import FREE, LOST, bounded, critical_frictions, hold_jammed
from hybrid_contact_ros.kernels.modes.local_friction import OPEN, SLIP, STICK
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, mode_residual, problem_scale
from hybrid_contact_ros.kernels.modes.splitting import split_forces
from hybrid_contact_ros.kernels.modes.statuses import name_modes

_SINGULAR = int(Status.SINGULAR)
_SOLVED = int(Status.SOLVED)
_INACCURATE = int(Status.INACCURATE)
# Most touching contacts for which all modes are tried when the solver fails: 3^4
_TRIED = 4
# One mode is enough, without splitting. Not int: numba would compile the search again for literal numbers.
_ONE, _NO_STEPS, _RELAXED = np.int64(1), np.int64(0), np.int64(1)


@njit(cache=True, nogil=True)
def force_acceleration(
    d,
    warm,
    steps,
    critical_part,
    slip_speed,
    tolerance,
    mass,
    bias,
    rows,
    drift,
    friction,
    sliding,
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
    critical,
    jammed,
    forces,
    accelerations,
    acceleration,
    status,
):
    """Contact modes, forces and accelerations of one state (J 38 with Coulomb friction; see mode_friction).

    Where contacts slide with more than ``critical_part`` of their critical friction (Painlevé; see mode_jamming), or
    where no mode is found, or none with bounded forces, the contacts that slide are held at rest and the problem is
    solved once more; where that has no solution either, the forces are those of the relaxed problem of mode_splitting,
    which are bounded, and a guess.

    Args, n = m (1 + d):
        d: tangents per contact. warm: start from the mode, slip directions, forces and accelerations that ``state``,
            ``slip``, ``forces`` and ``accelerations`` still hold of an earlier, solved state.
        steps: of splitting at most. critical_part: see above; inf: the law as it stands, INACCURATE where it has no
            answer. slip_speed: m/s; faster contact points slide. tolerance: of the scaled residual.
        mass (nv, nv), bias (nv,), rows (n, nv), drift (n,), friction (m,): of the contact problem.
        sliding (m, d): velocities of the contact points along their tangents, m/s.
        touching: (m,) uint8.
        L (nv, nv), half (n + 1, nv), A (2 n + mode_splitting.ROWS, n), work (2, n): scratch.
        order (2 n,) int64: scratch.
        moving: out (m,) uint8: solved as a contact that slides already.
        slip: in (if warm) and out (m, d): unit direction in which each contact slides, or starts to.
        state: in (if warm) and out (m,) int64.
        intended (m,) int64, other_slip (m, d), found (1, m) uint8, other_forces (1, n): scratch.
        G (n, n), b (n,): out, Delassus matrix and free contact acceleration, of all contacts.
        critical: out (m,), critical friction. jammed: out (m,) uint8: FREE; HELD, the contact slides and was solved as
            if at rest; LOST, forces are a guess.
        forces (n,), accelerations (n,): out, λ and a = G λ + b of all contacts. acceleration (nv,): out, v̇.
        status: out (m,) uint8, the values of prediction.ContactStatus.

    Returns:
        (status, residual, iterations); SINGULAR where M is not positive definite, and then nothing else is written.
        The residual is that of the problem which was solved last, with what was held at rest.
    """
    if contact_space(mass, bias, rows, drift, L, half, G, b) != 1:
        return _SINGULAR, 0.0, 0
    m = friction.shape[0]
    for i in range(m):
        jammed[i] = FREE
        speed = 0.0
        for k in range(d):
            speed += sliding[i, k] * sliding[i, k]
        speed = math.sqrt(speed)
        moving[i] = speed > slip_speed or friction[i] == 0.0
        known = warm and state[i] == SLIP and not moving[i]
        for k in range(d):
            if speed > slip_speed:
                slip[i, k] = sliding[i, k] / speed
            elif not known:
                slip[i, k] = 0.0
    critical_frictions(d, G, moving, slip, critical)
    scale = problem_scale(d, b, touching)
    guarded = critical_part < math.inf
    hold_jammed(critical_part, friction, critical, touching, moving, slip, jammed)
    code = _INACCURATE
    residual = math.inf
    iterations = 0
    for attempt in range(0 if warm else 1, 3):
        if attempt == 2 and not (guarded and hold_jammed(0.0, friction, critical, touching, moving, slip, jammed)):
            break
        if attempt >= 1:
            _start_cold(d, touching, moving, slip, state, forces, accelerations)
        else:
            _start_warm(touching, moving, state)
        code, residual, made = _solve(
            d, steps, tolerance, G, b, friction, touching, moving, slip, state, intended, other_slip, A, work, order,
            found, other_forces, forces, accelerations, status,
        )  # fmt: skip
        iterations += made
        if guarded and not bounded(d, G, b, forces):
            code = _INACCURATE
        if code == _SOLVED:
            break
    if code != _SOLVED and guarded:
        _, made = split_forces(
            d, steps, _RELAXED, tolerance, scale, G, b, friction, touching, moving, slip, A, forces, accelerations
        )
        iterations += made
        contact_accelerations(G, b, forces, accelerations)
        residual = mode_residual(d, scale, G, friction, touching, moving, slip, forces, accelerations)
        for i in range(m):
            if touching[i]:
                jammed[i] = LOST
    generalised_acceleration(L, bias, rows, forces, acceleration)
    name_modes(d, G, b, touching, moving, slip, forces, accelerations, status)
    return code, residual, iterations


@njit(cache=True, nogil=True)
def _start_warm(touching, moving, state):
    """The first guess is the mode that was."""
    for i in range(touching.shape[0]):
        if not touching[i]:
            state[i] = OPEN
        elif moving[i]:
            state[i] = SLIP


@njit(cache=True, nogil=True)
def _start_cold(d, touching, moving, slip, state, forces, accelerations):
    """The first guess is that all that touch and do not slide stick."""
    for i in range(touching.shape[0]):
        state[i] = OPEN
        if touching[i]:
            state[i] = SLIP if moving[i] else STICK
        for k in range(d):
            if not moving[i]:
                slip[i, k] = 0.0
    for k in range(forces.shape[0]):
        forces[k] = 0.0
        accelerations[k] = 0.0


@njit(cache=True, nogil=True)
def _solve(
    d,
    steps,
    tolerance,
    G,
    b,
    friction,
    touching,
    moving,
    slip,
    state,
    intended,
    other_slip,
    A,
    work,
    order,
    found,
    other_forces,
    forces,
    accelerations,
    status,
):
    """The active set and, where it fails with few contacts, all modes in turn; (status, residual, steps)."""
    m = friction.shape[0]
    w = 1 + d
    code, residual, iterations = solve_modes(
        d, steps, tolerance, G, b, friction, touching, moving, slip, state, A, work, order, forces, accelerations
    )
    count = 0
    for i in range(m):
        count += touching[i]
    if code == _SOLVED or count > _TRIED:
        return code, residual, iterations
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
    return code, residual, iterations
