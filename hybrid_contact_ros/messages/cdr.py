"""CDR, the form in which the middleware carries messages: the one place that knows it.

What ROS 2 sends is XCDR1, here PLAIN_CDR in little endian: four bytes that say so, then the fields in their order, each
aligned to its own size, counted from byte 4. A text is the number of its bytes with the 0 at its end, then these. A
sequence is the number of its entries, then these. Before fields that are aligned, and behind the last one, there may be
bytes that mean nothing: zeros as we write them, whatever lay in memory as others do.

How many stand behind the last field is never looked at, as no middleware does: RTPS fills up words, rclpy's
``serialize_message`` reserves room to align the numbers of empty sequences, and rclpy, Fast DDS and Cyclone DDS read
the fields of their type and leave the rest. Nodes, replay and readers all keep to that, so that none refuses what
another one takes.

Messages of a stream differ in their numbers only. Once a :class:`Layout` knows where everything stands in one of them,
the next one is looked at in a microsecond: if its texts and counts are the same bytes, its numbers stand at the same
places.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hybrid_contact_ros.messages.definitions import PRIMITIVES, TEXT, fields

BIG_ENDIAN, LITTLE_ENDIAN = b"\x00\x00", b"\x00\x01"
"""The first two bytes; the other two of the four are options that mean nothing here."""
BEGIN = 4
"""Where the fields begin, and from where alignment counts."""
STAMP = struct.Struct("<iI")
"""Seconds and nanoseconds of a header; at :data:`BEGIN` of every message that begins with a header."""
_SIZES = {kind: struct.calcsize(f"<{code}") for kind, code in PRIMITIVES.items()}
_COUNT = {LITTLE_ENDIAN: struct.Struct("<I"), BIG_ENDIAN: struct.Struct(">I")}
_LARGEST = 1 << 24  # entries of a sequence; what says more is no message of ours


class Numbers(NamedTuple):
    """Where numbers stand.

    Attributes:
        path: names of the fields and indices into sequences of messages, with dots between them.
        code: of :data:`~.definitions.PRIMITIVES`. offset: of the first byte. size: how many; −1 for a single one.
    """

    path: str
    code: str
    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + _width(self) * abs(self.size)


def _width(number: Numbers) -> int:
    return struct.calcsize(f"<{number.code}")


def serialize(kind: str, message: Any) -> bytes:
    """The bytes of a message, read by its attributes, whoever made it. Slow, and for every type of
    :mod:`~hybrid_contact_ros.messages.definitions`.

    Example:
        >>> from types import SimpleNamespace as Message
        >>> serialize("Header", Message(stamp=Message(sec=1, nanosec=2), frame_id="odom"))[BEGIN:].hex(" ", -4)
        '01000000 02000000 05000000 6f646f6d 00'
    """
    out = bytearray(LITTLE_ENDIAN + b"\0\0")
    extend(out, kind, message)
    return bytes(out)


def extend(out: bytearray, kind: str, message: Any) -> None:
    """Write the fields of a message behind the bytes that are there."""
    for field in fields(kind):
        value = getattr(message, field.name)
        if field.size < 0:
            _write(out, field.kind, value)
            continue
        if field.size == 0:
            _write(out, "uint32", len(value))
        if field.kind in PRIMITIVES:
            if len(value):  # an empty sequence aligns nothing
                _align(out, _SIZES[field.kind])
                out += np.asarray(value, f"<{PRIMITIVES[field.kind]}").tobytes()
        else:
            for each in value:
                _write(out, field.kind, each)


def _write(out: bytearray, kind: str, value: Any) -> None:
    if kind == TEXT:
        text = value.encode() + b"\0"
        _write(out, "uint32", len(text))
        out += text
    elif kind in PRIMITIVES:
        _align(out, _SIZES[kind])
        out += struct.pack(f"<{PRIMITIVES[kind]}", value)
    else:
        extend(out, kind, value)


def _align(out: bytearray, size: int) -> None:
    out += bytes((BEGIN - len(out)) % size)


class Layout:
    """Where everything stands in one message, and in all that have the same texts and counts.

    Args:
        kind: its type, a key of :data:`~.definitions.DEFINITIONS`.
        data: the bytes of one such message.
        begin: where its fields begin.
        order: of the bytes of numbers. Only the little endian is ever written here.

    Attributes:
        length: in bytes. end: of the last field; what stands behind it means nothing.
        texts: texts by their paths, as of :class:`Numbers`. counts, count_at: entries of the
            sequences by their paths, and where that number stands.
        numbers: all numbers by their paths, in the order of the message.
        fixed: begin and end of the bytes that all messages of this layout share.
        gaps: begin and end of the bytes between fields, which mean nothing.

    Raises:
        ValueError: these bytes are no such message in PLAIN_CDR and this order.

    Example:
        >>> layout = Layout("Header", bytes.fromhex("00010000 01000000 02000000 05000000 6f646f6d 00"))
        >>> layout.texts, layout.numbers["stamp.nanosec"].offset
        ({'frame_id': 'odom'}, 8)
        >>> layout.fits(bytes.fromhex("00010000 11000000 12000000 05000000 6f646f6d 00"))
        True
    """

    def __init__(self, kind: str, data: bytes, begin: int = BEGIN, order: bytes = LITTLE_ENDIAN) -> None:
        if data[:2] != order or len(data) < BEGIN:
            name = "little" if order == LITTLE_ENDIAN else "big"
            raise ValueError(f"not PLAIN_CDR in {name} endian: it begins with {data[:2].hex()}")
        self.kind, self.length = kind, len(data)
        self.texts: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.count_at: dict[str, int] = {}
        self.numbers: dict[str, Numbers] = {}
        self.gaps: list[tuple[int, int]] = [(2, BEGIN)]
        self._data, self._at, self._number = data, begin, _COUNT[order]
        self.fixed: list[tuple[int, int]] = [(0, 2)]
        self._read_message(kind, "")
        self.end = self._at
        self._compare: Callable[..., tuple[Any, ...]] = texts_of(self.fixed).unpack_from
        self._expected = self._compare(data)
        del self._data  # it may be large

    def fits(self, data: bytes) -> bool:
        """Whether ``data`` is a message of this layout."""
        return len(data) == self.length and self._compare(data) == self._expected

    def _read_message(self, kind: str, path: str) -> None:
        for field in fields(kind):
            where = f"{path}{field.name}"
            if field.size < 0:
                self._read(field.kind, where)
            elif field.kind in PRIMITIVES:
                count = field.size or self._count(where)
                self._numbers(where, field.kind, count)
            else:
                for index in range(field.size or self._count(where)):
                    self._read(field.kind, f"{where}.{index}")

    def _read(self, kind: str, path: str) -> None:
        if kind == TEXT:
            size = self._count(path)
            text = self._data[self._at : self._at + size]
            if len(text) < size:
                raise ValueError(f"it ends within {path}")
            self.texts[path] = self._text(path, text)
            self._fix(self._at + size)
        elif kind in PRIMITIVES:
            self._numbers(path, kind, -1)
        else:
            self._read_message(kind, f"{path}.")

    def _text(self, path: str, text: bytes) -> str:
        if text[-1:] not in (b"", b"\0"):
            raise ValueError(f"{path} is no text")
        try:
            return text[:-1].decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is no UTF-8: {error.reason} at its byte {error.start}") from None

    def _numbers(self, path: str, kind: str, count: int) -> None:
        if count:
            self._skip(_SIZES[kind])
        found = self.numbers[path] = Numbers(path, PRIMITIVES[kind], self._at, count)
        self._at = found.end
        if self._at > self.length:
            raise ValueError(f"it ends within {path}")

    def _count(self, path: str) -> int:
        self._skip(self._number.size)
        if self._at + self._number.size > self.length:
            raise ValueError(f"it ends before {path}")
        (count,) = self._number.unpack_from(self._data, self._at)
        if count > min(_LARGEST, self.length):
            raise ValueError(f"it ends within {path}")
        self._fix(self._at + self._number.size)
        self.counts[path], self.count_at[path] = count, self._at - self._number.size
        return int(count)

    def _skip(self, size: int) -> None:
        begin, self._at = self._at, self._at + (BEGIN - self._at) % size
        if self._at > begin:
            self.gaps.append((begin, self._at))

    def _fix(self, end: int) -> None:
        """From here to ``end`` every message of this layout has the same bytes."""
        if self.fixed[-1][1] == self._at:
            self.fixed[-1] = self.fixed[-1][0], end
        else:
            self.fixed.append((self._at, end))
        self._at = end


def texts_of(pieces: Sequence[tuple[int, int]], origin: int = 0) -> struct.Struct:
    """The format that reads these bytes, each as one, and passes over all others. It begins at ``origin``."""
    text, at = "<", origin
    for begin, end in pieces:
        text += f"{begin - at}x{end - begin}s"
        at = end
    return struct.Struct(text)


def numbers_of(numbers: Sequence[Numbers], origin: int = 0) -> struct.Struct:
    """The format of these numbers, which are single and in the order of the message. It begins at ``origin``."""
    text, at = "<", origin
    for number in numbers:
        text += f"{number.offset - at}x{number.code}"
        at = number.end
    return struct.Struct(text)
