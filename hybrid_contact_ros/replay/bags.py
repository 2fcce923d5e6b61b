"""rosbag2 recordings (MCAP and sqlite3) in and out, with errors that say what to do."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from rosbags.highlevel import AnyReader
from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import StoragePlugin, Writer

from hybrid_contact_ros.replay.messages import typestore
from hybrid_contact_ros.replay.rescue import Rescue, storage_suffix
from hybrid_contact_ros.replay.storage import UnreadableError, messages_by_topic

SUFFIXES = {".mcap": StoragePlugin.MCAP, ".db3": StoragePlugin.SQLITE3}


_SPARE = 64
"""Bytes behind a message that may be spare."""


class BagError(ValueError):
    """A recording that cannot be used, and why."""


class BagReader:
    """One recording, opened for reading; one that is cut or has lost files is read as far as it goes.

    Args:
        path: a rosbag2 folder, or a single .mcap or .db3 file.

    Attributes:
        damage: what of the recording cannot be read; empty where it is whole.
        warnings: what a user should know beside that.

    Raises:
        BagError: no such recording, not one, or nothing of it can be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        _check_is_bag(self.path)
        self._source: _Whole | Rescue
        try:
            self._source = _Whole(self.path)
        except Exception as error:
            # rosbags, sqlite, zstd and struct all raise their own kinds for a damaged file.
            reason = str(error) or type(error).__name__
            try:
                self._source = Rescue(self.path)
            except UnreadableError as why:
                raise BagError(_damaged(self.path, why)) from error
            except Exception as why:
                raise BagError(_damaged(self.path, error)) from why
        self.warnings = list(self._source.warnings)
        self.damage = self._source.damage
        if isinstance(self._source, Rescue) and not (self.damage or self.warnings):
            self.warnings.append(f"{self.path} was read file by file, since as a whole it cannot be: {reason}")
        if self.damage:
            self.damage = (
                f"{self.path} is not whole: {self.damage}. What could be read: {sum(self._source.counts.values())} "
                f"messages of {self.duration:.3f} s"
            )

    def __enter__(self) -> BagReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self.close()
        return False

    def close(self) -> None:
        self._source.close()

    @property
    def topics(self) -> dict[str, str]:
        """Type of each topic."""
        return self._source.kinds

    @property
    def duration(self) -> float:
        """Seconds from the first message to the last."""
        return max(0.0, (self._source.last - self._source.first) * 1e-9)

    def count(self, topics: Sequence[str]) -> int:
        """Messages on these topics."""
        return sum(self._source.counts.get(topic, 0) for topic in set(topics))

    def require(self, wanted: dict[str, str]) -> None:
        """Check that each topic of ``wanted`` is there, has that type and is not empty.

        Raises:
            BagError: naming what is there instead.
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

    def messages(self, topics: Sequence[str]) -> Iterator[tuple[str, int, Any]]:
        """Topic, time of recording (ns) and message, in the order of recording.

        Raises:
            BagError: where the recording is damaged.
        """
        stream = self._source.messages(set(topics))
        read, counted = 0, self.count(topics)
        while True:
            try:
                topic, time_ns, data = next(stream)
                message = self._deserialize(data, self.topics[topic])
            except StopIteration:
                if read < counted:  # records that were overwritten are passed over without a word
                    why = f"{counted} messages are counted in it, and {read} could be read"
                    raise BagError(f"{self.path} is damaged: {why}") from None
                return
            except Exception as error:
                raise BagError(_damaged(self.path, error)) from error
            read += 1
            yield topic, time_ns, message

    def _deserialize(self, data: bytes, kind: str) -> Any:
        """A message; also where its writer left zeros behind it, as rclpy's ``serialize_message`` does: it reserves
        room to align the entries of sequences that have none, a joint state's missing effort for one."""
        try:
            return self._source.deserialize(data, kind)
        except Exception:
            for end in range(len(data) - 4, max(4, len(data) - _SPARE), -4):
                if any(data[end : end + 4]):
                    break
                with suppress(Exception):
                    return self._source.deserialize(data[:end], kind)
            raise


