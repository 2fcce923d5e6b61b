"""One impact of a chain (:mod:`.impact_chain`), and which resting contacts the forces open before the next one."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import FrictionState, Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.active_set import name_states
from hybrid_contact_ros.kernels.modes.friction import solve_modes
from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART, jams
from hybrid_contact_ros.kernels.modes.local_friction import resting_contact
from hybrid_contact_ros.kernels.modes.records import ContactDynamics, ModeIterate, ModeScratch
from hybrid_contact_ros.kernels.modes.residual import contact_accelerations, mode_residual, problem_scale
from hybrid_contact_ros.kernels.modes.sweeps import sweep

_SOLVED = int(Status.SOLVED)
_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)
LITTLE = 1
"""Steps of splitting that stand for little work: weakly coupled contacts are solved by a few sweeps."""
REBOUNDS, SMALLER = 60, 0.95
"""How often restitution is made smaller where it would raise the energy, each time by this factor; then it is none."""
_SLIDES = 1e2  # of the speed below which a contact rests: a faster tangential velocity is a slide
_SLIDES_ON = 0.05  # of the fastest contact velocity: a contact that is faster after its own impulse is guessed to slide
_SWEEPS, _ROUNDS = 2, 2  # sweeps between two looks at the residual, and how many such looks
_ENERGY = 1e-12  # of the work of an impact: a rise of the kinetic energy by less is rounding


@kernel
def strike(resting, problem, scratch, chain):
    """Resolve one impact of the contacts in ``scratch.met``; returns (whether it was solved, its residual)."""
    met, after, push = scratch.met, scratch.after, scratch.push
    w = 1 + problem.d
    m = problem.friction.shape[0]
    for i in range(m):
        scratch.scope[i] = met[i]
    solved, residual = solve_impact(problem.friction, chain.velocity, problem, scratch)
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
def solve_impact(friction, velocity, problem, scratch):
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
        scale = problem_scale(d, velocity, scratch.scope)
        for _ in range(_ROUNDS):
            sweep(_SWEEPS, _SWEEPS, dynamics, scratch.scope, scratch.moving, iterate, memory.work)
            contact_accelerations(G, velocity, scratch.solved, scratch.after)
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
    for attempt in range(REBOUNDS + 1):
        if attempt == REBOUNDS:
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
        solved, residual = solve_impact(scratch.smooth, start, problem, scratch)
        worst = max(worst, residual)
        if not solved:
            return False, worst
        work = 0.0
        for k in range(n):
            push[k] += scratch.solved[k]
            work += push[k] * (velocity[k] + after[k])
        if work <= _ENERGY * size:
            break
        factor *= SMALLER
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
