"""A recording written as rosbag2, as the drivers of a robot would publish it.

Topics: ``/odom`` and ``/joint_states``; ``/robot_description`` where a URDF is given or the recording has one;
``/truth/contact_mode`` and ``/truth/impact`` where contacts or outcomes of impacts are known; ``/imu`` if that is
wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hybrid_contact_ros.bags.typestore import message_types, typestore
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.messages.truth import TruthEncoder
from hybrid_contact_ros.recordings.recording import START_NS, Array, Impact, Recording
from hybrid_contact_ros.recordings.unit import specific_force

TRUTH_MODE = "/truth/contact_mode"
TRUTH_IMPACT = "/truth/impact"


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of the contacts, as the encoder of the truth reads them."""

    contact_names: tuple[str, ...]
    contact_frames: tuple[str, ...]
    velocity_names: tuple[str, ...] = ()
    hash: int = 0


def write_recording(
    recording: Recording,
    out: str | Path,
    urdf: str | None = None,
    storage: str = "mcap",
    force: bool = False,
    imu: bool = False,
) -> dict[str, int]:
    """Write one recording as a rosbag2.

    Args:
        recording: what :func:`~hybrid_contact_ros.recordings.readers.read` gave.
        out: ``NAME.mcap``, ``NAME.db3`` or a folder.
        urdf: text for ``/robot_description``; ``None`` takes that of the recording.
        storage: of a folder, "mcap" or "sqlite3".
        force: replace ``out`` where it exists.
        imu: write what an inertial unit at the origin of the root link would measure, too, by differences of the base's
            velocity: with ``input.base: imu`` a replay then does without the odometry.

    Returns:
        the number of messages written on each topic.

    Raises:
        BagError: ``out`` cannot be written.
        ValueError: there is no floating base for an inertial unit.
    """
    description = urdf if urdf is not None else recording.urdf
    kinds = {"/odom": "nav_msgs/msg/Odometry"} if recording.position is not None else {}
    if recording.joints:
        kinds["/joint_states"] = "sensor_msgs/msg/JointState"
    if recording.contacts:
        kinds[TRUTH_MODE] = "hybrid_contact_msgs/msg/ContactMode"
    if recording.impacts:
        kinds[TRUTH_IMPACT] = "hybrid_contact_msgs/msg/PostImpactVelocitySet"
    if imu:
        kinds["/imu"] = "sensor_msgs/msg/Imu"
    messages = _Messages(recording, specific_force(recording) if imu else None)
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
            for topic in ("/imu", "/odom", "/joint_states", TRUTH_MODE):
                if topic in kinds:
                    writer.write(topic, stamp, messages.sample(topic, k, stamp))
                    counts[topic] += 1
            # The outcome of an impact is known only afterwards: it is recorded with the first sample later than that.
            while impacts and impacts[0].time < t:
                writer.write(TRUTH_IMPACT, stamp, messages.impact(impacts.pop(0), stamp))
                counts[TRUTH_IMPACT] += 1
    return counts


class _Messages:
    """The messages of one recording."""

    def __init__(self, recording: Recording, acceleration: Array | None = None) -> None:
        self._r, self._acceleration = recording, acceleration
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
        if topic == "/imu":
            return self._unit(k, stamp)
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

    def _unit(self, k: int, stamp: int) -> Any:
        r = self._r
        assert r.quaternion is not None and r.angular is not None and self._acceleration is not None
        qx, qy, qz, qw = r.quaternion[k].tolist()
        return self._make(
            "sensor_msgs/msg/Imu",
            header=self._header(stamp, ""),
            orientation=self._make("geometry_msgs/msg/Quaternion", x=qx, y=qy, z=qz, w=qw),
            orientation_covariance=self._zeros[:9],
            angular_velocity=self._vector(r.angular[k]),
            angular_velocity_covariance=self._zeros[:9],
            linear_acceleration=self._vector(self._acceleration[k]),
            linear_acceleration_covariance=self._zeros[:9],
        )

    def _joints(self, k: int, stamp: int) -> Any:
        r = self._r
        assert r.q is not None
        return self._make(
            "sensor_msgs/msg/JointState",
            header=self._header(stamp, ""),
            name=list(r.joints),
            position=np.ascontiguousarray(r.q[k], np.float64),
            velocity=self._none if r.dq is None else np.ascontiguousarray(r.dq[k], np.float64),
            effort=self._none if r.effort is None else np.ascontiguousarray(r.effort[k], np.float64),
        )
