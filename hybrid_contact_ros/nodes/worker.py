"""A thread beside the stream of states, which computes what is ahead of the newest of them."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Generic, NamedTuple, Protocol, TypeVar

from hybrid_contact_ros.impacts.steps import LONG, SHORT, Steps
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.nodes.turn import Turn
from hybrid_contact_ros.ros.boundary import protected

# s, before Python is run after a long step. A thread that has computed for so long has used up its share of the
# processor, and the system may give that to another process at any time, for milliseconds where it is busy: if that
# happens while the thread has Python's lock, states wait for all of it. A thread that has slept begins a new share.
_REST = 1e-5
_LONGEST_END = 5.0  # s to wait for a set that is being computed when the node is cleaned up


A = TypeVar("A")
R = TypeVar("R")


class Counter(Protocol):
    """What is told of the results: :class:`~hybrid_contact_ros.monitoring.set_counter.SetCounter`, or less."""

    overtaken: int

    def failed(self, sentence: str) -> None: ...


class Offer(NamedTuple, Generic[A]):
    ahead: A
    arrived: int  # when the last message of its state came, by time.perf_counter_ns
    generation: int


class Worker(ABC, Generic[A, R]):
    """One thread, which computes one result after another, always of the newest state that was offered.

    A state never waits for a result. What that depends on is copied when the state has been answered; of states that
    come meanwhile only the newest is kept. The computation is a generator of steps. While a short one is under way no
    state is answered: both sides take ``turn`` for that long.

    Args:
        node: it is told of the thread, and has its log. turn: of the thread of the states. name: of the thread.
        counter: of the results.
    """

    def __init__(self, node: Host, turn: Turn, name: str, counter: Counter) -> None:
        self.counted, self.logger, self.turn = counter, node.get_logger(), turn
        self._waiting: Offer[A] | None = None
        self._slot, self._publishing = threading.Lock(), threading.Lock()
        self._generation = 0
        self._ended = self._busy = False
        self._asked = threading.Lock()  # free: the thread is yet to look for an offer
        self._asked.acquire()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()
        assert self._thread.native_id is not None
        node.has_thread(self._thread.native_id, sets=True)

    @abstractmethod
    def steps(self, offer: Offer[A]) -> Steps[R | None]:
        """The computation; None where there is nothing to publish."""

    @abstractmethod
    def publish(self, result: R, offer: Offer[A], begun: int) -> None:
        """Publish a result whose computation began then, by time.perf_counter_ns."""

    def prepare(self) -> None:
        """On the thread, before anything else."""

    def offer(self, ahead: A, arrived: int) -> None:
        """What is ahead of this state is the next to be computed, unless a newer state takes its place."""
        with self._slot:
            self.counted.overtaken += self._waiting is not None
            self._waiting = Offer(ahead, arrived, self._generation)

    def go_on(self) -> None:
        """The state has been answered, and Python is free: begin with what was offered."""
        if self._waiting is not None:
            self._ask()

    def drop(self) -> None:
        """Publish nothing of the states that were offered until now."""
        with self._slot:
            self._waiting = None  # the thread, which was asked for it, finds nothing to do
        with self._publishing:
            self._generation += 1

    @property
    def at_rest(self) -> bool:
        """Whether there is nothing to do."""
        return self._asked.locked() and self._waiting is None and not self._busy

    def end(self) -> None:
        """Publish nothing more, and wait for the thread."""
        self.drop()
        self._ended = True
        self._ask()
        self._thread.join(_LONGEST_END)
        if self._thread.is_alive():
            self.logger.warning(f"of {self._thread.name} one is still being computed; it will not be published")

    def _ask(self) -> None:
        """Wake the thread up, in a microsecond or two: states pay for it."""
        with suppress(RuntimeError):  # it was asked and has not looked yet
            self._asked.release()

    def _work(self) -> None:
        """The thread."""
        self._busy = True
        with protected(self.logger, self.counted.failed):
            self.prepare()
        self._busy = False
        while True:
            self._asked.acquire()  # before the slot is looked into: what comes later asks anew
            if self._ended:
                return
            self._busy = True
            self._next()
            self._busy = False

    def _next(self) -> None:
        with self._slot:
            offer, self._waiting = self._waiting, None
        if offer is None:
            return
        with protected(self.logger, self.counted.failed):
            begin = time.perf_counter_ns()
            result = self._in_turn(self.steps(offer))
            if result is None:
                return
            with self.turn.last, self._publishing:
                if offer.generation == self._generation:
                    self.publish(result, offer, begin)

    def _in_turn(self, steps: Steps[R | None]) -> R | None:
        kind, before = SHORT, SHORT
        while True:
            if before is LONG:
                time.sleep(_REST)
            before = kind
            try:
                if kind is SHORT:
                    with self.turn.last:
                        kind = next(steps)
                else:
                    kind = next(steps)
            except StopIteration as end:
                result: R | None = end.value
                return result
