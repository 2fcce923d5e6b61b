"""From the joint order of a message to the order of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.contact_points import closest
from hybrid_contact_ros.mechanics.coordinates import Coordinates
from hybrid_contact_ros.mechanics.plausibility import check_turns
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
Numbers: TypeAlias = Sequence[float] | Array

QUATERNION_TOLERANCE = 1e-2
"""How far from one the norm of a quaternion may be and still be rounding, of float32 or of text."""


class ImplausibleError(ValueError):
    """A finite value that no sensor can have measured."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseMeasurement:
    """Pose of the root link in the world, and its velocity in the **base** frame, as ``nav_msgs/Odometry`` has them.

    Attributes:
        position: (3,), m, world. quaternion_xyzw: (4,), which rotates base vectors into the world.
        linear_velocity: (3,), m/s, of the root link's origin, base frame. angular_velocity: (3,), rad/s, base frame.
        covariance: (2, 6, 6), as of :class:`~hybrid_contact_ros.mechanics.state.RobotState`, or None.
        twist_in_world: whether the velocities were measured in the axes of the world.
    """

    position: Numbers
    quaternion_xyzw: Numbers
    linear_velocity: Numbers
    angular_velocity: Numbers
    covariance: Array | None = None
    twist_in_world: bool = False


class JointMap:
    """A map from arrays in the joint order of one message layout to states; ``RigidBodyModel.joint_map`` makes it.

    Attributes:
        names: joints of the message. ignored: those of them for which the model has no coordinate (fixed or mimic
            joints, or joints of other devices). joints: joints of the model, in its order.
        places: (k, 4) int64 of each joint of the model: its place in the message, its index in q and in v, and 1 where
            it turns without end, so that q has its cosine and sine.
    """

    def __init__(self, coordinates: Coordinates, floating_base: bool, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.joints = coordinates.joints
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ValueError(f"joint names must differ; given twice: {', '.join(twice)}")
        place = {name: i for i, name in enumerate(self.names)}
        missing = [name for name in self.joints if name not in place]
        if missing:
            listed = ", ".join(missing[:12]) + (f" and {len(missing) - 12} more" if len(missing) > 12 else "")
            strangers = [name for name in self.names if name not in self.joints]
            hint = closest(missing[0], strangers) if self.names else "; the message names no joints"
            hint = hint or "; name those that are never published in locked_joints"
            raise ValueError(f"{len(missing)} of {len(self.joints)} joints are missing: {listed}{hint}")
        known = set(self.joints)
        self.ignored = tuple(name for name in self.names if name not in known)
        source = np.array([place[name] for name in self.joints], dtype=np.intp)
        turns = coordinates.continuous
        self._floating = floating_base
        self._nq, self._nv = coordinates.nq, coordinates.nv
        self._source = source
        self._plain_source, self._plain = source[~turns], coordinates.position_index[~turns]
        self._turn_source, self._cosine = source[turns], coordinates.position_index[turns]
        self._turns = bool(turns.any())
        self._turn_names = [name for name, turns_on in zip(self.joints, turns, strict=True) if turns_on]
        self._velocity = coordinates.velocity_index
        columns = source, coordinates.position_index, self._velocity, turns
        self.places = np.ascontiguousarray(np.stack(columns, axis=1), np.int64)

    def state(
        self,
        stamp_ns: int,
        position: ArrayLike,
        velocity: ArrayLike,
        effort: ArrayLike | None = None,
        base: BaseMeasurement | None = None,
    ) -> RobotState:
        """Make the state of one message.

        Args:
            stamp_ns: of the measurement, integer nanoseconds.
            position, velocity, effort: in the order of ``names``; rad or m, rad/s or m/s, N m or N. No effort, an
                empty one, or NaN for every joint is an effort that was not measured. Ignored joints may hold anything.
            base: needed for a floating base, ignored for a fixed one. A quaternion whose norm is within 1 % of one is
                normalised.

        Raises:
            ValueError: arrays of a wrong length, an entry of a joint of the model that is not finite, no base for a
                floating base, or a quaternion of another norm; the text names the entry. ``ImplausibleError``, a
                ValueError too: the angle of a continuous joint is so large that rounding hides where in its turn it is.
        """
        both = np.empty(self._nq + self._nv)  # one block, so that one test tells whether all is finite
        q, v = both[: self._nq], both[self._nq :]
        angle = self._read("position", position)
        rate = self._read("velocity", velocity)
        if self._floating:
            if base is None:
                raise ValueError("a floating base needs a measurement of the base (odometry)")
            _fill_base(base, q, v)
        q[self._plain] = angle[self._plain_source]
        if self._turns:
            turn = angle[self._turn_source]
            q[self._cosine], q[self._cosine + 1] = np.cos(turn), np.sin(turn)
        v[self._velocity] = rate[self._source]
        if not np.isfinite(both).all():
            self._refuse(angle, rate)
        if self._turns:
            fault = check_turns(self._turn_names, turn)
            if fault:
                raise ImplausibleError(fault)
        if not self._floating or base is None:
            return RobotState(stamp_ns, q, v, self._effort(effort))
        return RobotState(stamp_ns, q, v, self._effort(effort), base.covariance, base.twist_in_world)

    def _read(self, name: str, values: ArrayLike) -> Array:
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (len(self.names),):
            if array.size == 0:
                raise ValueError(f"{name} is empty; {len(self.names)} values are needed")
            raise ValueError(f"{name} has shape {array.shape} for {len(self.names)} joint names")
        return array

    def _effort(self, effort: ArrayLike | None) -> Array | None:
        if effort is None:
            return None
        array = np.asarray(effort, dtype=np.float64)
        if array.size == 0:
            return None
        measured = self._read("effort", array)[self._source]
        full = np.zeros(self._nv)
        full[self._velocity] = measured
        if not np.isfinite(full).all():
            if np.isnan(measured).all():
                return None
            self._name("effort", measured)
        return full

    def _refuse(self, angle: Array, rate: Array) -> None:
        self._name("position", angle[self._source])
        self._name("velocity", rate[self._source])
        raise ValueError("the base has a position or velocity that is not finite")

    def _name(self, kind: str, values: Array) -> None:
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise ValueError(f"{kind} of joint {self.joints[bad[0]]!r} is {values[bad[0]]}, it must be finite")


def _fill_base(base: BaseMeasurement, q: Array, v: Array) -> None:
    x, y, z, w = base.quaternion_xyzw
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    if not abs(norm - 1.0) <= QUATERNION_TOLERANCE:
        raise ValueError(
            f"the base's quaternion has norm {norm:.4g}, not 1"
            + (": the orientation was never set" if norm == 0 else "")
            + (": it is not finite" if not math.isfinite(norm) else "")
        )
    q[0:3] = base.position
    q[3], q[4], q[5], q[6] = x / norm, y / norm, z / norm, w / norm
    v[0:3] = base.linear_velocity
    v[3:6] = base.angular_velocity
