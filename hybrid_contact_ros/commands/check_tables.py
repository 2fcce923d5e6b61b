"""What ``hybrid-contact check`` saw, printed."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

ERROR = "error"
_WIDEST = 100_000  # columns, in which any table fits


def show(seen: dict[str, Any], out: Console, explained: bool = False) -> None:
    """Print what was seen. Names are never broken: where a table is too wide, each contact gets lines of its own.

    ``explained``: also what stands behind each finding.
    """
    count = "1 contact" if len(seen["contacts"]) == 1 else f"{len(seen['contacts'])} contacts"
    base = "floating base" if seen["floating_base"] else "fixed base"
    text = Text(seen["robot"], style="bold")
    text.append(
        f": {base}, {seen['nv']} velocity coordinates (nq {seen['nq']}), {len(seen['joints'])} joints, "
        f"{seen['mass']:.4g} kg, {count}, hash {seen['model_hash']:#018x}",
        style="not bold",
    )
    out.print(text)
    out.print(Text(f"joints: {', '.join(seen['joints']) or 'none'}"))
    if seen["contacts"]:
        table = _table(seen)
        if out.measure(table, options=out.options.update(width=_WIDEST)).maximum <= out.width:
            out.print(table)
        else:
            out.print("contacts at the neutral configuration")
            for contact in seen["contacts"]:
                out.print(_block(contact, seen))
        out.print("mu: friction, e: restitution, felt: the mass that a push along the normal meets", highlight=False)
    for found in seen["findings"]:
        line = Text(f"{found['level']}: ", style="red" if found["level"] == ERROR else "yellow")
        line.append(found["text"], style="default")
        if found["detail"] and not explained:
            line.append(" (--explain tells more)", style="dim")
        out.print(line)
        if found["detail"] and explained:
            out.print(Text("\n".join(f"  {each}" for each in found["detail"].splitlines())))


def _columns(seen: dict[str, Any]) -> tuple[str, ...]:
    """The titles of the numbers. A robot that floats is nowhere yet: there heights count from the lowest contact."""
    return ("position m", "normal", "above lowest m" if seen["floating_base"] else "gap m", "mu", "e", "felt kg")


def _numbers(contact: dict[str, Any], seen: dict[str, Any]) -> tuple[str, ...]:
    """The texts in these columns."""
    mass = contact["effective_mass"]
    lowest = min(each["gap"] for each in seen["contacts"]) if seen["floating_base"] else 0.0
    return (
        " ".join(f"{x:.3f}" for x in contact["position"]),
        " ".join(f"{x:.2g}" for x in contact["normal"]),
        f"{contact['gap'] - lowest:.4f}",
        f"{contact['friction']:.3g}",
        f"{contact['restitution']:.3g}",
        "-" if mass is None else f"{mass:.4g}",
    )


def _table(seen: dict[str, Any]) -> Table:
    table = Table(
        title="contacts at the neutral configuration", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    for column in ("contact", "frame"):
        table.add_column(column, no_wrap=True)
    for column in _columns(seen):
        table.add_column(column, justify="right", no_wrap=True)
    for contact in seen["contacts"]:
        table.add_row(Text(contact["name"]), Text(contact["frame"]), *_numbers(contact, seen))
    return table


def _block(contact: dict[str, Any], seen: dict[str, Any]) -> Text:
    numbers = ", ".join(
        f"{name} {number}" for name, number in zip(_columns(seen), _numbers(contact, seen), strict=True)
    )
    text = Text(contact["name"], style="bold")
    return text.append(f" (frame {contact['frame']})\n  {numbers}", style="not bold")
