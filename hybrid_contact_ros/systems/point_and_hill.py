"""A point that slides along level ground G into the foot of a hill H (Johnson, Fig. 7): why there is a
pseudo-impulse."""

from __future__ import annotations

from math import cos, pi, sin, tan

import sympy

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem


def point_and_hill(slope: float, mass: float = 1.0, gravity: float = 9.81) -> LagrangianSystem:
    """The point without friction; q = (x, y), m. The hill rises from x = 0 at ``slope`` (rad) above the level.

    Raises:
        ValueError: a slope outside (0, π/2).
    """
    if not 0.0 < slope < pi / 2:
        raise ValueError(f"slope must lie between 0 and π/2, got {slope}")
    x, y = sympy.symbols("x y")
    surfaces = [Constraint("G", y), Constraint("H", cos(slope) * y - sin(slope) * x)]
    return LagrangianSystem("point and hill", [x, y], mass * sympy.eye(2), mass * gravity * y, surfaces)


def stopping_speed(slope: float, duration: float, gravity: float = 9.81) -> float:
    """Speed (m/s) below which the pseudo-impulse of δt holds the point at the foot of the hill: δt g tan θ.

    To stop at once takes the impulse Λ_G = −m v / tan θ from the ground, and the weight puts m g δt on it. The mass
    cancels.
    """
    return duration * gravity * tan(slope)
