#!/usr/bin/env python3
"""A ROS node: the low-level command of a quadruped, as the suite's input ``joint_command``.

    python3 examples/low_command.py --ros-args -p use_sim_time:=false

``unitree_go/LowCmd`` and its like have an array of motors, each with q, dq, tau, kp and kd, without names and without a
stamp. The suite takes ``hybrid_contact_msgs/JointCommand``, which has both, with its parameter ``input.command`` set to
``joint_command``. Commands are stamped when they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

from hybrid_contact_msgs.msg import JointCommand

# Joints in the order of the motors of a Go2, by their names in its URDF.
GO2 = tuple(f"{leg}_{joint}_joint" for leg in ("FR", "FL", "RR", "RL") for joint in ("hip", "thigh", "calf"))
# What the motors take for "no position" and "no velocity".
NO_POSITION, NO_VELOCITY = 2.146e9, 16000.0
NAN = float("nan")


def joint_command(motors: Sequence[Any], joints: Sequence[str]) -> JointCommand:
    """The command of the first motors, one for each of the joints."""
    told = JointCommand(name=list(joints))
    for motor in motors[: len(joints)]:
        told.position.append(NAN if abs(motor.q) >= NO_POSITION else float(motor.q))
        told.velocity.append(NAN if abs(motor.dq) >= NO_VELOCITY else float(motor.dq))
        told.effort.append(float(motor.tau))
        told.stiffness.append(float(motor.kp))
        told.damping.append(float(motor.kd))
    return told


class LowCommandAdapter(Node):
    """Publishes each low-level command as a ``JointCommand``."""

    def __init__(self, joints: Sequence[str] = GO2, **options: Any) -> None:
        super().__init__("low_command", **options)
        self._joints = tuple(joints)
        self._publisher = self.create_publisher(JointCommand, "joint_command", 1)

    def on_low_command(self, received: Any) -> None:
        told = joint_command(received.motor_cmd, self._joints)
        told.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(told)


def main() -> None:
    try:
        from unitree_go.msg import LowCmd  # of the robot's own packages
    except ModuleNotFoundError:
        raise SystemExit("low_command.py: the message package unitree_go of the robot maker is not sourced") from None

    rclpy.init()
    node = LowCommandAdapter()
    node.create_subscription(LowCmd, "lowcmd", node.on_low_command, qos_profile_sensor_data)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


if __name__ == "__main__":
    main()
