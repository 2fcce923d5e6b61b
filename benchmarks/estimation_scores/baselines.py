"""Simple rules for which feet touch, each with parameters that are tuned on one half of a recording.

A rule is given everything that it can be given: thresholds are tried over the quantiles of what it looks at, for the
best mean of the F1 of closed and of open, and the half that it was tuned on is not the half that it is scored on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.estimation_scores.answers import rises
from benchmarks.estimation_scores.blocks import counts, macro_f1
from benchmarks.estimation_scores.episodes import Array, Bools, Episode

_STEPS = 40
_EVERY = 0.005  # s, between the samples that a gait schedule is fitted to


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One episode as rules see it: features (n, k), truth and where it is certain, block (n,) and half (n,), 0 or 1."""

    episode: Episode
    features: dict[str, Array]
    block: np.ndarray
    half: np.ndarray


@dataclass(frozen=True, slots=True)
class Rule:
    """``feature`` it looks at; ``tries``: parameters that are tried, given the episodes to tune on (and which half);
    ``says``: closed (n, k) of an episode for given parameters."""

    feature: str
    tries: Callable[[list[Seen], int], Iterator[Any]]
    says: Callable[[Seen, Any], Bools]


def hysteresis(x: Array, on: float, off: float) -> Bools:
    """True from where x (n, k) exceeds ``on`` until it falls below ``off``; before either, whether it is above their
    middle.

    Example:
        >>> hysteresis(np.array([[0.0], [3.0], [1.5], [0.5], [1.5]]), 2.0, 1.0).ravel().tolist()
        [False, True, True, False, False]
    """
    decided = (x > on) | (x < off)
    decided[0] = True
    last = np.maximum.accumulate(np.where(decided, np.arange(len(x))[:, None], 0), axis=0)
    says = x > on
    says[0] = x[0] > 0.5 * (on + off)
    return np.take_along_axis(says, last, axis=0)


def _levels(seen: list[Seen], half: int, feature: str, steps: int = _STEPS) -> Array:
    values = np.concatenate([s.features[feature][s.half == half].ravel() for s in seen])
    return np.unique(np.quantile(values, np.linspace(0.005, 0.995, steps)))


def _below(feature: str) -> Rule:
    return Rule(feature, lambda seen, half: iter(_levels(seen, half, feature)), lambda s, a: s.features[feature] < a)


def _above(feature: str) -> Rule:
    return Rule(feature, lambda seen, half: iter(_levels(seen, half, feature)), lambda s, a: s.features[feature] > a)


def _schmitt_tries(seen: list[Seen], half: int) -> Iterator[tuple[float, float]]:
    levels = _levels(seen, half, "force", 16)
    yield from ((float(on), float(off)) for i, on in enumerate(levels) for off in levels[: i + 1])


def _schedule_tries(seen: list[Seen], half: int) -> Iterator[tuple[float, float, Array]]:
    """Period, part of it that a foot stands, and middle of the stance of each foot: of the strongest waves of the true
    contacts in the half, over frequencies fine enough to be carried on to the other half."""
    if len(seen) > 1:
        return
    s = seen[0]
    chosen = np.flatnonzero(s.half == half)
    time, truth = s.episode.recording.time, s.episode.truth
    if min(len(rises(time[chosen], column[chosen])) for column in truth.T) < 3:
        return
    chosen = chosen[:: max(1, round(_EVERY / float(np.median(np.diff(time)))))]
    at, closed = time[chosen] - time[0], truth[chosen].astype(float)
    rate = np.arange(0.4, 6.0, 0.015 / float(np.ptp(at)))
    waves = np.exp(2j * np.pi * np.outer(rate, at)) @ (closed - closed.mean(axis=0))
    for k in np.argsort(-np.abs(waves).sum(axis=1))[:40]:
        for duty in np.linspace(0.3, 0.95, 27):
            yield float(1.0 / rate[k]), float(duty), np.angle(waves[k]) / (2 * np.pi * rate[k])


def _schedule(s: Seen, a: tuple[float, float, Array]) -> Bools:
    period, duty, middles = a
    time = s.episode.recording.time
    return np.asarray(((time[:, None] - time[0] - middles) / period + 0.5 * duty) % 1.0 < duty)


RULES = {
    "gap": _below("gap"),
    "height over the lowest foot": _below("height"),
    "Schmitt on leg force": Rule("force", _schmitt_tries, lambda s, a: hysteresis(s.features["force"], *a)),
    "load share": _above("share"),
    "momentum observer": _above("observer"),
    "foot speed": _below("speed"),
    "gait schedule": Rule("gap", _schedule_tries, _schedule),
}


def tuned(rule: Rule, seen: list[Seen]) -> list[Bools] | None:
    """What a rule says of each episode, every half with the parameters that are best on the other one; None where it
    has nothing to look at."""
    if any(rule.feature not in s.features for s in seen):
        return None
    said = [np.zeros_like(s.episode.truth) for s in seen]
    for half in (0, 1):
        best, chosen = -1.0, None
        for a in rule.tries(seen, half):
            value = float(macro_f1(sum(_table(s, rule.says(s, a), half) for s in seen)))
            if value > best:
                best, chosen = value, a
        if chosen is None:
            return None
        for s, into in zip(seen, said, strict=True):
            other = s.half != half
            into[other] = rule.says(s, chosen)[other]
    return said


def gap_histogram(seen: list[Seen], bins: int = 60) -> list[Array]:
    """Probabilities (n, k) of closed, of each episode: how often a foot with such a gap was closed in the other half.

    Bins hold equally many samples; each begins with one closed and one open one.
    """
    said = [np.zeros(s.episode.truth.shape) for s in seen]
    for half in (0, 1):
        rows = [(s.features["gap"][c], s.episode.truth[c]) for s in seen if (c := _certain(s, half)).any()]
        if not rows:
            continue
        gap, truth = (np.concatenate(x) for x in zip(*rows, strict=True))
        edges = np.unique(np.quantile(gap, np.linspace(0.0, 1.0, bins + 1)[1:-1]))
        place = np.searchsorted(edges, gap)
        all_, closed = (np.bincount(place, w, edges.size + 1) for w in (None, truth.astype(float)))
        table = (closed + 1.0) / (all_ + 2.0)
        for s, into in zip(seen, said, strict=True):
            other = s.half != half
            into[other] = table[np.searchsorted(edges, s.features["gap"][other])]
    return said


def _certain(s: Seen, half: int) -> Bools:
    return np.asarray(s.episode.certain & (s.half == half)[:, None])


def _table(s: Seen, says: Bools, half: int) -> Array:
    chosen = s.half == half
    if not chosen.any():
        return np.zeros(4)
    e = s.episode
    return counts(says[chosen], e.truth[chosen], e.certain[chosen], np.zeros(int(chosen.sum()), dtype=int))[0]


def halves(found: list[Episode]) -> list[np.ndarray]:
    """Which half each sample is in: of one episode the earlier and the later, of several every second one."""
    if len(found) > 1:
        return [np.full(e.recording.time.size, i % 2) for i, e in enumerate(found)]
    time = found[0].recording.time
    return [(time > 0.5 * (time[0] + time[-1])).astype(int)]
