"""What each kind of output publishes; the nodes put them together."""

from __future__ import annotations

import time

from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_msgs.srv import PredictImpact
from hybrid_contact_ros.intake import RefusedError, decode_base
from hybrid_contact_ros.nodes.engine_node import EngineNode
from hybrid_contact_ros.prediction import Prediction
from hybrid_contact_ros.ros.messages import nanoseconds


class ModeOutput:
    """``contact_mode`` for every state, ``contact_events`` as they come."""

    def __init__(self, node: EngineNode) -> None:
        self._node = node
        self._mode = node.output(ContactMode, "contact_mode")
        self._events = node.output(ContactEvent, "contact_events")

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        encoder = self._node.encoder
        assert encoder is not None
        self._mode.publish(encoder.mode(prediction.mode, compute_ns, age_ns))
        for event in prediction.events:
            self._events.publish(encoder.event(event))


class StabilityOutput:
    """``constraint_stability`` for every state."""

    def __init__(self, node: EngineNode) -> None:
        self._node = node
        self._stability = node.output(ConstraintStability, "constraint_stability")

    def publish(self, prediction: Prediction, compute_ns: int) -> None:
        encoder = self._node.encoder
        assert encoder is not None
        self._stability.publish(encoder.stability(prediction.stability, compute_ns))


class ImpactOutput:
    """``impact_set`` while a touchdown is near, and the service ``~/predict_impact``."""

    def __init__(self, node: EngineNode) -> None:
        self._node = node
        self._sets = node.output(PostImpactVelocitySet, "impact_set")
        node.keep(node.destroy_service, node.create_service(PredictImpact, "~/predict_impact", self._on_request))

    def publish(self, prediction: Prediction, compute_ns: int) -> None:
        encoder = self._node.encoder
        assert encoder is not None
        if prediction.impact is not None:
            self._sets.publish(encoder.impact(prediction.impact, compute_ns))

    def _on_request(self, request: PredictImpact.Request, response: PredictImpact.Response) -> PredictImpact.Response:
        begin = time.perf_counter_ns()
        node = self._node
        estimator, encoder = node.estimator, node.encoder
        if estimator is None or encoder is None:
            response.success, response.message = False, "not configured"
            return response
        model = estimator.model
        try:
            names = list(model.contact_names)
            unknown = [name for name in request.contacts if name not in names]
            if unknown:
                raise ValueError(f"no contact is called {unknown[0]!r}; there are {', '.join(names)}")
            base = decode_base(request.odometry) if model.floating_base else None
            joints = request.joints
            stamp = nanoseconds(joints.header.stamp)
            state = model.joint_map(joints.name).state(stamp, joints.position, joints.velocity, joints.effort, base)
            impact = estimator.impact(
                state,
                contacts=[names.index(name) for name in request.contacts] or None,
                gap_tolerance=request.gap_tolerance if request.gap_tolerance > 0 else None,
                samples=request.samples or None,
                seed=request.seed,
                deadline_ns=nanoseconds(request.deadline) or None,
            )
        except (ValueError, RefusedError) as error:
            response.success, response.message = False, str(error)
            return response
        response.success = True
        response.set = encoder.impact(impact, time.perf_counter_ns() - begin)
        return response
