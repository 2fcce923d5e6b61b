"""The receiving end of a live measurement: a node of this process that handles bytes.

It notes the time of every message and keeps the few bytes that are needed; they are read when all is over.
"""

from __future__ import annotations

import struct
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.live import echo

_SUITE = "contact_suite"
STAMP = struct.Struct("<iI")
_TAIL = struct.Struct("<iIiI")
_TAIL_AT = -24
"""``ContactMode`` ends with compute_time, input_age (8 bytes each) and model_hash, eight bytes that end the message."""


def latencies(rows: list[tuple[int, bytes, bytes]], stamps: list[int], timed: bool) -> NDArray[np.float64]:
    """Rows (total, input, compute), ms, of what was heard of the states between two stamps.

    Args:
        rows: time of reception, the bytes of the stamp, and those of compute_time and input_age.
        stamps: of the first and the last state that counts.
        timed: whether the last bytes are such times.
    """
    table = []
    for received, head, tail in rows:
        sec, nanosec = STAMP.unpack(head)
        stamp = sec * 1_000_000_000 + nanosec
        if stamps[0] <= stamp <= stamps[1]:
            a, b, c, d = _TAIL.unpack(tail)
            times = (1e3 * c + 1e-6 * d, 1e3 * a + 1e-6 * b) if timed else (np.nan, np.nan)
            table.append((1e-6 * (received - stamp), *times))
    return np.array(table, np.float64).reshape(-1, 3)


def parts_of(data: bytes) -> tuple[bytes, bytes]:
    """The bytes of a ``ContactMode`` that hold its stamp, and those that hold compute_time and input_age."""
    return data[4:12], data[_TAIL_AT : _TAIL_AT + 16]


class Receiver:
    """A node of this process that listens to the node that is measured.

    Args:
        suite: that is a node of the suite, and not the echo node.

    Attributes:
        rows: of each answer, as of :func:`latencies`. set_stamps: bytes of the stamps of the impact sets. said:
            sentences of the node's diagnostics. sample: the last answer.
    """

    def __init__(self, suite: bool, flags: bool = False) -> None:
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray
        from lifecycle_msgs.srv import GetState
        from sensor_msgs.msg import JointState

        from hybrid_contact_msgs.msg import ConstraintStability, ContactMode, PostImpactVelocitySet
        from hybrid_contact_ros.ros.executor import make_executor

        self.rows: list[tuple[int, bytes, bytes]] = []
        self.set_stamps: list[bytes] = []
        self.said: list[str] = []
        self.sample = b""
        self._rclpy, self._suite = rclpy, suite
        rclpy.init()
        self.node = rclpy.create_node("live_receiver")
        topic, kind = ("contact_mode", ContactMode) if suite else (echo.TOPIC, JointState)
        self._answers = self.node.create_subscription(kind, topic, self._heard, 10, raw=True)
        self._client: Any = None
        if suite:
            self.node.create_subscription(PostImpactVelocitySet, "impact_set", self._heard_set, 10, raw=True)
            self.node.create_subscription(DiagnosticArray, "/diagnostics", self._heard_diagnostics, 10)
            self._client = self.node.create_client(GetState, f"{_SUITE}/get_state")
        if flags:  # nobody reads them here, but without a listener they would not be computed
            self.node.create_subscription(ConstraintStability, "constraint_stability", lambda _: None, 10, raw=True)
        self._request = GetState.Request
        self.executor = make_executor()
        self.executor.add_node(self.node)

    def _heard(self, data: bytes) -> None:
        now = time.time_ns()
        self.rows.append((now, data[4:12], data[_TAIL_AT : _TAIL_AT + 16]))
        self.sample = data

    def _heard_set(self, data: bytes) -> None:
        self.set_stamps.append(data[4:12])

    def _heard_diagnostics(self, message: Any) -> None:
        self.said.extend(status.message for status in message.status)

    def ready(self) -> bool:
        """Whether the node is active and connected; spins a little."""
        self.executor.spin_once(timeout_sec=0.05)
        if not self._answers.get_publisher_count():
            return False
        if self._client is None:
            return True
        if not self._client.service_is_ready():
            return False
        asked = self._client.call_async(self._request())
        limit = time.monotonic() + 1.0
        while not asked.done() and time.monotonic() < limit:
            self.executor.spin_once(timeout_sec=0.05)
        return bool(asked.done() and asked.result().current_state.label == "active")

    def check(self) -> None:
        """Compare the times that are read at their places with those of rclpy, on the last message.

        Raises:
            RuntimeError: they differ: the layout of the message is another one.
        """
        if not self._suite:
            return
        from rclpy.serialization import deserialize_message

        from hybrid_contact_msgs.msg import ContactMode

        message = deserialize_message(self.sample, ContactMode)
        head, tail = parts_of(self.sample)
        times = (
            message.compute_time.sec,
            message.compute_time.nanosec,
            message.input_age.sec,
            message.input_age.nanosec,
        )
        if (
            STAMP.unpack(head) != (message.header.stamp.sec, message.header.stamp.nanosec)
            or _TAIL.unpack(tail) != times
        ):
            raise RuntimeError("ContactMode has another layout than this benchmark reads")

    def close(self) -> None:
        self.executor.shutdown()  # until then an EventsExecutor keeps what it was given, and the node goes on listening
        self.node.destroy_node()
        self._rclpy.try_shutdown()
