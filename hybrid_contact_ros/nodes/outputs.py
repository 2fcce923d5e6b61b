"""What each kind of output publishes; the nodes put them together."""

from __future__ import annotations

import time

from rclpy.time import Time

from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_msgs.srv import PredictImpact
from hybrid_contact_ros.intake import Intake
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.nodes.engine_node import EngineNode
from hybrid_contact_ros.prediction import ImpactPrediction, Prediction
from hybrid_contact_ros.refusals import USED
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

    def publish(self, impact: ImpactPrediction, compute_ns: int) -> None:
        encoder = self._node.encoder
        assert encoder is not None
        self._sets.publish(encoder.impact(impact, compute_ns))

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
            state = self._state(request)
            impact = estimator.impact(
                state,
                contacts=[names.index(name) for name in request.contacts] or None,
                gap_tolerance=request.gap_tolerance if request.gap_tolerance > 0 else None,
                samples=request.samples or None,
                seed=request.seed,
                deadline_ns=nanoseconds(request.deadline) or None,
            )
        except ValueError as error:
            response.success, response.message = False, str(error)
            return response
        response.success = True
        if not impact.contacts.size:
            response.message = "no contact is within gap_tolerance: nothing happens"
        response.set = encoder.impact(impact, time.perf_counter_ns() - begin)
        return response

    def _state(self, request: PredictImpact.Request) -> RobotState:
        """The state that a request holds, refused for what the topics refuse; a stamp of 0 means now.

        Raises:
            ValueError: saying what is wrong.
        """
        estimator = self._node.estimator
        assert estimator is not None
        joints, odometry = request.joints, request.odometry
        now = self._node.now_ns()
        if nanoseconds(joints.header.stamp) == 0:
            joints.header.stamp = Time(nanoseconds=now).to_msg()
        odometry.header.stamp = joints.header.stamp
        intake = Intake(estimator.model, estimator.config.input, self._node.get_parameter("twist_in_world").value)
        state = intake.odometry(odometry, now)
        if set(intake.faults) <= USED or not estimator.model.floating_base:
            state = intake.joint_state(joints, now) or state
        if state is None:
            raise ValueError(intake.last_fault[1] if intake.last_fault else "the state is incomplete")
        return state
