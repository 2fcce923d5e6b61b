"""The block that rocks from corner to corner ever faster (Halm §4.3, Figs. 7, 8; Lygeros et al. 2003)."""

from __future__ import annotations

from math import asin, atan2, cos, hypot, sin

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.systems.planar_box import PlanarBox
from hybrid_contact_ros.systems.rocking_block import rocking_block

Array = NDArray[np.float64]

WIDTH, HEIGHT, MASS, FRICTION, GRAVITY, RATE = 1.0, 2.0, 1.0, 1.0, 9.81, 1.0  # RATE is θ̇ at the beginning, rad/s


def zeno_block() -> PlanarBox:
    """The block; q = (x, y, θ), A its left lower corner, B its right. I = (w² + h²) m/12."""
    return rocking_block(WIDTH, HEIGHT, MASS, FRICTION)


def zeno_state(rate: float = RATE) -> tuple[Array, Array]:
    """(q, v) standing upright and turning about A at ``rate`` (rad/s, counter-clockwise)."""
    return np.array([0.0, HEIGHT / 2, 0.0]), rate * np.array([-HEIGHT / 2, WIDTH / 2, 1.0])


def contraction() -> float:
    """The factor by which an impact changes θ̇, Halm (68): (I + m‖r‖² (−cos 2α)) / (I + m‖r‖²), 0.7."""
    inertia, arm, alpha = _pendulum()
    return (inertia + MASS * arm**2 * -cos(2 * alpha)) / (inertia + MASS * arm**2)


def apex(rate: float = RATE) -> float:
    """θ* of a half cycle that begins with ``rate``, rad (Halm (57)).

    Energy is conserved, (I + m‖r‖²) θ̇²/2 = m g ‖r‖ (sin(θ* + α) − sin α); (57) as printed has −sin α.

    Raises:
        ValueError: a rate with which the block falls over.
    """
    inertia, arm, alpha = _pendulum()
    lift = (inertia + MASS * arm**2) * rate**2 / (2 * MASS * GRAVITY * arm) + sin(alpha)
    if lift >= 1.0:
        raise ValueError(f"at {rate} rad/s the block falls over")
    return asin(lift) - alpha


def _pendulum() -> tuple[float, float, float]:
    """Inertia about the centre (kg m²), ‖r‖ (m), α (rad)."""
    return MASS * (WIDTH**2 + HEIGHT**2) / 12, hypot(WIDTH, HEIGHT) / 2, atan2(HEIGHT, WIDTH)
