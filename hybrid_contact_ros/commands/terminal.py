"""What the commands print on."""

from __future__ import annotations

from typing import Any

from rich.console import Console

_UNBROKEN = 100_000  # columns


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Not rich's exit code 1, which means something else: the command line knows what to do."""
        raise BrokenPipeError


def console(**options: Any) -> Console:
    """A console as wide as the terminal; into a pipe or a file nothing is wrapped, so that lines and names stay whole
    for grep, and for the next program."""
    made = _Console(**options)
    return made if made.is_terminal else _Console(width=_UNBROKEN, **options)
