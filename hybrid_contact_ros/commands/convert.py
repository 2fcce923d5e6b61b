"""``hybrid-contact convert``: published recordings (.npz) into rosbag2 recordings that replay and ROS can play."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hybrid_contact_ros.bags.writer import check_output
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.recordings.readers import READERS, read
from hybrid_contact_ros.recordings.write import write_recording


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=sorted(READERS), help="layout of the recording")
    parser.add_argument("file", type=Path, help="the .npz file (cube: trajectories.npz)")
    parser.add_argument("out", type=Path, help="NAME.mcap, NAME.db3, or a rosbag2 folder")
    parser.add_argument("--urdf", type=Path, help="robot model to put on /robot_description")
    parser.add_argument("--episode", type=int, help="which episode, for a file with several (cube: the toss id)")
    parser.add_argument("--joint-names", help="comma separated names to use instead of the recording's (hopper)")
    parser.add_argument(
        "--storage", choices=("mcap", "sqlite3"), default="mcap", help="storage of a folder (default: mcap)"
    )
    parser.add_argument("--force", action="store_true", help="replace OUT")


def run(args: argparse.Namespace) -> int:
    """0: the recording was written.

    Raises:
        ValueError: the recording, its names or the URDF cannot be used, or OUT cannot be written.
    """
    if args.out.resolve() == args.file.resolve():
        raise ValueError(f"{args.out} is the recording itself; give the rosbag2 another name")
    check_output(args.out, args.force)
    recording = read(args.kind, args.file, args.episode)
    if args.joint_names:
        names = tuple(name.strip() for name in args.joint_names.split(","))
        if len(names) != len(recording.joints):
            raise ValueError(f"--joint-names gives {len(names)} names; needed are {', '.join(recording.joints)}")
        recording = replace(recording, joints=names)
    counts = write_recording(recording, args.out, _urdf(args), args.storage, args.force)
    span = float(recording.time[-1] - recording.time[0])
    print(f"{args.out}: {span:.3f} s, {', '.join(f'{topic} {n}' for topic, n in sorted(counts.items()))}")
    if "/robot_description" not in counts:
        print("the recording has no robot model: replay needs --urdf", file=sys.stderr)
    return 0


def _urdf(args: argparse.Namespace) -> str | None:
    """Text of the URDF that was named, of the Go2 where one is installed, or ``None``: that of the recording."""
    if args.urdf is not None:
        try:
            return str(args.urdf.read_text(encoding="utf-8"))
        except OSError as error:
            raise ValueError(f"cannot read the URDF {args.urdf}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{args.urdf} is no URDF: it is not text") from None
    if args.kind == "go2":
        with suppress(FileNotFoundError):  # replay then asks for a URDF
            return example_urdf("go2_description/urdf/go2.urdf").read_text(encoding="utf-8")
    return None
