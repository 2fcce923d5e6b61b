"""A landing whose contacts touch one after the other, with the flow between their touches.

At each touch the law of a landing (:mod:`.landing_law`) acts at all contacts that have landed by then. Between touches
gravity, the measured torques and the forces of the landed contacts act, and drives that hold a course resist the change
of their joints' velocities since the first touch, with the gain D (N m s/rad):

    M (v' − v) = −dt (h − Sᵀτ + D (v' − v⁻)) + Jᵀ λ,

which is the same law with k = D dt and D (v − v⁻) added to the bias: an implicit step, so that stiff gains do not
oscillate. Mass, Jacobians and bias stay those of v⁻: over the milliseconds of a cluster the geometry hardly changes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.landing_law import Landing, LandingScratch, landing_outcomes

Array = NDArray[np.float64]

_SOLVED, _SINGULAR = int(Status.SOLVED), int(Status.SINGULAR)
_SAME = 1e-7  # s: touches that are closer are one
_STEP = 0.003  # s, of the flow at most


class ChainLaw(NamedTuple):
    """The law at each touch."""

    duration: float  # s, after the last touch
    drive: Array  # k (1, n), kg m²
    friction: Array  # μ (1, m)
    rebound: Array  # e (m,)


class ChainCases(NamedTuple):
    """What is not known, one row for each case."""

    touch: Array  # (cases, m), s after v⁻; negative: the contact stands
    gain: Array  # D (cases, n), N m s/rad


class ChainScratch(NamedTuple):
    """Scratch beside that of the law."""

    time: Array  # (1,)
    flow: Array  # k of the flow (1, n)
    course: Array  # bias of the flow (n,)
    now: Array  # v (n,)
    left: Array  # w (1, r)
    push: Array  # λ (1, r)
    found: Array  # v (1, n)
    residual: Array  # (1,)


class ChainOut(NamedTuple):
    """The outcomes."""

    velocities: Array  # v⁺ (cases, n)
    residuals: Array  # (cases,), largest of the steps


def chain_scratch(r: int, n: int) -> ChainScratch:
    """Scratch for r rows and n coordinates."""
    return ChainScratch(
        np.zeros(1), np.zeros((1, n)), np.zeros(n), np.zeros(n), np.zeros((1, r)), np.zeros((1, r)), np.zeros((1, n)),
        np.zeros(1),
    )  # fmt: skip


@kernel
def _step(steps, tolerance, landing, bias, drive, friction, law, scratch):
    """One step of the law from ``scratch.now`` to the same; (status, residual)."""
    status, residual = landing_outcomes(
        steps, tolerance, landing.d, landing.mass, bias, landing.rows, scratch.now, scratch.time, drive, friction,
        scratch.left, law.L, law.half, law.G, law.b, law.drift, law.slip, law.state, law.touching, law.moving,
        law.after, law.A, law.work, law.order, scratch.found, scratch.push, scratch.residual,
    )  # fmt: skip
    for j in range(scratch.now.shape[0]):
        scratch.now[j] = scratch.found[0, j]
    return status, residual


@kernel
def _next_touch(touch, now):
    """Time of the first touch after ``now``; infinite for none."""
    when = math.inf
    for i in range(touch.shape[0]):
        if touch[i] > now + _SAME and touch[i] < when:
            when = touch[i]
    return when


@kernel
def _land(landing, touch, when, rebound, law, scratch):
    """Let contacts that touch at ``when`` land: they may push from now on, and leave with their rebound."""
    w = 1 + landing.d
    for i in range(touch.shape[0]):
        if touch[i] >= 0.0 and abs(touch[i] - when) <= _SAME:
            law.touching[i] = 1
            speed = 0.0
            for j in range(scratch.now.shape[0]):
                speed += landing.rows[i * w, j] * scratch.now[j]
            scratch.left[0, i * w] = -rebound[i] * min(speed, 0.0)


@kernel
def landing_chain(
    # constants:
    steps, tolerance,
    # landing:
    d, mass, bias, rows, velocity,
    # law:
    duration, drive, friction, rebound,
    # cases:
    touch, gain,
    # scratch:
    L, half, G, b, drift, slip, state, touching, moving, after, A, work, order,
    time, flow, course, now, left, push, found, residual,
    # out:
    velocities, residuals,
):  # fmt: skip
    """Follow each case from touch to touch. The members of Landing, ChainLaw, ChainCases, LandingScratch, ChainScratch
    and ChainOut.

    Returns:
        (status, largest residual), the worst of all steps of all cases, as of :func:`.landing_law.landing_outcomes`.
    """
    landing = Landing(d, mass, bias, rows, velocity)
    law = LandingScratch(L, half, G, b, drift, slip, state, touching, moving, after, A, work, order)
    scratch = ChainScratch(time, flow, course, now, left, push, found, residual)
    m, n = rebound.shape[0], velocity.shape[0]
    code, worst = _SOLVED, 0.0
    for case in range(touch.shape[0]):
        residuals[case] = 0.0
        for j in range(n):
            now[j] = velocity[j]
        for i in range(m):
            touching[i] = touch[case, i] < 0.0
        when = _next_touch(touch[case], -1.0)
        while when < math.inf:
            left[:] = 0.0
            _land(landing, touch[case], when, rebound, law, scratch)
            later = _next_touch(touch[case], when)
            time[0] = duration if later == math.inf else 0.0
            status, size = _step(steps, tolerance, landing, bias, drive, friction, law, scratch)
            left[:] = 0.0
            pieces = 0 if later == math.inf else math.ceil((later - when) / _STEP)
            for _ in range(pieces):
                time[0] = (later - when) / pieces
                for j in range(n):
                    flow[0, j] = gain[case, j] * time[0]
                    course[j] = bias[j] + gain[case, j] * (now[j] - velocity[j])
                other, off = _step(steps, tolerance, landing, course, flow, friction, law, scratch)
                status, size = max(status, other), max(size, off)
            residuals[case] = max(residuals[case], size)
            code, worst = max(code, status), max(worst, size)
            if residuals[case] == math.inf:
                break
            when = later
        for j in range(n):
            velocities[case, j] = now[j]
        for i in range(m):
            touching[i] = 1  # as the law's scratch begins
    return code, worst
