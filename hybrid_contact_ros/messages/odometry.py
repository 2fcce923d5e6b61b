"""The base as a ``nav_msgs/Odometry`` measures it: checked, and carried along its own twist to another time."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.joints import QUATERNION_TOLERANCE, BaseMeasurement
from hybrid_contact_ros.messages.refusals import RefusedError

_LARGEST_COVARIANCE = 1e12  # m², rad² and the squares of their rates; what is larger is no covariance
_MAX_DISTANCE = 1e8  # m, of the base from the origin; maps in UTM coordinates lie 1e7 m from theirs
_MAX_SPEED = 1e3  # m/s and rad/s, of the base


def decode_base(
    msg: Any, twist_in_world: bool = False, use_covariance: bool = False, bounded: bool = True
) -> BaseMeasurement:
    """Pose and twist of a ``nav_msgs/Odometry``.

    Args:
        msg: its twist is in the child frame, as the message definition says (Pinocchio's free-flyer convention).
        twist_in_world: the driver publishes the twist in the axes of ``header.frame_id`` instead, and it is rotated.
        use_covariance: read both covariances too (zeros count as none, and so does what is no covariance).
        bounded: refuse a base that is farther from the origin or faster than that of any robot.

    Raises:
        RefusedError: ``not_finite``, ``quaternion_norm`` or ``implausible``.
    """
    pose, twist = msg.pose.pose, msg.twist.twist
    p, o, u, w = pose.position, pose.orientation, twist.linear, twist.angular
    total = p.x + p.y + p.z + o.x + o.y + o.z + o.w + u.x + u.y + u.z + w.x + w.y + w.z
    if not isfinite(total):  # finite numbers have a finite sum, unless it overflows, and then they are no measurement
        for name, value in (("position", p), ("orientation", o), ("linear velocity", u), ("angular velocity", w)):
            entries = (value.x, value.y, value.z, getattr(value, "w", 0.0))
            if not all(map(isfinite, entries)):
                raise RefusedError("not_finite", f"{name} {', '.join(map(str, entries))}")
        raise RefusedError("not_finite", "the numbers overflow")
    norm = sqrt(o.x * o.x + o.y * o.y + o.z * o.z + o.w * o.w)
    if not abs(norm - 1.0) <= QUATERNION_TOLERANCE:
        raise RefusedError("quaternion_norm", f"its norm is {norm:.6g}")
    if bounded:
        _check_size("position", p, _MAX_DISTANCE, "m")
        _check_size("linear velocity", u, _MAX_SPEED, "m/s")
        _check_size("angular velocity", w, _MAX_SPEED, "rad/s")
    quaternion = np.array((o.x, o.y, o.z, o.w))
    linear = np.array((u.x, u.y, u.z))
    angular = np.array((w.x, w.y, w.z))
    if twist_in_world:
        rotation = _rotation(quaternion / norm)
        linear, angular = rotation.T @ linear, rotation.T @ angular
    covariance = decode_covariance(msg, quaternion / norm, twist_in_world) if use_covariance else None
    return BaseMeasurement(np.array((p.x, p.y, p.z)), quaternion, linear, angular, covariance)


def _check_size(name: str, vector: Any, limit: float, unit: str) -> None:
    largest = max(abs(vector.x), abs(vector.y), abs(vector.z))
    if largest > limit:
        raise RefusedError("implausible", f"{name} {largest:.6g} {unit}, more than {limit:g}")


def odd_covariance(msg: Any) -> str:
    """The name of the covariance of a message that is not finite or far too large, or an empty text. A negative
    variance is neither: drivers mark "unknown" with -1."""
    for name, part in (("pose", msg.pose), ("twist", msg.twist)):
        values = np.asarray(part.covariance, dtype=np.float64)
        if not float(values @ values) < _LARGEST_COVARIANCE**2:  # also where it is NaN
            return name
    return ""


def decode_covariance(msg: Any, quaternion: NDArray[np.float64], twist_in_world: bool) -> NDArray[np.float64] | None:
    """Covariances (2, 6, 6) of pose and twist, both in the axes of the base; None where the message has neither.

    Args:
        msg: a ``nav_msgs/Odometry``.
        quaternion: (4,), x y z w, base to world, of length 1.
        twist_in_world: the covariance of the twist is in the axes of the world, and it is rotated.

    A block counts as zero where it is not finite, beyond 1e12, or has a negative variance (drivers mark "unknown" with
    −1).
    """
    found = np.array((msg.pose.covariance, msg.twist.covariance), dtype=np.float64).reshape(2, 6, 6)
    if not found.any():
        return None
    for block in found:
        if not ((np.abs(block) < _LARGEST_COVARIANCE).all() and (np.diagonal(block) >= 0.0).all()):
            block[:] = 0.0
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = _rotation(quaternion).T
    found[0] = turn @ found[0] @ turn.T  # the message has the pose's along and about the axes of the world
    if twist_in_world:
        found[1] = turn @ found[1] @ turn.T
    return found if found.any() else None


def carry(base: BaseMeasurement, seconds: float) -> BaseMeasurement:
    """The base ``seconds`` later (earlier when negative), if its twist stays constant in the world frame.

    It is translated along its linear velocity and rotated by its angular velocity. Accelerations are left out, so that
    the error of the velocities is of first order in the time, and that of the pose of second order.
    """
    if seconds == 0.0:
        return base
    quaternion = np.asarray(base.quaternion_xyzw, np.float64)
    quaternion = quaternion / sqrt(float(quaternion @ quaternion))
    rotation = _rotation(quaternion)
    velocity_W = rotation @ np.asarray(base.linear_velocity, np.float64)
    angular = np.asarray(base.angular_velocity, np.float64)
    half = 0.5 * seconds * angular
    angle = sqrt(float(half @ half))
    x, y, z = np.sinc(angle / np.pi) * half  # sin(angle) / angle, also at 0
    c = np.cos(angle)
    qx, qy, qz, qw = quaternion
    turned = np.array(
        (
            qw * x + qx * c + qy * z - qz * y,
            qw * y - qx * z + qy * c + qz * x,
            qw * z + qx * y - qy * x + qz * c,
            qw * c - qx * x - qy * y - qz * z,
        )
    )
    turned /= sqrt(float(turned @ turned))
    # The linear velocity keeps its world direction, so its coordinates in the turned base change.
    linear = _rotation(turned).T @ velocity_W
    position = np.asarray(base.position, np.float64) + velocity_W * seconds
    return BaseMeasurement(position, turned, linear, angular, base.covariance)


def _rotation(quaternion_xyzw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation matrix (3, 3) of a unit quaternion: base to world."""
    x, y, z, w = quaternion_xyzw
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )
    )
