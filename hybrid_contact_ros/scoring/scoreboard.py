"""Collects predictions and truth while a recording is replayed, and scores them at the end.

Truth comes as messages of the suite: ``ContactMode`` says which contacts touch (bits of ``mode``; ``contacts[].name``
or ``.frame`` say which is which), ``PostImpactVelocitySet`` with ``count`` = 1 says what an impact did (``v_minus``,
``velocities`` = v⁺, ``impact_time``). A truth contact that stands for a whole foot is compared with all predicted
contacts NAME_0, NAME_1, … or those on the frame of that name: closed when any of them is.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ImpactPrediction, ModePrediction
from hybrid_contact_ros.scoring import scores

Array = NDArray[np.float64]

HORIZONS = (0.01, 0.02, 0.05)
TOLERANCES = (0.05, 0.10, 0.15)
_RECENT_SETS = 256
_SET_AGE = 0.1


class Series:
    """Rows of one shape, appended one at a time into memory that doubles."""

    def __init__(self, width: int, dtype: type) -> None:
        self._data: NDArray[Any] = np.empty((1024, width), dtype)
        self._rows = 0

    def append(self, row: Any) -> None:
        if self._rows == self._data.shape[0]:
            self._data = np.concatenate((self._data, np.empty_like(self._data)))
        self._data[self._rows] = row
        self._rows += 1

    @property
    def rows(self) -> NDArray[Any]:
        return self._data[: self._rows]


@dataclass(frozen=True, slots=True)
class Scores:
    """What a replay was worth. ``delay_*``: :func:`scores.detection_delays`; ``sets``: one per true impact."""

    contacts: tuple[str, ...]
    per_contact: tuple[scores.Classification, ...]
    overall: scores.Classification
    touchdown: tuple[scores.EventTiming, ...]
    liftoff: tuple[scores.EventTiming, ...]
    touchdown_delay: Array
    liftoff_delay: Array
    brier: float
    calibration: tuple[scores.CalibrationBin, ...]
    states: int
    impacts: int
    sets: tuple[scores.Containment, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: numbers that do not exist are null, times are in seconds."""
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
            "touchdown_delay": _delay(self.touchdown_delay),
            "liftoff_delay": _delay(self.liftoff_delay),
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


