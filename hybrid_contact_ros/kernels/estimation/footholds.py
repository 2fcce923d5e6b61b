"""Footholds that are new: whether the ground is where a contact has come to stand."""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.ground_heights import fit, note_surprise, predict
from hybrid_contact_ros.kernels.estimation.ground_map import (
    BASE_VARIANCE,
    CLOCKS_UNSUPPORTED,
    SOFTNESS,
    add_foothold,
    keep_foothold,
    remove_foothold,
    shift_all,
    square_distance,
)
from hybrid_contact_ros.kernels.estimation.met_ground import GIVES_WAY, below
from hybrid_contact_ros.kernels.estimation.own_ground import roughness
from hybrid_contact_ros.kernels.estimation.pushes import LITTLE, MUCH, NOTHING
from hybrid_contact_ros.kernels.estimation.stance import FLIES, LOWEST, NOISES_LEFT, STRAYED, noise_left, smoothed
from hybrid_contact_ros.kernels.estimation.support_polygon import is_above

_DOUBT_OF_DEPTH = 0.2
_TRAVEL = 0.02  # m: a foot that is still while the base moves this far stands. At the apex of a swing it is still, too,
# for as long as it takes to fall by 2 mm; the base does not get that far meanwhile.
_GATE_ABOVE = 4.0  # squared deviations by which a foot whose load is not known may stand above the expected ground
_GATE_AGAIN = 0.25  # the same where it stood before: there it knows the ground, and hangs where it is above
_FURTHEST, _FURTHEST_UNLOADED = 0.3, 0.1  # m, from it
_DRIFTED = 0.03  # m, by which a base drifts unseen while something that is no contact carries the robot
_BEYOND = 1e-6  # m
# m/s, of a foot that is lifted slowly; and m: so far within what it stands on is the centre of mass of a robot at rest
_CREEPS, _BALANCE = 0.01, 0.01
_SETTLES = 0.02  # m/s: what a base that landed moved until it was at rest, by the time since, is no more than this


@kernel
def enter(
    i, loads, stopped, told, floating_base, noise, ground, given, problem, here, places, memory, map, ahead
):  # fmt: skip
    """Write contact i, which has been still for long enough, into the map; whether that adds a foothold.

    ``told``: of :func:`~.pushes.told_load`. Where joints tell loads and efforts do not explain the motion, something
    that is no contact carries the robot: no foot must stand for it not to fall, what bears little carries nothing, and
    what bears much does so where the ground is expected, but for the drift of the base meanwhile.
    """
    height, variance, place = memory.stance_height[i], memory.stance_variance[i], ahead.under[i]
    depth = sunk(i, loads, ahead.link_of, memory, map)
    if depth > GIVES_WAY:  # the next foot meets the ground where this one did
        height, variance = height + depth, variance + (_DOUBT_OF_DEPTH * depth) ** 2
    if memory.entry[i] >= 0:
        keep_foothold(map, memory.entry[i], place, height, variance)
        return False
    expected, spread = predict(ground, ahead.plane_of, map, i, place, ahead.map_row)
    surprise = height - expected
    if loads > 0 or (told == MUCH and abs(surprise) <= _DRIFTED):
        along = memory.point_velocity[i, 1] ** 2 + memory.point_velocity[i, 2] ** 2
        above = surprise > 0.0 and surprise * surprise > _GATE_ABOVE * (spread + here.gap_sigmas[i] ** 2)
        believed = abs(surprise) <= _FURTHEST and not (above and along > FLIES * FLIES)
    else:
        # A foot may hang still above the ground, and cannot be below it.
        believed = surprise <= 0.0 and surprise >= -_FURTHEST_UNLOADED
        # It does not hang where something stopped it, or gave way under it.
        believed = believed or ((stopped or depth > GIVES_WAY) and abs(surprise) <= _FURTHEST)
        gate = _GATE_ABOVE * roughness(i, place, map.map_contact, map.map_place, map.map_size) ** 2 + _GATE_AGAIN
        believed = believed or surprise * surprise <= gate * (spread + here.gap_sigmas[i] ** 2)
        travel = memory.travel[i, 0] ** 2 + memory.travel[i, 1] ** 2 + memory.travel[i, 2] ** 2
        believed = believed or (travel > _TRAVEL * _TRAVEL and surprise <= _FURTHEST)
        if not believed and told != LITTLE and map.map_numbers[CLOCKS_UNSUPPORTED] >= ground.still_time_unloaded:
            believed = abs(surprise) <= _FURTHEST_UNLOADED and _is_lowest(i, problem, ahead)
        if not believed and told == NOTHING and floating_base:
            furthest = _FURTHEST if map.map_numbers[CLOCKS_UNSUPPORTED] == 0.0 else _FURTHEST_UNLOADED
            believed = surprise <= furthest and _is_needed(
                i, noise, ground, given, problem, here, places, memory, ahead
            )
    if not believed:
        return False
    base = map.map_numbers[BASE_VARIANCE]
    if map.map_size[0] > 0:
        note_surprise(
            ground, ahead.plane_of, map, i, place, height, surprise, spread + variance, ahead.map_row
        )  # fmt: skip
        if base > 0.0:
            shift_all(map, base / (spread + variance) * surprise)
    map.map_numbers[BASE_VARIANCE] = base * (1.0 - base / (spread + variance))
    add_foothold(ahead.plane_of, map, memory.entry, i, place, height, variance)
    fit(ground, ahead.plane_of, map)
    return True


