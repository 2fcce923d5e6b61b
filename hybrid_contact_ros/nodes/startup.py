"""When a node configures itself: at the start, and when the robot description changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lifecycle_msgs.msg import State
from rclpy.clock import Clock
from rclpy.lifecycle import TransitionCallbackReturn

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.ros.description import RobotDescription
from hybrid_contact_ros.ros.diagnostics import NO_DESCRIPTION, NOT_CONFIGURED
from hybrid_contact_ros.ros.executor import by_hand
from hybrid_contact_ros.ros.parameters import declare_own

_UNCONFIGURED = State.PRIMARY_STATE_UNCONFIGURED
SUCCESS = TransitionCallbackReturn.SUCCESS


def compiling_logger(node: Any) -> Any:
    """The logger of the lines that tell how far the compilation is, so that they can be switched off by name."""
    return node.get_logger().get_child("compiling")


class Startup:
    """The parameters ``autostart`` and ``reconfigure_on_new_description``, and the result of the last try.

    Configuring depends on the parameters and on the robot description. It is tried once with the same ones, and again
    when either changes.

    Args:
        node, description: what is configured, and with what. wall: the clock of its timers.
        config: that in use, or None while the node is not configured.

    Attributes:
        why: why the last try failed; empty where it did not.
        tried: parameters and description of the last try; None before the first.
    """

    def __init__(
        self, node: Host, description: RobotDescription, wall: Clock, config: Callable[[], EstimatorConfig | None]
    ) -> None:
        self._node, self._description, self._config = node, description, config
        declare_own(node, "autostart", "reconfigure_on_new_description")
        self.why = ""
        self.tried: object = None
        self._told = False  # what it waits for
        self._settings = 0  # how often parameters were set
        self._starter = node.create_timer(0.1, self._autostart, clock=wall)
        node.create_timer(0.5, self._follow_description, clock=wall)

    def note_try(self, origin: object, why: str) -> None:
        """Configuring was tried with the description of this ``origin``. It failed for the reason ``why``, which is
        empty where it succeeded."""
        self.tried, self.why = (self._settings, origin), why

    def note_parameters(self, parameters: Sequence[Any]) -> None:
        """Parameters were set, so that what failed may now succeed."""
        self._settings += 1
        if any(p.name == "autostart" for p in parameters):
            self._starter.reset()

    def unconfigured(self) -> str:
        """A sentence on a node that is not configured, with the reason where there is one."""
        why = self.why or ("" if self._description.there else NO_DESCRIPTION)
        said = f"{NOT_CONFIGURED}: {why}" if why else NOT_CONFIGURED
        if self._asked_for("autostart"):
            return said
        return f"{said}; {by_hand(self._node.get_fully_qualified_name(), 'configure')} configures it"

    def outdated(self) -> str:
        """A sentence where the model in use is not that of the present robot description; else an empty text."""
        if not self._description.replaced:
            return ""
        if self.why and self.tried == self._attempt:
            return f"the new robot description is not used, the old one goes on: {self.why}"
        return "there is another robot description: the old one is used until the node is configured anew"

    @property
    def _attempt(self) -> object:
        return self._settings, self._description.origin

    def _asked_for(self, parameter: str) -> bool:
        return bool(self._node.get_parameter(parameter).value)

    def _autostart(self) -> None:
        node = self._node
        if not self._asked_for("autostart") or node.lifecycle_state != _UNCONFIGURED:
            self._starter.cancel()
            if node.lifecycle_state == _UNCONFIGURED and not self._told:
                self._told = True
                name = node.get_fully_qualified_name()
                node.get_logger().info(
                    f"waiting to be configured: {by_hand(name, 'configure')}, then {by_hand(name, 'activate')}; with "
                    "the parameter autostart:=true the node does both as soon as the robot description is there"
                )
            return
        if not self._description.there:
            node.get_logger().info("waiting for robot_description", throttle_duration_sec=5.0)
            return
        if self.tried == self._attempt:
            return
        if node.trigger_configure() == SUCCESS:
            self._starter.cancel()
            node.trigger_activate()

    def _follow_description(self) -> None:
        """Start anew with another robot description, where that is asked for and the description can be used."""
        node, description, config = self._node, self._description, self._config()
        if (
            self.tried == self._attempt
            or not description.replaced
            or not self._asked_for("reconfigure_on_new_description")
            or config is None
        ):
            return
        self.tried = self._attempt
        try:
            ContactEstimator(RigidBodyModel.from_urdf(description.text(), config), config)
        except ValueError as error:
            self.why = str(error)
            node.get_logger().error(f"the new robot description is not used, the old one goes on: {error}")
            return
        node.get_logger().info("configuring anew: there is another robot description")
        active = node.active
        if active:
            node.trigger_deactivate()
        node.trigger_cleanup()
        if node.trigger_configure() == SUCCESS and active:
            node.trigger_activate()
