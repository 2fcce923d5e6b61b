"""One impact's set in two planes of the velocity, and what the page needs to show another one there."""

from __future__ import annotations

import json
import math
from typing import Any

from bokeh.models import ColumnDataSource, HoverTool, PanTool, ResetTool, WheelZoomTool
from bokeh.plotting import figure

from hybrid_contact_ros.reporting.colours import colour
from hybrid_contact_ros.reporting.impacts import Impact, Plane
from hybrid_contact_ros.reporting.record import Array

_MARKS = {
    "before, v⁻": ("circle", "truth", 11),
    "all at once": ("square", "wrong", 11),
    "observed, v⁺": ("star", "truth", 15),
}


def plane_plots(first: Impact) -> list[figure]:
    """A plot for each plane of an impact; ``script.py`` shows others in them. The first one must have planes."""
    return [_plot(k, plane) for k, plane in enumerate(first.planes)]


def impact_data(impacts: list[Impact]) -> str:
    """The impacts with planes as JSON, the worst first. It has no character that could end a script."""
    marks = {id(one): k for k, one in enumerate(x for x in impacts if math.isfinite(x.distance))}
    told = [_told(one, marks.get(id(one), -1)) for one in worst_first(impacts)]
    text = json.dumps(told, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def worst_first(impacts: list[Impact]) -> list[Impact]:
    """Those that have planes, the farthest from its set first."""
    shown = [one for one in impacts if one.planes]
    return sorted(shown, key=lambda one: -one.distance if math.isfinite(one.distance) else math.inf)


def _told(one: Impact, mark: int) -> dict[str, Any]:
    where = "inside" if one.distance == 0.0 else f"{one.distance:.1%} of the jump outside"
    said = f"The observed velocity is {where} of the set, whose radius is {one.radius:.1%} of the jump."
    return {
        "title": f"{one.time:.3f} s: {one.names}", "said": said, "mark": mark, "time": one.time,
        "planes": [{"labels": plane.labels, "points": _points(plane)} for plane in one.planes],
    }  # fmt: skip


def _points(plane: Plane) -> dict[str, list[list[float]]]:
    marks = zip(_MARKS, (plane.before, plane.nominal, plane.after), strict=True)
    return {
        "set": _rounded(plane.outline),
        "outcomes": _rounded(plane.samples),
        **{name: _rounded(point[None]) for name, point in marks},
    }


def _rounded(points: Array) -> list[list[float]]:
    """Four digits are seen; what is not finite is left out."""
    return [[float(f"{x:.5g}"), float(f"{y:.5g}")] for x, y in points.tolist() if abs(x) < 1e9 and abs(y) < 1e9]


def _plot(k: int, plane: Plane) -> figure:
    made = figure(height=360, sizing_mode="stretch_width", tools="", toolbar_location=None, match_aspect=False)
    made.add_tools(pan := PanTool(), wheel := WheelZoomTool(modifiers="ctrl"), ResetTool())
    made.toolbar.active_drag, made.toolbar.active_scroll = pan, wheel

    points = _points(plane)

    def source(name: str) -> ColumnDataSource:
        x, y = ([point[axis] for point in points[name]] for axis in range(2))
        return ColumnDataSource({"x": x, "y": y}, name=f"plane{k}: {name}")

    made.patch(
        "x",
        "y",
        source=source("set"),
        fill_color=colour(0),
        fill_alpha=0.18,
        line_color=colour(0),
        legend_label="the set",
    )
    made.scatter("x", "y", source=source("outcomes"), size=4, color=colour(0), alpha=0.7, legend_label="outcomes")
    for name, (marker, paint, size) in _MARKS.items():
        drawn = made.scatter(
            "x", "y", source=source(name), marker=marker, size=size, line_color=colour(paint), fill_color=colour(paint),
            fill_alpha=0.25, line_width=1.8, legend_label=name,
        )  # fmt: skip
        drawn.glyph.tags = [paint]
        made.add_tools(HoverTool(renderers=[drawn], tooltips=[(name, "@x{0.000}, @y{0.000}")]))
    made.xaxis.axis_label, made.yaxis.axis_label = plane.labels
    made.xaxis.name, made.yaxis.name = f"plane{k}: x", f"plane{k}: y"
    made.axis.axis_label_text_font_style = "normal"
    made.background_fill_alpha = made.border_fill_alpha = 0.0
    made.outline_line_color = None
    legend = made.legend[0]
    legend.label_text_font_size, legend.background_fill_alpha, legend.border_line_color = "11px", 0.0, None
    legend.orientation, legend.click_policy = "horizontal", "hide"
    made.add_layout(legend, "above")
    return made
