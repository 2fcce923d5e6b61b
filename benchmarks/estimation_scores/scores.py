"""What answers are worth against a truth: the mode, its probability, and touchdowns and liftoffs told and missed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from benchmarks.estimation_scores.answers import KINDS, Answers, rises
from benchmarks.estimation_scores.episodes import Array, Bools, Episode
from benchmarks.event_scores import skimming
from hybrid_contact_ros.scoring.classification import brier, classify

_SAME = 0.15  # s: two truths of one event are no further apart (a foot that takes its load slowly)


@dataclass(frozen=True, slots=True)
class ModeScores:
    """F1 of closed and of open, the mean of both recalls, and the mean squared error of the probability."""

    closed: float
    open: float
    balanced: float
    brier: float


def mode_scores(closed: Bools, probability: Array, truth: Bools) -> ModeScores:
    """Arrays of one shape, or none of more samples than are scored.

    Example:
        >>> says, true = np.array([True, True, False, False]), np.array([True, False, False, False])
        >>> scores = mode_scores(says, says.astype(float), true)
        >>> round(scores.closed, 3), scores.open, round(scores.balanced, 3), scores.brier
        (0.667, 0.8, 0.833, 0.25)
    """
    found, opposite = classify(closed, truth), classify(~closed, ~truth)
    balanced = 0.5 * (found.recall + opposite.recall)
    return ModeScores(found.f1, opposite.f1, balanced, brier(probability, truth))


@dataclass(slots=True)
class EventCounts:
    """Of one kind of event: true ones, those that no detection is near to, detections that no true one is near to, and
    the time told less the true time, s, of the others."""

    true: int = 0
    missed: int = 0
    false: int = 0
    errors: list[float] = field(default_factory=list)

    def add(self, told: Array, true: Array, every: Array, window: float, others: Array | None = None) -> None:
        """``true``: times that must be told. ``every``: times that may be told, bounces and other truths as well.
        ``others``: times of another truth, where the same event may be told as well."""
        self.true += true.size
        for t in true:
            also = [] if others is None else [x for x in others if abs(x - t) <= _SAME]
            nearest = min((float(x - at) for at in [t, *also] for x in told), key=abs, default=np.inf)
            if abs(nearest) <= window:
                self.errors.append(nearest)
            else:
                self.missed += 1
        self.false += sum(bool(np.abs(every - t).min(initial=np.inf) > window) for t in told)

    def error(self, quantile: float) -> float:
        return float(np.quantile(np.abs(self.errors), quantile)) if self.errors else float("nan")


def true_events(episode: Episode, kind: str) -> list[tuple[Array, Array, Array]]:
    """Of each contact, the times of the true events, of all events that some label has, and of those of other truths.

    Openings that never reach a millimetre are left out of the true events where the true gap is known: no encoder could
    see them. ``raw`` is no other truth: it is the truth with its bounces.
    """
    time, found = episode.recording.time, []
    for i, truth in enumerate(episode.truth.T):
        smooth = truth | skimming(truth, episode.gap[:, i]) if episode.gap is not None else truth
        series = [smooth, truth, *(label[:, i] for label in episode.labels.values())]
        times = [rises(time, flags if kind == "touchdown" else ~flags) for flags in series]
        others = [t for t, name in zip(times[2:], episode.labels, strict=True) if name != "raw"]
        found.append((times[0], np.concatenate(times), np.concatenate([*others, np.empty(0)])))
    return found


class Scores:
    """Scores pooled over the episodes of a source."""

    def __init__(self, window: float) -> None:
        self.window = window
        self.events = {kind: EventCounts() for kind in KINDS}
        self._rows: list[tuple[Bools, Array, Bools, Bools, dict[str, Bools]]] = []

    def add(self, episode: Episode, told: Answers) -> None:
        self._rows.append((told.closed, told.probability, episode.truth, episode.certain, dict(episode.labels)))
        for kind, counts in self.events.items():
            for times, (true, every, others) in zip(told.detected[kind], true_events(episode, kind), strict=True):
                counts.add(times, true, every, self.window, others)

    def mode(self, certain: bool = True, label: str = "") -> ModeScores:
        """Of the certain samples, or of all; with another label as the truth where one is named."""
        columns: tuple[list, ...] = ([], [], [])
        for closed, probability, truth, sure, labels in self._rows:
            chosen = sure if certain else np.ones_like(sure)
            against = labels[label] if label else truth
            for column, x in zip(columns, (closed, probability, against), strict=True):
                column.append(x[chosen])
        return mode_scores(*(np.concatenate(column) for column in columns))
