"""Every force-acceleration mode with Coulomb friction, by trying them all: the slow reference of :mod:`.friction`."""

from __future__ import annotations

import math

import numpy as np

from hybrid_contact_ros.codes import ContactStatus, FrictionState
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.linear_system import hold_mode
from hybrid_contact_ros.kernels.modes.records import ModeIterate
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, mode_residual, problem_scale
from hybrid_contact_ros.kernels.modes.splitting import split_forces
from hybrid_contact_ros.kernels.modes.statuses import name_modes

_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)
_STICKING = int(ContactStatus.STICKING)
_NEWTON_STEPS = 12
_EXACT = np.int64(0)


@kernel
def enumerate_modes(steps, tolerance, dynamics, touching, moving, search, scratch, out):
    """Try open, sticking and sliding for every touching contact: 3^m modes, 2 states for a contact that moves.

    A mode counts when its forces satisfy the conditions by definition (``mode_residual`` ≤ tolerance). The linear
    system of a mode gives such forces where there are any, but for two things. In space the direction in which a
    contact starts to slide is found by Newton's method from where its sticking force points. And of the many forces of
    redundant contacts the linear system gives the least, when others may be the ones inside the cones. Every set of
    closed contacts without a solution is therefore given to operator splitting as well; a second solution with other
    directions of sliding could still be missed.

    Args:
        steps: of splitting at most, for each set of closed contacts; 0 leaves splitting out.
        tolerance: of the scaled residual.
        dynamics: ContactDynamics. touching, moving: (m,) uint8, see :mod:`.records`.
        search: SearchScratch. scratch: ModeScratch.
        out: ModesFound, whose number of rows ends the search. Its rows up to the number returned are the different
            modes and their forces; ``search.slip`` and ``search.accelerations`` are those of the last mode tried.

    Returns:
        The number of different modes found.
    """
    total = 1
    for i in range(touching.shape[0]):
        if touching[i]:
            total *= 3
    count = 0
    for number in range(total):
        if not _intend(number, touching, moving, search.intended):
            continue
        iterate = ModeIterate(search.slip, search.state, out.forces[count], search.accelerations)
        if _find_forces(tolerance, dynamics, touching, moving, search.intended, iterate, scratch):
            name_modes(dynamics, touching, moving, iterate, search.status)
            count += _is_new(count, search.status, out.modes)
            if count == out.modes.shape[0]:
                return count
    if steps > 0:
        count = _split_closed_sets(count, steps, tolerance, dynamics, touching, moving, search, scratch, out)
    return count


@kernel
def _split_closed_sets(count, steps, tolerance, dynamics, touching, moving, search, scratch, out):
    """Try operator splitting on every set of closed contacts that no mode found so far has; the new count."""
    scale = problem_scale(dynamics.d, dynamics.b, touching)
    subsets = 1
    for i in range(touching.shape[0]):
        if touching[i]:
            subsets *= 2
    for number in range(subsets):
        scope = out.modes[count]  # of no use until a mode is kept
        _write_subset(number, touching, scope)
        if _is_covered(count, scope, out.modes):
            continue
        iterate = ModeIterate(search.slip, search.state, out.forces[count], search.accelerations)
        residual, _ = split_forces(steps, _EXACT, tolerance, scale, dynamics, scope, moving, iterate, scratch.A)
        if residual > tolerance:
            continue
        residual = mode_residual(scale, dynamics, touching, moving, iterate.slip, iterate.forces, iterate.accelerations)
        if residual > tolerance:
            continue
        name_modes(dynamics, touching, moving, iterate, search.status)
        count += _is_new(count, search.status, out.modes)
        if count == out.modes.shape[0]:
            return count
    return count


@kernel
def _intend(number, touching, moving, intended):
    """Write the mode of that number, whose digits to the base 3 are the states of the touching contacts; False where a
    contact that moves would stick."""
    possible = True
    for i in range(touching.shape[0]):
        intended[i] = _OPEN
        if touching[i]:
            digit = number % 3
            number //= 3
            intended[i] = _STICK if digit == 0 else _SLIP if digit == 1 else _OPEN
            if moving[i] and digit == 0:
                possible = False
    return possible


