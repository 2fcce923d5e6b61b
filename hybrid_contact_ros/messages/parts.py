"""The parts of a message by their paths, whether it is there as bytes or as an object.

Inputs that are as small as these need no kernel: of bytes whose layout is known, numbers are read where they stand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.cdr import BEGIN, STAMP, Layout
from hybrid_contact_ros.messages.layouts import LAYOUTS, Layouts
from hybrid_contact_ros.messages.serialized import Deserialize, deserialized

Array = NDArray[np.float64]


class Parts(ABC):
    """The parts of one message.

    Attributes:
        sec, nanosec: of its stamp.
    """

    sec: int
    nanosec: int

    @abstractmethod
    def numbers(self, path: str) -> Array:
        """The numbers of a field, as an array of their own; a single one has length one."""

    @abstractmethod
    def texts(self, path: str) -> tuple[str, ...]:
        """A sequence of texts."""

    @abstractmethod
    def text(self, path: str) -> str:
        """One text."""

    @abstractmethod
    def count(self, path: str) -> int:
        """Entries of a sequence."""


class _OfBytes(Parts):
    def __init__(self, layout: Layout, data: bytes) -> None:
        self._layout, self._data = layout, data
        self.sec, self.nanosec = STAMP.unpack_from(data, BEGIN)

    def numbers(self, path: str) -> Array:
        found = self._layout.numbers[path]
        if not found.size:
            return np.zeros(0)
        read = np.frombuffer(self._data, f"<{found.code}", abs(found.size), found.offset)
        return read.astype(np.float64)

    def texts(self, path: str) -> tuple[str, ...]:
        return tuple(self._layout.texts[f"{path}.{k}"] for k in range(self._layout.counts[path]))

    def text(self, path: str) -> str:
        return self._layout.texts[path]

    def count(self, path: str) -> int:
        return self._layout.counts[path]


class _OfMessage(Parts):
    def __init__(self, message: Any) -> None:
        self._message = message
        self.sec, self.nanosec = int(message.header.stamp.sec), int(message.header.stamp.nanosec)

    def _at(self, path: str) -> Any:
        found = self._message
        for name in path.split("."):
            found = found[int(name)] if name.isdigit() else getattr(found, name)
        return found

    def numbers(self, path: str) -> Array:
        return np.array(self._at(path), dtype=np.float64).reshape(-1)

    def texts(self, path: str) -> tuple[str, ...]:
        return tuple(self._at(path))

    def text(self, path: str) -> str:
        return str(self._at(path))

    def count(self, path: str) -> int:
        return len(self._at(path))


class PartsReader:
    """Takes messages of one type apart.

    Args:
        kind: a key of :data:`~.definitions.DEFINITIONS` that begins with a header.
        deserialize: makes messages of the bytes that are unusual. objects: do so with all bytes.
    """

    def __init__(self, kind: str, deserialize: Deserialize, objects: bool = False) -> None:
        self._kind, self._deserialize = kind, deserialize
        self._layouts = Layouts(lambda data: Layout(kind, data), 0 if objects else LAYOUTS)

    def read(self, msg: Any) -> Parts:
        """A message, or the bytes of one.

        Raises:
            RefusedError: ``unreadable``.
        """
        if not isinstance(msg, bytes):
            return _OfMessage(msg)
        layout = self._layouts.find(msg)
        if layout is not None:
            return _OfBytes(layout, msg)
        made = _OfMessage(deserialized(self._kind, msg, self._deserialize))
        self._layouts.learn(msg)
        return made
