"""Joint states, and a base measured at the same time, into states of the robot; what cannot be is refused by name.

Values far beyond the limits of the URDF (``input.limit_factor``) are refused, because what follows from them would look
like a number. An effort alone that is beyond its limit comes from another sensor than the rest, so that the state is
used without effort, as it is where an effort is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from hybrid_contact_ros.mechanics.joints import BaseMeasurement, ImplausibleError, JointMap
from hybrid_contact_ros.mechanics.plausibility import Plausibility
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.refusals import RefusedError

_MAPS = 16  # lists of joint names that are remembered; names that change with every message must not fill the memory
JOINTS = "joint_states"


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


class JointStateReader:
    """Makes states of joint states and base measurements.

    Args:
        model: its joints are looked up by name.
        limit_factor: values beyond this many times the limits of the URDF are refused; 0 refuses none.
        report: called with topic, reason and detail of what is odd about a state that is used all the same.
    """

    def __init__(self, model: Model, limit_factor: float, report: Callable[[str, str, str], None]) -> None:
        self._model = model
        self._plausible = model.plausibility(limit_factor)
        self._report = report
        self._no_effort = np.zeros(model.nv)  # of a body without joints: nothing drives it
        self._maps: dict[tuple[str, ...], JointMap | str] = {}

    def check_lengths(self, msg: Any) -> None:
        """Look at the lengths of the arrays of a ``sensor_msgs/JointState``.

        Raises:
            RefusedError: ``no_velocity`` or ``array_length``.
        """
        n = len(msg.name)
        if n and not len(msg.velocity):
            raise RefusedError("no_velocity")
        if len(msg.position) != n or len(msg.velocity) != n or len(msg.effort) not in (0, n):
            sizes = f"position {len(msg.position)}, velocity {len(msg.velocity)}, effort {len(msg.effort)}"
            raise RefusedError("array_length", f"{n} names, {sizes}")

    def state(self, stamp: int, msg: Any, base: BaseMeasurement | None) -> RobotState:
        """The state of a ``sensor_msgs/JointState``, with the base at the same stamp where the model has one.

        Raises:
            RefusedError: ``joint_names``, ``implausible`` or ``not_finite``.
        """
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
            self._report(JOINTS, "effort_not_finite", str(error))
        odd = self._plausible.fault(state) if self._plausible.on else None
        if odd is not None:
            kind, text = odd
            if kind == "state":
                raise RefusedError("implausible", text, JOINTS)
            self._report(JOINTS, "effort_implausible", text)
            state = RobotState(stamp, state.q, state.v, None, state.base_covariance)
        return state

    def free_state(self, stamp: int, base: BaseMeasurement) -> RobotState:
        """The state of a body without joints."""
        state = self._joint_map(()).state(stamp, (), (), None, base)
        return RobotState(stamp, state.q, state.v, self._no_effort, state.base_covariance)

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
