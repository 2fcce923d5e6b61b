"""The next event of each contact from several sources, weighted by what their errors were.

For a touchdown: the extrapolated gap with the rhythm (:mod:`.event_times`), the touchdown a stride ago, and the path of
the last swing (:mod:`.stride_events`). For a liftoff: the rhythm, the liftoff a stride ago, and the line of the load.
What each of them said 10, 20 and 50 ms before the last events of the contact is compared with when these came, and
its mean square error at such a time is the variance that it counts with. A source is silent where more of what it told
lately did not come than did; the line of the load is silent until it has been right some times, for a load dips more
often than a foot lifts.

A rhythm goes by the clock. Where the course of the joints was followed and no longer is like the last stride (a stop,
a change, a stumble), what the rhythm alone says is not told until the course is followed again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.event_rhythm import not_yet
from hybrid_contact_ros.kernels.estimation.records import Array, Codes, Indices
from hybrid_contact_ros.kernels.estimation.stride_course import DRIFT, LAG, LASTING, TRACKED
from hybrid_contact_ros.kernels.estimation.stride_events import event_after, height_then, touchdown_on_path

SOURCES = 4
STATE, STRIDE, PATH, TOLD = range(SOURCES)
"""What stands without the course (a touchdown by the state, a liftoff by the rhythm); a stride ago; the path of the
last swing, and of a liftoff the line of its load; all of them together."""
RECENT = 64
"""Forecasts that are remembered."""
HORIZONS = 3
_NONE, _TOUCHDOWN, _LIFTOFF = int(EventKind.NONE), int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_AHEAD = (0.01, 0.02, 0.05)  # s, at which errors are taken
_SPACING = 0.002  # s, between forecasts that are remembered
_SLACK = 0.006  # s, by which one may be older
_EVENTS, _ALL_EVENTS = 8.0, 16.0  # the mean square error is over about so many events, of one contact and of all
_OTHERS = 2.0  # events of its own that the errors of all contacts count as
_JUMP = 9.0  # times the mean square error: no error counts for more, for one landing on a stone says little
_LEAST = 0.001  # s, an error that always counts in full
_WINDOW = 0.03  # s: an event that is this far from its forecast is another one
_BELIEVED = 0.5  # least share of forecasts that came true
_SHARE = 0.25  # of the last forecast in that share
_SOON = 0.01  # s: a forecast this near to its time has been told
_NEAR = 0.02  # s, of a touchdown that the state tells best
_APART = 3.0  # standard deviations between sources that cannot both be right
_FLOOR = 0.0005  # s, of a standard deviation
_SMOOTH = 0.012  # s, over which the foot's place on its path is averaged
FIRST = (
    ((0.0015, 0.002, 0.004), (0.002, 0.002, 0.003), (0.002, 0.003, 0.004), (0.002, 0.003, 0.004)),
    ((0.003, 0.003, 0.003), (0.002, 0.002, 0.003), (0.008, 0.010, 0.020), (0.003, 0.003, 0.004)),
)
"""s, standard deviations before anything is known: touchdowns, then liftoffs; rows are sources."""


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


class EventsTold(NamedTuple):
    """Members of EventOut."""

    kind: Codes
    backed: Codes
    times: Array


class EventSkill(NamedTuple):
    """What is remembered of m contacts; kinds are touchdown and liftoff."""

    square: Array  # (m + 1, 2, SOURCES, HORIZONS), s², mean square errors; the last one of all contacts together
    events: Array  # (m + 1, 2, SOURCES, HORIZONS), how many, at most _EVENTS
    share: Array  # (m, 2, SOURCES), of forecasts that came true
    recent: Array  # (RECENT, m, SOURCES), s after the origin, NaN for none
    recent_time: Array  # (RECENT,), s after the origin
    recent_kind: Indices  # (RECENT, m), of what was forecast: 0 touchdown, 1 liftoff
    recent_place: Indices  # (2,), how many, and the next
    pending: Array  # (m, 2, SOURCES), s after the origin: forecasts whose time is near or over; NaN for none
    path: Array  # (m, 3), of an open contact: place beside its path, m, the rate of it, m/s, and whether it is known
    sigma: Array  # (m,), s, standard deviation of the next event; NaN for none
    forecast: Array  # (m, SOURCES), s from now; scratch
    estimate: Array  # (3,), scratch


@kernel
def pause_skill(skill):
    """Forget the forecasts that nothing will be compared with."""
    skill.pending[:] = math.nan
    skill.path[:] = 0.0
    skill.recent_place[:] = 0


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
        if lifts:
            _liftoffs(i, given, course, skill, told)
        else:
            _touchdowns(i, given, course, skill, told)
        found, spread = _together(i, lifts, given.horizon, doubt, skill)
        skill.forecast[i, TOLD] = found
        skill.sigma[i] = math.nan
        wanted = _LIFTOFF if lifts else _TOUCHDOWN
        if found <= given.horizon:
            if lifts and kind[i] != _NONE and kind[i] != _LIFTOFF and times[i, 0] < found:
                continue  # a slip or a stick that comes before
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
    _remember(given.now, closed, skill)


@kernel
def _liftoffs(i, given, course, skill, told):
    """What each source says of closed contact i."""
    said, due = skill.forecast[i], skill.estimate
    skill.path[i, 2] = 0.0
    not_yet(given.expected[i, 1], due)
    said[STATE] = math.inf if given.lost else due[0]
    said[STRIDE], _ = event_after(i, 1, given.now, course)
    # The line of the load has had its say where no rhythm did.
    line = told.kind[i] == _LIFTOFF and math.isinf(due[0]) and not given.lost
    said[PATH] = told.times[i, 0] if line else math.inf


@kernel
def _touchdowns(i, given, course, skill, told):
    """What each source says of open contact i."""
    said, path, lag = skill.forecast[i], skill.path[i], course.lag
    by_rhythm = told.backed[i] == _NONE
    stands = told.kind[i] == _TOUCHDOWN and not (given.lost and by_rhythm)
    said[STATE] = told.times[i, 0] if stands else math.inf
    said[STRIDE], _ = event_after(i, 0, given.now, course)
    said[PATH] = math.inf
    height, rate_then = height_then(i, given.now - lag[LAG], course) if lag[TRACKED] > 0.0 else (math.nan, math.nan)
    if math.isnan(height):
        path[2] = 0.0
        return
    beside, faster = given.gap[i] - height, given.rate[i] - (1.0 - lag[DRIFT]) * rate_then
    if path[2] == 0.0:
        path[0], path[1], path[2] = beside, faster, 1.0
    elif given.dt > 0.0:
        new = 1.0 - math.exp(-given.dt / _SMOOTH)
        path[1] += new * (faster - path[1])
        ahead = path[0] + path[1] * given.dt
        path[0] = ahead + new * (beside - ahead)
    said[PATH] = touchdown_on_path(i, given.now, given.horizon, path[0] + height, path[1], course)


@kernel
def _variance(i, lifts, source, left, skill):
    """Mean square error (s²) of a source for an event that is ``left`` s away."""
    if left <= _AHEAD[0]:
        return _square(i, lifts, source, 0, skill)
    for h in range(1, HORIZONS):
        if left <= _AHEAD[h]:
            share = (left - _AHEAD[h - 1]) / (_AHEAD[h] - _AHEAD[h - 1])
            before, after = _square(i, lifts, source, h - 1, skill), _square(i, lifts, source, h, skill)
            return (1.0 - share) * before + share * after
    return _square(i, lifts, source, HORIZONS - 1, skill) * (left / _AHEAD[HORIZONS - 1]) ** 2


@kernel
def _square(i, lifts, source, h, skill):
    """Of contact i and of all together: the fewer its own events are, the more do the others count."""
    own = skill.events[i, lifts, source, h] - 1.0
    every = skill.square[skill.square.shape[0] - 1, lifts, source, h]
    return (own * skill.square[i, lifts, source, h] + _OTHERS * every) / (own + _OTHERS)


@kernel
def _together(i, lifts, horizon, doubt, skill):
    """The time (s) that sources make together, and its standard deviation; infinite where none says anything.

    The variance of those that go by the last stride is multiplied by ``doubt``, where the course is less like it.
    Sources that are too far from the best one for both to be right are left out. All are judged by their errors at the
    earliest of their times: one that says much later denies the others. Of a touchdown that is near, the state itself
    is the best source: a stone is not in any last stride.
    """
    said, best, least, nearest = skill.forecast[i], -1, math.inf, math.inf
    for source in range(TOLD):
        if skill.share[i, lifts, source] >= _BELIEVED:
            nearest = min(nearest, said[source])
    if not nearest <= horizon:
        return math.inf, math.inf
    for source in range(TOLD):
        if math.isinf(said[source]) or skill.share[i, lifts, source] < _BELIEVED:
            continue
        variance = _variance(i, lifts, source, nearest, skill)
        if source == STRIDE or (source == PATH and not lifts):
            variance *= doubt
        if variance < least:
            best, least = source, variance
    if not lifts and said[STATE] <= _NEAR:
        best, least = STATE, _variance(i, lifts, STATE, nearest, skill)
    total = mean = 0.0
    for source in range(TOLD):
        if math.isinf(said[source]) or skill.share[i, lifts, source] < _BELIEVED:
            continue
        variance = _variance(i, lifts, source, nearest, skill)
        if source == STRIDE or (source == PATH and not lifts):
            variance *= doubt
        apart = said[source] - said[best]
        if apart * apart > _APART * _APART * (variance + least):
            continue
        total += 1.0 / variance
        mean += said[source] / variance
    found = mean / total
    return found, max(math.sqrt(_variance(i, lifts, TOLD, found, skill)), _FLOOR)


@kernel
def _remember(now, closed, skill):
    """Keep what was said, and mark as false what was to come and did not."""
    for i in range(closed.shape[0]):
        lifts = 1 if closed[i] else 0
        for source in range(SOURCES):
            for kind in range(2):
                if now > skill.pending[i, kind, source] + _WINDOW:
                    _learn_share(i, kind, source, 0.0, skill)
            if skill.forecast[i, source] <= _SOON:
                skill.pending[i, lifts, source] = now + skill.forecast[i, source]
    place = skill.recent_place
    if place[0] > 0 and now - skill.recent_time[(place[1] - 1) % RECENT] < 0.99 * _SPACING:
        return
    here = place[1]
    skill.recent_time[here] = now
    for i in range(closed.shape[0]):
        skill.recent_kind[here, i] = 1 if closed[i] else 0
        for source in range(SOURCES):
            said = skill.forecast[i, source]
            skill.recent[here, i, source] = now + said if said < math.inf else math.nan
    place[0], place[1] = min(place[0] + 1, RECENT), (here + 1) % RECENT


@kernel
def _learn_share(i, kind, source, came, skill):
    skill.share[i, kind, source] += _SHARE * (came - skill.share[i, kind, source])
    skill.pending[i, kind, source] = math.nan


@kernel
def learn_skill(i, kind, time, skill):
    """Compare what was said with an event of contact i (``kind``: 0 touchdown, 1 liftoff) at a time, s."""
    for source in range(SOURCES):
        pending = skill.pending[i, kind, source]
        if not math.isnan(pending):
            _learn_share(i, kind, source, 1.0 if abs(pending - time) <= _SOON else 0.0, skill)
    count, place = skill.recent_place
    for h in range(HORIZONS):
        wanted = time - _AHEAD[h]
        for k in range(1, count + 1):
            here = (place - k) % RECENT
            if skill.recent_time[here] > wanted:
                continue
            if wanted - skill.recent_time[here] <= _SLACK and skill.recent_kind[here, i] == kind:
                _learn_errors(i, kind, h, here, time, skill)
            break


@kernel
def _learn_errors(i, kind, h, here, time, skill):
    """Take over the errors of one forecast, for contact i and for all together."""
    for source in range(SOURCES):
        error = skill.recent[here, i, source] - time
        if math.isnan(error):
            continue
        for row in range(2):
            j = i if row == 0 else skill.square.shape[0] - 1
            old, most = skill.square[j, kind, source, h], _EVENTS if row == 0 else _ALL_EVENTS
            events = min(skill.events[j, kind, source, h] + 1.0, most)
            skill.events[j, kind, source, h] = events
            squared = min(error * error, _JUMP * old + _LEAST * _LEAST)
            skill.square[j, kind, source, h] = max(old + (squared - old) / events, _FLOOR * _FLOOR)
