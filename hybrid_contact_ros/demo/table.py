"""The live table of the demo and the summary at its end, for a terminal."""

from __future__ import annotations

from math import isfinite
from statistics import median
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

_PARTS = (0.05, 0.10)  # of the jump to the nominal outcome
_STYLE = {
    "open": "cyan",
    "sticking": "green",
    "slipping": "yellow",
    "holds": "green",
    "fails": "red",
    "undecided": "dim",
    "unknown": "dim",
}


def live_table(snapshot: dict[str, Any]) -> RenderableType:
    """A snapshot of :class:`~hybrid_contact_ros.demo.record.DemoRecord` as a table. Values may be missing or NaN."""
    table = Table(title=f"{snapshot['seconds']:.1f} s, {snapshot['predictions']} predictions", expand=False)
    for column in ("foot", "mode", "true", "force", "true", "gap", "next", "in", "stability", "friction"):
        table.add_column(column, justify="right" if column in ("force", "gap", "in") else "left", min_width=6)
    for row in snapshot["contacts"]:
        table.add_row(
            row["name"],
            _word(row.get("mode")),
            _word(row.get("true")),
            _number(row.get("force"), "{:.0f} N"),
            _number(row.get("true_force"), "{:.0f} N"),
            _number(row.get("gap"), "{:.1f} mm", 1e3),
            row.get("event") or "",
            _number(row.get("time"), "{:.0f} ms", 1e3),
            _word(row.get("stability")),
            _word(row.get("friction")),
        )
    pairs = ", ".join("–".join(pair) for pair in snapshot["order_sensitive"]) or "none"
    lines: list[RenderableType] = [table, Text(f"order of impact matters for: {pairs}")]
    lines += [Text(_landing(landing)) for landing in snapshot["landings"][-4:]]
    p50, p99 = snapshot["latency_p50"], snapshot["latency_p99"]
    quantiles = f"p50 {_number(p50, '{:.2f} ms', 1e3)}, p99 {_number(p99, '{:.2f} ms', 1e3)}"
    lines.append(Text(f"latency, stamp to received: {quantiles}"))
    return Group(*lines)


def line(snapshot: dict[str, Any]) -> str:
    """A snapshot in one line, for an output that is no terminal."""
    feet = " ".join(f"{row['name']}={row.get('mode', 'unknown')}" for row in snapshot["contacts"])
    return (
        f"{snapshot['seconds']:5.1f} s  {snapshot['predictions']:6d} predictions  {feet}  "
        f"latency p50 {_number(snapshot['latency_p50'], '{:.2f} ms', 1e3)}"
    )


def echo_line(summary: dict[str, Any]) -> str:
    """What a demo with the echo node in place of the suite says at its end."""
    sent = summary.get("robot", {}).get("cycles", 0)
    share = f"{100.0 * summary['predictions'] / sent:.1f} % of {sent}" if sent else f"{summary['predictions']}"
    quantiles = ", ".join(f"{name} {_number(value, '{:.2f} ms', 1e3)}" for name, value in summary["latency"].items())
    return f"echoed {share} states; latency, stamp to received: {quantiles}"


def summary_table(summary: dict[str, Any]) -> RenderableType:
    """The summary at the end."""
    latency, scores = summary["latency"], summary["scores"]
    table = Table("", "", title="what the predictions were worth", show_header=False)
    sent = summary.get("robot", {}).get("cycles", 0)  # latencies are of answered states only, so the share is told too
    share = f" of {sent} states ({100.0 * summary['predictions'] / sent:.1f} %)" if sent else ""
    table.add_row("predictions", f"{summary['predictions']}{share} in {summary['seconds']:.1f} s")
    quantiles = ", ".join(f"{name} {_number(value, '{:.2f} ms', 1e3)}" for name, value in latency.items())
    table.add_row("latency, stamp to received", quantiles)
    if scores is not None:
        table.add_row("contact mode against the simulator", f"F1 {_number(scores['f1'], '{:.4f}')}, accuracy "
                      f"{_number(scores['accuracy'], '{:.4f}')} over {scores['states']} states")  # fmt: skip
        for timing in scores["touchdown"]:
            table.add_row(
                f"touchdown time, {1e3 * timing['horizon']:.0f} ms ahead",
                f"median error {_number(timing['error_median'], '{:.1f} ms', 1e3)}, "
                f"p95 {_number(timing['error_p95'], '{:.1f} ms', 1e3)}, missed {timing['missed']} of "
                f"{timing['events']}, false {timing['false']}",
            )
    robot = summary.get("robot", {})
    if robot.get("pauses"):
        table.add_row(
            "simulator, too slow on this machine",
            f"{robot['pauses']} pauses of the robot's clock, {robot['paused']:.1f} s in all, count against the scores",
        )
    told = [landing for landing in summary["landings"] if landing["outcomes"]]
    if told:
        table.add_row("landings, truth within 5 % / 10 % of the jump of the set", _contained(told))
    for landing in summary["landings"]:
        table.add_row("landing", _landing(landing).removeprefix("landing, "))
    return table


def _landing(landing: dict[str, Any]) -> str:
    feet = f"{len(landing['feet'])} feet"
    if not landing["outcomes"]:
        return f"landing, {feet}: no set was predicted"
    within = next((f"within {part:.0%}" for part in _PARTS if landing["distance"] <= part), "not within 10%")
    return (
        f"landing, {feet}: truth {within} of the jump of the set ({landing['distance']:.1%}), which has radius "
        f"{landing['radius']:.0%}, half-width {landing['half_width']:.1%}; {landing['nominal_distance']:.0%} from the "
        f"single outcome; {landing['outcomes']} outcomes"
    )


def _contained(landings: list[dict[str, Any]]) -> str:
    """How many of the landings their sets hold, and how large the sets are (medians)."""
    held = " / ".join(str(sum(landing["distance"] <= part for landing in landings)) for part in _PARTS)
    radius, width = (median(landing[size] for landing in landings) for size in ("radius", "half_width"))
    return f"{held} of {len(landings)}; radius {radius:.1%}, half-width {width:.1%} of the jump (medians)"


def _word(word: str | None) -> Text:
    return Text(word or "", style=_STYLE.get(word or "", ""))


def _number(value: float | None, form: str, scale: float = 1.0) -> str:
    return form.format(scale * value) if value is not None and isfinite(value) else "–"
