"""Arguments that a kernel is given once and for all, in a table that its machine code reads.

Python hands an array to machine code through a conversion of some 50 ns. A door that is called for every state with
three hundred arrays, the same ones each time, would spend more time on that than on what it computes. A :class:`Given`
notes once where the arrays lie; its door gets the address of that table, as one argument, and takes them from there
with :func:`members`:

    @kernel
    def update_given(given, dt):
        return update(*members(given), dt)

The table holds neither references nor types: the object keeps the arrays alive, and its numba type is made of theirs,
so that other types are other machine code, as with any argument.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array

_WORD = ir.IntType(64)


class GivenType(types.Type):  # type: ignore[misc]
    """The numba type of a :class:`Given` with members of these types."""

    def __init__(self, members: tuple[types.Type, ...]) -> None:
        self.members = members
        digest = hashlib.sha256(repr([str(member) for member in members]).encode()).hexdigest()[:16]
        # The name is the key of the disk cache, and a part of the name of the machine code: it must not be long.
        super().__init__(name=f"Given_{len(members)}_{digest}")


class Given:
    """Arrays (aligned, C-contiguous), numbers and truths, for :func:`members`.

    The arrays are read and written by the kernel where they lie now. Numbers and truths are those of now.

    Raises:
        TypeError: a member of another kind.
    """

    def __init__(self, *members: Any) -> None:
        kinds = tuple(typeof(member) for member in members)
        words: list[int] = []
        for member, kind in zip(members, kinds, strict=True):
            if isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned:
                words += [member.ctypes.data, *member.shape, *member.strides]
            elif kind == types.float64:
                words.append(int(np.float64(member).view(np.int64)))
            elif kind in (types.int64, types.boolean):
                words.append(int(member))
            else:
                raise TypeError(f"a kernel cannot be given {kind} once and for all")
        self._members, self._table = members, np.array(words, dtype=np.int64)
        self.address = self._table.ctypes.data
        self.numba_type = GivenType(kinds)


@typeof_impl.register(Given)
def _type(value: Given, _: Any) -> GivenType:
    return value.numba_type


@register_model(GivenType)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    """The address of the table."""

    def __init__(self, manager: Any, kind: GivenType) -> None:
        super().__init__(manager, kind, _WORD)


@unbox(GivenType)  # type: ignore[untyped-decorator]
def _address(_: GivenType, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(address, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@intrinsic  # type: ignore[untyped-decorator]
def members(_: Any, given: GivenType) -> Any:
    """The members of a :class:`Given`, as a tuple; for kernels."""
    if not isinstance(given, GivenType):
        return None

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, at = builder.inttoptr(arguments[0], _WORD.as_pointer()), 0

        def words(count: int) -> list[Any]:
            nonlocal at
            at += count
            return [builder.load(builder.gep(table, [_WORD(at - count + k)])) for k in range(count)]

        values = []
        for kind in given.members:
            if isinstance(kind, types.Array):
                data, *sizes = words(1 + 2 * kind.ndim)
                array = make_array(kind)(context, builder)
                populate_array(
                    array,
                    data=builder.inttoptr(data, array.data.type),
                    shape=sizes[: kind.ndim],
                    strides=sizes[kind.ndim :],
                    itemsize=context.get_constant(types.intp, context.get_abi_sizeof(array.data.type.pointee)),
                    meminfo=None,  # nobody counts references: the Given has one
                )
                values.append(array._getvalue())
            else:
                (word,) = words(1)
                value = context.get_value_type(kind)
                as_value = builder.bitcast if kind == types.float64 else builder.trunc
                values.append(word if kind == types.int64 else as_value(word, value))
        return context.make_tuple(builder, signature.return_type, values)

    return types.Tuple(given.members)(given), code
