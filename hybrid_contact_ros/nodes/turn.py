"""Who runs Python next: the thread of the states, or one beside it."""

from __future__ import annotations

import threading
import time
from types import TracebackType

_AGAIN = 2e-5  # s; until the thread of the states, which waits, has taken its turn


class Turn:
    """A lock in which one thread goes first: ``with turn:`` for it, ``with turn.last:`` for the others.

    A thread that comes back from a kernel takes Python's lock from whoever has it. If a set and a state were computed
    at the same time, the state would be interrupted after each of its kernels. With a turn it waits once at most, for a
    step that has begun. A plain lock would not do: who has just released it gets it again before the thread that
    waits for it has woken up.

    Attributes:
        waited_ns: for how long the first thread waited for others, in all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = False
        self.waited_ns = 0
        self.last = _Last(self)

    def __enter__(self) -> None:
        if self._lock.acquire(blocking=False):
            return
        begin = time.perf_counter_ns()
        self._wanted = True
        self._lock.acquire()
        self._wanted = False
        self.waited_ns += time.perf_counter_ns() - begin

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lock.release()

    def acquire_last(self) -> None:
        """Take the turn when the other thread neither has it nor waits for it."""
        while True:
            self._lock.acquire()
            if not self._wanted:
                return
            self._lock.release()
            time.sleep(_AGAIN)


class _Last:
    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    def __enter__(self) -> None:
        self._turn.acquire_last()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._turn._lock.release()
