"""Compiled numerical kernels: plain C-contiguous float64 arrays in and out, no objects, no exceptions.

Every kernel is ``@njit(cache=True, nogil=True)``, takes its arguments in the order constants, inputs, scratch,
outputs, has no default arguments, and returns a :class:`~hybrid_contact_ros.kernels.status.Status` or a number.

numba's disk cache looks only at the file of the kernel it loads, so that after an edit of a callee in another file it
would go on serving the old machine code. The kernels are therefore cached in a directory named after a hash of all
sources of this package, under ``$HYBRID_CONTACT_CACHE``, ``$XDG_CACHE_HOME/hybrid_contact_ros``,
``~/.cache/hybrid_contact_ros``, or a temporary directory, whichever can be written. The directory is fixed when a
kernel is decorated; so all kernel modules are imported here, and numba's setting is put back for everybody else.
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


def _sources_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
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


def _cache_directory() -> str | None:
    name = _sources_hash()
    for base in _candidates():
        directory = base / "kernels" / name
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return str(directory)
        except OSError:
            continue
    return None


CACHE_DIRECTORY = _cache_directory()
"""Where the machine code of this package's kernels is kept; ``None`` if no place can be written (numba's default)."""

MODULES = tuple(sorted(module.name for module in iter_modules(__path__) if module.name != "warm"))


def _import_all() -> None:
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    if CACHE_DIRECTORY is not None:
        numba.config.CACHE_DIR = CACHE_DIRECTORY  # type: ignore[attr-defined]
    try:
        for name in MODULES:
            import_module(f"{__name__}.{name}")
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


_import_all()
