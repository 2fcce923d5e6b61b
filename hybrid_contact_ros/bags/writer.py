"""rosbag2 recordings out: a new one appears under its name when it is complete, and not at all otherwise."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import StoragePlugin, Writer

from hybrid_contact_ros.bags.folder import check_folder
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.bags.unreadable import BagError

SUFFIXES = {".mcap": StoragePlugin.MCAP, ".db3": StoragePlugin.SQLITE3}

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
    check_folder(path)


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
        """Write a message, or its bytes."""
        connection = self._connections[topic]
        data = message if isinstance(message, bytes) else self._serialize(message, connection.msgtype)
        self._writer.write(connection, time_ns, data)

    def _publish(self) -> None:
        source = self._part
        if self._single:
            source = next(self._part.glob(f"*{self.path.suffix}"))
        if self.path.is_dir():
            shutil.rmtree(self.path)
        elif self.path.exists():
            self.path.unlink()
        source.rename(self.path)
