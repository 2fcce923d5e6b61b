"""The time to each contact's next event as a density: what was foretold, scaled and shifted by what it missed before.

A foretold event has a median and a standard deviation of its own. How many of these deviations earlier events came
after their medians is remembered for each kind of event, by what foretold it (its class) and how long before it
(its lead). The quantiles of these residuals, with those of a prior, are the density (docs/event_densities.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.density_checks import BOUNDS, CHECKED, DENSITY, rules_that_hold
from hybrid_contact_ros.kernels.estimation.density_quantiles import (
    LEADS,
    SECONDS,
    bound_logit,
    keep_residual,
    logistic_cdf,
    logistic_quantile,
    residual_quantiles,
)
from hybrid_contact_ros.kernels.estimation.event_skill import STRIDE, change_of_pace
from hybrid_contact_ros.kernels.estimation.records import Array, Codes, Indices
from hybrid_contact_ros.kernels.estimation.update_records import (
    BOUNDS_VALID,
    DENSITY_VALID,
    EVENT_PROBABILITY,
    NEXT_EVENT,
    QUANTILES,
    TIME,
)

STATES = 128
"""States of the past, whose predictions are remembered."""
_TOUCHDOWN, _LIFTOFF = int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_NONE = 255  # no class
_SPACING = 900_000  # ns, between the states remembered, at least
_STALE = 0.005  # s: a prediction is no older than this beyond the lead that it stands for
_FLICKER = 30_000_000  # ns: events that follow the one before sooner are a bounce
_SHARPEST = 3e-4  # s: no deviation is smaller, since no stamp is known better
# s: detections date a liftoff later than forces end, by up to this; the lowest quantile is that much wider.
_DATING = 0.003
_LONGEST_STEP = 0.02  # s, between states, half of which an event is dated late
_ELSEWHERE = 0.01  # s: a foretold time that is this far from its lead is one for another lead
# Of a foretold time: residuals move no median by more. What was sure and missed by three deviations tells nothing of
# what is foretold for some time within the next 0.1 s.
_MOVED = 0.5
_LATE = 20_000_000  # ns: an event may be told this long after it happened
_FADING = 0.98  # of the numbers of events that came, for each later one
FIRST_CAME, FIRST_AWAITED = 4.5, 5.0
"""What these numbers begin with."""
# Bounds are valid with residuals that weigh as much as this many of the contact's own, and of the first so many
# classes: those of liftoffs are not (docs/event_densities.md).
_LEAST_SUPPORT, _MEASURED = 8.0, 2
# And at an even pace: where strides become longer or shorter by more than this part of them, errors go with the pace.
_EVEN = 0.04


class DensityMemory(NamedTuple):
    """What is remembered of m contacts."""

    stamps: Indices  # (STATES,), ns, of a ring
    foretold: Array  # (STATES, m, 2), median and standard deviation, s
    classes: Codes  # (STATES, m), of what was foretold; _NONE
    filled: Indices  # (1,), states that the ring was given
    residuals: Array  # (CLASSES, LEADS, KEPT), rising
    origins: Indices  # (CLASSES, LEADS, KEPT, 2), contact and number of each
    counts: Indices  # (CLASSES, LEADS), residuals ever seen
    transforms: Array  # (CLASSES, LEADS, CHECKED), of the last events in what was foretold of them; a ring
    passed: Codes  # (CLASSES, LEADS), whether these are as uniform as the rules of bounds (1) and densities (2) demand
    knots: Array  # (m, CLASSES, LEADS, 5), quantiles of the residuals with the prior, for each contact
    support: Array  # (m, CLASSES, LEADS), weight of residuals in them
    made: Indices  # (m, CLASSES, LEADS), counts that they were made of; −1
    last: Indices  # (m,), ns, when the contact last touched or left
    awaited: Indices  # (m, 2), class and stamp (ns) of an event that is waited for; class −1 for none
    came: Array  # (CLASSES, 2), fading numbers of events that came in time, and of those waited for
    times: Array  # (m, 3), s, median, earliest, latest of the densities; raw for slips and sticks
    work: Array  # (2, KEPT + SPAN)


@kernel
def foretell_densities(settings, given, problem, course, skill, ahead, density, out):
    """Write the density of each contact's next event, and keep what it was made from.

    Args: settings: UpdateSettings. given: UpdateInput. problem: UpdateProblem. course: StrideCourse. skill: EventSkill.
        ahead: EngineOut. density: in and out, DensityMemory. out: PredictionOut.
    """
    stamp, count = given.stamp, density.filled[0]
    place = count % STATES
    keeps = count == 0 or stamp - density.stamps[(count - 1) % STATES] >= _SPACING
    if keeps:
        density.stamps[place] = stamp
        density.filled[0] = count + 1
    reach, even = bound_logit(settings.sigmas), abs(change_of_pace(course.lag)) <= _EVEN
    numbers = out.numbers
    for i in range(density.times.shape[0]):
        kind, times = out.codes[NEXT_EVENT, i], ahead.event_times[i]
        code = _class_of(i, kind, given.elapsed, problem.due, skill)
        for k in range(3):
            density.times[i, k] = times[k]
        # The first state at or after an event is half a step later on average.
        median = times[0] + 0.5 * min(max(given.dt, 0.0), _LONGEST_STEP)
        out.codes[BOUNDS_VALID, i] = out.codes[DENSITY_VALID, i] = 0
        numbers[EVENT_PROBABILITY, i] = math.nan
        for k in range(4):
            numbers[QUANTILES + k, i] = math.nan
        scale = 0.0
        if code != _NONE:
            scale = _deviation(settings.sigmas, settings.horizon, times)
            density.times[i, 0] = median
            _write(i, code, scale, reach, even, settings.horizon, density, out)
        if keeps:
            density.foretold[place, i, 0] = median
            density.foretold[place, i, 1] = scale
            density.classes[place, i] = code
        for k in range(3):
            numbers[TIME + k, i] = density.times[i, k]
        _await(i, code, stamp, settings.horizon, density)


@kernel
def _class_of(i, kind, elapsed, due, skill):
    """The kind of event, and whether earlier strides foretell it, too (odd), or the state alone."""
    if kind != _TOUCHDOWN and kind != _LIFTOFF:
        return _NONE
    side = 0 if kind == _TOUCHDOWN else 1
    latest = due[i, side, 2] - elapsed
    followed = not math.isnan(skill.sigma[i]) and skill.forecast[i, STRIDE] < math.inf
    return 2 * side + (1 if followed or 0.0 <= latest < math.inf else 0)


@kernel
def _deviation(sigmas, horizon, times):
    """Standard deviation (s) that bounds of ``sigmas`` stand for, at most the horizon: bounds of a load that hardly
    falls are anywhere."""
    sigmas = max(sigmas, 0.5)
    width = 0.5 * (times[2] - times[1])
    if not width < math.inf:
        width = times[0] - times[1]
    return min(math.hypot(width / sigmas, _SHARPEST), max(horizon, _SHARPEST))


@kernel
def _write(i, code, scale, reach, even, horizon, density, out):
    """The density of contact i's next event; its quantiles are those of the leads about its median. ``even``: the pace
    is, so that it may be called valid."""
    median, numbers = max(density.times[i, 0], 0.0), out.numbers
    low = 0
    while low < LEADS - 2 and SECONDS[low + 1] <= median:
        low += 1
    part = min(max((median - SECONDS[low]) / (SECONDS[low + 1] - SECONDS[low]), 0.0), 1.0)
    _refresh(i, code, low, density)
    _refresh(i, code, low + 1, density)
    q = density.work[0, :5]
    for k in range(5):
        before, after = density.knots[i, code, low, k], density.knots[i, code, low + 1, k]
        q[k] = scale * ((1.0 - part) * before + part * after)
    most = _MOVED * median
    moved = median + min(max(q[2], -most), most) - q[2]
    for k in range(5):
        q[k] += moved
    if code >= 2:
        q[0] = q[2] - math.hypot(q[2] - q[0], _DATING)
    for k in range(5):
        q[k] = max(q[k], 0.0)
    for k in range(4):
        numbers[QUANTILES + k, i] = q[k if k < 2 else k + 1]
    times = density.times[i]
    times[0] = q[2]
    times[1] = max(logistic_quantile(-reach, q), 0.0)
    if times[2] < math.inf:  # else it may not happen by itself
        times[2] = logistic_quantile(reach, q)
    numbers[EVENT_PROBABILITY, i] = density.came[code, 0] / density.came[code, 1] * logistic_cdf(horizon, q)
    enough = min(density.support[i, code, low], density.support[i, code, low + 1]) >= _LEAST_SUPPORT
    passed = 0
    if enough and even and code < _MEASURED:
        passed = np.int64(density.passed[code, low]) & np.int64(density.passed[code, low + 1])
    out.codes[BOUNDS_VALID, i] = 1 if passed & BOUNDS else 0
    out.codes[DENSITY_VALID, i] = 1 if passed & DENSITY else 0


@kernel
def _refresh(i, code, lead, density):
    """Make the quantiles of contact i's residuals of a class and lead anew, if there are new ones."""
    number = density.counts[code, lead]
    if density.made[i, code, lead] != number:
        density.made[i, code, lead] = number
        density.support[i, code, lead] = residual_quantiles(
            code, i, density.residuals[code, lead], density.origins[code, lead], number, density.work,
            density.knots[i, code, lead],
        )  # fmt: skip


