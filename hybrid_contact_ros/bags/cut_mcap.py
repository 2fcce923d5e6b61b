"""MCAP files that are not whole: the recorder was killed, the disk was full, a copy broke off, bytes were overwritten.

A whole file ends with an index, from which ``rosbags`` reads. Here the records are followed from the beginning
(:mod:`.mcap_records`), over places that are none. Of a chunk that is cut, as much is read as can be decompressed. A
chunk whose checksum is wrong is left out where nothing tells which of its messages are spoilt.
"""

from __future__ import annotations

import heapq
import mmap
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from hybrid_contact_ros.bags.mcap_records import (
    CHANNEL,
    CHUNK,
    DATA_END,
    FOOTER,
    ID,
    LONG,
    MAGIC,
    MESSAGE,
    RECORD,
    SCHEMA,
    STATISTICS,
    Break,
    Bytes,
    Record,
    chunk_head,
    cut_chunk,
    may_be_cut,
    message_of,
    records,
    string,
    summary_of,
    whole,
)
from hybrid_contact_ros.bags.storage import Definition, Losses, zstd
from hybrid_contact_ros.bags.unreadable import UnreadableBag, from_library

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
    """Messages of an MCAP file as far as they are there and whole, in the order of their times of recording.

    Attributes:
        kinds, definitions, counts, first, last: as of :class:`~hybrid_contact_ros.bags.storage.Storage`.
        damage: at which byte the file cannot be read, why, and what is lost; empty where all of its data could be read.

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
        self._losses = Losses()
        with path.open("rb") as file:
            self._size = file.seek(0, 2)
            file.seek(0)
            if file.read(8) != MAGIC:
                raise UnreadableBag(f"{self._size} bytes that do not begin as MCAP does")
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            counted = self._summary()
            self._scan()
        except BaseException:
            self.close()
            raise
        self.first = min((part.first for part in self._parts), default=0)
        self.last = max((part.last for part in self._parts), default=0)
        if self.damage:
            missing = None if counted is None else counted - sum(self.counts.values())
            self.damage += self._losses.told(self.first, missing, counted)

    def close(self) -> None:
        self._data.close()

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
        data = _decompressed(self._data[part.offset : part.offset + part.length], part.compression or "")
        everything = whole(records(data, 0, len(data), self._knows))
        found = [message_of(data, each) for each in everything if each.kind == MESSAGE]
        for order, (identity, time, content) in enumerate(sorted(found, key=lambda m: m[1])):
            if identity in ids:
                yield time, number, order, (identity, content)

    def _knows(self, identity: int) -> bool:
        return identity in self._topics

    def _summary(self) -> int | None:
        """Take schemas and channels from the end of the file, where they stand again; the number of messages that is
        counted there. None where that is not there, or not whole."""
        begin, end = summary_of(self._data)
        everything, counted = list(records(self._data, begin, end, lambda _: False)), None
        found = list(whole(everything))
        if not found or len(found) < len(everything):
            return None
        for each in found:
            if each.kind == STATISTICS and each.stop - each.start >= LONG.size:
                (counted,) = LONG.unpack_from(self._data, each.start)
            self._describe(self._data, each)
        return counted

    def _scan(self) -> None:
        for each in records(self._data, len(MAGIC), self._size, self._knows):
            if isinstance(each, Break):
                self._break(each)
            elif each.kind in (FOOTER, DATA_END):
                return
            elif each.kind == CHUNK:
                self._chunk(each, whole=True)
            elif each.kind == MESSAGE:
                self._loose(each)
            else:
                self._described(self._data, each, each.begin)
        self._stop(self._size, "it ends here, without an index")

    def _stop(self, position: int, why: str) -> None:
        self._losses.place()
        if not self.damage:
            self.damage = f"at byte {position} of {self._size}: {why}"

    def _break(self, place: Break) -> None:
        """Bytes outside of chunks that are no record: the file is cut there, or it goes on behind them."""
        begin, start = place.begin, place.begin + RECORD.size
        if place.end < self._size:
            return self._stop(begin, f"{place.end - begin} bytes are no record")
        if start > self._size:
            return self._stop(begin, "it ends here, without an index")
        record = cut_chunk(self._data, begin, self._size)
        if record is not None:
            self._chunk(record, whole=False)
        elif not may_be_cut(self._data, begin, self._size):
            return self._stop(begin, "what follows is no record")
        (length,) = LONG.unpack_from(self._data, begin + 1)
        return self._stop(begin, f"a record of {length} bytes is cut")

    def _loose(self, record: Record) -> None:
        """A message outside of chunks."""
        identity, time, _ = message_of(self._data, record)
        last = self._parts[-1] if self._parts else None
        if last is None or last.compression is not None or last.length > _RUN or not _adjoins(last, record.begin):
            self._parts.append(last := _Part(time, time, record.begin, 0, None))
        last.length = record.stop - last.offset
        self._note(last, identity, time)

    def _chunk(self, record: Record, whole: bool) -> None:
        head = chunk_head(self._data, record.start, self._size)
        stop = min(head.start + head.length, self._size)
        part = _Part(sys.maxsize, 0, head.start, stop - head.start, head.compression)
        try:
            data = _decompressed(self._data[head.start : stop], head.compression)
        except UnreadableBag as error:
            if whole:
                self._losses.span(head.first, head.last)
            return self._stop(record.begin, f"a chunk cannot be read: {error}")
        found = list(self._followed(data, len(data)))
        spoilt = whole and (len(data) != head.size or (head.checksum != 0 and crc32(data) != head.checksum))
        broken = [each for each in found if isinstance(each, Break) and (whole or each.end < len(data))]
        # What is decompressed behind a spoilt place is spoilt for an unknown while.
        if (head.compression and whole and broken) or (spoilt and not broken):
            self._losses.span(head.first, head.last)
            return self._stop(record.begin, f"a chunk's {'checksum is' if spoilt else 'records are'} wrong")
        for each in found:
            if isinstance(each, Record):
                if each.kind == MESSAGE:
                    identity, time, _ = message_of(data, each)
                    self._note(part, identity, time)
            elif each in broken:
                at = record.begin if head.compression else head.start + each.begin
                self._stop(at, f"{each.end - each.begin} bytes are no record")
        if part.first <= part.last:
            self._parts.append(part)
        return None

    def _followed(self, data: bytes, end: int) -> Iterator[Record | Break]:
        """The records of a chunk; what they announce is known to those behind them."""
        for each in records(data, 0, end, self._knows):
            if isinstance(each, Record) and each.kind in (SCHEMA, CHANNEL):
                self._described(data, each, each.begin)
            yield each

    def _note(self, part: _Part, identity: int, time: int) -> None:
        part.first, part.last = min(part.first, time), max(part.last, time)
        self.counts[self._topics[identity]] += 1
        self._losses.read(time)

    def _described(self, data: Bytes, record: Record, position: int) -> None:
        try:
            self._describe(data, record)
        except UnreadableBag as error:
            self._stop(position, f"a record cannot be read: {error}")

    def _describe(self, data: Bytes, record: Record) -> None:
        """A schema or a channel. Both may stand in a file more than once, and the first ones count.

        Raises:
            UnreadableBag: it is not what it says.
        """
        start, stop = record.start, record.stop
        if record.kind == SCHEMA and stop - start >= ID.size:
            (identity,) = ID.unpack_from(data, start)
            name, end = string(data, start + ID.size, stop)
            encoding, end = string(data, end, stop)
            text, _ = string(data, end, stop)
            if identity not in self._schemas:
                self._schemas[identity] = name
                self.definitions.append(Definition(name, encoding, text))
        elif record.kind == CHANNEL and stop - start >= 2 * ID.size:
            identity, schema = struct.unpack_from("<HH", data, start)
            if schema not in self._schemas:
                raise UnreadableBag(f"a channel of the schema {schema}, which was not announced")
            topic, _ = string(data, start + 2 * ID.size, stop)
            if identity not in self._topics:
                self._topics[identity] = topic
                self.kinds[topic] = self._schemas[schema]


def _adjoins(part: _Part, position: int) -> bool:
    return part.offset + part.length == position


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
