"""One file of a recording: what any reader of it gives, and the reader of a whole one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rosbags.interfaces import MessageDefinitionFormat
from rosbags.rosbag2 import Reader

from hybrid_contact_ros.bags.unreadable import each_from_library, from_library, library

_SPANS = 5  # times of lost messages that are told


class Definition(NamedTuple):
    """The definition of a message type: its name, its encoding (``ros2msg`` or ``ros2idl``), and its text."""

    kind: str
    encoding: str
    text: str


class Storage(Protocol):
    """One file of a recording.

    Attributes:
        kinds: message type of each topic.
        definitions: definitions of these types.
        damage: what of the file cannot be read; empty where all of it can.
        counts: number of messages on each topic.
        first, last: times of recording of the first and the last message, ns.
    """

    kinds: dict[str, str]
    definitions: list[Definition]
    damage: str

    @property
    def counts(self) -> Mapping[str, int]: ...

    @property
    def first(self) -> int: ...

    @property
    def last(self) -> int: ...

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]: ...

    def close(self) -> None: ...


class Losses:
    """What is missing between the messages that could be read, by their times of recording."""

    def __init__(self) -> None:
        self._time = 0  # of the last message that was read, ns
        self._open = False
        self._spans: list[tuple[int, int]] = []

    def read(self, time: int) -> None:
        """A message was read, in the order of the file."""
        if self._open and self._time:
            self._spans.append((min(self._time, time), max(self._time, time)))
        self._time, self._open = time, False

    def place(self) -> None:
        """What follows the last message cannot be read."""
        self._open = True

    def span(self, first: int, last: int) -> None:
        """The messages of these times, ns, cannot be read."""
        self._spans.append((first, last))

    def told(self, begin: int, missing: int | None, counted: int | None) -> str:
        """A clause on it, or nothing. begin: time of the first message that was read, ns. missing, counted: numbers of
        messages, None where they are not known."""
        if missing is not None and missing <= 0:
            return "; no message is lost"
        spans = sorted(self._spans)[:_SPANS]
        begin = min([begin, *(first for first, _ in spans)])
        more = f" and {len(self._spans) - _SPANS} more times" if len(self._spans) > _SPANS else ""
        when = ", ".join(f"{(a - begin) * 1e-9:.3f} to {(b - begin) * 1e-9:.3f} s" for a, b in spans)
        many = "messages are lost" if missing is None else f"{missing} of {counted} messages are lost"
        if when:
            return f"; {many}, at {when}{more} after its beginning"
        return f"; {many}" if missing is not None else ""


def messages_by_topic(connections: Iterable[Any]) -> dict[str, int]:
    """How many messages the index of a recording counts on each topic, whoever published them."""
    counts: dict[str, int] = {}
    for connection in connections:
        counts[connection.topic] = counts.get(connection.topic, 0) + connection.msgcount
    return counts


class WholeFile:
    """A file that ``rosbags`` reads; see :class:`Storage`.

    Raises:
        UnreadableBag: ``rosbags`` cannot read it.
    """

    def __init__(self, path: Path) -> None:
        with library():
            self._reader = Reader(path)
            self._reader.open()
            connections = self._reader.connections
            first, end = self._reader.start_time, self._reader.end_time
        self.first, self.last, self.damage = first, end - 1, ""
        self.kinds = {c.topic: c.msgtype for c in connections}
        self.counts = messages_by_topic(connections)
        encodings = {MessageDefinitionFormat.MSG: "ros2msg", MessageDefinitionFormat.IDL: "ros2idl"}
        self.definitions = [
            Definition(c.msgtype, encodings[c.msgdef.format], c.msgdef.data)
            for c in connections
            if c.msgdef.format in encodings
        ]

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        wanted = [c for c in self._reader.connections if c.topic in topics]
        if wanted:  # an empty list would stand for all topics
            for connection, time, data in each_from_library(self._reader.messages, wanted):
                yield connection.topic, time, data

    def close(self) -> None:
        self._reader.close()


def zstd() -> Any:
    """The Zstandard module: Python's own from 3.14 on, before that the package that ``rosbags`` needs too."""
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module


def decompressed(data: bytes) -> bytes:
    """A message that was compressed on its own.

    Raises:
        UnreadableBag: it cannot be decompressed.
    """
    return bytes(from_library(zstd().decompress, data))


def natural(path: Path) -> tuple[list[int], str]:
    """A sorting key that puts bag_10 behind bag_9."""
    digits = "".join(c if c.isdigit() else " " for c in path.name).split()
    return [int(d) for d in digits], path.name
