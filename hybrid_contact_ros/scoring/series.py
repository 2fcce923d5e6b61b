"""Rows that are appended one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Series:
    """Rows of ``width`` entries, appended one at a time into memory that doubles when it is full.

    Example:
        >>> series = Series(2, np.float64)
        >>> series.append((1.0, 2.0))
        >>> series.rows
        array([[1., 2.]])
    """

    def __init__(self, width: int, dtype: type) -> None:
        self._data: NDArray[Any] = np.empty((1024, width), dtype)
        self._rows = 0

    def append(self, row: Any) -> None:
        if self._rows == self._data.shape[0]:
            self._data = np.concatenate((self._data, np.empty_like(self._data)))
        self._data[self._rows] = row
        self._rows += 1

    @property
    def rows(self) -> NDArray[Any]:
        """The rows so far (n, width), a view."""
        return self._data[: self._rows]
