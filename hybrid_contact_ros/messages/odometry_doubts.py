"""Odometry whose pose and twist are not those of one motion: other axes, another order of the quaternion, other units.

Over a second a base moves by the integral of its velocity, whatever moves it. Where it does not, again and again, the
twist is in other axes than ``nav_msgs/Odometry`` says (of the world instead of ``child_frame_id``), the quaternion is
not x, y, z, w, or one of the two is not in metres. A quaternion that begins with w has a level base upside down, which
may walk along as its twist says. A twist whose numbers are all zero is not filled, however slowly the base moves.
Nothing is corrected: it is told.
"""

from __future__ import annotations

import math

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
_CREEPS, _TURNS = 0.02, 0.05  # m, rad, by which a base surely moves in a window, where its twist is exactly zero
_UPSIDE_DOWN = -0.5  # vertical part of the base's upward axis
_AGAIN = 3  # windows in a row; a position that is corrected (a loop that closes) is one


class OdometryDoubts:
    """Compares pose and twist of an odometry, a second at a time."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all messages."""
        self._last, self._odd, self._empty, self._fallen = 0, 0, 0, 0
        self._unlike = self._said = ""  # how the two differ by the last window that said it; what is told
        self._begin(0, np.zeros(3), np.eye(3))

    def _begin(self, stamp: int, position: Array, rotation: Array) -> None:
        self._since, self._from, self._facing, self._filled = stamp, position, rotation, False
        self._way, self._turned = np.zeros(3), np.zeros(3)

    def add(self, stamp_ns: int, base: Base) -> str:
        """A base at a stamp: what is odd by the last windows, in words, or nothing."""
        since_last = 1e-9 * (stamp_ns - self._last)
        if 0.0 <= since_last < _PERIOD:
            return self._said
        self._last = stamp_ns
        numbers = base.numbers
        position = numbers[:3].copy()
        rotation = rotation_matrix(numbers[3:7] / np.linalg.norm(numbers[3:7]))
        if not 0.0 < since_last <= _PAUSE:
            self._begin(stamp_ns, position, rotation)
            self._said = ""
            return ""
        self._filled |= bool(numbers[7:13].any())
        velocity = rotation @ numbers[7:10]
        self._way += since_last * velocity
        # As if the twist were in the other axes than it is said to be.
        self._turned += since_last * (rotation @ velocity if base.twist_in_world else numbers[7:10])
        if stamp_ns - self._since < 1e9 * _WINDOW:
            return self._said
        self._fallen = self._fallen + 1 if rotation[2, 2] < _UPSIDE_DOWN else 0
        if self._filled:
            self._compare(position - self._from, base.twist_in_world)
        else:
            self._look_at_empty(position - self._from, self._facing.T @ rotation)
        upside_down = "the base is upside down: is the quaternion x, y, z, w, or does it begin with w?"
        self._said = upside_down if self._fallen >= _AGAIN else self._unlike
        self._begin(stamp_ns, position, rotation)
        return self._said

    def _compare(self, moved: Array, in_world: bool) -> None:
        """What a window says of pose and twist."""
        way, self._empty = self._way, 0
        longer = float(max(np.linalg.norm(moved), np.linalg.norm(way)))
        if longer < _FAR:  # says nothing: what was said before holds
            return
        self._odd = self._odd + 1 if float(np.linalg.norm(moved - way)) > _UNLIKE * longer else 0
        self._unlike = _told(moved, way, self._turned, in_world) if self._odd >= _AGAIN else ""

    def _look_at_empty(self, moved: Array, turn: Array) -> None:
        """What a window says whose twist is exactly zero. A base that is at rest says nothing, either."""
        far = float(np.linalg.norm(moved))
        angle = math.acos(max(-1.0, min(1.0, 0.5 * (float(np.trace(turn)) - 1.0))))
        self._empty = self._empty + 1 if far >= _CREEPS or angle >= _TURNS else 0
        self._odd = 0
        self._unlike = ""
        if self._empty >= _AGAIN:
            how = f"the position moved by {far:.2g} m" if far >= _CREEPS else f"the base turned by {angle:.2g} rad"
            self._unlike = f"in a second {how}, and the twist says 0: is it filled?"


def _told(moved: Array, way: Array, turned: Array, in_world: bool) -> str:
    far, said = float(np.linalg.norm(moved)), float(np.linalg.norm(way))
    text = f"in a second the position moved by {far:.2g} m, and the twist says {said:.2g} m"
    if float(np.linalg.norm(moved - turned)) < _LIKE * far:
        now, other = ("world", "base") if in_world else ("base", "world")
        return f"{text} elsewhere: is it in the axes of the {other}, not of the {now}? (twist_in_world)"
    along = float(moved @ way) / (far * said) if far * said > 0.0 else 0.0
    if along > 1.0 - _LIKE and not 1.0 / _SCALED < far / said < _SCALED:
        return f"{text}: are both in metres?"
    return f"{text} elsewhere: is the quaternion x, y, z, w, and are both of one frame?"
