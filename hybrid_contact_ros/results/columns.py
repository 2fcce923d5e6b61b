"""Columns of a table that grow a block at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


class Columns:
    """Blocks of rows, kept as they come and joined at the end: no block is ever copied to grow.

    Args:
        layout: for each column the shape of a row, and its type.

    Example:
        >>> columns = Columns({"gap": ((2,), np.float32)})
        >>> columns.extend({"gap": [[0.5, 1.0], [2.0, 3.0]]})
        >>> columns.joined()["gap"].shape
        (2, 2)
    """

    def __init__(self, layout: Mapping[str, tuple[tuple[int, ...], DTypeLike]]) -> None:
        self._layout = dict(layout)
        self._blocks: dict[str, list[NDArray[Any]]] = {name: [] for name in layout}

    def extend(self, rows: Mapping[str, ArrayLike]) -> None:
        """Add a block: of each column its rows. A copy is kept.

        Raises:
            ValueError: a column is missing or unknown, or a row has another shape.
        """
        if rows.keys() != self._layout.keys():
            raise ValueError(f"columns {sorted(rows)} were given, {sorted(self._layout)} are needed")
        for name, (shape, kind) in self._layout.items():
            with np.errstate(over="ignore"):  # what float32 does not hold becomes infinite
                block = np.array(rows[name]).astype(kind)
            self._blocks[name].append(block.reshape((-1, *shape)))

    def joined(self) -> dict[str, NDArray[Any]]:
        """All rows so far, by column."""
        return {
            name: np.concatenate([np.empty((0, *shape), kind), *self._blocks[name]])
            for name, (shape, kind) in self._layout.items()
        }
