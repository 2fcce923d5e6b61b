"""The outputs of the suite: what each one publishes. A node is made up of one or several."""

from __future__ import annotations

from typing import Any

from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.nodes.engine_node import EngineNode
from hybrid_contact_ros.nodes.impact_requests import ImpactRequests
from hybrid_contact_ros.nodes.impact_worker import ImpactWorker
from hybrid_contact_ros.prediction import ImpactPrediction, Prediction

STABILITY = int(Parts.STABILITY)


class Heard:
    """A publisher of the node for messages of every state, for the thread of the states.

    It is silent while the node is inactive, as the publisher is. Bytes go straight to the middleware, past three
    functions of rclpy that look at what kind of message it is.
    """

    def __init__(self, node: EngineNode, kind: type, topic: str) -> None:
        publisher = node.output(kind, topic)
        self._publisher, handle = publisher, publisher.handle
        self._raw, self._count = handle.publish_raw, handle.get_subscription_count

    def __bool__(self) -> bool:
        """Whether somebody listens. No later subscriber is sent what was published before (``OUTPUT``)."""
        return bool(self._count())

    def publish(self, message: Any) -> None:
        if isinstance(message, bytes):
            if self._publisher.is_activated:
                self._raw(message)
        else:
            self._publisher.publish(message)


class ModeOutput:
    """``contact_mode`` for every state, ``contact_events`` as they come."""

    def __init__(self, node: EngineNode) -> None:
        assert node.stream is not None
        self._encoder = node.stream.encoder
        self._mode = Heard(node, ContactMode, "contact_mode")
        self._events = node.output(ContactEvent, "contact_events")

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        if self._mode:
            self._mode.publish(self._encoder.mode(prediction.mode, compute_ns, age_ns))
        for event in prediction.events:
            self._events.publish(self._encoder.event(event))


class StabilityOutput:
    """``constraint_stability`` for every state, while somebody listens.

    Attributes:
        heard: whether somebody does.
    """

    def __init__(self, node: EngineNode) -> None:
        assert node.stream is not None
        self._encoder = node.stream.encoder
        self.heard = Heard(node, ConstraintStability, "constraint_stability")

    def publish(self, prediction: Prediction, compute_ns: int) -> None:
        self.heard.publish(self._encoder.stability(prediction.stability, compute_ns))


class ImpactOutput:
    """``impact_set`` while a touchdown is near, and the service ``~/predict_impact``, each with its thread."""

    def __init__(self, node: EngineNode) -> None:
        stream = node.stream
        assert stream is not None and stream.monitor.sets is not None and node.urdf is not None
        self._encoder = stream.encoder
        self._sets = node.output(PostImpactVelocitySet, "impact_set")
        self._requests = ImpactRequests(node)
        config = stream.estimator.config
        sets = ImpactSets(RigidBodyModel.from_urdf(node.urdf, config), config)
        worker = ImpactWorker(sets, stream.turn, stream.monitor.sets, node.get_logger(), self._publish)
        node.has_thread(worker.native_id, sets=True)
        stream.sets = node.keep(ImpactWorker.end, worker)

    def _publish(self, impact: ImpactPrediction, compute_ns: int) -> None:
        """On the thread of the sets."""
        self._sets.publish(self._encoder.impact(impact, compute_ns))
