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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import FrictionState, Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.active_set import name_states
from hybrid_contact_ros.kernels.modes.friction import solve_modes
from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART, jams
from hybrid_contact_ros.kernels.modes.local_friction import resting_contact
from hybrid_contact_ros.kernels.modes.records import Array, ContactDynamics, ModeIterate, ModeScratch, mode_scratch
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, mode_residual, problem_scale
from hybrid_contact_ros.kernels.modes.sweeps import sweep

Codes = NDArray[np.uint8]
Indices = NDArray[np.int64]

_SOLVED, _INACCURATE, _STEP_LIMIT = int(Status.SOLVED), int(Status.INACCURATE), int(Status.STEP_LIMIT)
_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)
LITTLE = 1
"""Steps of splitting that stand for little work: weakly coupled contacts are solved by a few sweeps."""
_RESTS = 1e-6  # of the fastest contact velocity: a contact that is slower along its normal rests
_SLIDES = 1e2  # times that: a faster tangential velocity is a slide
_SLIDES_ON = 0.05  # of the fastest contact velocity: a contact that is faster after its own impulse is guessed to slide
_SWEEPS = 4
_TOGETHER = 1e-9  # of the time passed: arrivals that differ by less are one impact
_ENERGY = 1e-12  # of the work of an impact: a rise of the kinetic energy by less is rounding
_REBOUNDS = 60  # how often restitution is made smaller where it would raise the energy,
_SMALLER = 0.95  # each time by this


class ChainProblem(NamedTuple):
    """Contacts at one configuration: m of them with d tangents, n = m (1 + d) rows, normal first."""

    d: int
    most: int  # impacts that the chain may have
    steps: int  # of operator splitting at most, where an active set fails
    tolerance: float  # of the scaled residual of an impact
    G: Array  # (n, n), 1/kg: Delassus matrix
    b: Array  # (n,), m/s²: accelerations without contact forces
    friction: Array  # μ (m,)
    restitution: Array  # e (m,)


class ChainStart(NamedTuple):
    """What a chain begins with."""

    closed: Codes  # (m,): contacts that rest on the ground
    times: Array  # (m,): when each of the others would touch if nothing struck before, in any unit; inf: it does not
    before: Array  # (n,), m/s: u⁻


class ChainScratch(NamedTuple):
    """Scratch of one impact."""

    A: Array  # (2 n + SPLITTING_ROWS, n), work and order: ModeScratch of the mode solvers
    work: Array  # (2, n)
    order: Indices  # (2 n,)
    met: Codes  # (m,): contacts that take part in an impact
    scope: Codes  # (m,): those of them that may get an impulse in a solve
    moving: Codes  # (m,)
    slip: Array  # (m, d)
    state: Indices  # (m,)
    solved: Array  # (n,): impulse of a solve
    after: Array  # (n,): velocities after it
    push: Array  # (n,): impulse of one impact, restitution included
    pressed: Array  # (n,): impulse of its compression
    stopped: Array  # (n,): velocities after that
    start: Array  # (n,): velocities that an impact is solved from
    smooth: Array  # (m,): zeros, the friction of restitution


class ChainState(NamedTuple):
    """Where a chain is."""

    on: Codes  # (m,): 1 for a contact that rests on the ground
    gap: Array  # (m,): velocity times the unit of time; inf for a contact that takes no part
    velocity: Array  # u (n,), m/s
    impulse: Array  # Λ (n,), N s, all of the chain so far


class ChainLog(NamedTuple):
    """The word of a chain: one row for each impact, k of them, or no rows at all."""

    struck: Codes  # (k, m): contacts that touched
    rests: Codes  # (k, m): contacts that rest on the ground after it


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


@kernel
def strike(resting, problem, scratch, chain):
    """Resolve one impact of the contacts in ``scratch.met``; returns (whether it was solved, its residual)."""
    met, after, push = scratch.met, scratch.after, scratch.push
    w = 1 + problem.d
    m = problem.friction.shape[0]
    for i in range(m):
        scratch.scope[i] = met[i]
    solved, residual = _solve(problem.friction, chain.velocity, problem, scratch)
    gives = False
    for i in range(m):
        for k in range(i * w, i * w + w):
            push[k] = scratch.solved[k]
        struck = met[i] and push[i * w] > 0.0 and chain.velocity[i * w] < -resting
        gives = gives or (struck and problem.restitution[i] > 0.0)
    if solved and gives:
        solved, more = _give_back(resting, problem, scratch, chain)
        residual = max(residual, more)
    if not solved:
        return False, residual
    for i in range(m):
        for k in range(i * w, i * w + w):
            chain.velocity[k] = after[k]
            chain.impulse[k] += push[k]
        if met[i]:
            chain.on[i] = abs(after[i * w]) <= resting  # one that restitution of others throws back strikes next
            chain.gap[i] = 0.0
            if chain.on[i]:
                chain.velocity[i * w] = 0.0
    return True, residual


