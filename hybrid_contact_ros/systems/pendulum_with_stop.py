"""A double pendulum whose knee has a mechanical stop: coupled inertia, straight constraint (Or, Examples 2, 4)."""

from __future__ import annotations

from math import pi

import numpy as np
import sympy
from numpy.typing import NDArray

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

MASSES, LENGTHS, GRAVITY, RESTITUTION = (1.0, 1.0), (1.0, 1.0), 1.0, 0.5


def pendulum_with_stop(
    masses: tuple[float, float] = MASSES,
    lengths: tuple[float, float] = LENGTHS,
    gravity: float = GRAVITY,
    restitution: float = RESTITUTION,
) -> LagrangianSystem:
    """Two uniform links; q = (θ1, θ2), rad, zero where they hang, θ2 relative to the upper link. The gap is φ = θ2."""
    first, second = sympy.symbols("theta1 theta2")
    (m1, m2), (l1, l2) = masses, lengths
    coupling = m2 * (3 * l1 * l2 * sympy.cos(second) + 2 * l2**2) / 6
    lower = m2 * l2**2 / sympy.Integer(3)
    upper = m1 * l1**2 / sympy.Integer(3) + m2 * (l1**2 + l2**2 / sympy.Integer(3) + l1 * l2 * sympy.cos(second))
    inertia = sympy.Matrix([[upper, coupling], [coupling, lower]])
    potential = -(m1 * l1 / 2 + m2 * l1) * gravity * sympy.cos(first) - m2 * l2 * gravity / 2 * sympy.cos(
        first + second
    )
    stop = Constraint("stop", second, restitution=restitution)
    return LagrangianSystem("pendulum with stop", (first, second), inertia, potential, [stop])


def published_state() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(q, v) at t = 0 of Or, Fig. 6(e, f): (30°, 25°), at rest."""
    return np.array([30.0, 25.0]) * pi / 180.0, np.zeros(2)
