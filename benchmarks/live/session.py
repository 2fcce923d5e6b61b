"""One live measurement: a robot, a node, and this process, which receives what the node sends."""

from __future__ import annotations

import gc
import json
import os
import re
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

from benchmarks.live.domain import own_domain
from benchmarks.live.machine import Load
from benchmarks.live.receiver import STAMP, Receiver, latencies
from benchmarks.live.robot import ROOT, Robot

READY_TIMEOUT = 400.0  # s; without a warm cache the node compiles its kernels first
WARM = 1.0  # s of states that are answered and not counted


@dataclass(frozen=True)
class Variant:
    """A node that is measured.

    Attributes:
        name: for the table. root: the checkout that it belongs to. command: arguments of that checkout's Python.
        suite: a node of the suite, and not the echo node. flags: somebody listens to its flags, which it computes for
            listeners alone.
    """

    name: str
    root: Path
    command: tuple[str, ...]
    suite: bool
    flags: bool = False


def floor() -> Variant:
    """The echo node."""
    return Variant("floor", ROOT, ("-m", "benchmarks.live.echo"), False)


def suite(name: str, root: Path, robot: Robot, sets: bool = True, log: str = "warn", flags: bool = True) -> Variant:
    """The suite of a checkout. Without ``sets`` no touchdown is near enough for an impact set."""
    from hybrid_contact_ros.mechanics.example_data import example_urdf

    command = ["-m", "hybrid_contact_ros.nodes.contact_suite", "--ros-args", "--params-file", robot.config]
    command += ["-p", "autostart:=true", "-p", f"urdf_file:={example_urdf(robot.urdf)}", "--log-level", log]
    if not sets:
        command += ["-p", "impact.horizon:=0.0"]
    return Variant(name, root, tuple(command), True, flags)


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
    own_domain()
    with _started([python_of(variant.root), *variant.command], variant.root) as node:
        order = {"robot": asdict(robot), "seconds": seconds, "warm": warm, "pids": [node.pid, os.getpid()]}
        command = [sys.executable, "-m", "benchmarks.live.robot", json.dumps(order)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        receiver = Receiver(variant.suite, variant.flags)
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
    counted = [s for s in map(STAMP.unpack, receiver.set_stamps) if _within(s, report["stamps"])]
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
