"""What one message says of contacts, for each type of message that may be a truth.

A message gives values by name: yes or no, or a number that is the larger the more a contact is loaded (N, counts). A
name may be that of a contact, of its link, or "" where the message has none. Nothing of ROS is imported: fields are
read from whatever object has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Said = list[tuple[tuple[str, ...], float | bool]]
"""Names, of which the first that is known counts, and what is said of that contact; NaN where it is not known."""

UNITREE = ("FR", "FL", "RR", "RL")
"""The order of Unitree's feet, of whose messages it is not a part."""

SCALARS = ("Bool", "Float32", "Float64", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
_FORCES = ("foot_force", "foot_force_est", "footforce", "footForce")


def contact_mode(msg: Any) -> Said:
    """``hybrid_contact_msgs/ContactMode``: its bits."""
    mode = int(msg.mode)
    return [((c.name, c.frame), bool(mode >> i & 1)) for i, c in enumerate(msg.contacts)]


def wrench(msg: Any) -> Said:
    """``geometry_msgs/WrenchStamped``: the size of the force, N."""
    return [((msg.header.frame_id,), _size(msg.wrench.force))]


def whole_body(msg: Any) -> Said:
    """``whole_body_state_msgs/WholeBodyState``: the states of its contacts, or their forces where contacts have no
    state, as in its older versions. An unknown state is NaN."""
    found: Said = []
    for contact in msg.contacts:
        state = getattr(contact, "contact_state", None)
        if state is None:
            found.append(((contact.name,), _size(contact.wrench.force)))
        else:
            closed = (getattr(contact, "CLOSED", 0), getattr(contact, "SLIPPING", 2))
            known = state != getattr(contact, "UNKNOWN", -1)
            found.append(((contact.name,), bool(state in closed) if known else math.nan))
    return found


def gazebo(msg: Any) -> Said:
    """``ros_gz_interfaces/Contacts``: both collisions of each contact, by their scoped names; they touch."""
    return [
        ((each.name,), True) for contact in msg.contacts for each in (contact.collision1, contact.collision2)
    ]  # fmt: skip


def gazebo_classic(msg: Any) -> Said:
    """``gazebo_msgs/ContactsState``: the same."""
    return [
        ((name,), True) for state in msg.states for name in (state.collision1_name, state.collision2_name)
    ]  # fmt: skip


def joint_state(msg: Any) -> Said:
    """``sensor_msgs/JointState`` as foot sensors publish it: efforts by name, or positions where there are none."""
    values = msg.effort if len(msg.effort) else msg.position
    return [((name,), float(value)) for name, value in zip(msg.name, values, strict=False)]


def scalar(msg: Any) -> Said:
    """``std_msgs`` of one value."""
    value = msg.data
    return [(("",), bool(value) if isinstance(value, bool | np.bool_) else float(value))]


def array(msg: Any) -> Said:
    """``std_msgs`` of several values, without names."""
    return [(("",), float(value)) for value in np.asarray(msg.data).ravel()]


def foot_forces(msg: Any) -> Said:
    """Any message with ``foot_force``, as of Unitree: counts of four feet."""
    field = next(name for name in _FORCES if hasattr(msg, name))
    return [((UNITREE[i] if i < 4 else "",), float(value)) for i, value in enumerate(getattr(msg, field))]


READERS: dict[str, Callable[[Any], Said]] = {
    "hybrid_contact_msgs/msg/ContactMode": contact_mode,
    "geometry_msgs/msg/WrenchStamped": wrench,
    "whole_body_state_msgs/msg/WholeBodyState": whole_body,
    "ros_gz_interfaces/msg/Contacts": gazebo,
    "gazebo_msgs/msg/ContactsState": gazebo_classic,
    "sensor_msgs/msg/JointState": joint_state,
    **{f"std_msgs/msg/{name}": scalar for name in SCALARS},
    **{f"std_msgs/msg/{name}MultiArray": array for name in SCALARS if name != "Bool"},
}
"""How each type of message is read."""

SCOPED = ("ros_gz_interfaces/msg/Contacts", "gazebo_msgs/msg/ContactsState")
"""Types that list what touches, and say nothing of what does not: that is open."""
SILENT = "ros_gz_interfaces/msg/Contacts"
"""The type whose publisher is silent while nothing touches."""


def reader_of(kind: str, first: Any) -> Callable[[Any], Said] | None:
    """How messages of this type are read; None for one that says nothing of contacts. ``first``: a message of it."""
    if kind in READERS:
        return READERS[kind]
    return foot_forces if any(hasattr(first, name) for name in _FORCES) else None


def stamp_of(msg: Any, time_ns: int) -> int:
    """The stamp of a message, or the time of its recording where it has none."""
    stamp = getattr(getattr(msg, "header", None), "stamp", None) or getattr(msg, "stamp", None)
    if stamp is None or not (hasattr(stamp, "sec") and hasattr(stamp, "nanosec")):
        return time_ns
    found = int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
    return found or time_ns  # a stamp that was never filled is none


def _size(vector: Any) -> float:
    return math.sqrt(vector.x**2 + vector.y**2 + vector.z**2)