@kernel
def sunk(i, loads, link_of, memory, map):
    """How far the ground has given way under contact i, m, since it met it; less than nothing where that is unknown.

    Of a sole, as far as it has under the point that sank least: what rocks over an edge comes down as well, and where
    a point of it touched is as uncertain as its load.
    """
    met = below(i, memory.stance_height[i], memory.met, map.map_numbers[SOFTNESS:])
    if loads <= 0:
        return met
    depth = memory.touched_height[i] - memory.stance_height[i]
    for j in range(link_of.shape[0]):
        if link_of[j] == link_of[i] and memory.standing[j] > 0.0:
            depth = min(depth, memory.touched_height[j] - memory.stance_height[j])
    return max(depth + max(memory.touched_lead[i], 0.0) if depth > GIVES_WAY else depth, met)


@kernel
def forget_above(ground, i, place, height, group, entry, map):
    """Forget the footholds about ``place`` (3,), m, that are above contact i, ``height`` m over its plane: it went on
    down through them, and they are no ground. ``group``, ``entry``: (m,), as in :mod:`.ground_map`."""
    before = map.map_size[0]
    for k in range(before - 1, -1, -1):
        apart = square_distance(map.map_place[k], place)
        near = group[map.map_contact[k]] == group[i] and apart < ground.correlation_length**2
        if near and map.map_height[k] > height and entry[map.map_contact[k]] != k:
            remove_foothold(map, entry, k)
    if map.map_size[0] < before:
        fit(ground, group, map)


@kernel
def _is_lowest(i, problem, ahead):
    """Whether no other contact that is as still may stand lower on the same plane."""
    for j in range(problem.gap.shape[0]):
        if ahead.plane_of[j] == ahead.plane_of[i] and problem.gap[j] < problem.gap[i] - LOWEST:
            return False
    return True


@kernel
def _is_needed(i, noise, ground, given, problem, here, places, memory, ahead):
    """Whether a robot that is at rest, with all of its contacts, would fall over if contact i, the lowest of those that
    are not known to stand, did not: the centre of mass is not above what stands. ``places``: scratch."""
    lag = smoothed(given.dt)
    for j in range(problem.gap.shape[0]):
        if ahead.plane_of[j] >= 0:
            creeps = abs(memory.point_velocity[j, 0]) > _CREEPS + NOISES_LEFT * noise_left(noise[j], lag)
            if creeps or memory.standing[j] < ground.still_time_unloaded:
                return False
            for k in range(3):
                if abs(memory.travel[j, k]) > max(STRAYED, _SETTLES * memory.standing[j]):
                    return False
            lower = problem.gap[j] < problem.gap[i] - _BEYOND
            if memory.entry[j] < 0 and lower and ahead.plane_of[j] == ahead.plane_of[i]:
                return False
    return not is_above(_BALANCE, memory.entry, problem.flat_rows, problem.bias, here.L, places)
