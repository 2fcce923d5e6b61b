"""The console that commands print on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
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
def compiling() -> Iterator[None]:
    """Say on stderr that kernels are being compiled, where nothing was heard for some seconds."""
    said = "compiling kernels: once on a machine, half a minute to some minutes\n"
    timer = Timer(_PATIENT, sys.stderr.write, (said,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Following:
    """How far a command is, on a bar of a terminal; into a pipe or a file, a line on stderr now and then while kernels
    are compiled."""

    def __init__(self, what: str, bar: Progress) -> None:
        self._what, self._bar = what, bar
        self._task = bar.add_task(what, total=None)
        self._begun, self._silence = time.monotonic(), _PATIENT

    def progress(self, done: int, total: int) -> None:
        """So much of all is done."""
        self._bar.update(self._task, description=self._what, completed=done, total=total)

    def compiling(self, sentence: str) -> None:
        """What is left to compile, in words, every few seconds."""
        if not self._bar.disable:
            self._bar.update(self._task, description=sentence)
        elif time.monotonic() - self._begun >= self._silence:
            self._silence *= 2.0
            sys.stderr.write(sentence + "\n")


@contextmanager
def following(what: str, console: Console) -> Iterator[Following]:
    """Follow a command that is to be told how much of all is done, and what is left to compile before that."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield Following(what, bar)
