"""Compiled numerical kernels: plain C-contiguous float64 arrays in and out, no objects, no exceptions.

The folders mirror the rooms of the package that call them. Every kernel is ``@kernel``, takes its
arguments in the order constants, inputs, scratch, outputs, has no default arguments, and returns a
:class:`~hybrid_contact_ros.codes.Status` or a number.

numba's disk cache looks only at the file of the kernel that it loads. After an edit of a callee in another file it
would go on serving the old machine code. The kernels of a folder are therefore cached in a directory whose name
contains a hash of the sources of that folder and of all folders that it may import, so that an edit recompiles that
folder and those above it, and no other. Cache directories lie under ``$HYBRID_CONTACT_CACHE``,
``$XDG_CACHE_HOME/hybrid_contact_ros``, ``~/.cache/hybrid_contact_ros``, or a temporary directory, whichever can be
written. numba fixes the directory of a kernel when the kernel is decorated, so all kernel modules are imported here,
and numba's own setting is put back for everybody else.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numba

from hybrid_contact_ros.kernels import disk_cache
from hybrid_contact_ros.kernels.compiling import DEFERRED

BELOW = {
    "algebra": (),
    "mechanics": ("algebra",),
    "modes": ("algebra", "mechanics"),
    "impacts": ("algebra", "mechanics", "modes"),
    "stability": ("algebra", "mechanics", "modes"),
    "sensitivity": ("algebra", "mechanics", "modes", "stability"),
    "estimation": ("algebra", "mechanics", "modes", "stability"),
    "messages": (),
}
"""The folders of kernels from the lowest to the highest, each with the folders that it may import (import-linter holds
the kernels to it)."""

_HERE = Path(__file__).parent
_COMMON = (_HERE.parent / "codes.py", _HERE / "compiling.py", _HERE / "given.py", _HERE / "pipeline.py")


def sources(folder: str) -> tuple[Path, ...]:
    """The files whose edit changes what a kernel of ``folder`` computes."""
    return (*_COMMON, *(path for name in (*BELOW[folder], folder) for path in sorted((_HERE / name).glob("*.py"))))


def _sources_hash(folder: str) -> str:
    digest = hashlib.sha256(str(DEFERRED).encode())  # numba would load what the other way of compiling has stored
    for path in sources(folder):
        name = f"{path.parent.name}/{path.name}"
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get("HYBRID_CONTACT_CACHE"):
        yield Path(chosen)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        yield Path(xdg) / "hybrid_contact_ros"
    with suppress(RuntimeError):  # a user without a home directory
        yield Path.home() / ".cache" / "hybrid_contact_ros"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    yield Path(tempfile.gettempdir()) / f"hybrid_contact_ros-{user}"


def _cache_directory(folder: str) -> str | None:
    name = f"{folder}-{_sources_hash(folder)}"
    for base in _candidates():
        directory = base / "kernels" / name
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return str(directory)
        except OSError:
            continue
    return None


CACHE_DIRECTORIES = {folder: _cache_directory(folder) for folder in BELOW}
"""Where the machine code of each folder is kept; ``None`` if no place can be written (numba's default)."""

MODULES = tuple(f"{folder}.{module.name}" for folder in BELOW for module in sorted(iter_modules([str(_HERE / folder)])))
"""The modules of kernels, ``folder.module``."""


def _import_all() -> None:
    disk_cache.KEYED.update(directory for directory in CACHE_DIRECTORIES.values() if directory is not None)
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    try:
        for name in MODULES:
            directory = CACHE_DIRECTORIES[name.split(".")[0]]
            numba.config.CACHE_DIR = before if directory is None else directory  # type: ignore[attr-defined]
            import_module(f"{__name__}.{name}")
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


_import_all()
