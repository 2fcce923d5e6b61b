"""``event_sensitivity``: computed on a thread beside the stream of states, while somebody listens."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.event_maps import EventMaps
from hybrid_contact_ros.estimation.events_ahead import EventsAhead, Spaced
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.impacts.steps import LONG, Steps
from hybrid_contact_ros.kernels.warm import compilation_of, stored
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.monitoring.monitor import Monitor
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.nodes.turn import Turn
from hybrid_contact_ros.nodes.worker import Offer, Worker
from hybrid_contact_ros.prediction import SensitivityPrediction
from hybrid_contact_ros.warming import compile_beside, needed


class SensitivityWorker(Worker[EventsAhead, list[Any]]):
    """Computes sensitivities for states that are ``sensitivity.interval`` apart.

    Each is the one that a replay computes for the same stamp.

    Args:
        node, turn: as of :class:`~.worker.Worker`. maps: with a robot model of its own. spaced: which states.
        monitor: told of faults.
        encode: makes a message of a prediction and of the time since the messages of its state came, ns.
        publish: called with each message, never after :meth:`end`, nor for a state offered before :meth:`drop`.
        load: called on the thread before anything else, with a function that says whether to give up; returns whether
            the kernels are there. None where they are.
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
        load: Callable[[Callable[[], bool]], bool] | None = None,
    ) -> None:
        self.overtaken = 0
        self._load, self._ready = load, load is None
        self._monitor, self._encode, self._say = monitor, encode, publish
        self._spaced, self._maps = spaced, maps
        super().__init__(node, turn, "event_sensitivity", self)

    def tune(self, config: EstimatorConfig) -> None:
        """Take over tolerances."""
        self._maps.tune(config)

    def prepare(self) -> None:
        if self._load is not None:
            self._ready = self._load(lambda: self._ended)

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
        if not self._ready:
            return None
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


def late_kernels(
    logger: Any, model: RigidBodyModel, config: EstimatorConfig, urdf: str, maps: EventMaps
) -> Callable[[Callable[[], bool]], bool]:
    """What a :class:`SensitivityWorker` loads kernels with that were never compiled on this machine: they come from a
    process beside the node, which is active meanwhile."""
    names = needed(model, config, Parts.SENSITIVITY)

    def load(ended: Callable[[], bool]) -> bool:
        seconds = sum(names[name] for name in names if not stored(name))
        logger.info(
            f"event_sensitivity begins when its kernels are compiled, once on a machine: in about {seconds:.0f} s"
        )
        if not compile_beside(config, urdf, Parts.SENSITIVITY, names, ended):
            if not ended():
                logger.warning("event_sensitivity is left out: its kernels were not compiled; configure the node anew")
            return False
        with compilation_of(names):  # they are loaded
            for q in (model.neutral(), model.bent()):
                maps.warm(q)
        logger.info("event_sensitivity: kernels ready")
        return True

    return load
