"""The ground under each contact, learned from stance: which contacts stand, at which height, and what that changes.

A contact *stands* once it has been still for ``still_time`` while the forces that explain the robot's motion press on
it. Where forces are not known, it must be still for longer, and near to where the ground is expected; what is nearest
to the ground stands where nothing else holds the robot. Neither asks the mode, which comes of the gap that is learned
here. A contact that stands measures the height of the ground: a scalar filter whose mean enters the map of footholds
(:mod:`.ground_map`) with its variance. What all contacts that stand have in common is the drift of the base, and
shifts the whole map.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.footholds import enter, forget_above, sunk
from hybrid_contact_ros.kernels.estimation.ground_heights import fit, predict
from hybrid_contact_ros.kernels.estimation.ground_map import (
    BASE_VARIANCE,
    CLOCKS_UNSUPPORTED,
    FITTED_AT,
    SOFTNESS,
    TIME,
    forget,
    shift_all,
)
from hybrid_contact_ros.kernels.estimation.hanging import HOVERED, LOWERED
from hybrid_contact_ros.kernels.estimation.met_ground import (
    GIVES_WAY,
    HEIGHT,
    SINCE,
    follows,
    is_single,
    meet_ground,
    points_of,
)
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.pushes import BORE, MUCH, known_load, told_load
from hybrid_contact_ros.kernels.estimation.records import Array, Indices
from hybrid_contact_ros.kernels.estimation.stance import (
    DRIFT_SPEED,
    SMOOTHING,
    follow_stance,
    is_where_it_stood,
    leave,
    note_travel,
    start_anew,
)
from hybrid_contact_ros.kernels.estimation.stance_loads import find_loads
from hybrid_contact_ros.kernels.estimation.unrest import note_unrest

_FIT_PERIOD = 0.01  # s, between two fits of the map while nothing new stands
_DRIFT_TIME = 0.02  # s, in which the map follows what all standing contacts have in common
_CERTAIN = 4.0  # deviations within which a gap is none
_BEYOND = 1e-6  # m


class GroundScratch(NamedTuple):
    """Scratch, and what the step says of the ground."""

    map_row: Array  # (FOOTHOLDS,)
    under: Array  # (m, 3), m, places of the contacts in their planes, world frame
    every: Indices  # (m,), 0 … m − 1, constant
    plane_of: Indices  # (m,), constant: which plane the contact may touch; −1 for a joint limit
    link_of: Indices  # (m,), constant: the first contact of the same link and plane
    solid_of: Indices  # (m,), constant: as link_of for points that span a volume; of a flat sole, the contact itself
    shift_variance: Array  # (m,), m²
    surfaces: Array  # (m,), m, of ``own`` where efforts are not believed, and else that of ground nobody has stepped on
    own: Array  # (m,), m, of :func:`~.own_ground.known_surfaces`
    quiet: Array  # (m,), (m/s)², by which rates at rest vary less than is configured: of :func:`~.unrest.quiet_rates`
    rate_offs: Array  # (m,), m/s, of ActivationConfig, or more where a standing contact does not rest
    gap_offs: Array  # (m,), m, of ActivationConfig, or less where the ground is known and no load is
    pushes: Array  # (m,), N, of :func:`~.limb_forces.limb_pushes`, NaN where unknown


@kernel
def learn_ground(
    settings, ground, given, believed, weight, velocity, idle, rates, stopped, robot, problem, here, tracker, observer,
    solver, scratch, memory, map, ahead,
):  # fmt: skip
    """Learn from this state where the ground is, subtract the offset from the gaps, and widen their deviations.

    Args:
        weight: (m,), in [0, 1], how far the forces of each contact are believed.
        velocity: (nv,), that of a floating base first (m/s, its own axes): a foot that is still while the base moves
            on does not hang from it. idle: (m,), whether the contact does not press for certain
            (:mod:`.hanging`): it does not stand, and is more than ``gap_off`` over the ground, unless it hovered.
        rates: of the gaps, RateNoise, until the state before; nothing is stiller than their noise.
        stopped: (m,), s since an impact stopped the contact, negative where none did.
    """
    m = problem.gap.shape[0]
    if not ground.learn or m == 0:
        for i in range(m):
            memory.shift[i] = 0.0
            ahead.shift_variance[i] = 0.0
            ahead.rate_offs[i] = settings.velocity_tolerance
            ahead.gap_offs[i] = settings.gap_off
        return
    numbers = map.map_numbers
    if given.first:
        forget(ground, map)
        for i in range(m):
            memory.unrest[i, :] = 0.0
            memory.pulling[i] = 0.0
            memory.eased[i] = 0.0
            memory.bore[i] = 0.0
            memory.met[i, SINCE] = -1.0
    lay_under(robot, problem, ahead)
    if given.first or given.dt > LONGEST_PAUSE:
        for i in range(m):
            if given.first or not is_where_it_stood(i, ground, given.dt, problem, here, memory, ahead):
                leave(i, memory)
            start_anew(i, problem, here, memory, ahead)
            for k in range(3):
                memory.travel[i, k] = 0.0
    numbers[TIME] += given.dt
    loads = find_loads(settings, believed, problem, observer, solver, scratch, memory, numbers, ahead)
    _note_drift(loads, ground, given.dt, problem, tracker, memory, map, ahead)
    changed = False
    for i in range(m):
        noise, told = rates.noise_sigma[i], told_load(i, loads, ground, memory, ahead)
        known = known_load(loads, told)
        if told == MUCH:
            memory.pressing[i] = ahead.pushes[i] / points_of(i, ahead.link_of)
        note_travel(i, given.dt, settings.floating_base, velocity, memory)
        on_plane = ahead.plane_of[i] >= 0
        if on_plane and loads >= 0 and given.dt > 0.0 and is_single(i, ahead.link_of):
            meet_ground(
                i, given.dt, problem.gap[i], here.gap_velocity[i], noise, tracker.closed[i], memory.entry[i] >= 0,
                rates, memory.met, numbers[SOFTNESS:],
            )  # fmt: skip
        if idle[i]:
            leave(i, memory)
            if idle[i] >= LOWERED:
                forget_above(ground, i, ahead.under[i], problem.gap[i], ahead.plane_of, memory.entry, map)
            start_anew(i, problem, here, memory, ahead)  # once it presses, where it hung before tells nothing
        elif on_plane and follow_stance(
            i, known, settings.gain, noise, ground, given, problem, here, tracker, memory, ahead
        ):
            if loads > 0 and tracker.closed[i]:
                memory.bore[i] = min(memory.bore[i] + given.dt, BORE)
            held = stopped[i] >= 0.0
            added = enter(
                i, loads, held, told, settings.floating_base, rates.noise_sigma, ground, given, problem, here,
                scratch.vectors[0], memory, map, ahead,
            )  # fmt: skip
            changed = changed or added
    if changed or numbers[TIME] - numbers[FITTED_AT] >= _FIT_PERIOD:
        fit(ground, ahead.plane_of, map)
    for i in range(m):
        ahead.rate_offs[i] = settings.velocity_tolerance
        ahead.gap_offs[i] = settings.gap_off
        if ahead.plane_of[i] >= 0:
            springs = tracker.closed[i] and weight[i] < BELIEVED  # else forces tell what moves while it stands
            may_move = follows(i, problem.gap[i], springs, memory.met, numbers[SOFTNESS:])
            note_unrest(i, settings, given.dt, weight[i], may_move, problem, here, tracker, memory, ahead)
            known = known_load(loads, told_load(i, loads, ground, memory, ahead))
            apply_ground(i, known, settings, ground, given, problem, here, tracker, memory, map, ahead)
            if idle[i] and idle[i] != HOVERED and problem.gap[i] < settings.gap_off:
                memory.shift[i] += problem.gap[i] - settings.gap_off - _BEYOND
                problem.gap[i] = settings.gap_off + _BEYOND


@kernel
def lay_under(robot, problem, ahead):
    """Write the places (m, 3), m, of the contacts in their planes through the origin: ``under``."""
    for i in range(problem.gap.shape[0]):
        along = 0.0
        for k in range(3):
            along += robot.normals[i, k] * problem.position[i, k]
        for k in range(3):
            ahead.under[i, k] = problem.position[i, k] - along * robot.normals[i, k]


@kernel
def _note_drift(loads, ground, dt, problem, tracker, memory, map, ahead):
    """Shift the map by what all standing contacts have in common; without any, or where the ground gives way under one,
    the base's height drifts unseen."""
    supported, gives_way, up, down = False, False, math.inf, math.inf
    for i in range(problem.gap.shape[0]):
        if memory.entry[i] >= 0:
            supported = True
            soft = sunk(i, loads, ahead.link_of, memory, map) > GIVES_WAY
            gives_way = gives_way or soft
            if soft or abs(memory.point_velocity[i, 0]) > ground.still_speed:
                up, down = 0.0, 0.0  # what moves here is not the base alone
            rise = problem.gap[i] - memory.stance_height[i]
            up, down = min(up, max(rise, 0.0)), min(down, max(-rise, 0.0))
    if not supported:
        closed = False
        for i in range(problem.gap.shape[0]):
            closed = closed or tracker.closed[i] != 0
        if not closed:
            map.map_numbers[BASE_VARIANCE] += ground.base_drift * ground.base_drift * dt
        map.map_numbers[CLOCKS_UNSUPPORTED] += dt
        return
    if gives_way:
        map.map_numbers[BASE_VARIANCE] += ground.base_drift * ground.base_drift * dt
    map.map_numbers[CLOCKS_UNSUPPORTED] = 0.0
    step = (1.0 - math.exp(-dt / _DRIFT_TIME)) * (up - down)  # one of them is zero
    step = min(max(step, -DRIFT_SPEED * dt), DRIFT_SPEED * dt)
    shift_all(map, step)
    for i in range(problem.gap.shape[0]):
        memory.stance_height[i] += step
        memory.touched_height[i] += step
        memory.met[i, HEIGHT] += step


