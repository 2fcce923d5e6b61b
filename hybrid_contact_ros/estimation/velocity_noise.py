"""How noisy the measured velocities are, learned from the states themselves: for robots that state no covariance.

Over a few milliseconds v is nearly quadratic in time, and noise is not: in divided differences of third order, Σ wₖ vₖ
with wₖ = 1/∏ⱼ(tₖ − tⱼ), smooth motion cancels, and independent noise of σ leaves σ ‖w‖. Their median over the last
states, per coordinate, is not moved by contact events, which come seldom. What the noise of states 4 ms apart has in
common cannot be told from motion: velocities that a slow filter smooths look better than they are.
"""

from __future__ import annotations

from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE

Array = NDArray[np.float64]

_SEEN = 256  # states that are remembered: of 1 kHz, a stride, so that its contact events are the smaller part of it
_SPACING = 900_000  # ns between them at least
_ORDER = 3  # of the differences: at 200 Hz a Go2's joints leave 0.003 rad/s in a trot, and 0.022 of the second order
_APART = 0.004  # s, between the states of a difference: joints leave 0.0015 rad/s, and a filter of 30 Hz hides a third
_FEWEST = 3  # differences that tell something
_MEDIAN = NormalDist().inv_cdf(0.75)  # of |x|, x of variance 1


class VelocitiesSeen:
    """A copy of the last velocities of :class:`VelocityNoise`."""

    def __init__(self, times: Array, values: Array) -> None:
        """times: (k,) s, ascending. values: v (k, nv)."""
        self.times, self.values = times, values

    @cached_property
    def sigma(self) -> Array:
        """Standard deviation (nv,) of the noise in v, per coordinate; 0 where too little was seen.

        A coordinate that repeats its value to the bit was not measured anew: odometry may be slower than the joints.
        """
        values = self.values
        sigma = np.zeros(values.shape[1])
        if len(values) <= _ORDER:
            return sigma
        fresh = np.ones(values.shape, dtype=np.bool_)
        np.not_equal(values[1:], values[:-1], out=fresh[1:])
        groups: dict[bytes, list[int]] = {}  # of coordinates that were measured together
        for j in range(values.shape[1]):
            groups.setdefault(fresh[:, j].tobytes(), []).append(j)
        for columns in groups.values():
            rows = np.flatnonzero(fresh[:, columns[0]])
            sigma[columns] = _sigma(self.times[rows], values[rows][:, columns])
        return sigma


class VelocityNoise:
    """The last velocities of a stream of states, or other values that motion changes smoothly."""

    def __init__(self, nv: int, seen: int = _SEEN) -> None:
        """seen: states that are remembered."""
        self._seen = seen
        self._stamps = np.zeros(seen, dtype=np.int64)
        self._values = np.zeros((seen, nv))
        self._count, self._last = 0, 0

    def reset(self) -> None:
        """Forget all states."""
        self._count = 0

    def add(self, stamp_ns: int, v: NDArray[np.floating]) -> None:
        """The next state; its v (nv,). One that follows the last too closely is left out."""
        count = self._count
        if count and stamp_ns - self._last < _SPACING:
            return
        self._last, self._count = stamp_ns, count + 1
        place = count % self._seen
        self._stamps[place] = stamp_ns
        self._values[place] = v

    def seen(self) -> VelocitiesSeen:
        """A copy for another thread."""
        count, place = self._count, self._count % self._seen
        if count <= self._seen:
            stamps, values = self._stamps[:count], self._values[:count].copy()
        else:
            stamps = np.concatenate((self._stamps[place:], self._stamps[:place]))
            values = np.concatenate((self._values[place:], self._values[:place]))
        return VelocitiesSeen(1e-9 * (stamps - self._last).astype(np.float64), values)


def _sigma(times: Array, values: Array) -> Array:
    """Of the noise of values (k, c) measured at these times (k,) s, ascending."""
    none = np.zeros(values.shape[1])
    if times.size < _ORDER + _FEWEST:
        return none
    # Every so many states apart; of few states, so few that half of them begin a difference.
    step = round(_APART / float(np.median(np.diff(times))))
    step = max(1, min(step, times.size // (2 * _ORDER)))
    k = times.size - _ORDER * step
    parts = [slice(i * step, i * step + k) for i in range(_ORDER + 1)]
    span = times[parts[-1]] - times[parts[0]]
    weights = np.ones((_ORDER + 1, k))
    for i, one in enumerate(parts):
        for j, other in enumerate(parts):
            if j != i:  # in parts of the span, so that nothing becomes large
                weights[i] *= span / (times[one] - times[other])
    weights /= np.sqrt(np.square(weights).sum(axis=0))
    whole = span <= LONGEST_PAUSE
    if np.count_nonzero(whole) < _FEWEST:
        return none
    left = np.zeros((values.shape[1], k))
    for weight, one in zip(weights, parts, strict=True):
        left += weight * values[one].T
    return np.asarray(np.median(np.abs(left[:, whole]), axis=1) / _MEDIAN)
