"""What came of a recording in a few sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hybrid_contact_ros.reporting.impacts import Impact
from hybrid_contact_ros.reporting.record import Record
from hybrid_contact_ros.scoring.scores import TOLERANCES


def headline(record: Record, impacts: list[Impact]) -> list[str]:
    """Sentences in the order of the page; each number is that of the result's scores where these have it."""
    scores = record.summary.get("scores") or {}
    said = [_answered(record)]
    if scores.get("contacts"):
        said += [_mode(scores), *_seen(scores), *_foretold(scores), *_probability(record, scores)]
    elif record.truth is None:
        why = record.without_truth
        said.append(f"{why[0].upper()}{why[1:]}, so nothing here says how right the contacts are.")
        said += _consistent(record)
    else:
        said.append("The truth does not overlap the predictions, so there is no score.")
    return [*said, *_impacts(impacts), _inputs(record)]


def _answered(record: Record) -> str:
    rate = 1.0 / record.period if record.period > 0 else float("nan")
    taken = record.column("states", "compute_ns")
    text = f"{record.t.size:,} states of {record.end:.1f} s were answered ({rate:.0f} Hz)".replace(",", " ")
    if taken is not None and np.any(taken > 0):
        p50, p99 = np.percentile(1e-9 * taken, (50, 99))
        text += f"; the estimator took {duration(p50)} for one (median; 99 %: {duration(p99)})"
    return text + "."


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def _mode(scores: Mapping[str, Any]) -> str:
    accuracy, f1 = scores.get("accuracy"), scores.get("f1")
    if accuracy is None:
        return "No prediction could be compared with the truth."
    text = f"{accuracy:.1%} of contact states are right"
    if f1 is not None:
        text += f" (F1 {f1:.3f})"
    each = {name: one.get("accuracy") for name, one in (scores.get("contacts") or {}).items()}
    known = {name: value for name, value in each.items() if value is not None}
    if len(known) > 1:
        worst = min(known, key=lambda name: known[name])
        text += f"; worst is {worst} with {known[worst]:.1%}"
    return text + "."


def _seen(scores: Mapping[str, Any]) -> list[str]:
    said = []
    for kind in ("touchdown", "liftoff"):
        delay = scores.get(f"{kind}_delay") or {}
        events, lost = delay.get("events", 0), delay.get("undetected", 0)
        if not events:
            continue
        median = delay.get("median")
        when = "are not seen" if median is None else f"are seen {_late(median)} (median)"
        said.append(f"{kind.capitalize()}s {when}; {lost} of {events} are missed.")
    return said


def _late(seconds: float) -> str:
    if abs(seconds) < 5e-5:
        return "at once"
    return f"{1e3 * abs(seconds):.1f} ms {'late' if seconds > 0 else 'early'}"


def _foretold(scores: Mapping[str, Any]) -> list[str]:
    said = []
    for kind in ("touchdown", "liftoff"):
        rows = [row for row in scores.get(kind) or [] if row.get("events")]
        if not rows:
            continue
        row = rows[-1]
        ahead, error = 1e3 * row["horizon"], row.get("error_median")
        how = "" if error is None else f" with a median error of {1e3 * error:.1f} ms"
        told = row["events"] - row["missed"]
        false = f", and {row['false']} more that did not come" if row.get("false") else ""
        said.append(f"{ahead:.0f} ms ahead, {told} of {row['events']} {kind}s are foretold{how}{false}.")
    return said


def _probability(record: Record, scores: Mapping[str, Any]) -> list[str]:
    if scores.get("brier") is None:
        return []
    valid = record.column("contacts", "probability_valid")
    text = f"Probabilities have a Brier score of {scores['brier']:.4f} (0 is perfect, 0.25 is a coin)"
    if valid is not None and valid.size:
        text += f", and claim to be calibrated in {float(np.mean(valid)):.1%} of states"
    return [text + "."]


def _consistent(record: Record) -> list[str]:
    """What predictions say of each other, where nothing else can be said."""
    own = record.summary.get("self_consistency") or {}
    said = []
    for kind in ("touchdown", "liftoff"):
        rows = own.get(kind) or []
        row = next((row for row in rows if isinstance(row, Mapping) and row.get("horizon") == 0.02), None)
        if row and row.get("events") and row.get("error_median") is not None:
            said.append(
                f"Against the suite's own later detections, {row['events'] - row['missed']} of {row['events']} {kind}s "
                f"were foretold 20 ms ahead, with a median error of {1e3 * row['error_median']:.1f} ms."
            )
    return said


def _impacts(impacts: list[Impact]) -> list[str]:
    if not impacts:
        return []
    distances = np.array([one.distance for one in impacts if np.isfinite(one.distance)])
    if not distances.size:
        return [f"{len(impacts)} impacts were observed; a set was predicted for none of them."]
    tolerance = TOLERANCES[1]
    near = int(np.sum(distances <= tolerance))
    radius = float(np.nanmedian([one.radius for one in impacts]))
    return [
        f"Of {len(impacts)} observed impacts {distances.size} had a predicted set; {near} of their velocities lie "
        f"within {tolerance:.0%} of the jump of it (median radius of the sets {radius:.0%})."
    ]


def _inputs(record: Record) -> str:
    count = record.rows("refusals") or sum((record.summary.get("faults") or {}).values())
    damage = record.summary.get("damage")
    text = "No input was refused or reported" if not count else f"{count} inputs were refused or reported"
    return f"{text}{f'; the recording is damaged: {damage}' if damage else ''}."
