"""Messages that come as bytes: how the unusual ones are made messages, the general and slow way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybrid_contact_ros.messages.refusals import RefusedError

Deserialize = Callable[[str, bytes], Any]
"""Makes a message of its type (a key of :data:`~.definitions.DEFINITIONS`) and its bytes."""


class UnreadableMessageError(ValueError):
    """Bytes that are no message of their type; raised by a :data:`Deserialize`."""


def deserialized(kind: str, data: bytes, how: Deserialize | None) -> Any:
    """The message of these bytes.

    Raises:
        RefusedError: ``unreadable``.
    """
    if how is None:
        raise TypeError("bytes need a function that deserializes those that are unusual")
    try:
        return how(kind, data)
    except UnreadableMessageError as error:
        raise RefusedError("unreadable", str(error)) from None
