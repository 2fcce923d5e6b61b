"""The decorator of all kernels: machine code is made for kernels that Python calls, and for no other.

numba alone optimises every kernel with all that it calls and emits its machine code, and does so again within every
kernel that calls it. With :func:`kernel` a kernel is two of numba's functions. Python calls the *door*, which is
compiled and cached as usual. Kernels that call it see the *linked* one, which is typed, translated and simplified by
itself; it is optimised as a part of its callers only, and never emitted.

Kernels allocate nothing, so that references to arrays are not counted (``_nrt``): where records of arrays are handed
to small kernels at every pivot, counting takes a third of the time. A kernel that makes an array asks for it with
``allocates=True``; without that it does not compile. Slices are allowed.

Both stand on names that numba keeps for itself and may change. The versions for which they are known to hold are
``TRIED``. With others, and where the environment variable ``HYBRID_CONTACT_PLAIN_NUMBA`` is set, a kernel is numba's
own function: the same results after a longer compile. A kernel that kernels call cannot print, unless that variable is
set.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import njit, types

TRIED = ("0.68.",)
"""Prefixes of the versions of numba with which kernels are emitted within doors only."""

_FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

DEFERRED = numba.__version__.startswith(TRIED) and not os.environ.get("HYBRID_CONTACT_PLAIN_NUMBA")
"""Whether kernels are emitted within doors only."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep the garbage collector away: it walks through all of numba's objects again and again, and frees few."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


if DEFERRED:
    from numba.core.registry import CPUDispatcher

    from hybrid_contact_ros.kernels.disk_cache import KernelCache, alone
    from hybrid_contact_ros.kernels.pipeline import DoorCompiler, LinkedCompiler, remembering_operators

    class _Linked(CPUDispatcher):
        """What kernels see of a kernel."""

        def get_call_template(self, args: Any, kws: Any) -> Any:
            # A literal argument needs no code of its own: the optimiser sees its value where the call is inlined.
            plain = tuple(types.unliteral(arg) for arg in args)
            return super().get_call_template(plain, {name: types.unliteral(arg) for name, arg in kws.items()})

    class _Door(CPUDispatcher):
        """What Python sees of a kernel."""

        linked: Any  # a _Linked

        def enable_caching(self) -> None:
            self._cache = KernelCache(self.py_func)

        def compile(self, sig: Any) -> Any:
            with undisturbed(), alone(self), remembering_operators(self.typingctx):
                return super().compile(sig)

        def get_call_template(self, args: Any, kws: Any) -> Any:
            return self.linked.get_call_template(args, kws)  # numba asks for a call from another kernel

        def get_overload(self, sig: Any) -> Any:
            return self.linked.get_overload(sig)


def kernel(function: Callable[..., Any] | None = None, *, allocates: bool = False, forceinline: bool = False) -> Any:
    """Compile a function of arrays and numbers with numba: ``@kernel``, or ``@kernel(forceinline=True)``.

    Args:
        allocates: whether the kernel makes arrays.
        forceinline: whether the optimiser must put its code in place of every call.
    """
    if function is None:
        return lambda decorated: kernel(decorated, allocates=allocates, forceinline=forceinline)
    if not DEFERRED:
        return njit(cache=True, forceinline=forceinline, **_FLAGS)(function)
    flags = _FLAGS | {"nopython": True, "boundscheck": None, "forceinline": forceinline, "_nrt": allocates}
    door = _Door(function, targetoptions=flags | {"no_cfunc_wrapper": True}, pipeline_class=DoorCompiler)
    door.linked = _Linked(
        function,
        targetoptions=flags | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True},
        pipeline_class=LinkedCompiler,
    )
    door.enable_caching()
    return door
