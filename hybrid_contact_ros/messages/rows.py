"""A sequence of messages within a message as one array of records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.cdr import BEGIN, Layout
from hybrid_contact_ros.messages.definitions import PRIMITIVES, TEXT, fields

_WORD = 8  # bytes


class Rows:
    """Makes records of the entries of one sequence, in all messages of a layout.

    Where the entries lie at one distance, the records are a view of the message. Texts of different lengths move them
    apart; their numbers are then gathered, and the records are a copy that cannot be written to either.

    Args:
        layout: of the message. path: of the sequence. kind: type of its entries, whose texts are left out.
    """

    def __init__(self, layout: Layout, path: str, kind: str) -> None:
        self._count = layout.counts[path]
        columns = _columns(kind)
        # Bytes of the message for each column of each entry: (m, columns).
        at = np.array(
            [[layout.numbers[f"{path}.{i}.{first}"].offset for _, first, _, _ in columns] for i in range(self._count)],
            np.int64,
        ).reshape(self._count, len(columns))
        steps = np.diff(at, axis=0)
        self._first = int(at[0, 0]) if self._count else BEGIN
        self._step = int(steps[0, 0]) if steps.size else 0
        self._in_step = bool((steps == self._step).all())
        if self._in_step:
            offsets = at[0] - self._first if self._count else np.arange(len(columns)) * _WORD
            self._dtype = _record(columns, offsets.tolist())
        else:
            self._gather(columns, at)

    def of(self, data: bytes) -> NDArray[Any]:
        """The records (m,) of one message."""
        if self._count == 0:
            return np.zeros(0, self._dtype)
        if self._in_step:
            return np.ndarray((self._count,), self._dtype, data, self._first, (self._step,))
        out = np.empty((self._count, self._dtype.itemsize // _WORD), np.uint64)
        words = np.frombuffer(data, "<u8", (len(data) - BEGIN) // _WORD, BEGIN)
        out[:, : self._words.shape[1]] = words[self._words]
        out.view(np.uint8)[:, self._rest] = np.frombuffer(data, np.uint8)[self._octets]
        out.flags.writeable = False
        return out.view(self._dtype)[:, 0]

    def _gather(self, columns: list[tuple[str, str, str, int]], at: NDArray[np.int64]) -> None:
        """Words come first in the records, then what is smaller."""
        sizes = [np.dtype(f"<{code}").itemsize for _, _, code, _ in columns]
        words = [(column, size) for column, size in enumerate(sizes) if size == _WORD]
        small = [(column, size) for column, size in enumerate(sizes) if size < _WORD]
        offsets, end = [0] * len(columns), 0
        for column, size in (*words, *sorted(small, key=lambda each: -each[1])):
            offsets[column] = end
            end += size * columns[column][3]
        self._dtype = _record(columns, offsets, -(-end // _WORD) * _WORD)
        index = [(at[:, [c]] - BEGIN) // _WORD + np.arange(columns[c][3]) for c, _ in words]
        self._words = np.concatenate(index, axis=1)
        self._octets = np.concatenate([at[:, [c]] + np.arange(size) for c, size in small], axis=1)
        self._rest = np.concatenate([offsets[c] + np.arange(size) for c, size in small])


def _columns(kind: str) -> list[tuple[str, str, str, int]]:
    """Name, path of the first number, its code and how many of them, of each field but the texts. A field that is a
    message is a vector."""
    found = []
    for field in fields(kind):
        if field.kind in PRIMITIVES:
            found.append((field.name, field.name, PRIMITIVES[field.kind], 1))
        elif field.kind != TEXT:
            parts = fields(field.kind)
            found.append((field.name, f"{field.name}.{parts[0].name}", PRIMITIVES[parts[0].kind], len(parts)))
    return found


def _record(columns: list[tuple[str, str, str, int]], offsets: list[int], size: int = 0) -> np.dtype[Any]:
    ends = [
        offset + np.dtype(f"<{code}").itemsize * n for offset, (_, _, code, n) in zip(offsets, columns, strict=True)
    ]
    return np.dtype(
        {
            "names": [name for name, _, _, _ in columns],
            "formats": [f"<{code}" if n == 1 else (f"<{code}", (n,)) for _, _, code, n in columns],
            "offsets": offsets,
            "itemsize": size or max(ends),
        }
    )  # type: ignore[call-overload]
