"""Commands of joints, in one of three types of messages (``input.command``), into one record.

``sensor_msgs/JointState``: position, velocity and feed-forward effort; gains are parameters. What simulators
take on ``joint_command``. ``trajectory_msgs/JointTrajectory``: the same of its first point.
``hybrid_contact_msgs/JointCommand``: gains come with it, as in the LowCmd of a quadruped.

A drive that is given a position without a stiffness that anybody knows is one of which nothing is known. Joints that
the robot does not have are ignored; those that the message does not name go on as they do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import InputConfig
from hybrid_contact_ros.mechanics.commands import JointCommand
from hybrid_contact_ros.messages.joint_states import Model
from hybrid_contact_ros.messages.parts import Parts
from hybrid_contact_ros.messages.refusals import RefusedError

Array = NDArray[np.float64]

COMMAND = "joint_command"
KINDS = {"joint_state": "JointState", "joint_trajectory": "JointTrajectory", "joint_command": "JointCommand"}
"""Types of messages by the values of ``input.command``."""
_POINT = "points.0."
_PATHS = {
    "JointState": ("name", "position", "velocity", "effort", "", ""),
    "JointTrajectory": ("joint_names", f"{_POINT}positions", f"{_POINT}velocities", f"{_POINT}effort", "", ""),
    "JointCommand": ("name", "position", "velocity", "effort", "stiffness", "damping"),
}
_MAPS = 16  # lists of names that are remembered


class JointCommandReader:
    """Makes commands of messages of one type.

    Args:
        joints: the robot's, in its order. places: (k,) of each in v. nv: size of v.
        bounds: (3, nq + 2 nv), of what joints can have
            (:attr:`~hybrid_contact_ros.mechanics.plausibility.Plausibility.bounds`). angles: (k,) places in q of those
            joints whose position it bounds; −1 for those that turn without end.

    Raises:
        ValueError: gains that are not as many as the joints, or an unknown ``input.command``.
    """

    def __init__(
        self, joints: Sequence[str], places: NDArray[np.intp], nv: int, bounds: Array, angles: NDArray[np.intp],
        config: InputConfig,
    ) -> None:  # fmt: skip
        self.kind = KINDS[config.command]
        self._paths = _PATHS[self.kind]
        self._joints, self._places, self._nv = {name: i for i, name in enumerate(joints)}, places, nv
        middle, span = bounds[0], bounds[1]
        base = middle.size - 2 * nv
        self._middle = np.where(angles < 0, 0.0, middle[angles]), np.zeros(places.size), np.zeros(places.size)
        self._span = np.where(angles < 0, np.inf, span[angles]), span[base + places], span[base + nv + places]
        self._gains = _gains(config, len(joints))
        self._maps: dict[tuple[str, ...], tuple[NDArray[np.intp], NDArray[np.intp]] | str] = {}

    @classmethod
    def of(cls, model: Model, config: InputConfig) -> JointCommandReader:
        """That of a robot."""
        whole = model.joint_map(model.joint_names)
        angles = np.where(whole.places[:, 3] != 0, -1, whole.places[:, 1])
        bounds = model.plausibility(config.limit_factor).bounds
        return cls(whole.joints, whole.places[:, 2], model.nv, bounds, angles, config)

    def read(self, parts: Parts, stamp_ns: int) -> JointCommand:
        """The command of a message.

        Raises:
            RefusedError: ``joint_names``, ``array_length``, ``not_finite`` or ``implausible``.
        """
        names, *paths = self._paths
        if self.kind == "JointTrajectory" and not parts.count("points"):
            raise RefusedError("array_length", "a trajectory without a point")
        given = parts.texts(names)
        source, joint = self._map(given)
        values = [self._values(parts, path, len(given), source) for path in paths]
        position, velocity, effort, stiffness, damping = values
        self._check(given, source, joint, values)
        default_stiffness, default_damping = (gains[joint] for gains in self._gains)
        to, wants = _known(position), _known(velocity)
        stiffness = np.where(_known(stiffness), stiffness, default_stiffness)
        damping = np.where(_known(damping), damping, default_damping)
        # Without a gain that is needed, nothing is known of the torque.
        driven = to | wants
        known = (driven | _known(effort)) & (~to | _known(stiffness)) & (~driven | _known(damping))
        at = self._places[joint]
        made = [np.zeros(self._nv) for _ in range(5)]
        for out, value, used in zip(
            made, (position, velocity, effort, stiffness, damping),
            (known & to, known & wants, known & _known(effort), known & to, known & driven), strict=True,
        ):  # fmt: skip
            out[at] = np.where(used, value, 0.0)
        mask = np.zeros(self._nv, dtype=np.bool_)
        mask[at] = known
        position, velocity, effort, stiffness, damping = made
        return JointCommand(stamp_ns, position, velocity, effort, stiffness, damping, mask)

    def _values(self, parts: Parts, path: str, count: int, source: NDArray[np.intp]) -> Array:
        """The values of the robot's joints among those of the message; NaN where it has none."""
        array = parts.numbers(path) if path else np.zeros(0)
        if array.size not in (0, count):
            raise RefusedError("array_length", f"{count} names, {path.rsplit('.')[-1]} {array.size}")
        return array[source] if array.size else np.full(source.size, np.nan)

    def _check(
        self, given: tuple[str, ...], source: NDArray[np.intp], joint: NDArray[np.intp], values: list[Array]
    ) -> None:
        for name, value in zip(("position", "velocity", "effort", "stiffness", "damping"), values, strict=True):
            wrong = np.flatnonzero(np.isinf(value))
            if wrong.size:
                raise RefusedError("not_finite", f"{name} of joint {given[source[wrong[0]]]!r} is {value[wrong[0]]}")
        for k, name in enumerate(("position", "velocity", "effort")):
            off = np.abs(values[k] - self._middle[k][joint])
            wrong = np.flatnonzero(off > self._span[k][joint])
            if wrong.size:
                raise RefusedError(
                    "implausible", f"{name} of joint {given[source[wrong[0]]]!r} is {values[k][wrong[0]]:.6g}"
                )
        for name, value in (("stiffness", values[3]), ("damping", values[4])):
            wrong = np.flatnonzero(value < 0.0)
            if wrong.size:
                raise RefusedError(
                    "implausible", f"{name} of joint {given[source[wrong[0]]]!r} is {value[wrong[0]]:.6g}, below zero"
                )

    def _map(self, names: tuple[str, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Places in the message and among the robot's joints of those that both have.

        Raises:
            RefusedError: ``joint_names``.
        """
        found = self._maps.get(names)
        if found is None:
            twice = sorted({name for name in names if names.count(name) > 1})
            both = [(i, self._joints[name]) for i, name in enumerate(names) if name in self._joints]
            if twice:
                found = f"given twice: {', '.join(twice)}"
            elif not both:
                found = f"none of {', '.join(names) or 'no names'} is a joint of the model"
            else:
                found = np.array([i for i, _ in both]), np.array([j for _, j in both])
            if len(self._maps) >= _MAPS:
                self._maps.clear()
            self._maps[names] = found
        if isinstance(found, str):
            raise RefusedError("joint_names", found)
        return found


def _known(values: Array) -> NDArray[np.bool_]:
    return ~np.isnan(values)


def _gains(config: InputConfig, joints: int) -> tuple[Array, Array]:
    """Stiffness and damping of each joint; NaN where neither is configured. One that is not, beside one that is, is 0.

    Raises:
        ValueError: they are not as many as the joints.
    """
    given = {"stiffness": config.command_stiffness, "damping": config.command_damping}
    rest = 0.0 if any(given.values()) else np.nan
    found = []
    for name, values in given.items():
        if len(values) not in (0, 1, joints):
            raise ValueError(
                f"input.command_{name} has {len(values)} numbers; give none, one for all joints, or {joints}, one each"
            )
        found.append(np.full(joints, values[0] if values else rest) if len(values) < 2 else np.array(values))
    return found[0], found[1]
