"""Freeze the kernels after warm-up, so that an array of an unexpected type is an error and not a second's stall."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from hybrid_contact_ros import kernels
from hybrid_contact_ros.kernels.disk_cache import index_file


def dispatchers() -> Iterator[tuple[str, Dispatcher]]:
    """Every kernel of the package once, as (module.name, dispatcher)."""
    seen = set()
    for name in kernels.MODULES:
        module = sys.modules[f"{kernels.__name__}.{name}"]
        for value in vars(module).values():
            if isinstance(value, Dispatcher) and id(value) not in seen and value.__module__ == module.__name__:
                seen.add(id(value))
                yield f"{name}.{value.py_func.__name__}", value


def disable_compilation() -> None:
    """After this a kernel called with types that it has not been compiled for raises TypeError."""
    for _, dispatcher in dispatchers():
        # What disable_compile(True) does, also for a kernel that has not been compiled: it must not stall later.
        dispatcher._can_compile = False  # type: ignore[attr-defined]


def enable_compilation() -> None:
    """Undo :func:`disable_compilation`."""
    for _, dispatcher in dispatchers():
        dispatcher.disable_compile(False)


@contextmanager
def compilation_of(names: Iterable[str]) -> Iterator[None]:
    """While the block runs, allow it of these kernels, ``module.name``; afterwards of none of them."""
    wanted = set(names)
    chosen = [dispatcher for name, dispatcher in dispatchers() if name in wanted]
    for dispatcher in chosen:
        dispatcher.disable_compile(False)
    try:
        yield
    finally:
        for dispatcher in chosen:
            dispatcher._can_compile = False  # type: ignore[attr-defined]


def stored(name: str) -> bool:
    """Whether the disk cache has machine code of a kernel, ``module.name``, for whatever types it was called with. A
    name that no kernel has is never missing."""
    module, _, function = name.rpartition(".")
    dispatcher = getattr(sys.modules.get(f"{kernels.__name__}.{module}"), function, None)
    return dispatcher is None or Path(index_file(dispatcher)).exists()


def signatures() -> dict[str, int]:
    """How many signatures each kernel has been compiled for in this process (0: not called from Python or a kernel).

    A kernel that only other kernels call is compiled within them, and counted once it was compiled on its own.
    """
    return {name: len(dispatcher.signatures) for name, dispatcher in dispatchers()}
