"""Messages in, states out: decoding, validation and pairing of the joint-state and odometry streams.

Shared by the live nodes and by replay, so that both refuse the same inputs and pair the same messages. Works on
attributes alone (``sensor_msgs/JointState``, ``nav_msgs/Odometry``), whoever made the message: rclpy or ``rosbags``.

Pairing. Joint states set the pace. One is answered at once when the odometry of its stamp is here. If the two streams
run in step (the last joint states had an odometry of their own stamp each), a joint state waits for its own, which may
arrive just after it; the next joint state ends that wait. If they do not, the newest odometry within
``input.odometry_timeout`` is carried along its own twist to the stamp of the joint state. A body without joints needs
its odometry only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import InputConfig
from hybrid_contact_ros.mechanics.joints import QUATERNION_TOLERANCE, BaseMeasurement, JointMap
from hybrid_contact_ros.mechanics.state import RobotState

REASONS: dict[str, str] = {
    # refused
    "invalid_stamp": "the stamp is zero, negative or has nanoseconds outside [0, 1e9)",
    "backward_stamp": "the stamp is older than one already seen",
    "repeated_stamp": "the stamp is that of the message before",
    "array_length": "position or effort is not as long as name",
    "no_velocity": "velocity is missing: the publisher of the joint states must fill it",
    "joint_names": "the joints do not fit the model",
    "not_finite": "a value is NaN or infinite",
    "quaternion_norm": "the orientation is not a unit quaternion",
    "no_odometry": "no odometry has arrived, and the model has a floating base",
    "odometry_timeout": "the newest odometry is too far from the joint state (input.odometry_timeout)",
    "state": "the estimator cannot compute with the state",
    # used, and reported
    "stale": "the message is older than input.stale_after",
    "future": "the stamp is ahead of the clock by more than input.stale_after",
    "effort_not_finite": "an effort is NaN or infinite: the state is used without effort",
    "odometry_late": "the odometry of the same stamp did not come before the next joint state",
    "clock_set_back": "the stamps went back and stayed: the streams start anew",
}
"""What each count of :attr:`Intake.faults` means."""

_SET_BACK = 10
"""That many older stamps in a row, in order among themselves, are a clock that was set back (a bag that starts over,
a simulator's reset), not a stray message or a second publisher."""

_IN_STEP = 2
"""That many matches in a row are streams in step. One is not: 200 Hz odometry meets each fifth joint state at 1 kHz."""


class Model(Protocol):
    """What is needed of a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel`."""

    nq: int
    nv: int
    floating_base: bool

    @property
    def joint_names(self) -> Sequence[str]: ...

    def joint_map(self, names: Sequence[str]) -> JointMap: ...


class RefusedError(ValueError):
    """A message that may not be used; ``reason`` is a key of :data:`REASONS`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{REASONS[reason]}: {detail}" if detail else REASONS[reason])
        self.reason = reason


def stamp_of(msg: Any) -> int:
    """Integer nanoseconds of ``msg.header.stamp``.

    Raises:
        RefusedError: ``invalid_stamp``.
    """
    stamp = msg.header.stamp
    sec, nanosec = int(stamp.sec), int(stamp.nanosec)
    if sec < 0 or not 0 <= nanosec < 1_000_000_000 or sec + nanosec == 0:
        raise RefusedError("invalid_stamp", f"sec {sec}, nanosec {nanosec}")
    return sec * 1_000_000_000 + nanosec


def decode_base(msg: Any, twist_in_world: bool = False, use_covariance: bool = False) -> BaseMeasurement:
    """Pose and twist of a ``nav_msgs/Odometry``.

    Args:
        msg: its twist is in the child frame, as the message definition says (Pinocchio's free-flyer convention).
        twist_in_world: the driver publishes the twist in the axes of ``header.frame_id`` instead; it is turned.
        use_covariance: read both covariances too (zeros, and what is no covariance, count as none).

    Raises:
        RefusedError: ``not_finite`` or ``quaternion_norm``.
    """
    pose, twist = msg.pose.pose, msg.twist.twist
    p, o, u, w = pose.position, pose.orientation, twist.linear, twist.angular
    total = p.x + p.y + p.z + o.x + o.y + o.z + o.w + u.x + u.y + u.z + w.x + w.y + w.z
    if not isfinite(total):  # the sum of finite numbers is, bar overflow, which is no measurement either
        for name, value in (("position", p), ("orientation", o), ("linear velocity", u), ("angular velocity", w)):
            entries = (value.x, value.y, value.z, getattr(value, "w", 0.0))
            if not all(map(isfinite, entries)):
                raise RefusedError("not_finite", f"odometry {name}: {', '.join(map(str, entries))}")
        raise RefusedError("not_finite", "odometry overflows")
    norm = sqrt(o.x * o.x + o.y * o.y + o.z * o.z + o.w * o.w)
    if not abs(norm - 1.0) <= QUATERNION_TOLERANCE:
        raise RefusedError("quaternion_norm", f"its norm is {norm:.6g}")
    quaternion = np.array((o.x, o.y, o.z, o.w))
    linear = np.array((u.x, u.y, u.z))
    angular = np.array((w.x, w.y, w.z))
    if twist_in_world:
        rotation = _rotation(quaternion / norm)
        linear, angular = rotation.T @ linear, rotation.T @ angular
    covariance = decode_covariance(msg, quaternion / norm, twist_in_world) if use_covariance else None
    return BaseMeasurement(np.array((p.x, p.y, p.z)), quaternion, linear, angular, covariance)


def decode_covariance(msg: Any, quaternion: NDArray[np.float64], twist_in_world: bool) -> NDArray[np.float64] | None:
    """Covariances (2, 6, 6) of pose and twist, both in the base frame; None where the message has neither.

    A block that is all zeros, not finite or with a negative variance (drivers mark "unknown" with −1) counts as zero.
    """
    found = np.array((msg.pose.covariance, msg.twist.covariance), dtype=np.float64).reshape(2, 6, 6)
    if not found.any():
        return None
    for block in found:
        if not (np.isfinite(block).all() and (np.diagonal(block) >= 0.0).all()):
            block[:] = 0.0
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = _rotation(quaternion).T
    found[0] = turn @ found[0] @ turn.T  # of the pose: along and about the axes of the world
    if twist_in_world:
        found[1] = turn @ found[1] @ turn.T
    return found if found.any() else None


def carry(base: BaseMeasurement, seconds: float) -> BaseMeasurement:
    """The base ``seconds`` later (earlier when negative) if its twist stays as it is in the world frame: translation
    along the linear velocity, rotation by the angular one, both first order in what is left out (acceleration)."""
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


class _Order:
    """Lets stamps through that go forward, and notices a clock that was set back."""

    def __init__(self) -> None:
        self.last = 0
        self._older = 0
        self._run = 0

    def check(self, stamp_ns: int) -> bool:
        """True when the clock was set back to this stamp.

        Raises:
            RefusedError: ``repeated_stamp`` or ``backward_stamp``.
        """
        if stamp_ns > self.last:
            self.last = stamp_ns
            self._run = 0
            return False
        if stamp_ns == self.last:
            raise RefusedError("repeated_stamp", f"{stamp_ns} ns")
        self._run = self._run + 1 if self._run and stamp_ns > self._older else 1
        self._older = stamp_ns
        if self._run >= _SET_BACK:
            self.last = stamp_ns
            self._run = 0
            return True
        raise RefusedError("backward_stamp", f"{(self.last - stamp_ns) * 1e-9:.6f} s before the newest")


class Intake:
    """Two streams of messages to one of states.

    Args:
        model: joints are looked up in it by name; it says whether odometry is needed.
        config: timeouts.
        twist_in_world: see :func:`decode_base`.

    Attributes:
        faults: count per reason (keys of :data:`REASONS`) since the start.
        last_fault: reason and a sentence with the numbers, of the last message that was refused or reported.
        received: messages of each stream. states: those answered.
        frame_id: the odometry's ``header.frame_id`` ("" before the first).
        set_back: the clock was set back before the state just returned: estimators must be reset.

    The methods never raise for what a message holds.
    """

    def __init__(self, model: Model, config: InputConfig, twist_in_world: bool = False) -> None:
        self._model = model
        self._free_body = model.floating_base and not model.joint_names
        self._no_effort = np.zeros(model.nv)  # of a body without joints: known, since nothing drives it
        self._timeout_ns = round(config.odometry_timeout * 1e9)
        self._stale_ns = round(config.stale_after * 1e9)
        self._twist_in_world, self._use_covariance = twist_in_world, config.use_covariance
        self.faults: Counter[str] = Counter()
        self.received: Counter[str] = Counter()
        self.last_fault: tuple[str, str] | None = None
        self.states = 0
        self.frame_id = ""
        self.set_back = False
        self._maps: dict[tuple[str, ...], JointMap | str] = {}
        self.reset()

    def reset(self) -> None:
        """Forget the streams so far; counts stay."""
        self._joint_order, self._base_order = _Order(), _Order()
        self._bases: list[tuple[int, BaseMeasurement]] = []  # newest last, two at most
        self._held: tuple[int, Any] | None = None
        # Joint states in a row that had an odometry of their own stamp. New streams get the benefit of the doubt.
        self._matches = _IN_STEP
        self._matched = True
        self._was_set_back = False

    def joint_state(self, msg: Any, receive_ns: int) -> RobotState | None:
        """A joint state has come at ``receive_ns``. The state it completes, or ``None`` (it waits, or was refused)."""
        self.received["joint_states"] += 1
        if self._free_body:
            return None
        try:
            stamp = stamp_of(msg)
            if self._joint_order.check(stamp):
                self._start_anew(stamp)
            self._age(stamp, receive_ns)
            self._check_lengths(msg)
            if not self._model.floating_base:
                return self._state(stamp, msg, None)
            held, self._held = self._held, None
            if held is not None:
                self._count("odometry_late" if self._bases else "no_odometry")
            self._matches = self._matches + 1 if self._matched else 0
            base = self._base_at(stamp)
            self._matched = base is not None
            if base is not None:
                return self._state(stamp, msg, base)
            if self._matches >= _IN_STEP:
                self._held = (stamp, msg)
                return None
            return self._state(stamp, msg, self._carried(stamp))
        except RefusedError as fault:
            self._count(fault.reason, str(fault))
            return None

    def odometry(self, msg: Any, receive_ns: int) -> RobotState | None:
        """An odometry has come at ``receive_ns``. The state that waited for it, or ``None``."""
        self.received["odometry"] += 1
        if not self._model.floating_base:
            return None
        try:
            stamp = stamp_of(msg)
            base = decode_base(msg, self._twist_in_world, self._use_covariance)
            if self._base_order.check(stamp):
                self._start_anew(stamp)
            self._age(stamp, receive_ns)
            self.frame_id = msg.header.frame_id
            if self._free_body:
                return self._free_state(stamp, base)
            self._bases = [*self._bases[-1:], (stamp, base)]
            if stamp == self._joint_order.last:
                self._matched = True
            if self._held is None or stamp < self._held[0]:
                return None
            (at, joints), self._held = self._held, None
            exact = self._base_at(at)
            return self._state(at, joints, exact if exact is not None else self._carried(at))
        except RefusedError as fault:
            self._count(fault.reason, str(fault))
            return None

    def refuse(self, sentence: str) -> None:
        """The state just returned was of no use to the estimator, and why."""
        self._count("state", sentence)

    def _start_anew(self, stamp: int) -> None:
        """The clock was set back to ``stamp``: what is newer belongs to before."""
        self._count("clock_set_back")
        self._held = None
        self._bases = [entry for entry in self._bases if entry[0] <= stamp]
        for order in (self._joint_order, self._base_order):
            order.last = min(order.last, stamp)
        self._was_set_back = True

    def _age(self, stamp: int, receive_ns: int) -> None:
        if self._stale_ns and receive_ns - stamp > self._stale_ns:
            self._count("stale", f"{(receive_ns - stamp) * 1e-9:.3f} s old")
        elif self._stale_ns and stamp - receive_ns > self._stale_ns:
            self._count("future", f"{(stamp - receive_ns) * 1e-9:.3f} s ahead")

    def _check_lengths(self, msg: Any) -> None:
        n = len(msg.name)
        if n and not len(msg.velocity):
            raise RefusedError("no_velocity")
        if len(msg.position) != n or len(msg.velocity) != n or len(msg.effort) not in (0, n):
            sizes = f"position {len(msg.position)}, velocity {len(msg.velocity)}, effort {len(msg.effort)}"
            raise RefusedError("array_length", f"{n} names, {sizes}")

    def _base_at(self, stamp: int) -> BaseMeasurement | None:
        for at, base in reversed(self._bases):
            if at == stamp:
                return base
        return None

    def _carried(self, stamp: int) -> BaseMeasurement:
        if not self._bases:
            raise RefusedError("no_odometry")
        at, base = self._bases[-1]
        if abs(stamp - at) > self._timeout_ns:
            raise RefusedError("odometry_timeout", f"it is {abs(stamp - at) * 1e-9:.3f} s away")
        return carry(base, (stamp - at) * 1e-9)

    def _state(self, stamp: int, msg: Any, base: BaseMeasurement | None) -> RobotState:
        joints = self._joint_map(msg.name)
        try:
            state = joints.state(stamp, msg.position, msg.velocity, msg.effort, base)
        except ValueError as error:
            # Efforts are often NaN where none is measured; a state without them is still one.
            try:
                state = joints.state(stamp, msg.position, msg.velocity, None, base)
            except ValueError as without:
                raise RefusedError("not_finite", str(without)) from None
            self._count("effort_not_finite", str(error))
        self.states += 1
        self.set_back, self._was_set_back = self._was_set_back, False
        return state

    def _free_state(self, stamp: int, base: BaseMeasurement) -> RobotState:
        state = self._joint_map(()).state(stamp, (), (), None, base)
        self.states += 1
        self.set_back, self._was_set_back = self._was_set_back, False
        return RobotState(stamp, state.q, state.v, self._no_effort, state.base_covariance)

    def _joint_map(self, names: Sequence[str]) -> JointMap:
        key = tuple(names)
        found = self._maps.get(key)
        if found is None:
            try:
                found = self._model.joint_map(key)
            except ValueError as error:
                found = str(error)
            if len(self._maps) >= 16:  # names that change with every message must not fill the memory
                self._maps.clear()
            self._maps[key] = found
        if isinstance(found, str):
            raise RefusedError("joint_names", found)
        return found

    def _count(self, reason: str, sentence: str | None = None) -> None:
        self.faults[reason] += 1
        text = REASONS[reason] if sentence is None else sentence
        self.last_fault = (reason, text)
