"""How fast the feet of a robot move by its measured state, and how fast if its legs were named otherwise.

A leg is the chain of joints between the base and contacts. Legs whose joints are alike, as front and rear or left and
right ones, may have their names exchanged in a message: each foot is then moved by the joints of another leg. All pairs
of a foot and the joints of a leg come of as many evaluations ("turns") as there are legs of a kind: in turn p each leg
has the joints of the one p places further.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.mechanics.contact_rows import Spheres
from hybrid_contact_ros.mechanics.coordinates import Coordinates
from hybrid_contact_ros.mechanics.kernel_tables import joint_state

Array = NDArray[np.float64]
_Chain = tuple[int, ...]


class Model(Protocol):
    """What is needed of a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel`, which has a floating base."""

    contact_frames: tuple[str, ...]
    spheres: Spheres
    coordinates: Coordinates
    pinocchio_model: pin.Model


class LegMotion:
    """The legs of a robot with a floating base. Evaluations write no memory of the model.

    Attributes:
        legs: the link of each leg's contacts. of_contact: (k,), the leg of each of its k contacts.
        source: (turns, legs), the leg whose joints move each leg in a turn: in the first its own.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._coordinates = model.pinocchio_model, model.coordinates
        self._data = self._model.createData()
        self._joints = joint_state(self._model, self._data)
        chains = [self._chain(int(joint)) for joint in model.spheres.joint]
        on_legs = np.array([k for k, chain in enumerate(chains) if chain], dtype=np.intp)
        each = list(dict.fromkeys(chains[k] for k in on_legs))
        self.legs = tuple(model.contact_frames[chains.index(chain)] for chain in each)
        self.of_contact = np.array([each.index(chains[k]) for k in on_legs], dtype=np.intp)
        self._joint = model.spheres.joint[on_legs]
        self._point = model.spheres.point[on_legs]
        self._down = model.spheres.radius[on_legs, None] * model.spheres.normal[on_legs]
        self._moves = np.zeros((len(on_legs), self._model.nv))  # 1 where a velocity moves the contact
        for row, k in zip(self._moves, on_legs, strict=True):
            for joint in (1, *chains[k]):
                row[_places(self._model, joint)[1]] = 1.0
        self._chains = each
        self.source = self._sources(each)
        self._orders = [self.order(source) for source in self.source]

    def feet(self, q: Array, v: Array, turn: int = 0) -> Array:
        """Velocities (k, 3), m/s in the axes of the world, of the material points of the contacts that are nearest to
        their planes, without what the linear velocity of the base adds to all of them."""
        of_q, of_v = self._orders[turn]
        velocity = self._coordinates.full_velocity(v)[of_v]
        velocity[:3] = 0.0
        pin.computeJointJacobians(self._model, self._data, self._coordinates.full_position(q)[of_q])
        placement = self._joints.placement[self._joint]
        # The columns of the rotations stand one after the other.
        turned = (self._point[:, :, None] * placement[:, :9].reshape(-1, 3, 3)).sum(axis=1)
        x, y, z = (placement[:, 9:] + turned - self._down).T
        twist = (self._moves * velocity) @ self._joints.columns
        a, b, c = twist[:, 3:].T
        return np.asarray(twist[:, :3] + np.stack((b * z - c * y, c * x - a * z, a * y - b * x), axis=1))

    def _chain(self, joint: int) -> _Chain:
        """The joints between the base and a link, the base's first."""
        found: list[int] = []
        while joint > 1:
            found.insert(0, joint)
            joint = int(self._model.parents[joint])
        return tuple(found)

    def _sources(self, chains: list[_Chain]) -> NDArray[np.intp]:
        """Legs are alike whose joints have as many coordinates each, and are in no other leg."""
        kinds: dict[tuple[object, ...], list[int]] = {}
        for leg, chain in enumerate(chains):
            alone = all(set(chain).isdisjoint(other) for other in chains if other is not chain)
            sizes = tuple((int(self._model.joints[j].nq), int(self._model.joints[j].nv)) for j in chain)
            kinds.setdefault(sizes if alone else (leg,), []).append(leg)
        turns = max((len(kind) for kind in kinds.values()), default=1)
        found = np.zeros((turns, len(chains)), dtype=np.intp)
        for kind in kinds.values():
            for place, leg in enumerate(kind):
                found[:, leg] = [kind[(place + turn) % len(kind)] for turn in range(turns)]
        return found

    def order(self, source: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which entries of q and of v (of the full model, where joints mimic others) stand where, if each leg has the
        joints of another one, which ``source`` (legs,) says."""
        orders = np.arange(self._model.nq), np.arange(self._model.nv)
        for chain, of in zip(self._chains, source, strict=True):
            for own, other in zip(chain, self._chains[of], strict=True):
                places = zip(orders, _places(self._model, own), _places(self._model, other), strict=True)
                for order, here, there in places:
                    order[here] = np.arange(there.start, there.stop)
        return orders


def _places(model: pin.Model, joint: int) -> tuple[slice, slice]:
    """Where a joint stands in q and in v."""
    q, v = int(model.joints[joint].idx_q), int(model.joints[joint].idx_v)
    return slice(q, q + int(model.joints[joint].nq)), slice(v, v + int(model.joints[joint].nv))
