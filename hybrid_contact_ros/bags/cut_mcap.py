"""MCAP files without their end: the recorder was killed, the disk was full, or a copy broke off.

A whole file ends with an index, from which ``rosbags`` reads. Here the records are followed from the beginning (the
format is that of https://mcap.dev/spec) up to the first one that is not whole. Of a chunk that is cut, as much is read
as can be decompressed.
"""

from __future__ import annotations

import heapq
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from zlib import crc32

from hybrid_contact_ros.bags.storage import Definition, zstd
from hybrid_contact_ros.bags.unreadable import UnreadableBag, from_library

_MAGIC = b"\x89MCAP0\r\n"
_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F
_LAST_KIND = 0x7F  # the last kind that the specification may use; records of higher kinds are private, and passed over
_RECORD, _ID, _SIZE, _LONG = Struct("<BQ"), Struct("<H"), Struct("<I"), Struct("<Q")
_MESSAGE_HEAD, _CHUNK_HEAD = Struct("<HIQQ"), Struct("<QQQI")
_RUN = 1 << 20  # bytes; messages outside of chunks are read together up to this many


@dataclass(slots=True)
class _Part:
    """Messages that lie together: a chunk (``compression`` is its name), or a run of records outside of chunks."""

    first: int
    last: int
    offset: int
    length: int
    compression: str | None


class CutMcap:
    """Messages of an MCAP file up to where it is cut or damaged, in the order of their times of recording.

    Attributes:
        kinds, definitions, counts, first, last: as of :class:`~hybrid_contact_ros.bags.storage.Storage`.
        damage: from which byte on the file cannot be read, and why; empty where all of its data could be read.

    Raises:
        UnreadableBag: nothing of it is MCAP.
    """

    def __init__(self, path: Path) -> None:
        self.kinds: dict[str, str] = {}
        self.definitions: list[Definition] = []
        self.counts: Counter[str] = Counter()
        self.damage = ""
        self._schemas: dict[int, str] = {0: ""}
        self._topics: dict[int, str] = {}
        self._parts: list[_Part] = []
        self._size = path.stat().st_size
        self._file = path.open("rb")
        try:
            if self._file.read(8) != _MAGIC:
                raise UnreadableBag(f"{self._size} bytes that do not begin as MCAP does")
            self._scan()
        except BaseException:
            self.close()
            raise
        self.first = min((part.first for part in self._parts), default=0)
        self.last = max((part.last for part in self._parts), default=0)

    def close(self) -> None:
        self._file.close()

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        """Topic, time of recording (ns) and serialised message. One part of the file is in memory at a time, and
        several where their times overlap."""
        ids = {identity: topic for identity, topic in self._topics.items() if topic in topics}
        for time, _, order, message in heapq.merge(*(self._read(n, set(ids)) for n in range(len(self._parts)))):
            if order >= 0:
                yield ids[message[0]], time, message[1]

    def _read(self, number: int, ids: set[int]) -> Iterator[tuple[int, int, int, tuple[int, bytes]]]:
        part = self._parts[number]
        yield part.first, number, -1, (0, b"")  # so that merging opens a part only when its time has come
        found = [m for m in _messages(self._load(part)) if m[1] in ids]
        for order, (time, identity, data) in enumerate(sorted(found, key=lambda m: m[0])):
            yield time, number, order, (identity, data)

    def _load(self, part: _Part) -> bytes:
        self._file.seek(part.offset)
        data = self._file.read(part.length)
        return data if part.compression is None else _decompressed(data, part.compression)

    def _scan(self) -> None:
        position = 8
        while True:
            self._file.seek(position)
            head = self._file.read(_RECORD.size)
            if len(head) < _RECORD.size:
                return self._stop(position, "it ends here, without an index")
            kind, length = _RECORD.unpack(head)
            if kind in (_FOOTER, _DATA_END):
                return None
            whole = position + _RECORD.size + length <= self._size
            if kind == 0 or (kind <= _LAST_KIND and kind > _DATA_END):
                return self._stop(position, "what follows is no record")
            try:
                if kind == _CHUNK:
                    self._chunk(position + _RECORD.size, length, whole)
                elif whole:
                    self._record(kind, position, length)
            except (UnreadableBag, struct.error, UnicodeDecodeError) as error:
                return self._stop(position, f"a record that cannot be read: {error}")
            if not whole:
                return self._stop(position, f"a record of {length} bytes is cut")
            position += _RECORD.size + length

    def _stop(self, position: int, why: str) -> None:
        self.damage = f"at byte {position} of {self._size}: {why}"

    def _record(self, kind: int, position: int, length: int) -> None:
        """One whole record outside of chunks."""
        data = self._file.read(length)
        if kind == _MESSAGE:
            identity, _, time, _ = _MESSAGE_HEAD.unpack_from(data)
            last = self._parts[-1] if self._parts else None
            if last is None or last.compression is not None or last.length > _RUN or not _adjoins(last, position):
                self._parts.append(last := _Part(time, time, position, 0, None))
            last.length = position + _RECORD.size + length - last.offset
            self._note(last, identity, time)
        else:
            self._describe(kind, data)

    def _chunk(self, begin: int, length: int, whole: bool) -> None:
        head = self._file.read(min(length, _CHUNK_HEAD.size + _SIZE.size + 64))
        _, _, size, checksum = _CHUNK_HEAD.unpack_from(head)
        compression, end = _string(head, _CHUNK_HEAD.size)
        (compressed,) = _LONG.unpack_from(head, end)
        length = min(compressed, self._size)  # a damaged length may be any number
        part = _Part(sys.maxsize, 0, begin + end + _LONG.size, length, compression)
        data = self._load(part)
        if whole and (len(data) != size or (checksum and crc32(data) != checksum)):
            raise UnreadableBag("a chunk's checksum is wrong")
        for kind, start, stop in _records(data):
            if kind == _MESSAGE:
                identity, _, time, _ = _MESSAGE_HEAD.unpack_from(data, start)
                self._note(part, identity, time)
            else:
                self._describe(kind, data[start:stop])
        if part.first <= part.last:
            self._parts.append(part)

    def _note(self, part: _Part, identity: int, time: int) -> None:
        if identity not in self._topics:
            raise UnreadableBag(f"a message of the channel {identity}, which was not announced")
        part.first, part.last = min(part.first, time), max(part.last, time)
        self.counts[self._topics[identity]] += 1

    def _describe(self, kind: int, data: bytes) -> None:
        """A schema or a channel. Both may stand in a file more than once."""
        if kind == _SCHEMA:
            (identity,) = _ID.unpack_from(data)
            name, end = _string(data, 2)
            encoding, end = _string(data, end)
            text, _ = _string(data, end)
            if identity not in self._schemas:
                self._schemas[identity] = name
                self.definitions.append(Definition(name, encoding, text))
        elif kind == _CHANNEL:
            identity, schema = Struct("<HH").unpack_from(data)
            if schema not in self._schemas:
                raise UnreadableBag(f"a channel of the schema {schema}, which was not announced")
            self._topics[identity], _ = _string(data, 4)
            self.kinds[self._topics[identity]] = self._schemas[schema]


