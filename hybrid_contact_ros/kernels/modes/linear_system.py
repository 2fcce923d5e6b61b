"""The linear system of one contact mode: the forces with which every contact does what the mode says.

Redundant contacts make G singular. G is therefore regularised by ``SHIFT`` times each contact's own inverse mass g_i,
so that among the forces that hold the mode those least in Σ g_i ‖λ_i‖² are chosen; the acceleration is off by ``SHIFT``
relative to b, far below any tolerance.
"""

from __future__ import annotations

from hybrid_contact_ros.codes import FrictionState
from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve, lu_factor, lu_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.residual import contact_scale

_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)
SHIFT = 1e-10
_PIVOT = 1e-16  # a pivot below this part of its column is zero
_LARGEST_CURVATURE = 1e6  # of a slip direction: a contact that hardly accelerates has none worth following


@kernel
def hold_mode(dynamics, moving, iterate, scratch):
    """Solve for the forces that hold the mode ``iterate.state``, and write them to ``iterate.forces``.

    A sticking contact has a = 0. A sliding one has a_n = 0 and friction against its slip direction; where that is not
    given, because the contact only starts to slide in space, the condition λ_t + μ λ_n a_t/‖a_t‖ = 0 is linearised
    about the forces and accelerations on entry, which makes the call one Newton step.

    Returns:
        False where the matrix is singular; the forces are then those on entry.
    """
    d, G, b, friction = dynamics.d, dynamics.G, dynamics.b, dynamics.friction
    slip, state, forces = iterate.slip, iterate.state, iterate.forces
    m = friction.shape[0]
    w = 1 + d
    A, order = scratch.A, scratch.order
    index = order[G.shape[0] :]  # row of the whole problem for each unknown
    size = _list_unknowns(d, moving, state, index)
    right = scratch.work[0]
    if _hold_at_rest(size, dynamics, state, index, A):
        _write_forces(size, index, A[size], forces)
        return True
    r = 0
    for i in range(m):
        if state[i] == _OPEN:
            continue
        f = i * w
        g = contact_scale(d, f, G)
        for k in range(w if state[i] == _STICK else 1):
            _unknown_row(f + k, G, friction, moving, slip, state, A[r])
            A[r, r] += SHIFT * g
            right[r] = -b[f + k]
            r += 1
        if state[i] == _SLIP and not moving[i] and d == 2:
            _add_friction_rows(i, r, size, dynamics, moving, iterate, scratch)
            r += 2
    solution = scratch.work[1]
    if lu_factor(size, _PIVOT, A, order) < size:
        return False
    lu_solve(size, A, order, right, solution)
    _write_forces(size, index, solution, forces)
    for i in range(m):
        if state[i] == _SLIP and (moving[i] or d == 1):
            f = i * w
            for k in range(d):
                forces[f + 1 + k] = -friction[i] * forces[f] * slip[i, k]
    return True


@kernel
def _hold_at_rest(size, dynamics, state, index, A):
    """Solve a mode in which no contact slides: its matrix is a symmetric part of G, definite by ``SHIFT``.

    Returns:
        Whether the forces were found; they are then in row ``size`` of A.
    """
    G, b = dynamics.G, dynamics.b
    w = 1 + dynamics.d
    r = 0
    for i in range(state.shape[0]):
        if state[i] == _SLIP:
            return False
        if state[i] == _OPEN:
            continue
        g = contact_scale(dynamics.d, i * w, G)
        for k in range(i * w, (i + 1) * w):
            for c in range(r + 1):
                A[r, c] = G[k, index[c]]
            A[r, r] += SHIFT * g
            A[size, r] = -b[k]
            r += 1
    if cholesky_factor(size, _PIVOT, A, A) < size:
        return False
    cholesky_solve(size, A, A[size])
    return True


@kernel
def _write_forces(size, index, solution, forces):
    """Write the unknowns that were found, and zero for all other forces."""
    for k in range(forces.shape[0]):
        forces[k] = 0.0
    for c in range(size):
        forces[index[c]] = solution[c]


@kernel
def _list_unknowns(d, moving, state, index):
    """Write the row of the whole problem for each unknown force into ``index``, and return their number."""
    size = 0
    for i in range(state.shape[0]):
        if state[i] == _OPEN:
            continue
        f = i * (1 + d)
        index[size] = f
        size += 1
        if state[i] == _STICK or (not moving[i] and d == 2):
            for k in range(d):
                index[size] = f + 1 + k
                size += 1
    return size


@kernel
def _add_friction_rows(i, r, size, dynamics, moving, iterate, scratch):
    """Write rows r and r + 1: λ_t + μ λ_n s(a_t) = 0 of contact i, linearised, times g_i to be of the others' size."""
    G, b, friction = dynamics.G, dynamics.b, dynamics.friction
    slip, state, forces, accelerations = iterate.slip, iterate.state, iterate.forces, iterate.accelerations
    A, right, row = scratch.A, scratch.work[0], scratch.work[1]
    f = 3 * i
    g = contact_scale(2, f, G)
    ax = accelerations[f + 1] + SHIFT * g * forces[f + 1]
    ay = accelerations[f + 2] + SHIFT * g * forces[f + 2]
    sx = slip[i, 0]
    sy = slip[i, 1]
    rate = ax * sx + ay * sy
    bend = 0.0
    if rate > 0.0 and forces[f] > 0.0:
        bend = g * friction[i] * forces[f] / rate
        if bend > _LARGEST_CURVATURE:
            bend = 0.0
    for k in range(2):
        right[r + k] = 0.0
        for c in range(size):
            A[r + k, c] = 0.0
    if bend > 0.0:
        _unknown_row(f + 1, G, friction, moving, slip, state, row)
        for c in range(size):
            A[r, c] += bend * sy * sy * row[c]
            A[r + 1, c] -= bend * sx * sy * row[c]
        _unknown_row(f + 2, G, friction, moving, slip, state, row)
        for c in range(size):
            A[r, c] -= bend * sx * sy * row[c]
            A[r + 1, c] += bend * sx * sx * row[c]
        across = sy * b[f + 1] - sx * b[f + 2]
        right[r] -= bend * sy * across
        right[r + 1] += bend * sx * across
    A[r, r] += g
    A[r + 1, r + 1] += g
    A[r, r - 1] += g * friction[i] * sx
    A[r + 1, r - 1] += g * friction[i] * sy


@kernel
def _unknown_row(row, G, friction, moving, slip, state, out):
    """Write one row of G over the unknowns; the tangents of a fixed slip direction are folded into its normal."""
    d = slip.shape[1]
    c = 0
    for i in range(state.shape[0]):
        if state[i] == _OPEN:
            continue
        f = i * (1 + d)
        out[c] = G[row, f]
        if state[i] == _SLIP and (moving[i] or d == 1):
            for k in range(d):
                out[c] -= friction[i] * G[row, f + 1 + k] * slip[i, k]
            c += 1
            continue
        for k in range(d):
            out[c + 1 + k] = G[row, f + 1 + k]
        c += 1 + d
