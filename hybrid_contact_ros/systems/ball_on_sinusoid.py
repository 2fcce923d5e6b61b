"""A point mass over a sinusoidal surface, without friction: trivial dynamics, curved constraint (Or, Examples 1, 3)."""

from __future__ import annotations

from math import sin

import numpy as np
import sympy
from numpy.typing import NDArray

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

MASS, GRAVITY, RESTITUTION = 1.0, 1.0, 0.5
FIRST_IMPACT = 0.05, 0.3
"""Time (s) and x (m) of the first impact of the published executions (Or, Figs. 4 and 5)."""


def ball_on_sinusoid(
    mass: float = MASS, gravity: float = GRAVITY, restitution: float = RESTITUTION
) -> LagrangianSystem:
    """The point mass; q = (x, y), and φ = y − sin x is a vertical distance, m."""
    x, y = sympy.symbols("x y")
    surface = Constraint("surface", y - sympy.sin(x), restitution=restitution)
    return LagrangianSystem("ball on sinusoid", (x, y), mass * sympy.eye(2), mass * gravity * y, [surface])


def state_before_first_impact(
    speed: float, gravity: float = GRAVITY
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(q, v) at t = 0, moving at ``speed`` (m/s) along +x, so that the first impact is that of Or, Example 3."""
    time, x = FIRST_IMPACT
    return np.array([x - speed * time, sin(x) + 0.5 * gravity * time**2]), np.array([speed, 0.0])
