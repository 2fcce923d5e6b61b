"""What one file of a recording gives, whole or not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rosbags.interfaces import MessageDefinitionFormat
from rosbags.rosbag2 import Reader


class UnreadableError(Exception):
    """Nothing of a file can be read, and why."""


class Definition(NamedTuple):
    """Of a message type: its name, ``ros2msg`` or ``ros2idl``, and the text."""

    kind: str
    encoding: str
    text: str


class Storage(Protocol):
    """One file. ``damage`` is empty where all of it can be read; ``first`` and ``last`` are times of recording, ns."""

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


def messages_by_topic(connections: Iterable[Any]) -> dict[str, int]:
    """How many messages the index of a recording counts on each topic, whoever published them."""
    counts: dict[str, int] = {}
    for connection in connections:
        counts[connection.topic] = counts.get(connection.topic, 0) + connection.msgcount
    return counts


class WholeFile:
    """A file that ``rosbags`` reads."""

    def __init__(self, path: Path) -> None:
        self._reader = Reader(path)
        self._reader.open()
        connections = self._reader.connections
        self.kinds = {c.topic: c.msgtype for c in connections}
        self.counts = messages_by_topic(connections)
        encodings = {MessageDefinitionFormat.MSG: "ros2msg", MessageDefinitionFormat.IDL: "ros2idl"}
        self.definitions = [
            Definition(c.msgtype, encodings[c.msgdef.format], c.msgdef.data)
            for c in connections
            if c.msgdef.format in encodings
        ]
        self.first, self.last, self.damage = self._reader.start_time, self._reader.end_time - 1, ""

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        wanted = [c for c in self._reader.connections if c.topic in topics]
        if wanted:
            for connection, time, data in self._reader.messages(wanted):
                yield connection.topic, time, data

    def close(self) -> None:
        self._reader.close()


def zstd() -> Any:
    """Zstandard: of Python's own library from 3.14 on, before that of the package that ``rosbags`` needs too."""
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module


def natural(path: Path) -> tuple[list[int], str]:
    """A key that puts bag_10 behind bag_9."""
    digits = "".join(c if c.isdigit() else " " for c in path.name).split()
    return [int(d) for d in digits], path.name
