"""Messages in, states out: the streams of joint states and odometry are validated and paired.

Live nodes and replay share this code, so that both refuse the same inputs and pair the same messages. It takes
``sensor_msgs/JointState`` and ``nav_msgs/Odometry`` as their bytes, or as messages, of which it reads the attributes
alone, whoever made them: rclpy or ``rosbags``.

What else a robot may have (:data:`SIDE`) becomes part of the states near it, and keeps none of them waiting
(:mod:`.side_inputs`).

Joint states set the pace, each with the odometry of its stamp, or with one that is carried there (:mod:`.pairing`). A
body without joints needs its odometry only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hybrid_contact_ros.config import InputConfig
from hybrid_contact_ros.estimation.base_from_legs import BaseFromLegs
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.beside import side_inputs
from hybrid_contact_ros.messages.doubts import Doubts
from hybrid_contact_ros.messages.imu import IMU
from hybrid_contact_ros.messages.inertial_trail import InertialTrail
from hybrid_contact_ros.messages.joint_commands import COMMAND
from hybrid_contact_ros.messages.joint_states import JOINTS, JointReading, JointStateReader, Model
from hybrid_contact_ros.messages.odometry import Base, OdometryReader
from hybrid_contact_ros.messages.pairing import ODOM, Pairing
from hybrid_contact_ros.messages.parts import PartsReader
from hybrid_contact_ros.messages.refusals import DOUBTS, DoubtedError, Fault, RefusedError, sentence
from hybrid_contact_ros.messages.serialized import Deserialize, as_message
from hybrid_contact_ros.messages.stamps import StampOrder, StreamRate, stamp_of

_SAME_PLACE = 1e-4  # m and rad; the frame of the odometry may be this far from the root link

RECEIVED = {JOINTS: "joint_states", ODOM: "odometry"}
"""Keys of ``Intake.received`` of inputs that have another one than their name."""

__all__ = ["COMMAND", "JOINTS", "ODOM", "RECEIVED", "Intake"]


_UPRIGHT = Base(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), None)


class Intake:
    """Makes one stream of states of two streams of messages. No method raises for what a message holds.

    Args:
        model: its joints are looked up by name, and it says whether odometry is needed.
        config: timeouts and limits.
        twist_in_world: see :class:`~.odometry.OdometryReader`.
        deserialize: makes a message of bytes that are not as those before.
        objects: make messages of all bytes.

    Attributes:
        faults: number of faults since the start for each reason, a key of
            :data:`~hybrid_contact_ros.messages.refusals.REASONS`.
        kinds: the same numbers for each input and reason.
        sentences: the last fault of each of these kinds in words.
        last_fault: reason and sentence of the last message that was refused or reported.
        received: number of messages of each stream.
        states: number of states returned.
        side: the inputs that the robot may have or not, by their topics.
        rates: period and losses of each stream.
        frame_id: frame of positions and velocities: the odometry's ``header.frame_id`` (empty before the first one), or
            the root link of a fixed base.
        needs_odometry: whether states have their base from odometry.
        set_back: whether the clock was set just before the state that was returned last: estimators must then be reset.
    """

    def __init__(
        self,
        model: Model,
        config: InputConfig,
        twist_in_world: bool = False,
        deserialize: Deserialize = as_message,
        objects: bool = False,
    ) -> None:
        self._model = model
        self._reader = JointStateReader(model, config.limit_factor, self._count, deserialize, objects)
        bounded = config.limit_factor > 0.0
        self._odometry = OdometryReader(twist_in_world, config.use_covariance, bounded, deserialize, objects)
        self._free_body = model.floating_base and not model.joint_names
        self._stale_ns = round(config.stale_after * 1e9)
        self._delay_ns = round(config.odometry_delay * 1e9)
        self.needs_odometry = model.floating_base and config.base == "odometry"
        self._unit = InertialTrail() if config.imu and self.needs_odometry else None
        self._pairing = Pairing(round(config.odometry_timeout * 1e9), not self._delay_ns, self._count, self._unit)
        self._legs = BaseFromLegs(cast(Any, model)) if model.floating_base and config.base == "imu" else None
        self._with_covariance = config.use_covariance
        self.faults: Counter[str] = Counter()
        self.received: Counter[str] = Counter()
        self.kinds: Counter[Fault] = Counter()
        self.sentences: dict[Fault, str] = {}
        self.last_fault: tuple[str, str] | None = None
        self.states = 0
        self.side, self._beside = side_inputs(
            model, config, lambda kind: PartsReader(kind, deserialize, objects), self._count, lambda: self.frame_id
        )
        self.rates = {JOINTS: StreamRate(), ODOM: StreamRate(), **{name: side.rate for name, side in self.side.items()}}
        self._doubts = Doubts(model, self.needs_odometry, IMU in self.side)
        self.frame_id = "" if model.floating_base else model.root_link
        self._child: tuple[str, str] = ("", "")  # the odometry's child_frame_id and what is wrong with it
        self.set_back = False
        self.reset()

    def reset(self) -> None:
        """Forget the streams so far; counts stay."""
        self._joint_order, self._base_order = StampOrder(), StampOrder()
        self._reader.forget()
        for side in self.side.values():
            side.reset()
        self._doubts.reset()
        if self._legs is not None:
            self._legs.reset()
        for rate in self.rates.values():
            rate.forget()
        self._pairing.reset()
        if self._unit is not None:
            self._unit.reset()
        self._was_set_back = False

    @property
    def pace(self) -> str:
        """The input whose messages are answered."""
        return ODOM if self._free_body else JOINTS

    def joint_state(
        self, msg: Any, receive_ns: int, number: int | None = None, writer: Any = None
    ) -> RobotState | None:
        """A joint state has come at ``receive_ns``: the state that it completes, or ``None`` where it waits or is
        refused.

        ``number`` and ``writer``, where the middleware tells them, are as of :meth:`StreamRate.note`.
        """
        self.received["joint_states"] += 1
        if self._free_body:
            return None
        try:
            stamp, joints = self._stamped(JOINTS, self._reader.read, msg, number, writer)
            self._in_order(JOINTS, self._joint_order, stamp, receive_ns)
            self._reader.complete(stamp, joints)
            if not self._model.floating_base:
                return self._state(stamp, joints, None)
            if self._legs is not None:
                return self._found(self._on_legs(self._legs, stamp, joints))
            pair = self._pairing.add_joints(stamp, joints)
            return None if pair is None else self._state(*pair)
        except DoubtedError:
            return None
        except RefusedError as fault:
            self._count(fault.topic or JOINTS, fault.reason, fault.detail)
            return None

    def odometry(self, msg: Any, receive_ns: int, number: int | None = None, writer: Any = None) -> RobotState | None:
        """An odometry has come at ``receive_ns``: the state that waited for it, or ``None``; see
        :meth:`joint_state`."""
        self.received["odometry"] += 1
        if not self.needs_odometry:
            return None
        try:
            stamp, odometry = self._stamped(ODOM, self._odometry.read, msg, number, writer)
            base, odd = self._odometry.base()
            self._in_order(ODOM, self._base_order, stamp, receive_ns)
            self._look_at_frames(odometry.frame_id, odometry.child_frame_id, odd)
            self._pairing.refused = ""
            for doubt in self._doubts.odometry(stamp, base):
                self._count(*doubt)
            if self._free_body:
                return self._found(self._reader.free_state(stamp, base))
            pair = self._pairing.add_base(stamp - self._delay_ns, base, self._joint_order.last)
            return None if pair is None else self._state(*pair)
        except DoubtedError:
            return None
        except RefusedError as fault:
            if not fault.topic and fault.reason not in ("backward_stamp", "repeated_stamp"):
                self._pairing.refused = str(fault)
            self._count(fault.topic or ODOM, fault.reason, fault.detail)
            return None

    def side_input(self, topic: str, msg: Any, receive_ns: int, number: int | None = None, writer: Any = None) -> None:
        """A message of one of :attr:`side` has come; see :meth:`joint_state`. It answers no state."""
        self.received[topic] += 1
        taken = self.side[topic].take(msg, receive_ns, number, writer, self._beside_in_order, self._count)
        if topic == IMU and self._unit is not None and taken is not None:
            self._unit.add(taken)

    def contradictions(self, reported: float) -> list[str]:
        """What was told of numbers that contradict each other, where that is more than this share of a stream."""
        shares = {
            kind: n / max(1, self.received[RECEIVED.get(kind.topic, kind.topic)]) for kind, n in self.kinds.items()
        }
        return [
            f"{100.0 * share:.0f} % odd: {self.sentences[kind]}"
            for kind, share in shares.items()
            if kind.reason in DOUBTS and share > reported
        ]

    def refuse(self, why: str) -> None:
        """The estimator could not compute with the state that was returned last; ``why`` says why."""
        self._count(self.pace, "state", why)

    def _stamped(self, topic: str, read: Any, msg: Any, number: int | None, writer: Any) -> tuple[int, Any]:
        """The stamp of a message and what ``read`` makes of it; every message that came is noted."""
        rate = self.rates[topic]
        try:
            reading = read(msg)
            stamp = stamp_of(reading.sec, reading.nanosec)
        except RefusedError:
            rate.note(0, number, writer)  # the message is refused, but it did come
            raise
        rate.note(stamp, number, writer)
        return stamp, reading

    def _in_order(self, topic: str, order: StampOrder, stamp: int, receive_ns: int) -> None:
        """Look at the order of stamps and at their age.

        Raises:
            RefusedError, DoubtedError: as of :meth:`StampOrder.check`.
        """
        if self._beside_in_order(topic, order, stamp, receive_ns):  # what is kept from before belongs to the past
            self._pairing.forget_after(stamp)
            other = self._base_order if order is self._joint_order else self._joint_order
            other.set(stamp)
            for side in self.side.values():
                side.order.set(stamp)
            self._was_set_back = True

    def _beside_in_order(self, topic: str, order: StampOrder, stamp: int, receive_ns: int) -> bool:
        """Look at the order of stamps and at their age; whether the clock was set.

        Raises:
            RefusedError, DoubtedError: as of :meth:`StampOrder.check`.
        """
        try:
            was_set = order.check(stamp, receive_ns)
        finally:
            for stray in order.strays():
                self._count(topic, stray.reason, stray.detail)
        if was_set is not None:
            self._count(topic, was_set, f"to {stamp * 1e-9:.3f} s")
        if self._stale_ns and receive_ns - stamp > self._stale_ns:
            self._count(topic, "stale", f"it is {(receive_ns - stamp) * 1e-9:.3f} s old")
        elif self._stale_ns and stamp - receive_ns > self._stale_ns:
            self._count(topic, "future", f"it is {(stamp - receive_ns) * 1e-9:.3f} s ahead")
        return was_set is not None

    def _look_at_frames(self, frame_id: str, child: str, odd_covariance: bool) -> None:
        """Take the world frame from an odometry, and report a child frame or a covariance that cannot be right."""
        self.frame_id = frame_id
        if child != self._child[0]:
            offset = self._model.base_offset(child) if child else None
            text = "" if offset is None or offset < _SAME_PLACE else f"{child!r} instead of {self._model.root_link!r}"
            self._child = (child, text)
        if self._child[1]:
            self._count(ODOM, "child_frame", self._child[1])
        if odd_covariance:
            self._count(ODOM, "covariance", f"that of the {self._odometry.odd_covariance()}")

    def _state(self, stamp: int, joints: JointReading, base: Base | None) -> RobotState:
        return self._found(self._reader.state(stamp, joints, base))

    def _on_legs(self, legs: BaseFromLegs, stamp: int, joints: JointReading) -> RobotState:
        """The state with a base from the legs and the inertial unit.

        Raises:
            RefusedError: ``no_imu``, or as of :meth:`JointStateReader.state`.
        """
        state = self._reader.state(stamp, joints, _UPRIGHT)
        imu = self.side[IMU].near(stamp)
        base = None if imu is None else legs.add(stamp, state.q, state.v, imu)
        if base is None:
            raise RefusedError("no_imu", "none is here" if imu is None else "it lacks one of the two", IMU)
        state = base.below(state)
        return state if self._with_covariance else replace(state, base_covariance=None)

    def _found(self, state: RobotState) -> RobotState:
        self.states += 1
        self.set_back, self._was_set_back = self._was_set_back, False
        for doubt in self._doubts.state(state):
            self._count(*doubt)
        beside = {name: side.at(state.stamp_ns, self._count) for name, side in self._beside if side.there}
        if not beside:
            return state
        state = replace(state, **beside)
        for doubt in self._doubts.imu(state):
            self._count(*doubt)
        return state

    def _count(self, topic: str, reason: str, detail: str = "") -> None:
        kind = Fault(topic, reason)
        self.faults[reason] += 1
        self.kinds[kind] += 1
        text = self.sentences[kind] = sentence(kind, detail)
        self.last_fault = (reason, text)
