"""Scores of a track against a truth, and of a track against what it later saw itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.scoring import classification, event_timing, time_bounds
from hybrid_contact_ros.scoring.containment import Containment
from hybrid_contact_ros.scoring.scores import HORIZONS, Scores
from hybrid_contact_ros.scoring.track import Bools, Track, Truth

Array = NDArray[np.float64]

KINDS = {"touchdown": EventKind.TOUCHDOWN, "liftoff": EventKind.LIFTOFF}
CHATTER = 0.02
"""s; openings and contacts of a truth that last less are no events of their own: a foot that lands may rattle."""


@dataclass(frozen=True, slots=True, eq=False)
class TrueEdges:
    """The events of one contact of a truth, s after the track's first stamp.

    Attributes:
        t, closed: (k,) what is known of it. hole: s; across a longer pause nobody knows when an event was.
        times: by kind, those within the track. before: the newest sample before each. sure: whether no hole is before.
        chatter: how many changes within the track are no events.
    """

    t: Array
    closed: Bools
    hole: float
    times: dict[str, Array]
    before: dict[str, Array]
    sure: dict[str, Bools]
    chatter: int = 0

    def scored(self, name: str) -> Array:
        """The events whose time is known."""
        return self.times[name][self.sure[name]]


def true_edges(
    track: Track, truth: Truth, group: int, shortest: tuple[float, float] = (0.0, 0.0), chatter: float = 0.0
) -> TrueEdges:
    """The events of a contact of the truth that lie within the track: predictions could not foresee others.

    Args:
        shortest, chatter: as of :func:`score`.
    """
    told = truth.known[:, group]
    t = track.seconds(truth.stamps_ns)[told]
    closed = event_timing.debounce(t, truth.closed[told, group : group + 1], *shortest)[:, 0]
    age = truth.age(group)
    hole = max(age, 3.0 * float(np.median(np.diff(t)))) if t.size > 1 else age
    first, last = track.seconds(track.stamps_ns[[0, -1]])
    sound = np.diff(t) <= hole
    times, before, sure = {}, {}, {}
    calm = event_timing.debounce(t, closed[:, None], chatter, chatter)[:, 0]
    changes = 0
    for name, found, each in zip(KINDS, event_timing.edges(t, calm), event_timing.edges(t, closed), strict=True):
        times[name] = found[(found >= first) & (found <= last)]
        place = np.searchsorted(t, times[name]) - 1
        before[name], sure[name] = t[place], sound[place]
        changes += int(np.count_nonzero((each >= first) & (each <= last))) - times[name].size
    return TrueEdges(t, closed, hole, times, before, sure, changes)


def own_truth(track: Track) -> Truth:
    """What the same estimator saw, as the truth of what it foretold."""
    return Truth(
        track.stamps_ns,
        tuple((name, (i,)) for i, name in enumerate(track.names)),
        track.closed,
        np.ones(track.closed.shape, bool),
        (np.inf,) * len(track.names),
    )


@dataclass(slots=True)
class _Kind:
    """What is found of one kind of event, of one contact after the other."""

    delays: list[Array] = field(default_factory=list)
    false: int = 0
    timings: dict[float, list[event_timing.EventTiming]] = field(default_factory=lambda: {h: [] for h in HORIZONS})
    bounds: dict[float, list[time_bounds.BoundsCoverage]] = field(default_factory=lambda: {h: [] for h in HORIZONS})


def score(
    track: Track,
    truth: Truth,
    shortest: tuple[float, float] = (0.0, 0.0),
    impacts: int = 0,
    sets: tuple[Containment, ...] = (),
    chatter: float = 0.0,
) -> Scores | None:
    """The scores; None where the truth says nothing about the time of the track.

    Args:
        shortest: shortest openings and contacts of the truth that count (:func:`~.event_timing.debounce`), s.
        impacts, sets: number of true impacts, and what came of the sets predicted for them; told as they are.
        chatter: openings and contacts of the truth that last less, s, are no events. States within them are scored.
    """
    if not track.stamps_ns.size or not truth.stamps_ns.size or not truth.groups:
        return None
    t = track.seconds(track.stamps_ns)
    at, known = np.zeros((t.size, len(truth.groups)), bool), np.zeros((t.size, len(truth.groups)), bool)
    closed, probability = at.copy(), np.full(at.shape, np.nan)
    found, rattles = {name: _Kind() for name in KINDS}, 0
    for j, (_, members) in enumerate(truth.groups):
        true = true_edges(track, truth, j, shortest, chatter)
        rattles += true.chatter
        if not true.t.size:
            continue
        here, there = event_timing.at_stamps(t, true.t, true.closed[:, None], truth.age(j))
        at[:, j], known[:, j] = here[:, 0], there
        closed[:, j], chance = track.grouped(members)
        if chance is not None:
            probability[:, j] = chance
        _events(track, members, t, closed[:, j], true, found)
    if not known.any():
        return None
    certain = known & np.isfinite(probability)
    foretold = track.next_event is not None and track.time_to_event is not None
    return Scores(
        contacts=tuple(name for name, _ in truth.groups),
        per_contact=tuple(
            classification.classify(closed[known[:, j], j], at[known[:, j], j]) for j in range(at.shape[1])
        ),
        overall=classification.classify(closed[known], at[known]),
        touchdown=_timings(found["touchdown"]) if foretold else (),
        liftoff=_timings(found["liftoff"]) if foretold else (),
        touchdown_delay=_joined(found["touchdown"].delays),
        liftoff_delay=_joined(found["liftoff"].delays),
        brier=classification.brier(probability[certain], at[certain]),
        calibration=tuple(classification.calibration(probability[certain], at[certain])),
        states=int(known.any(axis=1).sum()),
        impacts=impacts,
        sets=sets,
        touchdown_false=found["touchdown"].false,
        liftoff_false=found["liftoff"].false,
        touchdown_bounds=_bounds(found["touchdown"]),
        liftoff_bounds=_bounds(found["liftoff"]),
        chatter=rattles,
    )


def of_impacts(impacts: int, sets: tuple[Containment, ...]) -> Scores:
    """The scores where the truth tells of impacts alone: no contact of it was compared with any."""
    nothing = np.zeros(0)
    none = classification.Classification(0, 0, 0, 0)
    return Scores(
        contacts=(), per_contact=(), overall=none, touchdown=(), liftoff=(), touchdown_delay=nothing,
        liftoff_delay=nothing, brier=float("nan"), calibration=(), states=0, impacts=impacts, sets=sets,
    )  # fmt: skip


def self_consistency(track: Track) -> dict[str, Any] | None:
    """How well events were foretold that the same estimator saw later; None where it foretells none.

    It needs no truth, and says nothing about whether what was seen is true: an estimator that sees every event late
    foretells it late, and is consistent.
    """
    if track.next_event is None or track.time_to_event is None or track.stamps_ns.size < 2:
        return None
    found = score(track, own_truth(track), chatter=CHATTER)
    if found is None:
        return None
    all_told = found.to_dict()
    kept = ("touchdown", "liftoff", "touchdown_bounds", "liftoff_bounds")
    return {
        "events": sum(x.size for x in (found.touchdown_delay, found.liftoff_delay)),
        "chatter": found.chatter,
        **{key: all_told[key] for key in kept},
    }


def _events(
    track: Track, members: tuple[int, ...], t: Array, closed: Bools, true: TrueEdges, found: dict[str, _Kind]
) -> None:
    """Add what is found of the events of one contact."""
    seen = dict(zip(KINDS, event_timing.edges(t, closed), strict=True))
    for name, kind in KINDS.items():
        times, sure = true.scored(name), true.sure[name]
        into, state = found[name], closed if kind == EventKind.TOUCHDOWN else ~closed
        into.delays.append(event_timing.detection_delays(t, state, times))
        into.false += event_timing.false_detections(seen[name], true.times[name], true.t, true.hole)
        if track.next_event is None or track.time_to_event is None:
            continue
        announced, when, *bounds = track.announced(members, kind)
        valid: Bools = np.zeros(t.size, bool)
        if track.bounds_valid is not None:
            valid = np.all(track.bounds_valid[:, members], axis=1)
        for h in HORIZONS:
            into.timings[h].append(event_timing.event_timing(t, announced, when, times, kind, h))
            if track.earliest is not None:
                into.bounds[h].append(
                    time_bounds.bounds_coverage(t, (bounds[0], bounds[1]), valid, times, true.before[name][sure], h)
                )


def _timings(kind: _Kind) -> tuple[event_timing.EventTiming, ...]:
    return tuple(event_timing.pooled(each) for each in kind.timings.values() if each)


def _bounds(kind: _Kind) -> tuple[time_bounds.BoundsCoverage, ...]:
    return tuple(time_bounds.pooled_bounds(each) for each in kind.bounds.values() if each)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.empty(0), *parts])
