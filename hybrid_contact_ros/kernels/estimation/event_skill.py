"""How good the sources of event times are (:mod:`.event_sources`), for each contact and kind of event.

What each of them said 10, 20 and 50 ms before the last events is compared with when these came; the mean square of the
errors is the variance that it counts with. A forecast whose time is over, and nothing came, is false: the share of
those that came true says whether a source is heard at all.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.load_course import learn_load_course, loads_before
from hybrid_contact_ros.kernels.estimation.records import Array, Indices
from hybrid_contact_ros.kernels.estimation.stride_course import DRIFT, TRACKED
from hybrid_contact_ros.kernels.estimation.unloading import learn_unloading

SOURCES = 4
STATE, STRIDE, PATH, TOLD = range(SOURCES)
"""What stands without the course (a touchdown by the state, a liftoff by the rhythm); a stride ago; the path of the
last swing, and of a liftoff how the foot was unloaded the last time; all of them together."""
ALONE, SAID_ALONE = 1, 2
"""Of ``alone``."""
KINDS, SLIPS = 3, 2
"""Of ``share`` and ``pending``: touchdowns, liftoffs, and slips of a foot before it leaves (source TOLD)."""
RECENT = 64
"""Forecasts that are remembered."""
HORIZONS = 3
AHEAD = (0.01, 0.02, 0.05)
"""s, at which errors are taken."""
_SPACING = 0.002  # s, between forecasts that are remembered
_SLACK = 0.012  # s, by which one may be older
_EVENTS, _ALL_EVENTS = 8.0, 16.0  # the mean square error is over about so many events, of one contact and of all
_JUMP = 9.0  # times the mean square error: no error counts for more, for one landing on a stone says little
_LEAST = 0.001  # s, an error that always counts in full
_WINDOW = 0.03  # s: an event that is this far from its forecast is another one
_SHARE = 0.25  # of the last forecast in that share
_SHARED = 0.1  # the same, of a forecast by the load of another contact: a gait unloads all of its feet alike
_FADING = 0.95  # of the sums that the leaning is made of, for each later liftoff of any contact
FIRST_SUMS = (0.05**2, 0.0, 8.0, 0.0, 0.0)
"""What these sums begin with, and fade to: few events, and paces that are steady, tell little."""
_LEAN_AT = 1  # place in AHEAD of the errors that it is learned from
_SOON = 0.01  # s: a forecast this near to its time has been told
BELIEVED_SHARE = 0.5
"""Least share of forecasts that came true."""
_SLIPS_SHARE = 0.75  # the same of slips, which take the place of liftoffs that are known
FLOOR = 0.0005
"""s, of a standard deviation."""
FIRST = (
    ((0.0015, 0.002, 0.004), (0.002, 0.002, 0.003), (0.002, 0.003, 0.004), (0.002, 0.003, 0.004)),
    ((0.003, 0.003, 0.003), (0.002, 0.002, 0.003), (0.002, 0.005, 0.020), (0.003, 0.003, 0.004)),
)
"""s, standard deviations before anything is known: touchdowns, then liftoffs; rows are sources."""


class EventSkill(NamedTuple):
    """What is remembered of m contacts; kinds are touchdown and liftoff."""

    square: Array  # (m + 1, 2, SOURCES, HORIZONS), s², mean square errors; the last one of all contacts together
    events: Array  # (m + 1, 2, SOURCES, HORIZONS), how many, at most _EVENTS
    share: Array  # (m, KINDS, SOURCES), of forecasts that came true
    recent: Array  # (RECENT, m, SOURCES), s after the origin, NaN for none
    recent_time: Array  # (RECENT,), s after the origin
    recent_kind: Indices  # (RECENT, m), of what was forecast: 0 touchdown, 1 liftoff
    recent_place: Indices  # (2,), how many, and the next
    pending: Array  # (m, KINDS, SOURCES), s after the origin: forecasts whose time is near or over; NaN for none
    path: Array  # (m, 4), while open: place beside its path, m; its rate, m/s; whether it is known; largest gap, m
    sigma: Array  # (m,), s, standard deviation of the next event; NaN for none
    forecast: Array  # (m, SOURCES), s from now; scratch
    estimate: Array  # (3,), scratch
    lean: Array  # (5,), sums over liftoffs of x², x, 1, x e and e; x: change of pace, e: error by the last stride, s
    recent_lean: Array  # (RECENT, 2), change of pace, and what was taken off, s
    recent_load: Array  # (RECENT, m), N, NaN where it is not known
    unloading: Array  # (m + 1, UNLOADING), N, before the last liftoff of each contact, and of any; the last load first
    fell: Indices  # (m + 1,), how many of these
    pressed: Array  # (m,), N, largest load of this stance
    alone: Array  # (m, 3), share of liftoffs that loads foretold while no course was followed; whether none is, ALONE;
    # and was at the forecast that waits, SAID_ALONE
    shed: Array  # (m + 2, COURSE + 1), N, before the last liftoff, the last load first, then MOST; two rows of scratch
    marks: Indices  # (m, MARKS), of these loads


@kernel
def pause_skill(skill):
    """Forget the forecasts that nothing will be compared with."""
    skill.pending[:] = math.nan
    skill.path[:] = 0.0
    skill.recent_place[:] = 0
    skill.pressed[:] = 0.0


@kernel
def change_of_pace(lag):
    """By which part of a stride's time the present stride takes longer than the last one; 0 where none is followed."""
    return lag[DRIFT] / (1.0 - lag[DRIFT]) if lag[TRACKED] > 0.0 else 0.0


