"""Where to a contact in space starts to slide: in the plane there are two directions to try, here any may be right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.dynamics import Dynamics

Array = NDArray[np.float64]
NEAR = 0.9
"""Part of its friction cone that a sticking contact has to use to be about to slide."""
_SECANTS, _FIRST, _WIDEST = 4, 1e-4, 1.0


def leaning(now: Dynamics, contact: int) -> Array | None:
    """Unit vector (2,) against the friction of a sticking contact, or None where that is not near its cone's edge.

    At the edge itself the contact starts in this direction, since friction is continuous there.
    """
    tangent = now.force[contact, 1:]
    size = float(np.sqrt(tangent @ tangent))
    if not (now.solved and size > NEAR * now.problem.friction[contact] * abs(now.force[contact, 0]) > 0.0):
        return None
    return np.asarray(-tangent / size, dtype=np.float64)


def slip_direction(dynamics: Callable[[Array], Dynamics], contact: int, near: Array) -> Array:
    """Unit vector (2,) d along which a contact at rest accelerates if it slides in direction d, next to ``near``.

    By the secant method on the angle. A little beyond the edge of the cone it differs from :func:`leaning` by as
    little; on a light leg, though, an acceleration of that size decides whether the contact slides at all.

    Args:
        dynamics: of the mode with the contact sliding in the direction given.
    """

    def turned(angle: float) -> Array:
        c, s = np.cos(angle), np.sin(angle)
        return np.array([c * near[0] - s * near[1], s * near[0] + c * near[1]])

    def across(angle: float) -> float:
        along, now = turned(angle), dynamics(turned(angle))
        rate = now.problem.tangent_jacobian[contact] @ now.acceleration + now.problem.jacobian_drift[contact, 1:]
        return float(along[0] * rate[1] - along[1] * rate[0])

    a, b = 0.0, _FIRST
    at_a, at_b = across(a), across(b)
    for _ in range(_SECANTS):
        if at_a == at_b or abs(b) > _WIDEST:
            break
        a, b, at_a = b, b - at_b * (b - a) / (at_b - at_a), at_b
        at_b = across(b)
    return turned(b) if abs(b) <= _WIDEST else near
