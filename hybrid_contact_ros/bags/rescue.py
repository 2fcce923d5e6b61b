"""Recordings that are not whole: the end of a file is missing, metadata.yaml was never written, files are gone.

A robot that loses its power leaves such a recording, and the moments before the loss are what people ask for. The
recording is read up to the cut, and the reader says where the cut is.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

from hybrid_contact_ros.bags.cut_mcap import CutMcap
from hybrid_contact_ros.bags.cut_sqlite import CutSqlite, is_sound
from hybrid_contact_ros.bags.storage import Storage, WholeFile, decompressed, natural, zstd
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.bags.unreadable import UnreadableBag, from_library, library

_CUT: dict[str, Callable[[Path], Storage]] = {".mcap": CutMcap, ".db3": CutSqlite}
_COMPRESSED = ".zstd"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Rescue:
    """What can be read of a recording, its files one after the other.

    Attributes:
        kinds, counts, first, last: as of :class:`~hybrid_contact_ros.bags.storage.Storage`.
        damage: what could not be read; empty where every file is whole.
        warnings: what a user should know beside that.

    Raises:
        UnreadableBag: nothing can be read.
    """

    def __init__(self, path: Path) -> None:
        self.kinds: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.warnings: list[str] = []
        self._stack = ExitStack()
        self._passed: set[tuple[str, int]] = set()  # messages that were passed over
        self._storages: list[Storage] = []
        damages: list[str] = []
        with ExitStack() as stack:
            for file in self._files(path, damages):
                try:
                    storage = _opened(file, stack, damages)
                except UnreadableBag as error:
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
                raise UnreadableBag(self.damage or "it holds no message")
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
                # Only metadata.yaml says whether messages are compressed one by one. No message begins like this.
                if data[:4] == _ZSTD_MAGIC:
                    try:
                        data = decompressed(data)
                    except UnreadableBag as error:
                        self._pass_over(topic, time, error)
                        continue
                yield topic, time, data

    def _pass_over(self, topic: str, time: int, error: UnreadableBag) -> None:
        """A message whose bytes are there, and spoilt."""
        if (topic, time) not in self._passed:
            self._passed.add((topic, time))
            self.counts[topic] -= 1
            if len(self._passed) == 1:
                self.damage += f"; messages that cannot be decompressed are passed over ({error})"

    def deserialize(self, data: bytes, kind: str) -> Any:
        return from_library(self._types.deserialize_cdr, data, kind)

    def _files(self, path: Path, damages: list[str]) -> list[Path]:
        if not path.is_dir():
            return [path]
        there = sorted((file for file in path.iterdir() if storage_suffix(file)), key=natural)
        try:
            listed = _listed_files(path / "metadata.yaml")
        except FileNotFoundError:
            self.warnings.append(f"{path} has no metadata.yaml: its recorder did not end in order; its files are read")
            return there
        except (OSError, UnreadableBag) as error:
            self.warnings.append(f"{path / 'metadata.yaml'} cannot be read ({error}); the files beside it are")
            return there
        gone = [file.name for file in listed if not file.exists()]
        if gone:
            damages.append(f"missing {'is' if len(gone) == 1 else 'are'} {', '.join(gone)}")
        return [file for file in listed if file.exists()]

    def _definitions(self) -> Any:
        """The recording's own message definitions, because messages change over the years; today's where it has
        none."""
        found = {definition.kind: definition for storage in self._storages for definition in storage.definitions}
        types: dict[str, Any] = {}
        for definition in found.values():
            if definition.encoding == "ros2msg":
                types.update(from_library(get_types_from_msg, definition.text, definition.kind))
            else:
                for text in definition.text.split("=" * 80 + "\n"):
                    idl = text.partition("\n")[2] if text.startswith("IDL: ") else text
                    types.update(from_library(get_types_from_idl, idl))
        if not types:
            return typestore()
        store = get_typestore(Stores.EMPTY)
        with library():
            store.register(types)
        return store


def damaged_files(path: Path) -> str:
    """The names of the files of a recording in which places were overwritten; empty where there are none. Files that
    are compressed as a whole are not looked at: nothing behind such a place could be read."""
    files = sorted(path.iterdir(), key=natural) if path.is_dir() else [path]
    chosen = [file for file in files if file.suffix in _CUT]
    states = [(file, file.stat()) for file in chosen]
    return ", ".join(f.name for f, state in states if not _is_sound(f.absolute(), state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=256)
def _is_sound(file: Path, size: int, changed_ns: int) -> bool:
    """Whether a file, as it was then, can be read from end to end: it is looked at once."""
    try:
        if file.suffix == ".db3":
            return is_sound(file)
        storage = CutMcap(file)
    except (UnreadableBag, OSError):
        return False
    storage.close()
    return not storage.damage


def storage_suffix(path: Path) -> str:
    """``.mcap`` or ``.db3`` for a file of a recording, compressed or not; an empty text for any other file."""
    suffix = Path(path.stem).suffix if path.suffix == _COMPRESSED else path.suffix
    return suffix if suffix in _CUT else ""


def _listed_files(metadata: Path) -> list[Path]:
    """The files that a metadata.yaml names, in its own folder.

    Raises:
        OSError: it cannot be read.
        UnreadableBag: it is not what a recorder writes.
    """
    try:
        content = yaml.safe_load(metadata.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise UnreadableBag(type(error).__name__) from error
    information = content.get("rosbag2_bagfile_information") if isinstance(content, dict) else None
    names = information.get("relative_file_paths") if isinstance(information, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UnreadableBag("it does not list the files")
    return [metadata.with_name(Path(name).name) for name in names if name]


def _opened(file: Path, stack: ExitStack, damages: list[str]) -> Storage:
    """One file, read by its index where it has one, and else up to where it is cut.

    Raises:
        UnreadableBag: nothing of it can be read.
    """
    suffix = storage_suffix(file)
    if file.suffix == _COMPRESSED:
        file = _decompressed(file, stack, damages)
    try:
        whole = WholeFile(file)
        if not (spoilt := damaged_files(file)):
            return whole
        whole.close()
        raise UnreadableBag(f"damaged places in {spoilt}")
    except UnreadableBag as error:
        try:
            storage = _CUT[suffix](file)
        except OSError as why:
            raise UnreadableBag(str(why)) from error
        if not storage.damage:  # the end of the data is there, so what is missing is the index
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
