"""How good predictions were, against contacts that are known. Pure functions of arrays.

Predictions are given at stamps ``t`` (n,), seconds, strictly rising; the truth at stamps of its own. Arrays run along
n states and m contacts.
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


@dataclass(frozen=True, slots=True)
class Classification:
    """Counts of a yes/no answer. Scores without a denominator are NaN."""

    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int

    @property
    def f1(self) -> float:
        return _ratio(2 * self.true_positive, 2 * self.true_positive + self.false_positive + self.false_negative)

    @property
    def accuracy(self) -> float:
        right = self.true_positive + self.true_negative
        return _ratio(right, right + self.false_positive + self.false_negative)

    @property
    def precision(self) -> float:
        return _ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float:
        return _ratio(self.true_positive, self.true_positive + self.false_negative)


def classify(predicted: Bools, truth: Bools) -> Classification:
    """Compare two equally shaped arrays, entry by entry."""
    if predicted.shape != truth.shape:
        raise ValueError(f"predictions have shape {predicted.shape}, the truth {truth.shape}")
    return Classification(
        int(np.sum(predicted & truth)),
        int(np.sum(predicted & ~truth)),
        int(np.sum(~predicted & truth)),
        int(np.sum(~predicted & ~truth)),
    )


def at_stamps(t: Array, truth_t: Array, truth: Bools, max_age: float = 0.02) -> tuple[Bools, Bools]:
    """The truth in force at each stamp ``t``: the newest not later than it.

    Returns:
        values (n, m), and (n,) whether there is one at most ``max_age`` seconds old.
    """
    if truth_t.size == 0:
        return np.zeros((t.size, truth.shape[1]), bool), np.zeros(t.size, bool)
    # Stamps of one instant may differ by rounding: nanoseconds as float64 seconds are good to 0.3 us.
    index = np.searchsorted(truth_t, t + 1e-6, side="right") - 1
    known = (index >= 0) & (t - truth_t[np.maximum(index, 0)] <= max_age)
    return truth[np.maximum(index, 0)], known


def edges(t: Array, closed: Bools) -> tuple[Array, Array]:
    """Times of touchdown and of liftoff of one contact (n,): stamps of the first sample of each new state."""
    change = np.diff(closed.astype(np.int8))
    return t[1:][change > 0], t[1:][change < 0]


@dataclass(frozen=True, slots=True)
class EventTiming:
    """Predicted times of one kind of event, asked ``horizon`` seconds before each true one.

    Attributes:
        events: true events for which predictions exist at that time. missed: of these, those not predicted.
        false: stretches of time with an event predicted within the horizon that did not come.
        errors: (events − missed,) predicted − true, s.
    """

    horizon: float
    events: int
    missed: int
    false: int
    errors: Array

    @property
    def median(self) -> float:
        """Of |error|, s."""
        return float(np.median(np.abs(self.errors))) if self.errors.size else float("nan")

    @property
    def p95(self) -> float:
        return float(np.percentile(np.abs(self.errors), 95)) if self.errors.size else float("nan")

    @property
    def bias(self) -> float:
        """Median of the signed error, s: positive when predictions come late."""
        return float(np.median(self.errors)) if self.errors.size else float("nan")


def debounce(t: Array, closed: Bools, opening: float, contact: float) -> Bools:
    """The same without chatter: openings that last less than ``opening`` (s) are filled, then contacts shorter than
    ``contact`` are taken out. t (n,) s, closed (n, m); a stretch lasts until the sample after it."""
    result = closed.copy()
    for column in result.T:
        for value, shortest in ((False, opening), (True, contact)):
            edges = np.flatnonzero(np.diff(column)) + 1
            for first, end in pairwise(edges):  # stretches with a beginning and an end
                if column[first] == value and t[end] - t[first] < shortest:
                    column[first:end] = not value
    return result


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
    """Score the predictions (n,) of one contact.

    Asked is the last state not later than ``horizon`` before a true event, if it is at most ``slack`` older. A false
    event is a stretch of successive states that predict one within the horizon, with no true one from ``tolerance``
    before the first of them to ``tolerance`` after the last time predicted.
    """
    announced = (next_event == kind) & np.isfinite(time_to_event)
    errors, events, missed = [], 0, 0
    for true in true_times:
        k = int(np.searchsorted(t, true - horizon + 1e-6, side="right")) - 1
        if k < 0 or true - horizon - t[k] > slack:
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


def pooled(timings: Sequence[EventTiming]) -> EventTiming:
    """Several contacts' timings at one horizon, as one."""
    return EventTiming(
        timings[0].horizon,
        sum(x.events for x in timings),
        sum(x.missed for x in timings),
        sum(x.false for x in timings),
        np.concatenate([x.errors for x in timings]),
    )


