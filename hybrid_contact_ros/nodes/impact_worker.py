"""``impact_set``: the set of the touchdown that is ahead, computed on a thread beside the stream of states."""

from __future__ import annotations

import time
from collections.abc import Callable

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.impacts.steps import Steps
from hybrid_contact_ros.monitoring.set_counter import SetCounter
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.nodes.turn import Turn
from hybrid_contact_ros.nodes.worker import Offer, Worker
from hybrid_contact_ros.prediction import ImpactPrediction


class ImpactWorker(Worker[ImpactAhead, ImpactPrediction]):
    """Computes impact sets.

    A set takes most of its time in kernels without Python's lock. The Python around them is cut into steps of a few
    tens of microseconds. Python's lock alone would not do: whoever comes back from a kernel asks for it, so that a
    state would be interrupted after each of its kernels.

    The first sample of a set is finished whatever the deadline. A set that is published is therefore the one that a
    replay without deadline computes for the same stamp, or its beginning.

    Args:
        node, turn: as of :class:`~.worker.Worker`. sets: with a robot model of its own. counter: of the sets.
        publish: called with a set, and the time since the messages of its state came, ns. Never after :meth:`end`, nor
            with a set of a state that was offered before :meth:`drop`.
    """

    def __init__(
        self,
        node: Host,
        turn: Turn,
        sets: ImpactSets,
        counter: SetCounter,
        publish: Callable[[ImpactPrediction, int], None],
    ) -> None:
        self.counter, self._sets, self._say = counter, sets, publish
        super().__init__(node, turn, "impact_set", counter)

    def tune(self, config: EstimatorConfig) -> None:
        """Make the sets that begin from now on by this configuration."""
        self._sets = self._sets.tuned(config)

    def steps(self, offer: Offer[ImpactAhead]) -> Steps[ImpactPrediction | None]:
        return self._sets.ahead(offer.ahead, sampled=True)

    def publish(self, result: ImpactPrediction, offer: Offer[ImpactAhead], begun: int) -> None:
        self._say(result, time.perf_counter_ns() - offer.arrived)
        self.counter.published(time.perf_counter_ns() - begun, result.truncated)
