"""Recordings in folders, globs and URLs: which there are, and what tells one state of a file from another.

Every place that fsspec knows is taken: a local path, ``s3://bucket/robots``, ``sftp://host/bags/*.mcap``. What a store
needs beside fsspec (s3fs, gcsfs, …) says its own error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import fsspec

SUFFIXES = (".mcap", ".db3", ".mcap.zstd", ".db3.zstd")
METADATA = "metadata.yaml"
_TOKENS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated", "modified", "created")


@dataclass(frozen=True, slots=True)
class Bag:
    """One recording.

    Attributes:
        url: of the file or folder; a local one is a plain absolute path.
        files: (name below the folder, or of the file; URL) of each of its files, by name.
        size: of all files, bytes.
        fingerprint: changes when a file does, as far as its store tells without reading it (size, time or tag).
    """

    url: str
    files: tuple[tuple[str, str], ...]
    size: int
    fingerprint: str


def find(places: Iterable[str]) -> list[Bag]:
    """All recordings of these places, each once, by URL.

    A file is a recording where its name ends in one of :data:`SUFFIXES`; a folder is one where it has a
    ``metadata.yaml``, or files that rosbag2 named after it (``NAME/NAME_0.mcap``). Folders are searched to their end;
    hidden names are passed over, for a recording that is being written has one.

    Raises:
        ValueError: a place cannot be read, or has no recording.
    """
    found: dict[str, Bag] = {}
    for place in places:
        try:
            fs, path = fsspec.core.url_to_fs(place)
            entries = _entries(fs, path)
        except (OSError, ImportError, ValueError) as error:
            raise ValueError(f"{place} cannot be read: {error}") from error
        bags = _bags(fs, entries)
        if not bags:
            raise ValueError(f"no recording in {place}: neither a folder with {METADATA} nor a file of {_listed()}")
        found.update({bag.url: bag for bag in bags})
    return [found[url] for url in sorted(found)]


def _entries(fs: Any, path: str) -> dict[str, dict[str, Any]]:
    """All files that a place stands for, by their paths."""
    tops = fs.glob(path) if any(sign in path for sign in "*?[") else [path]
    entries: dict[str, dict[str, Any]] = {}
    for top in tops:
        if fs.isdir(top):
            entries.update(fs.find(top, detail=True))
        elif top.rpartition("/")[2] != METADATA:
            entries[top] = fs.info(top)
    return entries


def _bags(fs: Any, entries: dict[str, dict[str, Any]]) -> list[Bag]:
    kept = {path: info for path, info in entries.items() if path.endswith((*SUFFIXES, METADATA)) and not _hidden(path)}
    folders: dict[str, list[str]] = {}
    for path in kept:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    bags = []
    for folder, paths in folders.items():
        name = folder.rpartition("/")[2]
        storages = [path for path in paths if path.endswith(SUFFIXES)]
        split = [path for path in storages if path.rpartition("/")[2].rpartition("_")[0] == name]
        if f"{folder}/{METADATA}" in paths:
            bags.append(_bag(fs, folder, paths, kept))
        elif split and len(split) == len(storages):
            bags.append(_bag(fs, folder, split, kept))
        else:
            bags += [_bag(fs, path, [path], kept) for path in storages]
    return bags


def _bag(fs: Any, path: str, files: list[str], entries: dict[str, dict[str, Any]]) -> Bag:
    names = sorted(files)
    mark = hashlib.sha256()
    for file in names:
        info = entries[file]
        told = [str(info[token]) for token in _TOKENS if info.get(token)]
        mark.update(repr((PurePosixPath(file).name, info.get("size"), told)).encode())
    return Bag(
        url=_url(fs, path),
        files=tuple((PurePosixPath(file).name, _url(fs, file)) for file in names),
        size=sum(int(entries[file].get("size") or 0) for file in names),
        fingerprint=mark.hexdigest(),
    )


def _url(fs: Any, path: str) -> str:
    local = "file" in (fs.protocol if isinstance(fs.protocol, tuple) else (fs.protocol,))
    return path if local else str(fs.unstrip_protocol(path))


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(path).parts[-2:])


def _listed() -> str:
    return ", ".join(SUFFIXES)