@kernel
def apply_ground(i, loads, settings, ground, given, problem, here, tracker, memory, map, ahead):
    """Subtract the offset of contact i from its gap, so that a jump of the estimate flips nothing by itself.

    The offset of a contact that does not stand moves a closed one no higher than ``gap_on``, and an open one no lower
    than ``gap_off``; the rest waits for the contact to move.
    """
    measured = problem.gap[i]
    if memory.entry[i] >= 0:
        wanted, variance = memory.stance_height[i], memory.stance_variance[i]
        if loads > 0:  # the ground is wherever it bears the foot
            wanted = max(wanted, measured - settings.gap_on)
        elif sunk(i, loads, ahead.link_of, memory, map) > GIVES_WAY:
            wanted = memory.met[i, HEIGHT]
    else:
        wanted, variance = predict(ground, ahead.plane_of, map, i, ahead.under[i], ahead.map_row)
    here.gap_sigmas[i] = math.sqrt(here.gap_sigmas[i] ** 2 + variance)
    if not given.trusted and map.map_size[0] > 0:
        ahead.gap_offs[i] = min(settings.gap_off, max(settings.gap_on, _CERTAIN * here.gap_sigmas[i]))
    if loads == 0 and memory.entry[i] >= 0:  # noise lifts nothing: what has left is above it when low-passed, too
        lags = max(memory.point_velocity[i, 0], 0.0) * SMOOTHING
        ahead.gap_offs[i] += max(measured - memory.point_gap[i] - lags, 0.0)
    gap = measured - wanted
    if memory.entry[i] < 0 and not given.first:
        before = measured - memory.shift[i]
        if tracker.closed[i]:
            gap = min(gap, max(before, settings.gap_on))
        else:
            gap = max(gap, min(before, ahead.gap_offs[i] + _BEYOND))
    memory.shift[i] = measured - gap
    problem.gap[i] = gap
    ahead.shift_variance[i] = variance
