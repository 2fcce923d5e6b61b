"""Lifecycle node ``contact_markers``: it shows the contact modes of the suite in RViz."""

from __future__ import annotations

import sys
import time
from copy import copy
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.serialization import deserialize_message
from visualization_msgs.msg import MarkerArray

from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.config_own import OWN, MarkerConfig
from hybrid_contact_ros.parameter_values import checked
from hybrid_contact_ros.ros.boundary import protected
from hybrid_contact_ros.ros.executor import by_hand, run_node
from hybrid_contact_ros.ros.markers import ContactMarkers
from hybrid_contact_ros.ros.parameters import declare_own, faults
from hybrid_contact_ros.ros.qos import OUTPUT, STATE_INPUT, overridable

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_DRAWN = tuple(spec.name for spec in fields(MarkerConfig))


class ContactMarkersNode(LifecycleNode):
    """Draws what ``contact_mode`` says, at most at ``marker_rate``. It computes nothing and needs no robot description.

    Messages arrive as bytes, and only those that are drawn are decoded, because the decoding takes longer than all the
    rest. The subscription is best effort with depth 1, so that a slow screen never holds up the suite.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("contact_markers", **options)
        declare_own(self, "marker_rate", "marker_size", "autostart")
        self.add_on_set_parameters_callback(self._on_parameters)
        self._why = "not configured"
        self._active = False
        self._markers: ContactMarkers | None = None
        self._period = self._due = 0.0
        self._received = self._published = 0
        self._fault = ""
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", OUTPUT)
        wall = Clock(clock_type=ClockType.STEADY_TIME)  # a person watches: a paused simulation does not pause this
        self._diagnosed = time.perf_counter()
        self.create_timer(1.0, self._diagnose, clock=wall)
        self._starter = self.create_timer(0.1, self._autostart, clock=wall)

    # ------------------------------------------------------------------ lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        wrong = self._wrong()
        if wrong:
            self._why = f"not configured: {wrong}"
            self.get_logger().error(self._why)
            return FAILURE
        self._markers = ContactMarkers(float(self.get_parameter("marker_size").value))
        self._period = 1.0 / float(self.get_parameter("marker_rate").value)
        self._output: Any = self.create_lifecycle_publisher(
            MarkerArray, "contact_markers", copy(OUTPUT), qos_overriding_options=overridable()
        )
        self._input = self.create_subscription(
            ContactMode,
            "contact_mode",
            self._on_mode,
            copy(STATE_INPUT),
            raw=True,
            qos_overriding_options=overridable(),
        )
        self.get_logger().info(f"configured: shows {self._input.topic_name} at up to {1 / self._period:.3g} Hz")
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._active = True
        self._received = self._published = 0
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._active = False
        assert self._markers is not None
        self._output.publish(self._markers.clear())
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._destroy()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._destroy()
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._destroy()
        return SUCCESS

    def destroy_node(self) -> None:
        """Destroy the node as any other. Its state machine, which keeps the handle, must not keep it in the ROS
        graph."""
        super().destroy_node()
        self._state_machine: Any = None

    def _destroy(self) -> None:
        self._active, self._why = False, "not configured"
        if self._markers is not None:
            self._markers = None
            self.destroy_subscription(self._input)
            self.destroy_lifecycle_publisher(self._output)

    def _autostart(self) -> None:
        self._starter.cancel()
        if self.get_parameter("autostart").value:
            if self.trigger_configure() == SUCCESS:
                self.trigger_activate()
        elif self._markers is None:
            name = self.get_fully_qualified_name()
            self.get_logger().info(
                f"waiting to be configured: {by_hand(name, 'configure')}, then {by_hand(name, 'activate')}; with the "
                "parameter autostart:=true the node does both"
            )

    # ------------------------------------------------------------------ messages

    def _on_mode(self, data: bytes) -> None:
        self._received += 1
        now = time.monotonic()
        if not self._active or now < self._due:
            return
        late = now - self._due
        self._due = (self._due if late < self._period else now) + self._period  # in step with the rate where possible
        if not self._output.get_subscription_count():
            return
        assert self._markers is not None
        try:
            message = deserialize_message(data, ContactMode)
        except rclpy_implementation.RMWError as error:  # it comes from another version of the messages
            self._fault = f"a contact_mode could not be read: {error}"
            self.get_logger().warning(self._fault, throttle_duration_sec=5.0)
            return
        with protected(self.get_logger(), self._failed):
            self._output.publish(self._markers.update(message))
            self._published += 1

    def _failed(self, why: str) -> None:
        self._fault = why

    # ------------------------------------------------------------------ parameters and diagnostics

    def _on_parameters(self, parameters: list[Any]) -> SetParametersResult:
        """The rate and the size may change at any time."""
        for parameter in parameters:
            wrong = _out_of_range(parameter.name, parameter.value)
            if wrong:
                return SetParametersResult(successful=False, reason=wrong)
        for parameter in parameters:
            faults(self).pop(parameter.name, None)
            if parameter.name == "marker_rate":
                self._period = 1.0 / float(parameter.value)
            elif parameter.name == "marker_size" and self._markers is not None:
                self._markers.size = float(parameter.value)
        return SetParametersResult(successful=True)

    def _wrong(self) -> str:
        """What is wrong with the parameters that were given, or an empty text. The parameters of other nodes, which may
        stand in the same file, are not looked at."""
        for text in faults(self).values():
            return text
        for name in _DRAWN:
            wrong = _out_of_range(name, self.get_parameter(name).value)
            if wrong:
                return wrong
        for name in self._parameter_overrides:
            if name.startswith("marker") and not self.has_parameter(name):
                near = get_close_matches(name, _DRAWN, 1)
                return f"unknown parameter {name}" + (f"; is {near[0]} meant?" if near else "")
        return ""

    def _diagnose(self) -> None:
        now = time.perf_counter()
        seconds, self._diagnosed = max(now - self._diagnosed, 1e-3), now
        status = DiagnosticStatus(name=f"{self.get_fully_qualified_name()}: markers", hardware_id=self.get_name())
        if self._markers is None:
            status.level, status.message = DiagnosticStatus.WARN, self._why
        else:
            topic = self._input.topic_name
            publishers = self.count_publishers(topic)
            values = {
                "contact_mode rate [Hz]": f"{self._received / seconds:.1f}",
                "markers rate [Hz]": f"{self._published / seconds:.1f}",
                "publishers on contact_mode": str(publishers),
                "subscribers": str(self._output.get_subscription_count()),
            }
            status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
            status.level, status.message = self._verdict(topic, publishers)
        self._received = self._published = 0
        self._fault = ""
        report = DiagnosticArray(status=[status])
        report.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(report)

    def _verdict(self, topic: str, publishers: int) -> tuple[bytes, str]:
        if not self._active:
            return DiagnosticStatus.OK, f"inactive; {by_hand(self.get_fully_qualified_name(), 'activate')} activates it"
        if self._fault:
            return DiagnosticStatus.ERROR, self._fault
        if not publishers:
            return DiagnosticStatus.STALE, f"nobody publishes {topic}: is the suite running in this namespace?"
        if not self._received:
            return DiagnosticStatus.STALE, f"nothing comes on {topic}"
        if publishers > 1:
            return DiagnosticStatus.WARN, f"more than one publisher on {topic}"
        return DiagnosticStatus.OK, "showing" if self._published else "nobody subscribes to the markers"


def _out_of_range(name: str, value: Any) -> str:
    if name not in _DRAWN:
        return ""
    try:
        checked(OWN[name], name, value)
    except ValueError as error:
        return str(error)
    return ""


def main() -> None:
    """Run the node until it is interrupted."""
    sys.exit(run_node(ContactMarkersNode))


if __name__ == "__main__":
    main()
