"""``hybrid-contact convert``: published recordings (.npz) into rosbag2 recordings that replay and ROS can play.

Topics: ``/odom`` and ``/joint_states`` as a robot's drivers would publish them, ``/robot_description`` where a URDF is
given or can be made, ``/truth/contact_mode`` and ``/truth/impact`` where contacts or outcomes of impacts are known.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hybrid_contact_ros.messages.truth import TruthEncoder
from hybrid_contact_ros.replay.bags import BagWriter, check_output
from hybrid_contact_ros.replay.messages import message_types, typestore
from hybrid_contact_ros.replay.recordings import READERS, START_NS, Impact, Recording, read

TRUTH_MODE = "/truth/contact_mode"
TRUTH_IMPACT = "/truth/impact"


@dataclass(frozen=True, slots=True)
class _Names:
    """Of the truth's contacts, for the encoder."""

    contact_names: tuple[str, ...]
    contact_frames: tuple[str, ...]
    velocity_names: tuple[str, ...] = ()
    hash: int = 0


def write_recording(
    recording: Recording, out: str | Path, urdf: str | None = None, storage: str = "mcap", force: bool = False
) -> dict[str, int]:
    """Write one recording as a rosbag2.

    Args:
        recording: what :func:`~hybrid_contact_ros.replay.recordings.read` gave.
        out: ``NAME.mcap``, ``NAME.db3`` or a folder (then of ``storage`` "mcap" or "sqlite3").
        urdf: text for ``/robot_description``; the recording's own when ``None``.
        force: replace ``out``.

    Returns:
        messages written on each topic.
    """
    description = urdf if urdf is not None else recording.urdf
    kinds = {"/odom": "nav_msgs/msg/Odometry"} if recording.position is not None else {}
    if recording.joints:
        kinds["/joint_states"] = "sensor_msgs/msg/JointState"
    if recording.contacts:
        kinds[TRUTH_MODE] = "hybrid_contact_msgs/msg/ContactMode"
    if recording.impacts:
        kinds[TRUTH_IMPACT] = "hybrid_contact_msgs/msg/PostImpactVelocitySet"
    messages = _Messages(recording)
    counts = dict.fromkeys(kinds, 0)
    impacts = sorted(recording.impacts, key=lambda impact: impact.time)
    with BagWriter(out, storage, force) as writer:
        if description is not None:
            writer.add("/robot_description", "std_msgs/msg/String", latched=True)
            writer.write("/robot_description", START_NS - 1, messages.string(description))
            counts["/robot_description"] = 1
        for topic, kind in kinds.items():
            writer.add(topic, kind)
        for k, t in enumerate(recording.time.tolist()):
            stamp = START_NS + round(t * 1e9)
            for topic in ("/odom", "/joint_states", TRUTH_MODE):
                if topic in kinds:
                    writer.write(topic, stamp, messages.sample(topic, k, stamp))
                    counts[topic] += 1
            # The outcome is known only after it: recorded with the first sample later than the impact.
            while impacts and impacts[0].time < t:
                writer.write(TRUTH_IMPACT, stamp, messages.impact(impacts.pop(0), stamp))
                counts[TRUTH_IMPACT] += 1
    return counts


