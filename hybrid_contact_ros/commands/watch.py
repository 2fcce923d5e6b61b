"""``hybrid-contact watch``: what running suites say, live in a terminal, and recorded if wanted."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from contextlib import nullcontext
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from hybrid_contact_ros.commands import terminal

if TYPE_CHECKING:
    from hybrid_contact_ros.nodes.watch.session import WatchSession

_NEEDED = ("rclpy", "hybrid_contact_msgs")
_SETTLE = 1.0  # s that --once goes on listening after the first prediction: rates, and the diagnostics once a second
_REPEAT = 10.0  # s between two lines that nothing is heard


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--namespace", action="append", default=[], metavar="NAME",
        help="watch the suite of this namespace; may be given several times (default: all that are found)",
    )  # fmt: skip
    parser.add_argument("--once", action="store_true", help="print what is heard once, and end")
    parser.add_argument("--plain", action="store_true", help="a line each second and robot, as into a pipe or a file")
    parser.add_argument("--json", action="store_true", help="one JSON object a look and robot, and nothing else")
    parser.add_argument("--period", type=float, metavar="S", help="between two looks (default 0.2; plain 1)")
    parser.add_argument("--seconds", type=float, metavar="S", help="end after so long (default: Ctrl-C ends it)")
    parser.add_argument(
        "--wait", type=float, default=5.0, metavar="S",
        help="with --once: how long to wait for a suite (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--no-flags", action="store_true",
        help="do not subscribe to constraint_stability, which is computed while somebody listens",
    )  # fmt: skip
    parser.add_argument(
        "--record", type=Path, metavar="OUT",
        help="record all topics of the suites and their inputs: NAME.mcap, NAME.db3 or a folder",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="replace the recording")
    parser.epilog = (
        "Exit code: 0, a suite was heard, and Ctrl-C is the way to end; 1, none was; 2, a mistake in the arguments or "
        "no ROS. The domain is that of ROS_DOMAIN_ID."
    )


def run(args: argparse.Namespace) -> int:
    """0: a suite was heard. 1: none was.

    Raises:
        ValueError: an argument cannot be used, or there is no ROS.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ValueError(f"watch needs {', '.join(missing)}: source the setup file of ROS 2 and of your workspace")
    for option, value in (("--period", args.period), ("--seconds", args.seconds), ("--wait", args.wait)):
        if value is not None and not (isfinite(value) and value > 0.0):
            raise ValueError(f"{option} is {value:g}; a positive number of seconds is needed")
    for name in args.namespace:
        if not re.fullmatch(r"/?([A-Za-z_][A-Za-z0-9_]*/?)*", name):
            raise ValueError(f"--namespace {name!r} is no namespace of ROS: letters, digits, _ and / alone")
    from hybrid_contact_ros.nodes.watch.session import watching  # here: rclpy takes a second that --help need not wait

    console = terminal.console(stderr=args.json)
    with watching(args.namespace, not args.no_flags, args.record, args.force) as session:
        try:
            _look(args, session, console)
        except OSError:  # the terminal is gone, or nobody reads the pipe; a recording is kept all the same
            if args.record is None:
                raise
        heard = bool(session.watcher.heard)
        absence = "" if heard else session.watcher.absence()
    recorder = session.recorder
    if recorder is not None:
        _tell_recording(recorder, console)
    if not heard:
        print(f"hybrid-contact watch: {absence}", file=sys.stderr)
        return 1
    return 0


def _look(args: argparse.Namespace, session: WatchSession, console: Console) -> None:
    """Show what is heard until the watch is over."""
    watcher = session.watcher
    if args.once:
        if session.spin(args.wait, lambda: any(robot.predictions for robot in watcher.heard)) and watcher.heard:
            session.spin(min(_SETTLE + 0.2, args.wait))
        _print(args, watcher.heard, console)
        return
    on_screen = console.is_terminal and not args.plain and not args.json
    period = args.period or (0.2 if on_screen else 1.0)
    end = time.monotonic() + (args.seconds or float("inf"))
    told = 0.0
    with Live(console=console, auto_refresh=False, screen=False) if on_screen else nullcontext() as live:
        while session.spin(min(period, max(0.0, end - time.monotonic()))) and time.monotonic() < end:
            if live is not None:
                live.update(_screen(session, console), refresh=True)
            elif watcher.heard:
                _print(args, watcher.heard, console)
            elif time.monotonic() > told + _REPEAT:
                told = time.monotonic()
                print(watcher.absence(), file=sys.stderr, flush=True)


def _screen(session: WatchSession, console: Console) -> Any:
    from hybrid_contact_ros.watching.table import robots

    heard, now = session.watcher.heard, time.time_ns()
    if not heard:
        return Text(session.watcher.absence())
    return robots([robot.snapshot(now) for robot in heard], console.width, console.height)


def _print(args: argparse.Namespace, heard: list[Any], console: Console) -> None:
    """One look at every robot, for an output that goes on downwards."""
    from hybrid_contact_ros.watching.table import COLUMNS, LEGEND, line, robot

    now = time.time_ns()
    for each in heard:
        snapshot = each.snapshot(now)
        if args.json:
            print(json.dumps({"time_ns": now, **_finite(snapshot)}), flush=True)
        elif args.once and not args.plain:
            console.print(robot(snapshot, console.width if console.is_terminal else COLUMNS))
        else:
            console.print(line(snapshot), soft_wrap=True, highlight=False, markup=False)
    if args.once and heard and not args.plain and not args.json:
        console.print(LEGEND, style="dim", highlight=False, markup=False)


def _finite(value: Any) -> Any:
    """The same with null for infinite numbers, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _tell_recording(recorder: Any, console: Console) -> None:
    total = sum(recorder.counts.values())
    said = ", ".join(f"{topic} {count}" for topic, count in sorted(recorder.counts.items()) if count)
    try:
        console.print(f"recorded {total} messages in {recorder.out}: {said or 'nothing came'}", soft_wrap=True)
        for topic, why in sorted(recorder.left_out.items()):
            console.print(f"not recorded: {topic}, {why}", soft_wrap=True)
    except OSError:
        pass  # nobody is there to be told
