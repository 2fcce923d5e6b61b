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

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.ground_map import (
    BASE_VARIANCE,
    CLOCKS_UNSUPPORTED,
    FITTED_AT,
    LOADED_AT,
    TIME,
    add_foothold,
    fit,
    forget,
    keep_foothold,
    note_surprise,
    predict,
    shift_all,
)
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE, has_settled
from hybrid_contact_ros.kernels.estimation.observed_forces import (
    REGULARISATION_OF_ALL,
    contact_response,
    explaining_forces,
)
from hybrid_contact_ros.kernels.estimation.records import Array, Indices
from hybrid_contact_ros.kernels.estimation.support_polygon import is_above

MOST_LOADED = 16
"""Contacts of a robot with more have no loads here: their forces would take too long to tell apart."""
MOVES = 0.1
"""m/s: a base that is faster moves."""
_TRAVEL = 0.02  # m: a foot that is still while the base moves this far stands. At the apex of a swing it is still, too,
# for as long as it takes to fall by 2 mm; the base does not get that far meanwhile.
_SOLVED = int(Status.SOLVED)
_SMOOTHING = 0.01  # s, of the velocities of the points
_LOAD_PERIOD = 0.002  # s, between two solutions for the loads
_FIT_PERIOD = 0.01  # s, between two fits of the map while nothing new stands
_DRIFT_TIME = 0.02  # s, in which the map follows what all standing contacts have in common
_DRIFT_SPEED = 0.015  # m/s, of a base at most
_CREEP, _CREEP_UNLOADED = 0.001**2, 0.0001**2  # m²/s, by which single footholds move under a foot; where its load is
# not known it may be the foot that moves
_PLACE_TIME = 0.05  # s, of the positions of the points, once they are slower than
_FLIES = 0.3  # m/s
_UNREST_TIME = 0.2  # s
_LANDED = 0.05  # s, after which the ringing of an impact is over
_RESTLESS = 2.0  # deviations of a rate that speaks for nothing
_PULL_TIME, _DOUBT = 0.5, 1.5  # s; a load counts where it is this many times what was pulled in that time
_GIVES_WAY, _DOUBT_OF_DEPTH = 0.003, 0.2  # m: ground in which a foot sinks deeper than this is soft
_SINKS = 0.15  # s: a foot does not go on sinking for longer; it is the base that moves then
_ABSENT = 0.5  # s: after a longer pause nothing is where it was
_STRAYED = 0.005  # m: a foot whose load is not known does not stand where it has moved further
_GATE_ABOVE = 4.0  # the same, with which a foot whose load is not known is believed to stand above the expected ground
_ALONG = 3.0  # positions along the surface may move by this many times as much as heights
_NOISES_LEFT = 2.0  # deviations of the noise of a rate within which a foot is still
_CERTAIN = 4.0  # deviations within which a gap is none
_BEYOND = 1e-6  # m
# m/s, of a foot that is lifted slowly; and m: so far within what it stands on is the centre of mass of a robot at rest
_CREEPS, _BALANCE = 0.01, 0.01
_LOWEST, _FURTHEST, _FURTHEST_UNLOADED = 0.005, 0.3, 0.1  # m


class StanceMemory(NamedTuple):
    """What is remembered of each contact."""

    point_velocity: Array  # (m, 3), m/s, low-passed; normal first
    point_place: Array  # (m, 3), m, low-passed place in the plane
    point_height: Array  # (m,), m, and gap
    unrest: Array  # (m,), (m/s)², mean square of the gap's rate while the contact stands
    standing: Array  # (m,), s, since the contact has been still
    stance_height: Array  # (m,), m, mean and variance of the height while it is
    stance_variance: Array  # (m,), m²
    touched_height: Array  # (m,), m, where the load began to be seen
    touched_lead: Array  # (m,), m, by which the foot had come down since it really began: the observer lags; or less
    # than zero, by which it would have, of a foot that was seen to fall on until then
    stance_start: Array  # (m, 3), m, where that began
    travel: Array  # (m, 3), m, by which the base has moved since the point is slow, in the base's axes
    pressing: Array  # (m,), N, normal forces that explain the motion
    pulling: Array  # (m,), N, how far these were below zero lately, where no ground pulls: their error
    entry: Indices  # (m,), foothold in the map on which the contact stands; −1 where it does not
    shift: Array  # (m,), m, subtracted from the gap


