"""rosbag2 recordings in (MCAP and sqlite3), with errors that say what to do."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from rosbags.highlevel import AnyReader

from hybrid_contact_ros.bags.rescue import Rescue, damaged_files, storage_suffix
from hybrid_contact_ros.bags.storage import messages_by_topic
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.bags.unreadable import BagError, UnreadableBag, each_from_library, from_library, library
from hybrid_contact_ros.messages.cdr import Layout

_PADDING = 64
"""Bytes of padding that may stand behind a message."""


class BagReader:
    """One recording, opened for reading. A recording that is cut, has lost files or holds places that were overwritten
    is read as far as it goes.

    Args:
        path: a rosbag2 folder, or a single .mcap or .db3 file.

    Attributes:
        warnings: what a user should know beside that.

    Raises:
        BagError: there is no such recording, it is no recording, or nothing of it can be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        _check_is_bag(self.path)
        self._source: _Whole | Rescue
        try:
            self._source = _Whole(self.path)
        except UnreadableBag as error:
            reason = str(error)
            self._source = self._rescued(error)
        self.warnings = list(self._source.warnings)
        self._damage = self._told_damage()
        if isinstance(self._source, Rescue) and not (self._damage or self.warnings):
            self.warnings.append(f"{self.path} was read file by file, because it cannot be read as a whole: {reason}")
        self._looked_through = isinstance(self._source, Rescue)

    def __enter__(self) -> BagReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self.close()
        return False

    def close(self) -> None:
        self._looked_through = True
        self._source.close()

    @property
    def damage(self) -> str:
        """What of the recording cannot be read; empty where it is whole. Whoever asks has the files looked through for
        places that were overwritten, as whoever asks for messages has."""
        if not self._looked_through:
            self._look_through()
        return self._damage

    @property
    def topics(self) -> dict[str, str]:
        """Message type of each topic."""
        return self._source.kinds

    @property
    def duration(self) -> float:
        """Seconds from the first message to the last."""
        return max(0.0, (self._source.last - self._source.first) * 1e-9)

    @property
    def identity(self) -> str:
        """A text that is the same for two recordings only where they hold as many messages of the same topics from the
        same time to the same time, as a copy under another name does."""
        held = sorted((topic, kind, self.count([topic])) for topic, kind in self.topics.items())
        return hashlib.sha256(repr((self._source.first, self._source.last, held)).encode("utf-8")).hexdigest()[:16]

    @property
    def start_ns(self) -> int:
        """When the first message was recorded, ns."""
        return int(self._source.first)

    def count(self, topics: Sequence[str]) -> int:
        """Number of messages on these topics."""
        return sum(self._source.counts.get(topic, 0) for topic in set(topics))

    def require(self, wanted: dict[str, str]) -> None:
        """Check that each topic of ``wanted`` (topic: type) is there, has that type and is not empty.

        Raises:
            BagError: one is not; the text names what is there instead.
        """
        present = self.topics
        for topic, kind in wanted.items():
            if topic not in present:
                listed = "".join(f"\n  {name}  {present[name]}" for name in sorted(present)) or " nothing"
                raise BagError(f"{self.path} has no topic {topic} ({kind}). It holds:{listed}")
            if present[topic] != kind:
                raise BagError(f"{topic} in {self.path} is a {present[topic]}, a {kind} is needed")
            if self.count([topic]) == 0:
                raise BagError(f"{topic} in {self.path} is empty: nothing was recorded on it")

    def messages(self, topics: Sequence[str], raw: Collection[str | None] = ()) -> Iterator[tuple[str, int, Any]]:
        """Topic, time of recording (ns) and message, in the order of recording. Of the topics ``raw`` they are bytes as
        they were recorded, for :meth:`deserialize`.

        Raises:
            BagError: the recording is damaged where the reading has come to. What was read before is as recorded.
        """
        if not self._looked_through:
            self._look_through()
        stream = self._source.messages(set(topics))
        read = 0
        while True:
            try:
                entry = next(stream, None)
                if entry is None:
                    break
                topic, time_ns, data = entry
                message = bytes(data) if topic in raw else self._deserialize(data, self.topics[topic])
            except UnreadableBag as error:
                raise BagError(_damaged(self.path, error)) from error
            read += 1
            yield topic, time_ns, message
        self._damage = self._told_damage()  # a message that cannot be decompressed is found when it is read
        counted = self.count(topics)
        if read < counted:  # rosbags passes over records that were overwritten without a word
            why = f"{counted} messages are counted in it, and {read} could be read"
            raise BagError(f"{self.path} is damaged: {why}")

    def _rescued(self, error: UnreadableBag) -> Rescue:
        try:
            return Rescue(self.path)
        except UnreadableBag as why:
            raise BagError(_damaged(self.path, why)) from error

    def _told_damage(self) -> str:
        if not self._source.damage:
            return ""
        read = f"{sum(self._source.counts.values())} messages of {self.duration:.3f} s"
        return f"{self.path} is not whole: {self._source.damage}. What could be read: {read}"

    def _look_through(self) -> None:
        """Look for places that were overwritten: an index does not know of them, and ``rosbags``, which follows it,
        stops there or passes over more than is lost."""
        self._looked_through = True
        if self._source.damage or not (spoilt := damaged_files(self.path)):
            return
        rescued = self._rescued(UnreadableBag(spoilt))
        self._source.close()
        self._source = rescued
        self._damage = self._told_damage()

    def deserialize(self, data: bytes, kind: str) -> Any:
        """The message of recorded bytes.

        Raises:
            BagError: they are no message of this type.
        """
        try:
            return self._deserialize(data, kind)
        except UnreadableBag as error:
            raise BagError(str(error)) from error

    def _deserialize(self, data: bytes, kind: str) -> Any:
        """A message, also one whose writer left bytes behind it. rclpy's ``serialize_message`` does: it reserves room
        to align the entries of a sequence even where the sequence is empty, as a joint state's missing effort is. Of
        the messages that we know the end is known; behind all others we take zeros."""
        try:
            return self._source.deserialize(data, kind)
        except UnreadableBag:
            end = _end(kind, bytes(data))
            if end is not None:
                return self._source.deserialize(data[:end], kind)
            for end in range(len(data) - 4, max(4, len(data) - _PADDING), -4):
                if any(data[end : end + 4]):
                    break
                with suppress(UnreadableBag):
                    return self._source.deserialize(data[:end], kind)
            raise


