"""A sequence of messages within a message as one array of records."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.cdr import BEGIN, Layout, texts_of
from hybrid_contact_ros.messages.definitions import PRIMITIVES, TEXT, fields


class Rows:
    """Makes records of the entries of one sequence, in all messages of a layout.

    Where the entries lie at one distance, the records are a view of the message. Texts of different lengths move them
    apart; their bytes are then put together, and the records are a copy that cannot be written to either.

    Args:
        layout: of the message. path: of the sequence. kind: type of its entries, whose texts are left out.
    """

    def __init__(self, layout: Layout, path: str, kind: str) -> None:
        self._count = layout.counts[path]
        columns = _columns(kind)
        # Bytes of the message for each column of each entry: (m, columns).
        at = np.array(
            [[layout.numbers[f"{path}.{i}.{column.first}"].offset for column in columns] for i in range(self._count)],
            np.int64,
        ).reshape(self._count, len(columns))
        steps = np.diff(at, axis=0)
        self._first = int(at[0, 0]) if self._count else BEGIN
        self._step = int(steps[0, 0]) if steps.size else 0
        self._in_step = bool((steps == self._step).all())
        if not self._count:
            self._none = np.zeros(0, _record(columns, np.cumsum([0, *(c.width for c in columns[:-1])]).tolist()))
            self._none.flags.writeable = False
        elif self._in_step:
            self._dtype = _record(columns, (at[0] - self._first).tolist())
        else:
            self._gather(columns, at)

    def of(self, data: bytes | memoryview) -> NDArray[Any]:
        """The records (m,) of one message."""
        if self._count == 0:
            return self._none
        if self._in_step:
            return np.ndarray((self._count,), self._dtype, data, self._first, (self._step,))
        return np.ndarray((self._count,), self._dtype, b"".join(self._pieces.unpack_from(data)))

    def _gather(self, columns: list[_Column], at: NDArray[np.int64]) -> None:
        """Columns that lie at one distance from each other in all entries are taken in one piece."""
        apart = [c for c in range(1, len(columns)) if (np.diff(at[:, c] - at[:, c - 1]) != 0).any()]
        firsts, lasts = [0, *apart], [*(c - 1 for c in apart), len(columns) - 1]
        ends = at[:, lasts] + [columns[last].width for last in lasts]
        pieces = np.stack((at[:, firsts], ends), axis=2).reshape(-1, 2)
        self._pieces = texts_of([(int(begin), int(end)) for begin, end in pieces])
        sizes = (ends - at[:, firsts])[0]
        piece = np.searchsorted(firsts, np.arange(len(columns)), side="right") - 1
        offsets = at[0] - at[0, firsts][piece] + (np.cumsum(sizes) - sizes)[piece]
        self._dtype = _record(columns, offsets.tolist(), int(sizes.sum()))


class _Column(NamedTuple):
    """A field of the entries.

    Attributes:
        name: of the field. first: path of its first number in an entry. code: of its numbers. size: how many.
    """

    name: str
    first: str
    code: str
    size: int

    @property
    def width(self) -> int:
        """Bytes of its numbers."""
        return np.dtype(f"<{self.code}").itemsize * self.size


def _columns(kind: str) -> list[_Column]:
    """Each field but the texts. A field that is a message is a vector."""
    found = []
    for field in fields(kind):
        if field.kind in PRIMITIVES:
            found.append(_Column(field.name, field.name, PRIMITIVES[field.kind], 1))
        elif field.kind != TEXT:
            parts = fields(field.kind)
            first = f"{field.name}.{parts[0].name}"
            found.append(_Column(field.name, first, PRIMITIVES[parts[0].kind], len(parts)))
    return found


def _record(columns: list[_Column], offsets: list[int], size: int = 0) -> np.dtype[Any]:
    return np.dtype(
        {
            "names": [c.name for c in columns],
            "formats": [f"<{c.code}" if c.size == 1 else (f"<{c.code}", (c.size,)) for c in columns],
            "offsets": offsets,
            "itemsize": size or max(at + c.width for at, c in zip(offsets, columns, strict=True)),
        }
    )  # type: ignore[call-overload]
