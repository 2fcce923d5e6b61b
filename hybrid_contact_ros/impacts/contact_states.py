"""What a contact that pushes may be doing: demands on its velocity, and the friction that goes with them."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.impacts.contact_space import Array

SECTORS = 8
"""Sectors of sliding directions in space, where the friction polygon is not known."""


class PushMode:
    """One thing that a contact which pushes may be doing: demands on its velocity u, and the arc of its friction
    impulse.

    Args:
        velocity: k rows of 1 + d numbers; the mode demands row · u ≤ 0 of each.
        ends: (j, d) unit vectors. The friction impulse is μ λ_n times a combination of them,
        arc: or, if this is ≥ 0, μ λ_n times unit vectors up to this angle (rad) from ends[0]; π stands for all.
    """

    def __init__(self, velocity: list[tuple[float, ...]], ends: Array, arc: float = -1.0) -> None:
        self.velocity, self.ends, self.arc = np.array(velocity, dtype=float), ends, arc

    def largest_rate(self, normal: Array, tangent: Array, mu: float) -> Array:
        """Largest value (t,) of normal λ_n + tangent · λ_t per λ_n in this mode; normal (t,), tangent (t, d)."""
        along = tangent @ self.ends.T
        if self.arc < 0.0:
            return normal + mu * along.max(axis=1)
        size = np.linalg.norm(tangent, axis=1)
        angle = np.arccos(np.clip(along[:, 0] / np.where(size > 0.0, size, 1.0), -1.0, 1.0))
        return normal + mu * size * np.cos(np.maximum(angle - self.arc, 0.0))


def unit(angle: float) -> tuple[float, float]:
    """The unit vector at an angle (rad) in the tangent plane."""
    return float(np.cos(angle)), float(np.sin(angle))


def push_modes(d: int, mu: float, directions: int | None, compressing: bool) -> list[PushMode]:
    """All modes of a contact that pushes; together they cover every increment.

    Args:
        d: tangents. mu: μ. directions: of the friction polygon in space, or None for all polygons and the circle.
        compressing: the contact may push only while it does not separate; without this (in restitution) it may.
    """
    down: list[tuple[float, ...]] = [(1.0,) + (0.0,) * d] if compressing else []
    if mu == 0.0:
        return [PushMode(down or [(0.0,) * (1 + d)], np.zeros((1, d)))]
    if d == 1:
        left, right = (0.0, 1.0), (0.0, -1.0)
        return [
            PushMode([*down, left, right], np.array([[1.0], [-1.0]])),
            PushMode([*down, left], np.array([[1.0]])),
            PushMode([*down, right], np.array([[-1.0]])),
        ]
    still: list[tuple[float, ...]] = [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    modes = [PushMode(down + still, np.array([[1.0, 0.0]]), np.pi)]
    if directions is not None:
        return modes + _polygon_modes(directions, down)
    half = np.pi / SECTORS
    for j in range(SECTORS):
        angle = 2.0 * half * j
        # A polygon with 4 or more vertices has one within π/4 of the direction opposite to u_t, which friction takes.
        modes.append(PushMode(down + _sector(angle, half), np.array([unit(angle)]), half + np.pi / 4.0))
    return modes + _polygon_modes(2, down)


def _sector(angle: float, half: float) -> list[tuple[float, ...]]:
    """Rows that demand u_t within ``half`` of the direction opposite to ``angle`` (rad)."""
    first, last = unit(angle + np.pi - half), unit(angle + np.pi + half)
    return [(0.0, first[1], -first[0]), (0.0, -last[1], last[0])]


def _polygon_modes(count: int, down: list[tuple[float, ...]]) -> list[PushMode]:
    """Sliding with friction at one of ``count`` vertices, or between two where u_t is at right angles to the edge."""
    modes, half = [], np.pi / count
    for j in range(count):
        angle = 2.0 * half * j
        modes.append(PushMode(down + _sector(angle, half), np.array([unit(angle)])))
        x, y = unit(angle + np.pi + half)
        ray = [*down, (0.0, -y, x), (0.0, y, -x), (0.0, -x, -y)]
        modes.append(PushMode(ray, np.array([unit(angle), unit(angle + 2.0 * half)])))
    return modes
