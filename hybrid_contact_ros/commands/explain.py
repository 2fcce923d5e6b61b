"""``hybrid-contact check --explain``: every parameter with the value that a configuration gives it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.parameter_table import Row, rows, written


def explain(config: EstimatorConfig, word: str) -> list[dict[str, Any]]:
    """Each parameter of the estimator as a mapping: the fields of :class:`~hybrid_contact_ros.parameter_table.Row`, and
    the ``value`` that the configuration gives it.

    Args:
        word: only parameters that have it in their name or their meaning, capital letters or not; empty for all.

    Raises:
        ValueError: no parameter has the word.
    """
    found = [
        asdict(row) | {"name": name, "value": value}
        for row in rows()
        for name, value in _values(config, row)
        if word.lower() in f"{name} {row.text}".lower()
    ]
    if not found:
        raise ValueError(f"no parameter has {word!r} in its name or its meaning; without a word all are printed")
    return found


def show_parameters(explained: list[dict[str, Any]], out: Console) -> None:
    """Print them, a parameter a paragraph; a value that is not the default stands out, with the default beside it."""
    for each in explained:
        line = Text(each["name"], style="bold")
        changed = each["value"] != each["default"]
        line.append(f": {written(each['value'])}", style="green" if changed else "not bold")
        unit = "" if each["unit"] in ("-", "text") else f" {each['unit']}"
        line.append(unit, style="not bold")
        notes = [f"default {written(each['default'])}"] if changed else []
        if each["low"] is not None and each["high"] is not None:
            notes.append(f"{each['low']:g} … {each['high']:g}")
        line.append(f" ({'; '.join(notes)})" if notes else "", style="not bold dim")
        out.print(line.append(f"\n  {each['text']}", style="not bold"), highlight=False)


def _values(config: EstimatorConfig, row: Row) -> Iterator[tuple[str, Any]]:
    """The names that a row stands for, with their values; none for a parameter of the nodes alone."""
    first, *rest = row.name.split(".")
    if not hasattr(config, first):
        return
    if rest[:1] == ["NAME"]:
        for name, entry in getattr(config, first).items():
            yield f"{first}.{name}.{rest[1]}", getattr(entry, rest[1])
    else:
        value = getattr(config, first)
        yield row.name, getattr(value, rest[0]) if rest else value