class GroundScratch(NamedTuple):
    """Scratch, and what the step says of the ground."""

    map_row: Array  # (FOOTHOLDS,)
    under: Array  # (m, 3), m, places of the contacts in their planes, world frame
    every: Indices  # (m,), 0 … m − 1, constant
    plane_of: Indices  # (m,), constant: which plane the contact may touch; −1 for a joint limit
    link_of: Indices  # (m,), constant: the first contact of the same link and plane
    solid_of: Indices  # (m,), constant: as link_of for points that span a volume; of a flat sole, the contact itself
    shift_variance: Array  # (m,), m²
    rate_offs: Array  # (m,), m/s, of ActivationConfig, or more where a standing contact does not rest
    gap_offs: Array  # (m,), m, of ActivationConfig, or less where the ground is known and no load is


@kernel
def learn_ground(
    settings, ground, given, believed, velocity, idle, noise, stopped, robot, problem, here, tracker, observer, solver,
    scratch, memory, map, ahead,
):  # fmt: skip
    """Learn from this state where the ground is, subtract the offset from the gaps, and widen their deviations.

    Args:
        velocity: (nv,), that of a floating base first (m/s, its own axes): a foot that is still while the base moves
            on does not hang from it. idle: (m,), whether the contact does not press for certain
            (:mod:`.hanging`): it does not stand, and is more than ``gap_off`` over the ground.
        noise: (m,), m/s, of the rates of gaps; nothing is as still as that. stopped: (m,), s since an impact stopped
            the contact, negative where none did.
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
            memory.unrest[i] = 0.0
            memory.pulling[i] = 0.0
    for i in range(m):
        along = 0.0
        for k in range(3):
            along += robot.normals[i, k] * problem.position[i, k]
        for k in range(3):
            ahead.under[i, k] = problem.position[i, k] - along * robot.normals[i, k]
    if given.first or given.dt > LONGEST_PAUSE:
        for i in range(m):
            if given.first or not _is_where_it_stood(i, ground, given.dt, problem, here, memory, ahead):
                _leave(i, memory)
            memory.point_height[i] = problem.gap[i]
            for k in range(3):
                memory.point_velocity[i, k] = here.contact_velocity[i, k]
                memory.travel[i, k] = 0.0
                memory.point_place[i, k] = ahead.under[i, k]
    numbers[TIME] += given.dt
    loads = _find_loads(settings, believed, problem, here, observer, solver, scratch, memory, numbers, ahead)
    _note_drift(loads, ground, given.dt, problem, tracker, memory, map)
    changed = False
    for i in range(m):
        _note_travel(i, given.dt, settings.floating_base, velocity, memory)
        if idle[i]:
            _leave(i, memory)
        elif ahead.plane_of[i] >= 0 and _stands(
            i, loads, settings.gain, noise[i], ground, given, problem, here, tracker, memory, ahead
        ):
            held = stopped[i] >= 0.0
            added = _enter(
                i, loads, held, settings.floating_base, noise, ground, given, problem, here, scratch.vectors[0], memory,
                map, ahead,
            )  # fmt: skip
            changed = changed or added
    if changed or numbers[TIME] - numbers[FITTED_AT] >= _FIT_PERIOD:
        fit(ground, ahead.plane_of, map)
    for i in range(m):
        ahead.rate_offs[i] = settings.velocity_tolerance
        ahead.gap_offs[i] = settings.gap_off
        if ahead.plane_of[i] >= 0:
            _note_unrest(i, settings, given.dt, here, tracker, memory, ahead)
            _apply(i, loads, settings, ground, given, problem, here, tracker, memory, map, ahead)
            if idle[i] and problem.gap[i] < settings.gap_off:
                memory.shift[i] += problem.gap[i] - settings.gap_off - _BEYOND
                problem.gap[i] = settings.gap_off + _BEYOND


@kernel
def _note_travel(i, dt, floating_base, velocity, memory):
    """Add up how far the base moves while contact i is slow."""
    speed = memory.point_velocity[i, 0] ** 2 + memory.point_velocity[i, 1] ** 2 + memory.point_velocity[i, 2] ** 2
    for k in range(3):
        step = dt * velocity[k] if floating_base else 0.0
        memory.travel[i, k] = memory.travel[i, k] + step if speed < MOVES * MOVES else 0.0


@kernel
def _is_where_it_stood(i, ground, dt, problem, here, memory, ahead):
    """Whether contact i is found after a pause where it was before it: wherever it may have been, it stands."""
    apart = 0.0
    for k in range(3):
        apart += (ahead.under[i, k] - memory.stance_start[i, k]) ** 2
    here_again = apart < (_ALONG * _STRAYED) ** 2 and abs(problem.gap[i] - memory.stance_height[i]) < _STRAYED
    return dt < _ABSENT and memory.standing[i] > 0.0 and here_again and abs(here.gap_velocity[i]) < ground.still_speed


@kernel
def _find_loads(settings, believed, problem, here, observer, solver, scratch, memory, numbers, ahead):
    """Write the normal forces at all contacts, closed or not, that explain the observed momentum best. Returns
    1 where they are known, 0 where the kinematics must do, and −1 where they will be known soon: after a pause they are
    not known until as much time has passed, and streams that come in bursts never know them."""
    m = problem.gap.shape[0]
    if not believed or settings.gain <= 0.0 or m > MOST_LOADED:
        return 0
    if not has_settled(settings.gain, observer):
        return -1 if numbers[TIME] - numbers[LOADED_AT] <= LONGEST_PAUSE else 0
    if numbers[TIME] - numbers[LOADED_AT] < _LOAD_PERIOD:
        return 1
    keep = math.exp(-(numbers[TIME] - numbers[LOADED_AT]) / _PULL_TIME)
    numbers[LOADED_AT] = numbers[TIME]
    response, shifted = scratch.vectors[0], scratch.vectors[1]
    contact_response(3 * m, here.L, here.motions, observer.residual, shifted, response)
    forces = scratch.weighed[0]
    status = explaining_forces(
        3, REGULARISATION_OF_ALL, here.products, response, ahead.every, solver.A, shifted, forces
    )
    if status == _SOLVED:
        for i in range(m):
            memory.pressing[i] = forces[i, 0]
            memory.pulling[i] = max(keep * memory.pulling[i], -forces[i, 0])
    return 1


@kernel
def _note_drift(loads, ground, dt, problem, tracker, memory, map):
    """Shift the map by what all standing contacts have in common; without any the base's height drifts unseen."""
    supported, up, down = False, math.inf, math.inf
    for i in range(problem.gap.shape[0]):
        if memory.entry[i] >= 0:
            supported = True
            soft = loads > 0 and memory.touched_height[i] - memory.stance_height[i] > _GIVES_WAY
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
    map.map_numbers[CLOCKS_UNSUPPORTED] = 0.0
    step = (1.0 - math.exp(-dt / _DRIFT_TIME)) * (up - down)  # one of them is zero
    step = min(max(step, -_DRIFT_SPEED * dt), _DRIFT_SPEED * dt)
    shift_all(map, step)
    for i in range(problem.gap.shape[0]):
        memory.stance_height[i] += step
        memory.touched_height[i] += step


