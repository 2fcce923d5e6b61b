"""The single steps of :func:`~hybrid_contact_ros.kernels.estimation.rollout.rollout`."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.codes import EventKind, FrictionState, Status
from hybrid_contact_ros.kernels.algebra.quadratic import first_root
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.friction import solve_modes
from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART, jams
from hybrid_contact_ros.kernels.modes.records import ContactDynamics, ModeIterate, ModeScratch
from hybrid_contact_ros.kernels.stability.constraint import SLIDING, SYSTEMS_COUNTED

_NONE, _TOUCHDOWN, _LIFTOFF = int(EventKind.NONE), int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_STICK = int(EventKind.STICK)
_SOLVED = int(Status.SOLVED)
_STUCK, _SLIDING = int(FrictionState.STICK), int(FrictionState.SLIP)
# m/s, m/s²: a contact that moves away faster than this has left; a slower one would be back at once.
_LEAVES = 2e-3
# m/s: touchdowns that are slower than this get the bounds of one that is as fast.
_SLOWEST_TOUCHDOWN = 1e-6
_SLOWEST_REBOUND = 1e-3  # m/s: slower rebounds count as none.
_SAME_TIME = 1e-9  # s

# What was foretold of a contact from outside counts until its first event; a contact that its load lifted is not
# foretold to come back.
HAD_EVENT, FRESH, UNLOADED = 0, 1, 2


class When(NamedTuple):
    """The time that the rollout has reached, with the bounds of the latest event."""

    now: float  # s
    before: float  # s, from the earliest time of the latest event to its time; of all that it causes, too
    behind: float  # s, from its time to its latest time


@kernel
def start(problem, scratch):
    """The state now: what is closed rests on the ground."""
    w = 1 + problem.d
    for i in range(problem.friction.shape[0]):
        scratch.on[i] = problem.closed[i]
        scratch.known[i] = FRESH
        scratch.phi[i] = max(problem.gap[i], 0.0)
        for k in range(w):
            scratch.u[i * w + k] = problem.velocity[i * w + k]
        if scratch.on[i]:
            scratch.phi[i] = 0.0
            scratch.u[i * w] = 0.0


@kernel
def solve_mode(slip_speed, b, accelerations, problem, scratch):
    """Solve the mode of what is closed, or, with u for b and an infinite slip speed, the impact of it.

    An infinite slip speed lets nothing slide at first. A slide that jams is taken for rest
    (:mod:`~hybrid_contact_ros.kernels.modes.jamming`).

    Returns:
        Whether the mode was found, and about how many multiplications that took.
    """
    d, G, friction = problem.d, problem.G, problem.friction
    on, u, moving, slip, forces = scratch.on, scratch.u, scratch.moving, scratch.slip, scratch.forces
    w = 1 + d
    rows, system = 0.0, 1.0 / 3.0
    for i in range(friction.shape[0]):
        speed = 0.0
        for k in range(d):
            speed += u[i * w + 1 + k] ** 2
        speed = math.sqrt(speed)
        fast = speed > slip_speed
        moving[i] = fast or friction[i] == 0.0
        for k in range(d):
            slip[i, k] = u[i * w + 1 + k] / speed if fast else 0.0
        if fast and on[i] and jams(d, i * w, CRITICAL_PART, G, friction[i], slip[i]):
            moving[i] = False
            for k in range(d):
                slip[i, k] = 0.0
        scratch.touching[i] = on[i]
        scratch.state[i] = _SLIDING if moving[i] else _STUCK
        for k in range(w):
            forces[i * w + k] = 0.0
            accelerations[i * w + k] = 0.0
        if on[i]:
            rows += w
            if moving[i]:
                system = SLIDING / 3.0
    dynamics = ContactDynamics(d, G, b, friction)
    iterate = ModeIterate(slip, scratch.state, forces, accelerations)
    work = ModeScratch(scratch.A, scratch.work, scratch.order)
    code, _, made = solve_modes(problem.steps, problem.tolerance, dynamics, scratch.touching, moving, iterate, work)
    return code == _SOLVED, rows * rows * (min(made, SYSTEMS_COUNTED) * rows * system + made)


@kernel
def leave_unloaded(count, when, problem, scratch, out):
    """Open the contacts that carry no force and accelerate away; after the first event that is an event, too."""
    w = 1 + problem.d
    for i in range(problem.friction.shape[0]):
        if scratch.on[i] and scratch.forces[i * w] <= 0.0 and scratch.a[i * w] > _LEAVES:
            scratch.on[i] = 0
            if when.now > 0.0 and count < out.kinds.shape[0]:
                count = append_event(count, i, _LIFTOFF, when, scratch.on, out)
    return count


@kernel
def next_event(now, problem, scratch):
    """(time until the next event (s), its contact, its kind); infinity and −1 where there is none."""
    d, next_kind, next_times = problem.d, problem.next_kind, problem.next_times
    on, known, slip, u, a = scratch.on, scratch.known, scratch.slip, scratch.u, scratch.a
    w = 1 + d
    step = math.inf
    which = -1
    event = _NONE
    for i in range(problem.friction.shape[0]):
        if not on[i]:
            if known[i] == UNLOADED:
                continue
            if now == 0.0 and next_kind[i] == _TOUCHDOWN:
                t = next_times[i, 0]  # may know more than the parabola; after an event it would know less
            else:
                t = first_root(scratch.phi[i], u[i * w], a[i * w])
            if t < step:
                step, which, event = t, i, _TOUCHDOWN
            continue
        if known[i] == FRESH and next_kind[i] == _LIFTOFF and next_times[i, 0] - now < step:
            step, which, event = max(next_times[i, 0] - now, 0.0), i, _LIFTOFF
        if scratch.moving[i] and problem.friction[i] > 0.0:
            speed = 0.0
            slowing = 0.0
            for k in range(d):
                speed += slip[i, k] * u[i * w + 1 + k]
                slowing -= slip[i, k] * a[i * w + 1 + k]
            if slowing > 0.0 and speed / slowing < step:
                step, which, event = speed / slowing, i, _STICK
    return step, which, event


@kernel
def advance(step, problem, scratch):
    """Move gaps and velocities on by ``step`` s of constant acceleration."""
    w = 1 + problem.d
    phi, u, a = scratch.phi, scratch.u, scratch.a
    for i in range(problem.friction.shape[0]):
        if not scratch.on[i]:
            phi[i] = max(phi[i] + (u[i * w] + 0.5 * a[i * w] * step) * step, 0.0)
        for k in range(w):
            u[i * w + k] += a[i * w + k] * step
        if scratch.on[i]:
            u[i * w] = 0.0


@kernel
def event_time(now, which, event, when, bounds, problem, scratch):
    """The time of an event with its bounds; those of a stick are the bounds of what came before it."""
    times = problem.next_times
    if event == _LIFTOFF:
        return When(now, times[which, 0] - times[which, 1], times[which, 2] - times[which, 0])
    if event == _STICK:
        return When(now, when.before, when.behind)
    if (
        scratch.known[which] == FRESH
        and problem.next_kind[which] == _TOUCHDOWN
        and abs(times[which, 0] - now) < _SAME_TIME
    ):
        return When(now, now - times[which, 1], times[which, 2] - now)
    approach = -scratch.u[which * (1 + problem.d)]
    drift = bounds.velocity_sigma[which] * now
    bend = 0.5 * bounds.acceleration_sigma * now * now
    spread = math.sqrt(bounds.gap_sigma[which] ** 2 + drift * drift + bend * bend)
    half = bounds.sigmas * spread / max(approach, _SLOWEST_TOUCHDOWN)
    return When(now, half, half)


@kernel
def rebound(which, approach, problem, scratch):
    """The velocities after the impact, and what the contact that struck gives back of its impulse (Poisson)."""
    w = 1 + problem.d
    G, u, impulse = problem.G, scratch.u, scratch.forces
    for k in range(u.shape[0]):
        u[k] = scratch.after[k]
    restitution = problem.restitution[which]
    if restitution * approach > _SLOWEST_REBOUND:
        for k in range(u.shape[0]):
            for j in range(w):
                u[k] += G[k, which * w + j] * restitution * impulse[which * w + j]


@kernel
def leave_apart(count, when, problem, scratch, out):
    """Open the contacts that an impact drives apart; the others rest on the ground."""
    w = 1 + problem.d
    for i in range(problem.friction.shape[0]):
        if not scratch.touching[i]:
            continue
        if scratch.u[i * w] > _LEAVES:
            scratch.on[i] = 0
            if count < out.kinds.shape[0]:
                count = append_event(count, i, _LIFTOFF, when, scratch.on, out)
        else:
            scratch.u[i * w] = 0.0
    return count


@kernel
def append_event(count, contact, kind, when, on, out):
    """Append an event and the mode after it; returns the number of events."""
    out.contacts[count] = contact
    out.kinds[count] = kind
    out.times[count, 0] = when.now
    out.times[count, 1] = max(when.now - when.before, 0.0)
    out.times[count, 2] = when.now + when.behind
    mask = 0
    for i in range(on.shape[0]):
        if on[i]:
            mask |= 1 << i
    out.modes[count] = mask
    return count + 1
