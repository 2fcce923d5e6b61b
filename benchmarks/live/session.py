"""One live measurement: a robot, a node, and this process, which receives what the node sends.

The receiver notes the time of every message and keeps the few bytes that it needs; they are read when all is over.
"""

from __future__ import annotations

import gc
import json
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.live import echo
from benchmarks.live.machine import Load
from benchmarks.live.robot import ROOT, Robot

READY_TIMEOUT = 400.0  # s; without a warm cache the node compiles its kernels first
WARM = 1.0  # s of states that are answered and not counted
_SUITE = "contact_suite"
_STAMP = struct.Struct("<iI")
_TAIL = struct.Struct("<iIiI")
_TAIL_AT = -24
"""``ContactMode`` ends with compute_time, input_age (8 bytes each) and model_hash, eight bytes that end the message."""


@dataclass(frozen=True)
class Variant:
    """A node that is measured.

    Attributes:
        name: for the table. root: the checkout that it belongs to. command: arguments of that checkout's Python.
        suite: a node of the suite, and not the echo node.
    """

    name: str
    root: Path
    command: tuple[str, ...]
    suite: bool


def floor() -> Variant:
    """The echo node."""
    return Variant("floor", ROOT, ("-m", "benchmarks.live.echo"), False)


def suite(name: str, root: Path, robot: Robot, sets: bool = True, log: str = "warn") -> Variant:
    """The suite of a checkout. Without ``sets`` no touchdown is near enough for an impact set."""
    from hybrid_contact_ros.mechanics.example_data import example_urdf

    command = ["-m", "hybrid_contact_ros.nodes.contact_suite", "--ros-args", "--params-file", robot.config]
    command += ["-p", "autostart:=true", "-p", f"urdf_file:={example_urdf(robot.urdf)}", "--log-level", log]
    if not sets:
        command += ["-p", "impact.horizon:=0.0"]
    return Variant(name, root, tuple(command), True)


@dataclass(frozen=True)
class Run:
    """What one measurement found.

    Attributes:
        sent, late: states that were sent, and those that were sent more than half a period late.
        total: ms from the stamp to the reception, of each state that was answered.
        input, compute: ms until the node took the state, and in the node; NaN for the echo node.
        load: of the node, this process and the robot, in that order.
        sets: impact sets received. said: sentences of the node's diagnostics.
    """

    sent: int
    late: int
    total: NDArray[np.float64]
    input: NDArray[np.float64]
    compute: NDArray[np.float64]
    load: Load
    sets: int
    said: list[str]

    @property
    def left_out(self) -> set[str]:
        """Outputs that the node left out for a while to keep up."""
        found = (re.search(r"left out to keep up with \w+: (.*)", text) for text in self.said)
        return {name for match in found if match for name in match[1].split(", ")}


def environment(root: Path) -> dict[str, str]:
    """The environment of a checkout's Python: what points into this checkout's ``.venv`` points into that one's."""
    here, there = str(ROOT / ".venv"), str(root / ".venv")
    found = {name: value.replace(here, there) for name, value in os.environ.items()}
    # Set by the ROS wheels of this process; those of the other checkout find their libraries on their own.
    if found.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None) is not None:
        found.pop("LD_LIBRARY_PATH", None)
    found.setdefault("FASTDDS_DEFAULT_PROFILES_FILE", str(ROOT / "config" / "fastdds_discovery.xml"))
    return found


def python_of(root: Path) -> str:
    """The interpreter of a checkout; that of this process for this one."""
    return sys.executable if root == ROOT else str(root / ".venv" / "bin" / "python")


def latencies(rows: list[tuple[int, bytes, bytes]], stamps: list[int], timed: bool) -> NDArray[np.float64]:
    """Rows (total, input, compute), ms, of what was heard of the states between two stamps.

    Args:
        rows: time of reception, the bytes of the stamp, and those of compute_time and input_age.
        stamps: of the first and the last state that counts.
        timed: whether the last bytes are such times.
    """
    table = []
    for received, head, tail in rows:
        sec, nanosec = _STAMP.unpack(head)
        stamp = sec * 1_000_000_000 + nanosec
        if stamps[0] <= stamp <= stamps[1]:
            a, b, c, d = _TAIL.unpack(tail)
            times = (1e3 * c + 1e-6 * d, 1e3 * a + 1e-6 * b) if timed else (np.nan, np.nan)
            table.append((1e-6 * (received - stamp), *times))
    return np.array(table, np.float64).reshape(-1, 3)


def parts_of(data: bytes) -> tuple[bytes, bytes]:
    """The bytes of a ``ContactMode`` that hold its stamp, and those that hold compute_time and input_age."""
    return data[4:12], data[_TAIL_AT : _TAIL_AT + 16]


