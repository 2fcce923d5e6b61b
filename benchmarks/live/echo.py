"""The floor: a node that takes the bytes of a state and sends them on, and computes nothing.

    python -m benchmarks.live.echo

It subscribes to ``joint_states`` and ``odom`` with the QoS of the suite, and publishes each joint state with that of
the suite's outputs. Nothing that runs in this interpreter, over this middleware, answers more states or answers sooner.
"""

from __future__ import annotations

import gc
import sys

import rclpy
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState

from hybrid_contact_ros.ros.executor import run_node
from hybrid_contact_ros.ros.qos import OUTPUT, STATE_INPUT

TOPIC = "echo"


def make() -> Node:
    node = rclpy.create_node("echo")
    publisher = node.create_publisher(JointState, TOPIC, OUTPUT)
    node.create_subscription(JointState, "joint_states", publisher.publish, STATE_INPUT, raw=True)
    node.create_subscription(Odometry, "odom", lambda _: None, STATE_INPUT, raw=True)
    gc.collect()
    gc.freeze()
    return node


if __name__ == "__main__":
    sys.exit(run_node(make))
