"""What a report says in words and tables: warnings, refused inputs, diagnostics, configuration and hashes. Every text
that comes from a recording or a file is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from hybrid_contact_ros.messages.refusals import ADVICE, REASONS
from hybrid_contact_ros.reporting.record import Record


def facts(record: Record) -> str:
    """The last sections of the page, as HTML."""
    summary = record.summary
    parts = [
        _section("Refused and reported inputs", _faults(summary)),
        _section("Diagnostics and warnings", _diagnostics(summary)),
        _section("What was run", _run(record)),
        _section("Configuration", _configuration(summary)),
    ]
    return "\n".join(parts)


def table(rows: Iterable[tuple[Any, ...]], head: tuple[str, ...] = ()) -> str:
    """Rows of plain texts as an HTML table."""
    made = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    above = "<thead><tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr></thead>" if head else ""
    return f"<div class='wide'><table>{above}<tbody>{made}</tbody></table></div>"


def flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested parameters by their dotted names."""
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            rows += flat(value, f"{name}.")
        else:
            rows.append((name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)))
    return rows


def _section(title: str, inside: str) -> str:
    return f"<section class='card'><h2>{escape(title)}</h2>{inside}</section>"


def _none(text: str) -> str:
    return f"<p class='empty'>{escape(text)}</p>"


def _faults(summary: Mapping[str, Any]) -> str:
    faults = {str(name): count for name, count in (summary.get("faults") or {}).items() if count}
    if not faults:
        return _none("No input was refused or reported.")
    rows = [
        (name, count, REASONS.get(name, ""), ADVICE.get(name, ""))
        for name, count in sorted(faults.items(), key=lambda one: -int(one[1]))
    ]
    last = summary.get("last_fault")
    told = f"<p>The last one: {escape(': '.join(map(str, last)))}</p>" if last else ""
    return table(rows, ("reason", "count", "what it means", "what to do")) + told


def _diagnostics(summary: Mapping[str, Any]) -> str:
    said = [f"The recording is damaged: {summary['damage']}"] if summary.get("damage") else []
    said += [str(x) for x in summary.get("warnings") or ()]
    told = "".join(f"<p class='warn'>{escape(text)}</p>" for text in said)
    diagnostics = summary.get("diagnostics")
    if isinstance(diagnostics, Mapping) and diagnostics:
        told += table(flat(diagnostics))
    elif diagnostics:
        told += table([tuple(one.values()) if isinstance(one, Mapping) else (one,) for one in diagnostics])
    else:
        told += _none("The result has no diagnostics: a replay makes none, a node publishes them on /diagnostics.")
    return told


def _run(record: Record) -> str:
    summary = record.summary
    rows = [
        ("recording", summary.get("bag")),
        ("robot", summary.get("robot")),
        ("truth", record.truth_source or "none"),
    ]
    rows += [("version", summary.get("package_version")), ("format of the result", summary.get("format"))]
    rows += [("contacts", ", ".join(record.contacts)), ("first state, ns", record.start_ns)]
    rows += flat(summary.get("hashes") or {}, "hash of ")
    rows += [(f"truth's {name}", ", ".join(record.contacts[i] for i in members)) for name, members in record.groups]
    return table([(name, "not told" if value in (None, "") else value) for name, value in rows])


def _configuration(summary: Mapping[str, Any]) -> str:
    values = flat(summary.get("configuration") or {})
    if not values:
        return _none("The result file does not hold the configuration.")
    return f"<details><summary>{len(values)} parameters, as they were run</summary>{table(values)}</details>"