def detection_delays(t: Array, closed: Bools, true_times: Array, before: float = 0.02, after: float = 0.05) -> Array:
    """For each true touchdown of one contact, when its predicted mode turned closed (earliest rise in the window
    ``[−before, after]`` s around it) minus the true time, s; NaN where it did not. Pass ``~closed`` for liftoffs."""
    rises, _ = edges(t, closed)
    delays = np.full(true_times.size, np.nan)
    for i, true in enumerate(true_times):
        near = rises[(rises >= true - before) & (rises <= true + after)]
        if near.size:
            delays[i] = near[0] - true
    return delays


def brier(probability: Array, truth: Bools) -> float:
    """Mean squared error of probabilities; 0 is perfect, 0.25 is what always saying one half gets."""
    return float(np.mean((probability - truth) ** 2)) if probability.size else float("nan")


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Predictions with a probability in [low, high): their mean, and how often they came true."""

    low: float
    high: float
    count: int
    mean_probability: float
    frequency: float


def calibration(probability: Array, truth: Bools, bins: int = 10) -> list[CalibrationBin]:
    """Reliability table; empty bins are left out. The last bin holds probability 1."""
    p, y = probability.ravel(), truth.ravel()
    place = np.clip((p * bins).astype(int), 0, bins - 1)
    table = []
    for b in range(bins):
        chosen = place == b
        if chosen.any():
            table.append(
                CalibrationBin(
                    b / bins, (b + 1) / bins, int(chosen.sum()), float(p[chosen].mean()), float(y[chosen].mean())
                )
            )
    return table


@dataclass(frozen=True, slots=True)
class Containment:
    """Whether one observed velocity after an impact was foreseen. All lengths are in the norm √(xᵀMx), relative to
    the observed jump ‖v⁺ − v⁻‖.

    Attributes:
        distance: from v⁺ to the nearest outcome of the set. nominal_distance: to the simultaneous outcome.
        radius: largest distance of an outcome from their mean: the size of the set.
        within_bounds: v⁺ lies in the componentwise outer bounds, widened by 5 % of their width.
    """

    distance: float
    nominal_distance: float
    radius: float
    within_bounds: bool

    def within(self, tolerance: float) -> bool:
        return self.distance <= tolerance


def containment(
    velocities: Array, nominal: Array, lower: Array, upper: Array, v_minus: Array, v_plus: Array, mass: Array
) -> Containment:
    """Score one set (k, nv) against the observed v⁻ and v⁺ (nv,), with the mass matrix (nv, nv) at the impact."""

    def length(x: Array) -> Array:
        return np.sqrt(np.maximum(np.einsum("...i,ij,...j", x, mass, x), 0.0))

    jump = float(length(v_plus - v_minus))
    if not jump > 0.0:
        raise ValueError("the observed velocity does not jump: there is nothing to be near to")
    outcomes = velocities if velocities.shape[0] else nominal[None, :]
    margin = 0.05 * (upper - lower) + 1e-9
    return Containment(
        float(length(outcomes - v_plus).min()) / jump,
        float(length(nominal - v_plus)) / jump,
        float(length(outcomes - outcomes.mean(axis=0)).max()) / jump,
        bool(np.all((v_plus >= lower - margin) & (v_plus <= upper + margin))),
    )


def _runs(flags: Bools) -> list[tuple[int, int]]:
    """First and last index of each stretch of True."""
    padded = np.concatenate(([False], flags, [False]))
    change = np.flatnonzero(padded[1:] != padded[:-1])
    return [(int(a), int(b) - 1) for a, b in zip(change[::2], change[1::2], strict=True)]


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
