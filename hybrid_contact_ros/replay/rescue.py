"""Recordings that are not whole: the end of a file is missing, metadata.yaml was never written, files are gone.

A robot that loses its power leaves such a recording, and the moments before it are those that are asked for. It is read
up to the cut, and where that was is told.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

from hybrid_contact_ros.replay.cut_mcap import CutMcap
from hybrid_contact_ros.replay.cut_sqlite import CutSqlite
from hybrid_contact_ros.replay.messages import typestore
from hybrid_contact_ros.replay.storage import Storage, UnreadableError, WholeFile, natural, zstd

_CUT: dict[str, Callable[[Path], Storage]] = {".mcap": CutMcap, ".db3": CutSqlite}
_COMPRESSED = ".zstd"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Rescue:
    """What can be read of a recording, its files one after the other.

    Attributes:
        kinds: type of each topic. counts: messages of each. first, last: ns.
        damage: what could not be read; empty where every file is whole.
        warnings: what was found beside that.

    Raises:
        UnreadableError: nothing can be read.
    """

    def __init__(self, path: Path) -> None:
        self.kinds: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.warnings: list[str] = []
        self._stack = ExitStack()
        self._storages: list[Storage] = []
        damages: list[str] = []
        with ExitStack() as stack:
            for file in self._files(path, damages):
                try:
                    storage = _opened(file, stack, damages)
                except UnreadableError as error:
                    damages.append(f"{file.name}: {error}")
                    continue
                self._storages.append(storage)
                stack.callback(storage.close)
                if storage.damage:
                    damages.append(f"{file.name} {storage.damage}")
                for topic, kind in storage.kinds.items():
                    self.kinds.setdefault(topic, kind)
                    self.counts[topic] = self.counts.get(topic, 0) + storage.counts.get(topic, 0)
            self.damage = "; ".join(damages)
            if not sum(self.counts.values()):
                raise UnreadableError(self.damage or "it holds no message")
            self._types = self._definitions()
            self._stack = stack.pop_all()
        filled = [storage for storage in self._storages if sum(storage.counts.values())]
        self.first, self.last = min(s.first for s in filled), max(s.last for s in filled)

    def close(self) -> None:
        self._stack.close()

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        """Topic, time of recording (ns) and serialised message."""
        for storage in self._storages:
            for topic, time, data in storage.messages(topics):
                # Compressed one by one: only metadata.yaml would say so. No message begins like this.
                yield topic, time, zstd().decompress(data) if data[:4] == _ZSTD_MAGIC else data

    def deserialize(self, data: bytes, kind: str) -> Any:
        return self._types.deserialize_cdr(data, kind)

    def _files(self, path: Path, damages: list[str]) -> list[Path]:
        if not path.is_dir():
            return [path]
        there = sorted((file for file in path.iterdir() if storage_suffix(file)), key=natural)
        try:
            information = yaml.safe_load((path / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
            listed = [path / Path(name).name for name in information["relative_file_paths"]]
        except FileNotFoundError:
            self.warnings.append(f"{path} has no metadata.yaml: its recorder did not end in order; its files are read")
            return there
        except Exception as error:
            self.warnings.append(f"{path / 'metadata.yaml'} cannot be read ({type(error).__name__}); the files are")
            return there
        gone = [file.name for file in listed if not file.exists()]
        if gone:
            damages.append(f"missing {'is' if len(gone) == 1 else 'are'} {', '.join(gone)}")
        return [file for file in listed if file.exists()]

    def _definitions(self) -> Any:
        """The recording's own, since messages change; without any those of today."""
        found = {definition.kind: definition for storage in self._storages for definition in storage.definitions}
        types: dict[str, Any] = {}
        for definition in found.values():
            if definition.encoding == "ros2msg":
                types.update(get_types_from_msg(definition.text, definition.kind))
            else:
                for text in definition.text.split("=" * 80 + "\n"):
                    types.update(get_types_from_idl(text.partition("\n")[2] if text.startswith("IDL: ") else text))
        if not types:
            return typestore()
        store = get_typestore(Stores.EMPTY)
        store.register(types)
        return store


def storage_suffix(path: Path) -> str:
    """``.mcap`` or ``.db3`` of a file of a recording, compressed or not; else nothing."""
    suffix = Path(path.stem).suffix if path.suffix == _COMPRESSED else path.suffix
    return suffix if suffix in _CUT else ""


def _opened(file: Path, stack: ExitStack, damages: list[str]) -> Storage:
    """A file, as whole as it is."""
    suffix = storage_suffix(file)
    if file.suffix == _COMPRESSED:
        file = _decompressed(file, stack, damages)
    try:
        return WholeFile(file)
    except Exception as error:  # rosbags, sqlite, zstd and struct all raise their own kinds for a damaged file
        try:
            storage = _CUT[suffix](file)
        except (UnreadableError, OSError) as why:
            raise UnreadableError(str(why)) from error
        if not storage.damage:  # the end of the data is there, so it is the index that is not
            storage.damage = f"has no usable index: {error}"
        return storage


def _decompressed(file: Path, stack: ExitStack, damages: list[str]) -> Path:
    """The file without its compression, as far as it goes, in a folder that lives as long as the recording is open."""
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hybrid_contact_")))
    plain = scratch / file.stem
    with file.open("rb") as packed, plain.open("wb") as out:
        try:
            with zstd().open(packed, "rb") as stream:
                shutil.copyfileobj(stream, out, 1 << 16)
        except (EOFError, zstd().ZstdError) as error:
            damages.append(f"{file.name} is cut or damaged: {error}")
    return plain
