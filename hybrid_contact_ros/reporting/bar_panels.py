"""Panels of bars over time: contacts, flags, refused inputs. Each has a row for each of what it tells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.reporting.chosen import of_many
from hybrid_contact_ros.reporting.decimation import merged, runs
from hybrid_contact_ros.reporting.panels import Bars, Colour, Item, Panel
from hybrid_contact_ros.reporting.record import Array, Record

_MOST_BARS = 4000  # on one row; more are joined over their shortest pauses, and the caption says so
_FLAGS = {
    "constraint_stability": "stable", "bounded_time_stability": "stable a while", "friction": "in its cone",
    "pseudo_impulse": "closed in impacts", "zeno": "chatters", "grazing": "grazing",
}  # fmt: skip
_WISHED: dict[int, tuple[str, Colour]] = {
    Flag.HOLDS: ("holds", "good"), Flag.FAILS: ("fails", "wrong"), Flag.CUT: ("cut", "muted"),
}  # fmt: skip
_FEARED: dict[int, tuple[str, Colour]] = {Flag.HOLDS: ("happens", "warning"), Flag.CUT: ("cut", "muted")}
_TROUBLE = ("zeno", "grazing")
"""Flags that tell of trouble where they hold; where they fail there is nothing to see."""


def contact_panel(record: Record) -> Panel:
    """Predicted contacts over true ones, a row for each contact."""
    items: list[Item] = []
    longest = 0.0

    def bars(name: str, row: str, t: Array, yes: NDArray[np.bool_], colour: Colour, part: tuple[float, float]) -> None:
        nonlocal longest
        begins, ends, value = runs(t, yes, record.end)
        begins, ends, pause = merged(begins[value], ends[value], _MOST_BARS)
        longest = max(longest, pause)
        items.append(Bars(name, row, begins, ends, colour, part))

    for j, (row, _) in enumerate(record.groups):
        if record.truth is not None:
            bars("truth: closed", row, *record.group_truth(j), "truth", (0.52, 0.86))
            bars("differs", row, record.t, record.wrong[:, j], "wrong", (0.88, 1.0))
        bars("predicted: closed", row, record.t, record.predicted[:, j], 0, (0.1, 0.48))
        bars("predicted: slipping", row, record.t, record.slipping[:, j], "warning", (0.1, 0.48))
    truth = (
        f"Below each prediction stands the truth ({record.truth_source}), and in red where they differ."
        if record.truth is not None
        else f"There is nothing to compare with: {record.without_truth}."
    )
    joined = f" Pauses shorter than {1e3 * longest:.1f} ms are not drawn." if longest else ""
    caption = (
        f"Which contacts are closed. Edges are exact: a bar begins at the stamp of its first state. {truth}{joined}"
    )
    rows = tuple(name for name, _ in record.groups)
    return Panel(
        "contacts", "Contacts", caption, "", tuple(items), rows=rows, empty="" if rows else "no contacts are configured"
    )


def flag_panel(record: Record, shown: list[int]) -> Panel:
    """A row for each contact and flag that is ever decided."""
    caption = (
        "Stability flags: green holds, red fails, grey was cut for want of time. Of chatter, grazing and slip warnings "
        "only what happens is drawn, in orange, and nothing where a flag is undecided (docs/zeno.md)."
    )
    items: list[Item] = []
    rows: list[str] = []
    for column, words in _FLAGS.items():
        flags = record.column("stability", column)
        drawn = _FEARED if column in _TROUBLE else _WISHED
        if flags is None:
            continue
        for i in shown:
            begins, ends, value = runs(record.t, flags[:, i], record.end)
            if not np.isin(value, list(drawn)).any():
                continue
            row = f"{record.contacts[i]}: {words}"
            rows.append(row)
            for code, (name, colour) in drawn.items():
                one, other, _ = merged(begins[value == code], ends[value == code], _MOST_BARS)
                items.append(Bars(name, row, one, other, colour, (0.15, 0.85)))
    warned = record.column("contacts", "slip_warning")
    for i in [] if warned is None else shown:
        begins, ends, value = runs(record.t, np.asarray(warned)[:, i].astype(bool), record.end)
        if value.any():
            row = f"{record.contacts[i]}: slip warning"
            rows.append(row)
            items.append(
                Bars("happens", row, *merged(begins[value], ends[value], _MOST_BARS)[:2], "warning", (0.15, 0.85))
            )
    nothing = "" if rows else "no flag was decided in any state"
    return Panel("flags", "Flags", caption + of_many(record, shown), "", tuple(items), rows=tuple(rows), empty=nothing)


def refusal_panel(record: Record) -> Panel:
    stamps, reason = record.column("refusals", "stamp_ns"), record.column("refusals", "reason")
    caption = "Inputs that were refused, or used and reported, by their reason."
    if stamps is None or reason is None or not stamps.size:
        return Panel("refusals", "Refused inputs", caption, "", empty="no input was refused or reported")
    names = [str(x) for x in record.summary.get("reasons", ())]
    items: list[Item] = []
    rows = []
    short = max(record.period, 1e-3)
    for code in np.unique(reason).tolist():
        row = names[code] if 0 <= code < len(names) else f"reason {code}"
        rows.append(row)
        times = np.sort(record.seconds(stamps[reason == code]))
        first = np.append(0, np.flatnonzero(np.diff(times) > 2 * short) + 1)
        last = np.append(first[1:] - 1, times.size - 1)
        items.append(
            Bars("refused or reported", row, *merged(times[first], times[last] + short, _MOST_BARS)[:2], "wrong")
        )
    return Panel("refusals", "Refused inputs", caption, "", tuple(items), rows=tuple(rows))
