"""A uniform rod whose lower end slides on rough ground: Painlevé's example (Stewart 2000; Génot, Brogliato 1999)."""

from __future__ import annotations

from math import cos, sin

import sympy

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

HALF_LENGTH, MASS, FRICTION, GRAVITY = 1.0, 1.0, 2.0, 9.81  # m, kg, –, m/s²


def painleve_rod(
    friction: float = FRICTION, half_length: float = HALF_LENGTH, mass: float = MASS, gravity: float = GRAVITY
) -> LagrangianSystem:
    """The rod; q = (x, y, θ) is its centre and its angle with the ground.

    Its end "A", (x − l cos θ, y − l sin θ), may touch the ground y = 0; the tangent points along +x. For 0 < θ < 90°
    the centre is ahead of A in +x. As A slips towards −x, a normal force of 1 N with its friction accelerates A upwards
    by (1 + 3 cos² θ − 3 μ sin θ cos θ)/m, m/s²: into the ground where μ > (4 + tan² θ)/(3 tan θ), which holds for some
    θ if μ > 4/3 (tan θ = 2).

    Raises:
        ValueError: a size, mass or gravity that is not positive, or a negative friction.
    """
    for name, value in (("half_length", half_length), ("mass", mass), ("gravity", gravity)):
        if not value > 0.0:
            raise ValueError(f"{name} is {value}; it must be > 0")
    if not friction >= 0.0:
        raise ValueError(f"friction is {friction}; it must be ≥ 0")
    x, y, angle = sympy.symbols("x y theta")
    inertia = sympy.diag(mass, mass, mass * half_length**2 / 3)
    end = Constraint(
        "A",
        y - half_length * sympy.sin(angle),
        (sympy.Matrix([[1, 0, half_length * sympy.sin(angle)]]),),
        friction,
    )
    return LagrangianSystem("Painlevé rod", (x, y, angle), inertia, mass * gravity * y, [end])


def rod_state(
    angle: float, slip: float, rate: float, half_length: float = HALF_LENGTH
) -> tuple[list[float], list[float]]:
    """(q, v) with A on the ground at the origin, slipping at ``slip`` (m/s, + along x), the rod turning at ``rate``."""
    c, s = half_length * cos(angle), half_length * sin(angle)
    return [c, s, angle], [slip - s * rate, c * rate, rate]
