"""A node's reports on itself: ``/diagnostics`` once a second, and in the log what a state costs on this machine."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock

from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.monitoring.cost import measure
from hybrid_contact_ros.monitoring.verdict import Level
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.nodes.startup import Startup
from hybrid_contact_ros.nodes.state_stream import StateStream
from hybrid_contact_ros.ros.diagnostics import diagnosis, unconfigured
from hybrid_contact_ros.ros.executor import by_hand
from hybrid_contact_ros.ros.qos import OUTPUT
from hybrid_contact_ros.ros.realtime import Realtime

_PERIOD = 1.0  # s


class Reports:
    """Publishes the diagnostics of a node, configured or not (where ``stream()`` is None).

    Attributes:
        begun: when the period that is counted now began, by ``time.perf_counter``.
    """

    def __init__(
        self,
        node: Host,
        startup: Startup,
        realtime: Realtime,
        wall: Clock,
        stream: Callable[[], StateStream | None],
    ) -> None:
        self._node, self._startup, self._realtime, self._stream = node, startup, realtime, stream
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", OUTPUT)
        self.begun = time.perf_counter()
        self._page_faults = _page_faults()
        node.create_timer(_PERIOD, self._diagnose, clock=wall)

    def begin(self) -> None:
        """Count from here on."""
        self.begun = time.perf_counter()

    def _diagnose(self) -> None:
        node = self._node
        stream, name = self._stream(), node.get_fully_qualified_name()
        if stream is None:
            self._publish(unconfigured(name, node.get_name(), self._startup.unconfigured()))
            return
        now = time.perf_counter()
        publishers = {
            topic: node.count_publishers(node.resolve_topic_name(topic)) for topic in (*stream.inputs, *stream.beside)
        }
        idle = "" if stream.enabled else "disabled by ~/enable"
        if not node.active:
            idle = f"inactive; {by_hand(name, 'activate')} activates it"
        said, values = stream.monitor.report(
            max(now - self.begun, 1e-3),
            idle,
            stream.intake,
            publishers,
            stream.budget.left_out,
            self._startup.outdated(),
        )
        unmade = [(Level.WARN, fault) for fault in self._realtime.faults]
        said = sorted(
            [*(each for each in said if each[0] > Level.OK or not unmade), *unmade], key=lambda each: -each[0]
        )
        values["real time"] = ", ".join(self._realtime.made) or "nothing set"
        faults, self._page_faults = self._page_faults, _page_faults()
        values["page faults"] = str(self._page_faults - faults)
        self._publish(diagnosis(name, node.get_name(), said, values))
        self.begun = now
        self._realtime.idle()

    def _publish(self, report: DiagnosticArray) -> None:
        report.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(report)


def _page_faults() -> int:
    """Of this process since it began."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_minflt + usage.ru_majflt


def tell_cost(logger: Any, estimator: ContactEstimator, parts: Parts) -> None:
    """Log how many states a second this machine can answer, where a state could be made up to measure it on."""
    cost = measure(estimator, parts)
    if cost is None:
        return
    sets = (
        f"; an impact set takes {1e3 * cost.impact:.2f} ms beside them, on a thread of its own" if cost.impact else ""
    )
    logger.info(
        f"a state with {cost.closed} contacts closed takes {1e3 * cost.update:.2f} ms on this machine now (worst "
        f"{1e3 * cost.worst:.2f} ms): up to some {1.0 / cost.update:.0f} states a second can be answered{sets}"
    )
