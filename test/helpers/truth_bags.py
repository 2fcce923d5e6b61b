"""Recordings of feet that step, in all the messages that may tell of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.bags.writer import BagWriter

START = 5_000_000_000
DEFINITIONS = {
    "whole_body_state_msgs/msg/WholeBodyState.msg": "std_msgs/Header header\nContactState[] contacts\n",
    "whole_body_state_msgs/msg/ContactState.msg": (
        "string name\nint8 UNKNOWN=-1\nint8 CLOSED=0\nint8 OPEN=1\nint8 SLIPPING=2\nint8 contact_state\n"
        "geometry_msgs/Wrench wrench\n"
    ),
    "ros_gz_interfaces/msg/Entity.msg": "uint64 id\nstring name\nuint8 type\n",
    "ros_gz_interfaces/msg/Contact.msg": "Entity collision1\nEntity collision2\n",
    "ros_gz_interfaces/msg/Contacts.msg": "std_msgs/Header header\nContact[] contacts\n",
    "gazebo_msgs/msg/ContactState.msg": "string info\nstring collision1_name\nstring collision2_name\n",
    "gazebo_msgs/msg/ContactsState.msg": "std_msgs/Header header\nContactState[] states\n",
    "unitree_go/msg/LowState.msg": "uint8 level_flag\nint16[4] foot_force\nint16[4] foot_force_est\nuint32 tick\n",
    "other_msgs/msg/Words.msg": "string[] words\n",
}
"""Messages of other packages, in the parts that are read; the fields are those of the packages."""


def write_definitions(folder: Path) -> Path:
    for name, text in DEFINITIONS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def steps(n: int = 2000, feet: int = 2, seed: int = 0) -> np.ndarray:
    """Which feet (n, feet) touch, at 500 Hz: stances and swings of some 0.2 s."""
    rng = np.random.default_rng(seed)
    closed = np.zeros((n, feet), bool)
    for j in range(feet):
        at, state = int(rng.integers(20, 80)), True
        while at < n:
            length = int(rng.integers(60, 140))
            closed[at : at + length, j] = state
            at, state = at + length, not state
    return closed


def stamps(n: int, period_ns: int = 2_000_000) -> np.ndarray:
    return START + period_ns * np.arange(n, dtype=np.int64)


def loads(
    closed: np.ndarray, level: float = 80.0, noise: float = 0.5, offset: float = 0.0, seed: int = 1
) -> np.ndarray:
    """Loads (n, feet) that rise within one sample, and are noisy."""
    rng = np.random.default_rng(seed)
    return offset + level * closed * rng.uniform(0.8, 1.2, closed.shape) + rng.normal(0, noise, closed.shape)


def header(stamp: int, frame: str = ""):
    types = typestore().types
    stamp = int(stamp)
    time = types["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
    return types["std_msgs/msg/Header"](stamp=time, frame_id=frame)


def vector(x: float, y: float = 0.0, z: float = 0.0):
    return typestore().types["geometry_msgs/msg/Vector3"](x=float(x), y=float(y), z=float(z))


def wrench(z: float):
    return typestore().types["geometry_msgs/msg/Wrench"](force=vector(0.0, 0.0, z), torque=vector(0.0))


def write(path: Path, streams: dict[str, tuple[str, list[tuple[int, object]]]]) -> Path:
    """A recording of topics with their type, and times and messages."""
    with BagWriter(path) as bag:
        for topic, (kind, _) in streams.items():
            bag.add(topic, kind)
        every = [(int(time), topic, msg) for topic, (_, held) in streams.items() for time, msg in held]
        for time, topic, msg in sorted(every, key=lambda entry: entry[0]):
            bag.write(topic, time, msg)
    return path


def of(kind: str, **fields: object) -> object:
    return typestore().types[kind](**fields)
