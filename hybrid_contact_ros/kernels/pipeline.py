"""How numba translates a kernel: numba's own pipeline without what kernels have no use for.

All of it stands on names that numba keeps for itself; :mod:`~hybrid_contact_ros.kernels.compiling` says for which
versions they are known to hold, and imports this for those alone. The parts of numba's pipeline that are left out look
for closures, ``with`` blocks, expressions of whole arrays and the like, walk through the whole function, and find
nothing; a kernel that had such a thing would not compile. Numbers are in ``docs/startup.md``.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import errors, ir, typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

_WITHOUT_USE = (
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
)

_SIMPLIFY = 1
"""Optimisation level of a single function before all are put together. The whole is optimised at numba's own level."""


class _Flags(Flags):  # type: ignore[misc]
    """numba's options of a compilation. They are part of the key of every operator that is looked up, and comparing
    them as numba does takes a quarter of its time."""

    __slots__ = ()

    def __hash__(self) -> int:
        return _HASH

    def __eq__(self, other: object) -> bool:
        if type(other) is _Flags and self._values == other._values:
            return True
        return bool(super().__eq__(other))


_HASH = hash(Flags())  # numba hashes the names of the options alone: all flags have one hash


_OPERATORS = frozenset({bool, *(getattr(operator, name) for name in operator.__all__)})
_PLAIN = (types.Number, types.Boolean, types.Array)
_remembered: dict[tuple[Any, ...], Any] = {}


@contextmanager
def remembering_operators(typing: Any) -> Iterator[None]:
    """Within the block, what an operator makes of numbers and arrays is looked up once for each combination of types.

    numba tries the definitions of ``+`` one after the other at every ``+``, several times in each kernel; there are a
    few hundred combinations among ten thousand lookups.
    """
    look_up = type(typing).resolve_function_type

    def resolve(function: Any, args: Any, kws: Any) -> Any:
        if kws or not isinstance(function, types.Function) or not all(isinstance(arg, _PLAIN) for arg in args):
            return look_up(typing, function, args, kws)
        if function.typing_key not in _OPERATORS:
            return look_up(typing, function, args, kws)
        key = (function, *args)
        found = _remembered.get(key)
        if found is None:
            found = look_up(typing, function, args, kws)
            if found is not None:
                _remembered[key] = found
        return found

    if "resolve_function_type" in vars(typing):  # a kernel within a kernel
        yield
        return
    typing.resolve_function_type = resolve
    try:
        yield
    finally:
        del typing.resolve_function_type


class _DoorLibrary(JITCodeLibrary):
    """The code of a door, with that of the kernels it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        manager, builder = self._codegen._function_pass_manager(opt=_SIMPLIFY)
        for function in ll_module.functions:
            if not function.is_declaration:
                manager.run(function, builder)


class _NoEnvironment:
    """Stands in for the code generator, which would look for the addresses of code that is not there."""

    def set_env(self, *_: Any) -> None:
        """Only code that calls back into Python needs an environment."""


class _LinkedLibrary(_DoorLibrary):
    """The code of a kernel, simplified by itself, to be linked into those that call it; it has no machine code."""

    codegen = property(lambda _: _NoEnvironment())

    def _optimize_final_module(self) -> None:
        """Left to the callers, who know more: doing it here too takes a quarter of a cold compile."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0  # nobody calls it from outside


@register_pass(mutates_CFG=True, analysis_only=False)
class _DoorLowering(NativeLowering):
    _name = "door_lowering"

    def run_pass(self, state: Any) -> bool:
        state["library"] = _DoorLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state["library"].enable_object_caching()
        return bool(super().run_pass(state))


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
        return bool(super().run_pass(state))


class _KernelCompiler(CompilerBase):
    lowering: type[NativeLowering]

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, return_type: Any, flags: Any, names: Any
    ) -> None:
        super().__init__(typing, target, library, args, return_type, _Flags(flags), names)

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (self.lowering if p is NativeLowering else p, text) for p, text in manager.passes if p not in _WITHOUT_USE
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


class DoorCompiler(_KernelCompiler):
    """Compiles what Python calls."""

    lowering = _DoorLowering


class LinkedCompiler(_KernelCompiler):
    """Compiles what kernels call."""

    lowering = _LinkedLowering
