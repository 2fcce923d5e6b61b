"""What a node with an engine offers to its parts, which know nothing else of it."""

from __future__ import annotations

import time
from copy import copy
from typing import Any

from rclpy.clock import JumpThreshold, TimeJump
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile

from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.prediction import Prediction
from hybrid_contact_ros.ros.qos import OUTPUT, overridable


class Host(LifecycleNode):
    """A lifecycle node that knows the time, and keeps what is to be destroyed at cleanup.

    Attributes:
        parts: what its outputs are made of. later: those of them that begin when their kernels are compiled.
    """

    parts = Parts.MODE
    later = Parts(0)
    kept = Parts.MODE

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        changes = JumpThreshold(min_forward=None, min_backward=None, on_clock_change=True)
        self._clock_changes = self.get_clock().create_jump_callback(changes, post_callback=self._look_at_clock)
        self._look_at_clock()  # the constructor may have set it
        self._active = False
        self._managed: list[tuple[Any, Any]] = []  # (destroy, entity), newest last
        self._threads: dict[bool, list[int]] = {True: [], False: []}  # native ids: of sets, of requests

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        """Publish what this node says of a state. Its impact set comes later, from a thread of its own."""

    def output(self, kind: type, topic: str, qos: QoSProfile = OUTPUT) -> Any:
        """A publisher that lives until cleanup and is silent while inactive."""
        publisher: Any = self.create_lifecycle_publisher(kind, topic, copy(qos), qos_overriding_options=overridable())
        self.keep(self.destroy_lifecycle_publisher, publisher)
        return publisher

    def keep(self, destroy: Any, entity: Any) -> Any:
        """Call ``destroy(entity)`` at cleanup."""
        self._managed.append((destroy, entity))
        return entity

    def has_thread(self, native_id: int, sets: bool) -> None:
        """The node has another thread until cleanup, which computes ``sets`` of the stream, or answers requests."""
        self._threads[sets].append(native_id)

    def now_ns(self) -> int:
        """Time by the node's clock, which is the system's unless ``use_sim_time`` is set."""
        if not self._simulated_time:
            return time.time_ns()  # to ask the node's clock for the same number takes 15 times as long
        handle = self.get_clock().handle
        with handle:
            return int(handle.get_now().nanoseconds)

    def _look_at_clock(self, _: TimeJump | None = None) -> None:
        self._simulated_time = bool(self.get_clock().ros_time_is_active)  # type: ignore[attr-defined]

    def unheard(self) -> int:
        """The parts (bits of Parts) that nobody listens to now, and which the next state is answered without."""
        return 0

    @property
    def active(self) -> bool:
        """Whether the node is in the lifecycle's active state, enabled or not."""
        return self._active

    @property
    def lifecycle_state(self) -> int:
        """State of the lifecycle, a constant of ``lifecycle_msgs/State``."""
        return int(self._state_machine.current_state[0])
