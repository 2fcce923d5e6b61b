"""numba's cache on the disk, shared by several processes and loaded quickly.

One process at a time compiles a kernel; the others wait and then find it in the cache. Nodes that start together, and
the helper process of a first start, share the work that way. Without a lock numba's index of a kernel could also end up
naming the file of another signature, where two processes write at once. The operating system releases the lock of a
process that dies. Nor does it matter where the package lies: a checkout and what is installed from it share one
another's machine code.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys

try:
    import fcntl
except ImportError:  # no POSIX: every process compiles for itself
    fcntl = None  # type: ignore[assignment]


KEYED: set[str] = set()
"""Directories whose names hold the hash of all sources that their machine code comes from."""


_InChosenDirectory: Any = CompileResultCacheImpl._locator_classes[0]  # its name differs between versions of numba


class _Locator(_InChosenDirectory):  # type: ignore[misc]
    """numba's, which makes a folder for each place of a source; where the sources are in the directory's name, none."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        if config.CACHE_DIR in KEYED:  # type: ignore[attr-defined]
            self._cache_path = config.CACHE_DIR  # type: ignore[attr-defined]


class _Files(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012  (as numba has it)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of a function, from which machine code is loaded without the compiler.

    numba gets its compiler ready before it looks into the cache: it imports and registers everything that it could
    compile with, which takes longer than loading all kernels of a node. It does so again where it compiles. numba also
    stops at a file that is damaged, in every process from then on; here such a kernel is compiled and stored anew.
    """

    _impl_class = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # the functions that kernels which make arrays call; once a process
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # a file that a power cut left cut or empty may raise anything: the kernel is compiled again
            with suppress(OSError):
                os.unlink(self._cache_file._index_path)
            return None


def index_file(door: Any) -> str:
    """Path of the file that exists once the kernel was compiled and stored, for whatever types."""
    return str(door._cache._cache_file._index_path)


@contextmanager
def alone(door: Any) -> Iterator[None]:
    """Hold the lock of a cached kernel; nothing is locked where the directory cannot be written."""
    descriptor = _open(index_file(door) + ".lock")
    try:
        if descriptor is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open(path: str) -> int | None:
    if fcntl is None:
        return None
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # numba makes it when it stores something
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None
