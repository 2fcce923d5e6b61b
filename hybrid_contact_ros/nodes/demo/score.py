"""The frames of the demo's listener, read into the record of the demo."""

from __future__ import annotations

import struct
from collections import deque
from functools import partial
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
from hybrid_contact_ros.nodes.demo.listener import TOPICS
from hybrid_contact_ros.ros.message_types import nanoseconds

_STATES = 80  # frames of states that are kept for the next true impact, which is published within a few cycles
_PAIRS = 8  # frames before an impact among which two belong to one state, also where some were lost
_KEPT = 60_000  # frames that are kept until the end; those of a longer demo are read as they come
_STAMP = struct.Struct("<iI")


class DemoScore:
    """Takes frames in the order in which they were heard.

    The process that scores shares the processors with the suite. While the robot moves it therefore reads no message
    but the stamps, those that the live table shows, and what an impact needs; :meth:`finish` reads the others.
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
        self._later: deque[Frame] = deque()
        self._newest: dict[str, bytes] = {}
        self._into = {
            "contact_mode": record.predicted,
            "truth/contact_mode": record.truth,
            "contact_events": record.event,
        }

    def take(self, frame: Frame) -> None:
        topic, kind, _ = TOPICS[frame.topic]
        self._newest[topic] = frame.data
        if topic in ("joint_states", "odom"):
            self._states.append(frame)
        elif topic == "truth/impact":
            self._impact(deserialize_message(frame.data, kind))
        elif topic == "impact_set":
            self.record.set_came(_stamp(frame.data), partial(deserialize_message, frame.data, kind))
        elif topic in self._into:
            if topic == "contact_mode":
                self.record.answered(_stamp(frame.data), frame.received_ns)
            self._later.append(frame)
            if len(self._later) > _KEPT:
                self._read(self._later.popleft())

    def finish(self) -> None:
        """Read what was kept."""
        while self._later:
            self._read(self._later.popleft())

    def snapshot(self) -> dict[str, Any]:
        """What the live table shows."""
        self.record.show(self._message("contact_mode"), self._message("truth/contact_mode"))
        flags = self._message("constraint_stability")
        if flags is not None:
            self.record.stability(flags)
        return self.record.snapshot()

    def _read(self, frame: Frame) -> None:
        topic, kind, _ = TOPICS[frame.topic]
        self._into[topic](deserialize_message(frame.data, kind))

    def _message(self, wanted: str) -> Any:
        """The newest message of a topic; None where none has come."""
        if wanted not in self._newest:
            return None
        kind = next(kind for topic, kind, _ in TOPICS if topic == wanted)
        return deserialize_message(self._newest[wanted], kind)

    def _impact(self, msg: Any) -> None:
        """Record a true impact, with the last state of the robot before it."""
        intake, time_ns = Intake(self._model, self._input), nanoseconds(msg.impact_time)
        before = None
        for topic, received_ns, data in [x for x in self._states if _stamp(x.data) < time_ns][-_PAIRS:]:
            name, kind, _ = TOPICS[topic]
            take = intake.joint_state if name == "joint_states" else intake.odometry
            before = take(deserialize_message(data, kind), received_ns) or before
        if before is not None:
            self.record.true_impact(msg, before.q)


def _stamp(data: bytes) -> int:
    """The stamp of a serialised message whose first field is its header."""
    sec, nanosec = _STAMP.unpack_from(data, 4)
    return int(sec) * 1_000_000_000 + int(nanosec)
