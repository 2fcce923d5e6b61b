"""What the drives of a robot are told to do, and the torques that they then give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.coordinates import Coordinates

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class JointCommand:
    """The command of one instant: each drive gives τ = effort + stiffness (position − q) + damping (velocity − q̇),
    within its limits, and acts on until the next command.

    All arrays are in the order of v (nv,), zero where nothing is commanded, and never written.

    Attributes:
        stamp_ns: when it was given.
        position: rad or m. velocity: rad/s or m/s. effort: feed-forward, N m or N.
        stiffness: N m/rad or N/m. damping: N m s/rad or N s/m.
        known: (nv,) bool, which drives are told what to do; of the others nothing is known.
    """

    stamp_ns: int
    position: Array
    velocity: Array
    effort: Array
    stiffness: Array
    damping: Array
    known: NDArray[np.bool_]


class DriveLimits:
    """Efforts that the drives can give, and the angles that commands are compared with.

    Attributes:
        limit: (nv,), N m or N, of each coordinate: that of the URDF; infinite where it has none, or one of zero.
    """

    def __init__(self, model: pin.Model, coordinates: Coordinates) -> None:
        self._q, self._v, self._turns = (
            coordinates.position_index, coordinates.velocity_index, coordinates.continuous,
        )  # fmt: skip
        self._turning = bool(self._turns.any())
        self.limit = np.full(coordinates.nv, np.inf)
        for name, at in zip(coordinates.joints, self._v, strict=True):
            limit = float(model.effortLimit[model.joints[model.getJointId(name)].idx_v])
            if 0.0 < limit < np.inf:
                self.limit[at] = limit

    def angles(self, q: Array) -> Array:
        """The position (…, nv) of each joint at q (…, nq), rad or m; zero for a floating base."""
        found = np.zeros((*q.shape[:-1], self.limit.size))
        if q.ndim == 1:
            found[self._v] = q[self._q]  # as below, in a third of the time
        else:
            found[..., self._v] = q[..., self._q]
        if self._turning:
            at = self._q[self._turns]
            found[..., self._v[self._turns]] = np.arctan2(q[..., at + 1], q[..., at])
        return found

    def torque(self, command: JointCommand, q: Array, v: Array, otherwise: Array | None) -> Array:
        """τ (nv,) at a state, within the limits; ``otherwise`` (nv,), or zero, where nothing is commanded."""
        off = command.position - self.angles(q)
        if self._turning:
            at = self._v[self._turns]
            off[at] = (off[at] + np.pi) % (2.0 * np.pi) - np.pi
        asked = command.effort + command.stiffness * off + command.damping * (command.velocity - v)
        asked = np.clip(asked, -self.limit, self.limit)
        return np.where(command.known, asked, 0.0 if otherwise is None else otherwise)
