"""Messages that come as bytes: how the unusual ones are made messages, the general and slow way.

Live nodes and the replay share it, so that both refuse the same bytes. It takes what rclpy takes: either order of
bytes, anything behind the last field, and texts of any bytes, which end at their first 0.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from hybrid_contact_ros.messages.cdr import BEGIN, BIG_ENDIAN, LITTLE_ENDIAN, Layout
from hybrid_contact_ros.messages.definitions import PRIMITIVES, TEXT, Field, fields
from hybrid_contact_ros.messages.refusals import RefusedError

Deserialize = Callable[[str, bytes], Any]
"""Makes a message of its type (a key of :data:`~.definitions.DEFINITIONS`) and its bytes."""


class UnreadableMessageError(ValueError):
    """Bytes that are no message of their type; raised by a :data:`Deserialize`."""


def as_message(kind: str, data: bytes) -> Any:
    """The message of these bytes, a :data:`Deserialize`. Its sequences of numbers are arrays.

    Raises:
        UnreadableMessageError: they are none in PLAIN_CDR.

    Example:
        >>> as_message("Header", bytes.fromhex("00000000 00000001 00000002 00000005 6f646f6d 00")).stamp.nanosec
        2
    """
    order = data[:2] if data[:2] == BIG_ENDIAN else LITTLE_ENDIAN
    try:
        layout = _AnyLayout(kind, data, BEGIN, order)
    except ValueError as error:
        raise UnreadableMessageError(str(error)) from None
    return _made(layout, data, ">" if order == BIG_ENDIAN else "<", kind, "")


def deserialized(kind: str, data: bytes, how: Deserialize) -> Any:
    """The message of these bytes.

    Raises:
        RefusedError: ``unreadable``.
    """
    try:
        return how(kind, data)
    except UnreadableMessageError as error:
        raise RefusedError("unreadable", str(error)) from None


class _AnyLayout(Layout):
    def _text(self, path: str, text: bytes) -> str:
        return text.partition(b"\0")[0].decode(errors="replace")


def _made(layout: Layout, data: bytes, order: str, kind: str, path: str) -> Any:
    def one(of: str, where: str) -> Any:
        if of == TEXT:
            return layout.texts[where]
        if of in PRIMITIVES:
            return numbers(where, 1)[0].item()
        return _made(layout, data, order, of, f"{where}.")

    def numbers(where: str, count: int) -> Any:
        found = layout.numbers[where]
        return np.frombuffer(data, f"{order}{found.code}", count, found.offset)

    def value(field: Field) -> Any:
        where = f"{path}{field.name}"
        if field.size < 0:
            return one(field.kind, where)
        if field.kind in PRIMITIVES:
            size = layout.numbers[where].size
            return numbers(where, size).astype(PRIMITIVES[field.kind])
        return [one(field.kind, f"{where}.{i}") for i in range(field.size or layout.counts[where])]

    return SimpleNamespace(**{field.name: value(field) for field in fields(kind)})
