"""What can be seen of a long series, in few points. Pure functions of arrays.

A line of 300 000 points on 2000 pixels looks the same if of each column of pixels only the first, the least, the
greatest and the last value are kept (M4). Stretches that somebody will look at closely are kept whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Window = tuple[float, float]


def m4(t: Array, y: Array, columns: int, whole: Sequence[Window] = ()) -> NDArray[np.intp]:
    """The points of a line that draw the same picture.

    Args:
        t: (n,) rising, s. y: (n,); NaN where the line is interrupted.
        columns: number of columns over all of ``t``; of each at most four points stay, and what bounds a gap.
        whole: windows (begin, end), s, in which all points stay.

    Returns:
        indices that rise; all of them where that is not more than four a column.

    Example:
        >>> m4(np.arange(8.0), np.array([0.0, 1.0, 5.0, 2.0, 0.0, -3.0, 0.0, 1.0]), columns=1).tolist()
        [0, 2, 5, 7]
    """
    if t.size <= 4 * columns:
        return np.arange(t.size)
    span = float(t[-1] - t[0])
    column = (
        np.minimum(((t - t[0]) * (columns / span)).astype(np.intp), columns - 1) if span > 0 else np.zeros(t.size, int)
    )
    missing = np.isnan(y)
    begins = np.flatnonzero(np.diff(column, prepend=-1))
    least = np.lexsort((np.where(missing, np.inf, y), column))  # sorted within columns, which stand one after another
    greatest = np.lexsort((-np.where(missing, -np.inf, y), column))
    gap = np.flatnonzero(missing[1:] != missing[:-1])
    keep = np.zeros(t.size, bool)
    for chosen in (begins, np.append(begins[1:] - 1, t.size - 1), least[begins], greatest[begins], gap, gap + 1):
        keep[chosen] = True
    for begin, end in whole:
        keep[np.searchsorted(t, begin) : np.searchsorted(t, end, side="right")] = True
    return np.flatnonzero(keep)


def runs(t: Array, codes: NDArray[np.integer] | NDArray[np.bool_], last: float) -> tuple[Array, Array, Array]:
    """A series of codes as stretches of one value each, with the exact times of its changes.

    Args:
        t: (n,) rising, s. codes: (n,), each holds until the next time. last: where the last one ends, s.

    Returns:
        begins, ends and values of the stretches, in order.
    """
    if t.size == 0:
        return np.empty(0), np.empty(0), np.empty(0, codes.dtype)
    first = np.append(0, np.flatnonzero(codes[1:] != codes[:-1]) + 1)
    begins = t[first]
    return begins, np.append(begins[1:], max(last, float(t[-1]))), codes[first]


def merged(begins: Array, ends: Array, most: int) -> tuple[Array, Array, float]:
    """Stretches of one value, joined over their shortest pauses until there are at most ``most``.

    Returns:
        begins, ends, and the longest pause that was closed, s: 0 where every edge stays as it was.
    """
    if begins.size <= most:
        return begins, ends, 0.0
    pauses = begins[1:] - ends[:-1]
    order = np.argsort(pauses, kind="stable")
    closed, kept = order[: begins.size - most], np.sort(order[begins.size - most :])
    return begins[np.append(0, kept + 1)], ends[np.append(kept, begins.size - 1)], float(pauses[closed[-1]])
