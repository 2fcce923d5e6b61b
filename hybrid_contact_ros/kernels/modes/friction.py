"""Contact forces and modes with Coulomb friction in contact space: force-acceleration complementarity (J 38).

Find λ with a = G λ + b, for each touching contact

    0 ≤ λ_n ⊥ a_n ≥ 0,  and  λ_t = −μ λ_n u_t/‖u_t‖  where the contact slides,
    ‖λ_t‖ ≤ μ λ_n,  λ_t = −μ λ_n a_t/‖a_t‖ unless a_t = 0  where it is at rest.

Active set with Newton steps on the slip directions. The first guess (the mode of the state before, or sticking) mostly
holds, and one linear system shows it. Where it does not, a few Gauss-Seidel sweeps over single contacts find the mode,
or nearly (they cannot cycle between modes for want of an answer), and Newton steps finish. Where these cycle, because
redundant contacts leave the forces open or slip directions depend on each other, operator splitting
(:mod:`.splitting`) is slow and sure. Redundant contacts make G singular: it is regularised by ``shift`` times each
contact's own inverse mass g_i, so that among the forces that hold the mode those least in Σ g_i ‖λ_i‖² are chosen; the
acceleration is off by ``shift`` relative to b, far below the tolerance.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import lu_factor, lu_solve
from hybrid_contact_ros.kernels.modes.local_friction import OPEN, SLIP, STICK
from hybrid_contact_ros.kernels.modes.residual import (
    contact_accelerations,
    contact_scale,
    mode_residual,
    mode_violation,
    problem_scale,
)
from hybrid_contact_ros.kernels.modes.splitting import split_forces
from hybrid_contact_ros.kernels.modes.sweeps import sweep

_SOLVED = int(Status.SOLVED)
_INACCURATE = int(Status.INACCURATE)
SHIFT = 1e-10
# Change of a slip direction between Newton steps that still counts as one
_DIRECTION = 1e-5
_FIRST_STEPS = 2  # of Newton from the first guess, which holds or is soon seen not to
_NEWTON_STEPS = 5
_SWEEPS = 16  # twice as many in each round
_PATIENCE = 8  # sweeps without change that end those of the first round
_ROUNDS = 2
_EXACT = np.int64(0)  # splitting of the problem itself; not int, for which numba would compile it again


@njit(cache=True, nogil=True)
def solve_modes(
    d, steps, tolerance, G, b, friction, touching, moving, slip, state, A, work, order, forces, accelerations
):
    """Solve the problem of this module's heading.

    Args:
        d: tangents per contact, 1 or 2. steps: of splitting at most. tolerance: on the scaled residual, e.g. 1e-8.
        G: (n, n), n = m (1 + d). b: (n,), m/s². friction: μ (m,). touching: (m,) uint8, the others get no force.
        moving: (m,) uint8: the contact slides along the unit vector ``slip`` (m, d).
        state: in and out, (m,) int64: first guess, then OPEN, STICK or SLIP of the active set.
        A: scratch, (2 n + ROWS, n). work: scratch, (2, n). order: scratch, (2 n,) int64.
        forces: in and out, (n,), N. accelerations: in and out, (n,): G λ + b, m/s², of all contacts. Their first
            values only curve the first Newton step of contacts that start as SLIP; zeros will do.

    ``slip`` of a contact that is not moving is in and out: the unit direction in which it starts to slide, or zero.

    Returns:
        (status, residual, iterations): SOLVED, or INACCURATE with the best that was found, which violates the
        conditions by no more than no forces at all would, so that it never is a diverged iterate; the residual of
        :func:`mode_residual`; linear systems solved, sweeps and steps made.
    """
    m = friction.shape[0]
    scale = problem_scale(d, b, touching)
    for i in range(m):
        if not touching[i]:
            state[i] = OPEN
        elif state[i] == SLIP and not moving[i]:
            size = 0.0
            for k in range(d):
                size += slip[i, k] * slip[i, k]
            if size < 0.5:
                state[i] = STICK  # its direction is not known yet
        elif moving[i] and state[i] == STICK:
            state[i] = SLIP
    iterations = 0
    residual = math.inf
    spare = 2 * G.shape[0]
    for attempt in range(_ROUNDS + 2):
        for _ in range(_NEWTON_STEPS if attempt > 0 else _FIRST_STEPS):
            iterations += 1
            if not hold_mode(d, SHIFT, G, b, friction, moving, slip, state, A, work, order, forces, accelerations):
                break
            contact_accelerations(G, b, forces, accelerations)
            if not _update_states(
                d, tolerance * scale, SHIFT, G, friction, touching, moving, slip, state, forces, accelerations
            ):
                residual = mode_residual(d, scale, G, friction, touching, moving, slip, forces, accelerations)
                if residual <= tolerance:
                    return _SOLVED, residual, iterations
        if attempt > _ROUNDS:
            break
        if attempt == _ROUNDS:
            residual, made = split_forces(
                d, steps, _EXACT, tolerance, scale, G, b, friction, touching, moving, slip, A, forces, accelerations
            )
            iterations += made
            for k in range(b.shape[0]):
                A[spare, k] = forces[k]  # where the last Newton steps do not reach
        else:
            most = _SWEEPS << attempt
            patience = _PATIENCE if attempt == 0 else most
            iterations += sweep(
                d, most, patience, SHIFT, G, b, friction, touching, moving, slip, state, work, forces, accelerations
            )
            contact_accelerations(G, b, forces, accelerations)
            residual = mode_residual(d, scale, G, friction, touching, moving, slip, forces, accelerations)
        _name_states(d, tolerance, G, friction, touching, moving, slip, state, forces, accelerations)
        if residual <= tolerance:
            return _SOLVED, residual, iterations
    for k in range(b.shape[0]):
        forces[k] = A[spare, k]
        work[0, k] = 0.0
    contact_accelerations(G, b, forces, accelerations)
    worst, _ = mode_violation(d, G, friction, touching, moving, slip, forces, accelerations)
    nothing, _ = mode_violation(d, G, friction, touching, moving, slip, work[0], b)
    if not worst <= nothing:  # steps diverge where sliding contacts jam
        for k in range(b.shape[0]):
            forces[k] = 0.0
            accelerations[k] = b[k]
    residual = mode_residual(d, scale, G, friction, touching, moving, slip, forces, accelerations)
    return _INACCURATE, residual, iterations


@njit(cache=True, nogil=True)
def _name_states(d, tolerance, G, friction, touching, moving, slip, state, forces, accelerations):
    """The active set that forces suggest, and the directions in which friction says that contacts start to slide."""
    for i in range(friction.shape[0]):
        if not touching[i]:
            continue
        f = i * (1 + d)
        if moving[i]:
            state[i] = SLIP if forces[f] > 0.0 else OPEN
            continue
        size = 0.0
        rate = 0.0
        for k in range(d):
            size += forces[f + 1 + k] ** 2
            rate += accelerations[f + 1 + k] ** 2
        size = math.sqrt(size)
        rate = math.sqrt(rate)
        if not forces[f] > 0.0:
            state[i] = OPEN
        elif size < friction[i] * forces[f] * (1.0 - 1e-6) or rate <= tolerance * contact_scale(d, f, G) * forces[f]:
            state[i] = STICK
        else:
            state[i] = SLIP
            for k in range(d):
                slip[i, k] = -forces[f + 1 + k] / size if size > 0.0 else 0.0


@njit(cache=True, nogil=True)
def hold_mode(d, shift, G, b, friction, moving, slip, state, A, work, order, forces, accelerations):
    """Solve for the forces that hold the mode ``state``; False where its matrix is singular."""
    m = friction.shape[0]
    w = 1 + d
    size = 0
    index = order[G.shape[0] :]  # row of the whole problem for each unknown
    for i in range(m):
        if state[i] == OPEN:
            continue
        f = i * w
        index[size] = f
        size += 1
        if state[i] == STICK or (not moving[i] and d == 2):
            for k in range(d):
                index[size] = f + 1 + k
                size += 1
    right = work[0]
    r = 0
    for i in range(m):
        if state[i] == OPEN:
            continue
        f = i * w
        if state[i] == STICK:
            g = shift * contact_scale(d, f, G)
            for k in range(w):
                _row(d, size, f + k, G, friction, moving, slip, state, index, A[r])
                A[r, r] += g
                right[r] = -b[f + k]
                r += 1
            continue
        g = contact_scale(d, f, G)
        _row(d, size, f, G, friction, moving, slip, state, index, A[r])
        A[r, r] += shift * g
        right[r] = -b[f]
        r += 1
        if moving[i] or d == 1:
            continue
        # λ_t + μ λ_n s(a_t) = 0, linearised; times g to be of the size of the other rows
        ax = accelerations[f + 1] + shift * g * forces[f + 1]
        ay = accelerations[f + 2] + shift * g * forces[f + 2]
        sx = slip[i, 0]
        sy = slip[i, 1]
        rate = ax * sx + ay * sy
        bend = 0.0
        if rate > 0.0 and forces[f] > 0.0:
            bend = g * friction[i] * forces[f] / rate
            if bend > 1e6:
                bend = 0.0
        for k in range(2):
            right[r + k] = 0.0
            for c in range(size):
                A[r + k, c] = 0.0
        if bend > 0.0:
            _row(d, size, f + 1, G, friction, moving, slip, state, index, work[1])
            for c in range(size):
                A[r, c] += bend * sy * sy * work[1, c]
                A[r + 1, c] -= bend * sx * sy * work[1, c]
            _row(d, size, f + 2, G, friction, moving, slip, state, index, work[1])
            for c in range(size):
                A[r, c] -= bend * sx * sy * work[1, c]
                A[r + 1, c] += bend * sx * sx * work[1, c]
            across = sy * b[f + 1] - sx * b[f + 2]
            right[r] -= bend * sy * across
            right[r + 1] += bend * sx * across
        A[r, r] += g
        A[r + 1, r + 1] += g
        A[r, r - 1] += g * friction[i] * sx
        A[r + 1, r - 1] += g * friction[i] * sy
        r += 2
    solution = work[1]
    if lu_factor(size, 1e-16, A, order) < size:
        return False
    lu_solve(size, A, order, right, solution)
    for k in range(forces.shape[0]):
        forces[k] = 0.0
    for c in range(size):
        forces[index[c]] = solution[c]
    for i in range(m):
        if state[i] == SLIP and (moving[i] or d == 1):
            f = i * w
            for k in range(d):
                forces[f + 1 + k] = -friction[i] * forces[f] * slip[i, k]
    return True


@njit(cache=True, nogil=True)
def _row(d, size, row, G, friction, moving, slip, state, index, out):
    """One row of G over the unknowns; the tangents of a fixed slip direction are folded into its normal."""
    for c in range(size):
        j = index[c]
        value = G[row, j]
        contact = j // (1 + d)
        if j == contact * (1 + d) and state[contact] == SLIP and (moving[contact] or d == 1):
            for k in range(d):
                value -= friction[contact] * G[row, j + 1 + k] * slip[contact, k]
        out[c] = value


@njit(cache=True, nogil=True)
def _update_states(d, small, shift, G, friction, touching, moving, slip, state, forces, accelerations):
    """Move contacts whose condition fails to another state; True where any changed."""
    changed = False
    for i in range(friction.shape[0]):
        if not touching[i]:
            continue
        f = i * (1 + d)
        if state[i] == OPEN:
            if accelerations[f] < -small:
                state[i] = SLIP if moving[i] else STICK
                changed = True
            continue
        g = contact_scale(d, f, G)
        if forces[f] * g < -small:
            state[i] = OPEN
            changed = True
            continue
        if moving[i]:
            continue
        if state[i] == STICK:
            size = 0.0
            for k in range(d):
                size += forces[f + 1 + k] ** 2
            size = math.sqrt(size)
            if (size - friction[i] * forces[f]) * g > small:
                state[i] = SLIP
                for k in range(d):
                    slip[i, k] = -forces[f + 1 + k] / size
                changed = True
            continue
        rate = 0.0
        along = 0.0
        for k in range(d):
            a = accelerations[f + 1 + k] + shift * g * forces[f + 1 + k]
            rate += a * a
            along += a * slip[i, k]
        rate = math.sqrt(rate)
        if along < -small:
            state[i] = STICK
            changed = True
        elif rate > small and d == 2:
            turn = 0.0
            for k in range(d):
                direction = (accelerations[f + 1 + k] + shift * g * forces[f + 1 + k]) / rate
                turn += (direction - slip[i, k]) ** 2
                slip[i, k] = direction
            if turn > _DIRECTION * _DIRECTION:
                changed = True
    return changed
