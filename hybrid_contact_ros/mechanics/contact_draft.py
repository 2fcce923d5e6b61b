"""A first guess of a robot's contacts, from the shapes in its URDF: which links are feet, and their radius or corners.

A guess to be read, not a measurement: it looks at the robot at its neutral configuration, with the root link upright,
and at one whose legs sprawl there with its feet as low as they go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.coordinates import Coordinates
from hybrid_contact_ros.mechanics.inertia import NoInertiaError, check_inertia
from hybrid_contact_ros.mechanics.limbs import FEET, Limbs
from hybrid_contact_ros.mechanics.reaching import reaching
from hybrid_contact_ros.mechanics.standing import standing
from hybrid_contact_ros.mechanics.urdf import FREE_FLYER, read_urdf

Array = NDArray[np.float64]

_PATCH = 0.005  # m; points of a shape that are so near to its lowest one rest on flat ground with it
_BALL = 0.04  # m; a patch that is smaller is where a ball touches, a larger one is a sole
_TRUNK = 0.6  # of a robot's mass
_RADII = (0.003, 0.08)  # m; of feet
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

    A robot walks where two limbs or more begin at its root link and reach down to about the same depth, or end in links
    that are called feet, or where three limbs or more that are alike reach away from it on all sides; and it hops where
    its only limb reaches down from a root link that has most of the mass. Anything else is held by its base, and its
    contacts are the tips of its longest limb and of those that are nearly as long as that one: of both arms, or of the
    fingers of a hand.

    Args:
        urdf: its file; meshes are looked for beside it, and left out where they are not found.
        floating_base: whether the root link is free; None: guess that, too.

    Raises:
        ValueError: the URDF cannot be read, no joint moves, the robot is said to float and has no feet, or it stands
            on wheels.
    """
    limbs = Limbs(read_urdf(urdf), urdf)
    ends = limbs.ends()
    if not ends:
        raise ValueError(f"no joint of {urdf} moves: nothing could touch or leave anything")
    legs, wheels, limbs = standing(limbs)
    floats = len(legs) >= 2 or _hops(limbs, legs) if floating_base is None else floating_base
    if floats and not legs and not wheels:
        raise ValueError(f"no limb of {urdf} ends in a foot: name the links that touch with --contact LINK …")
    touching = legs if floats else reaching(limbs, wheels)
    if (not touching or touching[0] in wheels) and len(wheels) > 1:  # one that turns may be the wrist of an arm
        named = ", ".join(limbs.links(limb)[0] for limb in wheels)
        raise ValueError(
            f"the limbs of {urdf} end in wheels ({named}), which are not taken for feet: name the links that touch "
            "with --contact LINK …"
        )
    draft = _Feet(limbs)
    contacts = tuple(draft.foot(limb) if floats else draft.tip(limb) for limb in touching)
    return Draft(
        floats, contacts, tuple(limbs.links(limb)[0] for limb in wheels), without_inertia(urdf, floats), limbs.turned
    )


def _hops(limbs: Limbs, legs: list[int]) -> bool:
    """Whether this is a trunk on one leg: an arm moves most of its mass."""
    masses = [inertia.mass for inertia in limbs.model.inertias]
    return len(legs) == len(limbs.ends()) == 1 and masses[0] > _TRUNK * sum(masses)


def draft_links(urdf: Path, links: tuple[str, ...], floating_base: bool | None = None) -> Draft:
    """The same for links that the user names.

    Raises:
        ValueError: the URDF cannot be read, or has no such link.
    """
    limbs = Limbs(read_urdf(urdf), urdf)
    unknown = [link for link in links if not limbs.model.existBodyName(link)]
    if unknown:
        raise ValueError(f"no link {unknown[0]!r} in the URDF; it has {', '.join(limbs.bodies)}")
    floats = draft_contacts(urdf).floating_base if floating_base is None else floating_base
    draft = _Feet(limbs)
    contacts = tuple(draft.contact(link) for link in links)
    return Draft(floats, contacts, (), without_inertia(urdf, floats), limbs.turned)