@kernel
def _stands(i, loads, gain, noise_of_rate, ground, given, problem, here, tracker, memory, ahead):
    """Follow contact i while it stands; whether it has done so for long enough."""
    lag, slow = 1.0 - math.exp(-given.dt / _SMOOTHING), 1.0 - math.exp(-given.dt / _PLACE_TIME)
    fastest = max(abs(here.gap_velocity[i]), abs(memory.point_velocity[i, 0]))
    left = _left(noise_of_rate, given.dt)
    away, strayed, square = 0.0, 0.0, 0.0  # along the surface
    for k in range(3):
        memory.point_velocity[i, k] += lag * (here.contact_velocity[i, k] - memory.point_velocity[i, k])
        square += memory.point_velocity[i, k] ** 2
    if square > (_FLIES + _ALONG * left) ** 2:  # where it was before tells nothing of where it comes to rest
        slow = 1.0
    for k in range(3):
        memory.point_place[i, k] += slow * (ahead.under[i, k] - memory.point_place[i, k])
        away += (ahead.under[i, k] - memory.point_place[i, k]) ** 2
        strayed += (ahead.under[i, k] - memory.stance_start[i, k]) ** 2
    memory.point_height[i] += slow * (problem.gap[i] - memory.point_height[i])
    noise = here.gap_sigmas[i] * here.gap_sigmas[i]
    begun = memory.standing[i] > 0.0
    apart = problem.gap[i] - memory.stance_height[i]
    if loads > 0:
        least = max(ground.least_load, _DOUBT * memory.pulling[i])
        stands = memory.pressing[i] > (0.5 if begun else 1.0) * least
        rests = abs(memory.point_velocity[i, 0]) < max(ground.still_speed, _NOISES_LEFT * left)
        # Of states that are far apart, what pressed between them may have come or gone meanwhile.
        stands = stands and (fastest - _NOISES_LEFT * noise_of_rate) * given.dt < _STRAYED
    else:
        rise = abs(problem.gap[i] - memory.point_height[i])
        stands = loads == 0 and rise < ground.still_speed * _PLACE_TIME
        stands = stands and away < (_ALONG * ground.still_speed * _PLACE_TIME) ** 2
        stands = stands and (not begun or abs(apart) < _STRAYED)
        stands = stands and (not begun or memory.entry[i] >= 0 or strayed < (_ALONG * _STRAYED) ** 2)
        rests = True
    # The observer lags: a foot that has left still seems to press.
    leaves = begun and not tracker.closed[i] and memory.point_velocity[i, 0] > ground.still_speed
    if leaves or not (stands and _may_touch(i, problem, ahead)):
        _leave(i, memory)
        return False
    if not begun or (memory.entry[i] < 0 and not rests):
        memory.standing[i] = max(memory.standing[i] + given.dt, 1e-9) if begun else 1e-9
        # What still falls faster than when a load began to be seen, has not touched yet: the load was none.
        falls = begun and -here.gap_velocity[i] > abs(memory.touched_lead[i]) * gain + ground.still_speed
        if not begun or falls:
            speed = max(-memory.point_velocity[i, 0], -here.gap_velocity[i], 0.0)
            memory.touched_height[i] = problem.gap[i]
            memory.touched_lead[i] = (-speed if falls else speed) / gain if gain > 0.0 else 0.0
        memory.stance_height[i] = problem.gap[i]
        memory.stance_variance[i] = noise
        for k in range(3):
            memory.stance_start[i, k] = ahead.under[i, k]
        return False
    memory.standing[i] += given.dt
    if given.dt > 0.0 and rests:
        memory.stance_variance[i] += (_CREEP if loads > 0 else _CREEP_UNLOADED) * given.dt
        weight = memory.stance_variance[i] / (memory.stance_variance[i] + noise)
        memory.stance_height[i] += weight * apart
        if memory.standing[i] > _SINKS:
            memory.touched_height[i] += weight * apart
        memory.stance_variance[i] *= 1.0 - weight
    return memory.standing[i] >= (ground.still_time if loads > 0 else ground.still_time_unloaded)


