"""Bases that are carried to another stamp, along their twist or along what an inertial unit measured meanwhile, and how
far to believe them there."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.messages.measurements import MissedMemory, note_missed
from hybrid_contact_ros.messages.inertial_trail import InertialTrail
from hybrid_contact_ros.messages.odometry import Base
from hybrid_contact_ros.messages.odometry_lag import OdometryLag

Array = NDArray[np.float64]

_REMEMBERED = 0.5  # s, of what bases missed
_SOONEST, _LONGEST = 4_000_000, 200_000_000  # ns between two bases that tell how the base moves
_USUAL = np.array([0.1, 10.0])  # m/s and rad/s, m/s² and rad/s², of pose and twist
_LATE = 0.005  # s, by which the stamps of an odometry that comes by itself are later than what they measure, unseen
_LATE_STILL = 0.002  # s, by which they are where that is measured and made up for
_FURTHEST = 5.0  # times what was missed lately, or as usual: more is a jump of the odometry, and counts as that
_RATES, _FORCES = 1.0, 5.0  # s, over which it is learned by how much a unit's rates and specific forces are too large
_TURNS, _PUSHES = 0.5, 5.0  # rad/s and m/s²: more in one base is a jump of the odometry, and counts as that


class CarriedBases:
    """Learns from each new base by how much the one before, carried to its stamp, misses it.

    A base that accelerates by a leaves the velocity that it is carried with by a t after t, and the place that this
    velocity leads to by a t² / 2 or, where pose and twist of an odometry do not agree, in proportion to t. Both are
    taken as proportional to t, with the mean squares (and products) of what was missed in the last half second; the
    odometry's own noise is a part of that. A jump, as of a map that found itself again, is no motion: it counts little.
    Nobody knows how late the odometry itself is: a base is believed like one that is some milliseconds older.

    With an inertial unit, bases are carried along their twist, along what the unit measured, or along that from an
    earlier time on, by which the odometry seems to be late: by what missed least lately.

    Args:
        unit: what an inertial unit measured lately; None without one.
    """

    def __init__(self, unit: InertialTrail | None = None) -> None:
        self._twist = _Way()
        self._ways = [self._twist]
        self._lag = None if unit is None else OdometryLag(unit)
        if unit is not None:
            self._ways += [_UnitWay(unit, None), _UnitWay(unit, self._lag)]
        self._noted: tuple[int, Base] | None = None
        self._best = self._twist

    def reset(self) -> None:
        """Forget all bases."""
        for way in self._ways:
            way.reset()
        if self._lag is not None:
            self._lag.reset()
        self._noted, self._best = None, self._twist

    def note(self, base: Base, base_ns: int, carried: bool = True) -> None:
        """A base was measured, at a stamp (ns). ``carried``: whether bases of its stream are carried to other stamps;
        those of a late odometry are in any case."""
        if self._lag is not None:
            self._lag.note(base_ns, base.numbers[10:13])
            carried = carried or self._lag.ns > 0
        if not carried:
            self._noted = None
            return
        before = self._noted
        if before is not None and 0 < base_ns - before[0] < _SOONEST:
            return
        self._noted = base_ns, base
        if before is not None and 0 < base_ns - before[0] <= _LONGEST:
            for way in self._ways:
                way.note(before[1], before[0], base, base_ns)
            self._best = min(self._ways, key=_Way.missed)

    def at(self, base: Base, measured_ns: int, wanted_ns: int) -> Base:
        """The base at another stamp (ns), with what carrying it there adds to its covariance."""
        way = self._best
        numbers = way.carried(base, measured_ns, wanted_ns)
        if numbers is None:
            way, numbers = self._twist, base.at(1e-9 * (wanted_ns - measured_ns)).numbers
        if numbers is base.numbers:
            return base
        there = Base(numbers, base.covariance, base.twist_in_world, late=1e-9 * way.earlier)
        rates, missed = way.mean, self._twist.mean
        if rates is None or missed is None:
            return there
        seconds = 1e-9 * (wanted_ns - measured_ns + way.earlier)
        late = _LATE_STILL if way.earlier else _LATE
        added = seconds * seconds * rates + late * late * missed
        return there._replace(carried=added, covariance=None if base.covariance is None else base.covariance + added)


class _Way:
    """Bases carried along their twist, and what those missed lately.

    Attributes:
        mean: mean products (2, 6, 6) of the rates of what was missed; None before the first.
    """

    def __init__(self) -> None:
        self._memory = MissedMemory(
            np.zeros((3, 3)), np.zeros(13), np.zeros((2, 6)), seen=np.zeros(1), rates=np.zeros((2, 6, 6))
        )
        self.mean: Array | None = None

    def reset(self) -> None:
        """Forget all bases."""
        self._memory.seen[:] = 0.0
        self._memory.rates[:] = 0.0
        self.mean = None

    @property
    def earlier(self) -> int:
        """ns, by which bases are older than their stamps."""
        return 0

    def carried(self, base: Base, start: int, end: int) -> Array | None:
        """Numbers of a base at another stamp; None where this way does not lead there."""
        return base.at(1e-9 * (end - start)).numbers

    def note(self, before: Base, before_ns: int, base: Base, base_ns: int) -> None:
        """Take what the base before misses at the stamp of the next one."""
        there = self.carried(before, before_ns, base_ns - self.earlier)
        if there is None:
            self.reset()
            return
        seconds = 1e-9 * (base_ns - before_ns)
        self._memory.there[:] = there[:13]
        note_missed(seconds, _REMEMBERED, _FURTHEST, _USUAL, base.numbers, *self._memory)
        seen = float(self._memory.seen[0])
        self.mean = self._memory.rates / seen if seen > 0.0 else None  # zero after numbers that are none
        self._learn(seconds, self._memory.out[1])

    def _learn(self, seconds: float, missed: Array) -> None:
        """Learn from the rates (6,) at which the twist was missed."""

    def missed(self) -> float:
        """How much of the linear velocity was missed, m²/s⁴; infinite before the first. Rates do not count: those of an
        odometry may be low-passed, and later than its velocity."""
        return math.inf if self.mean is None else float(self.mean[1, :3, :3].trace())


class _UnitWay(_Way):
    """Bases carried along what an inertial unit measured, from their stamps on or from a ``lag`` earlier.

    By how much the unit's rates and specific forces are too large is learned: the rates have a bias, and against those
    of the odometry that of the odometry as well; specific forces have one, and lean as the attitude does.
    """

    def __init__(self, unit: InertialTrail, lag: OdometryLag | None) -> None:
        super().__init__()
        self._unit, self._lag = unit, lag
        self._off = np.zeros((2, 3))  # rad/s, m/s²
        self._seconds = 0.0  # since rates are compared

    def reset(self) -> None:
        super().reset()
        self._off[:] = 0.0
        self._seconds = 0.0

    @property
    def earlier(self) -> int:
        return 0 if self._lag is None else self._lag.ns

    def carried(self, base: Base, start: int, end: int) -> Array | None:
        start -= self.earlier
        if (self._lag is not None and not self.earlier) or not self._unit.covers(start, end):
            return None
        return base.numbers if start == end else self._unit.carried(base.numbers, start, end, self._off)

    def _learn(self, seconds: float, missed: Array) -> None:
        if not np.isfinite(missed).all():
            return
        self._seconds += seconds
        share = max(-math.expm1(-seconds / _RATES), seconds / self._seconds)
        self._off[0] -= share * np.clip(seconds * missed[3:], -_TURNS, _TURNS)
        self._off[1] += math.expm1(-seconds / _FORCES) * np.clip(missed[:3], -_PUSHES, _PUSHES)
