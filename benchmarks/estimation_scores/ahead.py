"""Events before they happen: how near the predicted times are, what is missed and what is invented, whether bounds hold
and whether probabilities are frequencies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from benchmarks.estimation_scores.answers import KINDS, Answers
from benchmarks.estimation_scores.blocks import binomial_interval
from benchmarks.estimation_scores.episodes import Array, Bools, Episode
from benchmarks.estimation_scores.scores import true_events
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.scoring.event_timing import event_timing

HORIZONS = (0.01, 0.02, 0.05)
_SAMPLE = 0.001  # s; no true time is known better
_STRIDES = 3  # events of a foot before it counts as being in a steady gait
_BINS, _LEAST = 10, 20  # of probabilities; a bin is told of that many separate events
_DRAWS = 500


@dataclass(slots=True)
class Horizon:
    """Predictions that are made a horizon before the true events. ``false``: announcements that nothing follows.
    ``bounded``: those whose bounds hold the true time, of ``errors.size`` that were made."""

    events: int = 0
    missed: int = 0
    false: int = 0
    held: int = 0
    errors: list[float] = field(default_factory=list)

    def text(self) -> str:
        """Errors, ms, median (95 %); missed of true; false a true event; share of bounds that hold and its interval."""
        if not self.events:
            return "–"
        size = np.abs(self.errors)
        told = f"{1e3 * np.median(size):.1f} ({1e3 * np.quantile(size, 0.95):.1f})" if size.size else "–"
        low, high = binomial_interval(self.held, size.size) if size.size else (0.0, 1.0)
        share = f"{self.held / size.size:.2f} [{low:.2f}, {high:.2f}]" if size.size else "–"
        return f"{told} | {self.missed}/{self.events} | {self.false / self.events:.2f} | {share}"


def horizons(found: list[Episode], told: list[Answers], kind: str, steady: bool = False) -> dict[float, Horizon]:
    """Pooled over contacts and episodes; ``steady``: only events after the third of their foot."""
    pooled = {h: Horizon() for h in HORIZONS}
    for episode, answers in zip(found, told, strict=True):
        ahead, time = answers.ahead[kind], answers.time
        for i, (true, _) in enumerate(true_events(episode, kind)):
            event = np.where(np.isfinite(ahead.time[:, i]), np.uint8(KINDS[kind]), np.uint8(EventKind.NONE))
            for h, into in pooled.items():
                wanted = true[_STRIDES:] if steady else true
                timing = event_timing(time, event, ahead.time[:, i], wanted, KINDS[kind], h)
                into.events += timing.events
                into.missed += timing.missed
                into.false += event_timing(time, event, ahead.time[:, i], true, KINDS[kind], h).false
                into.errors += timing.errors.tolist()
                into.held += _held(time, ahead.time[:, i], ahead.earliest[:, i], ahead.latest[:, i], wanted, h)
    return pooled


def _held(time: Array, when: Array, earliest: Array, latest: Array, true: Array, horizon: float) -> int:
    """Of the same states as ``event_timing`` takes."""
    count = 0
    for t in true:
        k = int(np.searchsorted(time, t - horizon + 1e-6, side="right")) - 1
        if k >= 0 and t - horizon - time[k] <= 0.005 and np.isfinite(when[k]):
            left = t - time[k]
            count += bool(earliest[k] - _SAMPLE <= left <= latest[k] + _SAMPLE)
    return count


@dataclass(frozen=True, slots=True)
class Reliability:
    """One bin of probabilities: how many samples of how many stretches between events, what was said, how often it was
    true, with a 95 % interval from drawing the stretches again."""

    samples: int
    events: int
    said: float
    true: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the interval meets the probability ± 0.1."""
        return self.low <= self.said + 0.1 and self.high >= self.said - 0.1


def reliability(probability: list[Array], truth: list[Bools], certain: list[Bools]) -> list[Reliability]:
    """Of columns (n, k), one array an episode. Bins with fewer than 20 separate events are left out: probabilities
    between 0 and 1 come in runs around touchdowns and liftoffs, and the samples of a run are one observation."""
    rows = []
    event = 0
    for p, y, c in zip(probability, truth, certain, strict=True):
        for i in range(p.shape[1]):
            # A stretch reaches from the middle between two events to the next one: one event, and what is said of it.
            edges = np.flatnonzero(np.diff(y[:, i].astype(int))) + 1
            middles = (edges[1:] + edges[:-1]) // 2
            stretch = event + np.searchsorted(middles, np.arange(len(p)), side="right")
            event = int(stretch[-1]) + 1
            rows.append(np.column_stack([p[:, i], y[:, i], stretch])[c[:, i]])
    table = np.concatenate(rows)
    place = np.clip((table[:, 0] * _BINS).astype(int), 0, _BINS - 1)
    rng, found = np.random.default_rng(2), []
    for b in range(_BINS):
        mine = table[place == b]
        stretches, index = np.unique(mine[:, 2], return_inverse=True)
        if stretches.size < _LEAST:
            continue
        n, hits = np.bincount(index), np.bincount(index, mine[:, 1])
        draws = rng.multinomial(n.size, np.full(n.size, 1.0 / n.size), size=_DRAWS)
        low, high = np.quantile((draws @ hits) / (draws @ n), [0.025, 0.975])
        found.append(Reliability(len(mine), stretches.size, float(mine[:, 0].mean()), float(mine[:, 1].mean()),
                                 float(low), float(high)))  # fmt: skip
    return found