class _Messages:
    """Builds the messages of one recording."""

    def __init__(self, recording: Recording) -> None:
        self._r = recording
        self._types = typestore().types
        self._encoder = TruthEncoder(message_types(), _Names(recording.contacts, recording.frames), "world")
        self._zeros = np.zeros(36)
        self._none = np.empty(0)

    def _make(self, kind: str, **values: Any) -> Any:
        return self._types[kind](**values)

    def string(self, text: str) -> Any:
        return self._make("std_msgs/msg/String", data=text)

    def sample(self, topic: str, k: int, stamp: int) -> Any:
        if topic == "/odom":
            return self._odometry(k, stamp)
        if topic == "/joint_states":
            return self._joints(k, stamp)
        r = self._r
        assert r.closed is not None
        return self._encoder.truth(
            stamp,
            r.closed[k].tolist(),
            None if r.force is None else r.force[k],
            None if r.slipping is None else r.slipping[k].tolist(),
        )

    def impact(self, impact: Impact, stamp: int) -> Any:
        time = START_NS + round(impact.time * 1e9)
        return self._encoder.true_impact(stamp, time, impact.contacts, impact.v_minus, impact.v_plus)

    def _time(self, stamp: int) -> Any:
        sec, nanosec = divmod(stamp, 1_000_000_000)
        return self._make("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)

    def _header(self, stamp: int, frame: str) -> Any:
        return self._make("std_msgs/msg/Header", stamp=self._time(stamp), frame_id=frame)

    def _vector(self, xyz: Any) -> Any:
        x, y, z = (float(value) for value in xyz)
        return self._make("geometry_msgs/msg/Vector3", x=x, y=y, z=z)

    def _odometry(self, k: int, stamp: int) -> Any:
        r = self._r
        assert r.position is not None and r.quaternion is not None and r.linear is not None and r.angular is not None
        px, py, pz = r.position[k].tolist()
        qx, qy, qz, qw = r.quaternion[k].tolist()
        pose = self._make(
            "geometry_msgs/msg/Pose",
            position=self._make("geometry_msgs/msg/Point", x=px, y=py, z=pz),
            orientation=self._make("geometry_msgs/msg/Quaternion", x=qx, y=qy, z=qz, w=qw),
        )
        twist = self._make(
            "geometry_msgs/msg/Twist", linear=self._vector(r.linear[k]), angular=self._vector(r.angular[k])
        )
        return self._make(
            "nav_msgs/msg/Odometry",
            header=self._header(stamp, "world"),
            child_frame_id="base",
            pose=self._make("geometry_msgs/msg/PoseWithCovariance", pose=pose, covariance=self._zeros),
            twist=self._make("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=self._zeros),
        )

    def _joints(self, k: int, stamp: int) -> Any:
        r = self._r
        assert r.q is not None and r.dq is not None
        return self._make(
            "sensor_msgs/msg/JointState",
            header=self._header(stamp, ""),
            name=list(r.joints),
            position=np.ascontiguousarray(r.q[k], np.float64),
            velocity=np.ascontiguousarray(r.dq[k], np.float64),
            effort=self._none if r.effort is None else np.ascontiguousarray(r.effort[k], np.float64),
        )


def packaged_urdf(relative: str) -> str | None:
    """Text of a URDF of the ``example-robot-data`` package, or ``None`` where that is not installed."""
    spec = importlib.util.find_spec("example_robot_data")
    roots = [Path(p) for p in (spec.submodule_search_locations or [])] if spec is not None else []
    roots += [Path(p) / "cmeel.prefix" for p in sys.path if p] + [Path(sys.prefix), Path("/usr")]
    for root in roots:
        for above in (root, *root.parents[:4]):
            path = above / "share" / "example-robot-data" / "robots" / relative
            if path.is_file():
                return path.read_text(encoding="utf-8")
    return None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=sorted(READERS), help="layout of the recording")
    parser.add_argument("file", type=Path, help="the .npz file (cube: trajectories.npz)")
    parser.add_argument("out", type=Path, help="NAME.mcap, NAME.db3, or a rosbag2 folder")
    parser.add_argument("--urdf", type=Path, help="robot model to put on /robot_description")
    parser.add_argument("--episode", type=int, help="of a file with several (cube: the toss id)")
    parser.add_argument("--joint-names", help="comma separated names to use instead of the recording's (hopper)")
    parser.add_argument("--storage", choices=("mcap", "sqlite3"), default="mcap", help="of a folder (default: mcap)")
    parser.add_argument("--force", action="store_true", help="replace OUT")


def run(args: argparse.Namespace) -> int:
    if args.out.resolve() == args.file.resolve():
        raise ValueError(f"{args.out} is the recording itself; give the rosbag2 another name")
    check_output(args.out, args.force)
    recording = read(args.kind, args.file, args.episode)
    if args.joint_names:
        names = tuple(name.strip() for name in args.joint_names.split(","))
        if len(names) != len(recording.joints):
            raise ValueError(f"--joint-names gives {len(names)} names; needed are {', '.join(recording.joints)}")
        recording = replace(recording, joints=names)
    urdf = None
    if args.urdf is not None:
        try:
            urdf = args.urdf.read_text(encoding="utf-8")
        except OSError as error:
            raise ValueError(f"cannot read the URDF {args.urdf}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{args.urdf} is no URDF: it is not text") from None
    elif args.kind == "go2":
        urdf = packaged_urdf("go2_description/urdf/go2.urdf")
    counts = write_recording(recording, args.out, urdf, args.storage, args.force)
    span = float(recording.time[-1] - recording.time[0])
    print(f"{args.out}: {span:.3f} s, {', '.join(f'{topic} {n}' for topic, n in sorted(counts.items()))}")
    if "/robot_description" not in counts:
        print("no robot model is known for it: replay needs --urdf", file=sys.stderr)
    return 0
