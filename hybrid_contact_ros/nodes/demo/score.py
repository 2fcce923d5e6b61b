"""Frames of the demo's listener, read into the demo's record."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.frames import Frame
from hybrid_contact_ros.demo.record import DemoRecord
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.nodes.demo.monitor import TOPICS
from hybrid_contact_ros.ros.messages import nanoseconds

_STATES = 80  # frames of states that are kept for the next true impact, which is told within a few cycles


class DemoScore:
    """Takes frames in the order in which they were heard. Flags are only read when they are shown, states when an
    impact needs them."""

    def __init__(self, urdf: str, config: EstimatorConfig) -> None:
        model = RigidBodyModel.from_urdf(urdf, config)
        rest = np.zeros(model.nv)

        def problem(q: NDArray[np.float64]) -> ContactProblem:
            return model.problem(RobotState(0, np.ascontiguousarray(q), rest))

        record = DemoRecord(model.contact_names, lambda q: problem(q).mass, lambda q: problem(q).normal_jacobian)
        self.record = record
        self._model, self._input = model, config.input
        self._states: deque[Frame] = deque(maxlen=_STATES)
        self._flags = b""
        self._into: dict[str, Any] = {
            "contact_mode": record.mode,
            "truth/contact_mode": lambda msg, _: record.truth(msg),
            "impact_set": lambda msg, _: record.impact(msg),
            "contact_events": lambda msg, _: record.event(msg),
            "truth/impact": self._impact,
        }

    def take(self, frame: Frame) -> None:
        topic, kind, _ = TOPICS[frame.topic]
        if topic == "constraint_stability":
            self._flags = frame.data
        elif topic in ("joint_states", "odom"):
            self._states.append(frame)
        else:
            self._into[topic](deserialize_message(frame.data, kind), frame.received_ns)

    def snapshot(self) -> dict[str, Any]:
        """What the live table shows."""
        if self._flags:
            kind = next(kind for topic, kind, _ in TOPICS if topic == "constraint_stability")
            self.record.stability(deserialize_message(self._flags, kind))
        return self.record.snapshot()

    def _impact(self, msg: Any, _: int) -> None:
        """A true impact, and the last state of the robot before it."""
        intake = Intake(self._model, self._input)
        before = None
        for topic, received_ns, data in self._states:
            name, kind, _ = TOPICS[topic]
            take = intake.joint_state if name == "joint_states" else intake.odometry
            state = take(deserialize_message(data, kind), received_ns)
            if state is not None and state.stamp_ns < nanoseconds(msg.impact_time):
                before = state
        if before is not None:
            self.record.true_impact(msg, before.q)