def likely_feet(urdf: str | Path, links: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The links that look like the feet of a robot that walks, and those of them on whose legs there is none of these
    links; nothing where it does not look as if it walked.

    Args:
        urdf: text or file. links: names; those that are none are left out.
    """
    legs, _, limbs = standing(Limbs(read_urdf(urdf), _path(urdf)))
    if len(legs) < 2:
        return (), ()
    moved_by = [limbs.frames[link][0].parentJoint for link in links if link in limbs.frames]
    touching = {limbs.branch(joint) for joint in moved_by if joint > 0}  # not those on the root link
    draft = _Feet(limbs)
    feet = {limb: draft.foot(limb).link for limb in legs}
    return tuple(feet.values()), tuple(link for limb, link in feet.items() if limbs.branch(limb) not in touching)


def without_shape(urdf: str | Path, links: Sequence[str]) -> tuple[str, ...]:
    """Those of these links that have no shape in the URDF, nor has what is welded to them, so that nothing tells where
    they touch.

    Args:
        urdf: text or file. links: names; those that are none are left out.
    """
    robot = Limbs(read_urdf(urdf), _path(urdf))
    known = {link: robot.frames[link][0].parentJoint for link in links if link in robot.frames}
    return tuple(link for link, joint in known.items() if not any(name in robot.shapes for name in robot.links(joint)))


def _path(urdf: str | Path) -> Path:
    """Where meshes are looked for: beside the file, or, for a text, here."""
    return Path(urdf) if isinstance(urdf, Path) or not urdf.lstrip().startswith("<") else Path()


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


class _Feet:
    """The contacts at the ends of limbs."""

    def __init__(self, limbs: Limbs) -> None:
        self.limbs = limbs

    def foot(self, limb: int) -> DraftContact:
        """The contact at the end of a leg: its frame is a link called a foot, or the lowest one."""
        links = self.limbs.links(limb)
        named = [link for word in FEET for link in links if word in link.lower()]
        balls = [link for link in links if any(radius > 0 for radius, _ in self.limbs.shapes.get(link, ()))]
        shaped = [link for link in named if link in balls]
        return self.contact((shaped or named or [min(links, key=self.limbs.lowest_of)])[0], links)

    def tip(self, limb: int) -> DraftContact:
        """The contact at the end of an arm: the ball on its tool's link, or else the origin of its frame."""
        chain = self.limbs.chain(limb)
        moving = [name for name, (frame, _) in self.limbs.frames.items() if frame.parentJoint in chain]
        named = [link for word in _TIPS for link in moving if word in link.lower().split("_")]
        link = (named or self.limbs.links(limb)[-1:])[0]
        if any(radius > 0 for radius, _ in self.limbs.shapes.get(link, ())):
            return self.contact(link)
        return DraftContact(link, 0.0, np.zeros((1, 3)), "origin of the link")

    def contact(self, link: str, links: list[str] | None = None) -> DraftContact:
        """The contact of a link, from the shapes on it and on the links that are welded to it."""
        links = links or [link]
        shapes = [shape for name in links for shape in self.limbs.shapes.get(name, ())]
        here = self.limbs.frames[link][1].inverse()
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
        below = float(self.limbs.frames[link][1].translation[2]) - lowest
        if spread.max() < _BALL and _RADII[0] < below < _RADII[1]:
            return DraftContact(link, below, np.zeros((1, 3)), "from the link's origin to the lowest point of its mesh")
        if spread.min() < _BALL / 3 or spread.max() < _BALL:
            return DraftContact(link, 0.0, here.act(patch.mean(axis=0)).reshape(1, 3), "lowest point of its shape")
        (x0, y0), (x1, y1) = patch[:, :2].min(axis=0), patch[:, :2].max(axis=0)
        corners = [(x1, y1), (x1, y0), (x0, y1), (x0, y0)]
        placed = np.array([here.act(np.array([x, y, lowest])) for x, y in corners])
        return DraftContact(link, 0.0, placed, "rectangle about the lowest points of its shape")
