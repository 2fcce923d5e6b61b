"""Joint states, and a base measured at the same time, into states of the robot; what cannot be is refused by name.

Values far beyond the limits of the URDF (``input.limit_factor``) are refused, because what follows from them would look
like a number. An effort alone that is beyond its limit comes from another sensor than the rest, so that the state is
used without effort, as it is where an effort is NaN.

A joint state is a message, or its bytes. Of bytes that differ from the last ones in numbers only, the numbers are read
where they stand; all others are made messages first. Either way the same kernel puts the numbers in order and says
whether all of them can be used. Where not all can, the code that finds and names the fault looks at the same numbers.

Drivers that measure positions alone leave velocities empty, or NaN for every joint, as ros2_control's joint state
broadcaster does. Velocities are then the slopes of the positions (:mod:`.slopes`), which is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from struct import Struct
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.messages.measurements import MEASURED, ODD, joint_state
from hybrid_contact_ros.mechanics.joints import BaseMeasurement, ImplausibleError, JointMap
from hybrid_contact_ros.mechanics.plausibility import Plausibility
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.cdr import BEGIN, STAMP, Layout
from hybrid_contact_ros.messages.layouts import LAYOUTS, Layouts
from hybrid_contact_ros.messages.odometry import Base
from hybrid_contact_ros.messages.refusals import RefusedError
from hybrid_contact_ros.messages.serialized import Deserialize, as_message, deserialized
from hybrid_contact_ros.messages.slopes import LEAST, PositionSlopes

_NUMBER = Struct("<d")
_MAPS = 16  # lists of joint names that are remembered; names that change with every message must not fill the memory
JOINTS = "joint_states"
_NO_BASE, _NO_NUMBERS = np.zeros(0), np.zeros(0)


class Model(Protocol):
    """What is needed of a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel`."""

    nq: int
    nv: int
    floating_base: bool
    root_link: str
    contact_names: tuple[str, ...]
    contact_frames: tuple[str, ...]
    velocity_names: tuple[str, ...]
    spheres: Any

    @property
    def joint_names(self) -> Sequence[str]: ...

    def joint_map(self, names: Sequence[str]) -> JointMap: ...

    def difference(self, start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def plausibility(self, factor: float) -> Plausibility: ...

    def base_offset(self, link: str) -> float | None: ...

    def frame_of(self, link: str) -> tuple[int, NDArray[np.float64], NDArray[np.float64]] | None: ...


class _JointLayout(Layout):
    """The layout of a ``sensor_msgs/JointState`` with the names of the robot's joints and a number for each.

    Attributes:
        joints: from the order of the message to that of the model.
        first: where the numbers of position, velocity and effort begin among those of :meth:`load`; −1 for none.

    Raises:
        ValueError: it is no such message, or one to be refused.
    """

    def __init__(self, data: bytes, find: Callable[[Sequence[str]], JointMap]) -> None:
        super().__init__("JointState", data)
        names = [self.texts[f"name.{k}"] for k in range(self.counts["name"])]
        self.joints = find(names)
        arrays = [self.numbers[name] for name in ("position", "velocity", "effort")]
        n = len(names)
        if any(array.size not in (n, n if array.path == "position" else 0) for array in arrays):
            raise ValueError("an array is not as long as the names")
        self.first = tuple((array.offset - BEGIN) // 8 if array.size else -1 for array in arrays)
        self._first_joint = int(self.joints.places[0, 0]) if len(self.joints.places) else 0
        # The whole message in memory of ours, where what CDR aligns is aligned: no kernel sees the memory of others.
        self._memory = np.zeros((len(data) - BEGIN + 7) // 8)
        self._bytes = self._memory.data.cast("B")[: len(data) - BEGIN]

    def moves(self, data: bytes) -> bool:
        """Whether the first joint of the robot has a velocity. One that is not a number is a fault, or all are none."""
        at = self.first[1]
        return at >= 0 and not isnan(_NUMBER.unpack_from(data, BEGIN + 8 * (at + self._first_joint))[0])

    def load(self, data: bytes) -> NDArray[np.float64]:
        """The numbers of a message, until the next call."""
        self._bytes[:] = data[BEGIN:]
        return self._memory


class JointReading:
    """A joint state whose stamp is known, and whose numbers are not looked at yet.

    Attributes:
        slopes: its velocities, where the driver measures none, in the order of its names.
    """

    __slots__ = ("layout", "nanosec", "sec", "slopes", "source")

    def __init__(self, sec: int, nanosec: int, source: Any, layout: _JointLayout | None) -> None:
        self.sec, self.nanosec, self.source, self.layout = sec, nanosec, source, layout
        self.slopes: NDArray[np.float64] | None = None


class JointStateReader:
    """Makes states of joint states and base measurements.

    Args:
        model: its joints are looked up by name.
        limit_factor: values beyond this many times the limits of the URDF are refused; 0 refuses none.
        report: called with topic, reason and detail of what is odd about a state that is used all the same.
        deserialize: makes messages of the bytes that are unusual.
        objects: do so with all bytes.
    """

    def __init__(
        self,
        model: Model,
        limit_factor: float,
        report: Callable[[str, str, str], None],
        deserialize: Deserialize = as_message,
        objects: bool = False,
    ) -> None:
        self._model = model
        self._nq, self._nv = model.nq, model.nv
        self._plausible = model.plausibility(limit_factor)
        self._bounds = self._plausible.bounds
        self._report = report
        self._deserialize = deserialize
        self._maps: dict[tuple[str, ...], JointMap | str] = {}
        self._slopes = PositionSlopes()
        self._layouts = Layouts(lambda data: _JointLayout(data, self._joint_map), 0 if objects else LAYOUTS)

    def read(self, msg: Any) -> JointReading:
        """Look at the stamp of a ``sensor_msgs/JointState``, or of its bytes.

        Raises:
            RefusedError: ``unreadable``.
        """
        if isinstance(msg, bytes):
            layout = self._layouts.find(msg)
            if layout is not None:
                sec, nanosec = STAMP.unpack_from(msg, BEGIN)
                return JointReading(sec, nanosec, msg, layout)
            data, msg = msg, deserialized("JointState", msg, self._deserialize)
            self._layouts.learn(data)
        stamp = msg.header.stamp
        return JointReading(int(stamp.sec), int(stamp.nanosec), msg, None)

    def complete(self, stamp: int, reading: JointReading) -> None:
        """Look at the lengths of its arrays, and find velocities where it has none.

        Joint states must come in the order of their stamps (ns).

        Raises:
            RefusedError: ``array_length``, ``no_velocity`` where it has none and too few came before it, or
                ``joint_names``.
        """
        layout = reading.layout
        velocity: Any = ()
        if layout is None:
            msg = reading.source
            n = len(msg.name)
            if len(msg.position) != n or len(msg.velocity) not in (0, n) or len(msg.effort) not in (0, n):
                sizes = f"position {len(msg.position)}, velocity {len(msg.velocity)}, effort {len(msg.effort)}"
                raise RefusedError("array_length", f"{n} names, {sizes}")
            joints, position, velocity = self._joint_map(msg.name), msg.position, msg.velocity
        else:
            if layout.moves(reading.source):
                return
            joints, numbers, first, n = layout.joints, layout.load(reading.source), layout.first, layout.counts["name"]
            position = numbers[first[0] : first[0] + n]
            if first[1] >= 0:
                velocity = numbers[first[1] : first[1] + n]
        ours = joints.places[:, 0]  # what other devices publish may be anything
        if len(velocity) and not np.isnan(np.asarray(velocity)[ours]).all():
            return
        position = np.asarray(position, dtype=np.float64)[ours]
        if not np.isfinite(position).all():
            return  # it is refused with the name of the joint
        slopes = self._slopes.add(stamp, joints.names, position)
        if slopes is None:
            raise RefusedError("no_velocity", f"slopes are of {LEAST} positions")
        reading.slopes = np.full(n, np.nan)
        reading.slopes[ours] = slopes
        self._report(JOINTS, "velocity_from_positions", "")

    def forget(self) -> None:
        """The next joint state does not go on where the last one ended."""
        self._slopes.forget()

    def state(self, stamp: int, reading: JointReading, base: Base | None) -> RobotState:
        """The state of a joint state, with the base at the same stamp where the model has one.

        Raises:
            RefusedError: ``joint_names``, ``implausible`` or ``not_finite``.
        """
        joints, numbers, first = self._numbers(reading)
        out = np.empty(self._nq + 2 * self._nv)
        found = self._ordered(joints, numbers, first, base, out)
        if found != ODD:
            return self._made(stamp, out, found == MEASURED, base)
        n = len(joints.names)
        arrays = [numbers[at : at + n] if at >= 0 else None for at in first]
        try:
            return self._odd(stamp, joints, arrays, None if base is None else base.measurement)
        except RefusedError:
            self._slopes.withdraw(stamp)
            raise

    def _numbers(self, reading: JointReading) -> tuple[JointMap, NDArray[np.float64], tuple[int, ...]]:
        """The joints of a joint state, its numbers, and where position, velocity and effort begin in them (−1: none).

        Raises:
            RefusedError: ``joint_names``.
        """
        layout = reading.layout
        if layout is not None and reading.slopes is None and layout.first[1] >= 0:
            return layout.joints, layout.load(reading.source), layout.first
        if layout is None:
            msg = reading.source
            joints, arrays = self._joint_map(msg.name), [msg.position, msg.velocity, msg.effort]
        else:
            joints, loaded, n = layout.joints, layout.load(reading.source), len(layout.joints.names)
            arrays = [loaded[at : at + n] if at >= 0 else () for at in layout.first]
        n = len(joints.names)
        if reading.slopes is not None:
            arrays[1] = reading.slopes
        numbers = np.full(3 * n, np.nan)
        for k, array in enumerate(arrays):
            if len(array):
                numbers[k * n : (k + 1) * n] = array
        return joints, numbers, (0, n, 2 * n if len(arrays[2]) else -1)

    def free_state(self, stamp: int, base: Base) -> RobotState:
        """The state of a body without joints, which nothing drives.

        Raises:
            RefusedError: ``joint_names``: the model has joints.
        """
        out = np.empty(self._nq + 2 * self._nv)
        self._ordered(self._joint_map(()), _NO_NUMBERS, (-1, -1, -1), base, out)
        return self._made(stamp, out, True, base)

    def _ordered(self, joints: JointMap, numbers: Any, first: tuple[int, ...], base: Base | None, out: Any) -> int:
        measured = _NO_BASE if base is None else base.numbers
        return int(joint_state(self._nq, self._nv, joints.places, self._bounds, numbers, *first, measured, out))

    def _made(self, stamp: int, out: NDArray[np.float64], measured: bool, base: Base | None) -> RobotState:
        nq, nv = self._nq, self._nv
        effort = out[nq + nv :] if measured else None
        q, v = out[:nq], out[nq : nq + nv]
        if base is None:
            return RobotState(stamp, q, v, effort)
        return RobotState(
            stamp, q, v, effort, base.covariance, base.twist_in_world, base_carried=base.carried, base_late=base.late
        )

    def _odd(self, stamp: int, joints: JointMap, arrays: Sequence[Any], base: BaseMeasurement | None) -> RobotState:
        """The state of position, velocity and effort (or None) of which something is odd.

        Raises:
            RefusedError: ``implausible`` or ``not_finite``.
        """
        position, velocity, effort = arrays
        try:
            state = joints.state(stamp, position, velocity, effort, base)
        except ImplausibleError as error:
            raise RefusedError("implausible", str(error), JOINTS) from None
        except ValueError as error:
            # Efforts are often NaN where none is measured; a state without them is still one.
            try:
                state = joints.state(stamp, position, velocity, None, base)
            except ValueError as without:
                raise RefusedError("not_finite", str(without), JOINTS) from None
            self._report(JOINTS, "effort_not_finite", str(error))
        odd = self._plausible.fault(state) if self._plausible.on else None
        if odd is not None:
            kind, text = odd
            if kind == "state":
                raise RefusedError("implausible", text, JOINTS)
            self._report(JOINTS, "effort_implausible", text)
            state = replace(state, effort=None)
        return state

    def _joint_map(self, names: Sequence[str]) -> JointMap:
        """Where the joints of these names are in the model.

        Raises:
            RefusedError: ``joint_names``.
        """
        key = tuple(names)
        found = self._maps.get(key)
        if found is None:
            try:
                found = self._model.joint_map(key)
            except ValueError as error:
                found = str(error)
            if len(self._maps) >= _MAPS:
                self._maps.clear()
            self._maps[key] = found
        if isinstance(found, str):
            raise RefusedError("joint_names", found, JOINTS)
        return found
