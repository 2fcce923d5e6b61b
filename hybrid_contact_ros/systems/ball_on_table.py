"""A ball that bounces on a table which moves up and down, an impact oscillator with multipliers in closed form.

Holmes, "The dynamics of repeated impacts with a sinusoidally vibrating table" (Journal of Sound and Vibration 84,
1982), without his approximation that the table's stroke is small: the ball meets the table where that is.
"""

from __future__ import annotations

from math import asin, pi, sin, sqrt

import numpy as np
import sympy
from numpy.typing import NDArray

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

Array = NDArray[np.float64]
GRAVITY, RESTITUTION, PERIOD = 9.81, 0.8, 0.3
INERTIA = 1e10
"""kg m², of the table's drive: so large that an impact does not slow it (the ball weighs 1 kg)."""


def ball_on_table(
    stroke: float, period: float = PERIOD, restitution: float = RESTITUTION, gravity: float = GRAVITY
) -> LagrangianSystem:
    """The ball; q = (y, θ), its height and the phase of the table, which stands at ``stroke`` · sin θ (m).

    Gaps may not depend on time, so that the phase is a coordinate, with θ̇ = 2π/period.
    """
    y, phase = sympy.symbols("y theta")
    table = Constraint("table", y - stroke * sympy.sin(phase), restitution=restitution)
    return LagrangianSystem("ball on a table", [y, phase], sympy.diag(1.0, INERTIA), gravity * y, [table])


def bouncing_state(
    stroke: float, period: float = PERIOD, restitution: float = RESTITUTION, gravity: float = GRAVITY
) -> tuple[Array, Array]:
    """(q, v) at the apex of the orbit that meets the table once a period, while that rises and slows down.

    Raises:
        ValueError: the stroke is too small for such an orbit.
    """
    rate = 2.0 * pi / period
    # relative to the table: gT/2 − ṗ = e (gT/2 + ṗ)
    speed = 0.5 * gravity * period * (1.0 - restitution) / (1.0 + restitution)
    if not abs(speed) <= stroke * rate:
        raise ValueError(f"a stroke of {stroke} m is too small: the table has to rise at {speed:.4g} m/s")
    touch = pi / 2.0 - asin(speed / (stroke * rate))  # cos θ = speed / (stroke · rate)
    apex = stroke * sin(touch) + gravity * period**2 / 8.0
    return np.array([apex, touch + pi]), np.array([0.0, rate])


def multipliers(
    stroke: float, period: float = PERIOD, restitution: float = RESTITUTION, gravity: float = GRAVITY
) -> Array:
    """The two multipliers of that orbit: roots of λ² − (1 + e² + (1 + e)² p̈/g) λ + e² = 0, p̈ the table's acceleration.

    From one impact to the next dt' = dt + (1 + e)/g · dv and dv' = (1 + e) p̈ dt' + e² dv, exactly.
    """
    q, v = bouncing_state(stroke, period, restitution, gravity)
    acceleration = -stroke * v[1] ** 2 * sin(float(q[1]) - pi)
    e = restitution
    half = 0.5 * (1.0 + e**2 + (1.0 + e) ** 2 * acceleration / gravity)
    root = sqrt(abs(half**2 - e**2)) * (1.0 if half**2 >= e**2 else 1j)
    return np.array([half + root, half - root])


def largest_stable_stroke(period: float = PERIOD, restitution: float = RESTITUTION, gravity: float = GRAVITY) -> float:
    """The stroke (m) at which the orbit doubles its period: a multiplier is −1, p̈ = −2 g (1 + e²)/(1 + e)²."""
    e, rate = restitution, 2.0 * pi / period
    speed = 0.5 * gravity * period * (1.0 - e) / (1.0 + e)
    return sqrt((2.0 * gravity * (1.0 + e**2) / (1.0 + e) ** 2 / rate**2) ** 2 + (speed / rate) ** 2)
