"""A uniform rectangular box in the plane that touches planes with its corners: rocking block, box and wall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Any

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

    def __post_init__(self) -> None:
        self._checked(np.zeros(3), np.zeros(3))  # once: sizes do not change, and simulations ask thousands of times

    def problem(self, q: ArrayLike, v: ArrayLike) -> ContactProblem:
        """The contact problem at configuration q (3,) and velocity v (3,).

        Raises:
            ValueError: another shape, or an entry that is not finite.
        """
        q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        if q_.shape != (3,) or v_.shape != (3,):
            raise ValueError(f"q and v of a planar box are (3,), got {q_.shape} and {v_.shape}")
        if not (np.isfinite(q_).all() and np.isfinite(v_).all()):
            return self._checked(q_, v_)
        return ContactProblem.trusted(**self._numbers(q_, v_))

    def gap(self, q: ArrayLike) -> Array:
        """φ(q), (m,)."""
        x, y, angle = (float(value) for value in np.asarray(q, dtype=np.float64))
        c, s = cos(angle), sin(angle)
        return np.array(
            [
                k.normal[0] * (x + c * k.x - s * k.y) + k.normal[1] * (y + s * k.x + c * k.y) - k.offset
                for k in self.corners
            ]
        )

    def _checked(self, q: Array, v: Array) -> ContactProblem:
        """The contact problem with everything validated, as by the constructor of ContactProblem."""
        return ContactProblem(**self._numbers(q, v))

    def _numbers(self, q: Array, v: Array) -> dict[str, Any]:
        """The fields of the contact problem by name."""
        x, y, angle = q.tolist()
        rate = float(v[2])
        c, s = np.cos(angle), np.sin(angle)
        m = len(self.corners)
        normal_rows, tangent_rows = np.empty((m, 3)), np.empty((m, 1, 3))
        gap, drift = np.empty(m), np.empty((m, 2))
        for i, corner in enumerate(self.corners):
            nx, ny = corner.normal
            ax, ay = c * corner.x - s * corner.y, s * corner.x + c * corner.y  # the tangent is (ny, −nx)
            across, along = nx * ax + ny * ay, ny * ax - nx * ay
            normal_rows[i] = nx, ny, ny * ax - nx * ay
            tangent_rows[i, 0] = ny, -nx, -across
            gap[i] = nx * x + ny * y + across - corner.offset
            drift[i] = -(rate**2) * across, -(rate**2) * along
        inertia = self.mass * (self.width**2 + self.height**2) / 12.0
        return {
            "mass": np.diag([self.mass, self.mass, inertia]),
            "velocity": v,
            "normal_jacobian": normal_rows,
            "tangent_jacobian": tangent_rows,
            "friction": np.full(m, self.friction),
            "restitution": np.full(m, self.restitution),
            "gap": gap,
            "bias_force": np.array([0.0, self.mass * self.gravity, 0.0]),
            "jacobian_drift": drift,
            "names": tuple(corner.name for corner in self.corners),
        }
