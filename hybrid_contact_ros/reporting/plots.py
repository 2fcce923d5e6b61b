"""Panels as plots of Bokeh, which a browser draws.

All panels over time share one range. Of each line the page holds what fits (``decimation.py``); ``script.py`` draws of
it what the window and the width of the screen can show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bokeh.core.validation import silence
from bokeh.core.validation.warnings import MISSING_RENDERERS
from bokeh.models import (
    ColumnDataSource,
    CrosshairTool,
    CustomJS,
    FactorRange,
    HoverTool,
    Legend,
    LegendItem,
    PanTool,
    Range1d,
    RangeTool,
    ResetTool,
    Span,
    WheelZoomTool,
)  # fmt: skip
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure
from numpy.typing import NDArray

from hybrid_contact_ros.reporting.colours import colour
from hybrid_contact_ros.reporting.decimation import Window, m4
from hybrid_contact_ros.reporting.panels import Band, Bars, Colour, Histogram, Line, Outline, Panel, Points
from hybrid_contact_ros.reporting.script import VIEW

Array = NDArray[np.float64]
silence(MISSING_RENDERERS)  # a recording of two seconds has panels in which nothing happens

_LEFT = 165  # pixels left of all panels over time, so that their times stand below each other
_ROW = 22  # pixels of a row of bars
_LONG = 1000.0  # s
_MOST_LEGEND = 9  # entries
_FEW = 200  # bars that are a pixel wide at least; more of them would colour a long recording all over
_MARKERS = {"circle": "circle", "cross": "x", "star": "star", "square": "square"}


@dataclass(slots=True)
class Plots:
    """Makes the plots of one page.

    Attributes:
        end: last time, s. columns: columns of pixels for which lines are kept. whole: windows in which they stay whole.
        pairs: (all points, points in view) of each line and band, for ``script.py``.
    """

    end: float
    columns: int
    whole: Sequence[Window]
    shared: Range1d = field(init=False)
    pairs: list[tuple[ColumnDataSource, ColumnDataSource]] = field(init=False, default_factory=list)
    _crosshair: CrosshairTool = field(init=False)

    def __post_init__(self) -> None:
        end = max(self.end, 1e-3)
        self.shared = Range1d(0.0, end, bounds=(-0.02 * end, 1.02 * end), min_interval=1e-3, name="time")
        self._crosshair = CrosshairTool(overlay=Span(dimension="height", line_color="#9aa0a6", line_dash="dotted"))

    def plot(self, panel: Panel) -> figure:
        """One panel. Must not be empty."""
        rows = _short(panel.rows)
        height = 86 + _ROW * len(rows) if rows else 230
        options: dict[str, Any] = {"x_range": self.shared} if panel.over_time else {}
        if rows:
            options["y_range"] = FactorRange(factors=list(reversed(rows.values())))
        limits = ("y_range", panel.limits[1]), ("x_range", panel.limits[0])
        options |= {name: Range1d(*span) for name, span in limits if span is not None}
        if panel.log_x:
            options["x_axis_type"] = "log"
        made = figure(
            height=height if panel.over_time else 320, sizing_mode="stretch_width", tools="", output_backend="canvas",
            name=panel.key, **options,
        )  # fmt: skip
        made.toolbar_location = None
        self._tools(made, panel)
        entries: dict[str, list[GlyphRenderer]] = {}
        for bars in _alike(panel):
            entries.setdefault(bars[0].name, []).append(self._bars(made, bars, rows))
        for item in panel.items:
            if not isinstance(item, Bars) and not _nothing(item):
                entries.setdefault(item.name, []).append(self._item(made, item))
        _legend(made, entries)
        _axes(made, panel)
        return made

    def overview(self, panel: Panel) -> figure:
        """The whole time in little, with the slider that all panels over time follow."""
        rows = _short(panel.rows)
        made = figure(
            height=max(64, min(96, 34 + 9 * len(rows))), sizing_mode="stretch_width", tools="", toolbar_location=None,
            x_range=Range1d(*self.shared.bounds), y_range=FactorRange(factors=list(reversed(rows.values()))),
            name="overview",
        )  # fmt: skip
        for bars in _alike(panel):
            self._bars(made, bars, rows)
        slider = RangeTool(x_range=self.shared, name="slider")
        slider.overlay.fill_color, slider.overlay.fill_alpha = "#1f77b4", 0.18
        made.add_tools(slider)
        made.yaxis.visible = False
        made.grid.visible = False
        made.outline_line_color = None
        made.background_fill_alpha = made.border_fill_alpha = 0.0
        made.min_border_left = made.min_border_right = 12
        return made

    def follow(self) -> None:
        """Let lines and bands follow the shared range, once all plots are made."""
        whole, view = ([pair[k] for pair in self.pairs] for k in range(2))
        code = CustomJS(args={"range": self.shared, "whole": whole, "view": view}, code=VIEW)
        self.shared.js_on_change("start", code)
        self.shared.js_on_change("end", code)

    def _tools(self, made: figure, panel: Panel) -> None:
        if panel.over_time:
            pan, wheel = PanTool(dimensions="width"), WheelZoomTool(dimensions="width", modifiers="ctrl")
            made.add_tools(pan, wheel, self._crosshair)
        else:
            pan, wheel = PanTool(), WheelZoomTool(modifiers="ctrl")
            made.add_tools(pan, wheel, ResetTool())
        made.toolbar.active_drag, made.toolbar.active_scroll = pan, wheel

    def _item(self, made: figure, item: Line | Band | Points | Histogram | Outline) -> GlyphRenderer:
        paint = colour(item.colour)
        if isinstance(item, Line):
            return self._line(made, item)
        if isinstance(item, Band):
            return self._band(made, item)
        if isinstance(item, Points):
            text = list(item.text) or [""] * item.x.size
            source = ColumnDataSource({"x": item.x, "y": item.y, "text": text}, name=f"{made.name}: {item.name}")
            drawn = made.scatter(
                "x", "y", source=source, marker=_MARKERS[item.marker], size=8, color=paint, fill_alpha=0.5,
            )  # fmt: skip
            said = [(item.name, "@text"), ("at", "@x{0.0000}, @y{0.000}")]
            made.add_tools(HoverTool(renderers=[drawn], tooltips=said))
            return drawn
        if isinstance(item, Histogram):
            return made.quad(
                left=item.edges[:-1], right=item.edges[1:], bottom=0, top=item.counts.astype(float),
                fill_color=paint, fill_alpha=0.15, line_color=paint,
            )  # fmt: skip
        assert isinstance(item, Outline)
        return made.patch(item.x, item.y, fill_color=paint, fill_alpha=0.2, line_color=paint, name=item.name)

    def _line(self, made: figure, item: Line) -> GlyphRenderer:
        keep = m4(item.x, item.y, self.columns, self.whole)
        if item.x.size <= 16:  # nothing to choose from: a diagonal
            view = ColumnDataSource({"x": item.x, "y": item.y})
        else:
            whole = ColumnDataSource({"x": self._times(item.x[keep]), "y": item.y[keep].astype(np.float32)})
            view = self._viewed(whole, {"x": [0.0, self.end], "y": _extent(item.y)})
        dash = "dashed" if item.dashed else "solid"
        return made.line("x", "y", source=view, color=colour(item.colour), line_width=1.4, line_dash=dash)

    def _band(self, made: figure, item: Band) -> GlyphRenderer:
        chosen = np.union1d(*(m4(item.x, y, self.columns // 2, self.whole) for y in (item.low, item.high)))
        columns = {"low": item.low[chosen].astype(np.float32), "high": item.high[chosen].astype(np.float32)}
        whole = ColumnDataSource({"x": self._times(item.x[chosen]), **columns})
        low, high = _extent(np.concatenate((item.low, item.high)))
        view = self._viewed(whole, {"xs": [[0.0, 0.0, self.end]], "ys": [[low, high, low]]})
        return made.patches("xs", "ys", source=view, fill_color=colour(item.colour), fill_alpha=0.18, line_color=None)

    def _times(self, t: Array) -> NDArray[Any]:
        """Times as float32 where that is exact to a tenth of a millisecond."""
        return t.astype(np.float32) if self.end < _LONG else t

    def _viewed(self, whole: ColumnDataSource, first: dict[str, list[Any]]) -> ColumnDataSource:
        """The source that is drawn; ``first`` spans the axes until the browser has chosen what is seen."""
        view = ColumnDataSource(first)
        self.pairs.append((whole, view))
        return view

    def _bars(self, made: figure, items: list[Bars], rows: dict[str, str]) -> GlyphRenderer:
        """Bars of one name and colour, on whichever rows: one glyph, for a plot takes time to make by its glyphs."""
        first = items[0]
        # The place of a row within a FactorRange: the k-th of it is centred at k + 0.5.
        centres = {row: len(rows) - k - 0.5 for k, row in enumerate(rows)}
        middle = np.concatenate([np.full(one.begins.size, centres[one.row] + 0.5, np.float32) for one in items])
        top, bottom = (
            middle - np.concatenate([np.full(one.begins.size, one.part[side], np.float32) for one in items])
            for side in range(2)
        )
        left, right = (np.concatenate([getattr(one, side) for one in items]) for side in ("begins", "ends"))
        drawn = made.quad(
            source=ColumnDataSource({"left": left, "right": right, "top": top, "bottom": bottom}),
            line_color=colour(first.colour) if left.size <= _FEW else None, fill_color=colour(first.colour),
        )  # fmt: skip
        drawn.glyph.tags = [str(first.colour)]
        if made.name != "overview":
            said = [(first.name, "@left{0.000000} s to @right{0.000000} s")]
            made.add_tools(HoverTool(renderers=[drawn], tooltips=said))
        return drawn


def _alike(panel: Panel) -> list[list[Bars]]:
    """The bars of a panel, those of one name and colour together; rows without any are left out."""
    found: dict[tuple[str, Colour], list[Bars]] = {}
    for item in panel.items:
        if isinstance(item, Bars) and item.begins.size:
            found.setdefault((item.name, item.colour), []).append(item)
    return list(found.values())


def _nothing(item: Line | Band | Points | Histogram | Outline) -> bool:
    """Whether there is nothing of it to draw, nor to name in a legend."""
    return not (item.counts if isinstance(item, Histogram) else item.x).size


def _extent(y: Array) -> list[float]:
    """Least and greatest of the finite values; 0 and 1 where there are none."""
    finite = y[np.isfinite(y)]
    return [float(finite.min()), float(finite.max())] if finite.size else [0.0, 1.0]


def _short(rows: Sequence[str], most: int = 25) -> dict[str, str]:
    """Names of rows by the whole ones: short enough for their place, and no two alike."""
    made: dict[str, str] = {}
    for row in dict.fromkeys(rows):
        text = row if len(row) <= most else f"{row[: most - 8]}…{row[-7:]}"
        number = 2
        while text in made.values():
            text, number = f"{row[: most - 5]}… {number}", number + 1
        made[row] = text
    return made


def _legend(made: figure, entries: dict[str, list[GlyphRenderer]]) -> None:
    """Above the plot, so that times stay below each other; a click hides an entry."""
    if not 1 < len(entries) <= _MOST_LEGEND:
        return
    items = [LegendItem(label={"value": name}, renderers=drawn) for name, drawn in entries.items()]
    legend = Legend(items=items, orientation="horizontal", click_policy="hide", border_line_color=None)
    legend.label_text_font_size, legend.padding, legend.margin, legend.spacing = "11px", 0, 2, 12
    legend.background_fill_alpha = 0.0
    made.add_layout(legend, "above")


def _axes(made: figure, panel: Panel) -> None:
    made.xaxis.axis_label = panel.x_label or "time from the first state [s]"
    if panel.y_label:
        made.yaxis.axis_label = panel.y_label
    if panel.over_time:
        made.yaxis.fixed_location = None
        made.min_border_left = _LEFT
        made.yaxis.axis_label_standoff = 6
    made.axis.axis_label_text_font_style = "normal"
    made.axis.axis_label_text_font_size = "12px"
    made.axis.major_label_text_font_size = "11px"
    made.outline_line_color = None
    made.background_fill_alpha = made.border_fill_alpha = 0.0
    if panel.rows:
        made.ygrid.visible = False
