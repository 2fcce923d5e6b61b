"""Forces of contacts as force-torque sensors measure them (``geometry_msgs/WrenchStamped``), one topic for each link.

A wrench is that of the environment on the robot, about the origin of its frame: the link with the contacts, a sensor
fixed to it, or (for links with one contact) the world. Where a link has several contacts, of all forces that make the
wrench the smallest are taken, in the sum of squares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.sensors import ContactForces
from hybrid_contact_ros.messages.parts import Parts
from hybrid_contact_ros.messages.refusals import RefusedError
from hybrid_contact_ros.messages.side_inputs import Count, SideInput

Array = NDArray[np.float64]

_LARGEST = 1e7  # N and N m: no robot's foot carries more


class LinkForces(NamedTuple):
    """What one message says of the contacts of a link: forces (k, 3), N, and whether in the axes of the world."""

    force: Array
    in_world: bool


class WrenchReader:
    """Makes forces of the contacts of one link.

    Args:
        model: of the robot. contacts: of the link. world: names of frames that are the world's.
    """

    def __init__(self, model: Any, contacts: NDArray[np.intp], world: Any) -> None:
        self._model, self._contacts, self._world = model, contacts, world
        self._link = model.contact_frames[contacts[0]]
        self._maps: tuple[str, Array, bool] | None = None

    def read(self, parts: Parts, stamp_ns: int) -> LinkForces:
        """The forces of a message.

        Raises:
            RefusedError: ``not_finite``, ``implausible`` or ``sensor_frame``.
        """
        names = [f"wrench.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
        wrench = np.concatenate([parts.numbers(name) for name in names])
        if not np.isfinite(wrench).all():
            raise RefusedError("not_finite", f"wrench {', '.join(map(str, wrench.tolist()))}")
        size = float(np.abs(wrench).max())
        if size > _LARGEST:
            raise RefusedError("implausible", f"{size:.6g} N or N m, more than {_LARGEST:g}")
        frame_id = parts.text("header.frame_id")
        if self._maps is None or self._maps[0] != frame_id:
            self._maps = frame_id, *self._map(frame_id.lstrip("/"))
        return LinkForces((self._maps[1] @ wrench).reshape(-1, 3), self._maps[2])

    def _map(self, frame: str) -> tuple[Array, bool]:
        """From a wrench to the forces (3 k, 6), and whether these are in the axes of the world."""
        model, k = self._model, self._contacts.size
        joint, axes, origin = model.frame_of(self._link)
        found = model.frame_of(frame) if frame else (joint, axes, origin)
        if found is None and frame == self._world() and k == 1:
            return np.eye(3, 6), True
        if found is None or found[0] != joint:
            raise RefusedError("sensor_frame", f"{frame!r} is not fixed to {self._link!r}")
        turn = axes.T @ found[1]
        if k == 1:
            return np.hstack((turn, np.zeros((3, 3)))), False
        # Forces f_i at the points p_i, axes of the link, make the wrench about the sensor's origin.
        arms = (model.spheres.point[self._contacts] - found[2]) @ axes
        grasp = np.hstack([np.vstack((np.eye(3), pin.skew(arm))) for arm in arms])
        both = np.zeros((6, 6))
        both[:3, :3] = both[3:, 3:] = turn
        return np.asarray(np.linalg.pinv(grasp) @ both), False


class ContactWrenches:
    """The newest forces of all contacts, of several topics.

    Args:
        sides: each topic with the contacts of its link. contacts: m.
    """

    def __init__(self, sides: list[tuple[SideInput, NDArray[np.intp]]], contacts: int) -> None:
        self._sides, self._m = sides, contacts

    @property
    def there(self) -> bool:
        """Whether a message has come."""
        return any(side.there for side, _ in self._sides)

    def at(self, stamp_ns: int, count: Count) -> ContactForces | None:
        """The forces that are part of the state of a stamp; None where all are too far from it."""
        stamps, force = np.zeros(self._m, dtype=np.int64), np.full((self._m, 3), np.nan)
        world, valid = np.zeros(self._m, dtype=np.bool_), np.zeros(self._m, dtype=np.bool_)
        for side, contacts in self._sides:
            found = side.at(stamp_ns, count)
            if found is None:
                continue
            force[contacts], world[contacts], valid[contacts] = found.force, found.in_world, True
            stamps[contacts] = side.stamp_ns
        return ContactForces(stamps, force, world, valid) if valid.any() else None
