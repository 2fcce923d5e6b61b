"""``hybrid-contact fleet``: many recordings scored on many processors, into one Parquet dataset."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hybrid_contact_ros.commands import terminal
from hybrid_contact_ros.commands.arguments import add_robot, add_streams, add_truth, streams, truth

if TYPE_CHECKING:
    from hybrid_contact_ros.fleets.run import Outcome

_NEEDED = ("dask", "distributed", "pyarrow", "fsspec")
_LINE = 10.0  # s between two lines of progress where there is no terminal
_SHOWN = 20  # failures that are listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bags", nargs="+", metavar="BAGS", help="recordings, folders of them, globs, or URLs that fsspec knows"
    )
    add_robot(parser, required=False)
    parser.add_argument(
        "--out", type=Path, required=True, help="folder of the dataset; one that is there is gone on with"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes on this machine (default: one a processor)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a Dask cluster instead, as tcp://host:8786")
    add_truth(parser)
    add_streams(parser)
    parser.add_argument("--robot", metavar="NAME", help="name of the robot (default: namespace, or the URDF's name)")
    parser.add_argument(
        "--robot-pattern", metavar="REGEX", help="its first group is the robot's name in the path: 'bags/([^/]+)/'"
    )
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="also the result file of each recording")
    parser.add_argument("--again", action="store_true", help="also what has been scored already")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON, and nothing else")
    parser.epilog = (
        "Exit code: 0, all recordings are scored; 1, none is; 2, a mistake in the arguments; 3, some failed or are "
        "damaged; 130, Ctrl-C: the same command goes on where it ended."
    )


def run(args: argparse.Namespace) -> int:
    """0: all recordings are scored. 1: none. 3: some failed or are damaged.

    Raises:
        ValueError: an argument cannot be used, or a package that fleets need is missing.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ValueError(f"fleet needs {', '.join(missing)}: pip install 'hybrid_contact_ros[fleet]'")
    if args.jobs is not None and args.scheduler is not None:
        raise ValueError("--jobs is for this machine, and --scheduler for a cluster: give one of them")
    if args.jobs is not None and args.jobs < 1:
        raise ValueError(f"--jobs is {args.jobs}; at least one process is needed")
    if args.robot_pattern is not None:
        try:
            groups = re.compile(args.robot_pattern).groups
        except re.error as error:
            raise ValueError(f"--robot-pattern {args.robot_pattern} is no regular expression: {error}") from None
        if groups < 1:
            raise ValueError(f"--robot-pattern {args.robot_pattern} needs a group: the name in parentheses")
    if args.config is None and args.estimate is None:
        raise ValueError("a configuration is needed (--config), or the topic of another estimator (--estimate)")
    against, recording = truth(args), streams(args)
    # Imported here, because Dask and pyarrow take a second that --help need not wait for.
    from hybrid_contact_ros.config import EstimatorConfig
    from hybrid_contact_ros.fleets.dataset import Dataset
    from hybrid_contact_ros.fleets.find import find
    from hybrid_contact_ros.fleets.job import Task
    from hybrid_contact_ros.fleets.run import cluster, score

    task = Task(
        config=None if args.config is None else EstimatorConfig.from_file(args.config),
        urdf=None if args.urdf is None else args.urdf.read_text(encoding="utf-8"),
        streams=recording,
        robot=args.robot,
        pattern=args.robot_pattern,
        results=None if args.results is None else str(args.results.resolve()),
        **against | {"definitions": None if args.msg is None else str(args.msg.resolve())},
        defined="" if args.msg is None else _definitions(args.msg),
    )
    bags = find(args.bags)
    if args.results is not None:
        args.results.mkdir(parents=True, exist_ok=True)
    console = terminal.console(stderr=args.json)
    dataset = Dataset(args.out)
    try:
        with cluster(args.jobs or os.cpu_count(), args.scheduler) as client, _Progress(console) as progress:
            outcome = score(bags, task, dataset, client, progress.tell, args.again)
    except KeyboardInterrupt:
        dataset.fold()
        print("hybrid-contact fleet: interrupted; what is done is kept, the same command goes on", file=sys.stderr)
        raise
    finally:
        dataset.close()
    if args.json:
        print(json.dumps(_plain(outcome), indent=2))
    else:
        _show(outcome, len(bags), args.truth, args.out, console)
    if outcome.scored + outcome.skipped == 0:
        return 1
    return 3 if outcome.failed or outcome.damaged else 0


class _Progress:
    """A bar on a terminal, otherwise a line now and then."""

    def __init__(self, console: Console) -> None:
        columns = (
            TextColumn("fleet"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[said]}"),
        )
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("fleet", total=None, said="")
        self._console, self._due = console, time.monotonic() + _LINE
        said = "nothing is scored yet: workers compile kernels first, once on a machine, for minutes"
        self._patience = Timer(_LINE, self._console.print, (said,))
        self._patience.daemon = True

    def __enter__(self) -> _Progress:
        self._bar.start()
        self._patience.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patience.cancel()
        self._bar.stop()

    def tell(self, outcome: Outcome, total: int) -> None:
        done = outcome.scored + outcome.skipped + len(outcome.failed)
        if outcome.scored:
            self._patience.cancel()
        said = f"{outcome.rate:.2f} robot h/min" + (f", {len(outcome.failed)} failed" if outcome.failed else "")
        self._bar.update(self._task, total=total, completed=done, said=said)
        if not self._console.is_terminal and time.monotonic() > self._due:
            self._due = time.monotonic() + _LINE
            self._console.print(f"{done} of {total}: {said}", highlight=False)


def _show(outcome: Outcome, total: int, truths: list[str], out: Path, console: Console) -> None:
    hours = outcome.robot_seconds / 3600.0
    console.print(
        f"{total} recordings: {outcome.scored} scored ({hours:.2f} h of robot time in {outcome.seconds:.0f} s, "
        f"{outcome.rate:.2f} h a minute), {outcome.skipped} were done already"
        + (f" ({outcome.same} under another name)" if outcome.same else "")
        + f", {len(outcome.failed)} failed, {len(outcome.damaged)} are damaged",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    if outcome.without_truth:
        said = f"{outcome.without_truth} of {outcome.scored}"
        console.print(
            f"[yellow]no truth:[/] {said} have no topic of {escape(', '.join(truths))}; of them the dataset has the "
            "self-consistency alone",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    for title, reasons in (("failed", outcome.failed), ("damaged", outcome.damaged)):
        for url, reason in sorted(reasons.items())[:_SHOWN]:
            console.print(f"{title}: {url}: {reason}", highlight=False, markup=False, soft_wrap=True)
        if len(reasons) > _SHOWN:
            console.print(f"and {len(reasons) - _SHOWN} more {title}")
    if outcome.failed:
        console.print(f"all that failed: {out / '_failed.json'}; the same command tries them again", soft_wrap=True)
    console.print(f"dataset: {out}", highlight=False, soft_wrap=True)


def _plain(outcome: Outcome) -> dict[str, Any]:
    names = (
        "scored",
        "skipped",
        "same",
        "without_truth",
        "damaged",
        "failed",
        "deaths",
        "robot_seconds",
        "seconds",
        "rate",
    )
    return {name: getattr(outcome, name) for name in names}


def _definitions(folder: Path) -> str:
    """Hash of the message definitions in a folder, which are also tried.

    Raises:
        ValueError: there are none, or they cannot be used.
    """
    from hybrid_contact_ros.bags.typestore import add_definitions

    add_definitions(folder)
    files = sorted({*folder.glob("msg/*.msg"), *folder.glob("*/msg/*.msg")})
    told = [(path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")) for path in files]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
