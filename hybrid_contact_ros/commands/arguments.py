"""The arguments that name a recording and its robot, which the replaying commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_recording(parser: argparse.ArgumentParser) -> None:
    """``BAG --config --urdf --namespace --joint-states --odometry --robot-description --twist-in-world``."""
    parser.add_argument("bag", type=Path, help="rosbag2 folder, or a single .mcap or .db3 file")
    parser.add_argument("--config", type=Path, required=True, help="parameter file (YAML), the one of the nodes")
    parser.add_argument("--urdf", type=Path, help="robot model; without it the recording's /robot_description")
    parser.add_argument(
        "--namespace", default="", metavar="NAME",
        help="of the topics that do not begin with a slash (default: none, or the only one that has them)",
    )  # fmt: skip
    for option, topic in (
        ("--joint-states", "joint_states"), ("--odometry", "odom"), ("--robot-description", "robot_description"),
    ):  # fmt: skip
        parser.add_argument(option, default=topic, metavar="TOPIC", help="default: %(default)s")
    parser.add_argument("--odom", dest="odometry", metavar="TOPIC", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("--twist-in-world", action="store_true", help="the odometry's twist is in the world's axes")


def streams(args: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments of a recording's streams.

    Raises:
        ValueError: the URDF that was named is not there.
    """
    if args.urdf is not None and not args.urdf.is_file():
        raise ValueError(f"no such URDF: {args.urdf}")
    names = ("joint_states", "odometry", "robot_description", "namespace", "twist_in_world")
    return {name: getattr(args, name) for name in names}