class Receiver:
    """A node of this process that listens to the node that is measured."""

    def __init__(self, variant: Variant) -> None:
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray
        from lifecycle_msgs.srv import GetState
        from sensor_msgs.msg import JointState

        from hybrid_contact_msgs.msg import ContactMode, PostImpactVelocitySet
        from hybrid_contact_ros.ros.executor import make_executor

        self.rows: list[tuple[int, bytes, bytes]] = []
        self.set_stamps: list[bytes] = []
        self.said: list[str] = []
        self.sample = b""
        self._rclpy, self._suite = rclpy, variant.suite
        rclpy.init()
        self.node = rclpy.create_node("live_receiver")
        topic, kind = ("contact_mode", ContactMode) if variant.suite else (echo.TOPIC, JointState)
        self._answers = self.node.create_subscription(kind, topic, self._heard, 10, raw=True)
        self._client: Any = None
        if variant.suite:
            self.node.create_subscription(PostImpactVelocitySet, "impact_set", self._heard_set, 10, raw=True)
            self.node.create_subscription(DiagnosticArray, "/diagnostics", self._heard_diagnostics, 10)
            self._client = self.node.create_client(GetState, f"{_SUITE}/get_state")
        self._request = GetState.Request
        self.executor = make_executor()
        self.executor.add_node(self.node)

    def _heard(self, data: bytes) -> None:
        now = time.time_ns()
        self.rows.append((now, data[4:12], data[_TAIL_AT : _TAIL_AT + 16]))
        self.sample = data

    def _heard_set(self, data: bytes) -> None:
        self.set_stamps.append(data[4:12])

    def _heard_diagnostics(self, message: Any) -> None:
        self.said.extend(status.message for status in message.status)

    def ready(self) -> bool:
        """Whether the node is active and connected; spins a little."""
        self.executor.spin_once(timeout_sec=0.05)
        if not self._answers.get_publisher_count():
            return False
        if self._client is None:
            return True
        if not self._client.service_is_ready():
            return False
        asked = self._client.call_async(self._request())
        limit = time.monotonic() + 1.0
        while not asked.done() and time.monotonic() < limit:
            self.executor.spin_once(timeout_sec=0.05)
        return bool(asked.done() and asked.result().current_state.label == "active")

    def check(self) -> None:
        """Compare the times that are read at their places with those of rclpy, on the last message.

        Raises:
            RuntimeError: they differ: the layout of the message is another one.
        """
        if not self._suite:
            return
        from rclpy.serialization import deserialize_message

        from hybrid_contact_msgs.msg import ContactMode

        message = deserialize_message(self.sample, ContactMode)
        head, tail = parts_of(self.sample)
        times = (
            message.compute_time.sec,
            message.compute_time.nanosec,
            message.input_age.sec,
            message.input_age.nanosec,
        )
        if (
            _STAMP.unpack(head) != (message.header.stamp.sec, message.header.stamp.nanosec)
            or _TAIL.unpack(tail) != times
        ):
            raise RuntimeError("ContactMode has another layout than this benchmark reads")

    def close(self) -> None:
        self.executor.remove_node(self.node)
        self.node.destroy_node()
        self._rclpy.try_shutdown()


def _end(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _started(command: list[str], root: Path, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    process = subprocess.Popen(command, cwd=root, env=environment(root), **options)
    try:
        yield process
    finally:
        _end(process)


def measure(variant: Variant, robot: Robot, seconds: float, warm: float = WARM) -> Run:
    """Publish states for some seconds to a node that is active, connected and warm.

    Raises:
        RuntimeError: a process ended early, or nothing was received.
    """
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with _started([python_of(variant.root), *variant.command], variant.root) as node:
        order = {"robot": asdict(robot), "seconds": seconds, "warm": warm, "pids": [node.pid, os.getpid()]}
        command = [sys.executable, "-m", "benchmarks.live.robot", json.dumps(order)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        receiver = Receiver(variant)
        try:
            with _started(command, ROOT, **pipes) as publisher:
                _listen(receiver, node, publisher, seconds + warm)
                assert publisher.stdout is not None
                report = json.loads(publisher.stdout.read().splitlines()[-1])
            receiver.check()
        finally:
            receiver.close()
            gc.unfreeze()
            gc.enable()
    table = latencies(receiver.rows, report["stamps"], variant.suite)
    if not len(table):
        raise RuntimeError(f"no answer of {variant.name} was received")
    counted = [s for s in map(_STAMP.unpack, receiver.set_stamps) if _within(s, report["stamps"])]
    load = Load(**{**report["load"], "used": tuple(report["load"]["used"])})
    return Run(report["sent"], report["late"], *table.T, load=load, sets=len(counted), said=receiver.said)


def _within(stamp: tuple[int, ...], stamps: list[int]) -> bool:
    return stamps[0] <= stamp[0] * 1_000_000_000 + stamp[1] <= stamps[1]


def _listen(receiver: Receiver, node: subprocess.Popen[Any], publisher: subprocess.Popen[Any], seconds: float) -> None:
    """Wait until the node is ready, start the robot, and receive until it ends."""
    limit = time.monotonic() + READY_TIMEOUT
    while not receiver.ready():
        if node.poll() is not None or publisher.poll() is not None:
            raise RuntimeError(f"a process ended early, with exit code {node.poll() or publisher.poll()}")
        if time.monotonic() > limit:
            raise RuntimeError("the node did not become active")
    time.sleep(0.3)  # whatever else starts with the node
    gc.collect()
    gc.freeze()
    gc.disable()
    assert publisher.stdin is not None
    publisher.stdin.write("\n")
    publisher.stdin.flush()
    spin = receiver.executor.spin_once
    limit = time.monotonic() + seconds + 90.0
    look = 0.0
    while True:
        spin(timeout_sec=0.1)
        now = time.monotonic()
        if now >= look:
            look = now + 0.2
            if publisher.poll() is not None:
                break
            if node.poll() is not None or now > limit:
                raise RuntimeError(f"the node ended with exit code {node.poll()}, or the robot did not end")
    if publisher.returncode:
        raise RuntimeError("the publishing process did not finish")
