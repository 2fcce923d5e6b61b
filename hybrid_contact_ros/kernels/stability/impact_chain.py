"""Impacts that follow each other at one configuration, as contacts touch at almost the same time.

The touchdowns are so near that configuration and forces do not change in between: velocities u = J v jump from impact
to impact, and gaps, measured in the unit of time between the touchdowns, are straight lines. Every impact is one
complementarity problem u⁺ = u⁻ + G Λ of the contact that touches and of all that rest, with Coulomb friction at the
velocity after it (Halm (31) with a round cone), and after it Poisson's restitution. What an impact drives apart leaves
the ground, and comes back at its own time if a later impact turns it round. Between two impacts a resting contact whose
force would have to pull has left, too.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.stability.chain_impact import leave_pulling, strike
from hybrid_contact_ros.kernels.stability.chain_records import ChainLog, ChainProblem, ChainScratch, ChainState

_SOLVED, _INACCURATE, _STEP_LIMIT = int(Status.SOLVED), int(Status.INACCURATE), int(Status.STEP_LIMIT)
_RESTS = 1e-6  # of the fastest contact velocity: a contact that is slower along its normal rests
_TOGETHER = 1e-9  # of the time passed: arrivals that differ by less are one impact


@kernel
def impact_chain(
    # problem:
    d, most, steps, tolerance, G, b, friction, restitution,
    # start:
    closed, times, before,
    # scratch:
    A, work, order, met, scope, moving, slip, state, solved, after, push, pressed, stopped, start, smooth,
    # state:
    on, gap, velocity, impulse,
    # log:
    struck, rests,
):  # fmt: skip
    """Follow the impacts of contacts whose touchdowns come at the given ``times``, until none approaches any more.

    Args:
        d … restitution: :class:`ChainProblem`.
        closed, times, before: :class:`ChainStart`.
        A … smooth: :class:`ChainScratch`. on … impulse: out, :class:`ChainState`. struck, rests: out,
            :class:`ChainLog`, of ``most`` rows, or of none where the word is not asked for.

    Returns:
        (status, impacts, residual): SOLVED; STEP_LIMIT where contacts still approach after ``most`` impacts;
        INACCURATE where an impact was not solved, which ends the chain. The largest residual of the impacts.
    """
    problem = ChainProblem(d, most, steps, tolerance, G, b, friction, restitution)
    scratch = ChainScratch(
        A, work, order, met, scope, moving, slip, state, solved, after, push, pressed, stopped, start, smooth
    )  # fmt: skip
    chain = ChainState(on, gap, velocity, impulse)
    log = ChainLog(struck, rests)
    start_chain(d, closed, times, before, chain)
    return follow_chain(0, resting_speed(before), problem, scratch, chain, log)


@kernel
def resting_speed(velocity):
    """The normal speed (m/s) below which a contact rests, of contact velocities (n,)."""
    fastest = 0.0
    for k in range(velocity.shape[0]):
        fastest = max(fastest, abs(velocity[k]))
    return _RESTS * fastest


@kernel
def start_chain(d, closed, times, before, chain):
    """Write the state before the first touchdown. A contact that would touch first, and does not approach, rests."""
    m = closed.shape[0]
    w = 1 + d
    resting = resting_speed(before)
    first = math.inf
    for i in range(m):
        first = min(first, times[i])
    for k in range(m * w):
        chain.velocity[k] = before[k]
        chain.impulse[k] = 0.0
    for i in range(m):
        u = before[i * w]
        chain.on[i] = 1 if closed[i] or (times[i] == first and abs(u) <= resting) else 0
        chain.gap[i] = 0.0
        if chain.on[i]:
            chain.velocity[i * w] = 0.0
        elif times[i] == math.inf:
            chain.gap[i] = math.inf
        elif times[i] > first and u < -resting:
            chain.gap[i] = -u * (times[i] - first)


@kernel
def follow_chain(impacts, resting, problem, scratch, chain, log):
    """Follow a chain that has made ``impacts``; arguments and return values as of :func:`impact_chain`.

    ``resting``: m/s, slower contacts rest (:func:`resting_speed` of the velocities before the first impact).
    """
    worst = 0.0
    w = 1 + problem.d
    m = problem.friction.shape[0]
    logged = log.struck.shape[0] > 0
    while True:
        soonest = math.inf
        for i in range(m):
            u = chain.velocity[i * w]
            if not chain.on[i] and u < -resting and chain.gap[i] < math.inf:
                soonest = min(soonest, chain.gap[i] / -u)
        if soonest == math.inf:
            return _SOLVED, impacts, worst
        if impacts == problem.most:
            return _STEP_LIMIT, impacts, worst
        if soonest > 0.0 and impacts > 0:
            leave_pulling(resting, problem, scratch, chain)
        for i in range(m):
            u = chain.velocity[i * w]
            arrives = not chain.on[i] and u < -resting and chain.gap[i] <= -u * soonest * (1.0 + _TOGETHER)
            if logged:
                log.struck[impacts, i] = arrives
            if arrives:
                chain.gap[i] = 0.0
            elif not chain.on[i]:
                chain.gap[i] += u * soonest
            scratch.met[i] = arrives or chain.on[i]
        solved, residual = strike(resting, problem, scratch, chain)
        worst = max(worst, residual)
        if logged:
            for i in range(m):
                log.rests[impacts, i] = chain.on[i]
        impacts += 1
        if not solved:
            return _INACCURATE, impacts, worst
