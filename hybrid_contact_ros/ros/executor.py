"""Spin nodes with the lowest latency that this rclpy has."""

from __future__ import annotations

import signal
from collections.abc import Callable

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


def interrupted_by_signals() -> Callable[[], bool]:
    """Whether Ctrl-C or SIGTERM came since this was called; only the second one raises KeyboardInterrupt.

    As an exception the first could break out of the executor's conversions between C++ and Python, and rclpy's own
    handler takes the context away under a message that is being published: both ended a node with a traceback, now and
    then. Call it after ``rclpy.init``, in the main thread.
    """
    came: list[int] = []

    def note(number: int, _: object) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    return lambda: bool(came)


def spin(node: Node) -> None:
    """Spin until shutdown, Ctrl-C or SIGTERM, then destroy the node."""
    interrupted = interrupted_by_signals()
    executor = make_executor()
    executor.add_node(node)
    try:
        # EventsExecutor.spin() ran no callbacks in the Kilted wheels; spin_once in a loop does.
        while rclpy.ok() and not interrupted():
            executor.spin_once(timeout_sec=0.1)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        executor.remove_node(node)
        node.destroy_node()
        executor.shutdown()
        rclpy.try_shutdown()
