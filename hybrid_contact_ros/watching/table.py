"""Tables and lines of watched robots for a plain terminal of 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hybrid_contact_ros.messages.refusals import ADVICE, REASONS, USED

COLUMNS = 80
"""What a table needs; a wider terminal shows longer names."""
_REST = 69  # columns of a table without the names of the contacts
SILENT = 1.0
"""s without a contact mode after which a robot is called silent."""
_FAULTS = 4  # kinds of refused inputs that are shown
_STYLE = {
    "open": "cyan", "sticking": "green", "slipping": "yellow", "holds": "green", "fails": "red",
    "OK": "green", "WARN": "yellow", "ERROR": "red", "STALE": "red",
}  # fmt: skip
LEGEND = (
    "P: probability of contact, ? not calibrated · force: normal, ~ of the observer, not of the model · trust: in "
    "the efforts · next: ms, [bounds], ? not calibrated"
)


def robots(snapshots: list[dict[str, Any]], width: int, height: int) -> RenderableType:
    """All robots: as many whole tables as the terminal is high, and one line each for the others."""
    parts: list[RenderableType] = []
    left = height - 3 - len(snapshots)  # of rows; a line each is reserved, and the legend
    folded = []
    for snapshot in snapshots:
        rows = _rows(snapshot, width)
        if rows <= left or not parts:
            parts.append(robot(snapshot, width))
            left -= rows
        else:
            folded.append(snapshot)
    parts += [Text(line(snapshot), no_wrap=True, overflow="ellipsis") for snapshot in folded]
    if folded:
        parts.append(Text(f"{len(folded)} more robots, a line each; --namespace shows one whole", style="dim"))
    parts.append(Text(LEGEND, style="dim"))
    return Group(*parts)


def robot(snapshot: dict[str, Any], width: int = COLUMNS) -> RenderableType:
    """One snapshot of :meth:`~.robot.WatchedRobot.snapshot`."""
    silent = snapshot["silent"] is None or snapshot["silent"] > SILENT
    parts: list[RenderableType] = [Text(_title(snapshot), style="bold red" if silent else "bold")]
    if snapshot["fault"]:
        parts.append(Text(snapshot["fault"], style="red"))
    if snapshot["contacts"]:
        parts.append(_contacts(snapshot["contacts"], width, dim=silent))
    parts += [Text(text) for text in _ahead(snapshot)]
    for node in snapshot["nodes"]:
        parts += _node(node)
    if not snapshot["nodes"]:
        parts.append(Text("no diagnostics heard from its nodes", style="dim"))
    return Group(*parts, Text(""))


def line(snapshot: dict[str, Any]) -> str:
    """A snapshot in one line, for an output that is no terminal."""
    feet = " ".join(f"{row['name']}={row['mode']}" for row in snapshot["contacts"])
    said = "; ".join(f"{node['level']} {node['message']}" for node in snapshot["nodes"] if node["level"] != "OK")
    refused = [text for node in snapshot["nodes"] for text in _refused(node)]
    parts = [_title(snapshot), feet, snapshot["fault"], said, "; ".join(refused)]
    return "  ".join(part for part in parts if part)


def _rows(snapshot: dict[str, Any], width: int) -> int:
    """How many rows the table of a robot takes, long sentences broken."""
    texts = [_title(snapshot), snapshot["fault"], *_ahead(snapshot)]
    for node in snapshot["nodes"]:
        texts += [text.plain for text in _node(node)]
    contacts = len(snapshot["contacts"])
    return 2 + contacts + bool(contacts) + sum(1 + len(text) // max(width, 1) for text in texts if text)


def _title(snapshot: dict[str, Any]) -> str:
    name = snapshot["namespace"]
    if snapshot["silent"] is None:
        return f"{name}  no contact mode heard"
    if snapshot["silent"] > SILENT:
        return f"{name}  silent for {snapshot['silent']:.0f} s, after {snapshot['predictions']} predictions"
    if snapshot["other_clock"]:
        latency = "its stamps are of another clock"
    else:
        p50, p99 = (_number(snapshot[key], "{:.1f}", 1e3) for key in ("latency_p50", "latency_p99"))
        latency = f"latency {p50} ms, p99 {p99}"
    compute = _number(snapshot.get("compute"), "{:.2f} ms", 1e3)
    return f"{name}  {snapshot['rate']:.0f} Hz  {latency}  compute {compute}"


def _contacts(rows: list[dict[str, Any]], width: int, dim: bool) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, style="dim" if dim else "", header_style="dim")
    names = min(max(len(row["name"]) for row in rows), max(width - _REST, 8))
    table.add_column("contact", no_wrap=True, overflow="ellipsis", width=max(names, 7))
    for column, size, side in (
        ("mode", 8, "left"), ("P", 5, "right"), ("force", 7, "right"), ("trust", 5, "right"), ("gap mm", 6, "right"),
        ("next", 19, "left"), ("stable", 6, "left"), ("flags", 5, "left"),
    ):  # fmt: skip
        table.add_column(column, no_wrap=True, width=size, justify=side)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(
            row["name"],
            _word(row["mode"]),
            _number(row["probability"], "{:.2f}") + ("" if row["probability_valid"] else "?"),
            ("~" if row["force_from"] == "observer" else "") + _number(row["force"], "{:.0f} N"),
            _number(row["trust"], "{:.2f}"),
            _number(row["gap"], "{:.1f}", 1e3),
            _next(row),
            _word(row.get("stability", "")),
            Text(_flags(row), style="red"),
        )
    return table


def _flags(row: dict[str, Any]) -> str:
    """What deserves attention in a letter each: Slip warning, Zeno (chatter), Grazing, outside the friction Cone."""
    letters = (
        ("S", row["slip_warning"]),
        ("Z", row.get("zeno") == "holds"),
        ("G", row.get("grazing") == "holds"),
        ("C", row.get("friction") == "fails"),
    )
    return "".join(letter for letter, on in letters if on)


def _next(row: dict[str, Any]) -> str:
    if not row["event"]:
        return ""
    text = f"{row['event']} {_number(row['time'], '{:.0f}', 1e3)}"
    if row["earliest"] is not None and row["latest"] is not None:
        latest = "∞" if row["latest"] == float("inf") else f"{1e3 * row['latest']:.0f}"
        text += f" [{1e3 * row['earliest']:.0f},{latest}]"
    return text + ("" if row["bounds_valid"] else "?")


def _ahead(snapshot: dict[str, Any]) -> list[str]:
    """What stands under the contacts: warnings in words, what comes, what came."""
    said = []
    for row in snapshot["contacts"]:
        if row["slip_warning"]:
            when = f", within {_number(row['time_to_slip'], '{:.0f} ms', 1e3)}" if row["time_to_slip"] else ""
            said.append(f"S {row['name']} holds nearly all that it can{when}")
        if row.get("zeno") == "holds":
            said.append(f"Z {row['name']} chatters, until {_number(row.get('chatter_end'), '{:.0f} ms', 1e3)} from now")
    if snapshot["order_sensitive"]:
        pairs = ", ".join("–".join(pair) for pair in snapshot["order_sensitive"])
        said.append(f"the order of impact matters for {pairs}")
    impact = snapshot["set"]
    if impact is not None:
        when = _number(impact["in"], "{:.0f} ms", 1e3)
        cut = ", cut by its deadline" if impact["truncated"] else ""
        said.append(f"impact of {', '.join(impact['contacts'])} in {when}: {impact['outcomes']} outcomes{cut}")
    if snapshot["sequence"]:
        steps = (f"{x['event']} {x['contact']} {_number(x['time'], '{:.0f}', 1e3)}" for x in snapshot["sequence"][:4])
        said.append("then, ms: " + ", ".join(steps))
    detected = {key.split()[1]: count for key, count in snapshot["events"].items() if key.startswith("detected")}
    if detected:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(detected.items()))
        said.append(f"detected: {counts}; last {snapshot['last_event']}")
    return said


def _node(node: dict[str, Any]) -> list[Text]:
    """What the diagnostics of a node say; refused inputs with their reasons and what to do."""
    rates = ", ".join(f"{topic} {rate:.0f} Hz" for topic, rate in node["rates"].items())
    answered = _number(_float(node["answered"]), "{:.1f} % answered", 100.0).strip("–")
    first = Text(f"{node['level']} ", style=_STYLE.get(node["level"], ""))
    first.append(f"{node['node']}: {node['message']}", style="")
    told = [first]
    facts = "; ".join(part for part in (rates, answered) if part)
    if facts:
        told.append(Text(f"  {facts}", style="dim"))
    if node["left_out"] not in ("", "nothing"):
        told.append(Text(f"  left out to keep up: {node['left_out']}", style="yellow"))
    told += [Text(f"  {text}", style="yellow") for text in _refused(node)]
    return told


def _refused(node: dict[str, Any]) -> list[str]:
    """Inputs that were refused or odd since the start, the most frequent first, and the last one of all in words."""
    kinds = sorted(node["refused"].items(), key=lambda item: -item[1])
    told = []
    for reason, count in kinds[:_FAULTS]:
        what = "; ".join(text for text in (REASONS.get(reason), ADVICE.get(reason)) if text)
        told.append(f"{count} {'odd' if reason in USED else 'refused'} ({reason}){': ' + what if what else ''}")
    if len(kinds) > _FAULTS:
        told.append(f"and {len(kinds) - _FAULTS} other kinds")
    if told and node["latest_fault"]:
        told.append(f"last: {node['latest_fault'].partition('; ')[0]}")  # behind it stands the advice once more
    return told


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _word(word: str) -> Text:
    return Text(word, style=_STYLE.get(word, "dim"))


def _number(value: float | None, form: str, scale: float = 1.0) -> str:
    return form.format(scale * value) if value is not None and value == value else "–"
