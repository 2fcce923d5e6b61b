"""Inertial units that measure in other units, or about other axes, than ``sensor_msgs/Imu`` says.

While a robot stands, the specific force of its unit is 9.81 m/s² upwards, whatever the robot is. A unit in g says 1,
one whose driver takes gravity away 0, and one with turned axes another direction. While the base turns, the rates of
unit and odometry are the same vector: one in deg/s is 57.3 times as long. Nothing is corrected: it is told.
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
_TURNING = 0.1  # rad/s, root mean square of a base whose rate says something
_ALIKE, _UNLIKE = 0.8, 0.3  # correlation of rates that are one vector, and of those that are not
_DEGREES = 30.0, 110.0  # ratio of rates in deg/s and rad/s
_NEAR = 3.0  # ratio within which the rates of one body are, whatever their axes


class ImuDoubts:
    """Compares the unit with the odometry, a second at a time.

    Args:
        with_base: whether the states have a base that the unit did not itself give: else only the size of the
            acceleration is looked at, and whether it points downwards by the unit's own attitude.
    """

    def __init__(self, with_base: bool) -> None:
        self._with_base = with_base
        self.reset()

    def reset(self) -> None:
        """Forget all measurements."""
        self._begin = self._last = 0
        self._rows: list[tuple[Array | None, Array | None, Array, Array]] = []
        self._told: tuple[str, ...] = ()

    def add(self, state: RobotState) -> tuple[str, ...]:
        """A state with its inertial measurement: what is odd by the last window, in words."""
        imu = state.imu
        if imu is None or imu.stamp_ns == self._last:
            return self._told
        if not 0 < imu.stamp_ns - self._last <= 1e9 * _PAUSE:
            self._rows, self._begin, self._told = [], imu.stamp_ns, ()
        self._last = imu.stamp_ns
        self._rows.append(self._row(state, imu))
        if imu.stamp_ns - self._begin < 1e9 * _WINDOW:
            return self._told
        rows, self._rows, self._begin = self._rows, [], imu.stamp_ns
        self._told = self._of(rows) if len(rows) >= _FEWEST else ()
        return self._told

    def _of(self, rows: list[tuple[Array | None, Array | None, Array, Array]]) -> tuple[str, ...]:
        """What a window says."""
        forces = [force for force, _, _, _ in rows if force is not None]
        upwards, moves = (np.array([row[k] for row in rows]) for k in (2, 3))
        found = self._of_force(np.array(forces), upwards.mean(axis=0), moves) if len(forces) == len(rows) else ()
        if not self._with_base or any(rate is None for _, rate, _, _ in rows):
            return found
        return found + _of_rates(np.array([rate for _, rate, _, _ in rows]), moves[:, 3:])

    def _row(self, state: RobotState, imu: ImuMeasurement) -> tuple[Array | None, Array | None, Array, Array]:
        """Specific force, rate, upwards in the axes of the root link, and the base's velocity (6,)."""
        attitude = state.q[3:7] if self._with_base else imu.orientation
        if attitude is None:
            return imu.acceleration, imu.angular_velocity, np.zeros(3), np.zeros(6)
        x, y, z, w = attitude.tolist()
        up = np.array([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)])
        if not self._with_base:
            return imu.acceleration, imu.angular_velocity, up, np.zeros(6)
        return imu.acceleration, imu.angular_velocity, up, np.array(state.v[:6], dtype=np.float64)

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


def _of_rates(rates: Array, base: Array) -> tuple[str, ...]:
    """What the rates (k, 3) of the unit are beside those of the base, both in the axes of the root link."""
    own, both, other = float((base * base).sum()), float((base * rates).sum()), float((rates * rates).sum())
    if own <= len(base) * _TURNING**2 or other == 0.0:
        return ()
    ratio, alike = math.sqrt(other / own), both / math.sqrt(own * other)
    if abs(alike) >= _ALIKE and _DEGREES[0] <= ratio <= _DEGREES[1]:
        return (f"angular velocity is {ratio:.1f} times that of the base: is it in deg/s?",)
    if alike <= _UNLIKE and 1.0 / _NEAR <= ratio <= _NEAR:
        return (
            f"angular velocity is about other axes than that of the base (correlation {alike:.2f}): are its axes those "
            "of frame_id?",
        )
    return ()
