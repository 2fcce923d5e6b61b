"""A planar tree of links on a floating point that touches level ground with round feet: compass gait, RAMone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Link:
    """A link that turns about a joint.

    Attributes:
        parent: index of the link that carries the joint, −1 for the floating point.
        joint: (x, y) of the joint in the parent's frame, m; (0, 0) on the floating point.
        mass: kg. centre: (x, y) of the centre of mass in the link's frame, whose origin is the joint, m.
        inertia: about the centre of mass, kg m².
    """

    parent: int
    joint: tuple[float, float]
    mass: float
    centre: tuple[float, float]
    inertia: float = 0.0


@dataclass(frozen=True, slots=True)
class Foot:
    """A disk of ``radius`` (m, 0: a point) about (x, y) of a link, that may touch the ground y = 0."""

    name: str
    link: int
    position: tuple[float, float]
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanarLinkage:
    """Links, parents first; q = (x, y, θ_0, θ_1, …) of the floating point and the joints, v = q̇ (m, rad, s).

    θ_i is the angle of link i relative to its parent, counter-clockwise; links of the floating point count from the
    vertical. Tangents point along +x.
    """

    links: Sequence[Link]
    feet: Sequence[Foot]
    friction: float
    gravity: float = 9.81

    def path(self, link: int) -> list[int]:
        """The link and those that carry it, root first."""
        found: list[int] = []
        while link >= 0:
            found.append(link)
            link = self.links[link].parent
        return found[::-1]

    def point(self, q: Array, v: Array, link: int, position: tuple[float, float]) -> tuple[Array, Array, Array, Array]:
        """Position (2,), Jacobian (2, nv) and J̇v (2,) of a point of a link, and the Jacobian (nv,) of the link's
        angle."""
        path = self.path(link)
        here, drift = q[:2].astype(float), np.zeros(2)
        joints, turning = [], np.zeros(q.size)
        angle = rate = 0.0
        for i, part in enumerate(path):
            joints.append(here.copy())
            turning[2 + part] = 1.0
            angle, rate = angle + q[2 + part], rate + v[2 + part]
            along = np.array(self.links[path[i + 1]].joint if i + 1 < len(path) else position)
            arm = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ along
            here, drift = here + arm, drift - rate**2 * arm
        jacobian = np.zeros((2, q.size))
        jacobian[:, :2] = np.eye(2)
        for part, joint in zip(path, joints, strict=True):
            jacobian[:, 2 + part] = joint[1] - here[1], here[0] - joint[0]
        return here, jacobian, drift, turning

    def problem(self, q: ArrayLike, v: ArrayLike) -> ContactProblem:
        """The contact problem at configuration q and velocity v, each (2 + links,).

        Raises:
            ValueError: another shape, or an entry that is not finite.
        """
        q_, v_ = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        nv, m = 2 + len(self.links), len(self.feet)
        if q_.shape != (nv,) or v_.shape != (nv,):
            raise ValueError(f"q and v have shapes {q_.shape} and {v_.shape}; ({nv},) is needed: x, y and the angles")
        mass, bias = np.zeros((nv, nv)), np.zeros(nv)
        for i, link in enumerate(self.links):
            _, jacobian, drift, turning = self.point(q_, v_, i, link.centre)
            mass += link.mass * jacobian.T @ jacobian + link.inertia * np.outer(turning, turning)
            bias += link.mass * jacobian.T @ (drift + np.array([0.0, self.gravity]))
        normal, tangent = np.empty((m, nv)), np.empty((m, 1, nv))
        gap, contact_drift = np.empty(m), np.empty((m, 2))
        for i, foot in enumerate(self.feet):
            place, jacobian, drift, turning = self.point(q_, v_, foot.link, foot.position)
            normal[i], tangent[i, 0] = jacobian[1], jacobian[0] + foot.radius * turning
            gap[i], contact_drift[i] = place[1] - foot.radius, drift[::-1]
        return ContactProblem(
            mass=mass,
            velocity=v_,
            normal_jacobian=normal,
            tangent_jacobian=tangent,
            friction=np.full(m, self.friction),
            gap=gap,
            bias_force=bias,
            jacobian_drift=contact_drift,
            names=[foot.name for foot in self.feet],
        )
