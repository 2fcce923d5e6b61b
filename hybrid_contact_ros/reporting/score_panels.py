"""Panels of scores: errors of foretold events, reliability of probabilities, time taken."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.reporting.events import KINDS, Foretold
from hybrid_contact_ros.reporting.headline import duration
from hybrid_contact_ros.reporting.panels import Histogram, Item, Line, Panel, Points
from hybrid_contact_ros.reporting.record import Record

_WIDEST = 50.0  # ms; errors beyond are counted in the outermost bins
_BINS = 40
_SHARE = (-0.02, 1.02)


def score_panels(record: Record, events: list[Foretold]) -> list[Panel]:
    """In the order of the page."""
    return [*(_errors(record, events, kind) for kind in KINDS), _reliability(record), _latency(record)]


def _errors(record: Record, events: list[Foretold], kind: int) -> Panel:
    ours = [one for one in events if one.kind == kind and one.errors.size]
    name = KINDS[kind]  # type: ignore[index]
    whose = "true" if record.truth is not None else f"later detected ({record.without_truth})"
    caption = f"Foretold − {whose} time of {name}s, from states 10, 20 and 50 ms before them; right of zero is late."
    widest = max((float(np.abs(1e3 * one.errors).max()) for one in ours), default=0.0)
    limit = min(_WIDEST, max(1.0, widest * 1.02))
    if widest > limit:
        caption += f" Errors beyond {limit:.0f} ms stand in the outermost bins."
    edges = np.linspace(-limit, limit, _BINS + 1)
    items = tuple(
        Histogram(
            f"{1e3 * one.horizon:.0f} ms ahead",
            edges,
            np.histogram(np.clip(1e3 * one.errors, -limit, limit), edges)[0],
            i,
        )
        for i, one in enumerate(ours)
    )
    nothing = (
        ""
        if items
        else f"no {name} was foretold"
        if any(x.events for x in events if x.kind == kind)
        else f"there is no {name}"
    )
    return Panel(f"errors_{name}", f"When {name}s come", caption, "events", items, x_label="error [ms]", empty=nothing)


def _reliability(record: Record) -> Panel:
    table = (record.summary.get("scores") or {}).get("calibration") or []
    caption = (
        "Of the contacts with a predicted probability p, the share that was closed; on the diagonal it is what it "
        "says. There are no confidence intervals, for states that follow each other are not independent."
    )
    if not table:
        why = record.without_truth or "the scores have no reliability table"
        return Panel(
            "reliability", "Reliability of probabilities", caption, "share closed", x_label="probability", empty=why
        )
    p = np.array([row["mean_probability"] for row in table], float)
    share = np.array([row["frequency"] for row in table], float)
    text = tuple(f"{int(row['count'])} predictions" for row in table)
    items: tuple[Item, ...] = (
        Line("calibrated", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "muted", True),
        Line("measured", p, share, 0),
        Points("measured", p, share, 0, "circle", text),
    )
    return Panel(
        "reliability",
        "Reliability of probabilities",
        caption,
        "share closed",
        items,
        x_label="probability",
        limits=(_SHARE, _SHARE),
    )


def _latency(record: Record) -> Panel:
    taken = record.column("states", "compute_ns")
    caption = "Time that the estimator took for one state, on the machine of the replay."
    if taken is None or not np.any(taken > 0):
        return Panel(
            "latency", "Time for a state", caption, "states", x_label="time [µs]", empty="no times were recorded"
        )
    us = 1e-3 * taken[taken > 0].astype(float)
    edges = np.geomspace(us.min(), max(us.max(), us.min() * 1.01) * 1.001, 61)
    item = Histogram("states", edges, np.histogram(us, edges)[0], 0)
    p50, p99 = np.percentile(us, (50, 99))
    caption += f" Median {duration(1e-6 * p50)}, 99 % below {duration(1e-6 * p99)}."
    return Panel("latency", "Time for a state", caption, "states", (item,), x_label="time [µs]", log_x=True)
