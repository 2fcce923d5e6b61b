"""Spin nodes with the lowest latency that this rclpy has."""

from __future__ import annotations

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node


def make_executor() -> Executor:
    """The EventsExecutor (half the processor time of the others), or the SingleThreadedExecutor before Kilted.

    Never the MultiThreadedExecutor: at 1 kHz it answers about 1 % of the messages.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def spin(node: Node) -> None:
    """Spin until shutdown or Ctrl-C, then destroy the node."""
    executor = make_executor()
    executor.add_node(node)
    try:
        # EventsExecutor.spin() ran no callbacks in the Kilted wheels; spin_once in a loop does.
        while rclpy.ok():
            executor.spin_once(timeout_sec=0.1)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.remove_node(node)
        node.destroy_node()
        executor.shutdown()
        rclpy.try_shutdown()
