"""What all messages about one model share: names, the hash, headers and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from hybrid_contact_ros.messages.types import MessageTypes

MAX_CONTACTS = 64
"""Contacts that a message may hold: the bits of ``ContactMode.mode``."""
MAX_DOF = 256
"""Velocity coordinates that a ``PostImpactVelocitySet`` may hold."""

_LARGEST_INT32_NS = (2**31 - 1) * 1_000_000_000


class ModelNames(Protocol):
    """What of a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel` goes into messages."""

    @property
    def contact_names(self) -> Sequence[str]: ...
    @property
    def contact_frames(self) -> Sequence[str]: ...
    @property
    def velocity_names(self) -> Sequence[str]: ...
    @property
    def hash(self) -> int: ...


class PlainNames:
    """The names of messages about contacts that no model stands behind: a simulator's feet."""

    velocity_names: tuple[str, ...] = ()
    hash = 0

    def __init__(self, names: tuple[str, ...]) -> None:
        self.contact_names = self.contact_frames = names


class Envelope:
    """Names and hash of a model, and the headers, times and durations of its messages.

    Args:
        types: the message classes.
        model: its names and its hash are read once.
        frame_id: the world frame; may be assigned later.

    Raises:
        ValueError: the model has more contacts or coordinates than messages may hold.
    """

    def __init__(self, types: MessageTypes, model: ModelNames, frame_id: str) -> None:
        self.types = types
        self.frame_id = frame_id
        self.names = [str(name) for name in model.contact_names]
        self.frames = [str(name) for name in model.contact_frames]
        self.velocity_names = [str(name) for name in model.velocity_names]
        self.hash = int(model.hash)
        if len(self.names) > MAX_CONTACTS:
            raise ValueError(f"{len(self.names)} contacts are configured, and a message holds at most {MAX_CONTACTS}")
        if len(self.velocity_names) > MAX_DOF:
            raise ValueError(
                f"the model has {len(self.velocity_names)} velocity coordinates, and a message holds at most {MAX_DOF}"
            )

    def header(self, stamp_ns: int) -> Any:
        """``std_msgs/Header`` of a measurement."""
        return self.types.Header(stamp=self.time(stamp_ns), frame_id=self.frame_id)

    def time(self, stamp_ns: int) -> Any:
        """``builtin_interfaces/Time``."""
        sec, nanosec = seconds(stamp_ns)
        return self.types.Time(sec=sec, nanosec=nanosec)

    def duration(self, duration_ns: int) -> Any:
        """``builtin_interfaces/Duration``."""
        sec, nanosec = seconds(duration_ns)
        return self.types.Duration(sec=sec, nanosec=nanosec)


def seconds(ns: int) -> tuple[int, int]:
    """Seconds and nanoseconds of a time, or of the nearest one that a message can hold (68 years)."""
    return divmod(held(ns), 1_000_000_000)


def held(ns: int) -> int:
    """A time, or the nearest one that a message can hold (68 years)."""
    if -_LARGEST_INT32_NS <= ns <= _LARGEST_INT32_NS:
        return int(ns)
    return _LARGEST_INT32_NS if ns > 0 else -_LARGEST_INT32_NS
