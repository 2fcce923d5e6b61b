"""What the tip of an arm touches, felt where it presses for certain.

An arm may rest anywhere, and efforts that are off by a newton or two would put a table under every place where it does.
A tip that presses with a good part of the arm's weight, and with many times the error of the observed force, is on its
table. Where that is enters the map of footholds (:mod:`.ground_map`), and tells a tip that hovers two millimetres above
the table from one that touches it. Where a tip goes on below that without a force, what it felt was no table.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.footholds import forget_above
from hybrid_contact_ros.kernels.estimation.ground import apply_ground, lay_under
from hybrid_contact_ros.kernels.estimation.ground_heights import fit, predict
from hybrid_contact_ros.kernels.estimation.ground_map import FITTED_AT, TIME, add_foothold, forget, keep_foothold
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.stance import STRAYED, leave

_FIRM = 5.0  # deviations of an observed force
_SETTLES = 0.05  # s, after which a tip that presses rests, and so does the force that is averaged
_SMOOTH = 0.02  # s, over which gap and place are averaged
_GATE = 9.0  # squared deviations, by which a table may be elsewhere than it was configured
_INSISTS, _ASTRAY = 0.2, 0.04  # s, after which what is further off is the table, too, and m, up to which it is
_LEAST = 2e-4**2  # m², of a height
_BELOW = 0.0015  # m, under what was felt, where no force is
_NOISE = 3.0  # deviations of a rate, within which a tip that moves faster along the normal may rest
_FIT_PERIOD = 0.05  # s


@kernel
def feel_surface(settings, ground, given, weight, force, covariance, problem, here, robot, tracker, memory, map, ahead):
    """Learn from this state where the surfaces are, subtract the offset from the gaps, and widen their deviations.

    Args:
        settings: UpdateSettings. ground: GroundSettings; ``least_load`` is what presses for certain. weight: (m,), how
            far forces are believed. force, covariance: (m,), (m, m), N, N², observed at the state before; NaN for none.
        memory, map: StanceMemory and GroundMap, in and out. ahead: GroundScratch, out.
    """
    m, numbers = problem.gap.shape[0], map.map_numbers
    if given.first:
        forget(ground, map)
    numbers[TIME] += given.dt
    lay_under(robot, problem, ahead)
    changed = False
    for i in range(m):
        ahead.rate_offs[i] = settings.velocity_tolerance
        ahead.gap_offs[i] = settings.gap_off
        if ahead.plane_of[i] < 0:
            continue
        known = weight[i] >= BELIEVED and not math.isnan(force[i])
        pressing = known and force[i] > max(ground.least_load, _FIRM * math.sqrt(covariance[i, i]))
        fast = abs(here.gap_velocity[i]) > ground.still_speed + _NOISE * here.velocity_sigmas[i]
        moved = abs(problem.gap[i] - memory.point_height[i]) > STRAYED
        anew = given.first or given.dt > LONGEST_PAUSE or fast or moved
        if anew or not pressing:
            leave(i, memory)
        new = 1.0 if anew else 1.0 - math.exp(-max(given.dt, 0.0) / _SMOOTH)
        memory.point_height[i] += new * (problem.gap[i] - memory.point_height[i])
        for k in range(3):
            memory.point_place[i, k] += new * (ahead.under[i, k] - memory.point_place[i, k])
        if pressing:
            closed = tracker.closed[i] != 0
            changed = _press(i, closed, ground, given.dt, here, memory, map, ahead) or changed
        elif known and not tracker.closed[i] and map.map_size[0] > 0:
            forget_above(ground, i, ahead.under[i], memory.point_height[i] + _BELOW, ahead.plane_of, memory.entry, map)
    if changed or (map.map_size[0] > 0 and numbers[TIME] - numbers[FITTED_AT] >= _FIT_PERIOD):
        fit(ground, ahead.plane_of, map)
    for i in range(m):
        if ahead.plane_of[i] >= 0:
            apply_ground(i, 0, settings, ground, given, problem, here, tracker, memory, map, ahead)


@kernel
def _press(i, closed, ground, dt, here, memory, map, ahead):
    """Contact i presses, ``closed`` or not: follow the height of what it touches; whether that is new in the map.

    What is further from where the table is expected than its deviations allow is believed of a closed tip, and later.
    """
    memory.standing[i] += dt
    if memory.standing[i] < _SETTLES:
        memory.stance_height[i] = memory.point_height[i]
        memory.stance_variance[i] = here.gap_sigmas[i] * here.gap_sigmas[i]
        return False
    place = memory.point_place[i]
    share = max(dt / memory.standing[i], min(dt, _SMOOTH))  # the mean at first, and forgotten within a second
    memory.stance_variance[i] = max((1.0 - share) * memory.stance_variance[i], _LEAST)
    memory.stance_height[i] += share * (memory.point_height[i] - memory.stance_height[i])
    if memory.entry[i] >= 0:
        keep_foothold(map, memory.entry[i], place, memory.stance_height[i], memory.stance_variance[i])
        return False
    expected, spread = predict(ground, ahead.plane_of, map, i, place, ahead.map_row)
    surprise = memory.stance_height[i] - expected
    insists = closed and memory.standing[i] >= _INSISTS and abs(surprise) <= _ASTRAY
    if surprise * surprise > _GATE * (spread + memory.stance_variance[i]) and not insists:
        return False
    add_foothold(ahead.plane_of, map, memory.entry, i, place, memory.stance_height[i], memory.stance_variance[i])
    return True
