"""How a robot moves at one node of the tree of words: the contact mode, and the accelerations in it."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import ContactStatus, FrictionState, Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.forces import force_acceleration
from hybrid_contact_ros.kernels.modes.local_friction import resting_contact
from hybrid_contact_ros.kernels.sensitivity.local_model import dot, free_motion

_SOLVED = int(Status.SOLVED)
_STICKING, _STICK = int(ContactStatus.STICKING), int(FrictionState.STICK)
_JAMS = 1e-3  # of its mobility: a slide with less of it under friction is left to the solver of modes


@kernel
def contact_velocities(level, local, levels):
    for r in range(local.J.shape[0]):
        levels.contact[level, r] = dot(local.J[r], levels.velocity[level], local.J.shape[1])


@kernel
def level_motion(level, resting, settings, robot, gravity, spheres, problem, local, modes, found, levels, impact):
    """Write v̇ of a level in the mode that the contacts of ``impact.scope`` lead to, and which of these stay closed.

    Returns:
        Whether the mode was found.
    """
    c = problem.which.shape[0]
    free_motion(
        robot, gravity, spheres, levels.velocity[level], problem, local, levels.acceleration[level], local.free
    )  # fmt: skip
    count = 0
    for i in range(c):
        levels.on[level, i] = 0
        levels.pull[level, i] = local.free[3 * i]
        count += impact.scope[i]
        for d in range(2):
            impact.sliding[i, d] = levels.contact[level, 3 * i + 1 + d]
    if count == 0:
        return True
    if count == 1 and _single(level, resting, local, found, levels, impact):
        return True
    code, _, _ = force_acceleration(
        2, False, settings.steps, math.inf, resting, settings.mode_tolerance,
        local.factor, local.bias, local.J, local.G, local.free, local.friction, impact.sliding, impact.scope,
        modes.A, modes.work, modes.order, modes.intended, modes.other_slip, modes.found, modes.other_forces,
        found.critical, found.jammed, found.moving, found.slip, found.state, found.forces, found.accelerations,
        found.acceleration, found.status,
    )  # fmt: skip
    if code != _SOLVED:
        return False
    for k in range(found.acceleration.shape[0]):
        levels.acceleration[level, k] = found.acceleration[k]
    for i in range(c):
        levels.on[level, i] = impact.scope[i] and found.status[i] >= _STICKING
        levels.pull[level, i] = found.accelerations[3 * i]
    return True


@kernel
def _single(level, resting, local, found, levels, impact):
    """Write the motion where one contact rests, and sticks or slides on under pressure; returns whether that is so."""
    only = 0
    while not impact.scope[only]:
        only += 1
    f = 3 * only
    force, mu = found.forces[f : f + 3], local.friction[only]
    speed = math.hypot(impact.sliding[only, 0], impact.sliding[only, 1])
    if speed <= resting:
        if mu == 0.0 or resting_contact(2, f, mu, 0.0, local.G, local.free[f : f + 3], force) != _STICK:
            return False
    else:
        x, y = mu * impact.sliding[only, 0] / speed, mu * impact.sliding[only, 1] / speed
        stiff = local.G[f, f] - x * local.G[f, f + 1] - y * local.G[f, f + 2]
        if local.free[f] >= 0.0 or stiff <= _JAMS * local.G[f, f]:
            return False
        force[0] = -local.free[f] / stiff
        force[1], force[2] = -x * force[0], -y * force[0]
    levels.on[level, only] = 1
    for k in range(levels.acceleration.shape[1]):
        for d in range(3):
            levels.acceleration[level, k] += local.A[f + d, k] * force[d]
    for i in range(levels.pull.shape[1]):
        for d in range(3):
            levels.pull[level, i] += local.G[3 * i, f + d] * force[d]
    return True
