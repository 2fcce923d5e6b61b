"""How late one stream comes against another: efforts, the base and an inertial unit against joint states.

A stream that is δ late says x(t − δ) ≈ x − δ ẋ, so that what it is off by is −δ ẋ, and least squares over time give δ.
Each regression needs something that a late stream contradicts:

- the base: contacts that stand do not move. With angular velocity ω that is late, those of two feet differ by
  −δ ω̇ × (p_i − p_j); the base's linear velocity cancels;
- an inertial unit: its angular velocity against that of the base, where that is not the unit's own.

Both go through the same low-pass on both sides, which leaves δ as it is. How late efforts are is learned together with
their other errors (:mod:`.error_squares`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.records import Array

STREAMS = 2
BASE, UNIT = range(STREAMS)
_SMOOTH = 0.02  # s, of the low-pass
_RECALL = 20.0  # s, over which an offset is learned
_STILL = 0.15  # m/s: a closed contact that is faster slides, or has just landed


class OffsetMemory(NamedTuple):
    """What is remembered."""

    sums: Array  # (STREAMS, 4): Σ −x ẋ, Σ ẋ², Σ x² over time, and s
    slow: Array  # (2, 3): low-passed ω of the base, and of the unit less that
    feet: Array  # (m, 3), low-passed velocities of the contacts, world axes
    steps: Array  # (m,), s since each contact is closed
    spin: Array  # (4,), of the unit; 1 + the age (s) of that, 0 without


@kernel
def learn_offsets(dt, floating, spin, rows, tangents, normals, flat_velocity, closed, memory):
    """Take one state.

    Args:
        spin: ω of the base (3,), its own axes. flat_velocity: (3 m,), of contacts.
    """
    if not 0.0 < dt <= LONGEST_PAUSE:
        for i in range(memory.steps.shape[0]):
            memory.steps[i] = 0.0
        return
    keep = math.exp(-dt / _RECALL)
    if floating:
        share = 1.0 - math.exp(-dt / _SMOOTH)
        _base(dt, keep, share, spin, rows, tangents, normals, flat_velocity, closed, memory)
        if memory.spin[3] > 0.0:
            for k in range(3):
                off = memory.spin[k] - spin[k]
                memory.slow[1, k] += share * (off - memory.slow[1, k])
                rate = (spin[k] - memory.slow[0, k]) / _SMOOTH
                aged = memory.slow[1, k] + (memory.spin[3] - 1.0) * rate
                _add(dt, keep, k == 0, aged, rate, memory.sums[UNIT])
        for k in range(3):
            memory.slow[0, k] += share * (spin[k] - memory.slow[0, k])


@kernel
def _add(dt, keep, first, off, rate, sums):
    """Add one pair to a regression; ``first``: of a state."""
    if first:
        for k in range(4):
            sums[k] *= keep
        sums[3] += dt
    sums[0] -= dt * off * rate
    sums[1] += dt * rate * rate
    sums[2] += dt * off * off


@kernel
def _base(dt, keep, share, spin, rows, tangents, normals, flat_velocity, closed, memory):
    """Velocities of contacts that stand, less their mean, along those that a later ω would give them."""
    m = closed.shape[0]
    count, first = 0, True
    mean = (0.0, 0.0, 0.0)
    for i in range(m):
        speed = 0.0
        for axis in range(3):
            u = _along(axis, i, normals, tangents, flat_velocity)
            memory.feet[i, axis] += share * (u - memory.feet[i, axis])
            speed += memory.feet[i, axis] ** 2
        still = closed[i] and speed < _STILL * _STILL
        memory.steps[i] = memory.steps[i] + dt if still else 0.0
        if memory.steps[i] > 3.0 * _SMOOTH:
            count += 1
            mean = (mean[0] + memory.feet[i, 0], mean[1] + memory.feet[i, 1], mean[2] + memory.feet[i, 2])
    if count < 2:
        return
    turning = (
        (spin[0] - memory.slow[0, 0]) / _SMOOTH,
        (spin[1] - memory.slow[0, 1]) / _SMOOTH,
        (spin[2] - memory.slow[0, 2]) / _SMOOTH,
    )
    for axis in range(3):
        middle = 0.0
        for i in range(m):
            if memory.steps[i] > 3.0 * _SMOOTH:
                middle += _turned(axis, i, normals, tangents, rows, turning) / count
        for i in range(m):
            if memory.steps[i] > 3.0 * _SMOOTH:
                rate = _turned(axis, i, normals, tangents, rows, turning) - middle
                _add(dt, keep, first, memory.feet[i, axis] - mean[axis] / count, rate, memory.sums[BASE])
                first = False


@kernel
def _along(axis, i, normals, tangents, flat):
    """A component in world axes of what is given along the normal and the tangents of contact i."""
    return (
        normals[i, axis] * flat[3 * i] + tangents[i, 0, axis] * flat[3 * i + 1] + tangents[i, 1, axis] * flat[3 * i + 2]
    )


@kernel
def _turned(axis, i, normals, tangents, rows, spin):
    """A component in world axes of the velocity of contact i that ``spin`` of the base gives it."""
    total = 0.0
    for side in range(3):
        u = rows[i, side, 3] * spin[0] + rows[i, side, 4] * spin[1] + rows[i, side, 5] * spin[2]
        total += (normals[i, axis] if side == 0 else tangents[i, side - 1, axis]) * u
    return total


def offset_memory(m: int) -> OffsetMemory:
    """Nothing is known."""
    return OffsetMemory(
        sums=np.zeros((STREAMS, 4)), slow=np.zeros((2, 3)), feet=np.zeros((m, 3)), steps=np.zeros(m), spin=np.zeros(4)
    )
