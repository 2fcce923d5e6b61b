"""``impact_set``: the set of the touchdown that is ahead, computed on a thread beside the stream of states."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from hybrid_contact_ros.estimation.impact_sets import ImpactAhead, ImpactSets
from hybrid_contact_ros.impacts.steps import LONG, SHORT, Steps
from hybrid_contact_ros.monitoring.set_counter import SetCounter
from hybrid_contact_ros.nodes.turn import Turn
from hybrid_contact_ros.prediction import ImpactPrediction
from hybrid_contact_ros.ros.boundary import protected

# s, before Python is run after a long step. A thread that has computed for so long has used up its share of the
# processor, and the system may give that to another process at any time, for milliseconds where it is busy: if that
# happens while the thread has Python's lock, states wait for all of it. A thread that has slept begins a new share.
_REST = 1e-5
_LONGEST_END = 5.0  # s to wait for a set that is being computed when the node is cleaned up


class _Offer(NamedTuple):
    ahead: ImpactAhead
    arrived: int  # when the last message of its state came, by time.perf_counter_ns
    generation: int


class ImpactWorker:
    """One thread with a robot model of its own, which computes one set after another, always of the newest state.

    A state never waits for a set. What the set depends on is copied when the state has been answered; of states that
    come while a set is computed only the newest is kept. A set takes most of its time in kernels without Python's lock.
    The Python around them is cut into steps of a few tens of microseconds, and no step begins while a state is being
    answered: both sides take ``turn`` for that long. Python's lock alone would not do: whoever comes back from a kernel
    asks for it, so that a state would be interrupted after each of its kernels.

    The first sample of a set is finished whatever the deadline. A set that is published is therefore the one that a
    replay without deadline computes for the same stamp, or its beginning.

    Args:
        sets: computes a set, with a model of its own. turn: of the thread of the states. counter: of the sets.
        publish: called with a set, and the time since the messages of its state came, ns. Never after :meth:`end`, nor
            with a set of a state that was offered before :meth:`drop`.

    Attributes:
        native_id: of the thread.
    """

    def __init__(
        self,
        sets: ImpactSets,
        turn: Turn,
        counter: SetCounter,
        logger: Any,
        publish: Callable[[ImpactPrediction, int], None],
    ) -> None:
        self.counter = counter
        self._sets, self._logger, self._turn, self._publish = sets, logger, turn, publish
        self._waiting: _Offer | None = None
        self._slot, self._publishing = threading.Lock(), threading.Lock()
        self._generation = 0
        self._ended = self._busy = False
        self._asked = threading.Lock()  # free: the thread is yet to look for an offer
        self._asked.acquire()
        self._thread = threading.Thread(target=self._work, name="impact_set", daemon=True)
        self._thread.start()
        assert self._thread.native_id is not None
        self.native_id = self._thread.native_id

    def offer(self, ahead: ImpactAhead, arrived: int) -> None:
        """A touchdown may be near: its set is the next to be computed, unless that of a newer state takes its place."""
        with self._slot:
            self.counter.overtaken += self._waiting is not None
            self._waiting = _Offer(ahead, arrived, self._generation)

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
            self._logger.warning("an impact set is still being computed; it will not be published")

    def _ask(self) -> None:
        """Wake the thread up, in a microsecond or two: states pay for it."""
        with suppress(RuntimeError):  # it was asked and has not looked yet
            self._asked.release()

    def _work(self) -> None:
        """The thread."""
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
        with protected(self._logger, self.counter.failed):
            begin = time.perf_counter_ns()
            impact = self._in_turn(self._sets.ahead(offer.ahead, sampled=True))
            if impact is None:
                return
            with self._turn.last, self._publishing:
                if offer.generation == self._generation:
                    self._publish(impact, time.perf_counter_ns() - offer.arrived)
                    self.counter.published(time.perf_counter_ns() - begin, impact.truncated)

    def _in_turn(self, steps: Steps[ImpactPrediction | None]) -> ImpactPrediction | None:
        kind, before = SHORT, SHORT
        while True:
            if before is LONG:
                time.sleep(_REST)
            before = kind
            try:
                if kind is SHORT:
                    with self._turn.last:
                        kind = next(steps)
                else:
                    kind = next(steps)
            except StopIteration as end:
                impact: ImpactPrediction | None = end.value
                return impact
