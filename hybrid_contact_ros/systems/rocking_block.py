"""A slender block dropped flat on the ground (Halm, Figs. 1, 9, Table 4): A is its left lower corner, B its right."""

from __future__ import annotations

from math import sqrt

from hybrid_contact_ros.systems.example import ImpactExample
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

WIDTH, HEIGHT, MASS, FRICTION = 1.0, 2.0, 1.0, 1.0
DROP_HEIGHT = 0.01  # m; the speed after it, 0.4429 m/s, is the paper's


def rocking_block(
    width: float = WIDTH,
    height: float = HEIGHT,
    mass: float = MASS,
    friction: float = FRICTION,
    restitution: float = 0.0,
) -> PlanarBox:
    """The block with its two lower corners as contacts; sizes in m, mass in kg."""
    ground = (0.0, 1.0)
    corners = (
        Corner("A", -width / 2, -height / 2, ground),
        Corner("B", width / 2, -height / 2, ground),
    )
    return PlanarBox(width, height, mass, friction, corners, restitution)


def rocking_block_impact() -> ImpactExample:
    """Both corners touch at once at 0.4429 m/s (Halm, Table 4)."""
    problem = rocking_block().problem((0.0, HEIGHT / 2, 0.0), (0.0, -sqrt(2 * 9.81 * DROP_HEIGHT), 0.0))
    return ImpactExample(problem, step=0.3, max_steps=10, samples=2**14)
