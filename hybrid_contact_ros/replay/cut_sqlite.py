"""sqlite3 recordings without their end: what stands in the pages that are there."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hybrid_contact_ros.replay.storage import Definition, UnreadableError


class CutSqlite:
    """Messages of a rosbag2 database up to the first page that is missing or damaged, in the order of their times.

    Attributes:
        kinds: type of each topic. definitions: of the types. counts: messages of each topic. first, last: ns.
        damage: why reading ended early; empty where it did not.

    Raises:
        UnreadableError: it is no database, or not even its list of topics is there.
    """

    def __init__(self, path: Path) -> None:
        self.kinds: dict[str, str] = {}
        self.definitions: list[Definition] = []
        self.counts: Counter[str] = Counter()
        self.damage = ""
        size = path.stat().st_size
        # Immutable: nothing is written beside a recording, not even where a journal was left.
        self._database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            # sqlite refuses a file with fewer pages than its header counts, except to those who repair it.
            self._database.execute("PRAGMA writable_schema=ON")
            self._topics = dict(self._database.execute("SELECT id, name FROM topics"))
            self.kinds = dict(self._database.execute("SELECT name, type FROM topics"))
            self._define()
            rows = self._index()
        except sqlite3.Error as error:
            self.close()
            raise UnreadableError(str(error)) from None
        if self.damage:
            self.damage = f"after {len(rows)} messages, in a file of {size} bytes: {self.damage}"
        table = np.array(rows, np.int64).reshape(-1, 3)
        self._rows = table[np.argsort(table[:, 2], kind="stable")]
        self.first, self.last = (int(self._rows[0, 2]), int(self._rows[-1, 2])) if len(rows) else (0, 0)

    def close(self) -> None:
        self._database.close()

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        """Topic, time of recording (ns) and serialised message."""
        wanted = [identity for identity, topic in self._topics.items() if topic in topics]
        for row, topic, time in self._rows[np.isin(self._rows[:, 1], wanted)].tolist():
            ((data,),) = self._database.execute("SELECT data FROM messages WHERE id = ?", (row,))
            yield self._topics[topic], time, data

    def _define(self) -> None:
        try:
            rows = self._database.execute(
                "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
            )
            self.definitions = [Definition(*row) for row in rows]
        except sqlite3.Error:  # older recordings have no such table; the definitions of today are used then
            self.definitions = []

    def _index(self) -> list[tuple[int, int, int]]:
        """Row, topic and time of each message whose content is there too: the last one may lack its end."""
        found: list[tuple[int, int, int]] = []
        try:
            for row, topic, time, _ in self._database.execute(
                "SELECT id, topic_id, timestamp, data FROM messages NOT INDEXED"
            ):
                self.counts[self._topics[topic]] += 1
                found.append((row, topic, time))
        except (sqlite3.Error, KeyError) as error:
            self.damage = str(error) if isinstance(error, sqlite3.Error) else f"a message of an unknown topic {error}"
        return found
