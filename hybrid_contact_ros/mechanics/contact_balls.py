"""Balls of contacts that are not the spheres of the robot's model: of another radius, or at another place."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.urdf import Sphere, link_spheres

_OFF = 0.002  # m; a radius that is farther from the URDF's is most likely a slip, or that of another robot
_ASIDE = 0.01  # m, likewise of a centre


def odd_balls(urdf: str | Path, config: EstimatorConfig) -> list[str]:
    """A sentence on each contact whose balls are not spheres that its link has in the URDF, where it has any."""
    spheres = link_spheres(urdf)
    found = []
    for name, contact in config.contacts.items():
        there = spheres.get(contact.link, [])
        if not contact.radius or not there:
            continue
        if all(abs(contact.radius - sphere.radius) > _OFF for sphere in there):
            radii = " or ".join(f"{radius:g}" for radius in sorted({sphere.radius for sphere in there}))
            found.append(
                f"contacts.{name}.radius is {contact.radius:g} m; the URDF's sphere of {contact.link} has {radii} m"
            )
        away = max(_distance(point, there) for point in np.reshape(contact.points, (-1, 3)))
        if away > _ASIDE:
            found.append(
                f"contacts.{name}.points has one {away:.3f} m from the centre of the URDF's nearest sphere of "
                f"{contact.link}"
            )
    return found


def _distance(point: np.ndarray, spheres: list[Sphere]) -> float:
    return min(float(np.linalg.norm(point - sphere.centre)) for sphere in spheres)
