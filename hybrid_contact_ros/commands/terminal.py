"""The console that commands print on."""

from __future__ import annotations

from typing import Any

from rich.console import Console

_UNBROKEN = 100_000  # columns; no line is longer


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, because rich's own exit code 1 means something else here."""
        raise BrokenPipeError


def console(**options: Any) -> Console:
    """A console as wide as the terminal. Into a pipe or a file nothing is wrapped, so that lines and names stay whole
    for the next program."""
    made = _Console(**options)
    return made if made.is_terminal else _Console(width=_UNBROKEN, **options)
