"""What a contact that pushes may be doing: demands on its velocity, and the friction that goes with them."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.impacts.contact_space import Array

SECTORS = 8
"""Sectors of sliding directions in space, where the friction polygon is not known."""


class Mode:
    """What a contact that pushes may be doing: demands on its velocity and the arc of its friction impulse.

    Attributes:
        velocity: (k, 1 + d), rows with row u ≤ 0.
        ends: (j, d) unit vectors; friction per μ λ_n is a combination of these,
        arc: or, if ≥ 0, of unit vectors up to this angle from ends[0]; π for all.
    """

    def __init__(self, velocity: list[tuple[float, ...]], ends: Array, arc: float = -1.0) -> None:
        self.velocity, self.ends, self.arc = np.array(velocity, dtype=float), ends, arc

    def most(self, normal: Array, tangent: Array, mu: float) -> Array:
        """Largest normal λ_n + tangent λ_t per λ_n; normal (t,), tangent (t, d)."""
        along = tangent @ self.ends.T
        if self.arc < 0.0:
            return normal + mu * along.max(axis=1)
        size = np.linalg.norm(tangent, axis=1)
        angle = np.arccos(np.clip(along[:, 0] / np.where(size > 0.0, size, 1.0), -1.0, 1.0))
        return normal + mu * size * np.cos(np.maximum(angle - self.arc, 0.0))


def unit(angle: float) -> tuple[float, float]:
    return float(np.cos(angle)), float(np.sin(angle))


def contact_modes(d: int, mu: float, directions: int | None, compressing: bool) -> list[Mode]:
    """All that a pushing contact may be doing; they cover every increment. Not compressing: it may separate."""
    down: list[tuple[float, ...]] = [(1.0,) + (0.0,) * d] if compressing else []
    if mu == 0.0:
        return [Mode(down or [(0.0,) * (1 + d)], np.zeros((1, d)))]
    if d == 1:
        left, right = (0.0, 1.0), (0.0, -1.0)
        return [
            Mode([*down, left, right], np.array([[1.0], [-1.0]])),
            Mode([*down, left], np.array([[1.0]])),
            Mode([*down, right], np.array([[-1.0]])),
        ]
    still: list[tuple[float, ...]] = [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    modes = [Mode(down + still, np.array([[1.0, 0.0]]), np.pi)]
    if directions is not None:
        return modes + _of_polygon(directions, down)
    half = np.pi / SECTORS
    for j in range(SECTORS):
        angle = 2.0 * half * j
        # a polygon of 4 or more vertices has one within π/4 of the direction opposite to u_t that is farthest
        modes.append(Mode(down + _sector(angle, half), np.array([unit(angle)]), half + np.pi / 4.0))
    return modes + _of_polygon(2, down)


def _sector(angle: float, half: float) -> list[tuple[float, ...]]:
    """Rows that demand u_t within ``half`` of the direction opposite to ``angle``."""
    first, last = unit(angle + np.pi - half), unit(angle + np.pi + half)
    return [(0.0, first[1], -first[0]), (0.0, -last[1], last[0])]


def _of_polygon(count: int, down: list[tuple[float, ...]]) -> list[Mode]:
    """Sliding with friction at one vertex, or between two where u_t is at right angles to the edge."""
    modes, half = [], np.pi / count
    for j in range(count):
        angle = 2.0 * half * j
        modes.append(Mode(down + _sector(angle, half), np.array([unit(angle)])))
        x, y = unit(angle + np.pi + half)
        ray = [*down, (0.0, -y, x), (0.0, y, -x), (0.0, -x, -y)]
        modes.append(Mode(ray, np.array([unit(angle), unit(angle + 2.0 * half)])))
    return modes
