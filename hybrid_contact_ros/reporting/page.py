"""``write_report``: a result as one HTML file that opens without a network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.embed import components
from bokeh.plotting import figure
from bokeh.resources import Resources

from hybrid_contact_ros.reporting.body import report_body, title
from hybrid_contact_ros.reporting.decimation import Window
from hybrid_contact_ros.reporting.events import foretold
from hybrid_contact_ros.reporting.headline import headline
from hybrid_contact_ros.reporting.impacts import impacts as observed
from hybrid_contact_ros.reporting.mistakes import Mistake, mistakes
from hybrid_contact_ros.reporting.panels import Band, Line, Panel
from hybrid_contact_ros.reporting.plane_plots import impact_data, plane_plots, worst_first
from hybrid_contact_ros.reporting.plots import Plots
from hybrid_contact_ros.reporting.record import Record, Tables
from hybrid_contact_ros.reporting.score_panels import score_panels
from hybrid_contact_ros.reporting.script import PAGE
from hybrid_contact_ros.reporting.style import STYLE
from hybrid_contact_ros.reporting.time_panels import time_panels

_POINTS = 300_000  # of all lines and bands: 8 bytes each and a third more as text are 3.2 MB
_WHOLE_SHARE = 0.3  # of them, at most, for windows in which all is kept
_FEWEST_COLUMNS = 400

# Nothing may be loaded from anywhere, whatever a text in the page says. Bokeh makes functions of texts.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:"
)


def write_report(path: str | Path, summary: Mapping[str, Any], tables: Tables) -> Path:
    """Write the report of a result (docs/reports.md). A file that is there is replaced, once the new one is whole.

    Args:
        path: of the HTML file. summary, tables: of the result file.

    Raises:
        ValueError: the result holds no state.
        OSError: the file cannot be written there.
    """
    path = Path(path)
    text = page(Record(summary, tables))
    with NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8") as out:
        temporary = Path(out.name)
        try:
            out.write(text)
        except BaseException:
            temporary.unlink()
            raise
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o666 & ~umask)
    temporary.replace(path)
    return path


def page(record: Record) -> str:
    """The HTML of a report."""
    events, impacts = foretold(record), observed(record)
    worst = mistakes(record, events, impacts)
    over_time = time_panels(record, events, impacts)
    scores = score_panels(record, events)
    columns, whole = _budget(record, worst, over_time)
    plots = Plots(record.end, columns, whole)
    drawn: dict[str, figure] = {"overview": plots.overview(over_time[0])}
    drawn |= {one.key: plots.plot(one) for one in (*over_time, *scores) if not one.empty}
    if with_planes := worst_first(impacts):
        drawn |= {f"plane{k}": made for k, made in enumerate(plane_plots(with_planes[0]))}
    plots.follow()
    document = Document()
    with document.models.freeze():  # otherwise all plots are searched for shared models after each one
        for one in drawn.values():
            document.add_root(one)
    script, divs = components(drawn)
    body = report_body(record, headline(record, impacts), worst, over_time, scores, divs)
    library = Resources(mode="inline", components=["bokeh"]).render_js()
    data = f"<script type='application/json' id='impact-data'>{impact_data(impacts)}</script>"
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<meta http-equiv='Content-Security-Policy' content=\"{_POLICY}\">"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title(record))}</title><style>{STYLE}</style>{library}</head>\n"
        f"<body><main>{body}</main>\n{data}\n{script}\n<script>{PAGE}</script></body></html>\n"
    )


def _budget(record: Record, worst: list[Mistake], panels: list[Panel]) -> tuple[int, list[Window]]:
    """Columns for which lines are kept, and the windows in which they are kept whole: the worst mistakes first."""
    items = [item for panel in panels for item in panel.items]
    series = max(1, sum(isinstance(x, Line) for x in items) + 2 * sum(isinstance(x, Band) for x in items))
    left = _WHOLE_SHARE * _POINTS / series
    windows: list[Window] = []
    for one in worst:
        begin, end = one.window
        inside = float(np.sum((record.t >= begin) & (record.t <= end)))
        if inside <= left:
            windows.append((begin, end))
            left -= inside
    return max(_FEWEST_COLUMNS, int((1.0 - _WHOLE_SHARE) * _POINTS / (4 * series))), windows
