"""The console that commands print on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

_UNBROKEN = 100_000  # columns; no line is longer
_PATIENT = 5.0  # s


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, because rich's own exit code 1 means something else here."""
        raise BrokenPipeError


def console(**options: Any) -> Console:
    """A console as wide as the terminal. Into a pipe or a file nothing is wrapped, so that lines and names stay whole
    for the next program."""
    made = _Console(**options)
    return made if made.is_terminal else _Console(width=_UNBROKEN, **options)


@contextmanager
def compiling() -> Iterator[Timer]:
    """Say on stderr that kernels are being compiled, where nothing was heard for some seconds. Whoever hears of
    progress cancels the timer."""
    said = "compiling kernels: once on a machine, half a minute to some minutes\n"
    timer = Timer(_PATIENT, sys.stderr.write, (said,))
    timer.daemon = True
    timer.start()
    try:
        yield timer
    finally:
        timer.cancel()


@contextmanager
def following(what: str, console: Console) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal for what is to be told how much of all is done, after a word on kernels that are compiled
    before anything is heard."""
    columns = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    shown = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with shown as bar, compiling() as patience:
        task = bar.add_task(what, total=None)

        def progress(done: int, total: int) -> None:
            patience.cancel()
            bar.update(task, completed=done, total=total)

        yield progress
