"""A message that is serialized once and then sent again and again with other numbers.

Filling and serializing a message of rclpy takes many times as long as publishing its bytes. Where the numbers stand in
those bytes is not computed here but observed: a field is set to random values, and its place is where the bytes follow.
"""

from __future__ import annotations

import random
import re
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message

_ROUNDS = 16
"""Random values of a field that are tried at most, until one place is left where the bytes follow all of them."""


class PreparedMessage:
    """The bytes of a message, little endian, whose numbers are overwritten in place.

    Args:
        message: with all names and with sequences of their final lengths. It is not changed.

    >>> from sensor_msgs.msg import JointState
    >>> prepared = PreparedMessage(JointState(name=["knee"], position=[0.0]))
    >>> position = prepared.view("position", "<f8")
    >>> position[0] = 0.5
    >>> prepared.stamp(1_000_000_002)
    """

    def __init__(self, message: Any) -> None:
        self._message = message
        self._data = bytearray(serialize_message(message))

    def __bytes__(self) -> bytes:
        return bytes(self._data)

    def stamp(self, stamp_ns: int) -> None:
        """Set ``header.stamp`` of a message whose first field is its header."""
        struct.pack_into("<iI", self._data, 4, *divmod(stamp_ns, 1_000_000_000))

    def view(self, path: str, dtype: str) -> NDArray[Any]:
        """A field as a flat array that writes into the bytes.

        Args:
            path: like ``pose.pose.position``, ``contacts[2].status`` or ``effort``: a number, a sequence of numbers, or
                a message of numbers that stand without gaps, in the order of their declaration.
            dtype: of the numbers, for example ``"<f8"``.

        Raises:
            ValueError: the numbers of the field do not stand in one place.
        """
        owner, name = self._owner(path)
        before = getattr(owner, name)
        kind = np.dtype(dtype)
        count = len(_numbers(before))
        generator = random.Random(0)
        places: set[int] | None = None
        for _ in range(_ROUNDS):
            raw = bytes(generator.randrange(0x20, 0x3F) for _ in range(kind.itemsize * count))  # finite as float64
            try:
                setattr(owner, name, _like(before, np.frombuffer(raw, kind).tolist()))
                data = bytes(serialize_message(self._message))
            finally:
                setattr(owner, name, before)
            found = {match.start() for match in re.finditer(b"(?=" + re.escape(raw) + b")", data)}
            places = found if places is None else places & found
            if len(places) == 1:
                return np.frombuffer(self._data, kind, count, places.pop())
        raise ValueError(f"{path}: {len(places or ())} places in the message follow its numbers")

    def _owner(self, path: str) -> tuple[Any, str]:
        *parts, name = path.split(".")
        owner = self._message
        for part in parts:
            field, _, index = part.partition("[")
            owner = getattr(owner, field)
            if index:
                owner = owner[int(index.rstrip("]"))]
        return owner, name


def _numbers(value: Any) -> list[Any]:
    """The numbers of a field, flat."""
    if hasattr(value, "get_fields_and_field_types"):
        return [number for name in value.get_fields_and_field_types() for number in _numbers(getattr(value, name))]
    return list(value) if hasattr(value, "__len__") else [value]


def _like(value: Any, numbers: list[Any]) -> Any:
    """A field of the kind of ``value`` with other numbers."""
    if hasattr(value, "get_fields_and_field_types"):
        return type(value)(**dict(zip(value.get_fields_and_field_types(), numbers, strict=True)))
    return numbers if hasattr(value, "__len__") else numbers[0]
