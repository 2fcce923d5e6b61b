"""``event_sensitivity``: computed on a thread beside the stream of states, while somebody listens."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hybrid_contact_ros.estimation.event_maps import EventMaps
from hybrid_contact_ros.estimation.events_ahead import EventsAhead, Spaced
from hybrid_contact_ros.impacts.steps import LONG, Steps
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.nodes.worker import Offer, Worker
from hybrid_contact_ros.prediction import SensitivityPrediction

if TYPE_CHECKING:
    from hybrid_contact_ros.nodes.engine_node import EngineNode


class SensitivityWorker(Worker[EventsAhead, list[Any]]):
    """Computes sensitivities with a robot model of its own, for states that are ``sensitivity.interval`` apart.

    Each is the one that a replay computes for the same stamp.

    Args:
        node: configured, with a ``stream``.
        encode: makes a message of a prediction and of the time since the messages of its state came, ns.
        publish: called with each message, never after :meth:`end`, nor for a state offered before :meth:`drop`.
    """

    def __init__(
        self,
        node: EngineNode,
        encode: Callable[[SensitivityPrediction, int], Any],
        publish: Callable[[Any], None],
    ) -> None:
        stream = node.stream
        assert stream is not None and node.urdf is not None
        config = stream.estimator.config
        self.overtaken = 0
        self._monitor, self._encode, self._say = stream.monitor, encode, publish
        self._spaced = Spaced(config.sensitivity.interval)
        self._maps = EventMaps(RigidBodyModel.from_urdf(node.urdf, config), config)
        super().__init__(node, "event_sensitivity", self)

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
