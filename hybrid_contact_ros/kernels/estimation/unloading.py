"""When a foot leaves, by how it is being unloaded: as it was before its last liftoff.

A controller takes the load off a foot in much the same way at every stride, however long the stride is. The load at
2, 4, 6, … ms before the last liftoff is remembered, as far back as it was falling. A foot whose load falls again
through these values, after it has carried more, leaves in as many ms as it did then. A straight line through the load
is 5 to 10 ms late at 10 ms, since the load of a foot falls faster at its end than before.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.load_course import LAST

UNLOADING = 16
"""Loads that are remembered of one liftoff."""
UNLOADING_STEP = 0.002
"""s between them."""
_LEAST = 3  # of falling loads that tell anything
_FALLS = 0.02  # of the largest load of a stance: by less from one to the next the load does not fall
_APART, _AGREE = 0.005, 0.004  # s between the loads that must tell the same, and by how much they may differ
_WATCHED = 0.008  # s, over which a load falls, or does not
# It should, where it fell by this part of the whole then, and does not, where it falls by less than this part of that.
_CLEARLY, _STANDS = 0.12, 0.3
_RATE, _AGE = 1, 2  # of the line of a load (event_times.follow_line)


@kernel
def liftoff_by_load(i, now, load, weight, line, skill):
    """When closed contact i leaves, s from now; infinite where its load does not tell.

    The load now and that of some ms ago must tell the same: a load that jumps down, or stays where it is, is none that
    is taken off.

    Args:
        now: s after the origin. load: N. weight: of its forces, 0 to 1. line: (3,), of its load, as of ``follow_line``.
        skill: in and out, EventSkill; ``pressed`` is the largest load of this stance.
    """
    if weight < BELIEVED:
        return math.inf
    skill.pressed[i] = max(skill.pressed[i], load)
    last = skill.fell.shape[0] - 1
    row = i if skill.fell[i] >= _LEAST else last  # before its first liftoff a foot has that of another one
    fell, before = skill.fell[row], skill.unloading[row]
    if fell < _LEAST or not line[_RATE] < 0.0 or line[_AGE] <= 0.0 or skill.pressed[i] < before[fell - 1]:
        return math.inf
    left = _left(load, fell, before)
    if math.isinf(left):
        return left
    count, place = skill.recent_place
    size = skill.recent_time.shape[0]
    for k in range(1, count + 1):
        then = (place - k) % size
        ago = now - skill.recent_time[then]
        if ago >= _APART:
            said = _left(skill.recent_load[then, i], fell, before) - ago
            return left if abs(said - left) <= _AGREE else math.inf
    return math.inf


@kernel
def still_bears(i, left, now, load, weight, skill):
    """Whether closed contact i will not leave in ``left`` s, because its load does not fall as it did before its last
    liftoff: a robot that stops with its feet on the ground looks like one that walks on, but for that.

    Args: left, now: s, and s after the origin. load: N. weight: of its forces, 0 to 1. skill: EventSkill.
    """
    fell, before = skill.fell[i], skill.unloading[i]
    if weight < BELIEVED or fell < _LEAST or not left <= UNLOADING_STEP * fell:
        return False
    falls = _load_then(left + _WATCHED, fell, before) - _load_then(left, fell, before)
    if falls < _CLEARLY * before[fell - 1]:
        return False
    count, place = skill.recent_place
    size = skill.recent_time.shape[0]
    for k in range(1, count + 1):
        then = (place - k) % size
        if now - skill.recent_time[then] >= _WATCHED:
            return skill.recent_load[then, i] - load < _STANDS * falls
    return False


@kernel
def _load_then(left, fell, before):
    """Load (N) that was borne ``left`` s before the last liftoff, of which ``before`` knows ``fell``."""
    place = min(left / UNLOADING_STEP - 1.0, fell - 1.0)
    if place <= 0.0:
        return before[0] * (place + 1.0)
    k = min(int(place), fell - 2)
    return before[k] + (place - k) * (before[k + 1] - before[k])


@kernel
def _left(load, fell, before):
    """How long (s) before the liftoff the load was the same the last time; infinite where it was not yet falling.
    before: loads, of which ``fell`` are known."""
    if not load <= before[fell - 1]:
        return math.inf
    if load <= before[0]:
        return 0.5 * UNLOADING_STEP
    k = 1
    while before[k] < load:
        k += 1
    part = (load - before[k - 1]) / (before[k] - before[k - 1])
    return UNLOADING_STEP * (k + part)


@kernel
def learn_unloading(i, known, skill):
    """Remember the loads before a liftoff of contact i as far back as they fell; of this contact and of any.

    Args: known: loads of :func:`~.load_course.loads_before`.
    """
    own, every = skill.unloading[i], skill.unloading[skill.fell.shape[0] - 1]
    loads = skill.shed[skill.shed.shape[0] + LAST]
    found, steps = 0, _FALLS * skill.pressed[i]
    for n in range(min(known, UNLOADING)):
        if n > 0 and loads[n] <= own[n - 1] + steps:
            break
        own[n] = loads[n]
        found = n + 1
    skill.fell[i] = found
    skill.pressed[i] = 0.0
    if found >= _LEAST:
        skill.fell[skill.fell.shape[0] - 1] = found
        for n in range(found):
            every[n] = own[n]
