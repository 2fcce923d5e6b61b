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
from hybrid_contact_ros.kernels.impacts.landing_law import (
    Landing,
    LandingScratch,
    begin,
    fall,
    follow,
    respond,
)

Array = NDArray[np.float64]

_SOLVED, _SINGULAR, _INACCURATE = int(Status.SOLVED), int(Status.SINGULAR), int(Status.INACCURATE)
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
    """Scratch beside that of the law, which keeps the response of the touches."""

    flow: Array  # k of the flow (n,)
    course: Array  # bias of the flow (n,)
    now: Array  # v (n,)
    left: Array  # w (r,)
    pushed: Array  # λ (r,)
    flow_factor: Array  # of the flow: L, half, G, drift and pull of LandingScratch
    flow_half: Array
    flow_response: Array
    flow_drift: Array
    flow_pull: Array


class ChainOut(NamedTuple):
    """The outcomes."""

    velocities: Array  # v⁺ (cases, n)
    residuals: Array  # (cases,), largest of the steps


def chain_scratch(r: int, n: int) -> ChainScratch:
    """Scratch for r rows and n coordinates."""
    return ChainScratch(
        np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(r), np.zeros(r), np.zeros((n, n)), np.zeros((r, n)),
        np.zeros((r, r)), np.zeros(n), np.zeros(r),
    )  # fmt: skip


@kernel
def _step(steps, tolerance, least, landing, duration, friction, law, scratch):
    """One step of the law from ``scratch.now`` to the same, with a response that is known; (whether the active set
    found the answer, residual)."""
    begin(landing.rows, scratch.now, law)
    exact, residual, _ = follow(
        steps, tolerance, least, landing.d, True, False, False, duration, friction, scratch.left, scratch.now, law,
        scratch.pushed, scratch.now,
    )  # fmt: skip
    return exact, residual


@kernel
def _steer(landing, gain, duration, known, law, scratch):
    """The response of a flow of ``duration`` under drives of gain D; ``known``: whether L is that of ``scratch.flow``
    already. Whether M + D dt is positive definite."""
    for j in range(gain.shape[0]):
        scratch.course[j] = landing.bias[j] + gain[j] * (scratch.now[j] - landing.velocity[j])
        known &= scratch.flow[j] == gain[j] * duration
    if not known:
        for j in range(gain.shape[0]):
            scratch.flow[j] = gain[j] * duration
        if not respond(landing, scratch.flow, law):
            return False
    fall(scratch.course, law)
    return True


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
            scratch.left[i * w] = -rebound[i] * min(speed, 0.0)


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
    L, half, G, drift, pull, free, b, push, slip, state, touching, moving, after, A, work, order,
    flow, course, now, left, pushed, flow_factor, flow_half, flow_response, flow_drift, flow_pull,
    # out:
    velocities, residuals,
):  # fmt: skip
    """Follow each case from touch to touch. The members of Landing, ChainLaw, ChainCases, LandingScratch, ChainScratch
    and ChainOut.

    M + diag k is factored once for all touches, and for flows as often as k changes. Residuals are over the fastest
    contact of v⁻ at least: in the flow contacts hardly move, and nobody needs more digits of that.

    Returns:
        (status, largest residual), the worst of all steps of all cases, as of :func:`.landing_law.landing_outcomes`.
    """
    landing = Landing(d, mass, bias, rows, velocity)
    law = LandingScratch(L, half, G, drift, pull, free, b, push, slip, state, touching, moving, after, A, work, order)
    flowing = LandingScratch(
        flow_factor, flow_half, flow_response, flow_drift, flow_pull, free, b, push, slip, state, touching, moving,
        after, A, work, order,
    )  # fmt: skip
    scratch = ChainScratch(
        flow, course, now, left, pushed, flow_factor, flow_half, flow_response, flow_drift, flow_pull
    )
    m, n = rebound.shape[0], velocity.shape[0]
    if not respond(landing, drive[0], law):
        for case in range(touch.shape[0]):
            residuals[case] = math.inf
        return _SINGULAR, math.inf
    fall(bias, law)
    begin(rows, velocity, law)
    code, worst, least, known = _SOLVED, 0.0, 0.0, False
    for i in range(free.shape[0]):
        least = max(least, abs(free[i]))
    for case in range(touch.shape[0]):
        residuals[case] = 0.0
        for j in range(n):
            now[j] = velocity[j]
        for i in range(m):
            touching[i] = touch[case, i] < 0.0
        when = _next_touch(touch[case], -1.0)
        while when < math.inf:
            later = _next_touch(touch[case], when)
            pieces = 0 if later == math.inf else math.ceil((later - when) / _STEP)
            for piece in range(pieces + 1):  # the touch, and the flow until the next
                left[:] = 0.0
                if piece == 0:
                    _land(landing, touch[case], when, rebound, law, scratch)
                    seconds = duration if later == math.inf else 0.0
                    exact, size = _step(
                        steps, tolerance, least, landing, seconds, friction[0], law, scratch
                    )  # fmt: skip
                else:
                    seconds = (later - when) / pieces
                    known = _steer(landing, gain[case], seconds, known, flowing, scratch)
                    exact, size = True, math.inf
                    if known:
                        exact, size = _step(
                            steps, tolerance, least, landing, seconds, friction[0], flowing, scratch
                        )  # fmt: skip
                residuals[case] = max(residuals[case], size)
                if size == math.inf:
                    code = _SINGULAR
                    break
                if not exact and not size <= tolerance:
                    code = max(code, _INACCURATE)
            worst = max(worst, residuals[case])
            if residuals[case] == math.inf:
                break
            when = later
        for j in range(n):
            velocities[case, j] = now[j]
        for i in range(m):
            touching[i] = 1  # as the law's scratch begins
    return code, worst
