"""A wheel of spokes that rolls down a slope: the smallest passive walker, with a return map in closed form.

Spokes, length, mass and slope are those of Drake's example of that name, a point mass; here it has an inertia, too.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

Array = NDArray[np.float64]
SPOKES, LENGTH, MASS, GRAVITY, SLOPE, GYRATION, FRICTION = 8, 1.0, 1.0, 9.81, 0.08, 0.2, 2.0
"""Number of spokes, m, kg, m/s², rad, and the radius of gyration, m."""


def rimless_wheel(
    spokes: int = SPOKES, length: float = LENGTH, slope: float = SLOPE, gyration: float = GYRATION
) -> PlanarBox:
    """The wheel; q = (x, y, θ) of its centre, θ counter-clockwise, and it rolls towards +x, where the ground descends.

    Contact i is the tip of spoke i. At θ = 0 that of spoke 0 stands at right angles below the centre.
    """
    normal = (sin(slope), cos(slope))
    angles = [-pi / 2.0 - slope + 2.0 * pi * i / spokes for i in range(spokes)]
    tips = [Corner(f"spoke {i}", length * cos(a), length * sin(a), normal) for i, a in enumerate(angles)]
    side = gyration * sqrt(6.0)  # of the square with this radius of gyration
    return PlanarBox(side, side, MASS, FRICTION, tips, gravity=GRAVITY)


def rolling_state(
    spokes: int = SPOKES, length: float = LENGTH, slope: float = SLOPE, gyration: float = GYRATION
) -> tuple[Array, Array]:
    """(q, v) of the periodic rolling, as the centre passes over the tip of spoke 0 at right angles to the slope."""
    half, share = pi / spokes, (gyration / length) ** 2
    gain = 4.0 * GRAVITY * sin(half) * sin(slope) / (length * (1.0 + share))  # of ω² over a whole step
    kept = multiplier(spokes, length, gyration)
    after = kept * gain / (1.0 - kept)  # ω² right after an impact
    # from half a step before to the middle: the centre rises by l (1 − cos α) cos γ and falls by l sin α sin γ
    over = 2.0 * GRAVITY * (sin(half) * sin(slope) - (1.0 - cos(half)) * cos(slope)) / (length * (1.0 + share))
    rate = -sqrt(after + over)
    return (
        length * np.array([sin(slope), cos(slope), 0.0]),
        rate * np.array([-length * cos(slope), length * sin(slope), 1.0]),
    )


def multiplier(spokes: int = SPOKES, length: float = LENGTH, gyration: float = GYRATION) -> float:
    """What a step multiplies a small change of the speed by: ((cos 2α + κ)/(1 + κ))², κ = (gyration/length)².

    An impact keeps the angular momentum about the tip that lands, (cos 2α + κ)/(1 + κ) of the rate, and a step adds
    the same to ω² at every speed.
    """
    share = (gyration / length) ** 2
    return ((cos(2.0 * pi / spokes) + share) / (1.0 + share)) ** 2
