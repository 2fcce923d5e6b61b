"""Inertial units that measure in other units, or about other axes, than ``sensor_msgs/Imu`` says.

While a robot stands, the specific force of its unit is 9.81 m/s² upwards, whatever the robot is. A unit in g says 1,
one whose driver takes gravity away 0, and one with turned axes another direction. While the base turns, the rates of
unit and odometry are the same vector: one in deg/s is 57.3 times as long. Without odometry the rates are compared with
how the unit's own attitude turns. Nothing is corrected: it is told.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_WINDOW = 1.0  # s, that are looked at together
_PAUSE = 0.2  # s; a longer one starts a window anew
_FEWEST = 20  # measurements of a window
_GRAVITY, _LIKE = 9.81, 0.15  # m/s²; part of it by which a unit's scale and zero may be off
_CALM, _CALM_AT_LEAST = 0.1, 0.15  # of the mean, m/s²: deviation of an acceleration at rest
_STILL = 0.05  # m/s and rad/s, of the base, by the odometry
_TILTED = math.cos(math.radians(30.0))  # of upwards: mounting and odometry are not as wrong
_STEP = 0.1  # s, over which the turn of the unit's own attitude is its rate: jitter of the attitude matters once in it
_MOVING = 0.02  # rad/s, root mean square of a base whose rate tells deg/s: no bias is thirty times that
_TURNING = 0.1  # rad/s, likewise, of one whose rate tells axes
_TURNING_SURELY = 0.3  # rad/s, likewise, by the unit's own attitude, whose jitter is no turn
_ALIKE, _UNLIKE = 0.8, 0.3  # correlation of rates that are one vector, and of those that are not
_DEGREES = 30.0, 110.0  # ratio of rates in deg/s and rad/s
_NEAR = 3.0  # ratio within which the rates of one body are, whatever their axes


_FORCE, _RATE, _ATTITUDE, _MOVES = slice(0, 3), slice(3, 6), slice(6, 10), slice(10, 16)
"""Columns of a window: what the unit measures, the attitude (quaternion x, y, z, w) and the base's velocity by the
odometry; NaN where there is none."""


class ImuDoubts:
    """Compares the unit with the odometry, a second at a time.

    Args:
        with_base: whether the states have a base that the unit did not itself give: else rates are compared with the
            unit's own attitude, and of the acceleration size and sign alone are looked at.
    """

    def __init__(self, with_base: bool) -> None:
        self._with_base = with_base
        self.reset()

    def reset(self) -> None:
        """Forget all measurements."""
        self._begin = self._last = self._count = 0
        self._stamps, self._rows = np.zeros(1024, np.int64), np.full((1024, 16), np.nan)
        self._told: tuple[str, ...] = ()

    def add(self, state: RobotState) -> tuple[str, ...]:
        """A state with its inertial measurement: what is odd by the last window, in words."""
        imu = state.imu
        if imu is None or imu.stamp_ns == self._last:
            return self._told
        if not 0 < imu.stamp_ns - self._last <= 1e9 * _PAUSE:
            self._count, self._begin, self._told = 0, imu.stamp_ns, ()
        self._last = imu.stamp_ns
        self._keep(state, imu)
        if imu.stamp_ns - self._begin < 1e9 * _WINDOW:
            return self._told
        count, self._count, self._begin = self._count, 0, imu.stamp_ns
        self._told = self._of(self._stamps[:count], self._rows[:count]) if count >= _FEWEST else ()
        return self._told

    def _keep(self, state: RobotState, imu: ImuMeasurement) -> None:
        """A measurement as a row. The rows are arrays, so that the end of a window keeps no state waiting."""
        if self._count == len(self._rows):
            self._stamps = np.concatenate((self._stamps, self._stamps))
            self._rows = np.concatenate((self._rows, self._rows))
        self._stamps[self._count] = imu.stamp_ns
        row = self._rows[self._count]
        self._count += 1
        row[_FORCE] = np.nan if imu.acceleration is None else imu.acceleration
        row[_RATE] = np.nan if imu.angular_velocity is None else imu.angular_velocity
        if self._with_base:
            row[_ATTITUDE], row[_MOVES] = state.q[3:7], state.v[:6]
        else:
            row[_ATTITUDE] = np.nan if imu.orientation is None else imu.orientation

    def _of(self, stamps: NDArray[np.int64], rows: Array) -> tuple[str, ...]:
        """What a window says."""
        forces, rates, attitudes, moves = rows[:, _FORCE], rows[:, _RATE], rows[:, _ATTITUDE], rows[:, _MOVES]
        has_force, has_rate, has_attitude = (not np.isnan(each).any() for each in (forces, rates, attitudes))
        upwards = _upwards(attitudes).mean(axis=0) if has_attitude else np.zeros(3)
        found = self._of_force(forces, upwards, moves if self._with_base else np.zeros((1, 6))) if has_force else ()
        if not has_rate:
            return found
        if self._with_base:
            return found + _of_rates(rates, moves[:, 3:], _TURNING)
        if not has_attitude:
            return found
        if (attitudes == attitudes[0]).all() and float((rates**2).mean(axis=0).sum()) > _TURNING_SURELY**2:
            return (*found, "orientation stays the same while angular velocity turns: is it filled?")
        return found + _of_rates(*_in_steps(stamps, rates, attitudes), _TURNING_SURELY)

    def _of_force(self, forces: Array, up: Array, moves: Array) -> tuple[str, ...]:
        mean = forces.mean(axis=0)
        size = float(np.linalg.norm(mean))
        calm = float(np.sqrt(((forces - mean) ** 2).sum(axis=1).mean()))
        if calm > max(_CALM * size, _CALM_AT_LEAST) or float(np.abs(moves).mean(axis=0).max()) > _STILL:
            return ()
        told = f"acceleration of {size:.2f} m/s² while standing"
        if abs(size - 1.0) <= _LIKE:
            return (f"{told}: is it in g?",)
        if size <= _LIKE * _GRAVITY:
            return (f"{told}: was gravity taken away?",)
        if abs(size - _GRAVITY) > _LIKE * _GRAVITY:
            return (f"{told} instead of {_GRAVITY}: is it in m/s²?",)
        upright = float(mean @ up) / size
        if upright >= _TILTED:
            return ()
        if upright <= -_TILTED:
            return ("acceleration points downwards while standing: is its sign turned? It is 9.81 upwards at rest",)
        if not self._with_base:
            return ()
        angle = math.degrees(math.acos(max(-1.0, min(1.0, upright))))
        return (f"acceleration points {angle:.0f}° away from upwards while standing: are its axes those of frame_id?",)


def _upwards(attitudes: Array) -> Array:
    """Upwards (k, 3) in the axes of the root link."""
    x, y, z, w = attitudes.T
    return np.column_stack((2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)))


def _in_steps(stamps: NDArray[np.int64], rates: Array, attitudes: Array) -> tuple[Array, Array]:
    """The mean rates (k, 3) of steps, and how fast the attitude (quaternions x, y, z, w) turns in them, rad/s, both in
    the axes of the root link."""
    seconds = 1e-9 * (stamps - stamps[0])
    ends = np.unique(np.searchsorted(seconds, np.arange(0.0, seconds[-1], _STEP)))
    way = np.zeros_like(rates)  # the integral of the rates
    way[1:] = np.cumsum(0.5 * (rates[1:] + rates[:-1]) * np.diff(seconds)[:, None], axis=0)
    took = np.diff(seconds[ends])[:, None]
    return np.diff(way[ends], axis=0) / took, _turns(attitudes[ends]) / took


def _turns(attitudes: Array) -> Array:
    """The rotation vectors (k, 3), rad, from each of k + 1 attitudes to the next, in the axes of the body."""
    (u, a), (v, b) = ((each[:, :3], each[:, 3:]) for each in (attitudes[:-1], attitudes[1:]))
    axis = a * v - b * u - np.cross(u, v)  # the vector part of the inverse of the one times the other
    cosine = a * b + (u * v).sum(axis=1, keepdims=True)
    sine = np.linalg.norm(axis, axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, np.abs(cosine))  # of the shorter way
    return np.asarray(np.copysign(angle, cosine) * axis / np.maximum(sine, 1e-12))


def _of_rates(rates: Array, base: Array, turning: float) -> tuple[str, ...]:
    """What the rates (k, 3) of the unit are beside those of the base, both in the axes of the root link; ``turning``
    is the least root mean square (rad/s) of the base's by which axes are told."""
    own, both, other = float((base * base).sum()), float((base * rates).sum()), float((rates * rates).sum())
    if own <= len(base) * _MOVING**2 or other == 0.0:
        return ()
    ratio, alike = math.sqrt(other / own), both / math.sqrt(own * other)
    if abs(alike) >= _ALIKE and _DEGREES[0] <= ratio <= _DEGREES[1]:
        return (f"angular velocity is {ratio:.1f} times that of the base: is it in deg/s?",)
    if own > len(base) * turning**2 and alike <= _UNLIKE and 1.0 / _NEAR <= ratio <= _NEAR:
        return (
            f"angular velocity is about other axes than that of the base (correlation {alike:.2f}): are its axes those "
            "of frame_id?",
        )
    return ()
