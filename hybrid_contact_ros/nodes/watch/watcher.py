"""The node of ``hybrid-contact watch``: finds running suites and listens to them.

It takes messages best effort and as bytes, so that it never holds a suite up. Two things it does change: flags and
sensitivities are computed while somebody subscribes to them. Flags are subscribed to unless ``flags`` is false, and
sensitivities never, unless they are recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message

from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.watching.absent import nothing_heard
from hybrid_contact_ros.watching.diagnosis import of_suite, read
from hybrid_contact_ros.watching.robot import WatchedRobot

MODE_TYPE = "hybrid_contact_msgs/msg/ContactMode"
TRUTH = "truth"
"""A namespace of this name holds the contact modes of a simulator, as the demo has it, and no suite."""
_LOOK = 0.5  # s between two looks for new suites
# A deep queue, because a look at the graph takes milliseconds; best effort: a slow watcher loses, the suite does not.
LISTENER = QoSProfile(reliability=ReliabilityPolicy.BEST_EFFORT, history=HistoryPolicy.KEEP_LAST, depth=200)


class Watcher(Node):
    """Finds the suites and keeps what they say.

    Args:
        namespaces: those to watch; none: all in which a ``contact_mode`` is published, or a node of the suite reports.
        flags: whether to subscribe to ``constraint_stability``, which makes the suite compute it.

    Attributes:
        robots: what was heard, by namespace.
    """

    def __init__(self, namespaces: Sequence[str] = (), flags: bool = True, **options: Any) -> None:
        options.setdefault("enable_rosout", False)
        super().__init__("hybrid_contact_watch", start_parameter_services=False, **options)
        self.robots: dict[str, WatchedRobot] = {}
        self._wanted = tuple("/" + name.strip("/") for name in namespaces)
        self._flags = flags
        for namespace in self._wanted:
            self._add(namespace)
        # Reliable and deep: a suite reports once a second, and each report counts.
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 50)
        self._timer = self.create_timer(_LOOK, self.look)
        self.look()

    @property
    def heard(self) -> list[WatchedRobot]:
        """The robots of which anything was heard, by name."""
        return [robot for _, robot in sorted(self.robots.items()) if robot.predictions or robot.nodes]

    def look(self) -> None:
        """Look for suites that are not listened to yet."""
        if self._wanted:
            return
        for topic, kinds in self.get_topic_names_and_types():
            namespace, _, name = topic.rpartition("/")
            truth = namespace.rpartition("/")[2] == TRUTH
            if name == "contact_mode" and MODE_TYPE in kinds and not truth and self.count_publishers(topic):
                self._add(namespace or "/")

    def absence(self) -> str:
        """What to say while nothing is heard."""
        own = self.get_fully_qualified_name()
        mine = {s.topic_name for s in self.subscriptions}
        topics = {
            name: kinds
            for name, kinds in self.get_topic_names_and_types()
            if name not in mine or self.count_publishers(name)
        }
        pairs = self.get_node_names_and_namespaces()
        nodes = sorted({f"{space.rstrip('/')}/{name}" for name, space in pairs} - {own})
        others = sorted({t.rpartition("/")[0] or "/" for t, kinds in topics.items() if MODE_TYPE in kinds})
        others = [name for name in others if name.rpartition("/")[2] != TRUTH and name not in self._wanted]
        return nothing_heard(topics, nodes, ", ".join(self._wanted) or None, others if self._wanted else ())

    def _add(self, namespace: str) -> WatchedRobot:
        if namespace in self.robots:
            return self.robots[namespace]
        robot = self.robots[namespace] = WatchedRobot(namespace)

        def listen(kind: type, name: str, take: Callable[[bytes, int], None]) -> None:
            topic = f"{namespace.rstrip('/')}/{name}"
            self.create_subscription(kind, topic, lambda data: take(data, time.time_ns()), LISTENER, raw=True)

        listen(ContactMode, "contact_mode", robot.mode)
        listen(PostImpactVelocitySet, "impact_set", robot.impact)
        listen(ContactEvent, "contact_events", lambda data, _: robot.event(deserialize_message(data, ContactEvent)))
        if self._flags:
            listen(ConstraintStability, "constraint_stability", robot.stability)
        return robot

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        now = time.time_ns()
        for status in array.status:
            if not of_suite(status):
                continue
            found = read(status, now)
            if not self._wanted or found.namespace in self._wanted:
                self._add(found.namespace).diagnosis(found)
