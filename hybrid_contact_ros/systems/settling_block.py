"""The block that rocks on its corners l and r until it rests (Johnson §4.3, Figs. 8-9): Zeno, and how δt truncates
it."""

from __future__ import annotations

from math import cos, sin

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

WIDTH, HEIGHT, MASS, DURATION = 0.05, 0.10, 5.0, 0.03
"""Johnson's sizes in m, mass in kg and δt in s."""
LEAN = 0.1709
"""The lean, rad, from rest with which the last impact before rest comes at the 0.27 s of Johnson's Fig. 9; the paper
does not give its own."""
FRICTION = 100.0
"""The corners do not slide in the paper; a coefficient that is never reached says that."""


def settling_block(width: float = WIDTH, height: float = HEIGHT, mass: float = MASS) -> PlanarBox:
    """The block on level ground; q = (x, y, θ) of its centre."""
    ground = (0.0, 1.0)
    corners = (Corner("l", -width / 2, -height / 2, ground), Corner("r", width / 2, -height / 2, ground))
    return PlanarBox(width, height, mass, FRICTION, corners)


def leaning(angle: float, width: float = WIDTH, height: float = HEIGHT) -> NDArray[np.float64]:
    """Configuration (3,) with the corner l (``angle`` > 0, rad) or r (< 0) on the ground at x = 0, and the other up."""
    corner = -width / 2 if angle >= 0 else width / 2
    c, s = cos(angle), sin(angle)
    return np.array([-(c * corner + s * height / 2), -(s * corner - c * height / 2), angle])


def corner_impulse(speed: float, width: float = WIDTH, height: float = HEIGHT, mass: float = MASS) -> float:
    """Normal impulse (N s) at the corner on the ground when the other lands and both are to hold.

    It is ż (m (w² − H²)/2 − 2 I) / w² for a block of width w and height H whose centre falls at ``speed`` ż; a negative
    one means that the corner lifts. Johnson (100) prints +2 I, and (101)-(103) follow it, but only −2 I balances the
    momenta, and gives the 6.3 cm/s of the paper.
    """
    inertia = mass * (width**2 + height**2) / 12.0
    return speed * (mass * (width**2 - height**2) / 2.0 - 2.0 * inertia) / width**2


def resting_speed(
    duration: float = DURATION, width: float = WIDTH, height: float = HEIGHT, gravity: float = 9.81
) -> float:
    """Speed ż (m/s) of the centre below which the block comes to rest: corner_impulse + δt m g / 2 = 0 (Johnson
    102)."""
    return -duration * gravity / 2.0 / corner_impulse(1.0, width, height, 1.0)
