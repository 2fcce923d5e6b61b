"""An entry of the gallery: what it shows, its plot, and its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
BLUE, RED, GREY = "#1f77b4", "#d62728", "#bbbbbb"


@dataclass(frozen=True, slots=True)
class Row:
    """A published number and ours, as text."""

    what: str
    published: str
    ours: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One system.

    Attributes:
        name: for the command and the picture's file. title: for people. draw: makes the figure and the rows.
        text: a sentence or two, Markdown.
    """

    name: str
    title: str
    text: str
    draw: Callable[[], tuple[Figure, list[Row]]]


def plain(axes) -> None:
    """No frame at the top and the right."""
    axes.spines[["top", "right"]].set_visible(False)


def markdown(entry: Entry, rows: list[Row]) -> str:
    """The entry's part of docs/gallery.md."""
    lines = [f"## {entry.title}", "", entry.text, "", f"`./run gallery {entry.name}`", ""]
    lines += [f"![{entry.title}](images/gallery_{entry.name}.png)", ""]
    if rows:
        lines += ["| | published | ours |", "|---|---|---|"]
        lines += [f"| {row.what} | {row.published} | {row.ours} |" for row in rows]
        lines.append("")
    return "\n".join(lines)
