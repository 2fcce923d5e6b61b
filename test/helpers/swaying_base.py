"""A base that sways, and what an inertial unit on it measures."""

from __future__ import annotations

from types import SimpleNamespace as Space

import numpy as np
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.messages.odometry import Base

GRAVITY = np.array([0.0, 0.0, -9.81])
PLACE = np.array([0.2, -0.1, 0.05])


class Swaying:
    """A base that sways by some centimetres and a tenth of a radian, at 1.5 and 3 Hz; a unit is at ``place``."""

    def __init__(self, seed: int = 0, size: float = 1.0, place=PLACE) -> None:
        self.place = place
        rng = np.random.default_rng(seed)
        self._along, self._turn = size * 0.03 * rng.normal(size=(2, 3)), size * 0.1 * rng.normal(size=(2, 3))
        self._rates = 2.0 * np.pi * np.array([[1.5], [3.0]])
        self._start = Rotation.from_rotvec(0.2 * rng.normal(size=3))

    def _sum(self, sizes: np.ndarray, t: float, order: int) -> np.ndarray:
        return (sizes * self._rates**order * np.sin(self._rates * t + 0.5 * np.pi * order + [[0.0], [1.0]])).sum(axis=0)

    def rotation(self, t: float) -> Rotation:
        return self._start * Rotation.from_rotvec(self._sum(self._turn, t, 0))

    def spin(self, t: float) -> np.ndarray:
        """rad/s, in the axes of the base."""
        h = 1e-5
        return (self.rotation(t - h).inv() * self.rotation(t + h)).as_rotvec() / (2 * h)

    def base(self, t: float, covariance=None) -> Base:
        rotation = self.rotation(t)
        velocity = rotation.inv().apply(self._sum(self._along, t, 1))
        return Base(
            np.concatenate((self._sum(self._along, t, 0), rotation.as_quat(), velocity, self.spin(t))), covariance
        )

    def measured(self, t: float) -> ImuMeasurement:
        """By the unit."""
        h, spin = 1e-4, self.spin(t)
        turning = (self.spin(t + h) - self.spin(t - h)) / (2 * h)
        force = self.rotation(t).inv().apply(self._sum(self._along, t, 2) - GRAVITY)
        force += np.cross(turning, self.place) + np.cross(spin, np.cross(spin, self.place))
        return ImuMeasurement(round(1e9 * t), None, spin, force, self.place)


def unit_message(one: ImuMeasurement) -> Space:
    """The ``sensor_msgs/Imu`` of a measurement without orientation, in the axes of the root link."""

    def xyzw(values) -> Space:
        return Space(**dict(zip("xyzw", map(float, values), strict=False)))

    parts = {
        "orientation": xyzw(np.zeros(4)),
        "angular_velocity": xyzw(one.angular_velocity),
        "linear_acceleration": xyzw(one.acceleration),
    }
    stamp = Space(sec=one.stamp_ns // 10**9, nanosec=one.stamp_ns % 10**9)
    unknown = {f"{name}_covariance": [0.0] * 9 for name in parts}
    return Space(header=Space(stamp=stamp, frame_id=""), **parts, **unknown)