@kernel
def leaning(pace, skill):
    """What is taken off liftoffs by the last stride, s, at a change of pace.

    A foot is lifted when the controller wants it, and legs follow their targets by some 30 ms: where the motion is as
    it was L ago, the schedule is further. The liftoffs of a stride that becomes longer or shorter are then off by that
    time times the change of pace, and where the pace changes slowly the lag is behind by a constant. Both are learned
    by least squares. Noise of a steady pace is taken back in the same way. Touchdowns are where the motion is.
    """
    xx, x, n, xe, e = skill.lean
    return (pace * (n * xe - x * e) + xx * e - x * xe) / (xx * n - x * x)


@kernel
def remember_forecasts(now, closed, load, weight, pace, skill):
    """Keep what was said, and mark as false what was to come and did not.

    Args: load: (m,), N. weight: of forces, (m,). pace: its change, as of :func:`change_of_pace`.
    """
    for i in range(closed.shape[0]):
        lifts = 1 if closed[i] else 0
        for source in range(SOURCES):
            for kind in range(KINDS):
                # A liftoff is told to be one when the foot has been open for some time (events_to_learn).
                longest = 2.0 * _WINDOW if kind == 1 and not lifts else _SOON if kind == SLIPS else _WINDOW
                if now > skill.pending[i, kind, source] + longest:
                    if kind == 0 and lifts:  # it touched, in a rebound, of which nothing is learned
                        skill.pending[i, kind, source] = math.nan
                    else:
                        _learn_share(i, kind, source, 0.0, skill)
            said = skill.forecast[i, source]
            if lifts and source == PATH:  # its first word counts: a load that stays low is foretold to end at any time
                if said < math.inf and math.isnan(skill.pending[i, lifts, source]):
                    skill.pending[i, lifts, source] = now + said
                    skill.alone[i, SAID_ALONE] = skill.alone[i, ALONE]
            elif said <= _SOON:
                skill.pending[i, lifts, source] = now + said
    place = skill.recent_place
    if place[0] > 0 and now - skill.recent_time[(place[1] - 1) % RECENT] < 0.99 * _SPACING:
        return
    here = place[1]
    skill.recent_time[here] = now
    skill.recent_lean[here, 0], skill.recent_lean[here, 1] = pace, leaning(pace, skill)
    for i in range(closed.shape[0]):
        skill.recent_load[here, i] = load[i] if closed[i] and weight[i] >= BELIEVED else math.nan
        skill.recent_kind[here, i] = 1 if closed[i] else 0
        for source in range(SOURCES):
            said = skill.forecast[i, source]
            skill.recent[here, i, source] = now + said if said < math.inf else math.nan
    place[0], place[1] = min(place[0] + 1, RECENT), (here + 1) % RECENT


@kernel
def _learn_share(i, kind, source, came, skill):
    by_load = kind == 1 and source == PATH
    for j in range(skill.share.shape[0]):
        if j == i or by_load:
            new = _SHARE if j == i else _SHARED
            if by_load and skill.alone[i, SAID_ALONE] > 0.0:
                skill.alone[j, 0] += new * (came - skill.alone[j, 0])
            else:
                skill.share[j, kind, source] += new * (came - skill.share[j, kind, source])
    skill.pending[i, kind, source] = math.nan


@kernel
def slip_comes_first(i, time, skill):
    """Whether a slip of closed contact i, foretold for a time (s) before its liftoff, is told in place of that.

    Margins and loads go to zero together, and few feet slip by that: the slips have to come. This one is waited for.
    """
    if math.isnan(skill.pending[i, SLIPS, TOLD]):
        skill.pending[i, SLIPS, TOLD] = time
    return skill.share[i, SLIPS, TOLD] >= _SLIPS_SHARE


@kernel
def learn_slip(i, time, skill):
    """Contact i began to slip, s after the origin."""
    if abs(skill.pending[i, SLIPS, TOLD] - time) <= _SOON:
        _learn_share(i, SLIPS, TOLD, 1.0, skill)


@kernel
def learn_skill(i, kind, time, skill):
    """Compare what was said with an event of contact i (``kind``: 0 touchdown, 1 liftoff) at a time, s."""
    for source in range(SOURCES):
        pending = skill.pending[i, kind, source]
        if not math.isnan(pending):
            _learn_share(i, kind, source, 1.0 if abs(pending - time) <= _SOON else 0.0, skill)
    count, place = skill.recent_place
    for h in range(HORIZONS):
        wanted = time - AHEAD[h]
        for k in range(1, count + 1):
            here = (place - k) % RECENT
            if skill.recent_time[here] > wanted:
                continue
            if wanted - skill.recent_time[here] <= _SLACK and skill.recent_kind[here, i] == kind:
                _learn_errors(i, kind, h, here, time, skill)
                if kind == 1 and h == _LEAN_AT:
                    pace, taken_off = skill.recent_lean[here]
                    _learn_lean(pace, skill.recent[here, i, STRIDE] + taken_off - time, skill)
            break
    if kind == 1:
        known = loads_before(i, time, count, place, skill)
        learn_load_course(i, known, skill)
        learn_unloading(i, known, skill)


@kernel
def _learn_lean(pace, error, skill):
    """Take over an error (s) of a liftoff by the last stride without what was taken off; NaN for none."""
    if math.isnan(error) or abs(error) > _WINDOW:
        return
    lean, new = skill.lean, (pace * pace, pace, 1.0, pace * error, error)
    for k in range(5):
        lean[k] += (1.0 - _FADING) * (FIRST_SUMS[k] - lean[k]) + new[k]


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
            skill.square[j, kind, source, h] = max(old + (squared - old) / events, FLOOR * FLOOR)
