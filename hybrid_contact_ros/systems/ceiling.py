"""A ball under a ceiling (Johnson §3.4): an impact and a liftoff at one instant."""

from __future__ import annotations

import sympy

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem


def ceiling(
    height: float = 1.0, mass: float = 1.0, restitution: float = 0.0, gravity: float = 9.81
) -> LagrangianSystem:
    """The ball below a ceiling at ``height`` (m); q is its own height. Gravity takes it away from the ceiling at
    once."""
    y = sympy.Symbol("y")
    surface = Constraint("ceiling", height - y, restitution=restitution)
    return LagrangianSystem("ceiling", [y], sympy.Matrix([[mass]]), mass * gravity * y, [surface])
