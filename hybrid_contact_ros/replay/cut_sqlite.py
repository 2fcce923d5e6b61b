"""sqlite3 recordings without their end: what stands in the pages that are there.

A table is a tree of pages, whose upper ones are written late: of a file that is cut in the middle sqlite itself finds
nothing any more. Messages lie in the leaves, which tell what they are (https://www.sqlite.org/fileformat2.html), so
every whole page is looked at.
"""

from __future__ import annotations

import mmap
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hybrid_contact_ros.replay.storage import Definition, UnreadableError

_LEAF = 0x0D
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}  # bytes of each integer's type; 8 and 9 are 0 and 1


class CutSqlite:
    """Messages of a rosbag2 database as far as its pages are there and whole, in the order of their times.

    Attributes:
        kinds: type of each topic. definitions: of the types. counts: messages of each topic. first, last: ns.
        damage: how much of the file is missing; empty where no page is.

    Raises:
        UnreadableError: it is no database, or not even its list of topics is there.
    """

    def __init__(self, path: Path) -> None:
        self.kinds: dict[str, str] = {}
        self.definitions: list[Definition] = []
        self.damage = ""
        self._tables(path)
        self._file = path.open("rb")
        try:
            self._data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
            self._page = int.from_bytes(self._data[16:18], "big")
            self._page = 65536 if self._page == 1 else self._page
            self._usable = self._page - self._data[20]
            self._pages, total = len(self._data) // self._page, int.from_bytes(self._data[28:32], "big")
            if self._pages < total:
                self.damage = f"ends after {self._pages} of {total} pages"
            rows = dict(self._scan())  # by row, in which a page that was copied may stand twice
        except (ValueError, ZeroDivisionError, IndexError) as error:
            self._file.close()
            raise UnreadableError(f"no database: {error}") from None
        table = np.array([(row, *rest) for row, rest in sorted(rows.items())], np.int64).reshape(-1, 5)
        self._rows = table[np.argsort(table[:, 2], kind="stable")]
        self.counts = Counter(self._topics[topic] for topic in table[:, 1].tolist())
        self.first, self.last = (int(self._rows[0, 2]), int(self._rows[-1, 2])) if len(table) else (0, 0)

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

    def _tables(self, path: Path) -> None:
        """Topics and definitions, which stand at the beginning of the file."""
        # Immutable: nothing is written beside a recording, not even where a journal was left.
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
                self.definitions = [Definition(*row) for row in said]
            except sqlite3.Error:  # older recordings have no such table; the definitions of today are used then
                self.definitions = []
        except sqlite3.Error as error:
            raise UnreadableError(str(error)) from None
        finally:
            database.close()

    def _scan(self) -> Iterator[tuple[int, tuple[int, int, int, int]]]:
        """Row; topic, time, where the cell is, and where in its payload the message begins."""
        for number in range(self._pages):
            page = number * self._page
            start = page + (100 if number == 0 else 0)
            if self._data[start] != _LEAF:
                continue
            for k in range(int.from_bytes(self._data[start + 3 : start + 5], "big")):
                pointer = start + 8 + 2 * k
                cell = page + int.from_bytes(self._data[pointer : pointer + 2], "big")
                try:
                    found = self._message(cell)
                except (IndexError, KeyError, OverflowError):  # no message, or a page that was overwritten
                    continue
                if found is not None:
                    yield found

    def _message(self, cell: int) -> tuple[int, tuple[int, int, int, int]] | None:
        """One cell, if it holds a row of the table of messages: id (NULL: it is the row), topic, time, content."""
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
        if topic not in self._topics or len(payload) != begin + (types[3] - 12) // 2:
            return None
        return row, (topic, time, cell, begin)

    def _payload(self, cell: int) -> bytes | None:
        """What a cell holds; ``None`` where a part of it is on a page that is not there."""
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
    """A number of sqlite's variable length, and where it ends."""
    value = 0
    for k in range(8):
        byte = data[at + k]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + k + 1
    return value << 8 | data[at + 8], at + 9


def _integer(kind: int, data: bytes) -> int:
    return kind - 8 if kind >= 8 else int.from_bytes(data, "big", signed=True)
