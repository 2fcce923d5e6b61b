"""Scores of a result from its own tables, so that whoever holds the file can make them again."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybrid_contact_ros.results.file import Result, Table
from hybrid_contact_ros.results.summary import truth_groups
from hybrid_contact_ros.scoring.contact_scores import CHATTER, of_impacts, score, self_consistency
from hybrid_contact_ros.scoring.containment import Containment
from hybrid_contact_ros.scoring.scores import Scores
from hybrid_contact_ros.scoring.track import Track, Truth, of_one_clock

TRACK = ("closed", "probability", "next_event", "time_to_event", "earliest", "latest", "bounds_valid")
"""Columns of ``contacts`` that scores are made of; all but the first may be missing."""


def with_truth(result: Result, truth: Truth | None) -> Result:
    """The result with a truth as its table, its scores against it, and its self-consistency."""
    summary, tables = dict(result.summary), dict(result.tables)
    if truth is not None:
        tables["truth"] = {"stamp_ns": truth.stamps_ns, "closed": truth.closed, "known": truth.known}
        ages = [truth.age(j) for j in range(len(truth.groups))]
        summary["groups"] = [
            group | {"max_age": age}
            for group, age in zip(truth_groups(summary["contacts"], truth.groups), ages, strict=True)
        ]
    whole = Result(summary, tables)
    scores, track = scores_of(whole), track_of(whole)
    summary["scores"] = None if scores is None else scores.to_dict()
    summary["self_consistency"] = None if track is None else self_consistency(track)
    return whole


def scores_of(result: Result) -> Scores | None:
    """Scores of a result against its truth; None where it has none, or one of another time. A truth of impacts alone
    gives scores of them alone."""
    track, truth = track_of(result), truth_of(result)
    if track is None:
        return None
    impacts, sets = observed_sets(result)
    if truth is None:
        return of_impacts(impacts, sets) if impacts else None
    return score(track, truth, impacts=impacts, sets=sets, chatter=CHATTER)


def track_of(result: Result) -> Track | None:
    """What was predicted; None where no state was answered."""
    states, contacts = result.table("states"), result.table("contacts")
    if "stamp_ns" not in states or not states["stamp_ns"].size or "closed" not in contacts:
        return None
    stamps = states["stamp_ns"]
    kept = of_one_clock(stamps)
    columns: dict[str, Any] = {name: contacts[name][kept] for name in TRACK if name in contacts}
    for name in ("probability", "time_to_event", "earliest", "latest"):
        if name in columns:
            columns[name] = columns[name].astype(np.float64)
    summary = result.summary
    return Track(stamps[kept], tuple(summary["contacts"]), tuple(summary.get("frames", ())), **columns)


def truth_of(result: Result) -> Truth | None:
    """The truth that a result holds, or None."""
    table: Table = result.table("truth")
    groups = result.summary.get("groups") or []
    if not groups or not table:
        return None
    known = table.get("known", np.ones(table["closed"].shape, bool))
    named = tuple((group["name"], tuple(group["members"])) for group in groups)
    return Truth(
        table["stamp_ns"], named, table["closed"], known, tuple(group.get("max_age", 0.02) for group in groups)
    )


def observed_sets(result: Result) -> tuple[int, tuple[Containment, ...]]:
    """How many true impacts a result holds, and what came of the sets that were predicted for them."""
    table = result.table("observed")
    if not table:
        return 0, ()
    rows = np.flatnonzero(table["set"] >= 0)
    columns = [table[name][rows].tolist() for name in ("distance", "nominal_distance", "radius", "within_bounds")]
    found = tuple(Containment(*each) for each in zip(*columns, strict=True))
    return int(table["set"].size), found


def result_of_track(track: Track, about: dict[str, Any]) -> Result:
    """The result of another estimator, of which only its topic is known.

    Args:
        about: further keys of the summary.
    """
    stamps = track.stamps_ns
    columns = {name: getattr(track, name) for name in TRACK if getattr(track, name) is not None}
    for name, column in columns.items():
        if column.dtype == np.float64:
            columns[name] = column.astype(np.float32)
    summary = {
        "contacts": list(track.names),
        "frames": list(track.frames),
        "start_ns": int(stamps[0]),
        "end_ns": int(stamps[-1]),
        "duration": float(stamps[-1] - stamps[0]) * 1e-9,
        "states": int(stamps.size),
        "groups": [],
    }
    return Result(summary | about, {"states": {"stamp_ns": stamps}, "contacts": columns})
