"""A message that is written once as bytes and then sent again and again with other numbers.

Filling a message object and serializing it takes many times as long as publishing its bytes. The robots of the demo and
of the benchmarks send thousands, and would otherwise take that time from the suite beside them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.cdr import BEGIN, STAMP, Layout, serialize


class PreparedMessage:
    """The bytes of a message whose numbers are overwritten in place.

    Args:
        kind: its type, a key of :data:`~.definitions.DEFINITIONS`.
        message: with all its texts, and with sequences of their final lengths.

    Example:
        >>> from types import SimpleNamespace as Message
        >>> prepared = PreparedMessage("Header", Message(stamp=Message(sec=1, nanosec=2), frame_id="odom"))
        >>> prepared.view("stamp.sec")[0] = 0x11
        >>> bytes(prepared).hex(" ", -4)
        '00010000 11000000 02000000 05000000 6f646f6d 00'
    """

    def __init__(self, kind: str, message: Any) -> None:
        data = serialize(kind, message)
        self._data = bytearray(data)
        self._numbers = Layout(kind, data).numbers

    def __bytes__(self) -> bytes:
        return bytes(self._data)

    def stamp(self, stamp_ns: int) -> None:
        """Set ``header.stamp`` of a message whose first field is its header."""
        STAMP.pack_into(self._data, BEGIN, *divmod(stamp_ns, 1_000_000_000))

    def view(self, path: str) -> NDArray[Any]:
        """A field as a flat array that writes into the bytes.

        Args:
            path: as of :class:`~.cdr.Numbers`: ``effort``, ``contacts.2.status``, or ``pose.pose.position`` for all
                numbers of that part.

        Raises:
            ValueError: there are no such numbers, or they are of several types or do not follow one on the other.
        """
        found = [n for n in self._numbers.values() if n.path == path or n.path.startswith(f"{path}.")]
        apart = any(a.end != b.offset or a.code != b.code for a, b in pairwise(found))
        if not found or apart:
            raise ValueError(f"{path!r} is no run of numbers of one type")
        return np.frombuffer(self._data, f"<{found[0].code}", sum(abs(n.size) for n in found), found[0].offset)
