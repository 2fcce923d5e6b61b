"""A compass gait walker that takes a wide step (Halm, Figs. 4, 10, Table 5): foot A leads and foot B trails."""

from __future__ import annotations

from math import cos, radians, sin

from hybrid_contact_ros.systems.example import ImpactExample
from hybrid_contact_ros.systems.planar_linkage import Foot, Link, PlanarLinkage

LENGTH, MASS_TO_FOOT, MASS, FRICTION = 1.0, 0.5, 1.0, 5.0
PITCH, RATE = radians(78.0), 0.25  # of both legs: the trailing one leans forward, the leading one back


def compass_gait(
    length: float = LENGTH, mass_to_foot: float = MASS_TO_FOOT, mass: float = MASS, friction: float = FRICTION
) -> PlanarLinkage:
    """Two massless legs with a point mass each, hinged at the hip; q = (x, y of the hip, leading, trailing pitch)."""
    leg = Link(-1, (0.0, 0.0), mass, (0.0, mass_to_foot - length))
    feet = [Foot(name, i, (0.0, -length)) for i, name in enumerate(("A", "B"))]
    return PlanarLinkage([leg, leg], feet, friction)


def compass_gait_impact() -> ImpactExample:
    """The leading foot lands while the walker turns about its trailing foot, 156° between the legs (Halm, Table 5)."""
    hip = (-LENGTH * sin(PITCH), LENGTH * cos(PITCH))
    velocity = (-LENGTH * cos(PITCH) * RATE, -LENGTH * sin(PITCH) * RATE, RATE, RATE)
    problem = compass_gait().problem((*hip, -PITCH, PITCH), velocity)
    return ImpactExample(problem, step=0.25, max_steps=5, samples=2**20)
