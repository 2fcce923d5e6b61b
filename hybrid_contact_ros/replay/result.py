"""The result of a replay: counts, times, faults and scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybrid_contact_ros.scoring.scores import Scores


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What came of a replay.

    Attributes:
        bag, out: the recordings that were read and written (``out`` is ``None`` where nothing was written).
        contacts: names of the contacts, in the order of the configuration.
        states: number of states that were answered by a prediction.
        messages: number of messages that were read.
        duration: time from the first state to the last, s.
        wall: time that the replay took without loading and compiling, s.
        setup: time that loading and compiling took, s.
        compute_p50, compute_p99: quantiles of the time that the estimator took for one state, s.
        sets, events: numbers of post-impact sets and of contact events that were predicted.
        faults: number of inputs refused or reported for each reason, a key of
            :data:`~hybrid_contact_ros.messages.refusals.REASONS`.
        last_fault: reason and sentence of the last of them.
        damage: what of the recording could not be read, or ``None``.
        warnings: what a user should know of how the recording was read, such as the namespace that was taken.
        scores: the scores against the truth, where a truth was named and overlaps the predictions.
    """

    bag: Path
    out: Path | None
    contacts: tuple[str, ...]
    states: int
    messages: int
    duration: float
    wall: float
    setup: float
    compute_p50: float
    compute_p99: float
    sets: int
    events: int
    faults: dict[str, int]
    last_fault: tuple[str, str] | None
    damage: str | None
    warnings: tuple[str, ...]
    scores: Scores | None

    @property
    def speed(self) -> float:
        """How many times faster than real time the replay was."""
        return self.duration / self.wall if self.wall > 0 else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "bag": str(self.bag),
            "out": None if self.out is None else str(self.out),
            "contacts": list(self.contacts),
            "states": self.states,
            "messages": self.messages,
            "duration": self.duration,
            "wall": self.wall,
            "setup": self.setup,
            "speed": self.speed if self.states else None,
            "compute_p50": self.compute_p50 if self.states else None,
            "compute_p99": self.compute_p99 if self.states else None,
            "sets": self.sets,
            "events": self.events,
            "faults": self.faults,
            "damage": self.damage,
            "warnings": list(self.warnings),
            "scores": None if self.scores is None else self.scores.to_dict(),
        }
