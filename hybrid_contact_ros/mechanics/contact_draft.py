"""A first guess of a robot's contacts, from the shapes in its URDF: which links are feet, and their radius or corners.

A guess to be read, not a measurement: it looks at the robot at its neutral configuration, with the root link upright.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.coordinates import Coordinates
from hybrid_contact_ros.mechanics.inertia import NoInertiaError, check_inertia
from hybrid_contact_ros.mechanics.shapes import link_shapes
from hybrid_contact_ros.mechanics.urdf import FREE_FLYER, Urdf, read_urdf

Array = NDArray[np.float64]

_DEEPEST = 0.85  # a limb ends in a foot where it reaches this part of the deepest limb's depth below the root link
_LOWEST = 0.1  # m; what reaches less deep below the root link carries no robot
_PATCH = 0.005  # m; points of a shape that are so near to its lowest one rest on flat ground with it
_BALL = 0.04  # m; a patch that is smaller is where a ball touches, a larger one is a sole
_RADII = (0.003, 0.08)  # m; of feet
_FEET = ("sole", "foot", "toe")  # words in the names of links that a foot's frame is called by, the best first
_TIPS = ("tool0", "tcp", "tool", "eef", "ee", "tip", "gripper", "hand")  # parts of names, likewise


NO_SHAPE = "no shape found: measure its radius or corners"


@dataclass(frozen=True, slots=True)
class DraftContact:
    """One contact to begin with.

    Attributes:
        link: the URDF's link. radius: of its ball, m; 0 for points. points: (k, 3), m, in the link's frame.
        source: where the numbers come from, for a comment.
    """

    link: str
    radius: float
    points: Array
    source: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a parameter file may begin with. wheels: links that were taken for wheels, which no contact stands for.
    locked: joints that move no inertia, so that no model can have them. turned: whether meshes were turned as their
    COLLADA files say, which RViz does not (:mod:`.shapes`)."""

    floating_base: bool
    contacts: tuple[DraftContact, ...]
    wheels: tuple[str, ...]
    locked: tuple[str, ...]
    turned: bool


def draft_contacts(urdf: Path, floating_base: bool | None = None) -> Draft:
    """Guess the contacts of a robot.

    A robot walks where two limbs or more begin at its root link and reach down to about the same depth; anything else
    is held by its base, and the last link of its longest limb is its contact.

    Args:
        urdf: its file; meshes are looked for beside it, and left out where they are not found.
        floating_base: whether the root link is free; None: guess that, too.

    Raises:
        ValueError: the URDF cannot be read, no joint moves, the robot is said to float and has no feet, or it stands
            on wheels.
    """
    read = read_urdf(urdf)
    robot = _Robot(read, urdf)
    limbs = robot.limbs()
    if not limbs:
        raise ValueError(f"no joint of {urdf} moves: nothing could touch or leave anything")
    deepest = {limb: robot.lowest(limb) for limb in limbs}
    depth = max(_LOWEST, -min(deepest.values()))
    low = [limb for limb in limbs if -deepest[limb] >= _DEEPEST * depth]
    wheels = [limb for limb in low if robot.is_wheel(limb)]
    legs: dict[int, list[int]] = {}
    for limb in low:
        if limb not in wheels:
            legs.setdefault(robot.branch(limb), []).append(limb)
    feet = [max(limbs, key=robot.is_called_foot) for limbs in legs.values()]  # a leg with linkages has several ends
    walks = len(feet) >= 2
    floats = walks if floating_base is None else floating_base
    if floats and not feet:
        raise ValueError(f"no limb of {urdf} ends in a foot: name the links that touch with --contact LINK …")
    ends = feet if floats else [max(limbs, key=robot.length)]
    if ends[0] in wheels and len(wheels) > 1:  # one that turns without end may be the wrist of an arm
        named = ", ".join(robot.links(limb)[0] for limb in wheels)
        raise ValueError(
            f"the limbs of {urdf} end in wheels ({named}), which are not taken for feet: name the links that touch "
            "with --contact LINK …"
        )
    contacts = tuple(robot.foot(limb) if floats else robot.tip(limb) for limb in ends)
    return Draft(
        floats, contacts, tuple(robot.links(limb)[0] for limb in wheels), without_inertia(urdf, floats), robot.turned
    )


def draft_links(urdf: Path, links: tuple[str, ...], floating_base: bool | None = None) -> Draft:
    """The same for links that the user names.

    Raises:
        ValueError: the URDF cannot be read, or has no such link.
    """
    robot = _Robot(read_urdf(urdf), urdf)
    unknown = [link for link in links if not robot.model.existBodyName(link)]
    if unknown:
        raise ValueError(f"no link {unknown[0]!r} in the URDF; it has {', '.join(robot.bodies)}")
    floats = draft_contacts(urdf).floating_base if floating_base is None else floating_base
    return Draft(floats, tuple(robot.contact(link) for link in links), (), without_inertia(urdf, floats), robot.turned)


def without_shape(urdf: str | Path, links: Sequence[str]) -> tuple[str, ...]:
    """Those of these links that have no shape in the URDF, nor has what is welded to them, so that nothing tells where
    they touch.

    Args:
        urdf: text or file. links: names; those that are none are left out.
    """
    path = Path(urdf) if isinstance(urdf, Path) or not urdf.lstrip().startswith("<") else Path()
    robot = _Robot(read_urdf(urdf), path)
    known = {link: robot.frames[link][0].parentJoint for link in links if link in robot.frames}
    return tuple(link for link, joint in known.items() if not any(name in robot.shapes for name in robot.links(joint)))