@kernel
def _solve(friction, velocity, problem, scratch):
    """Solve u⁺ = u + G Λ of the contacts in ``scope`` into ``scratch.solved`` and ``after``.

    Friction opposes the velocity after the impact, so that no contact counts as sliding before it.

    Returns:
        (whether it was solved, residual).
    """
    d, G = problem.d, problem.G
    w = 1 + d
    m = friction.shape[0]
    count, only = 0, 0
    fastest = 0.0
    for k in range(m * w):
        fastest = max(fastest, abs(velocity[k]))
    for i in range(m):
        scratch.moving[i] = friction[i] == 0.0
        scratch.state[i] = _SLIP if scratch.moving[i] else _STICK
        for k in range(d):
            scratch.slip[i, k] = 0.0
        f = i * w
        for k in range(f, f + w):
            scratch.solved[k] = 0.0
            scratch.after[k] = velocity[k]
        if scratch.scope[i]:
            count, only = count + 1, i
            # What the contact would do alone: the answer, where it is, and otherwise a first guess.
            found = resting_contact(d, f, friction[i], 0.0, G, velocity[f : f + w], scratch.solved[f : f + w])
            if found != _OPEN:
                scratch.state[i] = found
            _guess_slip(i, d, fastest, G, scratch)
    if count == 1:
        f = only * w
        for r in range(m * w):
            scratch.after[r] = velocity[r]
            for k in range(f, f + w):
                scratch.after[r] += G[r, k] * scratch.solved[k]
        return True, 0.0
    dynamics = ContactDynamics(d, G, velocity, friction)
    iterate = ModeIterate(scratch.slip, scratch.state, scratch.solved, scratch.after)
    memory = ModeScratch(scratch.A, scratch.work, scratch.order)
    if problem.steps <= LITTLE:  # contacts that hardly feel each other are solved by a few sweeps, which take less time
        sweep(_SWEEPS, _SWEEPS, dynamics, scratch.scope, scratch.moving, iterate, memory.work)
        contact_accelerations(G, velocity, scratch.solved, scratch.after)
        scale = problem_scale(d, velocity, scratch.scope)
        residual = mode_residual(
            scale, dynamics, scratch.scope, scratch.moving, scratch.slip, scratch.solved, scratch.after
        )
        if residual <= problem.tolerance:
            return True, residual
        name_states(problem.tolerance, dynamics, scratch.scope, scratch.moving, iterate)
    code, residual, _ = solve_modes(
        problem.steps, problem.tolerance, dynamics, scratch.scope, scratch.moving, iterate, memory
    )
    return code == _SOLVED, residual


@kernel
def _guess_slip(i, d, fastest, G, scratch):
    """Write the velocity of contact i after its own impulse alone, and the direction of its slide."""
    f = i * (1 + d)
    speed = 0.0
    for r in range(f, f + 1 + d):
        for k in range(f, f + 1 + d):
            scratch.after[r] += G[r, k] * scratch.solved[k]
        speed += scratch.after[r] ** 2 if r > f else 0.0
    speed = math.sqrt(speed)
    if not scratch.moving[i] and speed > _SLIDES_ON * fastest:
        scratch.state[i] = _SLIP
        for k in range(d):
            scratch.slip[i, k] = scratch.after[f + 1 + k] / speed


