"""Messages in, states out: validation and pairing of the joint-state and odometry streams.

Shared by the live nodes and by replay, so that both refuse the same inputs and pair the same messages. Works on
attributes alone (``sensor_msgs/JointState``, ``nav_msgs/Odometry``), whoever made the message: rclpy or ``rosbags``.

Pairing. Joint states set the pace. One is answered at once when the odometry of its stamp is here. If the two streams
run in step (the last joint states had an odometry of their own stamp each), a joint state waits for its own, which may
arrive just after it; the next joint state ends that wait. If they do not, the newest odometry within
``input.odometry_timeout`` is carried along its own twist to the stamp of the joint state. A body without joints needs
its odometry only.

Plausibility. Joint values far beyond the URDF's limits (``input.limit_factor``), and a base farther or faster than any
robot, are refused by name: what follows from them would look like a number. An effort alone that is beyond its limit
comes from another sensor than the rest, so that the state is used without effort, as where an effort is NaN.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from hybrid_contact_ros.config import InputConfig
from hybrid_contact_ros.mechanics.joints import BaseMeasurement, ImplausibleError, JointMap
from hybrid_contact_ros.mechanics.plausibility import Plausibility
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.odometry import carry, decode_base, odd_covariance
from hybrid_contact_ros.messages.refusals import Fault, RefusedError, sentence
from hybrid_contact_ros.messages.stamps import StampOrder, StreamRate, stamp_of

_IN_STEP = 2
"""That many matches in a row are streams in step. One is not: 200 Hz odometry meets each fifth joint state at 1 kHz."""
_SAME_PLACE = 1e-4  # m and rad, between the frame of the odometry and the root link
JOINTS, ODOM = "joint_states", "odom"


class Model(Protocol):
    """What is needed of a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel`."""

    nq: int
    nv: int
    floating_base: bool
    root_link: str

    @property
    def joint_names(self) -> Sequence[str]: ...

    def joint_map(self, names: Sequence[str]) -> JointMap: ...

    def plausibility(self, factor: float) -> Plausibility: ...

    def base_offset(self, link: str) -> float | None: ...


class Intake:
    """Two streams of messages to one of states.

    Args:
        model: joints are looked up in it by name; it says whether odometry is needed.
        config: timeouts.
        twist_in_world: see :func:`decode_base`.

    Attributes:
        faults: count per reason (keys of :data:`~hybrid_contact_ros.messages.refusals.REASONS`) since the start.
        kinds: the same counts per input and reason. sentences: of each kind the last one, with the numbers.
        last_fault: reason and sentence of the last message that was refused or reported.
        received: messages of each stream. states: those answered. rates: period and losses of each stream.
        frame_id: of positions and velocities: the odometry's ``header.frame_id`` ("" before the first), or the root
            link of a fixed base.
        set_back: the clock was set before the state just returned: estimators must be reset.

    The methods never raise for what a message holds.
    """

    def __init__(self, model: Model, config: InputConfig, twist_in_world: bool = False) -> None:
        self._model = model
        self._plausible = model.plausibility(config.limit_factor)
        self._bounded = config.limit_factor > 0.0
        self._free_body = model.floating_base and not model.joint_names
        self._no_effort = np.zeros(model.nv)  # of a body without joints: known, since nothing drives it
        self._timeout_ns = round(config.odometry_timeout * 1e9)
        self._stale_ns = round(config.stale_after * 1e9)
        self._twist_in_world, self._use_covariance = twist_in_world, config.use_covariance
        self.faults: Counter[str] = Counter()
        self.received: Counter[str] = Counter()
        self.kinds: Counter[Fault] = Counter()
        self.sentences: dict[Fault, str] = {}
        self.last_fault: tuple[str, str] | None = None
        self.states = 0
        self.rates = {JOINTS: StreamRate(), ODOM: StreamRate()}
        self.frame_id = "" if model.floating_base else model.root_link
        self._child: tuple[str, str] = ("", "")  # the odometry's child_frame_id and what is wrong with it
        self.set_back = False
        self._maps: dict[tuple[str, ...], JointMap | str] = {}
        self.reset()

    def reset(self) -> None:
        """Forget the streams so far; counts stay."""
        self._joint_order, self._base_order = StampOrder(), StampOrder()
        for rate in self.rates.values():
            rate.forget()
        self._bases: list[tuple[int, BaseMeasurement]] = []  # newest last, two at most
        self._held: tuple[int, Any] | None = None
        # Joint states in a row that had an odometry of their own stamp. New streams get the benefit of the doubt.
        self._matches = _IN_STEP
        self._matched = True
        self._was_set_back = False
        self._base_fault = ""  # why the newest odometry was refused, if it was

    @property
    def pace(self) -> str:
        """The input whose messages are answered."""
        return ODOM if self._free_body else JOINTS

    def joint_state(
        self, msg: Any, receive_ns: int, number: int | None = None, writer: Any = None
    ) -> RobotState | None:
        """A joint state has come at ``receive_ns``. The state it completes, or ``None`` (it waits, or was refused).

        ``number`` and ``writer``, where the middleware tells them, are as of :meth:`StreamRate.note`.
        """
        self.received["joint_states"] += 1
        if self._free_body:
            return None
        try:
            stamp = self._stamp(JOINTS, msg, number, writer)
            self._in_order(JOINTS, self._joint_order, stamp, receive_ns)
            self._check_lengths(msg)
            if not self._model.floating_base:
                return self._state(stamp, msg, None)
            held, self._held = self._held, None
            if held is not None:
                self._count(*((ODOM, "odometry_late") if self._bases else (ODOM, "no_odometry", self._refused_base())))
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
            self._count(fault.topic or JOINTS, fault.reason, fault.detail)
            return None

    def odometry(self, msg: Any, receive_ns: int, number: int | None = None, writer: Any = None) -> RobotState | None:
        """An odometry has come at ``receive_ns``. The state that waited for it, or ``None``; as :meth:`joint_state`."""
        self.received["odometry"] += 1
        if not self._model.floating_base:
            return None
        try:
            stamp = self._stamp(ODOM, msg, number, writer)
            base = decode_base(msg, self._twist_in_world, self._use_covariance, self._bounded)
            self._in_order(ODOM, self._base_order, stamp, receive_ns)
            self._look_at_frames(msg)
            self._base_fault = ""
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
            if not fault.topic and fault.reason not in ("backward_stamp", "repeated_stamp"):
                self._base_fault = str(fault)
            self._count(fault.topic or ODOM, fault.reason, fault.detail)
            return None

    def refuse(self, why: str) -> None:
        """The state just returned was of no use to the estimator, and why."""
        self._count(self.pace, "state", why)

    def _stamp(self, topic: str, msg: Any, number: int | None, writer: Any) -> int:
        try:
            stamp = stamp_of(msg)
        except RefusedError:
            self.rates[topic].note(0, number, writer)  # it did come
            raise
        self.rates[topic].note(stamp, number, writer)
        return stamp

    def _in_order(self, topic: str, order: StampOrder, stamp: int, receive_ns: int) -> None:
        """Look at the order of stamps and at their age.

        Raises:
            RefusedError: as of :meth:`StampOrder.check`.
        """
        was_set = order.check(stamp, receive_ns)
        if was_set is not None:  # what is on the other side of the jump belongs to before
            self._count(topic, was_set, f"to {stamp * 1e-9:.3f} s")
            self._held = None
            self._bases = [entry for entry in self._bases if entry[0] <= stamp]
            for each in (self._joint_order, self._base_order):
                each.set(stamp)
            self._was_set_back = True
        if self._stale_ns and receive_ns - stamp > self._stale_ns:
            self._count(topic, "stale", f"it is {(receive_ns - stamp) * 1e-9:.3f} s old")
        elif self._stale_ns and stamp - receive_ns > self._stale_ns:
            self._count(topic, "future", f"it is {(stamp - receive_ns) * 1e-9:.3f} s ahead")

    def _look_at_frames(self, msg: Any) -> None:
        """Take the frame of the world from an odometry, and report what it says of itself that cannot be right."""
        self.frame_id = msg.header.frame_id
        child = getattr(msg, "child_frame_id", "")
        if child != self._child[0]:
            offset = self._model.base_offset(child) if child else None
            text = "" if offset is None or offset < _SAME_PLACE else f"{child!r} instead of {self._model.root_link!r}"
            self._child = (child, text)
        if self._child[1]:
            self._count(ODOM, "child_frame", self._child[1])
        if self._use_covariance:
            odd = odd_covariance(msg)
            if odd:
                self._count(ODOM, "covariance", f"that of the {odd}")

    def _refused_base(self) -> str:
        return f"the last one was refused: {self._base_fault}" if self._base_fault else ""

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
            raise RefusedError("no_odometry", self._refused_base(), ODOM)
        at, base = self._bases[-1]
        if abs(stamp - at) > self._timeout_ns:
            away = f"{abs(stamp - at) * 1e-9:.3f} s, input.odometry_timeout is {self._timeout_ns * 1e-9:g} s"
            why = self._refused_base()
            raise RefusedError("odometry_timeout", f"{away}; {why}" if why else away, ODOM)
        return carry(base, (stamp - at) * 1e-9)

    def _state(self, stamp: int, msg: Any, base: BaseMeasurement | None) -> RobotState:
        joints = self._joint_map(msg.name)
        try:
            state = joints.state(stamp, msg.position, msg.velocity, msg.effort, base)
        except ImplausibleError as error:
            raise RefusedError("implausible", str(error), JOINTS) from None
        except ValueError as error:
            # Efforts are often NaN where none is measured; a state without them is still one.
            try:
                state = joints.state(stamp, msg.position, msg.velocity, None, base)
            except ValueError as without:
                raise RefusedError("not_finite", str(without), JOINTS) from None
            self._count(JOINTS, "effort_not_finite", str(error))
        odd = self._plausible.fault(state) if self._plausible.on else None
        if odd is not None:
            kind, text = odd
            if kind == "state":
                raise RefusedError("implausible", text, JOINTS)
            self._count(JOINTS, "effort_implausible", text)
            state = RobotState(stamp, state.q, state.v, None, state.base_covariance)
        return self._found(state)

    def _free_state(self, stamp: int, base: BaseMeasurement) -> RobotState:
        state = self._joint_map(()).state(stamp, (), (), None, base)
        return self._found(RobotState(stamp, state.q, state.v, self._no_effort, state.base_covariance))

    def _found(self, state: RobotState) -> RobotState:
        self.states += 1
        self.set_back, self._was_set_back = self._was_set_back, False
        return state

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
            raise RefusedError("joint_names", found, JOINTS)
        return found

    def _count(self, topic: str, reason: str, detail: str = "") -> None:
        kind = Fault(topic, reason)
        self.faults[reason] += 1
        self.kinds[kind] += 1
        text = self.sentences[kind] = sentence(kind, detail)
        self.last_fault = (reason, text)
