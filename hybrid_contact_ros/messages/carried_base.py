"""Bases that are carried along their twist to another stamp, and how far to believe them there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.messages.measurements import MissedMemory, note_missed
from hybrid_contact_ros.messages.odometry import Base

Array = NDArray[np.float64]

_REMEMBERED = 0.5  # s, of what bases missed
_LONGEST = 0.2  # s between two bases that still tell how the base moves
_USUAL = np.array([0.1, 10.0])  # m/s and rad/s, m/s² and rad/s², of pose and twist
_LATE = 0.005  # s, by which the stamps of an odometry that comes by itself are later than what they measure, unseen
_FURTHEST = 5.0  # times what was missed lately, or as usual: more is a jump of the odometry, and counts as that


class CarriedBases:
    """Learns from each new base by how much the one before, carried to its stamp, misses it.

    A base that accelerates by a leaves the velocity that it is carried with by a t after t, and the place that this
    velocity leads to by a t² / 2 or, where pose and twist of an odometry do not agree, in proportion to t. Both are
    taken as proportional to t, with the mean squares (and products) of what was missed in the last half second; the
    odometry's own noise is a part of that. A jump, as of a map that found itself again, is no motion: it counts little.
    Nobody knows how late the odometry itself is: a base is believed like one that is some milliseconds older.
    """

    def __init__(self) -> None:
        self._memory = MissedMemory(
            np.zeros((3, 3)), np.zeros(13), np.zeros((2, 6)), seen=np.zeros(1), rates=np.zeros((2, 6, 6))
        )

    def reset(self) -> None:
        """Forget all bases."""
        self._memory.seen[:] = 0.0
        self._memory.rates[:] = 0.0

    def note(self, before: Base, seconds: float, base: Base) -> None:
        """A base was measured, so many seconds after the one ``before``."""
        if not 0.0 < seconds <= _LONGEST:
            return
        note_missed(seconds, _REMEMBERED, _FURTHEST, _USUAL, before.numbers, base.numbers, *self._memory)

    def at(self, base: Base, seconds: float) -> Base:
        """The base so many seconds later (:meth:`~.odometry.Base.at`), with what that adds to its covariance."""
        there = base.at(seconds)
        seen = float(self._memory.seen[0])
        if seconds == 0.0 or seen == 0.0:
            return there
        added = ((seconds * seconds + _LATE * _LATE) / seen) * self._memory.rates
        return there._replace(carried=added, covariance=None if base.covariance is None else base.covariance + added)
