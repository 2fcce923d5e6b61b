"""What is believed of the contacts: a Bayes filter over open, sticking and slipping.

Contacts are believed in jointly within groups of at most four (3⁴ = 81 states), and independently between groups. A
state's number in its group has one digit in base three for each member, the first member's the lowest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.belief_likelihoods import (
    is_arm,
    joint_likelihoods,
    single_likelihoods,
)
from hybrid_contact_ros.kernels.estimation.belief_records import BeliefInput, BeliefSettings
from hybrid_contact_ros.kernels.estimation.records import Array, Codes
from hybrid_contact_ros.kernels.estimation.sensor_likelihoods import EVIDENCE, steer

_TOUCHDOWN, _LIFTOFF = int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_SLIP, _STICK = int(EventKind.SLIP), int(EventKind.STICK)
GROUP = 4
"""Contacts in a group, at most."""
STATES = 81
"""Of a group of four."""
_CLOSED = np.array([sum(1 << j for j in range(GROUP) if state // 3**j % 3) for state in range(STATES)])
"""(STATES,): bit j says whether member j is closed in a state."""
_LEAST = 1e-9  # A belief is never below this: what was ruled out can be believed again.
# m, by which an arm's table may be higher than was configured; deviations; m/s: a tip is as fast at least; and s: what
# it does not reach so soon, it hardly touches.
_STEP, _SIGMAS, _CREEPS, _SOON = 0.03, 3.0, 0.05, 0.05
_START = (0.5, 0.4, 0.1)  # before the first state
_LONGEST = 1.0  # s: after a longer pause as much is forgotten as after this


class BeliefMemory(NamedTuple):
    """What is remembered of m contacts in g groups."""

    belief: Array  # (g, STATES), sums to 1 in each group; negative before the first state
    kind: Codes  # (m,), the next event that was foretold with the last state
    times: Array  # (m, 3), s after that state: time, earliest, latest
    held: Array  # (m,), in [0, 1], of :func:`~.held_feet.learn_held`
    forces: Array  # (m, COLUMNS), of :mod:`.landed_forces`


class BeliefScratch(NamedTuple):
    """Work arrays of one group."""

    transition: Array  # (GROUP, 3, 3)
    single: Array  # (GROUP, 3)
    joint: Array  # (2^GROUP,)
    L: Array  # (GROUP, GROUP)
    x: Array  # (GROUP,)


@kernel
def contact_belief(
    # settings:
    gap_sigma, swing_height, sunk, swing_speed, swing_slide, slip_speed, rest_speed, load_sigma, load_limit,
    slip_sigma, slip_limit, force_part, share, outliers, gap_correlation, velocity_correlation, load_correlation,
    force_correlation, touchdown_rate, liftoff_rate, slip_rate, stick_rate, foresight, foresight_sigma, sigmas,
    # groups:
    members,
    # problem:
    dt, first, trusted, observed, touching, gap, gap_sigmas, surfaces, own, rate, rate_sigmas, spread, slide, quiet,
    load, force, force_covariance, doubt, force_weight, stood, late, link_of,
    # memory:
    belief, kind, times, held, forces,
    # scratch:
    transition, single, joint, L, x,
    # sensors:
    beside,
    # out:
    probability,
):  # fmt: skip
    """Predict with the transitions since the last state, and update with the likelihoods of this one.

    Args: the members of BeliefSettings, BeliefInput, BeliefMemory and BeliefScratch.
        members: (g, GROUP) int64, the contacts of each group, −1 where there is none.
        beside: (m, COLUMNS), of :mod:`.sensor_likelihoods`.
        probability: out (m, 2), that each contact is closed, and that it slips.
    """
    settings = BeliefSettings(
        gap_sigma, swing_height, sunk, swing_speed, swing_slide, slip_speed, rest_speed, load_sigma, load_limit,
        slip_sigma, slip_limit, force_part, share, outliers, gap_correlation, velocity_correlation, load_correlation,
        force_correlation, touchdown_rate, liftoff_rate, slip_rate, stick_rate, foresight, foresight_sigma, sigmas,
    )  # fmt: skip
    given = BeliefInput(
        dt, first, trusted, observed, touching, gap, gap_sigmas, surfaces, own, rate, rate_sigmas, spread, slide,
        quiet, load, force, force_covariance, doubt, force_weight, stood, late, link_of,
    )  # fmt: skip
    memory = BeliefMemory(belief, kind, times, held, forces)
    scratch = BeliefScratch(transition, single, joint, L, x)
    for g in range(members.shape[0]):
        k = 0
        while k < GROUP and members[g, k] >= 0:
            k += 1
        for j in range(k):
            transitions(members[g, j], settings, given.dt, memory, scratch.transition[j])
            if is_arm(settings):
                heed_reach(members[g, j], given, scratch.transition[j])
            single_likelihoods(members[g, j], settings, given, memory.held, memory.forces, scratch.single[j])
            # What foot sensors, shocks and commands say beside.
            steer(beside[members[g, j]], scratch.transition[j])
            for a in range(1, 3):
                scratch.single[j, a] += beside[members[g, j], EVIDENCE]
        joined = given.trusted and given.observed
        if joined:
            joint_likelihoods(members[g], k, settings, given, memory.forces, scratch.L, scratch.x, scratch.joint)
        _step(k, given.first, joined, scratch, memory.belief[g])
        _marginals(members[g], k, memory.belief[g], probability)


@kernel
def heed_reach(i, given, out):
    """Lower the probability (3, 3) that the tip of an arm touches without any sign of it, by how far it is above where
    its table may be. A foot may meet the ground anywhere."""
    far = given.gap[i] - _STEP - _SIGMAS * math.hypot(given.gap_sigmas[i], given.surfaces[i])
    if far > 0.0:
        soonest = far / max(-given.rate[i] + _SIGMAS * given.rate_sigmas[i], _CREEPS)
        part = min(1.0, (_SOON / soonest) ** 2)
        out[0, 1] *= part
        out[0, 2] *= part
        out[0, 0] = 1.0 - out[0, 1] - out[0, 2]


@kernel
def transitions(i, settings, dt, memory, out):
    """The transition matrix (3, 3) of contact i over ``dt``: out[a, b] from a to b, each of open, sticking, slipping.

    Each change has a rate without any prediction. The event that was foretold with the last state adds the hazard of a
    logistic distribution of its time, given that it has not happened.
    """
    s = settings
    dt = min(max(dt, 0.0), _LONGEST)
    down, up = s.touchdown_rate * dt, s.liftoff_rate * dt
    slip, stick = s.slip_rate * dt, s.stick_rate * dt
    kind = memory.kind[i]
    if kind and dt > 0.0:
        hazard = s.foresight * _hazard(dt, memory.times[i], s.foresight_sigma, s.sigmas)
        if kind == _TOUCHDOWN:
            down += hazard
        elif kind == _LIFTOFF:
            up += hazard
        elif kind == _SLIP:
            slip += hazard
        elif kind == _STICK:
            stick += hazard
    down, up = 1.0 - math.exp(-down), 1.0 - math.exp(-up)
    slip, stick = 1.0 - math.exp(-slip), 1.0 - math.exp(-stick)
    sliding = s.slip_rate / max(s.slip_rate + s.stick_rate, 1e-300)  # the part of contacts that touch and slide
    out[0, 0] = 1.0 - down
    out[0, 1] = down * (1.0 - sliding)
    out[0, 2] = down * sliding
    out[1, 0] = up
    out[1, 1] = (1.0 - up) * (1.0 - slip)
    out[1, 2] = (1.0 - up) * slip
    out[2, 0] = up
    out[2, 1] = (1.0 - up) * stick
    out[2, 2] = (1.0 - up) * (1.0 - stick)


@kernel
def _hazard(dt, times, least, sigmas):
    """The hazard of a logistic time, integrated over the ``dt`` after the state that foretold it."""
    time = times[0]
    if not time < math.inf:
        return 0.0
    width = times[2] - times[1]
    if not width < math.inf:  # it may never happen by itself
        width = 4.0 * max(time - times[1], 0.0)
    sigma = math.sqrt((0.5 * width / max(sigmas, 0.5)) ** 2 + least * least)
    scale = max(sigma * 0.5513288954217921, 1e-6)  # √3/π: of a logistic distribution with this standard deviation
    before, after = -time / scale, (dt - time) / scale
    return _softplus(after) - _softplus(before)


@kernel
def _softplus(x):
    """log(1 + eˣ)."""
    return x + math.log1p(math.exp(-x)) if x > 0.0 else math.log1p(math.exp(x))


@kernel
def _step(k, first, joined, scratch, belief):
    """One step of the forward filter of a group of ``k`` contacts."""
    count = 1
    for _ in range(k):
        count *= 3
    if first or belief[0] < 0.0:
        for state in range(count):
            digits, product = state, 1.0
            for _ in range(k):
                product *= _START[digits % 3]
                digits //= 3
            belief[state] = product
    else:
        stride = 1
        for j in range(k):
            T = scratch.transition[j]
            for block in range(0, count, 3 * stride):
                for base in range(block, block + stride):
                    a, b, c = belief[base], belief[base + stride], belief[base + 2 * stride]
                    for to in range(3):
                        belief[base + to * stride] = a * T[0, to] + b * T[1, to] + c * T[2, to]
            stride *= 3
    # Logarithms relative to the best of each contact: products of at most five factors, none below e⁻²⁰⁰.
    single, joint = scratch.single, scratch.joint
    for j in range(k):
        best = max(single[j, 0], single[j, 1], single[j, 2])
        for a in range(3):
            single[j, a] = math.exp(max(single[j, a] - best, -120.0))
    if joined:
        for chosen in range(1 << k):
            joint[chosen] = math.exp(max(joint[chosen], -100.0))
    for state in range(count):
        belief[state] = max(belief[state], 1e-30)
    stride = 1
    for j in range(k):
        for block in range(0, count, 3 * stride):
            for digit in range(3):
                for state in range(block + digit * stride, block + (digit + 1) * stride):
                    belief[state] *= single[j, digit]
        stride *= 3
    total = 0.0
    for state in range(count):
        if joined:
            belief[state] *= joint[_CLOSED[state]]
        total += belief[state]
    rest = 0.0
    for state in range(count):
        belief[state] = max(belief[state] / total, _LEAST)
        rest += belief[state]
    for state in range(count):
        belief[state] /= rest


@kernel
def _marginals(members, k, belief, probability):
    """Write the probabilities (m, 2) of a group's members to be closed, and to slip."""
    count = 1
    for _ in range(k):
        count *= 3
    stride = 1
    for j in range(k):
        closed = slips = 0.0
        for block in range(0, count, 3 * stride):
            for state in range(block + stride, block + 3 * stride):
                closed += belief[state]
            for state in range(block + 2 * stride, block + 3 * stride):
                slips += belief[state]
        probability[members[j], 0] = min(closed, 1.0)
        probability[members[j], 1] = slips
        stride *= 3