@kernel
def _await(i, code, stamp, horizon, density):
    """Wait for an event that is foretold for the first half of the horizon, and give up one that is overdue."""
    waits = density.awaited[i]
    if waits[0] >= 0 and 1e-9 * (stamp - waits[1] - _LATE) > horizon:
        _settle(waits[0], False, density)
        waits[0] = -1
    if waits[0] < 0 and code != _NONE and density.times[i, 0] <= 0.5 * horizon:
        waits[0], waits[1] = code, stamp


@kernel
def _settle(code, came, density):
    """Count an event that was waited for."""
    density.came[code, 0] = _FADING * density.came[code, 0] + (1.0 if came else 0.0)
    density.came[code, 1] = _FADING * density.came[code, 1] + 1.0


@kernel
def learn_densities(detected, events, horizon, density):
    """Compare the touchdowns and liftoffs of this state with what was foretold of them.

    The time of an event is that of the first state at or after it, as truths have it, too.

    Args: events: (any, COLUMNS), as of :func:`~.told_events.tell_events`, of which the first ``detected`` count.
    """
    for row in range(detected):
        i, kind, time = events[row, 0], events[row, 1], events[row, 2]
        if kind != _TOUCHDOWN and kind != _LIFTOFF:
            continue
        waits = density.awaited[i]
        if waits[0] >= 0:
            _settle(waits[0], _kind_of(waits[0]) == kind and 1e-9 * (time - waits[1]) <= horizon, density)
            waits[0] = -1
        last = density.last[i]
        density.last[i] = time
        if not (last > 0 and time - last < _FLICKER):  # else it bounces
            _compare(i, kind, time, last, density)


