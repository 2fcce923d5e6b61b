"""The base as a ``nav_msgs/Odometry`` measures it: checked, and carried along its own twist to another time.

As of joint states (:mod:`~hybrid_contact_ros.messages.joint_states`), a message or its bytes come down to the same
numbers, and one kernel says whether they can be used.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.messages.measurements import (
    COVARIANCE,
    ODD_COVARIANCE,
    USABLE,
    base_measurement,
    carried,
)
from hybrid_contact_ros.mechanics.joints import QUATERNION_TOLERANCE, BaseMeasurement
from hybrid_contact_ros.messages.cdr import BEGIN, STAMP, Layout
from hybrid_contact_ros.messages.layouts import LAYOUTS, Layouts
from hybrid_contact_ros.messages.refusals import RefusedError
from hybrid_contact_ros.messages.serialized import Deserialize, as_message, deserialized

Array = NDArray[np.float64]

_LARGEST_COVARIANCE = 1e12  # m², rad² and the squares of their rates; what is larger is no covariance
_MAX_DISTANCE = 1e8  # m, of the base from the origin; maps in UTM coordinates lie 1e7 m from theirs
_MAX_SPEED = 1e3  # m/s and rad/s, of the base

# The numbers of an odometry, in the order of the message.
_NUMBERS = 85
_POSITION, _ORIENTATION, _LINEAR, _ANGULAR = slice(0, 3), slice(3, 7), slice(43, 46), slice(46, 49)
_COVARIANCES = (("pose", slice(7, 43)), ("twist", slice(49, 85)))
_KINEMATIC = 13  # numbers of a base: pose and twist


class Base(NamedTuple):
    """A measured base.

    Attributes:
        numbers: (13,) or more: position, quaternion x y z w, and linear and angular velocity in the axes of the base.
        covariance: (2, 6, 6), as of :class:`~hybrid_contact_ros.mechanics.state.RobotState`, or None.
        twist_in_world: whether the velocity was measured in the axes of the world.
        carried: (2, 6, 6), what carrying it here adds to the covariance; None where it was measured here, or nobody
            knows.
        late: s, by which it is older than its stamp, which was made up for.
    """

    numbers: Array
    covariance: Array | None
    twist_in_world: bool = False
    carried: Array | None = None
    late: float = 0.0

    @property
    def measurement(self) -> BaseMeasurement:
        """The same as a record of its parts."""
        n = self.numbers
        return BaseMeasurement(n[:3], n[3:7], n[7:10], n[10:13], self.covariance, self.twist_in_world)

    def at(self, seconds: float) -> Base:
        """The base ``seconds`` later (earlier when negative), if its twist stays constant in the world frame.

        It is translated along its linear velocity and rotated by its angular velocity. Accelerations are left out, so
        that the error of the velocities is of first order in the time, and that of the pose of second order.
        """
        if seconds == 0.0:
            return self
        out = np.empty(_KINEMATIC)
        carried(seconds, self.numbers, np.empty((3, 3)), out)
        return Base(out, self.covariance, self.twist_in_world)


class _OdometryLayout(Layout):
    """The layout of a ``nav_msgs/Odometry``.

    Attributes:
        frame_id, child_frame_id: its texts. first: byte of the first number behind the texts.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__("Odometry", data)
        self.frame_id, self.child_frame_id = self.texts["header.frame_id"], self.texts["child_frame_id"]
        self.first = self.numbers["pose.pose.position.x"].offset


class OdometryReading(NamedTuple):
    """An odometry whose stamp and frames are known."""

    sec: int
    nanosec: int
    frame_id: str
    child_frame_id: str


