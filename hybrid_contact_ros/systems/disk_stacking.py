"""A disk that falls on two others, which touch each other and the ground (Halm, Fig. 14, Table 8).

Contacts A and B hold the left and the right disk on the ground, C and D the top disk on these two, and E is between
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.example import ImpactExample

RADIUS, MASS, FRICTION, SPEED = 1.0, 1.0, sqrt(3.0), 1.0
PUBLISHED_MASS = 5.0  # the published code overwrites the mass with the number of contacts


@dataclass(frozen=True, slots=True)
class DiskStack:
    """Three uniform disks of ``radius`` (m) and ``mass`` (kg); q = (x, y, θ) of the top, left and right one, v = q̇.

    A normal points from the ground to the disk, or from the first disk of a pair to the second; the tangent is the
    normal turned by −90°. With ``skewed`` the tangents are (n_y, n_x), as in the published code, and those of C and D
    are then not orthogonal to the normals.
    """

    radius: float = RADIUS
    mass: float = MASS
    friction: float = FRICTION
    skewed: bool = False
    gravity: float = 9.81

    def problem(self, q: ArrayLike, v: ArrayLike) -> ContactProblem:
        """The contact problem at configuration q (9,) and velocity v (9,)."""
        place, speed = np.reshape(np.asarray(q, dtype=float), (3, 3)), np.reshape(np.asarray(v, dtype=float), (3, 3))
        r = self.radius
        normal, tangent = np.zeros((5, 3, 3)), np.zeros((5, 3, 3))
        gap, drift = np.empty(5), np.zeros((5, 2))
        for i, disk in enumerate((1, 2)):
            normal[i, disk, 1], tangent[i, disk, 0], tangent[i, disk, 2] = 1.0, 1.0, r
            gap[i] = place[disk, 1] - r
        for i, (a, b) in enumerate(((0, 1), (0, 2), (1, 2)), start=2):
            apart, moving = place[b, :2] - place[a, :2], speed[b, :2] - speed[a, :2]
            distance = float(np.hypot(*apart))
            n = apart / distance
            t = np.array([n[1], n[0] if self.skewed else -n[0]])
            across = np.array([-n[1], n[0]])  # n turned by +90°, which a turning disk moves its rim along
            normal[i, b, :2], normal[i, a, :2] = n, -n
            tangent[i, b, :2], tangent[i, a, :2] = t, -t
            tangent[i, a, 2] = tangent[i, b, 2] = -r * t @ across
            gap[i] = distance - 2 * r
            turning = across @ moving / distance  # rate of the normal's direction
            t_rate = turning * (np.array([n[0], -n[1]]) if self.skewed else n)
            drift[i] = turning * (across @ moving), t_rate @ moving
            if self.skewed:
                spin = speed[a, 2] + speed[b, 2]
                drift[i, 1] += r * 4 * n[0] * n[1] * turning * spin
        inertia = 0.5 * self.mass * r**2
        return ContactProblem(
            mass=np.diag(np.tile([self.mass, self.mass, inertia], 3)),
            velocity=speed.ravel(),
            normal_jacobian=normal.reshape(5, 9),
            tangent_jacobian=tangent.reshape(5, 1, 9),
            friction=np.full(5, self.friction),
            gap=gap,
            bias_force=np.tile([0.0, self.mass * self.gravity, 0.0], 3),
            jacobian_drift=drift,
            names=["A", "B", "C", "D", "E"],
        )


def disk_stacking_impact(published: bool = False) -> ImpactExample:
    """The top disk comes down at 1 m/s (Halm, Table 8), with mass and tangents of the published code if
    ``published``."""
    stack = DiskStack(mass=PUBLISHED_MASS, skewed=True) if published else DiskStack()
    q = (RADIUS, RADIUS * (1 + sqrt(3.0)), 0.0, 0.0, RADIUS, 0.0, 2 * RADIUS, RADIUS, 0.0)
    problem = stack.problem(q, (0.0, -SPEED, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    return ImpactExample(problem, step=1.0, max_steps=10, samples=2**20)
