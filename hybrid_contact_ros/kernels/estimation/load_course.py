"""Whether the load of a foot changes as it did as long before its last liftoff.

Loads go up and down before a foot leaves: they fall when other legs land, rise while these are loaded, and fall when a
foot is taken off; each gait has its own course, that repeats itself. A robot that stops with all feet on the ground
moves like one that walks on, and is loaded otherwise as soon as the next step should have begun.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED

COURSE = 32
"""Loads that are remembered of one liftoff."""
COURSE_STEP = 0.002
"""s between them."""
WINDOW = 7
"""Loads that are compared, two steps apart."""
MOST = COURSE
"""Column of ``shed`` with the largest load of that stance."""
LAST, NOW = -2, -1
"""Rows of ``shed``, from its end: the loads of the liftoff that just came, and those that are compared. Scratch."""
MARKS = 4
KNOWN, REPEATS, DENIED = range(3)
"""Columns of ``marks``: how many loads are known, whether they were like those before the liftoff before it, and from
here on whether they deny what a source says, STATE and STRIDE."""
_SHIFT = 3  # steps that a stride may be ahead or behind by
_FORESEEN = 0.032  # s: loads tell nothing of a liftoff that is further away
_CLEAR = 0.03  # standard deviation of loads that tell anything, in parts of the stance's largest
_STILL = 0.02  # the same of loads that do not change at all
_LIKE, _UNLIKE = 0.8, 0.4  # correlation of courses that repeat themselves, and of those that do not


@kernel
def loads_before(i, time, count, place, skill):
    """Write the loads of contact i before a liftoff at ``time``, s after the origin, the last one first.

    Args:
        count, place: of the ring ``recent_time`` with the loads of ``recent_load``. skill: in and out, EventSkill;
            the loads go to the row LAST of ``shed``.

    Returns:
        How many are known.
    """
    size, k = skill.recent_time.shape[0], 1  # states back
    found = skill.shed[skill.shed.shape[0] + LAST]
    for n in range(COURSE):
        wanted = time - COURSE_STEP * (n + 1)
        while k <= count and skill.recent_time[(place - k) % size] > wanted:
            k += 1
        if k > count or k == 1:
            return n
        load = _between(i, wanted, (place - k) % size, (place - k + 1) % size, skill)
        if math.isnan(load):
            return n
        found[n] = load
    return COURSE


@kernel
def _between(i, time, before, after, skill):
    """Load of contact i at a time between two places of the ring; NaN where it is not known."""
    then = skill.recent_load[after, i]
    if math.isnan(then):
        then = 0.0  # it has left
    part = (time - skill.recent_time[before]) / (skill.recent_time[after] - skill.recent_time[before])
    return skill.recent_load[before, i] + part * (then - skill.recent_load[before, i])


@kernel
def learn_load_course(i, known, skill):
    """Remember the ``known`` loads of :func:`loads_before`, and whether they were like those before the liftoff before
    it."""
    marks, then, now = skill.marks[i], skill.shed[skill.shed.shape[0] + LAST], skill.shed[skill.shed.shape[0] + NOW]
    marks[REPEATS], marks[DENIED], marks[DENIED + 1] = 1, 0, 0
    for first in (4, 10):  # of the loads: 10 and 22 ms before
        if first + 2 * WINDOW > known:
            marks[REPEATS] = 0
            break
        for k in range(WINDOW):
            now[k] = then[first + 2 * k]
        like, _ = _likeness(i, first, skill)
        if like < _LIKE:
            marks[REPEATS] = 0
    marks[KNOWN], skill.shed[i, MOST] = known, skill.pressed[i]
    for n in range(known):
        skill.shed[i, n] = then[n]


@kernel
def is_loaded_otherwise(i, source, left, now, load, weight, skill):
    """Whether closed contact i will not leave in ``left`` s, because its load does not change as it did then.

    Only loads that repeated themselves before the last liftoffs, and change, deny anything; what a source says is then
    denied until they change as they did.

    Args: source: that says so. left, now: s, and s after the origin. load: N. weight: of forces, 0 to 1. skill: in and
        out, EventSkill.
    """
    marks = skill.marks[i]
    if weight < BELIEVED or marks[REPEATS] == 0:
        return False
    if left <= _FORESEEN:
        like, spread = _alike(i, left, now, load, skill)
        if spread >= _CLEAR * skill.shed[i, MOST]:
            if like < _UNLIKE:
                marks[DENIED + source] = 1
            elif like >= _LIKE:
                marks[DENIED + source] = 0
    return marks[DENIED + source] == 1


@kernel
def _alike(i, left, now, load, skill):
    """How like the last loads are to those that were followed by a liftoff after ``left`` s; as :func:`_likeness`."""
    count, place = skill.recent_place
    size, k = skill.recent_time.shape[0], 1
    loads = skill.shed[skill.shed.shape[0] + NOW]
    loads[0] = load
    for n in range(1, WINDOW):
        wanted = now - 2.0 * COURSE_STEP * n
        while k <= count and skill.recent_time[(place - k) % size] > wanted:
            k += 1
        if k > count:
            return 1.0, 0.0
        here, after = (place - k) % size, (place - k + 1) % size
        if k == 1:
            loads[n] = skill.recent_load[here, i]
        else:
            loads[n] = _between(i, wanted, here, after, skill)
        if math.isnan(loads[n]):
            return 1.0, 0.0
    return _likeness(i, int(left / COURSE_STEP + 0.5) - 1, skill)


@kernel
def _likeness(i, first, skill):
    """The largest correlation of the loads in the row NOW of ``shed`` with those of contact i before its last liftoff,
    and the least standard deviation of these (N); 1 and 0 where that is not known.

    Args: first: which load of then is compared with the newest; some more and fewer are tried.
    """
    x, known, shed = skill.shed[skill.shed.shape[0] + NOW], skill.marks[i, KNOWN], skill.shed[i]
    mean = own = 0.0
    for k in range(WINDOW):
        mean += x[k] / WINDOW
    for k in range(WINDOW):
        own += (x[k] - mean) ** 2
    best, spread = -1.0, math.inf
    for begin in range(max(first - _SHIFT, 0), first + _SHIFT + 1):
        if begin + 2 * (WINDOW - 1) >= known:
            break
        then = other = both = 0.0
        for k in range(WINDOW):
            then += shed[begin + 2 * k] / WINDOW
        for k in range(WINDOW):
            apart = shed[begin + 2 * k] - then
            other += apart * apart
            both += apart * (x[k] - mean)
        spread = min(spread, other)
        best = max(best, both / math.sqrt(max(own * other, 1e-12)))
    if math.isinf(spread):
        return 1.0, 0.0
    if own < WINDOW * (_STILL * skill.shed[i, MOST]) ** 2:
        best = 0.0
    return best, math.sqrt(spread / WINDOW)
