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

import os
from collections.abc import Callable
from typing import Any

import numba
from numba import njit, types

TRIED = ("0.68.",)
"""Prefixes of the versions of numba with which kernels are emitted within doors only."""

_FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

DEFERRED = numba.__version__.startswith(TRIED) and not os.environ.get("HYBRID_CONTACT_PLAIN_NUMBA")
"""Whether kernels are emitted within doors only."""

if DEFERRED:
    from numba.core import errors, ir
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.registry import CPUDispatcher
    from numba.core.typed_passes import NativeLowering

    class _NoEnvironment:
        """Stands in for the code generator, which would look for the addresses of code that is not there."""

        def set_env(self, *_: Any) -> None:
            """Only code that calls back into Python needs an environment."""

    class _LinkedLibrary(JITCodeLibrary):
        """The code of a kernel, simplified by itself, to be linked into those that call it; it has no machine code."""

        codegen = property(lambda _: _NoEnvironment())

        def _optimize_final_module(self) -> None:
            """Left to the callers, who know more: doing it here too takes a quarter of a cold compile."""

        def _finalize_final_module(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            return 0  # nobody calls it from outside

    @register_pass(mutates_CFG=True, analysis_only=False)
    class _LinkedLowering(NativeLowering):
        _name = "linked_lowering"

        def run_pass(self, state: Any) -> bool:
            # It would hang: what prints needs an environment, which only emitted code has.
            if any(list(block.find_insts(ir.Print)) for block in state.func_ir.blocks.values()):
                raise errors.UnsupportedError(
                    f"{state.func_id.func_qualname} is called by another kernel, so that it cannot print; set the "
                    "environment variable HYBRID_CONTACT_PLAIN_NUMBA=1 to let it"
                )
            state["library"] = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            return super().run_pass(state)

    class _LinkedCompiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.passes = [(_LinkedLowering if p is NativeLowering else p, text) for p, text in manager.passes]
            manager._finalized = False
            manager.finalize()
            return [manager]

    class _Linked(CPUDispatcher):
        """What kernels see of a kernel."""

        def get_call_template(self, args: Any, kws: Any) -> Any:
            # A literal argument needs no code of its own: the optimiser sees its value where the call is inlined.
            plain = tuple(types.unliteral(arg) for arg in args)
            return super().get_call_template(plain, {name: types.unliteral(arg) for name, arg in kws.items()})

    class _Door(CPUDispatcher):
        """What Python sees of a kernel."""

        linked: Any  # a _Linked

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
    door = _Door(function, targetoptions=flags)
    door.linked = _Linked(
        function,
        targetoptions=flags | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True},
        pipeline_class=_LinkedCompiler,
    )
    door.enable_caching()
    return door
