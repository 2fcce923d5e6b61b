"""What joints can measure at all, from the limits in the URDF: a value far beyond is a fault of sensor or unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.coordinates import Coordinates
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

# Bounds for a joint without a limit, with one of zero (poor URDFs have it), or with a larger one: no robot has more.
_ABSOLUTE = {"velocity": 1e4, "effort": 1e7}  # rad/s or m/s; N m or N
# A passive or badly described joint may have a tiny limit in its URDF: a smaller limit than this is taken as this.
_SMALLEST_LIMIT = {"velocity": 1.0, "effort": 10.0}
_LARGEST_ANGLE = 1e9  # rad: wheels turn on for days; beyond, the rounding of an angle becomes visible
_LARGEST_LENGTH = 1e4  # m, of a prismatic joint without a range
# Margin of a position by whether the joint turns: a turn, rad, for encoders count turns and start anywhere; or 5 cm.
_MARGIN = {True: 2.0 * math.pi, False: 0.05}


class Plausibility:
    """Bounds of what the joints of one model can measure.

    A position may be off the middle of its range by ``factor`` times half the range plus a margin (a turn, or 5 cm);
    velocities and efforts may be ``factor`` times their limits. The bounds are generous by design, for real joints
    stand a little beyond their stops, encoders count whole turns, and impacts are faster than the URDF says. A range,
    velocity or effort that is zero, not finite or absurd in the URDF is replaced by what no joint exceeds. Joints that
    are (cos, sin) pairs in q are bounded where they are read
    (:meth:`~hybrid_contact_ros.mechanics.joints.JointMap.state`). The base is not bounded.

    Args:
        model: of Pinocchio, with the URDF's limits. types: of each joint, as the URDF has it.
        factor: 0 switches the check off.
    """

    def __init__(self, model: pin.Model, coordinates: Coordinates, types: Mapping[str, str], factor: float) -> None:
        self._joints = coordinates.joints
        self._turning = [types[name] != "prismatic" for name in self._joints]
        self._nq, nv = coordinates.nq, coordinates.nv
        self._q, self._v = coordinates.position_index, coordinates.velocity_index
        size = self._nq + 2 * nv
        self._parts = slice(0, self._nq), slice(self._nq, self._nq + nv), slice(self._nq + nv, size)
        self._middle, self._span, self._scratch = np.zeros(size), np.full(size, np.inf), np.zeros(size)
        self.on = factor > 0.0 and bool(self._joints)
        for name, i, j, turning, continuous in zip(
            self._joints, self._q, self._v, self._turning, coordinates.continuous, strict=True
        ):
            joint = model.joints[model.getJointId(name)]
            low, high = float(model.lowerPositionLimit[joint.idx_q]), float(model.upperPositionLimit[joint.idx_q])
            if not continuous:
                self._middle[i], self._span[i] = _range(low, high, turning, factor)
            self._span[self._parts[1]][j] = _limit("velocity", float(model.velocityLimit[joint.idx_v]), factor)
            self._span[self._parts[2]][j] = _limit("effort", float(model.effortLimit[joint.idx_v]), factor)

    @property
    def bounds(self) -> Array:
        """(3, nq + 2 nv), of q, v and effort: the middles of their intervals, half their widths, and (the first of the
        last row) the largest angle of a joint that turns without end."""
        found = np.zeros((3, self._middle.size))
        found[0], found[1] = (self._middle, self._span) if self.on else (0.0, np.inf)
        found[2, 0] = _LARGEST_ANGLE
        return found

    def fault(self, state: RobotState) -> tuple[str, str] | None:
        """The first number beyond its bounds: "state" or "effort", and a text with joint, value and bounds; or None.

        A state of which only the effort is beyond its bounds can be used without the effort.
        """
        seen = self._scratch
        q, v, effort = self._parts
        seen[q], seen[v] = state.q, state.v
        seen[effort] = 0.0 if state.effort is None else state.effort
        seen -= self._middle
        np.abs(seen, out=seen)
        beyond = seen > self._span
        if not beyond.any():
            return None
        for kind, index, values, part in (
            ("position", self._q, state.q, q),
            ("velocity", self._v, state.v, v),
            ("effort", self._v, state.effort, effort),
        ):
            odd = np.flatnonzero(beyond[part][index])
            if odd.size and values is not None:
                at = index[odd[0]]
                middle, span = self._middle[part][at], self._span[part][at]
                text = f"{kind} of joint {self._joints[odd[0]]!r} is {values[at]:.6g} {self._unit(kind, int(odd[0]))}, "
                return (
                    "effort" if kind == "effort" else "state",
                    text + f"outside [{middle - span:.6g}, {middle + span:.6g}]",
                )
        return None

    def _unit(self, kind: str, joint: int) -> str:
        rotary = {"position": "rad", "velocity": "rad/s", "effort": "N m"}
        linear = {"position": "m", "velocity": "m/s", "effort": "N"}
        return (rotary if self._turning[joint] else linear)[kind]


def check_turns(names: Sequence[str], angles: Array) -> str:
    """What is wrong with the angles (rad) of continuous joints; empty where nothing is."""
    odd = np.flatnonzero(np.abs(angles) > _LARGEST_ANGLE)
    if not odd.size:
        return ""
    value, bound = angles[odd[0]], _LARGEST_ANGLE
    return f"position of joint {names[odd[0]]!r} is {value:.6g} rad, outside [{-bound:g}, {bound:g}]"


def _range(low: float, high: float, turning: bool, factor: float) -> tuple[float, float]:
    """Middle and half width of the interval in which a position may be."""
    widest = _LARGEST_ANGLE if turning else _LARGEST_LENGTH
    if not (math.isfinite(low) and math.isfinite(high) and low < high and high - low < widest):
        return 0.0, widest
    return 0.5 * (low + high), factor * (0.5 * (high - low) + _MARGIN[turning])


def _limit(kind: str, limit: float, factor: float) -> float:
    """The bound of a velocity or an effort with this limit in the URDF."""
    absolute = _ABSOLUTE[kind]
    return min(absolute, factor * max(limit, _SMALLEST_LIMIT[kind])) if 0.0 < limit < absolute else absolute
