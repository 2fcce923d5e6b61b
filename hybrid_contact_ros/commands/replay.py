"""``hybrid-contact replay``: a recording in, predictions as a new recording and scores out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from hybrid_contact_ros.commands.arguments import add_complete_sets, add_pictures, add_recording, beside, streams
from hybrid_contact_ros.commands.exit_code import INCOMPLETE, exit_code
from hybrid_contact_ros.commands.terminal import console, following


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_recording(parser)
    parser.epilog = (
        "Exit code: 0, all was read; 1, no state came of it; 2, a mistake in the arguments or files; "
        f"{INCOMPLETE} read was."
    )
    parser.add_argument("--out", type=Path, help="NAME.mcap, NAME.db3 or a folder (default: BAG_predictions.mcap)")
    parser.add_argument("--no-out", action="store_true", help="write no predictions")
    parser.add_argument(
        "--result", type=Path, metavar="FILE",
        help="also write a result file (.result.zip), for `hybrid-contact compare` and reports",
    )  # fmt: skip
    add_pictures(parser)
    parser.add_argument("--force", action="store_true", help="replace the files that are written")
    parser.add_argument(
        "--truth", action="append", default=[], metavar="TOPIC",
        help="score against this topic: ContactMode (which contacts touch) or PostImpactVelocitySet (outcomes of "
        "impacts); may be given several times",
    )  # fmt: skip
    add_complete_sets(parser)
    parser.add_argument(
        "--sensitivity", action="store_true",
        help="also write event_sensitivity: how predicted events change with the state before them",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the result as JSON, and nothing else")


def run(args: argparse.Namespace) -> int:
    """0: everything was read. 1: the recording gave no state. 3: it is damaged, and what could be read was."""
    # Imported here, because numba, Pinocchio and rosbags take a second that --help need not wait for.
    from hybrid_contact_ros.commands.report import show, show_reading
    from hybrid_contact_ros.commands.report_html import check_report, report_replayed
    from hybrid_contact_ros.replay.run import replay_bag
    from hybrid_contact_ros.results.file import Result

    recording = streams(args)
    if args.report is not None:
        check_report(args.report, args.force)
    made: list[Result] = []

    def keep(each: Result) -> Result:
        made.append(each)
        return each

    out = None if args.no_out else args.out or beside(args.bag, "_predictions.mcap")
    out_to = console(stderr=args.json)
    with following("replay", out_to) as shown:
        result = replay_bag(
            args.bag,
            args.config,
            args.urdf,
            out,
            **recording,
            truth=args.truth,
            complete_sets=args.complete_sets,
            sensitivity=args.sensitivity,
            force=args.force,
            result=args.result,
            finish=None if args.report is None else keep,
            rerun=args.rrd,
            progress=shown.progress,
            compiling=shown.compiling,
        )
    if args.json:
        json.dump(result.to_dict(), sys.stdout, indent=2)
        print()
        show_reading(result, out_to)
    else:
        show(result, out_to)
        if args.truth and result.scores is None:
            out_to.print("[yellow]no score:[/] the truth says nothing about the time of the predictions")
    if args.report is not None:
        report_replayed(args.report, made[0])
    return exit_code(result.states, result.messages, result.faults, result.damage)
