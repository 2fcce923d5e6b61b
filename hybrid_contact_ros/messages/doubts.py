"""What is told of states whose numbers contradict each other, or the robot: which look at which, and in what order.

What one of them finds odd makes others say more than they can know, and these are then not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.frozen import Frozen
from hybrid_contact_ros.messages.imu import IMU
from hybrid_contact_ros.messages.imu_doubts import ImuDoubts
from hybrid_contact_ros.messages.joint_doubts import JointDoubts
from hybrid_contact_ros.messages.joint_states import JOINTS
from hybrid_contact_ros.messages.leg_doubts import LegDoubts
from hybrid_contact_ros.messages.odometry import Base
from hybrid_contact_ros.messages.odometry_doubts import OdometryDoubts
from hybrid_contact_ros.messages.pairing import ODOM
from hybrid_contact_ros.messages.stamp_doubts import StampDoubts


class Doubt(NamedTuple):
    """What is odd: the input, the reason (a key of :data:`~.refusals.REASONS`), and the numbers in words."""

    topic: str
    reason: str
    detail: str


class Doubts:
    """All that looks at states and odometry, and refuses none of them.

    Args:
        model: a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel`. with_base: whether odometry gives the
            base. with_imu: whether states have inertial measurements.
    """

    def __init__(self, model: Any, with_base: bool, with_imu: bool) -> None:
        self._free_body = model.floating_base and not model.joint_names
        self._first = (7, 6) if model.floating_base else (0, 0)  # joint in q and in v
        self._motion, self._frozen, self._frozen_base = OdometryDoubts(), Frozen(), Frozen()
        self._joints, self._stamps = JointDoubts(model), StampDoubts(model)
        self._imu = ImuDoubts(with_base) if with_imu else None
        self._legs = LegDoubts(model) if with_base else None
        self.reset()

    def reset(self) -> None:
        """Forget the streams."""
        self._odd_base = ""
        for each in (
            self._motion, self._joints, self._stamps, self._imu, self._legs, self._frozen, self._frozen_base,
        ):  # fmt: skip
            if each is not None:
                each.reset()

    def odometry(self, stamp: int, base: Base) -> Iterator[Doubt]:
        """Of an odometry."""
        self._odd_base = self._frozen_base.add(stamp, base.numbers[:7], base.numbers[7:13])
        if self._odd_base:
            self._motion.reset()
            yield Doubt(ODOM, "frozen", self._odd_base)
            return
        self._odd_base = self._motion.add(stamp, base)
        if self._odd_base:
            yield Doubt(ODOM, "twist", self._odd_base)

    def state(self, state: RobotState) -> Iterator[Doubt]:
        """Of a state, before its inertial measurement is there."""
        if odd := self._frozen.add(state.stamp_ns, state.q[self._first[0] :], state.v[self._first[1] :]):
            for each in (self._stamps, self._joints, self._legs):
                if each is not None:
                    each.reset()
            yield Doubt(JOINTS, "frozen", odd)
            return
        if odd := self._stamps.add(state):
            yield Doubt(ODOM if self._free_body else JOINTS, "stamp_unit", odd)
        odd_rates = "" if self._free_body else self._joints.add(state)
        if odd_rates:
            yield Doubt(JOINTS, "velocity", odd_rates)
        if self._legs is None:
            return
        if odd_rates or self._odd_base:
            self._legs.reset()
        elif odd := self._legs.add(state):
            yield Doubt(JOINTS, "legs", odd)

    def imu(self, state: RobotState) -> Iterator[Doubt]:
        """Of a state that may have an inertial measurement."""
        if self._imu is not None:
            for odd in self._imu.add(state):
                yield Doubt(IMU, "imu_units", odd)
