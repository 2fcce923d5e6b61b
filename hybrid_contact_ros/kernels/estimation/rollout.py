"""The sequence of modes and events that the hybrid model goes through in the next moments (Johnson, Definition 5).

The rollout works in contact space, with the configuration's Delassus matrix G and free accelerations b frozen. Between
events the contact accelerations are those of the force-acceleration mode and constant, so that events are roots of
parabolas. A touchdown is a plastic impact with Coulomb friction: the same complementarity problem with velocities for
accelerations (u⁺ = G Λ + u⁻); contacts that the impact drives apart leave. Over tens of milliseconds the geometry
hardly changes, but loads do (actuators act), which is why liftoffs that the recent course of a load foretells are given
from outside.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.records import RolloutOut, RolloutProblem, RolloutScratch, TimeBounds
from hybrid_contact_ros.kernels.estimation.rollout_steps import (
    HAD_EVENT,
    UNLOADED,
    When,
    advance,
    append_event,
    event_time,
    leave_apart,
    leave_unloaded,
    next_event,
    rebound,
    solve_mode,
    start,
)
from hybrid_contact_ros.kernels.stability.constraint import WORK_LIMIT

_LIFTOFF, _STICK = int(EventKind.LIFTOFF), int(EventKind.STICK)
_STEPS_PER_EVENT = 4  # Steps of the rollout, per event that there is room for, before it gives up.


@kernel
def rollout(
    # bounds:
    sigmas, gap_sigma, velocity_sigma, acceleration_sigma,
    # problem:
    d, steps, horizon, slip_speed, tolerance, G, b, friction, restitution, gap, velocity, closed, next_kind,
    next_times,
    # scratch:
    A, work, order, on, moving, touching, known, state, slip, phi, u, forces, a, after,
    # out:
    contacts, kinds, times, modes,
):  # fmt: skip
    """Follow the hybrid model for ``horizon``, or until the arrays for events are full.

    The answers of :func:`~.event_times.next_events` (next_kind, next_times) are used for liftoffs, for the first
    touchdown, and for the bounds of each contact's first event. The arguments are the members of
    :class:`~.records.TimeBounds`, :class:`RolloutProblem`, :class:`RolloutScratch` and :class:`RolloutOut`, where their
    shapes and units are.

    Returns:
        How many events were written, and whether they are all: False where a mode was not found, or, with ``steps`` of
        0, where the work ended before (:mod:`~hybrid_contact_ros.kernels.stability.constraint`).
    """
    bounds = TimeBounds(sigmas, gap_sigma, velocity_sigma, acceleration_sigma)
    problem = RolloutProblem(
        d, steps, horizon, slip_speed, tolerance, G, b, friction, restitution, gap, velocity, closed, next_kind,
        next_times,
    )  # fmt: skip
    scratch = RolloutScratch(A, work, order, on, moving, touching, known, state, slip, phi, u, forces, a, after)
    out = RolloutOut(contacts, kinds, times, modes)
    start(problem, scratch)
    when = When(0.0, 0.0, 0.0)
    count = 0
    room = kinds.shape[0]
    work_left = WORK_LIMIT if steps == 0 else math.inf
    for _ in range(_STEPS_PER_EVENT * room):
        if count == room:
            return count, True
        if work_left <= 0.0:
            break
        # Until the next event the accelerations are those of the mode, and constant.
        solved, made = solve_mode(slip_speed, b, a, problem, scratch)
        if not solved:
            break  # The mode is not known, and so neither is what follows.
        work_left -= made
        count = leave_unloaded(count, when, problem, scratch, out)
        step, which, event = next_event(when.now, problem, scratch)
        if which < 0 or when.now + step > horizon or count == room:
            return count, True
        advance(step, problem, scratch)
        when = event_time(when.now + step, which, event, when, bounds, problem, scratch)
        if event == _LIFTOFF:
            on[which] = 0
            count = append_event(count, which, event, when, on, out)
            known[which] = UNLOADED
        elif event == _STICK:
            for k in range(d):
                u[which * (1 + d) + 1 + k] = 0.0
            count = append_event(count, which, event, when, on, out)
            known[which] = HAD_EVENT
        else:
            approach = -u[which * (1 + d)]
            phi[which] = 0.0
            on[which] = 1
            count = append_event(count, which, event, when, on, out)
            known[which] = HAD_EVENT
            # The impact is the same problem, with velocities for accelerations.
            solved, made = solve_mode(math.inf, u, after, problem, scratch)
            if not solved:
                break
            work_left -= made
            rebound(which, approach, problem, scratch)
            count = leave_apart(count, when, problem, scratch, out)
    return count, False
