"""``event_sensitivity``: computed on a thread beside the stream of states, while somebody listens."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hybrid_contact_ros.estimation.event_maps import EventMaps
from hybrid_contact_ros.estimation.events_ahead import EventsAhead, Spaced
from hybrid_contact_ros.impacts.steps import LONG, Steps
from hybrid_contact_ros.monitoring.monitor import Monitor
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.nodes.turn import Turn
from hybrid_contact_ros.nodes.worker import Offer, Worker
from hybrid_contact_ros.prediction import SensitivityPrediction


class SensitivityWorker(Worker[EventsAhead, list[Any]]):
    """Computes sensitivities for states that are ``sensitivity.interval`` apart.

    Each is the one that a replay computes for the same stamp.

    Args:
        node, turn: as of :class:`~.worker.Worker`. maps: with a robot model of its own. spaced: which states.
        monitor: told of faults.
        encode: makes a message of a prediction and of the time since the messages of its state came, ns.
        publish: called with each message, never after :meth:`end`, nor for a state offered before :meth:`drop`.
    """

    def __init__(
        self,
        node: Host,
        turn: Turn,
        maps: EventMaps,
        spaced: Spaced,
        monitor: Monitor,
        encode: Callable[[SensitivityPrediction, int], Any],
        publish: Callable[[Any], None],
    ) -> None:
        self.overtaken = 0
        self._monitor, self._encode, self._say = monitor, encode, publish
        self._spaced, self._maps = spaced, maps
        super().__init__(node, turn, "event_sensitivity", self)

    def offer(self, ahead: EventsAhead, arrived: int) -> None:
        if self._spaced.due(ahead.stamp_ns):
            super().offer(ahead, arrived)

    def drop(self) -> None:
        self._spaced.reset()
        super().drop()

    def failed(self, sentence: str) -> None:
        """A fault of the suite."""
        with self.turn.last:  # the thread of the states counts its own in the same place
            self._monitor.failed("internal", sentence)

    def steps(self, offer: Offer[EventsAhead]) -> Steps[list[Any] | None]:
        events = yield from self._maps.ahead(offer.ahead)
        took = time.perf_counter_ns() - offer.arrived
        messages = []
        for event in events:
            yield LONG  # a message may have some hundred kilobytes
            messages.append(self._encode(event, took))
        return messages or None

    def publish(self, result: list[Any], offer: Offer[EventsAhead], begun: int) -> None:
        for message in result:
            self._say(message)
