"""Streams whose numbers stay as they were while their stamps go on: a driver that repeats its last measurement.

Of a robot at rest nothing need change. But where velocities say that something moves, its positions change: numbers
that are the same to the bit for a quarter of a second are then no measurements, and who believes them sees a foot in
the air for as long as they last. They are told and not refused: who tries a node out publishes one message again and
again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_HELD_NS, _TIMES = 250_000_000, 10  # a slow odometry may be republished for as long; and so often
_PAUSE_NS = 200_000_000  # after which a stream begins anew
_WAY = 0.01  # rad or m, by which velocities say that something moved meanwhile


class Frozen:
    """Looks for such a stretch in one stream."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the stream."""
        self._numbers: tuple[Array, Array] | None = None
        self._since = self._last = self._times = 0

    def add(self, stamp: int, positions: Array, velocities: Array) -> str:
        """A measurement with its stamp, ns: why it is none, in words, or nothing. The arrays are kept, not copied."""
        last, paused = self._numbers, not 0 <= stamp - self._last <= _PAUSE_NS
        same = last is not None and np.array_equal(last[0], positions) and np.array_equal(last[1], velocities)
        self._last = stamp
        if paused or not same:
            self._numbers, self._since, self._times = (positions, velocities), stamp, 0
            return ""
        held = stamp - self._since
        self._times += 1
        if held < _HELD_NS or self._times < _TIMES or not velocities.size:
            return ""
        seconds, fastest = 1e-9 * held, float(np.abs(velocities).max())
        if seconds * fastest < _WAY:
            return ""
        return f"all numbers are the same for {seconds:.2g} s, in which velocities of {fastest:.2g} move something"
