"""How noisy the measured velocities are, learned from the states themselves: for robots that state no covariance.

Over a few milliseconds v is nearly quadratic in time, and noise is not: in divided differences of third order, Σ wₖ vₖ
with wₖ = 1/∏ⱼ(tₖ − tⱼ), smooth motion cancels, and independent noise of σ leaves σ ‖w‖. Their median over the last
states, per coordinate, is not moved by contact events, which come seldom. What the noise of states 4 ms apart has in
common cannot be told from motion: velocities that a slow filter smooths look better than they are.
"""

from __future__ import annotations

from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.estimation.difference_noise import ORDER, difference_noise
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE

Array = NDArray[np.float64]

_SEEN = 256  # states that are remembered: of 1 kHz, a stride, so that its contact events are the smaller part of it
_SPACING = 900_000  # ns between them at least
# s, between the states of a difference: joints leave 0.0015 rad/s (0.003 at 200 Hz, and of the second order 0.022), and
# a filter of 30 Hz hides a third
_APART = 0.004
_FEWEST = 3  # differences that tell something
_MEDIAN = NormalDist().inv_cdf(0.75)  # of |x|, x of variance 1


class _Run(NamedTuple):
    """States in the order in which they came. A row is written once, and never again."""

    stamps: NDArray[np.int64]  # (k,) ns
    values: Array  # (k, nv)


class VelocitiesSeen:
    """The last velocities of :class:`VelocityNoise`, for any thread: nobody writes them any more."""

    def __init__(self, runs: tuple[_Run, ...]) -> None:
        """runs: the earlier ones first."""
        self._runs = runs

    @cached_property
    def times(self) -> Array:
        """Of the states (k,), s, ascending; that of the last is 0."""
        stamps = np.concatenate([run.stamps for run in self._runs])
        return 1e-9 * (stamps - stamps[-1:]).astype(np.float64)

    @cached_property
    def values(self) -> Array:
        """What was seen of each state (k, nv)."""
        return np.concatenate([run.values for run in self._runs])

    @cached_property
    def sigma(self) -> Array:
        """Standard deviation (nv,) of the noise in v, per coordinate; 0 where too little was seen.

        A coordinate that repeats its value to the bit was not measured anew: odometry may be slower than the joints.
        """
        times, values = self.times, self.values
        sigma = np.zeros(values.shape[1])
        if len(values) <= ORDER:
            return sigma
        changed = values[1:] != values[:-1]
        if changed.all():
            return _sigma(times, values)
        fresh = np.ones(values.shape, dtype=np.bool_)
        fresh[1:] = changed
        groups: dict[bytes, list[int]] = {}  # of coordinates that were measured together
        for j in range(values.shape[1]):
            groups.setdefault(fresh[:, j].tobytes(), []).append(j)
        for columns in groups.values():
            rows = np.flatnonzero(fresh[:, columns[0]])
            sigma[columns] = _sigma(times[rows], values[rows][:, columns])
        return sigma


class VelocityNoise:
    """The last velocities of a stream of states, or other values that motion changes smoothly."""

    def __init__(self, nv: int, seen: int = _SEEN) -> None:
        """seen: states that are remembered."""
        self._seen, self._nv = seen, nv
        self.reset()

    def reset(self) -> None:
        """Forget all states."""
        self._before: _Run | None = None  # a full one
        self._now = self._empty()
        self._count, self._last = 0, 0  # rows of the one that is being filled

    def _empty(self) -> _Run:
        return _Run(np.empty(self._seen, dtype=np.int64), np.empty((self._seen, self._nv)))

    def add(self, stamp_ns: int, *parts: NDArray[np.floating]) -> None:
        """The next state; its v (nv,), in one part or more. One that follows the last too closely is left out."""
        count = self._count
        if count and stamp_ns - self._last < _SPACING:
            return
        if count == self._seen:
            # Rows that a snapshot may show are never written again, so that it need not be a copy of them.
            self._before, self._now, count = self._now, self._empty(), 0
        self._last, self._count = stamp_ns, count + 1
        stamps, values = self._now
        stamps[count] = stamp_ns
        row, begin = values[count], 0
        for part in parts:
            row[begin : begin + part.size] = part
            begin += part.size

    def seen(self) -> VelocitiesSeen:
        """What was seen until now, for another thread."""
        count, before = self._count, self._before
        now = _Run(self._now.stamps[:count], self._now.values[:count])
        if before is None or count == self._seen:
            return VelocitiesSeen((now,))
        return VelocitiesSeen((_Run(before.stamps[count:], before.values[count:]), now))


def _sigma(times: Array, values: Array) -> Array:
    """Of the noise of values (k, c) measured at these times (k,) s, ascending."""
    sigma = np.zeros(values.shape[1])
    if times.size < ORDER + _FEWEST:
        return sigma
    # Every so many states apart; of few states, so few that half of them begin a difference.
    apart = np.sort(times[1:] - times[:-1])
    step = round(_APART / (0.5 * float(apart[(apart.size - 1) // 2] + apart[apart.size // 2])))
    step = max(1, min(step, times.size // (2 * ORDER)))
    scratch = np.empty((ORDER + 1, times.size)), np.empty(times.size)
    difference_noise(step, LONGEST_PAUSE, _FEWEST, _MEDIAN, times, np.ascontiguousarray(values), *scratch, sigma)
    return sigma


def warm() -> None:
    """Compile the kernel."""
    _sigma(np.arange(12.0), np.zeros((12, 1)))
