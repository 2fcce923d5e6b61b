"""The records of an MCAP file, or of one of its chunks, also behind a place that was overwritten.

A record is a kind, a length and its content (https://mcap.dev/spec); nothing else says where the next one begins. Where
one cannot be a record, the next place is looked for from which on three follow each other, or all up to the end. What
stands right before such a place is left out, because it is most likely spoilt at its end.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterable, Iterator
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from hybrid_contact_ros.bags.unreadable import UnreadableBag

MAGIC = b"\x89MCAP0\r\n"
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, STATISTICS, DATA_END = 2, 3, 4, 5, 6, 7, 11, 15
LAST_KIND = 0x7F  # the last kind that the specification may use; records of higher kinds are private, and passed over
RECORD, ID, SIZE, LONG = Struct("<BQ"), Struct("<H"), Struct("<I"), Struct("<Q")
MESSAGE_HEAD, CHUNK_HEAD, INDEX_HEAD = Struct("<HIQQ"), Struct("<QQQI"), Struct("<HI")
_FOOTER = Struct("<QQI")
_ROW = 3  # records that follow each other are no chance
_LONGEST = 1 << 40  # bytes; the length of a record of which the end is missing may be less
_CANDIDATE = re.compile(rb"(?=[\x03-\x0f].{4}\x00{4}).", re.DOTALL)  # kinds, and lengths below 4 GiB

Bytes = bytes | mmap.mmap


class Record(NamedTuple):
    """A record: where it begins, and where its content begins and ends."""

    kind: int
    begin: int
    start: int
    stop: int


class Break(NamedTuple):
    """Bytes that are no records, or spoilt ones."""

    begin: int
    end: int


class ChunkHead(NamedTuple):
    """What a chunk says of its content: times of the first and last message, bytes, checksum, compression, and where
    the content begins and how many bytes it has."""

    first: int
    last: int
    size: int
    checksum: int
    compression: str
    start: int
    length: int


def records(data: Bytes, begin: int, end: int, known: Callable[[int], bool]) -> Iterator[Record | Break]:
    """The records from ``begin`` to ``end``, and what lies between them that is none.

    Args:
        known: whether a channel was announced, asked when all records before were handed out.
    """
    position, here = begin, _record(data, begin, end)
    while position < end:
        if here is not None and _fits(data, here, known):
            after = _record(data, here.stop, end)
            if after is not None or here.kind == CHUNK or may_be_cut(data, here.stop, end):
                yield here
                position, here = here.stop, after
                continue
        is_cut = here is None and cut_chunk(data, position, end) is not None
        after_it = end if is_cut else _next(data, position + 1, end, known)
        yield Break(position, after_it)
        position, here = after_it, _record(data, after_it, end)


def whole(found: Iterable[Record | Break]) -> Iterator[Record]:
    """The records alone."""
    return (each for each in found if isinstance(each, Record))


def message_of(data: Bytes, record: Record) -> tuple[int, int, bytes]:
    """Channel, time of recording (ns) and content of a message."""
    identity, _, time, _ = MESSAGE_HEAD.unpack_from(data, record.start)
    return identity, time, data[record.start + MESSAGE_HEAD.size : record.stop]


def summary_of(data: Bytes) -> tuple[int, int]:
    """Where the summary at the end of a file begins and ends; (0, 0) where it has none, or its checksum is wrong."""
    at = len(data) - len(MAGIC) - _FOOTER.size
    end = at - RECORD.size
    if end < len(MAGIC) or data[len(data) - len(MAGIC) :] != MAGIC:
        return 0, 0
    begin, _, checksum = _FOOTER.unpack_from(data, at)
    if RECORD.unpack_from(data, end) != (FOOTER, _FOOTER.size) or not 0 < begin <= end:
        return 0, 0
    if checksum and crc32(data[begin : len(data) - len(MAGIC) - SIZE.size]) != checksum:
        return 0, 0
    return begin, end


def string(data: Bytes, at: int, end: int) -> tuple[str, int]:
    """A string that stands behind its length, and where it ends.

    Raises:
        UnreadableBag: it is longer than what it stands in, or no text.
    """
    if at + SIZE.size > end or (stop := at + SIZE.size + SIZE.unpack_from(data, at)[0]) > end:
        raise UnreadableBag("a string is longer than its record")
    try:
        return data[at + SIZE.size : stop].decode(), stop
    except UnicodeDecodeError as error:
        raise UnreadableBag(f"a string is no text ({error.reason})") from None


def chunk_head(data: Bytes, start: int, end: int) -> ChunkHead:
    """The head of a chunk whose content begins at ``start``; the file ends at ``end``.

    Raises:
        UnreadableBag: it cannot be one.
    """
    if start + CHUNK_HEAD.size > end:
        raise UnreadableBag("a chunk is shorter than its head")
    first, last, size, checksum = CHUNK_HEAD.unpack_from(data, start)
    compression, at = string(data, start + CHUNK_HEAD.size, min(end, start + CHUNK_HEAD.size + SIZE.size + 64))
    if at + LONG.size > end:
        raise UnreadableBag("a chunk is shorter than its head")
    return ChunkHead(first, last, size, checksum, compression, at + LONG.size, LONG.unpack_from(data, at)[0])


def cut_chunk(data: Bytes, at: int, end: int) -> Record | None:
    """The chunk that begins at a place and whose end is missing, if one does."""
    start = at + RECORD.size
    if start > end or data[at] != CHUNK:
        return None
    record = Record(CHUNK, at, start, start + RECORD.unpack_from(data, at)[1])
    return record if record.stop > end and _is_chunk(data, record, end) else None


def _is_chunk(data: Bytes, record: Record, end: int) -> bool:
    """Whether the lengths of a chunk and of what is in it agree."""
    try:
        head = chunk_head(data, record.start, end)
    except UnreadableBag:
        return False
    return head.start + head.length == record.stop and head.compression in ("", "zstd", "lz4")


def _record(data: Bytes, at: int, end: int) -> Record | None:
    """The record at a place, if it is whole."""
    start = at + RECORD.size
    if start > end:
        return None
    kind, length = RECORD.unpack_from(data, at)
    if kind == 0 or DATA_END < kind <= LAST_KIND or length > end - start:
        return None
    return Record(kind, at, start, start + length)


def _fits(data: Bytes, record: Record, known: Callable[[int], bool]) -> bool:
    """Whether a record is what its kind says."""
    length = record.stop - record.start
    if record.kind == MESSAGE:
        return length >= MESSAGE_HEAD.size and known(ID.unpack_from(data, record.start)[0])
    if record.kind == MESSAGE_INDEX:
        return length >= INDEX_HEAD.size and INDEX_HEAD.unpack_from(data, record.start)[1] == length - INDEX_HEAD.size
    return record.kind != CHUNK or _is_chunk(data, record, record.stop)


def may_be_cut(data: Bytes, at: int, end: int) -> bool:
    """Whether nothing, or a record whose end is missing, follows."""
    if at + RECORD.size > end:
        return True
    kind, length = RECORD.unpack_from(data, at)
    return kind != 0 and not DATA_END < kind <= LAST_KIND and length < _LONGEST


def _next(data: Bytes, begin: int, end: int, known: Callable[[int], bool]) -> int:
    """Where records go on from ``begin``, or ``end``."""
    for match in _CANDIDATE.finditer(data, begin, end):
        at, telling = match.start(), False
        for _ in range(_ROW):
            record = _record(data, at, end)
            if record is None or not _fits(data, record, known):
                break
            telling |= record.kind in (MESSAGE, MESSAGE_INDEX, CHUNK)
            at = record.stop
            if at == end or record.kind in (CHUNK, DATA_END):
                break
        else:
            if telling:
                return match.start()
            continue
        if record is not None and _fits(data, record, known) and (telling or record.kind == DATA_END):
            return match.start()
    return end
