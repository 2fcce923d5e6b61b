"""Velocities of joints whose driver publishes positions alone: slopes of the positions of the last few milliseconds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

WINDOW = 0.008
"""s; the slope is that of the positions of this last while, and half as old. ``docs/inputs.md`` has what other
ones cost."""
LEAST = 3
"""Positions that a slope is of at least. Slower streams have their last three."""
LONGEST = 0.15
"""s; positions that are older say nothing of the velocity now, however slow the stream."""
_TURN = 2.0 * math.pi


class PositionSlopes:
    """The least-squares slope of each joint's positions over :data:`WINDOW`.

    A straight line, because the noise of a parabola's slope at its end is four times that of a line's, and feet that
    land change their velocity within one sample anyway. Lost messages do no harm: times are those of the stamps.
    """

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._stamps: list[int] = []
        self._positions: list[NDArray[np.float64]] = []

    def forget(self) -> None:
        """The next positions do not go on where the last ones ended."""
        self._stamps.clear()
        self._positions.clear()

    def withdraw(self, stamp_ns: int) -> None:
        """The positions of a stamp were refused: slopes are not to be of them."""
        if self._stamps and self._stamps[-1] == stamp_ns:
            del self._stamps[-1], self._positions[-1]

    def add(self, stamp_ns: int, names: tuple[str, ...], positions: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The velocities at a stamp, or None until there are enough positions.

        Args:
            stamp_ns: where it is not later than that of the positions before, the clock was set: these are forgotten.
            names: of the joints; other ones than before are another stream.
            positions: rad or m, in the order of ``names``. Angles may jump by whole turns.
        """
        if names != self._names or (self._stamps and stamp_ns <= self._stamps[-1]):
            self.forget()
            self._names = names
        self._stamps.append(stamp_ns)
        self._positions.append(np.array(positions, dtype=np.float64))
        ages = [1e-9 * (stamp_ns - stamp) for stamp in self._stamps]
        n = len(ages)
        first = next(i for i in range(n) if ages[i] <= LONGEST and (ages[i] <= WINDOW + 1e-9 or n - i <= LEAST))
        del self._stamps[:first], self._positions[:first]
        if n - first < LEAST:
            return None
        times = -np.array(ages[first:])
        times -= times.mean()
        moved = np.array(self._positions) - self._positions[-1]
        moved -= _TURN * np.round(moved / _TURN)  # no joint turns half a turn (or moves by 3 m) within the window
        slopes: NDArray[np.float64] = times @ moved / (times @ times)
        return slopes
