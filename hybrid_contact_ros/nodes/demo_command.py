"""``hybrid-contact demo``: a simulated Go2, the suite beside it, and what it predicts, live.

Three processes talk over the real middleware: the robot (MuJoCo), the suite, and a listener that keeps the score.
This one starts them, draws what the listener says, and ends them.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live

from hybrid_contact_ros.demo.table import line, live_table, summary_table

READY_TIMEOUT = 300.0  # s; kernels that were never compiled on this machine take about a minute
_NEEDED = ("rclpy", "hybrid_contact_msgs.msg", "mujoco", "matplotlib")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the scenario (default 20)")
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder of the picture (default out/demo)")
    parser.add_argument("--config", type=Path, help="parameter file (default: the package's go2.yaml)")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON, and nothing else")
    parser.add_argument("--domain", type=int, help="ROS domain to use (default: one of its own, on this machine only)")


def run(args: argparse.Namespace) -> int:
    """Run the demo; 0, or 1 when no predictions came.

    Raises:
        ValueError: bad arguments, or what the demo needs is missing.
    """
    missing = [name for name in _NEEDED if _absent(name)]
    if missing:
        raise ValueError(f"the demo needs {', '.join(missing)}; ./run setup installs everything")
    if not 1.0 <= args.seconds <= 3600.0:
        raise ValueError(f"--seconds is {args.seconds}; 1 to 3600 make sense")
    config = args.config or _packaged_config()
    if not config.is_file():
        raise ValueError(f"no such configuration: {config}")
    console = Console(stderr=args.json, quiet=args.json)
    with tempfile.TemporaryDirectory() as scratch:
        demo = _Demo(args, config, Path(scratch), console)
        try:
            summary = demo.play()
        finally:
            demo.stop()
    if args.json:
        print(json.dumps(summary, indent=2))
    elif summary["predictions"]:
        console.print(summary_table(summary))
        console.print(f"picture: {summary['picture']}", soft_wrap=True, highlight=False)
    if not summary["predictions"]:
        print(
            "hybrid-contact demo: no predictions came. What the suite said stands above; "
            "is another program holding the network or all processors?",
            file=sys.stderr,
        )
        return 1
    return 0


class _Demo:
    """The three processes. Standard error of each goes to this one's."""

    def __init__(self, args: argparse.Namespace, config: Path, scratch: Path, console: Console) -> None:
        self._seconds, self._out, self._config, self._console = args.seconds, args.out, config, console
        self._urdf = scratch / "go2.urdf"
        self._environment = _environment(args.domain)
        self._processes: list[subprocess.Popen[str]] = []
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def play(self) -> dict[str, Any]:
        from hybrid_contact_ros.mechanics.example_data import example_urdf

        self._urdf.write_text(example_urdf("go2_description/urdf/go2.urdf").read_text())
        module = "hybrid_contact_ros.nodes."
        suite = self._start(
            module + "contact_suite", "--ros-args", "--params-file", str(self._config), "-p", "autostart:=true"
        )
        monitor = self._start(
            module + "demo_monitor", str(self._urdf), str(self._config), str(self._out / "demo.png"), pipe=True
        )
        robot = self._start(module + "demo_robot", "--seconds", str(self._seconds), pipe=True)
        threading.Thread(target=self._read, args=(monitor,), daemon=True).start()
        self._console.print("starting: the kernels are compiled when the suite is configured for the first time …")
        if not self._wait_for("ready", READY_TIMEOUT, (suite, monitor, robot)):
            return {"predictions": 0}
        assert robot.stdin is not None and monitor.stdin is not None
        robot.stdin.write("start\n")
        robot.stdin.flush()
        self._show(robot)
        kept = robot.stdout.readline() if robot.stdout is not None and robot.poll() is not None else ""
        monitor.stdin.write("stop\n")
        monitor.stdin.flush()
        summary = self._wait_for("summary", 60.0, (monitor,)) or {"predictions": 0}
        if kept:
            summary["robot"] = json.loads(kept)
        return summary

    def stop(self) -> None:
        """End all processes, politely first."""
        for process, how in ((p, how) for how in (signal.SIGINT, signal.SIGKILL) for p in self._processes):
            if process.poll() is None:
                os.killpg(process.pid, how)
                try:
                    process.wait(timeout=3.0)
                except subprocess.TimeoutExpired:
                    continue

    def _start(self, module: str, *arguments: str, pipe: bool = False) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE if pipe else subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipe else sys.stderr,
            text=True,
            env=self._environment,
            start_new_session=True,  # Ctrl-C is for this process, which ends the others in order
        )
        self._processes.append(process)
        return process

    def _read(self, monitor: subprocess.Popen[str]) -> None:
        assert monitor.stdout is not None
        for text in monitor.stdout:
            self._lines.put(json.loads(text))
        self._lines.put(None)

    def _next(self, timeout: float) -> dict[str, Any] | None:
        try:
            return self._lines.get(timeout=timeout)
        except queue.Empty:
            return None

    def _wait_for(self, key: str, seconds: float, needed: tuple[subprocess.Popen[str], ...]) -> Any:
        """The value of the next line with this key; None when it does not come, or a process that it needs ends."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            said = self._next(0.2)
            if said is not None and key in said:
                return said[key]
            if said is None and any(process.poll() is not None for process in needed) and self._lines.empty():
                return None
        return None

    def _show(self, robot: subprocess.Popen[str]) -> None:
        """Draw snapshots until the robot's scenario is over."""
        if not self._console.is_terminal:
            due = 0.0
            while robot.poll() is None:
                said = self._next(0.2)
                if said is not None and "snapshot" in said and time.monotonic() >= due:
                    due = time.monotonic() + 1.0
                    self._console.print(line(said["snapshot"]), soft_wrap=True, highlight=False)
            return
        with Live(console=self._console, auto_refresh=False) as live:
            while robot.poll() is None:
                said = self._next(0.2)
                if said is not None and "snapshot" in said:
                    live.update(live_table(said["snapshot"]), refresh=True)


def _environment(domain: int | None) -> dict[str, str]:
    """A domain of its own and this machine only, so that a demo never speaks to a robot."""
    environment = dict(os.environ)
    if domain is None:
        environment["ROS_DOMAIN_ID"] = environment.get("HYBRID_CONTACT_DEMO_DOMAIN") or str(random.randint(1, 101))
        environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    else:
        environment["ROS_DOMAIN_ID"] = str(domain)
    # One thread a process: numpy's own would fight the four processes for the processors.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment.setdefault(name, "1")
    return environment


def _absent(name: str) -> bool:
    """A submodule is asked for where a checkout's folder has the name of the package that is built from it."""
    return find_spec(name.partition(".")[0]) is None or find_spec(name) is None


def _packaged_config() -> Path:
    """go2.yaml of the installed package, or of the checkout that this runs from."""
    here = Path(__file__).resolve().parents[2] / "config" / "go2.yaml"
    if here.is_file():
        return here
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory("hybrid_contact_ros")) / "config" / "go2.yaml"
