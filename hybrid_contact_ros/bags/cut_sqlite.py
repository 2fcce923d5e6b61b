"""sqlite3 recordings without their end: what stands in the pages that are there.

A table is a tree of pages, and the upper ones are written late, so that sqlite itself finds nothing any more in a file
that was cut in the middle. The messages lie in the leaves. Each leaf says that it is one
(https://www.sqlite.org/fileformat2.html), so every whole page is looked at.
"""

from __future__ import annotations

import mmap
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.bags.storage import Definition, Losses
from hybrid_contact_ros.bags.unreadable import UnreadableBag

_LEAF = 0x0D
_HEADER = 100  # bytes at the beginning of the file, before its first page's content
_SMALLEST_PAGE = 512  # bytes
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}  # bytes of each type of integer; 8 and 9 are 0 and 1


def is_sound(path: Path) -> bool:
    """Whether sqlite finds no page that is damaged."""
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        return bool(database.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except (sqlite3.Error, TypeError, OverflowError):
        return False
    finally:
        database.close()


class CutSqlite:
    """Messages of a rosbag2 database as far as its pages are there and whole, in the order of their times.

    Attributes:
        kinds, definitions, counts, first, last: as of :class:`~hybrid_contact_ros.bags.storage.Storage`.
        damage: how much of the file is missing; empty where no page is missing.

    Raises:
        UnreadableBag: the file is no database, or not even its list of topics is there.
    """

    def __init__(self, path: Path) -> None:
        self.kinds: dict[str, str] = {}
        self.definitions: list[Definition] = []
        self.damage = ""
        self._tables(path)
        self._file = path.open("rb")
        try:
            self._map()
            rows = dict(self._scan())  # by row, because a page that was copied may stand in the file twice
        except UnreadableBag:
            self._file.close()
            raise
        table = np.array([(row, *rest) for row, rest in sorted(rows.items())], np.int64).reshape(-1, 5)
        self._rows = table[np.argsort(table[:, 2], kind="stable")]
        self.counts = Counter(self._topics[topic] for topic in table[:, 1].tolist())
        self.first, self.last = (int(self._rows[0, 2]), int(self._rows[-1, 2])) if len(table) else (0, 0)
        self.damage += self._lost(table)

    def close(self) -> None:
        self._data.close()
        self._file.close()

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        """Topic, time of recording (ns) and serialised message."""
        wanted = [identity for identity, topic in self._topics.items() if topic in topics]
        for _, topic, time, cell, begin in self._rows[np.isin(self._rows[:, 1], wanted)].tolist():
            payload = self._payload(cell)
            assert payload is not None  # it was there when the file was scanned
            yield self._topics[topic], time, payload[begin:]

    def _lost(self, table: NDArray[np.int64]) -> str:
        """What is missing, by the numbers of the rows (in order), which the recorder counts from 1."""
        if not len(table):
            return ""
        losses, before = Losses(), 0
        for row, time in table[:, [0, 2]].tolist():
            if row > before + 1:
                losses.place()
            losses.read(time)
            before = row
        missing = before - len(table)
        if not missing:
            return ""
        return ("" if self.damage else "has damaged pages") + losses.told(self.first, missing, before)

    def _map(self) -> None:
        """The file as memory, and the sizes in its header."""
        size = self._file.seek(0, 2)
        if size < _HEADER:
            raise UnreadableBag(f"no database: it has {size} bytes")
        self._data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        page = int.from_bytes(self._data[16:18], "big")
        self._page = 65536 if page == 1 else page
        if self._page < _SMALLEST_PAGE:
            raise UnreadableBag(f"no database: its pages have {page} bytes")
        self._usable = self._page - self._data[20]
        self._pages, total = size // self._page, int.from_bytes(self._data[28:32], "big")
        if self._pages < total:
            self.damage = f"ends after {self._pages} of {total} pages"

    def _tables(self, path: Path) -> None:
        """Topics and definitions, which stand at the beginning of the file."""
        # "immutable" keeps sqlite from writing anything beside a recording, even where a journal was left.
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            # sqlite refuses a file with fewer pages than its header counts, except to those who repair it.
            database.execute("PRAGMA writable_schema=ON")
            self._topics = dict(database.execute("SELECT id, name FROM topics"))
            self.kinds = dict(database.execute("SELECT name, type FROM topics"))
            try:
                said = database.execute(
                    "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
                )
                self.definitions = [Definition(*row) for row in said if all(isinstance(text, str) for text in row)]
            except sqlite3.Error:  # older recordings have no such table; the definitions of today are used then
                self.definitions = []
        except sqlite3.Error as error:
            raise UnreadableBag(str(error)) from None
        finally:
            database.close()

    def _scan(self) -> Iterator[tuple[int, tuple[int, int, int, int]]]:
        """For each message its row, and then its topic, its time, where the cell is, and where in the payload of the
        cell the message begins."""
        for number in range(self._pages):
            page = number * self._page
            start = page + (_HEADER if number == 0 else 0)
            if self._data[start] != _LEAF:
                continue
            for k in range(int.from_bytes(self._data[start + 3 : start + 5], "big")):
                pointer = start + 8 + 2 * k
                cell = page + int.from_bytes(self._data[pointer : pointer + 2], "big")
                try:
                    found = self._message(cell)
                # What any bytes may lead to that are no message, or a page that was overwritten: an offset behind the
                # end of the file, a type that is no integer, a number too large for an offset.
                except (IndexError, KeyError, OverflowError):
                    continue
                if found is not None:
                    yield found

    def _message(self, cell: int) -> tuple[int, tuple[int, int, int, int]] | None:
        """One cell, if it holds a row of the table of messages: id (NULL, which stands for the row), topic, time,
        content."""
        payload = self._payload(cell)
        if payload is None:
            return None
        _, at = _varint(self._data, cell)
        row, _ = _varint(self._data, at)
        end, at = _varint(payload, 0)
        types = []
        while at < end:
            kind, at = _varint(payload, at)
            types.append(kind)
        if len(types) != 4 or types[0] != 0 or types[3] < 12 or types[3] % 2:
            return None
        topic_size, time_size = _INTEGERS[types[1]], _INTEGERS[types[2]]
        topic = _integer(types[1], payload[end : end + topic_size])
        time = _integer(types[2], payload[end + topic_size : end + topic_size + time_size])
        begin = end + topic_size + time_size
        if topic not in self._topics or len(payload) != begin + (types[3] - 12) // 2 or row >= 1 << 63:
            return None
        return row, (topic, time, cell, begin)

    def _payload(self, cell: int) -> bytes | None:
        """The content of a cell; ``None`` where a part of it is on a page that is not there."""
        size, at = _varint(self._data, cell)
        _, at = _varint(self._data, at)
        usable = self._usable
        local = size
        if size > usable - 35:
            least = (usable - 12) * 32 // 255 - 23
            local = least + (size - least) % (usable - 4)
            local = local if local <= usable - 35 else least
        if size > len(self._data) or (cell // self._page + 1) * self._page < at + local:
            return None
        parts, missing = [self._data[at : at + local]], size - local
        following = int.from_bytes(self._data[at + local : at + local + 4], "big")
        while missing > 0:
            if not 0 < following <= self._pages:
                return None
            begin = (following - 1) * self._page
            parts.append(self._data[begin + 4 : begin + 4 + min(missing, usable - 4)])
            missing -= len(parts[-1])
            following = int.from_bytes(self._data[begin : begin + 4], "big")
        return b"".join(parts)


def _varint(data: bytes | mmap.mmap, at: int) -> tuple[int, int]:
    """A number in sqlite's variable length, and where it ends."""
    value = 0
    for k in range(8):
        byte = data[at + k]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + k + 1
    return value << 8 | data[at + 8], at + 9


def _integer(kind: int, data: bytes) -> int:
    return kind - 8 if kind >= 8 else int.from_bytes(data, "big", signed=True)