class OdometryReader:
    """Makes bases of odometry.

    Args:
        twist_in_world: the driver publishes the twist in the axes of ``header.frame_id`` instead of those of the child
            frame, which the message definition asks for, and it is rotated.
        use_covariance: read both covariances too (zeros count as none, and so does what is no covariance).
        bounded: refuse a base that is farther from the origin or faster than that of any robot.
        deserialize: makes messages of the bytes that are unusual.
        objects: do so with all bytes.
    """

    def __init__(
        self,
        twist_in_world: bool = False,
        use_covariance: bool = False,
        bounded: bool = True,
        deserialize: Deserialize = as_message,
        objects: bool = False,
    ) -> None:
        self._twist_in_world, self._use_covariance = bool(twist_in_world), bool(use_covariance)
        sizes = (_MAX_DISTANCE, _MAX_SPEED) if bounded else (inf, inf)
        self._largest = np.array((*sizes, _LARGEST_COVARIANCE))
        self._deserialize = deserialize
        self._layouts = Layouts(_OdometryLayout, 0 if objects else LAYOUTS)
        self._numbers = np.zeros(_NUMBERS)  # of the message read last
        self._rotation = np.zeros((3, 3))  # scratch
        self._bytes = self._numbers.data.cast("B")

    def read(self, msg: Any) -> OdometryReading:
        """Look at the stamp and the frames of a ``nav_msgs/Odometry``, or of its bytes.

        Raises:
            RefusedError: ``unreadable``.
        """
        if isinstance(msg, bytes):
            layout = self._layouts.find(msg)
            if layout is not None:
                self._bytes[:] = msg[layout.first : layout.end]
                sec, nanosec = STAMP.unpack_from(msg, BEGIN)
                return OdometryReading(sec, nanosec, layout.frame_id, layout.child_frame_id)
            data, msg = msg, deserialized("Odometry", msg, self._deserialize)
            self._layouts.learn(data)
        self._numbers[:] = _numbers_of(msg)
        stamp = msg.header.stamp
        return OdometryReading(
            int(stamp.sec), int(stamp.nanosec), msg.header.frame_id, getattr(msg, "child_frame_id", "")
        )

    def base(self) -> tuple[Base, bool]:
        """The base of the message read last, and whether one of its covariances is odd.

        Raises:
            RefusedError: ``not_finite``, ``quaternion_norm`` or ``implausible``.
        """
        out = np.empty(_NUMBERS)
        found = base_measurement(
            self._twist_in_world,
            self._use_covariance,
            QUATERNION_TOLERANCE,
            self._largest,
            self._numbers,
            self._rotation,
            out,
        )
        if not found & USABLE:
            _refuse(self._numbers, self._largest)
        covariance = out[_KINEMATIC:].reshape(2, 6, 6) if found & COVARIANCE else None
        return Base(out, covariance, self._twist_in_world), bool(found & ODD_COVARIANCE)

    def odd_covariance(self) -> str:
        """The name of the covariance of the message read last that is not finite or far too large, or an empty text. A
        negative variance is neither: drivers mark "unknown" with -1."""
        for name, part in _COVARIANCES:
            values = self._numbers[part]
            if not float(values @ values) < _LARGEST_COVARIANCE**2:  # also where it is NaN
                return name
        return ""


def _numbers_of(msg: Any) -> Array:
    """The numbers of a message, in its order (85,)."""
    p, o = msg.pose.pose.position, msg.pose.pose.orientation
    u, w = msg.twist.twist.linear, msg.twist.twist.angular
    pose, twist = (p.x, p.y, p.z, o.x, o.y, o.z, o.w), (u.x, u.y, u.z, w.x, w.y, w.z)
    covariances = (np.asarray(part.covariance, np.float64).reshape(-1) for part in (msg.pose, msg.twist))
    first, second = covariances
    return np.concatenate((pose, first, twist, second))


def _refuse(numbers: Array, largest: Array) -> None:
    """Say what is wrong with the numbers of an odometry.

    Raises:
        RefusedError: ``not_finite``, ``quaternion_norm`` or ``implausible``.
    """
    parts = {
        "position": numbers[_POSITION].tolist(),
        "orientation": numbers[_ORIENTATION].tolist(),
        "linear velocity": numbers[_LINEAR].tolist(),
        "angular velocity": numbers[_ANGULAR].tolist(),
    }
    if not isfinite(sum(x for values in parts.values() for x in values)):
        for name, values in parts.items():
            if not all(map(isfinite, values)):
                raise RefusedError("not_finite", f"{name} {', '.join(map(str, values))}")
        raise RefusedError("not_finite", "the numbers overflow")
    norm = sqrt(sum(x * x for x in parts["orientation"]))
    if not abs(norm - 1.0) <= QUATERNION_TOLERANCE:
        raise RefusedError("quaternion_norm", f"its norm is {norm:.6g}")
    for name, limit, unit in (
        ("position", largest[0], "m"),
        ("linear velocity", largest[1], "m/s"),
        ("angular velocity", largest[1], "rad/s"),
    ):
        size = max(map(abs, parts[name]))
        if size > limit:
            raise RefusedError("implausible", f"{name} {size:.6g} {unit}, more than {limit:g}")
    raise AssertionError("the kernel refuses what may be used")
