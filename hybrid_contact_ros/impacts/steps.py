"""A computation in short steps, between which its thread can let others go first.

Only one thread of a process runs Python at a time. A set of velocities takes some hundred microseconds of Python around
its kernels, and a state that comes meanwhile would wait for them. The set is therefore computed by a generator, which
stops at each ``yield``. Whoever must not be in the way of others pauses there; everybody else uses
:func:`without_pauses`, and both get the same bits.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
Steps = Generator[bool, None, T]
"""Yields SHORT or LONG before each step but the first, which is short; returns the result."""

SHORT = False
"""The next step is short, and most of it is Python."""
LONG = True
"""The next step may be long, and nearly all of it is one kernel, which releases Python's lock."""


def without_pauses(steps: Steps[T]) -> T:
    """The result of a computation, at once.

    >>> def count():
    ...     yield SHORT
    ...     return 3
    >>> without_pauses(count())
    3
    """
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
