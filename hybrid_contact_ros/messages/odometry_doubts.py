"""Odometry whose pose and twist are not those of one motion: other axes, another order of the quaternion, other units.

Over a second a base moves by the integral of its velocity, whatever moves it. Where it does not, again and again, the
twist is in other axes than ``nav_msgs/Odometry`` says (of the world instead of ``child_frame_id``), the quaternion is
not x, y, z, w, or one of the two is not in metres. A quaternion that begins with w has a level base upside down, which
may walk along as its twist says. Nothing is corrected: it is told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.rotation import rotation_matrix
from hybrid_contact_ros.messages.odometry import Base

Array = NDArray[np.float64]

_WINDOW = 1.0  # s, that are looked at together
_PERIOD = 0.01  # s, between the velocities that are summed
_PAUSE = 0.1  # s; a longer one starts a window anew
_FAR = 0.15  # m, by which a base moves in a window that says something
_UNLIKE, _LIKE = 0.5, 0.2  # parts of the longer way, by which the two are apart: not of one motion, and of one
_SCALED = 3.0  # ratio of ways in one direction, above which a unit is wrong
_UPSIDE_DOWN = -0.5  # vertical part of the base's upward axis
_AGAIN = 3  # windows in a row; a position that is corrected (a loop that closes) is one


class OdometryDoubts:
    """Compares pose and twist of an odometry, a second at a time."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all messages."""
        self._last, self._odd, self._fallen, self._said = 0, 0, 0, ""
        self._begin(0, np.zeros(3))

    def _begin(self, stamp: int, position: Array) -> None:
        self._since, self._from = stamp, position
        self._way, self._turned = np.zeros(3), np.zeros(3)

    def add(self, stamp_ns: int, base: Base) -> str:
        """A base at a stamp: what is odd by the last windows, in words, or nothing."""
        since_last = 1e-9 * (stamp_ns - self._last)
        if 0.0 <= since_last < _PERIOD:
            return self._said
        self._last = stamp_ns
        numbers = base.numbers
        position = numbers[:3].copy()
        if not 0.0 < since_last <= _PAUSE:
            self._begin(stamp_ns, position)
            self._said = ""
            return ""
        rotation = rotation_matrix(numbers[3:7] / np.linalg.norm(numbers[3:7]))
        velocity = rotation @ numbers[7:10]
        self._way += since_last * velocity
        # As if the twist were in the other axes than it is said to be.
        self._turned += since_last * (rotation @ velocity if base.twist_in_world else numbers[7:10])
        if stamp_ns - self._since < 1e9 * _WINDOW:
            return self._said
        moved, way, turned = position - self._from, self._way, self._turned
        self._begin(stamp_ns, position)
        longer = float(max(np.linalg.norm(moved), np.linalg.norm(way)))
        if longer >= _FAR:
            self._odd = self._odd + 1 if float(np.linalg.norm(moved - way)) > _UNLIKE * longer else 0
        self._fallen = self._fallen + 1 if rotation[2, 2] < _UPSIDE_DOWN else 0
        if self._fallen >= _AGAIN:
            self._said = "the base is upside down: is the quaternion x, y, z, w, or does it begin with w?"
        elif self._odd >= _AGAIN and longer >= _FAR:
            self._said = _told(moved, way, turned, base.twist_in_world)
        elif self._odd < _AGAIN:
            self._said = ""
        return self._said


def _told(moved: Array, way: Array, turned: Array, in_world: bool) -> str:
    far, said = float(np.linalg.norm(moved)), float(np.linalg.norm(way))
    text = f"in a second the position moved by {far:.2g} m, and the twist says {said:.2g} m"
    if float(np.linalg.norm(moved - turned)) < _LIKE * far:
        now, other = ("world", "base") if in_world else ("base", "world")
        return f"{text} elsewhere: is it in the axes of the {other}, not of the {now}? (twist_in_world)"
    if said == 0.0:
        return f"{text}: is it filled?"
    along = float(moved @ way) / (far * said) if far * said > 0.0 else 0.0
    if along > 1.0 - _LIKE and not 1.0 / _SCALED < far / said < _SCALED:
        return f"{text}: are both in metres?"
    return f"{text} elsewhere: is the quaternion x, y, z, w, and are both of one frame?"
