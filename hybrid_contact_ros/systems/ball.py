"""A ball on a vertical line, bouncing on the ground at 0: the smallest system with an impact and with Zeno."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.mechanics.problem import ContactProblem


def ball(
    height: float, speed: float, mass: float = 1.0, restitution: float = 0.5, gravity: float = 9.81
) -> ContactProblem:
    """The contact problem of a ball at ``height`` (m) that moves up at ``speed`` (m/s).

    >>> ball(height=1.0, speed=0.0).gap.tolist(), round(zeno_time(1.0, 0.0, restitution=0.0), 4)
    ([1.0], 0.4515)

    Args:
        mass: kg. restitution: e. gravity: m/s².
    """
    return ContactProblem(
        mass=[[mass]],
        velocity=[speed],
        normal_jacobian=[[1.0]],
        tangent_jacobian=np.zeros((1, 1, 1)),
        friction=[0.0],
        restitution=[restitution],
        gap=[height],
        bias_force=[mass * gravity],
        names=["ground"],
    )


def zeno_time(height: float, speed: float, restitution: float, gravity: float = 9.81) -> float:
    """Time (s) until a ball with 0 ≤ e < 1 has bounced infinitely often: the sum of a geometric series."""
    impact_speed = float(np.sqrt(speed**2 + 2 * gravity * height))
    first = (speed + impact_speed) / gravity
    return first + 2 * restitution * impact_speed / (gravity * (1 - restitution))