@kernel
def _left(noise_of_rate, dt):
    """What the low-pass of the velocities leaves of the noise of a rate, m/s."""
    return noise_of_rate * math.sqrt(min(0.5 * (1.0 - math.exp(-dt / _SMOOTHING)), 1.0))


@kernel
def _note_unrest(i, settings, dt, here, tracker, memory, ahead):
    """Learn how much the gap of contact i moves while it stands, where it should not: by noise of the velocities, or on
    soft ground. A rate of that size speaks for nothing."""
    if memory.entry[i] >= 0 and memory.standing[i] > _LANDED and tracker.closed[i]:
        lag = 1.0 - math.exp(-dt / _UNREST_TIME)
        memory.unrest[i] += lag * (here.gap_velocity[i] ** 2 - memory.unrest[i])
    here.velocity_sigmas[i] = math.sqrt(here.velocity_sigmas[i] ** 2 + memory.unrest[i])
    ahead.rate_offs[i] = max(settings.velocity_tolerance, _RESTLESS * math.sqrt(memory.unrest[i]))


@kernel
def _leave(i, memory):
    memory.standing[i] = 0.0
    memory.entry[i] = -1


@kernel
def _enter(
    i, loads, stopped, floating_base, noise, ground, given, problem, here, places, memory, map, ahead
):  # fmt: skip
    """Write contact i, which has been still for long enough, into the map; whether that adds a foothold."""
    height, variance, place = memory.stance_height[i], memory.stance_variance[i], ahead.under[i]
    depth = memory.touched_height[i] - height
    if loads > 0 and depth > _GIVES_WAY:  # the next foot meets the ground where this one did
        depth += max(memory.touched_lead[i], 0.0)
        height, variance = height + depth, variance + (_DOUBT_OF_DEPTH * depth) ** 2
    if memory.entry[i] >= 0:
        keep_foothold(map, memory.entry[i], place, height, variance)
        return False
    expected, spread = predict(ground, ahead.plane_of, map, i, place, ahead.map_row)
    surprise = height - expected
    if loads > 0:
        believed = abs(surprise) <= _FURTHEST
    else:
        # A foot may hang still above the ground, and cannot be below it.
        believed = surprise <= 0.0 and surprise >= -_FURTHEST_UNLOADED
        believed = believed or (stopped and abs(surprise) <= _FURTHEST)  # it does not hang where something stopped it
        believed = believed or surprise * surprise <= _GATE_ABOVE * (spread + here.gap_sigmas[i] ** 2)
        travel = memory.travel[i, 0] ** 2 + memory.travel[i, 1] ** 2 + memory.travel[i, 2] ** 2
        believed = believed or (travel > _TRAVEL * _TRAVEL and surprise <= _FURTHEST_UNLOADED)
        if not believed and map.map_numbers[CLOCKS_UNSUPPORTED] >= ground.still_time_unloaded:
            believed = abs(surprise) <= _FURTHEST_UNLOADED and _is_lowest(i, ground, problem, memory, ahead)
        if not believed and floating_base:
            furthest = _FURTHEST if map.map_numbers[CLOCKS_UNSUPPORTED] == 0.0 else _FURTHEST_UNLOADED
            believed = surprise <= furthest and _is_needed(
                i, noise, ground, given, problem, here, places, memory, ahead
            )
    if not believed:
        return False
    base = map.map_numbers[BASE_VARIANCE]
    if map.map_size[0] > 0:
        note_surprise(ground, map, surprise, spread + variance)
        if base > 0.0:
            shift_all(map, base / (spread + variance) * surprise)
    map.map_numbers[BASE_VARIANCE] = base * (1.0 - base / (spread + variance))
    add_foothold(ahead.plane_of, map, memory.entry, i, place, height, variance)
    fit(ground, ahead.plane_of, map)
    return True


