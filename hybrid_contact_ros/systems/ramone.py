"""RAMone, a planar biped of five links, at a footfall (Halm, Fig. 13, Table 7): foot A leads and foot B trails.

Masses, inertias and lengths are those of Remy (2017), as the code published with Halm's paper uses them; the impulse
increment and v⁻ are those of that paper.
"""

from __future__ import annotations

from math import asin, cos, pi, radians

import numpy as np

from hybrid_contact_ros.systems.example import ImpactExample
from hybrid_contact_ros.systems.planar_linkage import Foot, Link, PlanarLinkage

TRUNK, THIGH, SHANK = 7.9026, 0.7887, 0.510  # kg
TRUNK_INERTIA, THIGH_INERTIA, SHANK_INERTIA = 0.08, 0.00221, 0.00652  # kg m², about the centres of mass
HIP = 0.137675  # m, from the trunk's centre of mass, which is the floating point, down to the hips
THIGH_CENTRE, SHANK_CENTRE = 0.019399, 0.2385 - 0.073265  # m, below the hip and below the knee
THIGH_LENGTH, SHANK_LENGTH, FOOT_RADIUS = 0.2, 0.2385, 0.0563 / 2  # m
FRICTION = 1e5  # no force makes the feet slide; they slide only where solutions with sliding exist
TRUNK_PITCH, HIP_ANGLE, LEADING_KNEE = radians(16.0), radians(70.0), radians(-2.0)


def ramone(friction: float = FRICTION) -> PlanarLinkage:
    """The robot; q = (x, y of the trunk, its pitch, leading hip, leading knee, trailing hip, trailing knee)."""
    links = [Link(-1, (0.0, 0.0), TRUNK, (0.0, 0.0), TRUNK_INERTIA)]
    for _ in range(2):
        hip = len(links)
        links.append(Link(0, (0.0, -HIP), THIGH, (0.0, -THIGH_CENTRE), THIGH_INERTIA))
        links.append(Link(hip, (0.0, -THIGH_LENGTH), SHANK, (0.0, -SHANK_CENTRE), SHANK_INERTIA))
    feet = [Foot(name, link, (0.0, -SHANK_LENGTH), FOOT_RADIUS) for name, link in (("A", 2), ("B", 4))]
    return PlanarLinkage(links, feet, friction)


def ramone_impact() -> ImpactExample:
    """The leading foot lands while the robot turns as one rigid body about its trailing foot, at 1 rad/s."""
    leg = SHANK_LENGTH * cos(TRUNK_PITCH - HIP_ANGLE + LEADING_KNEE) + THIGH_LENGTH * cos(TRUNK_PITCH - HIP_ANGLE)
    height = leg + HIP * cos(TRUNK_PITCH) + FOOT_RADIUS
    shank = asin((leg - THIGH_LENGTH * cos(TRUNK_PITCH + HIP_ANGLE)) / SHANK_LENGTH)  # of the trailing leg
    trailing_knee = -HIP_ANGLE - TRUNK_PITCH + shank - pi / 2
    q = (0.0, height, TRUNK_PITCH, -HIP_ANGLE, LEADING_KNEE, HIP_ANGLE, trailing_knee)
    robot = ramone()
    resting = robot.problem(q, np.zeros(7))
    velocity = np.zeros(7)
    velocity[0], velocity[1], velocity[2] = -resting.tangent_jacobian[1, 0, 2], -resting.normal_jacobian[1, 2], 1.0
    return ImpactExample(robot.problem(q, velocity), step=1.0, max_steps=10, samples=2**20)
