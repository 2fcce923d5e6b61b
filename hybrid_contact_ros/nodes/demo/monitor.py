"""The listener of the demo: passes on what it hears, with the time at which it heard it.

A process of its own that does nothing else: messages stay serialised, and go as frames
(:mod:`hybrid_contact_ros.demo.frames`) to standard output, so that neither scoring nor drawing delays the receptions
whose latency is measured. Frames of ``READY`` and ``FAILED`` say what became of the suite's configuration. It ends with
its standard input.
"""

from __future__ import annotations

import gc
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from lifecycle_msgs.msg import State, TransitionEvent
from lifecycle_msgs.srv import GetState
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState

from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.demo.frames import FAILED, READY, Frame, packed
from hybrid_contact_ros.ros.executor import interrupted_by_signals, make_executor
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
"""Name, type and QoS; a frame's topic is the place in this list."""


_UNCONFIGURED = State.PRIMARY_STATE_UNCONFIGURED


class DemoMonitor(Node):
    """Hands every message to ``keep``, serialised."""

    def __init__(self, keep: Callable[[Frame], None]) -> None:
        super().__init__("demo_monitor")
        self._keep = keep
        for number, (topic, kind, qos) in enumerate(TOPICS):
            self.create_subscription(kind, topic, self._heard(number), qos, raw=True)
        self.create_subscription(TransitionEvent, "contact_suite/transition_event", self._on_transition, 10)
        self._state: Any = self.create_client(GetState, "contact_suite/get_state")
        self._asked: Any = None
        self._active = False
        self.create_timer(0.1, self._ask)

    def _heard(self, number: int) -> Callable[[bytes], None]:
        def heard(data: bytes) -> None:
            self._keep(Frame(number, time.time_ns(), data))

        return heard

    def _on_transition(self, event: TransitionEvent) -> None:
        if (event.start_state.id, event.goal_state.id) == (State.TRANSITION_STATE_CONFIGURING, _UNCONFIGURED):
            self._keep(Frame(FAILED, time.time_ns(), b""))

    def _ask(self) -> None:
        """Ask the suite whether it is active yet; the answer arrives with later callbacks."""
        if self._active:
            return
        if self._asked is not None and self._asked.done():
            self._active = self._asked.result().current_state.id == State.PRIMARY_STATE_ACTIVE
            self._asked = None
            if self._active:
                self._keep(Frame(READY, time.time_ns(), b""))
        elif self._asked is None and self._state.service_is_ready():
            self._asked = self._state.call_async(GetState.Request())


def _write(frames: queue.SimpleQueue[Frame | None]) -> None:
    out = sys.stdout.buffer
    while (frame := frames.get()) is not None:
        out.write(packed(frame))
        if frames.empty():
            out.flush()
    out.flush()


def main() -> None:
    """Listen until standard input ends or has a line."""
    rclpy.init(args=sys.argv)
    frames: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
    writer = threading.Thread(target=_write, args=(frames,))
    writer.start()
    stop = threading.Event()

    def wait_for_line() -> None:
        sys.stdin.readline()
        stop.set()

    threading.Thread(target=wait_for_line, daemon=True).start()
    monitor = DemoMonitor(frames.put)
    executor = make_executor()
    executor.add_node(monitor)
    gc.freeze()
    interrupted = interrupted_by_signals()
    try:
        while rclpy.ok() and not stop.is_set() and not interrupted():
            executor.spin_once(timeout_sec=0.05)
    except KeyboardInterrupt:
        pass
    finally:
        frames.put(None)
        writer.join()
        executor.remove_node(monitor)
        monitor.destroy_node()
        executor.shutdown()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
