"""Panels as figures for papers: PNG and PDF of every plot, drawn by Matplotlib."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hybrid_contact_ros.reporting.colours import colour
from hybrid_contact_ros.reporting.decimation import m4
from hybrid_contact_ros.reporting.events import foretold
from hybrid_contact_ros.reporting.impacts import Impact, Plane
from hybrid_contact_ros.reporting.impacts import impacts as observed
from hybrid_contact_ros.reporting.panels import Band, Bars, Histogram, Item, Line, Outline, Panel, Points
from hybrid_contact_ros.reporting.record import Record, Tables
from hybrid_contact_ros.reporting.score_panels import score_panels
from hybrid_contact_ros.reporting.time_panels import time_panels

_MARKERS = {"circle": "o", "cross": "x", "star": "*", "square": "s"}
_COLUMNS = 3000  # more than a figure has pixels
_MOST_IMPACTS = 6


def write_figures(folder: str | Path, summary: Mapping[str, Any], tables: Tables) -> list[Path]:
    """Write every plot that has something to show as NAME.png and NAME.pdf; the folder is made where it is not there.

    Returns:
        the files.

    Raises:
        ValueError: the result holds no state. OSError: a file cannot be written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    record = Record(summary, tables)
    events, impacts = foretold(record), observed(record)
    panels = [*time_panels(record, events, impacts), *score_panels(record, events)]
    files = []
    for panel in panels:
        if not panel.empty:
            files += _saved(_figure(panel, record.end), folder / panel.key)
    worst = sorted((one for one in impacts if one.planes), key=lambda one: -one.distance)
    for k, one in enumerate(worst[:_MOST_IMPACTS]):
        files += _saved(_impact(one), folder / f"set_{k}")
    return files


def _saved(figure: Figure, place: Path) -> list[Path]:
    files = [place.with_name(re.sub(r"[^\w.-]", "_", place.name) + suffix) for suffix in (".png", ".pdf")]
    for file in files:
        figure.savefig(file, dpi=150)
    return files


def _figure(panel: Panel, end: float) -> Figure:
    height = 1.3 + 0.28 * len(panel.rows) if panel.rows else 3.2
    figure = Figure(figsize=(9.0 if panel.over_time else 4.8, height), layout="constrained")
    axes = figure.add_subplot()
    for item in panel.items:
        _draw(axes, item, panel)
    if panel.over_time:
        axes.set_xlim(0.0, max(end, 1e-3))
    if panel.rows:
        axes.set_yticks(range(len(panel.rows)), [_plain(row) for row in panel.rows])
        axes.set_ylim(len(panel.rows) - 0.5, -0.5)
    _finish(axes, panel.x_label or "time from the first state [s]", panel.y_label, panel.title)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.limits[0] is not None:
        axes.set_xlim(*panel.limits[0])
    if panel.limits[1] is not None:
        axes.set_ylim(*panel.limits[1])
    return figure


def _finish(axes: Axes, x_label: str, y_label: str, title: str) -> None:
    axes.set_xlabel(_plain(x_label))
    axes.set_ylabel(_plain(y_label))
    axes.set_title(_plain(title), fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    one = dict(zip(labels, handles, strict=True))
    if 1 < len(one) <= 9:
        where: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
        axes.legend(one.values(), one.keys(), fontsize=7, frameon=False, ncols=(len(one) + 1) // 2, **where)


def _draw(axes: Axes, item: Item, panel: Panel) -> None:
    paint, label = colour(item.colour), _plain(item.name)
    if isinstance(item, Line):
        keep = m4(item.x, item.y, _COLUMNS)
        axes.plot(item.x[keep], item.y[keep], "--" if item.dashed else "-", color=paint, linewidth=1, label=label)
    elif isinstance(item, Band):
        keep = np.union1d(m4(item.x, item.low, _COLUMNS), m4(item.x, item.high, _COLUMNS))
        axes.fill_between(item.x[keep], item.low[keep], item.high[keep], color=paint, alpha=0.2, linewidth=0)
    elif isinstance(item, Bars):
        top = panel.rows.index(item.row) - 0.5 + item.part[0]
        spans = np.stack((item.begins, item.ends - item.begins), axis=1).tolist()
        axes.broken_barh(
            spans, (top, item.part[1] - item.part[0]), color=paint, linewidth=0, label=label if spans else None
        )
    elif isinstance(item, Points):
        axes.plot(
            item.x, item.y, _MARKERS[item.marker], color=paint, markersize=4, label=label if item.x.size else None
        )
    elif isinstance(item, Histogram):
        axes.stairs(item.counts, item.edges, color=paint, fill=True, alpha=0.3)
        axes.stairs(item.counts, item.edges, color=paint, label=label)
    else:
        assert isinstance(item, Outline)
        axes.fill(item.x, item.y, color=paint, alpha=0.2, label=label)


def _impact(one: Impact) -> Figure:
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    for k, plane in enumerate(one.planes):
        axes = figure.add_subplot(1, 2, k + 1)
        _plane(axes, plane)
        title = f"{one.time:.3f} s: {one.names}" if k == 0 else f"{one.distance:.1%} of the jump from the set"
        _finish(axes, *plane.labels, title)
    return figure


def _plane(axes: Axes, plane: Plane) -> None:
    axes.fill(*plane.outline.T, color=colour(0), alpha=0.2, label="the set")
    axes.plot(*plane.samples.T, ".", color=colour(0), markersize=3, label="outcomes")
    axes.plot(*plane.before, "o", mfc="none", color=colour("truth"), markersize=8, label="before, v⁻")
    axes.plot(*plane.nominal, "s", mfc="none", color=colour("wrong"), markersize=9, label="all at once")
    axes.plot(*plane.after, "*", color=colour("truth"), markersize=11, label="observed, v⁺")


def _plain(text: str) -> str:
    """A text as it stands: Matplotlib would read what is between two dollars as mathematics."""
    return text.replace("$", r"\$")
