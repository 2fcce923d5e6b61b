"""The outputs of the suite: what each one publishes. A node is made up of one or several."""

from __future__ import annotations

from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.nodes.engine_node import EngineNode
from hybrid_contact_ros.nodes.impact_requests import ImpactRequests
from hybrid_contact_ros.nodes.impact_worker import ImpactWorker
from hybrid_contact_ros.prediction import ImpactPrediction, Prediction


class ModeOutput:
    """``contact_mode`` for every state, ``contact_events`` as they come."""

    def __init__(self, node: EngineNode) -> None:
        assert node.stream is not None
        self._encoder = node.stream.encoder
        self._mode = node.output(ContactMode, "contact_mode")
        self._events = node.output(ContactEvent, "contact_events")

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        self._mode.publish(self._encoder.mode(prediction.mode, compute_ns, age_ns))
        for event in prediction.events:
            self._events.publish(self._encoder.event(event))


class StabilityOutput:
    """``constraint_stability`` for every state."""

    def __init__(self, node: EngineNode) -> None:
        assert node.stream is not None
        self._encoder = node.stream.encoder
        self._stability = node.output(ConstraintStability, "constraint_stability")

    def publish(self, prediction: Prediction, compute_ns: int) -> None:
        self._stability.publish(self._encoder.stability(prediction.stability, compute_ns))


class ImpactOutput:
    """``impact_set`` while a touchdown is near, and the service ``~/predict_impact``, each with its thread."""

    def __init__(self, node: EngineNode) -> None:
        stream = node.stream
        assert stream is not None
        self._encoder = stream.encoder
        self._sets = node.output(PostImpactVelocitySet, "impact_set")
        self._requests = ImpactRequests(node)
        stream.sets = node.keep(ImpactWorker.end, ImpactWorker(node, self._publish))

    def _publish(self, impact: ImpactPrediction, compute_ns: int) -> None:
        """On the thread of the sets."""
        self._sets.publish(self._encoder.impact(impact, compute_ns))
