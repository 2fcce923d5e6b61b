"""A box that slides on one corner, A, into a wall that another corner, B, hits (Halm, Figs. 5, 11, Table 6)."""

from __future__ import annotations

from math import cos, pi, radians, sin

from hybrid_contact_ros.systems.example import ImpactExample
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

SIDE, MASS, FRICTION, TILT, SPEED = 1.0, 1.0, 1.0, radians(10.0), 1.0


def box_and_wall(side: float = SIDE, mass: float = MASS, friction: float = FRICTION) -> PlanarBox:
    """The box; the ground is y = 0 (A touches it) and the wall x = 0 (B touches it, from the left)."""
    half = side / 2
    corners = (
        Corner("A", -half, -half, (0.0, 1.0)),
        Corner("B", half, -half, (-1.0, 0.0)),
    )
    return PlanarBox(side, side, mass, friction, corners)


def box_and_wall_impact() -> ImpactExample:
    """A slides along the ground at 1 m/s as B reaches the wall (Halm, Table 6: 10° between box and ground)."""
    angle = pi / 2 - TILT  # the box leans so that A is its lowest corner and B its rightmost
    lowest = -(sin(angle) * -SIDE / 2 + cos(angle) * -SIDE / 2)  # centre height with A on the ground
    rightmost = cos(angle) * SIDE / 2 - sin(angle) * -SIDE / 2  # distance of B ahead of the centre
    problem = box_and_wall().problem((-rightmost, lowest, angle), (SPEED, 0.0, 0.0))
    return ImpactExample(problem, step=2.0, max_steps=5, samples=2**18)
