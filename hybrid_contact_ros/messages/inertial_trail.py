"""What an inertial unit measured lately, along which bases are carried."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.messages.inertial_trail import (
    add_measurement,
    carried_by_unit,
    compare_rates,
    covers,
    trail,
)
from hybrid_contact_ros.mechanics.sensors import ImuMeasurement

Array = NDArray[np.float64]

_GRAVITY = 9.81  # m/s²; axes of the world of odometry are z upwards
_KINEMATIC = 13


class InertialTrail:
    """The last measurements of a unit that has both rates and accelerations. Stamps are ns."""

    def __init__(self) -> None:
        self._trail = trail()
        self._place = np.zeros(3)

    def reset(self) -> None:
        """Forget all measurements."""
        self._trail.filled[0] = 0

    def add(self, measured: ImuMeasurement) -> None:
        """The next measurement."""
        if measured.angular_velocity is not None and measured.acceleration is not None:
            self._place = measured.place
            add_measurement(measured.stamp_ns, measured.angular_velocity, measured.acceleration, self._trail)

    @property
    def newest(self) -> int:
        """Stamp of the last measurement; 0 without one."""
        count = int(self._trail.filled[0])
        return int(self._trail.stamps[count - 1]) if count else 0

    def covers(self, start: int, end: int) -> bool:
        """Whether it is known what was between two stamps, whichever is the later one."""
        return bool(covers(min(start, end), max(start, end), self._trail))

    def carried(self, numbers: Array, start: int, end: int, off: Array) -> Array:
        """A base at ``end`` that was ``numbers`` at ``start``, both covered: pose (7) and twist in its own axes (6).

        ``off`` (2, 3): by how much rates and specific forces of the unit are too large.
        """
        out = np.empty(_KINEMATIC)
        carried_by_unit(start, end, _GRAVITY, self._place, off, self._trail, numbers, out)
        return out

    def compare(
        self, stamp: int, spin: Array, lags: NDArray[np.int64], half: int, keep: float, weight: Array, sums: Array
    ) -> bool:
        """Compare a rate with those of earlier times (:func:`~.kernels.messages.inertial_trail.compare_rates`)."""
        return bool(compare_rates(stamp, spin, lags, half, keep, self._trail, weight, sums))
