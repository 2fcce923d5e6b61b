"""The sections of the page as HTML. Every text that comes from a recording or a file is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from hybrid_contact_ros.reporting.facts import facts
from hybrid_contact_ros.reporting.mistakes import Mistake
from hybrid_contact_ros.reporting.panels import Panel
from hybrid_contact_ros.reporting.record import Record

_HELP = "Drag the window or its edges; drag a plot to move, Ctrl + wheel to zoom; a click on a legend hides its lines."


def title(record: Record) -> str:
    """Of the page."""
    robot, bag = record.summary.get("robot"), str(record.summary.get("bag") or "a recording")
    name = bag.rstrip("/").rpartition("/")[2]
    return f"{robot}: {name}" if robot else name


def report_body(
    record: Record,
    said: list[str],
    worst: list[Mistake],
    over_time: list[Panel],
    scores: list[Panel],
    divs: Mapping[str, str],
) -> str:
    """All that is seen.

    Args:
        said: the headline's sentences. over_time, scores: panels. divs: where Bokeh draws each plot, by its key.
    """
    impacts = next((panel.empty for panel in over_time if panel.key == "impacts"), "")
    return "\n".join(
        (
            f"<header><h1>{escape(title(record))}</h1><button id='theme' type='button'>light / dark</button></header>",
            "<noscript>The plots of this page need JavaScript, which comes with it.</noscript>",
            f"<section class='card'><ul class='head'>{''.join(f'<li>{escape(x)}</li>' for x in said)}</ul></section>",
            f"<section class='card'><h2>What went wrong first</h2>{_worst(record, worst)}</section>",
            f"<div id='bar'>{divs['overview']}<div class='soft'><span id='window'></span>"
            f"<button type='button' data-begin='0' data-end='{max(record.end, 1e-3)!r}'>whole recording</button>"
            f"<span>{_HELP}</span></div></div>",
            *(_figure(panel, divs) for panel in over_time),
            "<h2 class='part'>Impacts and the sets that were predicted for them</h2>",
            _planes(divs, impacts),
            "<h2 class='part'>Scores</h2>",
            f"<div class='two'>{''.join(_figure(panel, divs) for panel in scores)}</div>",
            facts(record),
        )
    )


def _worst(record: Record, worst: list[Mistake]) -> str:
    if not worst:
        why = record.without_truth
        known = f" Whether contacts were right is not known: {why}." if why else ""
        return f"<p class='empty'>Nothing was found.{escape(known)}</p>"
    made = []
    for one in worst:
        share = f"the worst of {one.alike} like it" if one.alike > 1 else ""
        begin, end = one.window
        made.append(
            f"<li><button type='button' data-begin='{begin!r}' data-end='{end!r}' data-{one.kind}='{one.begin!r}'>"
            f"<span class='at'>{one.begin:.3f} s</span><span class='kind'>{one.kind}</span>{escape(one.text)} "
            f"<span class='soft'>{share}</span></button></li>"
        )
    return f"<ol class='worst'>{''.join(made)}</ol>"


def _figure(panel: Panel, divs: Mapping[str, str]) -> str:
    inside = divs.get(panel.key) or f"<p class='empty'>Nothing to draw: {escape(panel.empty)}.</p>"
    caption = f"<figcaption>{escape(panel.caption)}</figcaption>" if panel.caption else ""
    return f"<figure id='{panel.key}-panel'><h3>{escape(panel.title)}</h3>{caption}{inside}</figure>"


def _planes(divs: Mapping[str, str], empty: str) -> str:
    if "plane0" not in divs:
        why = escape(empty or "no observed impact had a predicted set")
        return f"<figure id='sets-panel'><p class='empty'>Nothing to draw: {why}.</p></figure>"
    choose = (
        "<p><button id='impact-before' type='button'>‹</button> <select id='impact'></select> "
        "<button id='impact-next' type='button'>›</button> <span class='soft' id='impact-said'></span></p>"
    )
    caption = (
        "The predicted set in those coordinates of the velocity that the impact changed most, of the base and of the "
        "joints, the worst impact first: all velocities that the robot may leave with, beside those before the impact, "
        "with all contacts resolved at once, and as observed. The outline is the hull of the outcomes that the result "
        "keeps, without the set's margin; it is no confidence region."
    )
    planes = "".join(f"<div>{divs[key]}</div>" for key in ("plane0", "plane1") if key in divs)
    return f"<figure id='sets-panel'>{choose}<figcaption>{caption}</figcaption><div class='two'>{planes}</div></figure>"
