"""Kernels that are called for every state, with arguments of the same types each time."""

from __future__ import annotations

from functools import partial
from typing import Any

from numba import typeof


class Bound:
    """A door whose first arguments are given once and for all.

    numba looks at the type of every argument of every call, which of a hundred arrays takes as long as a small kernel.
    The first call goes that way, and is refused where nothing is compiled for it; later ones go straight to the machine
    code that it found, and nothing looks at their types again: an array of another type would be read and written as if
    it were of that type. It is for callers that make all arrays themselves.

    Attributes:
        call: takes the arguments that are left.
    """

    def __init__(self, door: Any, *given: Any) -> None:
        self._door, self._given = door, given
        self.call: Any = self._first

    def _first(self, *rest: Any) -> Any:
        arguments = (*self._given, *rest)
        answer = self._door(*arguments)
        compiled = self._door.overloads.get(tuple(map(typeof, arguments)))
        # Without machine code of just these types (numba converts numbers on its own) every call goes the long way.
        entry = self._door if compiled is None else compiled.entry_point
        self.call = partial(entry, *self._given)
        return answer
