"""Frames of the demo's listener, read into the demo's record."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.frames import Frame
from hybrid_contact_ros.demo.record import DemoRecord
from hybrid_contact_ros.intake import Intake
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.nodes.demo_monitor import TOPICS


class DemoScore:
    """Takes frames in the order in which they were heard. The flags are only looked at when they are shown."""

    def __init__(self, urdf: str, config: EstimatorConfig) -> None:
        model = RigidBodyModel.from_urdf(urdf, config)
        rest = np.zeros(model.nv)

        def problem(q: NDArray[np.float64]) -> ContactProblem:
            return model.problem(RobotState(0, np.ascontiguousarray(q), rest))

        record = DemoRecord(model.contact_names, lambda q: problem(q).mass, lambda q: problem(q).normal_jacobian)
        self.record = record
        self._intake = Intake(model, config.input)
        self._flags = b""
        self._into: dict[str, Any] = {
            "contact_mode": record.mode,
            "truth/contact_mode": lambda msg, _: record.truth(msg),
            "impact_set": lambda msg, _: record.impact(msg),
            "contact_events": lambda msg, _: record.event(msg),
            "joint_states": lambda msg, at: self._keep(self._intake.joint_state(msg, at)),
            "odom": lambda msg, at: self._keep(self._intake.odometry(msg, at)),
        }

    def take(self, frame: Frame) -> None:
        topic, kind, _ = TOPICS[frame.topic]
        if topic == "constraint_stability":
            self._flags = frame.data
        else:
            self._into[topic](deserialize_message(frame.data, kind), frame.received_ns)

    def snapshot(self) -> dict[str, Any]:
        """What the live table shows."""
        if self._flags:
            kind = next(kind for topic, kind, _ in TOPICS if topic == "constraint_stability")
            self.record.stability(deserialize_message(self._flags, kind))
        return self.record.snapshot()

    def _keep(self, state: RobotState | None) -> None:
        if state is not None:
            self.record.state(state.stamp_ns, state.q, state.v)
