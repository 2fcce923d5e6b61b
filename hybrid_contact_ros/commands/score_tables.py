"""The summary of a result as tables for a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hybrid_contact_ros.commands.report import faults_table


def show_result(summary: dict[str, Any], console: Console) -> None:
    """Print what a result says: of what, how it was read, scores, self-consistency and latency."""
    who = summary.get("estimate") or f"{summary['robot']}, version {summary['package_version']}"
    console.print(f"[bold]{summary['states']}[/] states of {summary['duration']:.2f} s: {who}", highlight=False)
    for warning in summary["warnings"]:
        console.print(Text("warning: ", style="yellow").append(warning, style="default"), soft_wrap=True)
    if summary["damage"] is not None:
        line = Text("read as far as it goes: ", style="bold red")
        console.print(line.append(summary["damage"], style="not bold default"), soft_wrap=True)
    if summary.get("faults"):
        console.print(faults_table(summary["faults"], summary["last_fault"]))
    scores = summary["scores"]
    if scores is not None:
        if scores["contacts"]:
            console.print(_modes(scores))
            rattles = scores.get("chatter", 0)
            title = "events against the truth" + (f" ({rattles} changes of it were chatter)" if rattles else "")
            console.print(_events(scores, title))
        if scores["calibration"]:
            console.print(_reliability(scores))
        if scores["impacts"]["true"]:
            console.print(_impacts(scores["impacts"]))
    own = summary["self_consistency"]
    if own is not None:
        title = f"events against what was seen later: {own['events']} events, {own['chatter']} changes were chatter"
        console.print(_events(own, title))
    latency = summary.get("latency")
    if latency is not None and latency["compute"]["p50"] is not None:
        told = ", ".join(f"{key} {_us(value)}" for key, value in latency["compute"].items())
        console.print(f"time of the estimator for a state: {told}", highlight=False)


def _modes(scores: dict[str, Any]) -> Table:
    table = Table("contact", "F1", "accuracy", title=f"contact mode, {scores['states']} states with a truth")
    for name, c in [*scores["contacts"].items(), ("all", scores)]:
        table.add_row(name, _share(c["f1"]), _share(c["accuracy"]))
    return table


def _events(scores: dict[str, Any], title: str) -> Table:
    table = Table(
        "event", "ahead", "true", "missed", "false", "median", "p95", "bias", "in bounds", "their width", title=title
    )
    for kind in ("touchdown", "liftoff"):
        bounds = {x["horizon"]: x for x in scores.get(f"{kind}_bounds", [])}
        for x in scores[kind]:
            held = bounds.get(x["horizon"])
            told = [f"{held['inside']} of {held['events']}", _ms(held["width_median"])] if held else ["-", "-"]
            errors = [_ms(x[f"error_{name}"]) for name in ("median", "p95", "bias")]
            table.add_row(
                kind,
                f"{x['horizon'] * 1e3:.0f} ms",
                *(str(x[n]) for n in ("events", "missed", "false")),
                *errors,
                *told,
            )
        delay = scores.get(f"{kind}_delay")
        if delay is not None:
            counts = (str(delay["events"]), str(delay["undetected"]), str(delay["false"]))
            table.add_row(f"{kind} seen", "", *counts, _ms(delay["median"]), _ms(delay["p95"]), "", "", "")
    return table


def _reliability(scores: dict[str, Any]) -> Table:
    table = Table("probability", "states", "mean", "came true", title=f"closed: Brier score {scores['brier']:.4f}")
    for b in scores["calibration"]:
        span = f"{b['low']:.1f} - {b['high']:.1f}"
        table.add_row(span, str(b["count"]), f"{b['mean_probability']:.3f}", f"{b['frequency']:.3f}")
    return table


def _impacts(impacts: dict[str, Any]) -> Table:
    count = impacts["with_set"]
    table = Table("observed outcome", "", title=f"{impacts['true']} known impacts, {count} with a predicted set")
    if count:
        for part in (5, 10, 15):
            table.add_row(f"within {part}% of the jump of the set", f"{impacts[f'contained_{part}'] / count:.1%}")
        table.add_row("inside the outer bounds", f"{impacts['within_bounds'] / count:.1%}")
        table.add_row("distance to the set, median", f"{impacts['distance_median']:.1%} of the jump")
        table.add_row("radius of the set, median", f"{impacts['radius_median']:.1%} of the jump")
    return table


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value * 1e3:.1f} ms"


def _us(value: float) -> str:
    return f"{value * 1e6:.0f} us"
