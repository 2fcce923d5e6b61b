"""Which contacts stand: the still and, where their loads are known, the loaded ones. How the ground is learned from
them: :mod:`.ground`."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.records import Array, Indices

MOVES = 0.1
"""m/s: a base that is faster moves."""
FLIES = 0.3
"""m/s: a foot that is faster is in its swing."""
STRAYED = 0.005
"""m: a foot whose load is not known does not stand where it has moved further."""
NOISES_LEFT = 2.0
"""Deviations of the noise of a rate within which a foot is still."""
LOWEST = 0.005
"""m: what is less far above another point may be as low."""
PULL_DOUBT = 1.5
"""A load counts where it is this many times what was pulled."""
EASED = 0.004
"""s, over which it is seen how the load of a sole changes."""
SOLE_SHARE = 2.0
"""Times what its points would bear at least that a sole bears which stands: efforts that are wrong by 5 % of a robot on
one leg lay that part of its weight on the other one."""
DRIFT_SPEED = 0.015
"""m/s, at which the height of a base drifts at most."""
SMOOTHING = 0.01
"""s, of the velocities of the points."""
_CREEP, _CREEP_UNLOADED = 0.001**2, 0.0001**2  # m²/s, by which single footholds move under a foot; where its load is
# not known it may be the foot that moves
_PLACE_TIME = 0.05  # s, of the positions of the points, once they are slower than
_LIFTED = 0.0015  # m, above where it stood
_DEEPER = 0.002  # m, in which soft ground bears more for certain
_SINKS = 0.15  # s: what moves later than this, and no faster than a base drifts, is the base; faster, it is the foot,
# which sinks deeper under a load that grows
_RISES = 0.001  # m/s, at which the ground under one foot seems to rise where the base is tilted by its drift
_ABSENT = 0.5  # s: after a longer pause nothing is where it was
_CARRIED, _ASIDE = 0.03, 0.25  # m/s, and part of a speed
_ALONG = 3.0  # positions along the surface may move by this many times as much as heights


class StanceMemory(NamedTuple):
    """What is remembered of each contact."""

    point_velocity: Array  # (m, 3), m/s, low-passed; normal first
    point_place: Array  # (m, 3), m, low-passed place in the plane
    point_height: Array  # (m,), m, and gap
    point_gap: Array  # (m,), m, the same gap, low-passed as briefly as the velocities
    unrest: Array  # (m, 4), how much the gap moves while the contact stands: columns of :mod:`.unrest`
    standing: Array  # (m,), s, since the contact has been still
    stance_height: Array  # (m,), m, mean and variance of the height while it is
    stance_variance: Array  # (m,), m²
    touched_height: Array  # (m,), m, where the load began to be seen
    touched_load: Array  # (m,), N, that load
    touched_lead: Array  # (m,), m, by which the foot had come down since it really began: the observer lags; or less
    # than zero, by which it would have, of a foot that was seen to fall on until then
    met: Array  # (m, MET_COLUMNS), where the ground met the foot, by its motion: columns of :mod:`.met_ground`
    stance_start: Array  # (m, 3), m, where that began
    travel: Array  # (m, 3), m, by which the base has moved since the point is slow, in the base's axes
    pressing: Array  # (m,), N, normal forces that explain the motion
    eased: Array  # (m,), N, the same low-passed over :data:`EASED`
    pulling: Array  # (m,), N, how far these were below zero lately, where no ground pulls: their error
    bore: Array  # (m,), s, for which it has stood under a load by efforts that were believed, some at most
    entry: Indices  # (m,), foothold in the map on which the contact stands; −1 where it does not
    shift: Array  # (m,), m, subtracted from the gap


@kernel
def note_travel(i, dt, floating_base, velocity, memory):
    """Add up how far the base moves while contact i is slow. What moves as fast as the base is carried by it."""
    if not floating_base:
        return
    foot, base = 0.0, 0.0
    for k in range(3):
        foot += memory.point_velocity[i, k] ** 2
        base += velocity[k] ** 2
    past = 1.0 - math.sqrt(foot / base) if base > foot else 0.0  # the part by which the base moves past the foot
    for k in range(3):
        memory.travel[i, k] = memory.travel[i, k] + dt * past * velocity[k] if foot < MOVES * MOVES else 0.0


@kernel
def is_where_it_stood(i, ground, dt, problem, here, memory, ahead):
    """Whether contact i is found after a pause where it was before it: wherever it may have been, it stands."""
    apart = 0.0
    for k in range(3):
        apart += (ahead.under[i, k] - memory.stance_start[i, k]) ** 2
    here_again = apart < (_ALONG * STRAYED) ** 2 and abs(problem.gap[i] - memory.stance_height[i]) < STRAYED
    return dt < _ABSENT and memory.standing[i] > 0.0 and here_again and abs(here.gap_velocity[i]) < ground.still_speed


@kernel
def follow_stance(i, loads, gain, noise_of_rate, ground, given, problem, here, tracker, memory, ahead):
    """Follow contact i while it stands; whether it has done so for long enough."""
    lag, slow = smoothed(given.dt), 1.0 - math.exp(-given.dt / _PLACE_TIME)
    fastest = max(abs(here.gap_velocity[i]), abs(memory.point_velocity[i, 0]))
    left = noise_left(noise_of_rate, lag)
    away, strayed, square = 0.0, 0.0, 0.0  # along the surface
    for k in range(3):
        memory.point_velocity[i, k] += lag * (here.contact_velocity[i, k] - memory.point_velocity[i, k])
        square += memory.point_velocity[i, k] ** 2
    if square > (FLIES + _ALONG * left) ** 2:  # where it was before tells nothing of where it comes to rest
        slow = 1.0
        memory.point_gap[i] = problem.gap[i]
    for k in range(3):
        memory.point_place[i, k] += slow * (ahead.under[i, k] - memory.point_place[i, k])
        away += (ahead.under[i, k] - memory.point_place[i, k]) ** 2
        strayed += (ahead.under[i, k] - memory.stance_start[i, k]) ** 2
    memory.point_height[i] += slow * (problem.gap[i] - memory.point_height[i])
    memory.point_gap[i] += lag * (problem.gap[i] - memory.point_gap[i])
    noise = here.gap_sigmas[i] * here.gap_sigmas[i]
    begun = memory.standing[i] > 0.0
    apart = problem.gap[i] - memory.stance_height[i]
    if loads > 0:
        least = max(ground.least_load, PULL_DOUBT * memory.pulling[i])
        stands = memory.pressing[i] > (0.5 if begun else 1.0) * least
        points, borne = borne_by_sole(i, ahead.link_of, memory.pressing, memory.pulling)
        stands = stands and (points == 1 or borne > (0.5 if begun else 1.0) * SOLE_SHARE * points * ground.least_load)
        rests = abs(memory.point_velocity[i, 0]) < max(ground.still_speed, NOISES_LEFT * left)
        # Of states that are far apart, what pressed between them may have come or gone meanwhile.
        stands = stands and (fastest - NOISES_LEFT * noise_of_rate) * given.dt < STRAYED
    else:
        # Of noisy gaps one is far off now and then, and the more often the more there are in a second.
        rise, moved = abs(memory.point_gap[i] - memory.point_height[i]), memory.point_gap[i] - memory.stance_height[i]
        stands = loads == 0 and rise < ground.still_speed * (_PLACE_TIME - SMOOTHING)
        stands = stands and away < (_ALONG * ground.still_speed * _PLACE_TIME) ** 2
        carried = memory.entry[i] < 0 and _is_carried(i, NOISES_LEFT * left, ahead.link_of, memory)
        stands = stands and not carried and (not begun or abs(moved) < STRAYED)
        stands = stands and (not begun or memory.entry[i] >= 0 or strayed < (_ALONG * STRAYED) ** 2)
        rests = True
    # The observer lags: a foot that has left still seems to press.
    left_open = not tracker.closed[i] and memory.point_velocity[i, 0] > ground.still_speed
    still = max(ground.still_speed, NOISES_LEFT * left)
    leaves = begun and (left_open or _is_above(i, still, problem, here, memory))
    if leaves or not (stands and may_touch(i, problem, ahead)):
        if memory.entry[i] >= 0 and memory.point_gap[i] - memory.stance_height[i] > _LIFTED:
            # It is lifted. How far the base moved on while it stood tells nothing of where it is still next.
            for k in range(3):
                memory.travel[i, k] = 0.0
        leave(i, memory)
        return False
    if not begun or (memory.entry[i] < 0 and not rests):
        memory.standing[i] = max(memory.standing[i] + given.dt, 1e-9) if begun else 1e-9
        # What still falls faster than when a load began to be seen, has not touched yet: the load was none.
        falls = begun and -here.gap_velocity[i] > abs(memory.touched_lead[i]) * gain + ground.still_speed
        # Ground that gives way bears more the deeper a foot is in it: a load that does not grow was an error of it.
        deeper = loads > 0 and not tracker.closed[i] and memory.touched_height[i] - problem.gap[i] > _DEEPER
        falls = falls or (begun and deeper and memory.pressing[i] <= memory.touched_load[i])
        if not begun or falls:
            speed = max(-memory.point_velocity[i, 0], -here.gap_velocity[i], 0.0)
            memory.touched_height[i] = problem.gap[i]
            memory.touched_load[i] = memory.pressing[i]
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
        step = weight * apart
        if loads == 0 and memory.standing[i] > _SINKS:  # ground does not rise: what goes up is the foot
            step = min(step, _RISES * given.dt)
        memory.stance_height[i] += step
        if memory.standing[i] > _SINKS:
            most = DRIFT_SPEED * given.dt
            memory.touched_height[i] += min(max(weight * apart, -most), most)
        memory.stance_variance[i] *= 1.0 - weight
    return memory.standing[i] >= (ground.still_time if loads > 0 else ground.still_time_unloaded)


@kernel
def _is_carried(i, noise, link_of, memory):
    """Whether contact i moves along the surface, by more than ``noise`` (m/s), while another one that stands does not:
    it is carried over the ground. What all of them do is the base, or a slope."""
    along = math.hypot(memory.point_velocity[i, 1], memory.point_velocity[i, 2])
    if along < _CARRIED + noise:
        return False
    for j in range(link_of.shape[0]):
        aside = math.hypot(memory.point_velocity[j, 1], memory.point_velocity[j, 2])
        if memory.entry[j] >= 0 and link_of[j] != link_of[i] and aside < _ASIDE * along:
            return True
    return False


@kernel
def _is_above(i, still, problem, here, memory):
    """Whether contact i goes up, faster than ``still`` (m/s), from above the surface: whatever seems to press on it,
    ground follows a foot no further than it gave way."""
    surface = memory.touched_height[i] + max(memory.touched_lead[i], 0.0)
    if memory.entry[i] >= 0:
        surface = max(surface, memory.stance_height[i])
    rises = min(memory.point_velocity[i, 0], here.gap_velocity[i]) > still
    return rises and problem.gap[i] - surface > STRAYED


@kernel
def borne_of_late(i, gain, link_of, pressing, eased):
    """What the sole of contact i bears by how its force changes, which the observer follows as slowly as 1/``gain``."""
    borne = 0.0
    for j in range(pressing.shape[0]):
        if link_of[j] == link_of[i]:
            borne += pressing[j] + (pressing[j] - eased[j]) / (gain * EASED)
    return borne


@kernel
def borne_by_sole(i, link_of, pressing, pulling):
    """How many points the sole of contact i has, and what they bear together; zero, where that may be an error."""
    points, borne, square = 0, 0.0, 0.0
    for j in range(pressing.shape[0]):
        if link_of[j] == link_of[i]:
            points += 1
            borne += pressing[j]
            square += pulling[j] * pulling[j]
    return points, borne if borne > PULL_DOUBT * math.sqrt(square) else 0.0


@kernel
def start_anew(i, problem, here, memory, ahead):
    """Let the low-passes of contact i start from this state."""
    memory.point_height[i] = problem.gap[i]
    memory.point_gap[i] = problem.gap[i]
    for k in range(3):
        memory.point_velocity[i, k] = here.contact_velocity[i, k]
        memory.point_place[i, k] = ahead.under[i, k]


@kernel
def smoothed(dt):
    """The part of a new velocity that its low-pass takes over."""
    return 1.0 - math.exp(-dt / SMOOTHING)


@kernel
def noise_left(noise_of_rate, lag):
    """What the low-pass of the velocities leaves of the noise of a rate, m/s. lag: of :func:`smoothed`."""
    return noise_of_rate * math.sqrt(min(0.5 * lag, 1.0))


@kernel
def leave(i, memory):
    memory.standing[i] = 0.0
    memory.entry[i] = -1


@kernel
def may_touch(i, problem, ahead):
    """Whether contact i may be what carries its link. Of a body that stands on one of its faces, no point is that is
    clearly higher than another one: nothing tells which points carry the load, so that each is given a part of it, and
    that part moves with the link. A flat sole has one face: where it leans on an edge, its other points are given
    nothing, and where it rests on a slope, all of them carry."""
    for j in range(problem.gap.shape[0]):
        if ahead.solid_of[j] == ahead.solid_of[i] and problem.gap[j] < problem.gap[i] - LOWEST:
            return False
    return True
