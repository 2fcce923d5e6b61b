"""In place of the suite: a node that answers each joint state with the same contact mode, and computes nothing.

It shows which share of its states the demo could have answered on this machine at all. To robot and listener it is the
suite: it has its name, says that it is active, and its answers are as long as those of the suite.
"""

from __future__ import annotations

import gc
import sys

from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState

from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.demo.go2_model import FOOT_NAMES
from hybrid_contact_ros.messages.envelope import PlainNames
from hybrid_contact_ros.messages.prepared import PreparedMessage
from hybrid_contact_ros.messages.truth import TruthEncoder
from hybrid_contact_ros.ros.executor import run_node
from hybrid_contact_ros.ros.message_types import message_types
from hybrid_contact_ros.ros.qos import OUTPUT, STATE_INPUT

_STAMP = slice(4, 12)  # where the bytes of a message whose first field is its header have the stamp


class DemoEcho(Node):
    """Answers with the stamp of the joint state and nothing else of it."""

    def __init__(self) -> None:
        super().__init__("contact_suite")
        open_feet = TruthEncoder(message_types(), PlainNames(FOOT_NAMES), "odom").truth(0, [False] * len(FOOT_NAMES))
        self._answer = bytearray(bytes(PreparedMessage("ContactMode", open_feet)))
        self._mode = self.create_publisher(ContactMode, "contact_mode", OUTPUT)
        self.create_subscription(JointState, "joint_states", self._on_joint_state, STATE_INPUT, raw=True)
        self.create_subscription(Odometry, "odom", lambda _: None, STATE_INPUT, raw=True)
        self.create_service(GetState, "~/get_state", self._on_get_state)
        gc.freeze()

    def _on_joint_state(self, data: bytes) -> None:
        self._answer[_STAMP] = data[_STAMP]
        self._mode.publish(bytes(self._answer))

    def _on_get_state(self, request: GetState.Request, response: GetState.Response) -> GetState.Response:
        response.current_state.id, response.current_state.label = State.PRIMARY_STATE_ACTIVE, "active"
        return response


def main() -> None:
    """Answer until the process is interrupted."""
    sys.exit(run_node(DemoEcho))


if __name__ == "__main__":
    main()