@kernel
def _give_back(resting, problem, scratch, chain):
    """Add Poisson's restitution: contacts that approached get e times the normal impulse of their compression.

    Contacts that compression left at rest stay or separate, without friction. Where that would raise the kinetic
    energy, all that is given back is made smaller. Writes ``push``, the whole impulse, and the velocities ``after``.

    Returns:
        (whether it was solved, residual).
    """
    G, scope, push, after = problem.G, scratch.scope, scratch.push, scratch.after
    pressed, stopped = scratch.pressed, scratch.stopped
    velocity, start = chain.velocity, scratch.start
    w = 1 + problem.d
    n = push.shape[0]
    size = 0.0
    for k in range(n):
        pressed[k], stopped[k] = push[k], after[k]
        size += abs(push[k] * velocity[k])
    for i in range(scope.shape[0]):
        scope[i] = scope[i] and after[i * w] <= resting
    factor, worst = 1.0, 0.0
    for attempt in range(_REBOUNDS + 1):
        if attempt == _REBOUNDS:
            factor = 0.0  # where friction jams, impulses are so large that hardly any part of them could be given back
        for k in range(n):
            start[k], push[k] = stopped[k], pressed[k]
        for i in range(scope.shape[0]):
            f = i * w
            if scope[i] and velocity[f] < -resting and pressed[f] > 0.0:
                given = factor * problem.restitution[i] * pressed[f]
                push[f] += given
                for r in range(n):
                    start[r] += G[r, f] * given
        solved, residual = _solve(scratch.smooth, start, problem, scratch)
        worst = max(worst, residual)
        if not solved:
            return False, worst
        work = 0.0
        for k in range(n):
            push[k] += scratch.solved[k]
            work += push[k] * (velocity[k] + after[k])
        if work <= _ENERGY * size:
            break
        factor *= _SMALLER
    return True, worst


@kernel
def leave_pulling(resting, problem, scratch, chain):
    """Open the resting contacts that no force would hold: between this impact and the next they have left.

    Where little work is wanted (``LITTLE``) that is asked of a single resting contact only.
    """
    d, G, b, friction = problem.d, problem.G, problem.b, problem.friction
    w = 1 + d
    m = friction.shape[0]
    count, only = 0, 0
    for i in range(m):
        f = i * w
        scratch.scope[i] = chain.on[i]
        speed = 0.0
        for k in range(d):
            speed += chain.velocity[f + 1 + k] ** 2
        speed = math.sqrt(speed)
        slides = chain.on[i] and speed > _SLIDES * resting
        for k in range(d):
            scratch.slip[i, k] = chain.velocity[f + 1 + k] / speed if slides else 0.0
        if slides and jams(d, f, CRITICAL_PART, G, friction[i], scratch.slip[i]):
            slides = False
            for k in range(d):
                scratch.slip[i, k] = 0.0
        scratch.moving[i] = slides or friction[i] == 0.0
        scratch.state[i] = _SLIP if scratch.moving[i] else _STICK
        for k in range(f, f + w):
            scratch.solved[k] = 0.0
            scratch.after[k] = b[k]
        if chain.on[i]:
            count, only = count + 1, i
    if count == 1:  # it is held by any force where it accelerates downwards without one
        chain.on[only] = b[only * w] <= 0.0
        return
    if count == 0 or problem.steps <= LITTLE:
        return
    dynamics = ContactDynamics(d, G, b, friction)
    iterate = ModeIterate(scratch.slip, scratch.state, scratch.solved, scratch.after)
    memory = ModeScratch(scratch.A, scratch.work, scratch.order)
    code, _, _ = solve_modes(problem.steps, problem.tolerance, dynamics, scratch.scope, scratch.moving, iterate, memory)
    if code != _SOLVED:
        return  # what the forces would do is not known: the contacts stay
    for i in range(m):
        if chain.on[i] and scratch.solved[i * w] <= 0.0 and scratch.after[i * w] > 0.0:
            chain.on[i] = 0


def chain_scratch(m: int, d: int) -> ChainScratch:
    """Memory for chains of m contacts with d tangents."""
    n = m * (1 + d)
    return ChainScratch(
        *mode_scratch(n),
        met=np.zeros(m, np.uint8),
        scope=np.zeros(m, np.uint8),
        moving=np.zeros(m, np.uint8),
        slip=np.zeros((m, d)),
        state=np.zeros(m, np.int64),
        solved=np.zeros(n),
        after=np.zeros(n),
        push=np.zeros(n),
        pressed=np.zeros(n),
        stopped=np.zeros(n),
        start=np.zeros(n),
        smooth=np.zeros(m),
    )


def chain_state(m: int, d: int) -> ChainState:
    """Memory for the state of one chain."""
    n = m * (1 + d)
    return ChainState(on=np.zeros(m, np.uint8), gap=np.zeros(m), velocity=np.zeros(n), impulse=np.zeros(n))


def chain_log(impacts: int, m: int) -> ChainLog:
    """Memory for the word of a chain of so many impacts at most."""
    return ChainLog(struck=np.zeros((impacts, m), np.uint8), rests=np.zeros((impacts, m), np.uint8))
