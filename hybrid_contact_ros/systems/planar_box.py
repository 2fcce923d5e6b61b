"""A uniform rectangular box in the plane, touching planes with its corners: rocking block, box and wall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Corner:
    """A corner (x, y in the box's frame, m) and the plane {p : normal · p = offset} that it may touch.

    The tangent is the normal turned by −90°: along +x on level ground.
    """

    name: str
    x: float
    y: float
    normal: tuple[float, float]
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanarBox:
    """A uniform box of ``width`` × ``height`` (m) and ``mass`` (kg); q = (x, y, θ) of its centre, v = q̇."""

    width: float
    height: float
    mass: float
    friction: float
    corners: Sequence[Corner]
    restitution: float = 0.0
    gravity: float = 9.81

    def problem(self, q: ArrayLike, v: ArrayLike) -> ContactProblem:
        """The contact problem at configuration q (3,) and velocity v (3,)."""
        x, y, angle = (float(value) for value in np.asarray(q, dtype=np.float64))
        rate = float(np.asarray(v, dtype=np.float64)[2])
        c, s = np.cos(angle), np.sin(angle)
        m = len(self.corners)
        normal_rows, tangent_rows = np.empty((m, 3)), np.empty((m, 1, 3))
        gap, drift = np.empty(m), np.empty((m, 2))
        for i, corner in enumerate(self.corners):
            n = np.array(corner.normal)
            t = np.array([n[1], -n[0]])
            arm = np.array([c * corner.x - s * corner.y, s * corner.x + c * corner.y])
            turn = np.array([-arm[1], arm[0]])  # velocity of the corner at θ̇ = 1
            normal_rows[i] = n[0], n[1], n @ turn
            tangent_rows[i, 0] = t[0], t[1], t @ turn
            gap[i] = n @ (np.array([x, y]) + arm) - corner.offset
            drift[i] = -(rate**2) * (n @ arm), -(rate**2) * (t @ arm)
        inertia = self.mass * (self.width**2 + self.height**2) / 12.0
        return ContactProblem(
            mass=np.diag([self.mass, self.mass, inertia]),
            velocity=v,
            normal_jacobian=normal_rows,
            tangent_jacobian=tangent_rows,
            friction=np.full(m, self.friction),
            restitution=np.full(m, self.restitution),
            gap=gap,
            bias_force=np.array([0.0, self.mass * self.gravity, 0.0]),
            jacobian_drift=drift,
            names=[corner.name for corner in self.corners],
        )
