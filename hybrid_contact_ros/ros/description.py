"""Where the URDF comes from: a parameter with its text, a file, or the latched topic."""

from __future__ import annotations

from pathlib import Path

from rclpy.node import Node
from std_msgs.msg import String

from hybrid_contact_ros.ros.parameters import declare_own
from hybrid_contact_ros.ros.qos import LATCHED, overridable


class RobotDescription:
    """Parameters ``robot_description`` (text), then ``urdf_file``, then the topic ``robot_description``, which is
    listened to from the start so that it is there when a node is configured."""

    def __init__(self, node: Node) -> None:
        self._node = node
        declare_own(node, "urdf_file", "", "URDF file; used when robot_description is empty")
        declare_own(node, "robot_description", "", "URDF text; empty: urdf_file, or the topic robot_description")
        self._heard = ""
        self.in_use = False
        node.create_subscription(
            String, "robot_description", self._on_message, LATCHED, qos_overriding_options=overridable()
        )

    @property
    def there(self) -> bool:
        return bool(self._given() or self._heard)

    def urdf(self) -> str | Path:
        """Text or file.

        Raises:
            ValueError: nothing has been given.
        """
        given = self._given() or self._heard
        if not given:
            raise ValueError("no robot description: set robot_description or urdf_file, or publish robot_description")
        return given if given.lstrip().startswith("<") else Path(given)

    def _given(self) -> str:
        value = self._node.get_parameter("robot_description").value or self._node.get_parameter("urdf_file").value
        return str(value)

    def _on_message(self, msg: String) -> None:
        if self._heard and msg.data != self._heard and self.in_use:
            self._node.get_logger().warning("robot_description changed: it is used from the next configure on")
        self._heard = msg.data
