"""Contact forces from what moves: the generalised-momentum observer (De Luca, Mattone 2003; Bledt et al. 2018)."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.observed_forces import contact_response, explaining_forces, world_forces
from hybrid_contact_ros.kernels.estimation.records import Array

LONGEST_PAUSE = 0.1
"""s: the observer does not integrate over a pause between states that is longer; it starts anew."""
_SETTLED = 1.0  # of its time constants, from when on its noise is about that of later
# A robot that moves when it is first seen tells nothing of its forces for so many: whether efforts explain its motion
# is not known yet, and those of springs and rods do not.
_KNOWN = 5.0
# Regularisation, relative to the mean of the diagonal of J M⁻² Jᵀ: of the forces that redundant contacts leave open,
# the least are chosen.
_REGULARISATION = 1e-8


class ObserverMemory(NamedTuple):
    """What the observer remembers."""

    residual: Array  # r (nv,), N or N m
    integral: Array  # (nv,)
    known: Array  # Sᵀτ + Cᵀv − g of the last state (nv,)
    drives_before: Array  # (nv,), their inertia that the last momentum was found with, kg m² (kg)
    age: Array  # (2,), s since it started, negative before that; and s for which it has run, pauses left out


@kernel
def observe_momentum(gain, dt, momentum, rate, effort, velocity, drives, memory):
    """Take one state, ``dt`` s after the last; start anew where dt is not within [0, ``LONGEST_PAUSE``].

    The residual r ≈ Jᵀλ is the first-order low-pass with bandwidth ``gain`` (1/s) of the generalised external force,

        r = K (p − ∫ (Sᵀτ + Cᵀv − g + r) dt),  p = M v,  K = gain.

    The integral is taken by the trapezoidal rule in the known terms and implicitly in r, so that it is stable at any
    rate of the states. A low-pass that starts from zero would say too little for five of its time constants. Until one
    has passed, r is therefore the mean force since the start (a gain of 1/t): it is right from the second state on, and
    after one time constant it is as certain as the low-pass ever is. A second state of the same time changes nothing.
    The observer needs efforts and, for a floating base, the measured velocity of the base. Its limits: forces that are
    not contact forces (a push on the trunk, friction in the joints, a payload) are in r all the same, and noise of v
    comes through amplified by K M.

    Args:
        momentum: p (nv,). rate: Cᵀv − g (nv,). effort: Sᵀτ (nv,). velocity: v (nv,). drives: (nv,), their inertia as
            far as M has it: no force makes the momentum leap where that is learned. memory: in and out, ObserverMemory.
    """
    if dt == 0.0 and memory.age[0] >= 0.0:
        return
    anew = memory.age[0] < 0.0 or not 0.0 < dt <= LONGEST_PAUSE
    if not anew:
        memory.age[1] += dt
    for k in range(momentum.shape[0]):
        memory.integral[k] += (drives[k] - memory.drives_before[k]) * velocity[k]
        memory.drives_before[k] = drives[k]
    share = 0.0 if anew else max(gain * dt / (1.0 + gain * dt), dt / (memory.age[0] + dt))
    for k in range(momentum.shape[0]):
        known = effort[k] + rate[k]
        if anew:
            memory.residual[k] = 0.0
        else:
            before = memory.residual[k]
            gained = momentum[k] - memory.integral[k] - before / gain - 0.5 * dt * (memory.known[k] + known)
            memory.residual[k] += share * (gained / dt - before)
        memory.integral[k] = momentum[k] - memory.residual[k] / gain
        memory.known[k] = known
    memory.age[0] = 0.0 if anew else memory.age[0] + dt


@kernel
def has_settled(gain, memory):
    """Whether the observer has run long enough since it started, and since the robot was first seen."""
    return gain > 0.0 and memory.age[0] * gain >= _SETTLED and memory.age[1] * gain >= _KNOWN


@kernel
def begins_at_rest(gain, memory):
    """Note that the robot of which the observer has just seen the first state is at rest: what holds it there are its
    contacts and efforts, and there is nothing to wait for."""
    if memory.age[0] == 0.0 and memory.age[1] == 0.0:
        memory.age[1] = _KNOWN / gain


@kernel
def observed_forces(normals, tangents, closed, L, motions, products, memory, chosen, A, work, world):
    """Forces at the closed contacts that explain the residual best: M⁻¹ J_cᵀ f ≈ M⁻¹ r, least squares.

    All of r is laid to the closed contacts. With redundant contacts, the
    parts of f that change no motion (internal forces) are undetermined, and the least ones are returned.

    Args:
        normals: (m, 3), tangents: (m, 2, 3), world frame. closed: (m,) uint8. L: of Measurement.
        motions, products: of UpdateScratch.
        memory: ObserverMemory.
        chosen: (m,) int64, A: (≥ n, ≥ n), work: (2, ≥ max(n, nv)); scratch.
        world: in and out, (m, 3), N, world frame; the rows of open contacts become NaN, and all of them where nothing
            is closed.
    """
    m = closed.shape[0]
    count = 0
    for i in range(m):
        for k in range(3):
            world[i, k] = math.nan
        if closed[i]:
            chosen[count] = i
            count += 1
    if count:
        response, shifted = work[0], work[1]
        contact_response(3 * m, L, motions, memory.residual, shifted, response)
        explaining_forces(3, _REGULARISATION, 0.0, products, response, chosen[:count], A, shifted, world)
    world_forces(normals, tangents, world, world)