def _adjoins(part: _Part, position: int) -> bool:
    return part.offset + part.length == position


def _records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, begin and end of each record's content, as far as they are whole."""
    position = 0
    while position + _RECORD.size <= len(data):
        kind, length = _RECORD.unpack_from(data, position)
        begin = position + _RECORD.size
        position = begin + length
        if position > len(data):
            return
        yield kind, begin, position


def _messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Time, channel and content of each message."""
    for kind, begin, end in _records(data):
        if kind == _MESSAGE:
            identity, _, time, _ = _MESSAGE_HEAD.unpack_from(data, begin)
            yield time, identity, data[begin + _MESSAGE_HEAD.size : end]


def _string(data: bytes, at: int) -> tuple[str, int]:
    """A string that stands behind its length, and where it ends."""
    (length,) = _SIZE.unpack_from(data, at)
    end = at + _SIZE.size + length
    if end > len(data):
        raise UnreadableBag("a string is longer than its record")
    return data[at + _SIZE.size : end].decode(), end


def _decompressed(data: bytes, compression: str) -> bytes:
    """As much of a chunk as can be decompressed; the chunk may lack its end."""
    if compression == "zstd":
        return bytes(from_library(zstd().ZstdDecompressor().decompress, data))
    if compression == "lz4":
        from lz4.frame import LZ4FrameDecompressor

        return bytes(from_library(LZ4FrameDecompressor().decompress, data))
    if compression:
        raise UnreadableBag(f"chunks are compressed by {compression!r}, which is unknown")
    return data