class _Whole:
    """A recording that ``rosbags`` reads; see :class:`BagReader`.

    Raises:
        UnreadableBag: ``rosbags`` cannot read it.
    """

    damage = ""
    warnings: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        types = typestore()  # outside of the wrapper: missing message definitions are no damage of the recording
        with library():
            self._reader = AnyReader([path], default_typestore=types)
            self._reader.open()
            connections = self._reader.connections
            first, end = self._reader.start_time, self._reader.end_time
        self.first, self.last = first, end - 1
        self.kinds = {c.topic: c.msgtype for c in connections}
        self.counts = messages_by_topic(connections)
        self.close = self._reader.close

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        wanted = [c for c in self._reader.connections if c.topic in topics]
        if wanted:  # an empty list would stand for all topics
            for connection, time_ns, data in each_from_library(self._reader.messages, connections=wanted):
                yield connection.topic, time_ns, data

    def deserialize(self, data: bytes, kind: str) -> Any:
        return from_library(self._reader.deserialize, data, kind)


def _check_is_bag(path: Path) -> None:
    if not path.exists():
        raise BagError(f"no such recording: {path}")
    if path.is_dir():
        if not (path / "metadata.yaml").exists() and not any(storage_suffix(file) for file in path.iterdir()):
            raise BagError(f"{path} is not a rosbag2 recording: it has no metadata.yaml, and no .mcap or .db3 file")
        return
    if path.suffix == ".bag":
        raise BagError(f"{path} is a ROS 1 bag; `rosbags-convert --src {path} --dst NAME` makes a rosbag2 of it")
    if not storage_suffix(path):
        raise BagError(f"{path} is not a rosbag2 recording: name a folder, or a .mcap or .db3 file")


def _end(kind: str, data: bytes) -> int | None:
    """Where the last field of a message ends, where it is one that we know and more follows."""
    try:
        layout = Layout(kind.split("/")[-1], data)
    except (KeyError, ValueError):
        return None
    return layout.end if layout.end < layout.length else None


def _damaged(path: Path, error: UnreadableBag) -> str:
    return f"{path} is damaged, truncated or not a recording ({error})"