@kernel
def _kind_of(code):
    return _TOUCHDOWN if code < 2 else _LIFTOFF


@kernel
def _compare(i, kind, time, last, density):
    """Keep the residuals of one event at all leads.

    What was foretold before the contact's ``last`` event was foretold of that one: a foot that bounces touches twice.
    """
    count = density.filled[0]
    oldest, k = max(count - STATES, 0), count - 1
    while k > oldest and density.stamps[(k - 1) % STATES] >= time:
        k -= 1
    time = max(density.stamps[k % STATES], time)
    for lead in range(LEADS):
        latest = time - np.int64(1e9 * SECONDS[lead]) + 1000
        while k >= oldest and density.stamps[k % STATES] > latest:
            k -= 1
        if k < oldest or 1e-9 * (latest - density.stamps[k % STATES]) > _STALE:
            continue
        if density.stamps[k % STATES] < last:
            break
        place = k % STATES
        code = density.classes[place, i]
        if code == _NONE or _kind_of(code) != kind:
            continue
        median, scale = density.foretold[place, i, 0], density.foretold[place, i, 1]
        residual = (1e-9 * (time - density.stamps[place]) - median) / scale
        # What was foretold for quite another time counts where it will be looked for.
        apart = abs(median - SECONDS[lead])
        said = lead if apart <= max(_ELSEWHERE, 0.5 * SECONDS[lead]) else _nearest(median)
        _check(i, code, said, residual, scale, density)
        number = density.counts[code, said]
        keep_residual(residual, i, density.residuals[code, said], density.origins[code, said], number)
        density.counts[code, said] = number + 1


@kernel
def _nearest(median):
    """The lead that is nearest to a foretold time."""
    lead = 0
    while lead < LEADS - 1 and abs(SECONDS[lead + 1] - median) < abs(SECONDS[lead] - median):
        lead += 1
    return lead


@kernel
def _check(i, code, lead, residual, scale, density):
    """Where in its density this event was, and whether the last ones were where they should be."""
    _refresh(i, code, lead, density)
    q = density.work[0, :5]
    for k in range(5):
        q[k] = scale * density.knots[i, code, lead, k]
    number, ring = density.counts[code, lead], density.transforms[code, lead]
    ring[number % CHECKED] = logistic_cdf(scale * residual, q)
    density.passed[code, lead] = rules_that_hold(number, ring)
