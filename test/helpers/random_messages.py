"""Random messages of plain attributes, and the same ones as rclpy and rosbags hold them."""

from __future__ import annotations

import importlib
import struct
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.messages.cdr import Layout
from hybrid_contact_ros.messages.definitions import DEFINITIONS, PRIMITIVES, TEXT, fields

# Full type names of all definitions but the parts of a ContactMode.
PACKAGES = {
    "builtin_interfaces": ("Time", "Duration"),
    "std_msgs": ("Header",),
    "geometry_msgs": (
        *("Point", "Vector3", "Quaternion", "Pose", "PoseWithCovariance", "Twist", "TwistWithCovariance"),
        *("Wrench", "WrenchStamped"),
    ),
    "sensor_msgs": ("JointState", "Imu"),
    "nav_msgs": ("Odometry",),
    "hybrid_contact_msgs": (
        *("ContactState", "ModeTransition", "ContactMode", "ContactEvent", "ConstraintStability"),
        *("PostImpactVelocitySet", "EventWord", "EventSensitivity", "JointCommand"),
    ),
    "trajectory_msgs": ("JointTrajectory", "JointTrajectoryPoint"),
}
FULL = {kind: f"{package}/msg/{kind}" for package, kinds in PACKAGES.items() for kind in kinds}
assert set(FULL) == set(DEFINITIONS) - {"ContactModeHead", "ContactModeTail"}

_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=("Cs",)), max_size=9)
_NUMBERS = {
    "bool": st.booleans(),
    "uint8": st.integers(0, 2**8 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "float64": st.floats(),
}


@st.composite
def messages(draw: Any, kind: str, largest: int = 4) -> SimpleNamespace:
    """Any message of a type, with sequences of up to ``largest`` entries."""

    def one(of: str) -> Any:
        return draw(_TEXTS if of == TEXT else _NUMBERS[of] if of in PRIMITIVES else messages(of, largest))

    found = {}
    for field in fields(kind):
        size = draw(st.integers(0, largest)) if field.size == 0 else field.size
        found[field.name] = one(field.kind) if size < 0 else [one(field.kind) for _ in range(size)]
    return SimpleNamespace(**found)


def of_rclpy(kind: str, message: Any) -> Any:
    """The message in the class that rosidl generated."""
    package, _, name = FULL[kind].split("/")
    made = getattr(importlib.import_module(f"{package}.msg"), name)()
    for field in fields(kind):
        value = getattr(message, field.name)
        if field.kind in FULL:
            value = [of_rclpy(field.kind, v) for v in value] if field.size >= 0 else of_rclpy(field.kind, value)
        setattr(made, field.name, np.array(value, np.float64) if field.size > 0 else value)
    return made


def of_rosbags(kind: str, message: Any) -> Any:
    """The message in the dataclass of rosbags."""
    values = {}
    for field in fields(kind):
        value = getattr(message, field.name)
        if field.kind in FULL:
            value = [of_rosbags(field.kind, v) for v in value] if field.size >= 0 else of_rosbags(field.kind, value)
        elif field.size >= 0 and field.kind != TEXT:
            value = np.array(value, np.dtype(PRIMITIVES[field.kind]))
        values[field.name] = value
    return typestore().types[FULL[kind]](**values)


def bits(kind: str, message: Any) -> list[Any]:
    """All that a message says, floats by their bits, whoever holds it."""
    found: list[Any] = []

    def add(of: str, value: Any) -> None:
        if of == TEXT:
            found.append(str(value))
        elif of in PRIMITIVES:
            found.append(struct.pack(f"<{PRIMITIVES[of]}", value))
        else:
            found.extend(bits(of, value))

    for field in fields(kind):
        value = getattr(message, field.name)
        if field.size < 0:
            add(field.kind, value)
        else:
            found.append(len(value))
            for each in value:
                add(field.kind, each)
    return found


def masked(layout: Layout, data: bytes) -> bytes:
    """A message of this layout with zeros in its gaps, and without what stands behind its last field."""
    out = bytearray(data[: layout.end])
    for begin, end in layout.gaps:
        out[begin:end] = bytes(end - begin)
    return bytes(out)


def agreeing(kind: str, message: SimpleNamespace) -> SimpleNamespace:
    """The message with arrays as long as they must be: repeated or cut."""

    def fit(name: str, size: int) -> None:
        code = next(PRIMITIVES.get(field.kind) for field in fields(kind) if field.name == name)
        values = getattr(message, name) or [{"d": 0.0, "?": False}.get(code, 0)]
        setattr(message, name, [values[i % len(values)] for i in range(size)])

    if kind == "ConstraintStability":
        for name in (field.name for field in fields(kind) if field.kind in PRIMITIVES and field.size == 0):
            fit(name, len(message.pair_first) if name.startswith("pair_") else len(message.contacts))
    if kind == "PostImpactVelocitySet":
        message.dof = len(message.v_minus) or 1
        message.count = len(message.velocities) // message.dof
        fit("velocities", message.count * message.dof)
        along = ("velocity_names", "v_nominal", "lower", "upper", "quantile_lower", "quantile_upper", "joint_jump")
        for name in along:
            if getattr(message, name):
                fit(name, message.dof)
        message.generator_count, message.basis_rows = len(message.generators), len(message.basis)
        fit("generators", message.generator_count * message.dof)
        fit("basis", message.basis_rows * message.dof)
        fit("basis_change", message.basis_rows if message.basis_change else 0)
        fit("mass", message.dof**2 if message.mass else 0)
    return message


def littered(data: bytes, gaps: list[tuple[int, int]], behind: int = 0) -> bytes:
    """The same message as another writer leaves it: with rubbish in its gaps, and behind its end."""
    out = bytearray(data) + bytes([0xA5]) * behind
    for begin, end in gaps:
        out[begin:end] = bytes([0x5A]) * (end - begin)
    return bytes(out)