class Scoreboard:
    """Predictions and truth in, :class:`Scores` out.

    Args:
        names, frames: of the predicted contacts.
        mass: mass matrix (nv, nv) of a state, for distances between velocities.
        opening, contact: s, shortest of the truth that count (:func:`~.scores.debounce`); 0: all.
    """

    def __init__(
        self,
        names: Sequence[str],
        frames: Sequence[str],
        mass: Callable[[RobotState], Array],
        opening: float = 0.0,
        contact: float = 0.0,
    ) -> None:
        self._names, self._frames, self._mass = list(names), list(frames), mass
        self._shortest = opening, contact
        m = len(self._names)
        self._t, self._closed = Series(1, np.int64), Series(m, np.bool_)
        self._probability, self._time = Series(m, np.float64), Series(m, np.float64)
        self._kind = Series(m, np.uint8)
        self._groups: list[tuple[str, list[int]]] | None = None
        self._truth_t: Series | None = None
        self._truth: Series | None = None
        self._recent: deque[tuple[int, RobotState, ImpactPrediction]] = deque(maxlen=_RECENT_SETS)
        self._impacts = 0
        self._sets: list[scores.Containment] = []

    def predicted(self, state: RobotState, mode: ModePrediction, impact: ImpactPrediction | None) -> None:
        self._t.append(mode.stamp_ns)
        self._closed.append(mode.closed)
        self._probability.append(mode.probability)
        self._kind.append(mode.next_event)
        self._time.append(mode.time_to_event)
        if impact is not None:
            self._recent.append((mode.stamp_ns, state, impact))

    def truth(self, msg: Any) -> None:
        """One message of a truth topic.

        Raises:
            ValueError: its contacts are none of the predicted ones.
        """
        if hasattr(msg, "impact_time"):
            self._true_impact(msg)
        else:
            self._true_mode(msg)

    def scores(self) -> Scores | None:
        """``None`` when no truth overlaps with the predictions."""
        if self._groups is None or self._truth is None or self._truth_t is None or not self._t.rows.size:
            return None
        origin = int(self._t.rows[0, 0])
        t = (self._t.rows[:, 0] - origin) * 1e-9
        truth_t = (self._truth_t.rows[:, 0] - origin) * 1e-9
        order = np.argsort(truth_t, kind="stable")
        truth_t = truth_t[order]
        truth = scores.debounce(truth_t, self._truth.rows[order], *self._shortest)
        closed, probability = self._grouped()
        at, known = scores.at_stamps(t, truth_t, truth)
        if not known.any():
            return None
        touchdown = {h: [] for h in HORIZONS}  # type: dict[float, list[scores.EventTiming]]
        liftoff = {h: [] for h in HORIZONS}  # type: dict[float, list[scores.EventTiming]]
        delays: tuple[list[Array], list[Array]] = ([], [])
        for j, (_, members) in enumerate(self._groups):
            downs, ups = scores.edges(truth_t, truth[:, j])
            # An edge outside the predictions' span was never theirs to foresee.
            downs, ups = (x[(x >= t[0]) & (x <= t[-1])] for x in (downs, ups))
            delays[0].append(scores.detection_delays(t, closed[:, j], downs))
            delays[1].append(scores.detection_delays(t, ~closed[:, j], ups))
            for kind, times, store in ((EventKind.TOUCHDOWN, downs, touchdown), (EventKind.LIFTOFF, ups, liftoff)):
                announced, when = self._announced(members, kind)
                for h in HORIZONS:
                    store[h].append(scores.event_timing(t, announced, when, times, kind, h))
        return Scores(
            contacts=tuple(name for name, _ in self._groups),
            per_contact=tuple(scores.classify(closed[known, j], at[known, j]) for j in range(at.shape[1])),
            overall=scores.classify(closed[known], at[known]),
            touchdown=tuple(scores.pooled(touchdown[h]) for h in HORIZONS),
            liftoff=tuple(scores.pooled(liftoff[h]) for h in HORIZONS),
            touchdown_delay=np.concatenate(delays[0]),
            liftoff_delay=np.concatenate(delays[1]),
            brier=scores.brier(probability[known], at[known]),
            calibration=tuple(scores.calibration(probability[known], at[known])),
            states=int(known.sum()),
            impacts=self._impacts,
            sets=tuple(self._sets),
        )

    def _true_mode(self, msg: Any) -> None:
        if self._groups is None:
            self._groups = [(c.name, self._members(c)) for c in msg.contacts]
            self._groups_at = [i for i, (_, members) in enumerate(self._groups) if members]
            if not self._groups_at:
                theirs = ", ".join(c.name for c in msg.contacts) or "none"
                raise ValueError(f"the truth names contacts {theirs}; predicted are {', '.join(self._names) or 'none'}")
            self._groups = [self._groups[i] for i in self._groups_at]
            self._truth_t, self._truth = Series(1, np.int64), Series(len(self._groups), np.bool_)
        assert self._truth_t is not None and self._truth is not None
        stamp = msg.header.stamp
        self._truth_t.append(stamp.sec * 1_000_000_000 + stamp.nanosec)
        mode = int(msg.mode)
        self._truth.append([bool(mode >> i & 1) for i in self._groups_at])

    def _members(self, contact: Any) -> list[int]:
        for wanted in (contact.name, contact.frame):
            exact = [i for i, name in enumerate(self._names) if name == wanted]
            pattern = re.compile(re.escape(wanted) + r"_\d+")
            found = exact or [i for i, name in enumerate(self._names) if pattern.fullmatch(name)]
            found = found or [i for i, frame in enumerate(self._frames) if frame == wanted]
            if wanted and found:
                return found
        return []

    def _grouped(self) -> tuple[NDArray[np.bool_], Array]:
        assert self._groups is not None
        closed = np.stack([self._closed.rows[:, g].any(axis=1) for _, g in self._groups], axis=1)
        probability = np.stack([self._probability.rows[:, g].max(axis=1) for _, g in self._groups], axis=1)
        return closed, probability

    def _announced(self, members: list[int], kind: EventKind) -> tuple[NDArray[np.uint8], Array]:
        """The event that a group as a whole is predicted to do, and when: its first member touches down, its last one
        lifts off."""
        closed = self._closed.rows[:, members]
        says = self._kind.rows[:, members] == kind
        time = self._time.rows[:, members]
        if kind == EventKind.TOUCHDOWN:
            yes = says.any(axis=1) & ~closed.any(axis=1)
            when = np.where(says, time, np.inf).min(axis=1)
        else:
            yes = (says | ~closed).all(axis=1) & closed.any(axis=1)
            when = np.where(says & closed, time, -np.inf).max(axis=1)
        return np.where(yes, np.uint8(kind), np.uint8(0)), np.where(yes, when, np.nan)

    def _true_impact(self, msg: Any) -> None:
        self._impacts += 1
        time = msg.impact_time.sec * 1_000_000_000 + msg.impact_time.nanosec
        before = [entry for entry in self._recent if entry[0] < time and time - entry[0] <= _SET_AGE * 1e9]
        dof = int(msg.dof)
        if not before or dof != before[-1][1].v.size:
            return
        _, state, impact = before[-1]
        v_minus = np.asarray(msg.v_minus, np.float64)
        v_plus = np.asarray(msg.velocities, np.float64)[:dof]
        self._sets.append(
            scores.containment(
                impact.velocities, impact.nominal, impact.lower, impact.upper, v_minus, v_plus, self._mass(state)
            )
        )


def _json(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _median(values: list[float]) -> float | None:
    return float(np.median(values)) if values else None


def _timing(x: scores.EventTiming) -> dict[str, Any]:
    return {
        "horizon": x.horizon,
        "events": x.events,
        "missed": x.missed,
        "false": x.false,
        "error_median": _json(x.median),
        "error_p95": _json(x.p95),
        "error_bias": _json(x.bias),
    }


def _delay(delays: Array) -> dict[str, Any]:
    seen = delays[np.isfinite(delays)]
    return {
        "events": int(delays.size),
        "undetected": int(delays.size - seen.size),
        "median": float(np.median(seen)) if seen.size else None,
        "p95": float(np.percentile(np.abs(seen), 95)) if seen.size else None,
    }
