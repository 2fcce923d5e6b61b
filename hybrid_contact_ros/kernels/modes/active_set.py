"""Which contacts are open, stick or slide, told from forces and accelerations: the active set of the mode solver."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import FrictionState
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.linear_system import SHIFT
from hybrid_contact_ros.kernels.modes.residual import contact_scale

_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)
_SAME_DIRECTION = 1e-5  # change of a slip direction between Newton steps that does not count as one
_INSIDE_CONE = 1.0 - 1e-6  # a tangential force below this part of μ λ_n sticks; above it may be rounding of the edge


@kernel
def admit_states(d, touching, moving, slip, state):
    """Make a first guess of states one that the solver can start from."""
    for i in range(state.shape[0]):
        if not touching[i]:
            state[i] = _OPEN
        elif state[i] == _SLIP and not moving[i]:
            size = 0.0
            for k in range(d):
                size += slip[i, k] * slip[i, k]
            if size < 0.5:
                state[i] = _STICK  # its direction is not known yet
        elif moving[i] and state[i] == _STICK:
            state[i] = _SLIP


@kernel
def name_states(tolerance, dynamics, touching, moving, iterate):
    """Write the active set that forces suggest, and the directions in which friction says that contacts start to
    slide."""
    d, G, friction = dynamics.d, dynamics.G, dynamics.friction
    slip, state, forces, accelerations = iterate.slip, iterate.state, iterate.forces, iterate.accelerations
    for i in range(friction.shape[0]):
        if not touching[i]:
            continue
        f = i * (1 + d)
        if moving[i]:
            state[i] = _SLIP if forces[f] > 0.0 else _OPEN
            continue
        size = 0.0
        rate = 0.0
        for k in range(d):
            size += forces[f + 1 + k] ** 2
            rate += accelerations[f + 1 + k] ** 2
        size = math.sqrt(size)
        rate = math.sqrt(rate)
        if not forces[f] > 0.0:
            state[i] = _OPEN
        elif size < friction[i] * forces[f] * _INSIDE_CONE or rate <= tolerance * contact_scale(d, f, G) * forces[f]:
            state[i] = _STICK
        else:
            state[i] = _SLIP
            for k in range(d):
                slip[i, k] = -forces[f + 1 + k] / size if size > 0.0 else 0.0


@kernel
def update_states(small, dynamics, touching, moving, iterate):
    """Move each contact whose condition fails by more than ``small`` (m/s²) to another state, and let directions of
    slip follow the accelerations.

    Returns:
        Whether anything changed; False means that the forces hold the mode.
    """
    d, G, friction = dynamics.d, dynamics.G, dynamics.friction
    slip, state, forces, accelerations = iterate.slip, iterate.state, iterate.forces, iterate.accelerations
    changed = False
    for i in range(friction.shape[0]):
        if not touching[i]:
            continue
        f = i * (1 + d)
        if state[i] == _OPEN:
            if accelerations[f] < -small:
                state[i] = _SLIP if moving[i] else _STICK
                changed = True
            continue
        g = contact_scale(d, f, G)
        if forces[f] * g < -small:
            state[i] = _OPEN
            changed = True
            continue
        if moving[i]:
            continue
        if state[i] == _STICK:
            size = 0.0
            for k in range(d):
                size += forces[f + 1 + k] ** 2
            size = math.sqrt(size)
            if (size - friction[i] * forces[f]) * g > small:
                state[i] = _SLIP
                for k in range(d):
                    slip[i, k] = -forces[f + 1 + k] / size
                changed = True
            continue
        rate = 0.0
        along = 0.0
        for k in range(d):
            a = accelerations[f + 1 + k] + SHIFT * g * forces[f + 1 + k]
            rate += a * a
            along += a * slip[i, k]
        rate = math.sqrt(rate)
        if along < -small:
            state[i] = _STICK
            changed = True
        elif rate > small and d == 2:
            turn = 0.0
            for k in range(d):
                direction = (accelerations[f + 1 + k] + SHIFT * g * forces[f + 1 + k]) / rate
                turn += (direction - slip[i, k]) ** 2
                slip[i, k] = direction
            if turn > _SAME_DIRECTION * _SAME_DIRECTION:
                changed = True
    return changed
