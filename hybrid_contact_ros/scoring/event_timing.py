"""Touchdowns and liftoffs in series of contact states, and how well their times were predicted. Pure functions of
arrays.

Predictions are given at stamps ``t`` (n,), s, strictly rising, and the truth at stamps of its own. Arrays run along n
states and m contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


def at_stamps(t: Array, truth_t: Array, truth: Bools, max_age: float = 0.02) -> tuple[Bools, Bools]:
    """The truth at each stamp ``t``: the newest one that is not later.

    Returns:
        the truth (n, m), and whether there is one that is at most ``max_age`` s old (n,).
    """
    if truth_t.size == 0:
        return np.zeros((t.size, truth.shape[1]), bool), np.zeros(t.size, bool)
    # Stamps of one instant may differ by rounding: nanoseconds as float64 seconds are good to 0.3 us.
    index = np.searchsorted(truth_t, t + 1e-6, side="right") - 1
    known = (index >= 0) & (t - truth_t[np.maximum(index, 0)] <= max_age)
    return truth[np.maximum(index, 0)], known


def edges(t: Array, closed: Bools) -> tuple[Array, Array]:
    """Times of the touchdowns and of the liftoffs of one contact (n,): the stamp of the first sample of each new
    state."""
    change = np.diff(closed.astype(np.int8))
    return t[1:][change > 0], t[1:][change < 0]


def debounce(t: Array, closed: Bools, opening: float, contact: float) -> Bools:
    """A series of contact states without chatter: first short openings are filled, then short contacts are taken out.

    Args:
        t: (n,) stamps, s. closed: (n, m), which contacts touch. opening, contact: openings and contacts that last less
        are chatter, s. A stretch lasts until the sample after it.
    """
    result = closed.copy()
    for column in result.T:
        for value, shortest in ((False, opening), (True, contact)):
            edges = np.flatnonzero(np.diff(column)) + 1
            for first, end in pairwise(edges):  # stretches with a beginning and an end
                if column[first] == value and t[end] - t[first] < shortest:
                    column[first:end] = not value
    return result


@dataclass(frozen=True, slots=True)
class EventTiming:
    """How well the times of one kind of event were predicted.

    Attributes:
        horizon: the prediction is taken this long before each true event, s.
        events: number of true events for which there is a prediction at that time.
        missed: number of those that were not predicted.
        false: number of stretches of time with an event predicted within the horizon that did not come.
        errors: (events − missed,) predicted − true time, s.
    """

    horizon: float
    events: int
    missed: int
    false: int
    errors: Array

    @property
    def median(self) -> float:
        """Median of |error|, s."""
        return float(np.median(np.abs(self.errors))) if self.errors.size else float("nan")

    @property
    def p95(self) -> float:
        """95 % quantile of |error|, s."""
        return float(np.percentile(np.abs(self.errors), 95)) if self.errors.size else float("nan")

    @property
    def bias(self) -> float:
        """Median of the signed error, s; positive when the predicted times are late."""
        return float(np.median(self.errors)) if self.errors.size else float("nan")


def event_timing(
    t: Array,
    next_event: NDArray[np.uint8],
    time_to_event: Array,
    true_times: Array,
    kind: EventKind,
    horizon: float,
    tolerance: float = 0.03,
    slack: float = 0.005,
) -> EventTiming:
    """Score the predictions of one contact.

    Args:
        t: (n,) stamps of the states, s.
        next_event: (n,) kind of the predicted event.
        time_to_event: (n,) time until then, s.
        true_times: times of the true events of this kind, s.
        kind: the kind of event to score.
        horizon: for each true event the last state is taken that is not later than this before it, s.
        tolerance: a stretch of states that predict an event within the horizon is false, if no true event comes from
            this long before the first of them to this long after the last predicted time, s.
        slack: a state that is older by more than this is not taken, s.
    """
    announced = (next_event == kind) & np.isfinite(time_to_event)
    errors, events, missed = [], 0, 0
    for true, k in zip(true_times, asked_at(t, true_times, horizon, slack), strict=True):
        if k < 0:
            continue
        events += 1
        if announced[k]:
            errors.append(t[k] + time_to_event[k] - true)
        else:
            missed += 1
    soon = announced & (time_to_event <= horizon)
    false = 0
    for first, last in _runs(soon):
        begin = t[first] - tolerance
        end = float(np.max(t[first : last + 1] + time_to_event[first : last + 1])) + tolerance
        if not np.any((true_times >= begin) & (true_times <= end)):
            false += 1
    return EventTiming(horizon, events, missed, false, np.array(errors, np.float64))


def asked_at(t: Array, true_times: Array, horizon: float, slack: float = 0.005) -> NDArray[np.intp]:
    """The state that is asked for each event (e,): the last one that is not later than ``horizon`` before it, s; −1
    where that is older by more than ``slack``, s."""
    k = np.searchsorted(t, true_times - horizon + 1e-6, side="right") - 1
    old = true_times - horizon - t[np.maximum(k, 0)] > slack
    return np.where((k < 0) | old, -1, k)


def pooled(timings: Sequence[EventTiming]) -> EventTiming:
    """The timings of several contacts at one horizon as one."""
    return EventTiming(
        timings[0].horizon,
        sum(x.events for x in timings),
        sum(x.missed for x in timings),
        sum(x.false for x in timings),
        np.concatenate([x.errors for x in timings]),
    )


def detection_delays(t: Array, closed: Bools, true_times: Array, before: float = 0.02, after: float = 0.05) -> Array:
    """How late the predicted mode saw each true touchdown of one contact, s; pass ``~closed`` for liftoffs.

    It is seen at the earliest rise of ``closed`` from ``before`` s before the true time to ``after`` s after it. The
    delay is NaN where there is no such rise.
    """
    rises, _ = edges(t, closed)
    delays = np.full(true_times.size, np.nan)
    for i, true in enumerate(true_times):
        near = rises[(rises >= true - before) & (rises <= true + after)]
        if near.size:
            delays[i] = near[0] - true
    return delays


def false_detections(seen: Array, true_times: Array, truth_t: Array, max_age: float, near: float = 0.05) -> int:
    """How many edges of the predicted mode no true edge comes near to.

    Args:
        seen: times of the edges of the predicted mode, s. true_times: of the true edges of that kind, s.
        truth_t: stamps of the truth, s; an edge is not held against the mode where the truth is not known from ``near``
            before it to ``near`` after it, because its holes are longer than ``max_age``.
    """
    count = 0
    for time in seen:
        if np.any(np.abs(true_times - time) <= near):
            continue
        inner = truth_t[(truth_t >= time - near) & (truth_t <= time + near)]
        around = np.concatenate(([time - near], inner, [time + near]))
        count += int(np.diff(around).max() <= max_age)
    return count


def _runs(flags: Bools) -> list[tuple[int, int]]:
    """First and last index of each stretch of True."""
    padded = np.concatenate(([False], flags, [False]))
    change = np.flatnonzero(padded[1:] != padded[:-1])
    return [(int(a), int(b) - 1) for a, b in zip(change[::2], change[1::2], strict=True)]
