"""A recording of all that the watched suites hear and say: what a replay needs, and what to compare it with.

Which topics these are, the graph tells: whatever a node of a suite subscribes to or publishes, by whatever name. A
recording is kept however the watch ends, for what was recorded is often of the moment that went wrong.
"""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.nodes.watch.watcher import Watcher
from hybrid_contact_ros.ros.qos import LATCHED
from hybrid_contact_ros.ros.subscription import Numbered

_LOOK = 1.0  # s between two looks for topics that are not recorded yet
_DEPTH = 1000  # messages; the disk may stall for a moment
_NOT_RECORDED = ("/rosout", "/parameter_events", "/clock")
_DIAGNOSTICS = "/diagnostics"


class Recorder:
    """Records every topic that the nodes of the watched suites have.

    Args:
        watcher: the node that listens.
        out: ``NAME.mcap``, ``NAME.db3`` or a folder.
        force: replace what is there.

    Attributes:
        counts: messages recorded, by topic. left_out: topics that cannot be recorded, and why.

    Raises:
        BagError: there cannot be a recording of that name.
    """

    def __init__(self, watcher: Watcher, out: Path, force: bool = False) -> None:
        self._watcher = watcher
        self._writer = BagWriter(out, force=force)
        self.out = out
        self.counts: dict[str, int] = {}
        self.left_out: dict[str, str] = {}
        self._subscriptions: list[Any] = []
        self._open = True
        self._timer = watcher.create_timer(_LOOK, self.look)
        self.look()

    def look(self) -> None:
        """Begin to record topics that are new in the graph."""
        self._record(_DIAGNOSTICS, "diagnostic_msgs/msg/DiagnosticArray", False)
        for topic, kinds in self._topics().items():
            if topic in self.counts or topic in self.left_out or topic in _NOT_RECORDED:
                continue
            if len(kinds) != 1:
                self.left_out[topic] = f"it has messages of several types: {', '.join(kinds)}"
                continue
            latched = any(
                info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
                for info in self._watcher.get_publishers_info_by_topic(topic)
            )
            self._record(topic, kinds[0], latched)

    def close(self) -> None:
        """End the recording and keep it. May be called twice."""
        if not self._open:
            return
        self._open = False
        self._watcher.destroy_timer(self._timer)
        for subscription in self._subscriptions:
            self._watcher.destroy_subscription(subscription)
        self._writer.__exit__(None, None, None)

    def _topics(self) -> dict[str, list[str]]:
        """Topics that have a publisher, of the nodes of all suites that were heard, with their types."""
        watcher, found = self._watcher, dict[str, list[str]]()
        spaces = {robot.namespace for robot in watcher.heard}
        known = {node for robot in watcher.heard for node in robot.nodes}
        for name, namespace in watcher.get_node_names_and_namespaces():
            if namespace not in spaces or (known and f"{namespace.rstrip('/')}/{name}" not in known):
                continue
            found.update(_of_node(watcher, name, namespace))
        return {topic: kinds for topic, kinds in found.items() if watcher.count_publishers(topic)}

    def _record(self, topic: str, kind: str, latched: bool) -> None:
        if topic in self.counts:
            return
        package, _, name = kind.partition("/msg/")
        if kind not in typestore().types:
            self.left_out[topic] = f"{kind} is not known to the writer of recordings"
            return
        try:
            message = getattr(import_module(f"{package}.msg"), name)
        except (ImportError, AttributeError):
            self.left_out[topic] = f"{package} is not installed here"
            return
        # Best effort, so that a full disk holds up no publisher.
        qos = LATCHED if latched else QoSProfile(
            reliability=ReliabilityPolicy.BEST_EFFORT, history=HistoryPolicy.KEEP_LAST, depth=_DEPTH
        )  # fmt: skip
        self._writer.add(topic, kind, latched=latched)
        self.counts[topic] = 0

        def keep(data: bytes, number: int | None, writer: Any, received: int) -> None:
            if self._open:
                self._writer.write(topic, received or time.time_ns(), data)
                self.counts[topic] += 1

        self._subscriptions.append(
            self._watcher.create_subscription(message, topic, Numbered(keep), qos, raw=True)  # type: ignore[arg-type]
        )


def _of_node(watcher: Node, name: str, namespace: str) -> dict[str, list[str]]:
    """What a node publishes and subscribes to. One that has just gone has nothing."""
    found: dict[str, list[str]] = {}
    for ask in (watcher.get_publisher_names_and_types_by_node, watcher.get_subscriber_names_and_types_by_node):
        try:
            found.update(dict(ask(name, namespace)))
        except Exception as error:  # rclpy's NodeNameNonExistentError is no public name in every version
            if type(error).__name__ != "NodeNameNonExistentError":
                raise
    return {topic: kinds for topic, kinds in found.items() if not topic.endswith("/transition_event")}
