"""The one form that every published recording is read into."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

START_NS = 1_000_000_000
"""Stamp of time 0 of a recording: a stamp of zero means "none" in ROS."""


@dataclass(frozen=True, slots=True)
class Impact:
    """An impact whose outcome is known.

    Attributes:
        time: of the impact, s.
        contacts: names of the contacts that took part.
        v_minus, v_plus: (nv,) velocities before and after it, in Pinocchio's order.
    """

    time: float
    contacts: tuple[str, ...]
    v_minus: Array
    v_plus: Array


@dataclass(frozen=True, slots=True)
class Recording:
    """n samples of the state of a robot, and what is known of its contacts. What is not known is ``None``.

    Attributes:
        time: (n,) s.
        position: (n, 3) m, of the base in the world; ``None`` for a fixed base, as are the next three.
        quaternion: (n, 4), x y z w, base to world.
        linear, angular: (n, 3) m/s and rad/s, the twist of the base in its own axes.
        base_carried: (n, 2, 6, 6), as of ``RobotState``; ``None`` for bases that were measured at each sample.
        joints: names of the joints.
        q, dq, effort: (n, joints) rad, rad/s, N m (m, m/s, N).
        contacts, frames: names of the contacts, and the links that they are on.
        closed, slipping: (n, contacts), which contacts touch, and which of them slide.
        force: (n, contacts, 3) N, environment on robot, in world axes; NaN where unknown.
        impacts: the impacts whose outcome is known.
        urdf: text of the robot model.
    """

    time: Array
    position: Array | None = None
    quaternion: Array | None = None
    linear: Array | None = None
    angular: Array | None = None
    base_carried: Array | None = None
    joints: tuple[str, ...] = ()
    q: Array | None = None
    dq: Array | None = None
    effort: Array | None = None
    contacts: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    closed: NDArray[np.bool_] | None = None
    slipping: NDArray[np.bool_] | None = None
    force: Array | None = None
    impacts: tuple[Impact, ...] = field(default=())
    urdf: str | None = None
