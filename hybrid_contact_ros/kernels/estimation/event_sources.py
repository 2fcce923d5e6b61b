"""The next event of each contact from several sources, weighted by what their errors were.

For a touchdown: the extrapolated gap with the rhythm (:mod:`.event_times`), the touchdown a stride ago, and the path of
the last swing (:mod:`.stride_events`). For a liftoff: the rhythm, the liftoff a stride ago, and how the foot is
unloaded (:mod:`.unloading`).
What each of them said 10, 20 and 50 ms before the last events of the contact is compared with when these came, and
its mean square error at such a time is the variance that it counts with. A source is silent where more of what it told
lately did not come than did; the load is silent until it has been right, for in some gaits a load dips more often than
a foot lifts. A foot whose load stays where it is, where it fell before the last liftoff, is not said to leave.

A rhythm goes by the clock. Where the course of the joints was followed and no longer is like the last stride (a stop,
a change, a stumble), what the rhythm alone says is not told until the course is followed again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.event_rhythm import not_yet
from hybrid_contact_ros.kernels.estimation.event_skill import (
    ALONE,
    PATH,
    STATE,
    STRIDE,
    TOLD,
    change_of_pace,
    leaning,
    remember_forecasts,
    slip_comes_first,
)
from hybrid_contact_ros.kernels.estimation.event_times import ABRUPT, is_too_far
from hybrid_contact_ros.kernels.estimation.events_together import is_first, is_heard, together
from hybrid_contact_ros.kernels.estimation.load_course import is_loaded_otherwise
from hybrid_contact_ros.kernels.estimation.rate_lines import NOISE_LEFT, is_followed, shows_slope
from hybrid_contact_ros.kernels.estimation.records import Array, Codes
from hybrid_contact_ros.kernels.estimation.stride_course import DRIFT, LAG, LASTING, MISMATCH, TRACKED
from hybrid_contact_ros.kernels.estimation.stride_events import (
    DOUBTED,
    event_after,
    has_landed,
    height_then,
    spread_after,
    touchdown_on_path,
)
from hybrid_contact_ros.kernels.estimation.unloading import liftoff_by_load, still_bears

_NONE, _TOUCHDOWN, _LIFTOFF = int(EventKind.NONE), int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_SLIP = int(EventKind.SLIP)
_STRIKES = 5.0  # deviations of a rate: slower, what still rises or hovers does not come down for certain
_AT = 1e-5  # m
_SMOOTH = 0.012  # s, over which the foot's place on its path is averaged
# Deviations: a foot that stands, but is called open, has neither been this far up nor comes down this fast with room to
# do so. What has just left stands for an instant, and an impact of another foot shakes it.
_RISEN, _FALLS = 5.0, 3.0
# s, standard deviation of an event by the last stride, beyond which nothing of earlier strides tells of a liftoff:
# where a robot stands, nothing says how far it is.
_UNSURE = 0.02
# s: while no stride is followed, loads tell of no liftoff that is further away. Feet that stay are unloaded, too.
_LOADS_AHEAD = 0.0125
_FREE_FALL = -10.0  # m/s²
# s: what comes down within this by its speed alone may be pulled down still faster; and what would come down within it
# by a pull that is too abrupt to be believed, may.
_SOON = 0.02


class EventsGiven(NamedTuple):
    """What one state says of m contacts."""

    now: float  # s after the origin of the course
    dt: float  # s since the last state
    sigmas: float  # of bounds
    horizon: float  # s
    lost: bool  # whether the course was followed and no longer is
    closed: Codes  # (m,)
    gap: Array  # (m,), m
    rate: Array  # (m,), m/s
    expected: Array  # (m, 2, 3), s from now, by the rhythm
    load: Array  # (m,), N
    weight: Array  # (m,), of forces, 0 to 1
    lines: Array  # (m, 2, 3), of loads and margins, as of ``follow_line``
    rate_lines: Array  # (m, COLUMNS), of :mod:`.rate_lines`
    gap_sigma: float  # m, of a gap by the sensors
    gap_off: float  # m, to which the gaps of idle contacts are raised: where the ground is, nobody knows
    idle: Codes  # (m,), of :mod:`.hanging`
    rate_sigma: Array  # (m,), m/s, of its rate
    gap_sigmas: Array  # (m,), m, of its gap, the ground's height among them


class EventsTold(NamedTuple):
    """Members of EventOut."""

    kind: Codes
    backed: Codes
    times: Array


@kernel
def weigh_sources(given, course, skill, told):
    """Replace the next touchdown or liftoff of each contact by what all sources say of it.

    Args:
        given: EventsGiven. course: StrideCourse. skill: in and out, EventSkill.
        told: in and out, EventsTold, as of ``next_events``.
    """
    kind, backed, times, closed = told.kind, told.backed, told.times, given.closed
    doubt = max(1.0, course.lag[LASTING]) ** 2
    for i in range(closed.shape[0]):
        lifts = 1 if closed[i] else 0
        own, falls, pulled = 0.0, False, math.inf
        if lifts:
            _liftoffs(i, given, course, skill)
        else:
            own, falls, pulled = _touchdowns(i, given, course, skill, told)
        found, spread = together(i, lifts, given.horizon, doubt, own, falls, skill)
        if pulled < min(found, _SOON):
            found = math.inf  # it may last all the same: nothing tells when the foot will touch
        skill.forecast[i, TOLD] = found
        skill.sigma[i] = math.nan
        wanted = _LIFTOFF if lifts else _TOUCHDOWN
        if found <= given.horizon:
            before = lifts and kind[i] != _NONE and kind[i] != _LIFTOFF and times[i, 0] < found
            if before and (kind[i] != _SLIP or slip_comes_first(i, given.now + times[i, 0], skill)):
                continue  # a slip or a stick that comes first
            unlike = is_first(i, lifts, skill) or (not lifts and has_landed(i, course))
            if kind[i] == wanted and times[i, 2] < math.inf and unlike:
                # Before its first event a contact is no surer than the state, for its ground may be any; nor is one
                # that rebounds, for what is known of its touchdowns is of the first touches.
                spread = max(spread, 0.5 * (times[i, 2] - times[i, 1]) / max(given.sigmas, 0.5))
            kind[i] = wanted
            if lifts:
                backed[i] = wanted
            skill.sigma[i] = spread
            times[i, 0] = found
            times[i, 1] = max(found - given.sigmas * spread, 0.0)
            times[i, 2] = found + given.sigmas * spread
        elif kind[i] == wanted:
            kind[i] = backed[i] = _NONE
            times[i, 0] = times[i, 1] = times[i, 2] = math.nan
    remember_forecasts(given.now, closed, given.load, given.weight, change_of_pace(course.lag), skill)


@kernel
def _liftoffs(i, given, course, skill):
    """What each source says of closed contact i."""
    said, due = skill.forecast[i], skill.estimate
    skill.path[i, 2] = skill.path[i, 3] = 0.0
    not_yet(given.expected[i, 1], due)
    said[STATE] = math.inf if given.lost else due[0]
    said[STRIDE], _ = event_after(i, 1, given.now, course)
    nearest = min(said[STATE], said[STRIDE])
    if course.lag[TRACKED] > 0.0 and nearest <= given.horizon and spread_after(nearest, course.lag) > _UNSURE:
        said[STATE] = said[STRIDE] = math.inf
    said[STRIDE] = max(said[STRIDE] - leaning(change_of_pace(course.lag), skill), 0.0)
    now, load, weight = given.now, given.load[i], given.weight[i]
    for source in (STATE, STRIDE):
        left = said[source]
        otherwise = is_loaded_otherwise(i, source, left, now, load, weight, skill)
        if otherwise or still_bears(i, left, now, load, weight, skill):
            said[source] = math.inf
    skill.alone[i, ALONE] = 1.0 if given.lost else 0.0
    said[PATH] = liftoff_by_load(i, now, load, weight, given.lines[i, 0], skill)
    leaves = course.lag[TRACKED] > 0.0 and course.lag[MISMATCH] > DOUBTED
    if leaves or (given.lost and said[PATH] > _LOADS_AHEAD):
        said[PATH] = math.inf  # a robot that stops in its stride takes load off feet that stay


@kernel
def _touchdowns(i, given, course, skill, told):
    """What each source says of open contact i. Returns the state's own standard deviation, s; whether the contact
    falls; and when (s) it would touch by a pull of this state that is too abrupt to be believed, or infinity."""
    said, path, lag = skill.forecast[i], skill.path[i], course.lag
    by_rhythm = told.backed[i] == _NONE
    stands = told.kind[i] == _TOUCHDOWN and not (given.lost and by_rhythm)
    path[3] = max(path[3], given.gap[i])
    room = given.gap[i] > given.gap_sigma or path[3] - given.gap[i] > _FALLS * given.gap_sigma
    rate, noise = given.rate[i], given.rate_sigma[i]
    settled = is_followed(given.rate_lines[i])
    if settled:
        rate, noise = given.rate_lines[i, 0], NOISE_LEFT * noise
    falls = room and rate < -_FALLS * noise
    up = path[3] > _RISEN * given.gap_sigma
    if settled:  # the parabola of now turns, and strikes at 2 φ / t + φ̇
        left = told.times[i, 0]
        up = up and left > 0.0 and 2.0 * given.gap[i] / left + rate > _STRIKES * given.rate_sigma[i]
    hangs = given.idle[i] and given.gap[i] <= given.gap_off + _AT
    comes_down = (up or falls) and not hangs
    said[STATE] = told.times[i, 0] if stands and comes_down else math.inf
    rises = given.rate[i] > _FALLS * given.rate_sigma[i]
    known = shows_slope(given.rate_lines[i])
    lowest, slowest = given.gap[i] - _FALLS * given.gap_sigmas[i], given.rate[i] - _FALLS * given.rate_sigma[i]
    most = (given.rate_lines[i, 1] if known else 0.0) - ABRUPT
    # What slows down a foot that has just left are its drives, which may stop it anywhere; gravity alone goes on.
    slams = lowest + _SOON * slowest < 0.0
    pulled = math.inf
    if not slams and is_too_far(lowest, slowest, _FREE_FALL if rises and not known else most, said[STATE]):
        pulled = said[STATE]
        said[STATE] = math.inf
    own = (told.times[i, 0] - told.times[i, 1]) / max(given.sigmas, 0.5)
    said[STRIDE], _ = event_after(i, 0, given.now, course)
    if is_too_far(lowest, slowest, most, said[STRIDE]):
        said[STRIDE] = math.inf
    said[PATH] = math.inf
    height, rate_then = height_then(i, given.now - lag[LAG], course) if lag[TRACKED] > 0.0 else (math.nan, math.nan)
    if math.isnan(height):
        path[2] = 0.0
        return own, falls, pulled
    beside, faster = given.gap[i] - height, given.rate[i] - (1.0 - lag[DRIFT]) * rate_then
    if path[2] == 0.0:
        path[0], path[1], path[2] = beside, faster, 1.0
    elif given.dt > 0.0:
        new = 1.0 - math.exp(-given.dt / _SMOOTH)
        path[1] += new * (faster - path[1])
        ahead = path[0] + path[1] * given.dt
        path[0] = ahead + new * (beside - ahead)
    said[PATH] = touchdown_on_path(i, given.now, given.horizon, path[0] + height, path[1], course)
    if is_too_far(lowest, slowest, most, said[PATH]):
        said[PATH] = math.inf
    # Of what still rises, the last stride knows better how it will slow down than its deceleration of now.
    if rises:
        for source in (STRIDE, PATH):
            if said[source] < math.inf and is_heard(i, 0, source, skill):
                said[STATE] = math.inf
    return own, falls, pulled
