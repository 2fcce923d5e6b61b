"""The outputs of the suite: what each one publishes. A node is made up of one or several."""

from __future__ import annotations

from typing import Any

from hybrid_contact_msgs.msg import (
    ConstraintStability,
    ContactEvent,
    ContactMode,
    EventSensitivity,
    PostImpactVelocitySet,
)
from hybrid_contact_ros.estimation.event_maps import EventMaps
from hybrid_contact_ros.estimation.events_ahead import Spaced
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.nodes.engine_node import EngineNode
from hybrid_contact_ros.nodes.impact_requests import ImpactRequests
from hybrid_contact_ros.nodes.impact_worker import ImpactWorker
from hybrid_contact_ros.nodes.sensitivity_worker import SensitivityWorker, late_kernels
from hybrid_contact_ros.prediction import ImpactPrediction, Prediction

STABILITY, SENSITIVITY = int(Parts.STABILITY), int(Parts.SENSITIVITY)


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
        worker = ImpactWorker(node, stream.turn, sets, stream.monitor.sets, self._publish)
        stream.sets = node.keep(ImpactWorker.end, worker)
        stream.tuned += [worker.tune, self._requests.tune]

    def _publish(self, impact: ImpactPrediction, compute_ns: int) -> None:
        """On the thread of the sets."""
        for found in (*impact.after_each, impact):  # the whole cluster last, for who keeps one set of a stamp
            self._sets.publish(self._encoder.impact(found, compute_ns))


class SensitivityOutput:
    """``event_sensitivity`` of the events that are ahead, while somebody listens, with its thread; nothing where
    ``sensitivity.horizon`` is 0."""

    def __init__(self, node: EngineNode) -> None:
        stream = node.stream
        assert stream is not None and node.urdf is not None
        self.heard: Heard | None = None
        if node.parts & Parts.SENSITIVITY:
            self.heard = Heard(node, EventSensitivity, "event_sensitivity")
            config = stream.estimator.config
            model = RigidBodyModel.from_urdf(node.urdf, config)
            maps, logger = EventMaps(model, config), node.get_logger()
            load = late_kernels(logger, model, config, node.urdf, maps) if node.later & Parts.SENSITIVITY else None
            spaced, encode = Spaced(config.sensitivity.interval), stream.encoder.sensitivity
            worker = SensitivityWorker(
                node, stream.turn, maps, spaced, stream.monitor, encode, self.heard.publish, load
            )
            stream.maps = node.keep(SensitivityWorker.end, worker)
            stream.tuned.append(worker.tune)

    @property
    def unheard(self) -> int:
        """SENSITIVITY, unless somebody listens."""
        return 0 if self.heard else SENSITIVITY
