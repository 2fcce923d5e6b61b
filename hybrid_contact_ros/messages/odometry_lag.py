"""How much later than its stamps an odometry is, by the rates of an inertial unit."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.inertial_trail import InertialTrail

Array = NDArray[np.float64]

_STEP = 2_000_000  # ns between two lags that are looked at
_LAGS = np.arange(-2, 21, dtype=np.int64) * _STEP
_ZERO = int(np.flatnonzero(_LAGS == 0)[0])
_HALF = 4_000_000  # ns, half of the time over which the unit's rates are a mean, so that all lags have as much noise
_WAITING = 16  # odometries, until the unit has measured what came after them
_OFTEN = 4_000_000  # ns between two odometries that are looked at, at least
_PAUSE = 0.1  # s: more between two counts as that
_RECALL = 10.0  # s, over which a lag is learned
_SEEN = 1.0  # s of that, before anything is known
_BETTER = 1.3  # times the squares that are left with the lag, without it
_LEAST = 1_000_000  # ns: less is none
_ANEW = 0.02  # s, after which the lag is looked for anew
_FOLLOWS = 0.02  # s/s, by which what is made up for follows what is found


class OdometryLag:
    """Learns the lag at which the rates of an odometry are most like those of an inertial unit.

    Of each axis the mean difference is left out: units have a bias. What is found is made up for by degrees, so that
    no base jumps.

    Attributes:
        ns: the lag that is made up for.
    """

    def __init__(self, trail: InertialTrail) -> None:
        self._trail = trail
        self._weight, self._sums = np.zeros(1), np.zeros((_LAGS.size, 3, 2))
        self.reset()

    def reset(self) -> None:
        """Forget all odometries."""
        self._weight[:], self._sums[:] = 0.0, 0.0
        self._waiting: list[tuple[int, Array]] = []
        self._last = 0
        self._seconds = 0.0  # since the first, with forgetting
        self._target, self._since = 0, 0.0  # what was found, ns, and so many s ago
        self.ns = 0

    def note(self, stamp: int, spin: Array) -> None:
        """An odometry with a rate (3,) has come, in the order of stamps."""
        if self._waiting and 0 <= stamp - self._waiting[-1][0] < _OFTEN:
            return
        self._waiting.append((stamp, spin))
        del self._waiting[:-_WAITING]
        newest = self._trail.newest
        while self._waiting and self._waiting[0][0] + _HALF - _LAGS[0] <= newest:
            at, rate = self._waiting.pop(0)
            seconds = min(max(1e-9 * (at - self._last), 0.0), _PAUSE)  # below 0: the clock was set
            keep = math.exp(-seconds / _RECALL)
            if self._trail.compare(at, rate, _LAGS, _HALF, keep, self._weight, self._sums):
                self._last = at
                self._seconds = keep * self._seconds + seconds
                self._follow(seconds)

    def _follow(self, seconds: float) -> None:
        self._since += seconds
        if self._since >= _ANEW:
            self._target, self._since = self._found(), 0.0
        most = round(1e9 * _FOLLOWS * seconds)
        self.ns += min(max(self._target - self.ns, -most), most)

    def _found(self) -> int:
        """The lag (ns) at which least is left, where that is certainly less than without one; else 0."""
        if self._seconds < _SEEN:
            return 0
        sums = self._sums / self._weight[0]
        left = (sums[:, :, 1] - sums[:, :, 0] ** 2).sum(axis=1)
        k = int(left.argmin())
        if not 0 < k < _LAGS.size - 1 or not left[_ZERO] > _BETTER * left[k]:
            return 0
        before, least, after = left[k - 1 : k + 2].tolist()
        bend = before - 2.0 * least + after
        lag = float(_LAGS[k]) + (0.5 * _STEP * (before - after) / bend if bend > 0.0 else 0.0)
        return round(lag) if lag >= _LEAST else 0
