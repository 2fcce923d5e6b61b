"""How a node runs: one process, one executor, and an end without tracebacks."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from hybrid_contact_ros.ros.arguments import start_fault
from hybrid_contact_ros.ros.realtime import precise_waits
from hybrid_contact_ros.ros.slices import short_slices

_at_once: list[bool] = []  # not empty while the first signal ends the process
_IMPATIENT = 1.0  # s; signals closer than this count as one: ros2 launch sends its own after that of the terminal
_SWITCH = 2e-5  # s; another thread of the node may hold a state up by this much (Python's default is 5 ms)


def by_hand(name: str, transition: str) -> str:
    """The command that takes the node of this full name through a transition of its lifecycle."""
    return f"`ros2 lifecycle set {name} {transition}`"


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
    """A function that says whether Ctrl-C or SIGTERM has come. Call it in the main thread, and leave rclpy's handlers
    out.

    No exception is raised for a signal: it could break out of the executor's conversions between C++ and Python.
    rclpy's own handler takes the context away under a message that is being published. Either ended a node with a
    traceback now and then. A signal that comes more than a second after the first one ends the process at once, with
    the exit code 0 of the first: whoever sends it has lost patience with what is still running.
    """
    came: list[float] = []

    def note(number: int, _: object) -> None:
        now = time.monotonic()
        if _at_once:
            os.write(2, b"interrupted while kernels were compiled; those that are finished are kept\n")
            os._exit(0)
        if came and now - came[0] > _IMPATIENT:
            os._exit(0)
        came.append(now)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    return lambda: bool(came)


@contextmanager
def ended_at_once() -> Iterator[None]:
    """While the block runs, the first signal ends the process: for what takes long, asks nobody and leaves nothing
    behind."""
    _at_once.append(True)
    try:
        yield
    finally:
        _at_once.clear()


def ignore_signals() -> None:
    """To be called at the end of a process, where a late Ctrl-C must not kill the interpreter while it cleans up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def run_node(make: Callable[[], Node], ended: Callable[[], bool] = lambda: False) -> int:
    """Run a node until shutdown, Ctrl-C, SIGTERM, or until it is ``ended``, which is asked ten times a second.

    Returns:
        the exit code: 0, or 1 with one line on stderr where the node cannot start with the arguments of the process.
    """
    interrupted = interrupted_by_signals()
    sys.setswitchinterval(_SWITCH)
    precise_waits()  # or else the system makes 0.07 ms of it
    short_slices()  # or else a thread that wakes up waits for others, up to 4 ms
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        node = make()
    except Exception as error:  # rclpy raises kinds of its own; what is not about the arguments is raised again
        fault = start_fault(error, sys.argv[1:])
        if fault is None:
            raise
        print(f"{os.path.basename(sys.argv[0])}: {fault}", file=sys.stderr)
        ignore_signals()
        return 1
    executor = make_executor()
    executor.add_node(node)
    try:
        # EventsExecutor.spin() ran no callbacks in the Kilted wheels; spin_once in a loop does.
        while rclpy.ok() and not interrupted() and not ended():
            executor.spin_once(timeout_sec=0.1)
    except ExternalShutdownException:
        pass
    finally:
        executor.remove_node(node)
        node.destroy_node()
        executor.shutdown()
        rclpy.try_shutdown()
        ignore_signals()
    return 0
