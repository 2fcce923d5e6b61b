"""``hybrid-contact score``: what predictions were worth, against a truth of any kind in the recording, or against what
was seen later."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.text import Text

from hybrid_contact_ros.commands.arguments import (
    add_complete_sets,
    add_pictures,
    add_robot,
    add_streams,
    add_truth,
    beside,
    streams,
    truth,
)
from hybrid_contact_ros.commands.exit_code import INCOMPLETE, exit_code
from hybrid_contact_ros.commands.terminal import console, following


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bag", type=Path, help="rosbag2 folder, or a single .mcap or .db3 file")
    add_robot(parser, required=False)
    add_streams(parser)
    parser.epilog = (
        "Exit code: 0, it was scored (without --truth: against what was seen later); 1, no state came of it, or the "
        f"truth is of another time; 2, a mistake in the arguments or files; {INCOMPLETE} "
        "read was scored. docs/scoring.md lists the types of messages that may be a truth."
    )
    add_truth(parser)
    parser.add_argument("--result", type=Path, metavar="FILE", help="result file (default: BAG.result.zip)")
    parser.add_argument("--no-result", action="store_true", help="write no result file")
    add_pictures(parser)
    parser.add_argument("--force", action="store_true", help="replace the files that are written")
    add_complete_sets(parser)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON, and nothing else")


def run(args: argparse.Namespace) -> int:
    """0: it was scored. 1: nothing came of it. 3: the recording is damaged, and what could be read was scored."""
    # Imported here, because numba, Pinocchio and rosbags take a second that --help need not wait for.
    from hybrid_contact_ros.commands.report_html import check_report, report_replayed
    from hybrid_contact_ros.commands.score_tables import show_result
    from hybrid_contact_ros.replay.score import score_bag
    from hybrid_contact_ros.results.file import SUFFIX, plain, result_path

    recording, against = streams(args), truth(args)
    if args.report is not None:
        check_report(args.report, args.force)
    target = args.result or beside(args.bag, SUFFIX)
    out_to = console(stderr=args.json)
    with following("score", out_to) as shown:
        result = score_bag(
            args.bag,
            args.config,
            args.urdf,
            None if args.no_result else target,
            **recording,
            **against,
            complete_sets=args.complete_sets,
            force=args.force,
            rerun=args.rrd,
            progress=shown.progress,
            compiling=shown.compiling,
        )
    if args.json:
        json.dump(plain(result.summary), sys.stdout, indent=2, allow_nan=False)
        print()
    else:
        show_result(result.summary, out_to)
        if not args.no_result:
            out_to.print(Text(f"result: {result_path(target)}"), soft_wrap=True)
    if args.report is not None:
        report_replayed(args.report, result)
    missed = bool(args.truth) and result.summary["scores"] is None
    if missed and result.summary["states"]:
        said = "no score: the truth is NaN, or of another time than the estimate; do both have the same clock?"
        console(stderr=True).print(Text(said, style="yellow"), soft_wrap=True)
    if missed:
        return 1
    told = result.summary  # that of another estimator has no messages that could be refused
    return exit_code(told["states"], told.get("messages", 0), told.get("faults", {}), told["damage"])