def check_output(path: Path, force: bool) -> None:
    """Check that a recording can be written there, before any work is done for it; makes the folder above.

    Raises:
        BagError: something is there that must not be replaced, or the folder above cannot be written.
    """
    if path.exists():
        if not force:
            raise BagError(f"{path} exists already; give another name, or --force to replace it")
        if path.is_dir() and not (path / "metadata.yaml").exists() and any(path.iterdir()):
            raise BagError(f"{path} is a folder but no recording; it is not replaced")
        if path.is_file() and path.suffix not in SUFFIXES:
            raise BagError(f"{path} is a file but no recording; it is not replaced")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BagError(f"cannot write {path}: {error.strerror} ({error.filename})") from None
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise BagError(f"cannot write {path}: no permission to write in {path.parent}")


class _Whole:
    """A recording that ``rosbags`` reads; see :class:`BagReader`."""

    damage = ""
    warnings: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        self._reader = AnyReader([path], default_typestore=typestore())
        self._reader.open()
        connections = self._reader.connections
        self.kinds = {c.topic: c.msgtype for c in connections}
        self.counts = messages_by_topic(connections)
        self.first, self.last = self._reader.start_time, self._reader.end_time - 1
        self.deserialize = self._reader.deserialize
        self.close = self._reader.close

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        wanted = [c for c in self._reader.connections if c.topic in topics]
        if wanted:  # none would stand for all
            for connection, time_ns, data in self._reader.messages(connections=wanted):
                yield connection.topic, time_ns, data


class BagWriter:
    """A new recording. It appears under its name when it is complete, and not at all when an error ends the block.

    Args:
        path: ``NAME.mcap`` or ``NAME.db3`` for a single file, otherwise a rosbag2 folder.
        storage: of a folder, "mcap" or "sqlite3".
        force: replace what is there.

    Raises:
        BagError: something is there already, or the folder above cannot be written.
    """

    def __init__(self, path: str | Path, storage: str = "mcap", force: bool = False) -> None:
        self.path = Path(path)
        self._single = self.path.suffix in SUFFIXES
        plugin = SUFFIXES[self.path.suffix] if self._single else StoragePlugin[storage.upper()]
        check_output(self.path, force)
        try:
            self._scratch = Path(tempfile.mkdtemp(prefix=f".{self.path.stem}-", dir=self.path.parent))
        except OSError as error:
            raise BagError(f"cannot write {self.path}: {error.strerror}") from None
        # Named like the result: the name of the file inside follows from it.
        self._part = self._scratch / (self.path.stem if self._single else self.path.name)
        self._writer = Writer(self._part, version=9, storage_plugin=plugin)
        self._writer.open()
        self._connections: dict[str, Connection] = {}
        self._serialize = typestore().serialize_cdr

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        try:
            self._writer.close()
            if kind is None:
                self._publish()
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)
        return False

    def add(self, topic: str, kind: str, latched: bool = False) -> None:
        """Announce a topic. A latched one is offered to late subscribers when the recording is played."""
        qos = [_LATCHED] if latched else []
        self._connections[topic] = self._writer.add_connection(
            topic, kind, typestore=typestore(), offered_qos_profiles=qos
        )

    def write(self, topic: str, time_ns: int, message: Any) -> None:
        connection = self._connections[topic]
        self._writer.write(connection, time_ns, self._serialize(message, connection.msgtype))

    def _publish(self) -> None:
        source = self._part
        if self._single:
            source = next(self._part.glob(f"*{self.path.suffix}"))
        if self.path.is_dir():
            shutil.rmtree(self.path)
        elif self.path.exists():
            self.path.unlink()
        source.rename(self.path)


_FOREVER = QosTime(9223372036, 854775807)
_LATCHED = Qos(
    QosHistory.KEEP_LAST,
    1,
    QosReliability.RELIABLE,
    QosDurability.TRANSIENT_LOCAL,
    _FOREVER,
    _FOREVER,
    QosLiveliness.AUTOMATIC,
    _FOREVER,
    False,
)


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
        raise BagError(f"{path} is not a rosbag2 recording: a folder, or a .mcap or .db3 file, is needed")


def _damaged(path: Path, error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return f"{path} is damaged, truncated or not a recording ({text})"