@kernel
def _may_touch(i, problem, ahead):
    """Whether contact i may be what carries its link. Of a body that stands on one of its faces, no point is that is
    clearly higher than another one: nothing tells which points carry the load, so that each is given a part of it, and
    that part moves with the link. A flat sole has one face: where it leans on an edge, its other points are given
    nothing, and where it rests on a slope, all of them carry."""
    for j in range(problem.gap.shape[0]):
        if ahead.solid_of[j] == ahead.solid_of[i] and problem.gap[j] < problem.gap[i] - _LOWEST:
            return False
    return True


@kernel
def _is_lowest(i, ground, problem, memory, ahead):
    """Whether no other contact that is as still may stand lower on the same plane."""
    for j in range(problem.gap.shape[0]):
        if ahead.plane_of[j] == ahead.plane_of[i] and problem.gap[j] < problem.gap[i] - _LOWEST:
            return False
    return True


@kernel
def _is_needed(i, noise, ground, given, problem, here, places, memory, ahead):
    """Whether a robot that is at rest, with all of its contacts, would fall over if contact i, the lowest of those that
    are not known to stand, did not: the centre of mass is not above what stands. ``places``: scratch."""
    for j in range(problem.gap.shape[0]):
        if ahead.plane_of[j] >= 0:
            creeps = abs(memory.point_velocity[j, 0]) > _CREEPS + _NOISES_LEFT * _left(noise[j], given.dt)
            if creeps or memory.standing[j] < ground.still_time_unloaded:
                return False
            for k in range(3):
                if abs(memory.travel[j, k]) > _STRAYED:
                    return False
            lower = problem.gap[j] < problem.gap[i] - _BEYOND
            if memory.entry[j] < 0 and lower and ahead.plane_of[j] == ahead.plane_of[i]:
                return False
    return not is_above(_BALANCE, memory.entry, problem.flat_rows, problem.bias, here.L, places)


@kernel
def _apply(i, loads, settings, ground, given, problem, here, tracker, memory, map, ahead):
    """Subtract the offset of contact i from its gap, so that a jump of the estimate flips nothing by itself.

    The offset of a contact that does not stand moves a closed one no higher than ``gap_on``, and an open one no lower
    than ``gap_off``; the rest waits for the contact to move.
    """
    measured = problem.gap[i]
    if memory.entry[i] >= 0:
        wanted, variance = memory.stance_height[i], memory.stance_variance[i]
        if loads > 0:  # the ground is wherever it bears the foot
            wanted = max(wanted, measured - settings.gap_on)
    else:
        wanted, variance = predict(ground, ahead.plane_of, map, i, ahead.under[i], ahead.map_row)
    here.gap_sigmas[i] = math.sqrt(here.gap_sigmas[i] ** 2 + variance)
    if not given.trusted and map.map_size[0] > 0:
        ahead.gap_offs[i] = min(settings.gap_off, max(settings.gap_on, _CERTAIN * here.gap_sigmas[i]))
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
