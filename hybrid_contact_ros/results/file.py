"""The result file: a zip with ``summary.json`` and the columns of its tables as ``TABLE/COLUMN.npy``.

numpy reads the columns and anything reads the summary; ``docs/scoring.md`` lists both. A file is written beside its
place and then moved there, so that a file with the right name is always whole.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

KIND = "hybrid_contact_ros result"
FORMAT = 1
"""Version of the format. New tables, columns and keys do not change it; another meaning of what is there does."""
SUFFIX = ".result.zip"

Table = dict[str, NDArray[Any]]

_SUMMARY = "summary.json"
_LEVEL = 4  # of the compression: numbers hardly get smaller by more of it, and it takes seconds


class ResultError(ValueError):
    """A file that is no result, or none that can be read; the text says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What came of a recording.

    Attributes:
        summary: plain values, as JSON has them; ``docs/scoring.md`` lists the keys.
        tables: columns by name, by the name of their table. The first axis is that of the rows, but for
            ``sets/velocities``, whose rows of set ``i`` are ``sets/offsets[i]`` to ``sets/offsets[i + 1]``.
    """

    summary: dict[str, Any]
    tables: dict[str, Table] = field(default_factory=dict)

    def table(self, name: str) -> Table:
        """The columns of a table; empty where there is no such table."""
        return self.tables.get(name, {})


def result_path(path: str | Path) -> Path:
    """The name with the suffix of result files, which is put behind one that does not end in .zip."""
    path = Path(path)
    return path if path.suffix == ".zip" else path.with_name(path.name + SUFFIX)


def write(path: str | Path, result: Result) -> Path:
    """Write a result; one that is there is replaced at the end, in one step. The answer is the file's name.

    Raises:
        OSError: it cannot be written there.
        ValueError: a column holds objects instead of numbers, or the summary what JSON has not.
    """
    path = Path(path)
    summary = {"kind": KIND, "format": FORMAT} | _plain(result.summary)
    text = json.dumps(summary, indent=1, allow_nan=False)
    temporary = NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)  # noqa: SIM115
    try:
        with temporary as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
            archive.writestr(_SUMMARY, text)
            for name, columns in result.tables.items():
                for column, values in columns.items():
                    held = io.BytesIO()
                    np.save(held, np.ascontiguousarray(values), allow_pickle=False)
                    archive.writestr(f"{name}/{column}.npy", held.getbuffer())
        os.chmod(temporary.name, 0o666 & ~_umask())
        os.replace(temporary.name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary.name)
        raise
    return path


def read(path: str | Path, tables: Collection[str] | None = None) -> Result:
    """Read a result, or of its tables only those named.

    Raises:
        ResultError: the file is cut, is something else, or was written by a newer version.
        OSError: it cannot be opened.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            summary = _summary(path, archive)
            found: dict[str, Table] = {}
            for entry in archive.namelist():
                table, _, column = entry.removesuffix(".npy").partition("/")
                if column and entry.endswith(".npy") and (tables is None or table in tables):
                    values = np.lib.format.read_array(io.BytesIO(archive.read(entry)), allow_pickle=False)
                    found.setdefault(table, {})[column] = values
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ResultError(f"{path} is cut, damaged or no result file ({error})") from error
    except ResultError:
        raise
    except ValueError as error:  # of numpy: the bytes of a column are no array
        raise ResultError(f"{path} is damaged: {error}") from error
    _check_rows(path, found)
    return Result(summary, found)


def _summary(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    """The summary of an open file.

    Raises:
        ResultError: there is none, or that of something else or of a newer version.
    """
    if _SUMMARY not in archive.namelist():
        raise ResultError(f"{path} is a zip file, but no result: it has no {_SUMMARY}")
    try:
        summary = json.loads(archive.read(_SUMMARY))
    except ValueError as error:
        raise ResultError(f"{path} is damaged: its {_SUMMARY} is no JSON ({error})") from error
    if not isinstance(summary, dict) or summary.get("kind") != KIND:
        raise ResultError(f"{path} is no result of this package: its {_SUMMARY} does not say kind: {KIND!r}")
    version = summary.get("format")
    if not isinstance(version, int) or version > FORMAT:
        by = summary.get("package_version", "a newer one")
        raise ResultError(f"{path} has format {version}, this version reads up to {FORMAT}: use version {by} or newer")
    return summary


def _check_rows(path: Path, tables: Mapping[str, Table]) -> None:
    """Raise ResultError where columns of one table do not have the same rows."""
    for name, columns in tables.items():
        held = dict(columns)
        if name == "sets" and "offsets" in held:
            offsets, velocities = held.pop("offsets"), held.pop("velocities", np.empty((0, 0)))
            held["offsets"] = offsets[1:]
            if offsets.size == 0 or int(offsets[-1]) != len(velocities):
                raise ResultError(f"{path} is damaged: sets/offsets do not fit sets/velocities")
        rows = {len(values) if values.ndim else 0 for values in held.values()}
        if len(rows) > 1:
            raise ResultError(f"{path} is damaged: columns of {name} have {sorted(rows)} rows")


def _plain(value: Any) -> Any:
    """The same in what JSON has; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Path):
        return str(value)
    raise ValueError(f"a summary cannot hold {value!r}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