def without_inertia(urdf: Path, floating_base: bool) -> tuple[str, ...]:
    """The joints to lock so that the mass matrix can be inverted: those that move nothing with inertia."""
    locked: list[str] = []
    while True:
        read = read_urdf(urdf, locked)
        model = read.pinocchio_model(floating_base)
        try:
            check_inertia(model, Coordinates(model, read, floating_base))
            return tuple(locked)
        except NoInertiaError as error:
            if error.joints[-1] in (*locked, FREE_FLYER):
                return tuple(locked)
            locked.append(error.joints[-1])


class _Robot:
    """The limbs of a robot and their shapes at the neutral configuration, in the frame of its root link."""

    def __init__(self, urdf: Urdf, path: Path) -> None:
        self.model = urdf.pinocchio_model(floating_base=False)
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, pin.neutral(self.model))
        self.frames = {f.name: (f, data.oMf[i]) for i, f in enumerate(self.model.frames) if f.type == pin.BODY}
        self.bodies = tuple(self.frames)
        self.shapes, self.turned = link_shapes(self.model, data, urdf.text, path)

    def limbs(self) -> list[int]:
        """The joints that no other joint hangs on."""
        parents = set(self.model.parents)
        return [j for j in range(1, self.model.njoints) if j not in parents]

    def branch(self, limb: int) -> int:
        """The joint at the root link that a limb hangs on."""
        return int(next(j for j in self.model.supports[limb] if j != 0))

    def length(self, limb: int) -> int:
        """How many joints a limb has."""
        return len(self.model.supports[limb])

    def links(self, limb: int) -> list[str]:
        """The links that move with the last joint of a limb."""
        return [name for name, (frame, _) in self.frames.items() if frame.parentJoint == limb]

    def is_wheel(self, limb: int) -> bool:
        """A joint that turns without end, or whose link is called so: some URDFs give wheels limits."""
        called = any("wheel" in link.lower() for link in self.links(limb))
        return called or "RUB" in self.model.joints[limb].shortname()

    def is_called_foot(self, limb: int) -> bool:
        """Whether a link of it has a foot's name."""
        return any(word in link.lower() for link in self.links(limb) for word in _FEET)

    def lowest(self, limb: int) -> float:
        """The height (m) of the lowest point of a limb's last links."""
        return min(self._lowest(link) for link in self.links(limb))

    def _lowest(self, link: str) -> float:
        shapes = [float(points[:, 2].min()) - radius for radius, points in self.shapes.get(link, ())]
        return min(shapes, default=float(self.frames[link][1].translation[2]))

    def foot(self, limb: int) -> DraftContact:
        """The contact at the end of a leg: its frame is a link called a foot, or the lowest one."""
        links = self.links(limb)
        named = [link for word in _FEET for link in links if word in link.lower()]
        balls = [link for link in links if any(radius > 0 for radius, _ in self.shapes.get(link, ()))]
        shaped = [link for link in named if link in balls]
        return self.contact((shaped or named or [min(links, key=self._lowest)])[0], links)

    def tip(self, limb: int) -> DraftContact:
        """The contact at the end of an arm: the ball on its tool's link, or else the origin of its frame."""
        moving = [name for name, (frame, _) in self.frames.items() if frame.parentJoint > 0]
        named = [link for word in _TIPS for link in moving if word in link.lower().split("_")]
        link = (named or self.links(limb)[-1:])[0]
        if any(radius > 0 for radius, _ in self.shapes.get(link, ())):
            return self.contact(link)
        return DraftContact(link, 0.0, np.zeros((1, 3)), "origin of the link")

    def contact(self, link: str, links: list[str] | None = None) -> DraftContact:
        """The contact of a link, from the shapes on it and on the links that are welded to it."""
        links = links or [link]
        shapes = [shape for name in links for shape in self.shapes.get(name, ())]
        here = self.frames[link][1].inverse()
        if not shapes:
            return DraftContact(link, 0.0, np.zeros((1, 3)), NO_SHAPE)
        lowest = min(float(points[:, 2].min()) - radius for radius, points in shapes)
        balls = [(r, points[0]) for r, points in shapes if r > 0 and points[0][2] - r <= lowest + _PATCH]
        if balls:
            radius = balls[0][0]
            centres = np.array([here.act(centre) for r, centre in balls if abs(r - radius) < 1e-3])
            return DraftContact(link, radius, centres, "as the URDF has it")
        points = np.concatenate([points for _, points in shapes])
        patch = points[points[:, 2] <= lowest + _PATCH]
        spread = np.ptp(patch[:, :2], axis=0)
        below = float(self.frames[link][1].translation[2]) - lowest
        if spread.max() < _BALL and _RADII[0] < below < _RADII[1]:
            return DraftContact(link, below, np.zeros((1, 3)), "from the link's origin to the lowest point of its mesh")
        if spread.min() < _BALL / 3:
            return DraftContact(link, 0.0, here.act(patch.mean(axis=0)).reshape(1, 3), "lowest point of its shape")
        (x0, y0), (x1, y1) = patch[:, :2].min(axis=0), patch[:, :2].max(axis=0)
        corners = [(x1, y1), (x1, y0), (x0, y1), (x0, y0)]
        placed = np.array([here.act(np.array([x, y, lowest])) for x, y in corners])
        return DraftContact(link, 0.0, placed, "rectangle about the lowest points of its shape")
