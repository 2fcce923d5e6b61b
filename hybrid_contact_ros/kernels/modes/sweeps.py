"""Gauss-Seidel sweeps over the single contacts of a force-acceleration problem (:mod:`.friction`)."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import FrictionState
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.linear_system import SHIFT
from hybrid_contact_ros.kernels.modes.local_friction import moving_contact, resting_contact
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, contact_scale

_OPEN = int(FrictionState.OPEN)


@kernel
def sweep(sweeps, unchanged, dynamics, touching, moving, iterate, work):
    """Solve each contact's own problem in turn, with the newest forces of the others.

    Args:
        sweeps: at most. unchanged: sweeps in which no contact changes its state that end the search sooner.
        dynamics, touching, moving, iterate: as of :func:`~.friction.solve_modes`. work: scratch (2, n).

    Returns:
        The number of sweeps made.
    """
    d, G, friction = dynamics.d, dynamics.G, dynamics.friction
    slip, state, forces, accelerations = iterate.slip, iterate.state, iterate.forces, iterate.accelerations
    n = forces.shape[0]
    w = 1 + d
    residual = work[0]
    force = work[1]
    for i in range(friction.shape[0]):
        finite = True
        for k in range(w):
            finite &= math.isfinite(forces[i * w + k])
        if state[i] == _OPEN or forces[i * w] < 0.0 or not finite:
            for k in range(w):
                forces[i * w + k] = 0.0
    contact_accelerations(G, dynamics.b, forces, accelerations)
    still = 0
    for done in range(sweeps):
        still += 1
        for i in range(friction.shape[0]):
            if not touching[i]:
                continue
            f = i * w
            for k in range(w):
                total = accelerations[f + k]
                for j in range(f, f + w):
                    total -= G[f + k, j] * forces[j]
                residual[k] = total
            g = SHIFT * contact_scale(d, f, G)
            before = state[i]
            if moving[i]:
                state[i] = moving_contact(d, f, friction[i], g, G, slip[i], residual, force)
            else:
                state[i] = resting_contact(d, f, friction[i], g, G, residual, force)
            if state[i] != before:
                still = 0
            for k in range(w):
                change = force[k] - forces[f + k]
                if change != 0.0:
                    forces[f + k] = force[k]
                    for j in range(n):
                        accelerations[j] += G[f + k, j] * change
        if still >= unchanged:
            return done + 1
    return sweeps
