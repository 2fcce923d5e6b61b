"""The scores of a recording or a demo as one record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.scoring.classification import CalibrationBin, Classification
from hybrid_contact_ros.scoring.containment import Containment
from hybrid_contact_ros.scoring.event_timing import EventTiming
from hybrid_contact_ros.scoring.time_bounds import BoundsCoverage

Array = NDArray[np.float64]

HORIZONS = (0.01, 0.02, 0.05)
"""Times before an event at which its prediction is scored, s."""
TOLERANCES = (0.05, 0.10, 0.15)
"""Distances from a set within which an outcome counts as contained, as parts of the jump of the velocity."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What predictions were worth against the truth.

    Attributes:
        contacts: names of the truth's contacts.
        per_contact, overall: the contact mode of each of them, and of all together.
        touchdown, liftoff: the predicted times of these events, for each of :data:`HORIZONS`.
        touchdown_delay, liftoff_delay: how late the contact mode saw each of them
            (:func:`~.event_timing.detection_delays`), s.
        brier: Brier score of the probabilities of being closed.
        calibration: the reliability table of these probabilities.
        states: number of predictions with a truth.
        impacts: number of impacts whose outcome is known.
        sets: one entry for each of them that a set was predicted for.
        touchdown_false, liftoff_false: edges of the contact mode that no true edge comes near to.
        touchdown_bounds, liftoff_bounds: the bounds of predicted times, for each of :data:`HORIZONS`; empty where they
            were not looked at.
        chatter: how many changes of the truth were too short to be events.
    """

    contacts: tuple[str, ...]
    per_contact: tuple[Classification, ...]
    overall: Classification
    touchdown: tuple[EventTiming, ...]
    liftoff: tuple[EventTiming, ...]
    touchdown_delay: Array
    liftoff_delay: Array
    brier: float
    calibration: tuple[CalibrationBin, ...]
    states: int
    impacts: int
    sets: tuple[Containment, ...]
    touchdown_false: int = 0
    liftoff_false: int = 0
    touchdown_bounds: tuple[BoundsCoverage, ...] = ()
    liftoff_bounds: tuple[BoundsCoverage, ...] = ()
    chatter: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON. Numbers that do not exist are null, and times are in seconds."""
        return {
            "states": self.states,
            "f1": _json(self.overall.f1),
            "accuracy": _json(self.overall.accuracy),
            "contacts": {
                name: {"f1": _json(c.f1), "accuracy": _json(c.accuracy), "precision": _json(c.precision),
                       "recall": _json(c.recall)}
                for name, c in zip(self.contacts, self.per_contact, strict=True)
            },
            "touchdown": [_timing(x) for x in self.touchdown],
            "liftoff": [_timing(x) for x in self.liftoff],
            "touchdown_delay": _delay(self.touchdown_delay) | {"false": self.touchdown_false},
            "liftoff_delay": _delay(self.liftoff_delay) | {"false": self.liftoff_false},
            "touchdown_bounds": [_coverage(x) for x in self.touchdown_bounds],
            "liftoff_bounds": [_coverage(x) for x in self.liftoff_bounds],
            "chatter": self.chatter,
            "brier": _json(self.brier),
            "calibration": [
                {"low": b.low, "high": b.high, "count": b.count, "mean_probability": b.mean_probability,
                 "frequency": b.frequency}
                for b in self.calibration
            ],
            "impacts": {
                "true": self.impacts,
                "with_set": len(self.sets),
                **{f"contained_{round(100 * x)}": sum(s.within(x) for s in self.sets) for x in TOLERANCES},
                "within_bounds": sum(s.within_bounds for s in self.sets),
                "distance_median": _median([s.distance for s in self.sets]),
                "nominal_distance_median": _median([s.nominal_distance for s in self.sets]),
                "radius_median": _median([s.radius for s in self.sets]),
            },
        }  # fmt: skip


def _json(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _median(values: list[float]) -> float | None:
    return float(np.median(values)) if values else None


def _timing(x: EventTiming) -> dict[str, Any]:
    return {
        "horizon": x.horizon,
        "events": x.events,
        "missed": x.missed,
        "false": x.false,
        "error_median": _json(x.median),
        "error_p95": _json(x.p95),
        "error_bias": _json(x.bias),
    }


def _coverage(x: BoundsCoverage) -> dict[str, Any]:
    return {
        "horizon": x.horizon,
        "events": x.events,
        "inside": x.inside,
        "valid": x.valid,
        "valid_inside": x.valid_inside,
        "width_median": float(np.median(x.widths)) if x.widths.size else None,
    }


def _delay(delays: Array) -> dict[str, Any]:
    seen = delays[np.isfinite(delays)]
    return {
        "events": int(delays.size),
        "undetected": int(delays.size - seen.size),
        "median": float(np.median(seen)) if seen.size else None,
        "p95": float(np.percentile(np.abs(seen), 95)) if seen.size else None,
    }
