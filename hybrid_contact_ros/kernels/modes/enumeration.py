"""Every force-acceleration mode with Coulomb friction, by trying all of them: the slow reference of mode_friction."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hybrid_contact_ros.kernels.modes.friction import SHIFT, hold_mode
from hybrid_contact_ros.kernels.modes.local_friction import OPEN, SLIP, STICK
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, mode_residual, problem_scale
from hybrid_contact_ros.kernels.modes.splitting import split_forces
from hybrid_contact_ros.kernels.modes.statuses import name_modes

_NEWTON_STEPS = 12
_EXACT = np.int64(0)


@njit(cache=True, nogil=True)
def enumerate_modes(
    d,
    limit,
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
    A,
    work,
    order,
    accelerations,
    status,
    found,
    forces,
):
    """Try open, sticking and sliding for every touching contact: 3^m modes, 2 states for a contact that moves.

    A mode counts when its forces satisfy the conditions by definition (``mode_residual`` ≤ tolerance). Its linear
    system gives all of these, but for two things. In space the direction in which a contact starts to slide is found by
    Newton's method from where its sticking force points. And of the many forces of redundant contacts it gives the
    least, when others may be the ones inside the cones. Every set of closed contacts without a solution is therefore
    given to operator splitting as well; a second solution with other directions of sliding could still be missed.

    Args: as mode_friction.solve_modes, and
        limit: stop after this many modes. steps: of splitting at most, for each set; 0: none.
        intended: scratch (m,) int64. status: scratch (m,) uint8.
        found: out, (limit, m) uint8: the different modes, named as in name_modes.
        forces: out, (limit, n). slip and accelerations: out, those of the last mode tried.

    Returns:
        The number of different modes found.
    """
    m = friction.shape[0]
    scale = problem_scale(d, b, touching)
    total = 1
    subsets = 1
    for i in range(m):
        if touching[i]:
            total *= 3
            subsets *= 2
    count = 0
    for number in range(total):
        rest = number
        skip = False
        for i in range(m):
            intended[i] = OPEN
            if touching[i]:
                digit = rest % 3
                rest //= 3
                intended[i] = STICK if digit == 0 else SLIP if digit == 1 else OPEN
                if moving[i] and digit == 0:
                    skip = True
        if skip:
            continue
        trial = forces[count]
        if not _try(
            d,
            scale,
            tolerance,
            G,
            b,
            friction,
            touching,
            moving,
            slip,
            state,
            intended,
            A,
            work,
            order,
            trial,
            accelerations,
        ):
            continue
        name_modes(d, G, b, touching, moving, slip, trial, accelerations, status)
        count += _is_new(count, status, found)
        if count == limit:
            return count
    for number in range(subsets if steps > 0 else 0):
        scope = found[count]  # of no use until a mode is kept
        _closed_set(number, touching, scope)
        if _covered(count, scope, found):
            continue
        residual, _ = split_forces(
            d, steps, _EXACT, tolerance, scale, G, b, friction, scope, moving, slip, A, forces[count], accelerations
        )
        if residual > tolerance:
            continue
        if mode_residual(d, scale, G, friction, touching, moving, slip, forces[count], accelerations) > tolerance:
            continue
        name_modes(d, G, b, touching, moving, slip, forces[count], accelerations, status)
        count += _is_new(count, status, found)
        if count == limit:
            return count
    return count


@njit(cache=True, nogil=True)
def _is_new(count, status, found):
    """Write ``status`` into row ``count`` of ``found``; 1 unless an earlier row is the same."""
    for j in range(count):
        same = True
        for i in range(status.shape[0]):
            same &= found[j, i] == status[i]
        if same:
            return 0
    for i in range(status.shape[0]):
        found[count, i] = status[i]
    return 1


@njit(cache=True, nogil=True)
def _closed_set(number, touching, scope):
    """Write the subset of the touching contacts that the bits of ``number`` say."""
    for i in range(touching.shape[0]):
        scope[i] = 0
        if touching[i]:
            scope[i] = number & 1
            number >>= 1


@njit(cache=True, nogil=True)
def _covered(count, scope, found):
    """Whether a mode with just these contacts closed has been found."""
    for j in range(count):
        same = True
        for i in range(scope.shape[0]):
            same &= (found[j, i] > 1) == (scope[i] == 1)
        if same:
            return True
    return False


@njit(cache=True, nogil=True)
def _try(
    d, scale, tolerance, G, b, friction, touching, moving, slip, state, intended, A, work, order, trial, accelerations
):
    """Forces of the mode ``intended`` into ``trial``; whether they satisfy the conditions."""
    m = friction.shape[0]
    starts = 0
    for i in range(m):
        state[i] = intended[i]
        if intended[i] == SLIP and not moving[i]:
            starts += 1
    if d == 1 or starts == 0:
        for sign in range(1 << starts):
            bit = 0
            for i in range(m):
                if state[i] == SLIP and not moving[i]:
                    slip[i, 0] = 1.0 if sign >> bit & 1 else -1.0
                    bit += 1
            if not hold_mode(d, SHIFT, G, b, friction, moving, slip, state, A, work, order, trial, accelerations):
                return False
            contact_accelerations(G, b, trial, accelerations)
            if mode_residual(d, scale, G, friction, touching, moving, slip, trial, accelerations) <= tolerance:
                return True
        return False
    for without_friction in range(2):
        if not _start(
            d, without_friction, G, b, friction, moving, slip, state, intended, A, work, order, trial, accelerations
        ):
            continue
        for _ in range(_NEWTON_STEPS):
            if not hold_mode(d, SHIFT, G, b, friction, moving, slip, state, A, work, order, trial, accelerations):
                break
            contact_accelerations(G, b, trial, accelerations)
            if mode_residual(d, scale, G, friction, touching, moving, slip, trial, accelerations) <= tolerance:
                return True
            _turn(slip, moving, state, accelerations)
    return False


@njit(cache=True, nogil=True)
def _start(d, without_friction, G, b, friction, moving, slip, state, intended, A, work, order, trial, accelerations):
    """First directions in space: against the sticking forces, or along the motion without friction."""
    for i in range(state.shape[0]):
        state[i] = intended[i]
        if intended[i] == SLIP and not moving[i]:
            slip[i, 0] = 0.0
            slip[i, 1] = 0.0
            if not without_friction:
                state[i] = STICK
    for k in range(trial.shape[0]):
        trial[k] = 0.0  # no curvature in the first step
        accelerations[k] = 0.0
    held = hold_mode(d, SHIFT, G, b, friction, moving, slip, state, A, work, order, trial, accelerations)
    contact_accelerations(G, b, trial, accelerations)
    for i in range(state.shape[0]):
        if intended[i] == SLIP and not moving[i]:
            state[i] = SLIP
            if not without_friction:
                for k in range(2):
                    accelerations[3 * i + 1 + k] = -trial[3 * i + 1 + k]
    _turn(slip, moving, state, accelerations)
    for k in range(trial.shape[0]):
        trial[k] = 0.0
    return held


@njit(cache=True, nogil=True)
def _turn(slip, moving, state, accelerations):
    """Let contacts that start to slide in space do so along their acceleration."""
    for i in range(state.shape[0]):
        if state[i] == SLIP and not moving[i]:
            rate = math.hypot(accelerations[3 * i + 1], accelerations[3 * i + 2])
            for k in range(2):
                if rate > 0.0:
                    slip[i, k] = accelerations[3 * i + 1 + k] / rate
