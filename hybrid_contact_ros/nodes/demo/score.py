"""The frames of the demo's listener, read into the record of the demo."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message

from hybrid_contact_msgs.msg import ContactEvent
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.frames import Frame
from hybrid_contact_ros.demo.record import DemoRecord
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.cdr import BEGIN, STAMP
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.readers import (
    ConstraintStabilityReader,
    ContactModeReader,
    PostImpactVelocitySetReader,
)
from hybrid_contact_ros.messages.views import PostImpactVelocitySetView
from hybrid_contact_ros.nodes.demo.listener import TOPICS

_STATES = 80  # frames of states that are kept for the next true impact, which is published within a few cycles
_PAIRS = 8  # frames before an impact among which two belong to one state, also where some were lost


class DemoScore:
    """Takes frames in the order in which they were heard.

    The process that scores shares the processors with the suite: it looks at the numbers of messages where they lie in
    the bytes, flags are read when they are shown, and states when an impact needs them.
    """

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
        self._read_flags, mode = ConstraintStabilityReader(), ContactModeReader()
        truth, sets, impacts = ContactModeReader(), PostImpactVelocitySetReader(), PostImpactVelocitySetReader()
        self._into: dict[str, Callable[[Frame], None]] = {
            "contact_mode": lambda frame: record.mode(mode(frame.data), frame.received_ns),
            "truth/contact_mode": lambda frame: record.truth(truth(frame.data)),
            "impact_set": lambda frame: record.impact(sets(frame.data)),
            "contact_events": lambda frame: record.event(deserialize_message(frame.data, ContactEvent)),
            "truth/impact": lambda frame: self._impact(impacts(frame.data)),
        }

    def take(self, frame: Frame) -> None:
        topic = TOPICS[frame.topic][0]
        if topic == "constraint_stability":
            self._flags = frame.data
        elif topic in ("joint_states", "odom"):
            self._states.append(frame)
        else:
            self._into[topic](frame)

    def snapshot(self) -> dict[str, Any]:
        """What the live table shows."""
        if self._flags:
            self.record.stability(self._read_flags(self._flags))
        return self.record.snapshot()

    def _impact(self, view: PostImpactVelocitySetView) -> None:
        """Record a true impact, with the last state of the robot before it."""
        intake = Intake(self._model, self._input)
        before = None
        for topic, received_ns, data in [x for x in self._states if _stamp(x.data) < view.impact_time_ns][-_PAIRS:]:
            take = intake.joint_state if TOPICS[topic][0] == "joint_states" else intake.odometry
            before = take(data, received_ns) or before
        if before is not None:
            self.record.true_impact(view, before.q)


def _stamp(data: bytes) -> int:
    """The stamp of a serialised message whose first field is its header."""
    sec, nanosec = STAMP.unpack_from(data, BEGIN)
    return int(sec) * 1_000_000_000 + int(nanosec)
