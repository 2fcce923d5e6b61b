"""What the commands print on."""

from __future__ import annotations

from typing import Any

from rich.console import Console

_UNBROKEN = 100_000  # columns


def console(**options: Any) -> Console:
    """A console as wide as the terminal; into a pipe or a file nothing is wrapped, so that lines and names stay whole
    for grep, and for the next program."""
    made = Console(**options)
    return made if made.is_terminal else Console(width=_UNBROKEN, **options)
