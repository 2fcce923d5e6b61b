"""Arguments that several commands share: of a recording and its robot, of what it is scored against, of a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add ``BAG`` and what :func:`add_robot` and :func:`add_streams` add."""
    parser.add_argument("bag", type=Path, help="rosbag2 folder, or a single .mcap or .db3 file")
    add_robot(parser)
    add_streams(parser)


def add_robot(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add ``--config --urdf``. Where the configuration is not required, a topic of another estimator may take its
    place."""
    text = "parameter file (YAML), the one of the nodes" + ("" if required else "; not needed with --estimate")
    parser.add_argument("--config", type=Path, required=required, help=text)
    parser.add_argument("--urdf", type=Path, help="robot model; without it the recording's /robot_description")


def add_streams(parser: argparse.ArgumentParser) -> None:
    """Add ``--namespace --joint-states --odometry --robot-description --twist-in-world``."""
    parser.add_argument(
        "--namespace", default="", metavar="NAME",
        help="namespace of the topics that do not begin with a slash (default: none, or the only one that has them)",
    )  # fmt: skip
    for option, topic in (
        ("--joint-states", "joint_states"), ("--odometry", "odom"), ("--robot-description", "robot_description"),
    ):  # fmt: skip
        parser.add_argument(option, default=topic, metavar="TOPIC", help="default: %(default)s")
    parser.add_argument("--odom", dest="odometry", metavar="TOPIC", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("--twist-in-world", action="store_true", help="the odometry's twist is in the world's axes")


def streams(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments on the streams of a recording, as keyword arguments of ``replay_bag`` and ``identify_material``.

    Raises:
        ValueError: the URDF that was named does not exist.
    """
    if args.urdf is not None and not args.urdf.is_file():
        raise ValueError(f"no such URDF: {args.urdf}")
    names = ("joint_states", "odometry", "robot_description", "namespace", "twist_in_world")
    return {name: getattr(args, name) for name in names}


def add_truth(parser: argparse.ArgumentParser) -> None:
    """Add ``--truth --estimate --threshold --msg``: what is scored, and against what."""
    parser.add_argument(
        "--truth", action="append", default=[], metavar="[NAMES=]TOPIC",
        help="contacts or loads to score against, such as /contacts, left=/left_wrench, FR,FL,RR,RL=/loads or "
        "left+right=/force_plate; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--estimate", metavar="[NAMES=]TOPIC",
        help="score this topic of another estimator in the recording instead of the engine",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", metavar="ON,OFF",
        help="a load from ON upward closes a contact, one below OFF opens it (default: found in each series of loads)",
    )  # fmt: skip
    parser.add_argument(
        "--msg", type=Path, metavar="DIR",
        help="packages of message definitions (DIR/PACKAGE/msg/NAME.msg) that the recording does not bring itself",
    )  # fmt: skip


def truth(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of :func:`add_truth`, as keyword arguments of ``score_bag``.

    Raises:
        ValueError: the threshold is none, or a truth is not written as one.
    """
    # Imported here, because numpy takes a moment that --help need not wait for.
    from hybrid_contact_ros.truths.asked import Asked
    from hybrid_contact_ros.truths.levels import Levels

    for text in (*args.truth, *([] if args.estimate is None else [args.estimate])):
        Asked.parsed(text)
    threshold = None
    if args.threshold is not None:
        try:
            on, *off = (float(part) for part in args.threshold.split(","))
        except ValueError:
            raise ValueError(
                f"--threshold {args.threshold}: ON,OFF is needed, two loads, of which OFF is not more"
            ) from None
        if len(off) > 1:
            raise ValueError(f"--threshold {args.threshold}: ON,OFF is needed, two loads")
        threshold = Levels(on, off[0] if off else on)
    return {
        "truth": tuple(args.truth), "estimate": args.estimate, "threshold": threshold, "definitions": args.msg,
    }  # fmt: skip


def add_pictures(parser: argparse.ArgumentParser) -> None:
    """Add ``--report --rrd``: what else may be made of a replay."""
    parser.add_argument(
        "--report", type=Path, metavar="FILE",
        help="also a report (.html) of the result, as of `hybrid-contact report`",
    )  # fmt: skip
    parser.add_argument("--rrd", type=Path, metavar="FILE", help="also a file for the Rerun viewer; needs rerun-sdk")


def add_complete_sets(parser: argparse.ArgumentParser) -> None:
    """Add ``--complete-sets``."""
    parser.add_argument(
        "--complete-sets", action="store_true",
        help="do not stop post-impact sets at impact.deadline: slower, and the same on every machine",
    )  # fmt: skip


def beside(bag: Path, ending: str) -> Path:
    """A file beside a recording: its name without what says of which kind it is, and this ending."""
    bag = bag.resolve()
    if not bag.is_file():
        return bag.with_name(bag.name + ending)
    stem = bag.name.partition(".")[0] if bag.suffix == ".zstd" else bag.stem
    return bag.with_name(stem + ending)
