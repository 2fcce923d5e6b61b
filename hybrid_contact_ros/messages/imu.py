"""Inertial measurements (``sensor_msgs/Imu``) in the axes of the root link.

A covariance that begins with −1 says that the unit does not measure that, as the message defines it; so does an
orientation of four zeros, as drivers without one publish it. Zeros are a covariance that is unknown.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.joints import QUATERNION_TOLERANCE
from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.messages.parts import Parts
from hybrid_contact_ros.messages.refusals import RefusedError

Array = NDArray[np.float64]

IMU = "imu"
_LARGEST = {"angular_velocity": 1e3, "linear_acceleration": 1e4}  # rad/s and m/s²: no unit measures more
_UNITS = {"angular_velocity": "rad/s", "linear_acceleration": "m/s²"}


class ImuReader:
    """Makes inertial measurements of messages.

    Args:
        model: tells where the frame of the message is.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._frames: tuple[str, tuple[Array, Array]] | None = None

    def read(self, parts: Parts, stamp_ns: int) -> ImuMeasurement:
        """The measurement of a message.

        Raises:
            RefusedError: ``not_finite``, ``quaternion_norm``, ``implausible`` or ``sensor_frame``.
        """
        rotation, place = self._frame(parts.text("header.frame_id"))
        spin, acceleration = (
            self._vector(parts, name, rotation) for name in ("angular_velocity", "linear_acceleration")
        )
        covariance = np.array(
            [
                _covariance(parts.numbers(f"{name}_covariance"), rotation)
                for name in ("orientation", "angular_velocity", "linear_acceleration")
            ]
        )
        return ImuMeasurement(stamp_ns, self._orientation(parts, rotation), spin, acceleration, place, covariance)

    def _vector(self, parts: Parts, name: str, rotation: Array) -> Array | None:
        if parts.numbers(f"{name}_covariance")[0] == -1.0:
            return None
        found = np.concatenate([parts.numbers(f"{name}.{axis}") for axis in "xyz"])
        if not np.isfinite(found).all():
            raise RefusedError("not_finite", f"{name} {', '.join(map(str, found.tolist()))}")
        size = float(np.abs(found).max())
        if size > _LARGEST[name]:
            raise RefusedError("implausible", f"{name} {size:.6g} {_UNITS[name]}, more than {_LARGEST[name]:g}")
        return np.asarray(rotation @ found)

    def _orientation(self, parts: Parts, rotation: Array) -> Array | None:
        found = np.concatenate([parts.numbers(f"orientation.{axis}") for axis in "xyzw"])
        if parts.numbers("orientation_covariance")[0] == -1.0 or not found.any():
            return None
        if not np.isfinite(found).all():
            raise RefusedError("not_finite", f"orientation {', '.join(map(str, found.tolist()))}")
        norm = float(np.linalg.norm(found))
        if not abs(norm - 1.0) <= QUATERNION_TOLERANCE:
            raise RefusedError("quaternion_norm", f"its norm is {norm:.6g}")
        root = pin.Quaternion(found / norm) * pin.Quaternion(np.ascontiguousarray(rotation.T))
        return np.asarray(root.coeffs(), dtype=np.float64)

    def _frame(self, frame_id: str) -> tuple[Array, Array]:
        """Axes and place of the unit in the root link: (3, 3), (3,).

        Raises:
            RefusedError: ``sensor_frame``.
        """
        if self._frames is None or self._frames[0] != frame_id:
            root = self._model.frame_of(self._model.root_link)
            name = frame_id.lstrip("/")
            found = self._model.frame_of(name) if name else root
            if found is None or found[0] != root[0]:
                why = "there is no such link" if found is None else "joints lie between"
                raise RefusedError("sensor_frame", f"{frame_id!r} is not fixed to the root link: {why}")
            turned = root[1].T @ found[1]
            self._frames = frame_id, (turned, root[1].T @ (found[2] - root[2]))
        return self._frames[1]


def _covariance(numbers: Array, rotation: Array) -> Array:
    """(3, 3) in the axes of the root link; NaN where it is unknown or none."""
    matrix = numbers.reshape(3, 3)
    if not np.isfinite(matrix).all() or not matrix.any() or (np.diag(matrix) < 0.0).any():
        return np.full((3, 3), np.nan)
    return np.asarray(rotation @ matrix @ rotation.T)
