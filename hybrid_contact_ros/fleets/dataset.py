"""The scores of a fleet on the disk: a Parquet dataset with a row each recording, partitioned by robot and day.

    DATASET/robot=spot_07/day=2026-11-02/scores.parquet
    DATASET/_journal.jsonl     rows that are in no partition yet, on the disk as soon as a recording is done
    DATASET/_timing.jsonl      what depends on the machine: seconds, quantiles of the compute time, worker
    DATASET/_failed.json       the recordings that failed last time, with the reason

Names with an underscore are passed over by readers of datasets. The rows of a partition are sorted by content, so that
its file has the same bytes whatever the order was in which recordings were done.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from hybrid_contact_ros.fleets.columns import SCHEMA

FILE = "scores.parquet"
KEYS = ("robot", "day")
_WHOLE = pa.schema([*SCHEMA, *((key, pa.string()) for key in KEYS)])


class Dataset:
    """One dataset, which one process at a time writes.

    Args:
        path: its folder, which is made where it is not there.

    Raises:
        ValueError: something else is there, or another process writes it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a file; a dataset is a folder")
        strange = [p.name for p in path.iterdir() if not _ours(p.name)] if path.is_dir() else []
        if strange:
            raise ValueError(f"{path} holds other things ({', '.join(sorted(strange)[:3])}); give an empty folder")
        path.mkdir(parents=True, exist_ok=True)
        self._lock = (path / "_lock").open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ValueError(f"{path} is being written by another hybrid-contact fleet") from None
        self._journal: BinaryIO = _whole_lines(path / "_journal.jsonl")
        self._timing: BinaryIO = _whole_lines(path / "_timing.jsonl")
        self.fold()

    def close(self) -> None:
        """Give it free for other processes."""
        for file in (self._journal, self._timing, self._lock):
            file.close()

    def done(self, configuration: str) -> tuple[dict[str, str], frozenset[str]]:
        """What has been scored with this configuration: fingerprints by URL, and hashes of contents."""
        known: dict[str, str] = {}
        contents = set()
        for file in sorted(self.path.glob(f"*=*/*=*/{FILE}")):
            table = pq.read_table(file, columns=["bag", "fingerprint", "content", "configuration"], partitioning=None)
            for row in table.to_pylist():
                if row["configuration"] == configuration:
                    known[row["bag"]] = row["fingerprint"]
                    contents.add(row["content"])
        for alias in _rows(self.path / "_aliases.jsonl"):
            if alias["configuration"] == configuration:
                known[alias["bag"]] = alias["fingerprint"]
        return known, frozenset(contents)

    def add(self, row: dict[str, Any], timing: dict[str, Any]) -> None:
        """Keep a row. When this returns it is on the disk."""
        _append(self._journal, row)
        _append(self._timing, {key: row[key] for key in ("bag", "content", "configuration")} | timing)

    def same(self, bag: str, fingerprint: str, configuration: str) -> None:
        """Note that a recording has the content of one that is there, so that nobody need read it again."""
        with (self.path / "_aliases.jsonl").open("ab") as file:
            _append(file, {"bag": bag, "fingerprint": fingerprint, "configuration": configuration})

    def failed(self, reasons: dict[str, str]) -> None:
        """Keep what failed, and why, for whoever looks later; a run without failures leaves no such file."""
        path = self.path / "_failed.json"
        if reasons:
            with _replacing(path) as temporary:
                temporary.write_text(json.dumps(reasons, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        else:
            path.unlink(missing_ok=True)

    def fold(self) -> None:
        """Move all rows of the journal into their partitions. A process that dies meanwhile loses nothing: rows are in
        the journal until all partitions have theirs, and one that is in both counts once."""
        new: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for row in _rows(self.path / "_journal.jsonl"):
            new.setdefault(tuple(row[key] for key in KEYS), []).append(row)
        for values, rows in new.items():
            parts = (f"{key}={quote(value, safe='')}" for key, value in zip(KEYS, values, strict=True))
            folder = self.path.joinpath(*parts)
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / FILE
            old = pq.read_table(file, partitioning=None).to_pylist() if file.exists() else []
            merged: dict[tuple[str, str], dict[str, Any]] = {}
            for row in [*old, *rows]:
                # Of recordings with one content the first by name stays, whichever was done first.
                key = (row["content"], row["configuration"])
                if key not in merged or row["bag"] <= merged[key]["bag"]:
                    merged[key] = row
            kept = [{name: merged[key].get(name) for name in SCHEMA.names} for key in sorted(merged)]
            with _replacing(file) as temporary:
                pq.write_table(pa.Table.from_pylist(kept, schema=SCHEMA), temporary, compression="zstd")
        self._journal.truncate(0)
        self._journal.seek(0)
        os.fsync(self._journal.fileno())


def _ours(name: str) -> bool:
    return name.startswith(("_", "robot="))


def _append(file: BinaryIO, row: dict[str, Any]) -> None:
    file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _whole_lines(path: Path) -> BinaryIO:
    """The file, to be appended to, without a last line that was cut off."""
    file = path.open("ab+")
    file.seek(0)
    data = file.read()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        file.truncate(end)
    file.seek(0, os.SEEK_END)
    return file


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield json.loads(line)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file that takes the place of another one when it is complete."""
    temporary = path.with_name(f"_{path.name}.part")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: str | Path, columns: Iterable[str] | None = None) -> pa.Table:
    """All rows of a dataset, with columns ``robot`` and ``day``."""
    partitioning = pa.dataset.partitioning(pa.schema([_WHOLE.field(key) for key in KEYS]), flavor="hive")
    # Without a schema the first partition would tell the columns, which may be of an older version.
    dataset = pa.dataset.dataset(path, schema=_WHOLE, partitioning=partitioning, format="parquet")
    return dataset.to_table(None if columns is None else list(columns))
