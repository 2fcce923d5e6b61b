"""The listener of the demo: it passes on what it hears, with the time at which it heard it.

It is a process of its own that does nothing else, so that neither scoring nor drawing delays the receptions whose
latency is measured. Messages stay serialised and go to standard output as frames
(:mod:`hybrid_contact_ros.demo.frames`), some of them at a time: each write wakes the process that reads them, which
would take time from the suite. The frames ``READY`` and ``FAILED`` say whether the suite could be configured.
The process ends with its standard input.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, BinaryIO

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State, TransitionEvent
from lifecycle_msgs.srv import GetState
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState

from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.demo.frames import FAILED, READY, Frame, packed
from hybrid_contact_ros.ros.diagnostics import tells_of_failure
from hybrid_contact_ros.ros.executor import run_node
from hybrid_contact_ros.ros.qos import OUTPUT, STATE_INPUT

TOPICS: tuple[tuple[str, type, Any], ...] = (
    ("contact_mode", ContactMode, OUTPUT),
    ("truth/contact_mode", ContactMode, OUTPUT),
    ("truth/impact", PostImpactVelocitySet, OUTPUT),
    ("constraint_stability", ConstraintStability, OUTPUT),
    ("impact_set", PostImpactVelocitySet, OUTPUT),
    ("contact_events", ContactEvent, OUTPUT),
    ("joint_states", JointState, STATE_INPUT),
    ("odom", Odometry, STATE_INPUT),
)
"""Name, type and QoS of each topic. The topic of a frame is its place in this list."""

PERIOD = 0.05  # s; the live table changes half as often
_UNCONFIGURED = State.PRIMARY_STATE_UNCONFIGURED


class DemoListener(Node):
    """Hands every message to ``keep``, serialised. ``options`` are those of a node."""

    def __init__(self, keep: Callable[[Frame], None], **options: Any) -> None:
        super().__init__("demo_listener", **options)
        self._keep = keep
        for number, (topic, kind, qos) in enumerate(TOPICS):
            self.create_subscription(kind, topic, self._heard(number), qos, raw=True)
        self.create_subscription(TransitionEvent, "contact_suite/transition_event", self._on_transition, 10)
        # Its diagnostics say so, too, and more than once: discovery may be slower than the one event.
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._state: Any = self.create_client(GetState, "contact_suite/get_state")
        self._asked: Any = None
        self._active = False
        self.create_timer(0.1, self._ask)
        gc.freeze()

    def _heard(self, number: int) -> Callable[[bytes], None]:
        def heard(data: bytes) -> None:
            self._keep(Frame(number, time.time_ns(), data))

        return heard

    def _on_transition(self, event: TransitionEvent) -> None:
        if (event.start_state.id, event.goal_state.id) == (State.TRANSITION_STATE_CONFIGURING, _UNCONFIGURED):
            self._keep(Frame(FAILED, time.time_ns(), b""))

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        if not self._active and any(tells_of_failure(status.message) for status in array.status):
            self._keep(Frame(FAILED, time.time_ns(), b""))

    def _ask(self) -> None:
        """Ask the suite whether it is active yet. The answer arrives in a later callback."""
        if self._active:
            return
        if self._asked is not None and self._asked.done():
            self._active = self._asked.result().current_state.id == State.PRIMARY_STATE_ACTIVE
            self._asked = None
            if self._active:
                self._keep(Frame(READY, time.time_ns(), b""))
        elif self._asked is None and self._state.service_is_ready():
            self._asked = self._state.call_async(GetState.Request())


def write(frames: deque[Frame], out: BinaryIO, over: threading.Event) -> None:
    """Write all frames, those of ``PERIOD`` at a time, until ``over`` and nothing is left."""
    ended = False
    while not ended:
        ended = over.wait(PERIOD)
        batch = []
        while frames:
            batch.append(packed(frames.popleft()))
        out.write(b"".join(batch))
        out.flush()


def main() -> None:
    """Listen until standard input ends or gives a line."""
    frames: deque[Frame] = deque()
    over, ended = threading.Event(), threading.Event()

    def wait_for_line() -> None:
        sys.stdin.readline()
        ended.set()

    writer = threading.Thread(target=write, args=(frames, sys.stdout.buffer, over))
    writer.start()
    threading.Thread(target=wait_for_line, daemon=True).start()
    try:
        code = run_node(lambda: DemoListener(frames.append), ended.is_set)
    finally:
        over.set()
        writer.join()
    sys.exit(code)


if __name__ == "__main__":
    main()