@kernel
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


@kernel
def _write_subset(number, touching, scope):
    """Write the subset of the touching contacts that the bits of ``number`` say."""
    for i in range(touching.shape[0]):
        scope[i] = 0
        if touching[i]:
            scope[i] = number & 1
            number >>= 1


@kernel
def _is_covered(count, scope, found):
    """Return whether a mode with just these contacts closed has been found."""
    for j in range(count):
        same = True
        for i in range(scope.shape[0]):
            same &= (found[j, i] >= _STICKING) == (scope[i] == 1)
        if same:
            return True
    return False


@kernel
def _find_forces(tolerance, dynamics, touching, moving, intended, iterate, scratch):
    """Look for forces of the mode ``intended``; return whether those in ``iterate`` satisfy the conditions."""
    slip, state = iterate.slip, iterate.state
    starts = 0
    for i in range(state.shape[0]):
        state[i] = intended[i]
        if intended[i] == _SLIP and not moving[i]:
            starts += 1
    if dynamics.d == 1 or starts == 0:
        for sign in range(1 << starts):
            bit = 0
            for i in range(state.shape[0]):
                if state[i] == _SLIP and not moving[i]:
                    slip[i, 0] = 1.0 if sign >> bit & 1 else -1.0
                    bit += 1
            if not hold_mode(dynamics, moving, iterate, scratch):
                return False
            if _satisfies(tolerance, dynamics, touching, moving, iterate):
                return True
        return False
    for without_friction in range(2):
        if not _start_slides(without_friction, dynamics, moving, intended, iterate, scratch):
            continue
        for _ in range(_NEWTON_STEPS):
            if not hold_mode(dynamics, moving, iterate, scratch):
                break
            if _satisfies(tolerance, dynamics, touching, moving, iterate):
                return True
            _turn_slips(slip, moving, state, iterate.accelerations)
    return False


@kernel
def _satisfies(tolerance, dynamics, touching, moving, iterate):
    """Write the accelerations of the forces, and return whether both satisfy the conditions."""
    slip, forces, accelerations = iterate.slip, iterate.forces, iterate.accelerations
    contact_accelerations(dynamics.G, dynamics.b, forces, accelerations)
    scale = problem_scale(dynamics.d, dynamics.b, touching)
    return mode_residual(scale, dynamics, touching, moving, slip, forces, accelerations) <= tolerance


@kernel
def _start_slides(without_friction, dynamics, moving, intended, iterate, scratch):
    """Choose the first directions in space, against the sticking forces or along the motion without friction.

    Returns:
        False where the matrix of the mode that tells them is singular.
    """
    slip, state, forces, accelerations = iterate.slip, iterate.state, iterate.forces, iterate.accelerations
    for i in range(state.shape[0]):
        state[i] = intended[i]
        if intended[i] == _SLIP and not moving[i]:
            slip[i, 0] = 0.0
            slip[i, 1] = 0.0
            if not without_friction:
                state[i] = _STICK
    for k in range(forces.shape[0]):
        forces[k] = 0.0  # no curvature in the first step
        accelerations[k] = 0.0
    regular = hold_mode(dynamics, moving, iterate, scratch)
    contact_accelerations(dynamics.G, dynamics.b, forces, accelerations)
    for i in range(state.shape[0]):
        if intended[i] == _SLIP and not moving[i]:
            state[i] = _SLIP
            if not without_friction:
                for k in range(2):
                    accelerations[3 * i + 1 + k] = -forces[3 * i + 1 + k]
    _turn_slips(slip, moving, state, accelerations)
    for k in range(forces.shape[0]):
        forces[k] = 0.0
    return regular


@kernel
def _turn_slips(slip, moving, state, accelerations):
    """Let contacts that start to slide in space do so along their acceleration."""
    for i in range(state.shape[0]):
        if state[i] == _SLIP and not moving[i]:
            rate = math.hypot(accelerations[3 * i + 1], accelerations[3 * i + 2])
            for k in range(2):
                if rate > 0.0:
                    slip[i, k] = accelerations[3 * i + 1 + k] / rate
