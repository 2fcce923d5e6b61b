"""The limbs of a robot: where they begin and end, how low they reach, which of them are alike, and their shapes.

Everything in the frame of the root link, which is taken to be upright, at the neutral configuration or at another.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.shapes import link_shapes
from hybrid_contact_ros.mechanics.urdf import Urdf

Array = NDArray[np.float64]

FEET = ("sole", "foot", "toe")  # words in the names of links that a foot's frame is called by, the best first
_ALIKE = 0.02  # part of a limb's length by which limbs that are alike may differ between two joints
_OUTWARD = 0.3  # part of its length that a limb reaches away from the middle of the robot, which lies between them
_SPRAWLING = 3  # limbs, at least, that carry a robot without being under it
_JOINTED = 2  # joints of such a limb at least: rotors surround a robot, too
_ANGLES = 33  # of a joint, which are tried for the lowest one
_WHOLE_TURN = np.pi  # rad; no joint is turned further for a posture


class Limbs:
    """The limbs of a robot and their shapes.

    Args:
        urdf, path: the robot and its file, beside which meshes are looked for.
        posture: (nq,), the configuration of the model with a fixed base; None: the neutral one.
    """

    def __init__(self, urdf: Urdf, path: Path, posture: Array | None = None) -> None:
        self._urdf, self._path = urdf, path
        self.model = urdf.pinocchio_model(floating_base=False)
        self._data = self.model.createData()
        pin.framesForwardKinematics(self.model, self._data, pin.neutral(self.model) if posture is None else posture)
        self.frames = {f.name: (f, self._data.oMf[i]) for i, f in enumerate(self.model.frames) if f.type == pin.BODY}
        self.bodies = tuple(self.frames)
        self.shapes, self.turned = link_shapes(self.model, self._data, urdf.text, path)

    def ends(self) -> list[int]:
        """The last joint of each limb: those that no other joint hangs on."""
        parents = set(self.model.parents)
        return [j for j in range(1, self.model.njoints) if j not in parents]

    def branch(self, limb: int) -> int:
        """The joint at the root link that a joint of a limb hangs on."""
        return self.chain(limb)[0]

    def length(self, limb: int) -> int:
        """How many joints a limb has."""
        return len(self.chain(limb))

    def chain(self, limb: int) -> list[int]:
        """The joints from the root link to the end of a limb."""
        return [int(j) for j in self.model.supports[limb] if j != 0]

    def links(self, limb: int) -> list[str]:
        """The links that move with the last joint of a limb."""
        return [name for name, (frame, _) in self.frames.items() if frame.parentJoint == limb]

    def is_wheel(self, limb: int) -> bool:
        """A joint that turns without end, or whose link is called so: some URDFs give wheels limits."""
        called = any("wheel" in link.lower() for link in self.links(limb))
        return called or "RUB" in self.model.joints[limb].shortname()

    def is_called_foot(self, limb: int) -> bool:
        """Whether a link of it has a foot's name."""
        return any(word in link.lower() for link in self.links(limb) for word in FEET)

    def lowest(self, limb: int) -> float:
        """The height (m) of the lowest point of a limb's last links."""
        return min(self.lowest_of(link) for link in self.links(limb))

    def lowest_of(self, link: str) -> float:
        """The height (m) of the lowest point of a link."""
        shapes = [float(points[:, 2].min()) - radius for radius, points in self.shapes.get(link, ())]
        return min(shapes, default=float(self.frames[link][1].translation[2]))

    def span(self, limb: int, begin: int | None = None) -> float:
        """The length (m) of a limb that is stretched out, from its first joint on, or from another of its joints."""
        after = 0 if begin is None else self.chain(limb).index(begin)
        return float(self._spans(limb)[after:].sum())

    def sprawling(self) -> list[int]:
        """The limbs of a robot that stands between its feet, as insects and spiders do: three or more that are alike,
        begin at the root link, and reach away from its middle on all sides; none where there are no such limbs.

        The fingers of a hand are alike, too; they point to one side of it.
        """
        groups: list[list[int]] = []
        for limb in self.ends():
            if self.is_wheel(limb) or self.length(limb) < _JOINTED:
                continue
            group = next((each for each in groups if self._are_alike(each[0], limb)), None)
            if group is None:
                groups.append([limb])
            elif all(self.branch(limb) != self.branch(other) for other in group):
                group.append(limb)
        largest = max(groups, key=len, default=[])
        return largest if len(largest) >= _SPRAWLING and self._surround(largest) else []

    def lowered(self, limbs: Sequence[int]) -> Limbs:
        """The same robot with these limbs as low as their joints' limits allow, one joint after the other, twice."""
        posture = pin.neutral(self.model)
        for limb in limbs:
            for joint in 2 * self.chain(limb):
                if self.model.joints[joint].nq == 1:
                    posture[self.model.joints[joint].idx_q] = self._lowest_angle(limb, joint, posture)
        return Limbs(self._urdf, self._path, posture)

    def _spans(self, limb: int) -> Array:
        """The distances (m) between the joints of a limb, and from its last joint to its end."""
        between = [np.linalg.norm(self.model.jointPlacements[j].translation) for j in self.chain(limb)[1:]]
        return np.array([*between, np.linalg.norm(self._end(limb))])

    def _end(self, limb: int) -> Array:
        """The point (m) that is farthest from a limb's last joint, in that joint's frame: of its shapes or origins."""
        here = self._data.oMi[limb].inverse()
        points = [self.frames[link][0].placement.translation for link in self.links(limb)]
        points += [here.act(x) for link in self.links(limb) for _, shape in self.shapes.get(link, ()) for x in shape]
        return np.asarray(max(points, key=lambda x: float(np.linalg.norm(x))))

    def _are_alike(self, one: int, other: int) -> bool:
        first, second = self._spans(one), self._spans(other)
        return len(first) == len(second) and float(np.abs(first - second).max()) <= _ALIKE * float(first.sum())

    def _surround(self, limbs: Sequence[int]) -> bool:
        """Whether limbs reach away from the middle of where they begin, on all sides of it."""
        roots = np.array([self._data.oMi[self.branch(limb)].translation[:2] for limb in limbs])
        tips = np.array([self._data.oMi[limb].act(self._end(limb))[:2] for limb in limbs])
        middle = roots.mean(axis=0)
        spokes = tips - middle
        away = np.linalg.norm(spokes, axis=1) - np.linalg.norm(roots - middle, axis=1)
        spans = np.array([self.span(limb) for limb in limbs])
        if (away < _OUTWARD * spans).any():
            return False
        around = np.sort(np.arctan2(spokes[:, 1], spokes[:, 0]))
        return float(np.diff(np.append(around, around[0] + 2.0 * np.pi)).max()) < np.pi

    def _lowest_angle(self, limb: int, joint: int, posture: Array) -> float:
        index = self.model.joints[joint].idx_q
        lower = max(-_WHOLE_TURN, float(self.model.lowerPositionLimit[index]))
        upper = min(_WHOLE_TURN, float(self.model.upperPositionLimit[index]))
        data, end = self.model.createData(), self._end(limb)

        def height(angle: float) -> float:
            turned = posture.copy()
            turned[index] = angle
            pin.forwardKinematics(self.model, data, turned)
            return round(float(data.oMi[limb].act(end)[2]), 9)

        tried = [float(posture[index]), *np.linspace(lower, upper, _ANGLES)]  # as it is, where nothing is gained
        return min(tried, key=height)
