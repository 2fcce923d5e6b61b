"""The force-acceleration solve of one state, from contact space and velocities to modes: one call, no allocation."""

from __future__ import annotations

import math

import numpy as np

from hybrid_contact_ros.codes import FrictionState, Jamming, Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.mechanics.contact_space import generalised_acceleration
from hybrid_contact_ros.kernels.modes.enumeration import enumerate_modes
from hybrid_contact_ros.kernels.modes.friction import solve_modes
from hybrid_contact_ros.kernels.modes.jamming import bounded, critical_frictions, hold_jammed
from hybrid_contact_ros.kernels.modes.records import (
    ContactDynamics,
    ModeIterate,
    ModeScratch,
    ModesFound,
    SearchScratch,
)
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, mode_residual, problem_scale
from hybrid_contact_ros.kernels.modes.splitting import split_forces
from hybrid_contact_ros.kernels.modes.statuses import name_modes

_SOLVED, _INACCURATE = int(Status.SOLVED), int(Status.INACCURATE)
_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)
_FREE, _LOST = int(Jamming.FREE), int(Jamming.LOST)
# Most touching contacts for which all modes are tried where the solver has failed: 3^4 modes
_MOST_CONTACTS_OF_FALLBACK = 4
# One mode without splitting is enough there. Not int: numba would compile the search again for a literal number.
_NO_STEPS, _RELAXED = np.int64(0), np.int64(1)
_WARM, _COLD, _ALL_HELD = 0, 1, 2  # the attempts at one state, in their order


@kernel
def force_acceleration(
    # settings:
    d, warm, steps, critical_part, slip_speed, tolerance,
    # problem:
    L, bias, rows, G, b, friction, sliding, touching,
    # scratch:
    A, work, order, intended, other_slip, found, other_forces,
    # out:
    critical, jammed, moving, slip, state, forces, accelerations, acceleration, status,
):  # fmt: skip
    """Find contact modes, forces and accelerations of one state (Johnson (38) with Coulomb friction; :mod:`.friction`).

    Where contacts slide with more than ``critical_part`` of their critical friction (Painlevé; :mod:`.jamming`), or
    where no mode is found, or none with bounded forces, the contacts that slide are held at rest and the problem is
    solved once more. Where that has no solution either, the forces are those of the relaxed problem of
    :mod:`.splitting`, which are bounded, and a guess.

    Args: the members of the records StateSettings, StateProblem, StateScratch and StateOut of :mod:`.records`, which
        have shapes and units. With ``critical_part`` inf no contact is held, and nothing is guessed.

    Returns:
        (status, residual, iterations): SOLVED or INACCURATE. The residual is that of the problem which was solved last,
        with what was held at rest.
    """
    dynamics = ContactDynamics(d, G, b, friction)
    iterate = ModeIterate(slip, state, forces, accelerations)
    scratch = ModeScratch(A, work, order)
    search = SearchScratch(other_slip, state, intended, accelerations, status)
    _read_motion(warm, slip_speed, sliding, friction, moving, slip, state)
    for i in range(jammed.shape[0]):
        jammed[i] = _FREE
    critical_frictions(d, G, moving, slip, critical)
    guarded = critical_part < math.inf
    hold_jammed(critical_part, friction, critical, touching, moving, slip, jammed)
    code = _INACCURATE
    residual = math.inf
    iterations = 0
    for attempt in range(_WARM if warm else _COLD, _ALL_HELD + 1):
        if attempt == _ALL_HELD and not (
            guarded and hold_jammed(0.0, friction, critical, touching, moving, slip, jammed)
        ):
            break
        if attempt == _WARM:
            _start_warm(touching, moving, state)
        else:
            _start_cold(touching, moving, iterate)
        code, residual, made = _solve(
            steps, tolerance, dynamics, touching, moving, iterate, scratch, search, ModesFound(found, other_forces)
        )
        iterations += made
        if guarded and not bounded(d, G, b, forces):
            code = _INACCURATE
        if code == _SOLVED:
            break
    if code != _SOLVED and guarded:
        scale = problem_scale(d, b, touching)
        _, made = split_forces(steps, _RELAXED, tolerance, scale, dynamics, touching, moving, iterate, A)
        iterations += made
        contact_accelerations(G, b, forces, accelerations)
        residual = mode_residual(scale, dynamics, touching, moving, slip, forces, accelerations)
        for i in range(jammed.shape[0]):
            if touching[i]:
                jammed[i] = _LOST
    generalised_acceleration(L, bias, rows, forces, acceleration)
    name_modes(dynamics, touching, moving, iterate, status)
    return code, residual, iterations


@kernel
def _read_motion(warm, slip_speed, sliding, friction, moving, slip, state):
    """Write which contacts slide already, and in which direction; a warm start keeps the directions in which contacts
    at rest started to slide."""
    for i in range(friction.shape[0]):
        speed = 0.0
        for k in range(slip.shape[1]):
            speed += sliding[i, k] * sliding[i, k]
        speed = math.sqrt(speed)
        moving[i] = speed > slip_speed or friction[i] == 0.0
        known = warm and state[i] == _SLIP and not moving[i]
        for k in range(slip.shape[1]):
            if speed > slip_speed:
                slip[i, k] = sliding[i, k] / speed
            elif not known:
                slip[i, k] = 0.0


@kernel
def _start_warm(touching, moving, state):
    """Take the last mode as the first guess."""
    for i in range(touching.shape[0]):
        if not touching[i]:
            state[i] = _OPEN
        elif moving[i]:
            state[i] = _SLIP


@kernel
def _start_cold(touching, moving, iterate):
    """Take as the first guess that all contacts that touch and do not slide stick."""
    slip, state, forces, accelerations = iterate.slip, iterate.state, iterate.forces, iterate.accelerations
    for i in range(touching.shape[0]):
        state[i] = _OPEN
        if touching[i]:
            state[i] = _SLIP if moving[i] else _STICK
        for k in range(slip.shape[1]):
            if not moving[i]:
                slip[i, k] = 0.0
    for k in range(forces.shape[0]):
        forces[k] = 0.0
        accelerations[k] = 0.0


@kernel
def _solve(steps, tolerance, dynamics, touching, moving, iterate, scratch, search, found):
    """Solve by the active set and, where it fails with few contacts, try all modes; (status, residual, iterations)."""
    d, G, b = dynamics.d, dynamics.G, dynamics.b
    slip, forces, accelerations = iterate.slip, iterate.forces, iterate.accelerations
    m = touching.shape[0]
    code, residual, iterations = solve_modes(steps, tolerance, dynamics, touching, moving, iterate, scratch)
    count = 0
    for i in range(m):
        count += touching[i]
    if code == _SOLVED or count > _MOST_CONTACTS_OF_FALLBACK:
        return code, residual, iterations
    for i in range(m):
        for k in range(d):
            search.slip[i, k] = slip[i, k] if moving[i] else 0.0
    if enumerate_modes(_NO_STEPS, tolerance, dynamics, touching, moving, search, scratch, found):
        code = _SOLVED
        for k in range(forces.shape[0]):
            forces[k] = found.forces[0, k]
        for i in range(m):
            for k in range(d):
                slip[i, k] = search.slip[i, k]
    contact_accelerations(G, b, forces, accelerations)
    scale = problem_scale(d, b, touching)
    residual = mode_residual(scale, dynamics, touching, moving, slip, forces, accelerations)
    return code, residual, iterations
