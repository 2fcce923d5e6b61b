"""``hybrid-contact demo``: a simulated Go2, the suite beside it, and its predictions live.

Three processes talk over the real middleware: the robot (MuJoCo), the suite, and a listener. This process starts them,
keeps the score of what the listener heard, draws it, and ends them.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from rich.console import Console
from rich.live import Live

from hybrid_contact_ros.commands import terminal
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.frames import FAILED, READY, Frame, read_frames
from hybrid_contact_ros.demo.table import echo_line, line, live_table, summary_table
from hybrid_contact_ros.ros.domain import claim_domain
from hybrid_contact_ros.ros.share import configuration

if TYPE_CHECKING:
    from hybrid_contact_ros.nodes.demo.score import DemoScore
    from hybrid_contact_ros.warming import Left

READY_TIMEOUT = 300.0  # s; kernels that were never compiled on this machine take minutes
_LIBC = ctypes.CDLL(None)  # before any fork, after which nothing should be loaded
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_NEEDED = ("rclpy", "hybrid_contact_msgs.msg", "mujoco", "matplotlib")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the scenario (default 20)")
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder of the picture (default out/demo)")
    parser.add_argument("--config", type=Path, help="parameter file (default: the package's go2.yaml)")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON, and nothing else")
    parser.add_argument(
        "--echo",
        action="store_true",
        help="a node that computes nothing in place of the suite: what share of its states this machine could answer",
    )
    parser.add_argument("--domain", type=int, help="ROS domain to use (default: one of its own, on this machine only)")


def run(args: argparse.Namespace) -> int:
    """0: predictions came. 1: none came.

    Raises:
        ValueError: an argument cannot be used, or a package that the demo needs is missing.
    """
    missing = [name for name in _NEEDED if _absent(name)]
    if missing:
        raise ValueError(f"the demo needs {', '.join(missing)}; ./run setup installs everything")
    if not 1.0 <= args.seconds <= 3600.0:
        raise ValueError(f"--seconds is {args.seconds}; 1 to 3600 make sense")
    config = args.config or configuration("go2.yaml")
    if not config.is_file():
        raise ValueError(f"no such configuration: {config}")
    if args.domain is not None and not 0 <= args.domain <= 232:
        raise ValueError(f"--domain is {args.domain}; ROS has 0 to 232")
    _refuse_place(args.out)
    console = terminal.console(stderr=args.json, quiet=args.json)
    with tempfile.TemporaryDirectory() as scratch:
        demo = _Demo(args, config, Path(scratch), console)
        # The processes have sessions of their own: whoever ends this one must not leave them behind.
        before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            summary = demo.play()
        finally:
            demo.stop()
            for number, handler in before.items():
                signal.signal(number, handler)
    if args.json:
        print(json.dumps(summary, indent=2))
    elif args.echo and summary["predictions"]:
        console.print(echo_line(summary))
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
    """The three processes. Their standard error goes to that of this process."""

    def __init__(self, args: argparse.Namespace, config: Path, scratch: Path, console: Console) -> None:
        self._seconds, self._picture, self._config, self._console = args.seconds, args.out / "demo.png", config, console
        self._echo, self._urdf = args.echo, scratch / "go2.urdf"
        self._environment, self._claim = _environment(args.domain)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._frames: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()

    def play(self) -> dict[str, Any]:
        from hybrid_contact_ros.demo.picture import draw
        from hybrid_contact_ros.estimator import Parts
        from hybrid_contact_ros.mechanics.example_data import example_urdf
        from hybrid_contact_ros.mechanics.model import RigidBodyModel
        from hybrid_contact_ros.nodes.demo.score import DemoScore
        from hybrid_contact_ros.warming import Left, needed, postponed

        self._urdf.write_text(example_urdf("go2_description/urdf/go2.urdf").read_text())
        config = EstimatorConfig.from_file(self._config)
        score = DemoScore(self._urdf.read_text(), config)  # refuses a bad one
        if self._echo:
            left, suite = Left({}), self._start("demo_echo", "--ros-args")
        else:
            model = RigidBodyModel.from_urdf(self._urdf.read_text(), config)
            parts = Parts.ALL | Parts.SENSITIVITY  # those of the suite
            left = Left(needed(model, config, parts & ~postponed(model, config, parts)))
            suite = self._start(
                *("contact_suite", "--ros-args", "--params-file", str(self._config), "-p", "autostart:=true"),
                *("--log-level", "contact_suite.compiling:=warn"),  # it is told here
            )
        listener = self._start("demo_listener", pipe=True)
        robot = self._start("demo_robot", "--seconds", str(self._seconds), pipe=True)
        threading.Thread(target=self._read, args=(listener,), daemon=True).start()
        self._console.print("starting …")
        if not self._wait_until_ready(left, suite, listener, robot):
            return {"predictions": 0}
        _tell(robot)
        self._show(robot, score)
        kept = robot.stdout.readline() if robot.stdout is not None and robot.poll() is not None else b""
        _tell(listener)
        while (frame := self._next(30.0)) is not None:
            score.take(frame)
        summary = score.record.summary()
        if self._echo:  # its answers say nothing
            summary = {name: summary[name] for name in ("predictions", "seconds", "latency")}
        elif summary["predictions"]:
            self._picture.parent.mkdir(parents=True, exist_ok=True)
            draw(score.record, self._picture)
            summary["picture"] = str(self._picture)
        if kept:
            summary["robot"] = json.loads(kept)
        return summary

    def stop(self) -> None:
        """End all processes: first ask them to end, then kill them."""
        for process, how in ((p, how) for how in (signal.SIGINT, signal.SIGKILL) for p in self._processes):
            if process.poll() is None:
                os.killpg(process.pid, how)
                try:
                    process.wait(timeout=3.0)
                except subprocess.TimeoutExpired:
                    continue

    def _start(self, program: str, *arguments: str, pipe: bool = False) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "hybrid_contact_ros.programs", program, *arguments],
            stdin=subprocess.PIPE if pipe else subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipe else sys.stderr,
            env=self._environment,
            start_new_session=True,  # Ctrl-C reaches this process alone, which ends the others in order
            preexec_fn=_end_with_parent,
        )
        self._processes.append(process)
        return process

    def _read(self, listener: subprocess.Popen[bytes]) -> None:
        """Put frames into the queue as they come, so that the pipe never blocks the listener, and None at the end."""
        assert listener.stdout is not None
        for frame in read_frames(cast(BinaryIO, listener.stdout)):
            self._frames.put(frame)
        self._frames.put(None)

    def _next(self, timeout: float) -> Frame | None:
        try:
            return self._frames.get(timeout=timeout)
        except queue.Empty:
            return None

    def _wait_until_ready(self, left: Left, *needed: subprocess.Popen[bytes]) -> bool:
        """Wait until the suite predicts. On a first start a line tells meanwhile what is left to compile."""
        end, due = time.monotonic() + READY_TIMEOUT, time.monotonic()
        on_screen = self._console.is_terminal
        with self._console.status("") if on_screen and left.total else nullcontext() as status:
            while time.monotonic() < end:
                frame = self._next(0.2)
                if frame is not None and frame.topic in (READY, FAILED):
                    return frame.topic == READY
                if any(process.poll() is not None for process in needed):
                    return False
                if time.monotonic() < due or not left.total:
                    continue
                due = time.monotonic() + (0.5 if on_screen else 5.0)
                if status is not None:
                    status.update(left.line())
                elif left.now()[0] < 1.0:
                    self._console.print(left.line(), soft_wrap=True, highlight=False)
        return False

    def _show(self, robot: subprocess.Popen[bytes], score: DemoScore) -> None:
        """Take frames and draw until the scenario of the robot is over."""
        on_screen = self._console.is_terminal
        period = 0.1 if on_screen else 1.0
        due = time.monotonic() + period
        with Live(console=self._console, auto_refresh=False) if on_screen else nullcontext() as live:
            while robot.poll() is None:
                frame = self._next(0.05)
                if frame is not None:
                    score.take(frame)
                if time.monotonic() < due or not score.record.latency.rows.size:
                    continue
                due = time.monotonic() + period
                if live is not None:
                    live.update(live_table(score.snapshot()), refresh=True)
                else:
                    self._console.print(line(score.snapshot()), soft_wrap=True, highlight=False)


def _refuse_place(path: Path) -> None:
    """Refuse a folder in which no picture can be written, before twenty seconds are spent. The folder is not made yet,
    because perhaps there will be no picture.

    Raises:
        ValueError: the picture cannot be written there.
    """
    there = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
    if not there.is_dir():
        raise ValueError(f"cannot write the picture into {path}: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write the picture into {path}: no permission")


def _end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _end_with_parent() -> None:
    """In a new process: end also where its parent was killed. It would go on to speak in a ROS domain that the next
    demo takes for its own, and that one would score its answers, too."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def _tell(process: subprocess.Popen[bytes]) -> None:
    """Write a line to the standard input of a process: it tells the robot to start, and the listener to end."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(b"\n")
        process.stdin.flush()


def _environment(domain: int | None) -> tuple[dict[str, str], socket.socket | None]:
    """The environment of the processes, and what holds their ROS domain: one of their own on this machine only, so that
    a demo never speaks to a robot or to another demo, unless a domain was chosen."""
    environment, claim = dict(os.environ), None
    if domain is None:
        chosen = environment.get("HYBRID_CONTACT_DEMO_DOMAIN")
        if not chosen:
            number, claim = claim_domain()
            chosen = str(number)
        environment["ROS_DOMAIN_ID"] = chosen
        environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    else:
        environment["ROS_DOMAIN_ID"] = str(domain)
    # Each process has one thread for numpy, whose own threads would fight the four processes for the processors.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment.setdefault(name, "1")
    return environment, claim


def _absent(name: str) -> bool:
    """Whether a module is missing. A submodule is asked for where a folder of the checkout has the name of a
    package."""
    return find_spec(name.partition(".")[0]) is None or find_spec(name) is None
