"""Reading a URDF: from text or a file to a Pinocchio model without meshes, or to an error that says what to change."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pinocchio as pin

FREE_FLYER = "floating_base_free_flyer"  # not Pinocchio's "root_joint": a URDF may have a joint of that name
_SUPPORTED = ("revolute", "continuous", "prismatic", "fixed")


@dataclass(frozen=True, slots=True)
class Mimic:
    """q_follower = multiplier · q_leader + offset."""

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True)
class Urdf:
    """A URDF that was read and checked.

    Attributes:
        text: all of it. root: name of the root link. joint_types: type of each joint by name. mimics: of each joint
        that
            follows another, by its name.
    """

    text: str
    root: str
    joint_types: dict[str, str]
    mimics: dict[str, Mimic]

    def pinocchio_model(self, floating_base: bool) -> pin.Model:
        """Build the kinematic and inertial model, without meshes and collision geometry. Followers of a mimic joint
        have coordinates of their own in it, which :mod:`~hybrid_contact_ros.mechanics.coordinates` takes out.

        Raises:
            ValueError: Pinocchio could not make a model of the URDF.
        """
        try:
            if floating_base:
                return pin.buildModelFromXML(self.text, pin.JointModelFreeFlyer(), FREE_FLYER)
            return pin.buildModelFromXML(self.text)
        except (RuntimeError, ValueError, IndexError) as error:
            raise ValueError(f"Pinocchio cannot read this URDF: {error}") from None


def read_urdf(source: str | Path, locked: Sequence[str] = ()) -> Urdf:
    """Read URDF text (it starts with ``<``) or the file of that path.

    Args:
        source: text or file.
        locked: joints to weld at zero, because no message has them.

    Raises:
        ValueError: no such file, not XML, not a URDF (an SDF, a MuJoCo model, a xacro that was not expanded), no
            single root link, a joint of an unknown or unsupported type, a joint to lock that does not move, or a mimic
            joint that cannot be followed.
    """
    text = _text(source)
    try:
        robot = ElementTree.fromstring(text.lstrip().encode("utf-8"))
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"the robot description is not valid XML: {error}") from None
    if robot.tag != "robot":
        raise ValueError(f"the robot description is not a URDF: its root element is <{robot.tag}>, <robot> is needed")
    if any("xacro" in element.tag for element in robot.iter() if isinstance(element.tag, str)):
        raise ValueError("the robot description still holds xacro macros: expand it first (`xacro robot.urdf.xacro`)")
    links = [link.get("name", "") for link in robot.findall("link")]
    if not links:
        raise ValueError("the URDF has no links")
    joints = robot.findall("joint")
    if locked:
        _lock(joints, locked)
        text = ElementTree.tostring(robot, encoding="unicode")
    types = {joint.get("name", ""): joint.get("type", "") for joint in joints}
    _check_types(types)
    children = {_link_of(joint, "child") for joint in joints}
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        raise ValueError(f"the URDF must have one root link, it has {len(roots)}: {', '.join(roots) or 'a loop'}")
    mimics = {
        joint.get("name", ""): _mimic(joint, tag)
        for joint in joints
        if (tag := joint.find("mimic")) is not None and joint.get("type") != "fixed"  # reduced models weld both
    }
    _check_mimics(mimics, types)
    return Urdf(text=text, root=roots[0], joint_types=types, mimics=mimics)


class Sphere(NamedTuple):
    """A sphere that a link has for collisions: its radius, m, and centre, m, in the link's frame."""

    radius: float
    centre: tuple[float, ...]


def link_spheres(source: str | Path) -> dict[str, list[Sphere]]:
    """The spheres that each link has for collisions, of a URDF that can be read."""
    robot = ElementTree.fromstring(_text(source).lstrip().encode("utf-8"))
    found: dict[str, list[Sphere]] = {}
    for link in robot.findall("link"):
        for collision in link.findall("collision"):
            origin = collision.find("origin")
            centre = "" if origin is None else origin.get("xyz", "")
            for sphere in collision.findall("geometry/sphere"):
                place = tuple(float(x) for x in (centre or "0 0 0").split())
                found.setdefault(link.get("name", ""), []).append(Sphere(float(sphere.get("radius", "nan")), place))
    return found


def _lock(joints: Sequence[ElementTree.Element], locked: Sequence[str]) -> None:
    """Turn joints into fixed ones, and with them those that follow them at a multiple (which is then zero, too)."""
    moving = {joint.get("name", ""): joint for joint in joints if joint.get("type") != "fixed"}
    for name in locked:
        if name not in moving:
            raise ValueError(f"locked_joints: no moving joint {name!r} in the URDF; it has {', '.join(moving)}")
    still = list(locked)
    for name in still:  # which grows
        moving[name].set("type", "fixed")
        for follower, joint in moving.items():
            mimic = joint.find("mimic")
            if mimic is None or mimic.get("joint") != name or follower in still:
                continue
            if float(mimic.get("offset", "0")) == 0.0:
                still.append(follower)


def _text(source: str | Path) -> str:
    if isinstance(source, str):
        if source.lstrip("\ufeff \t\r\n").startswith("<"):
            return source.lstrip("\ufeff")
        if not source.strip():
            raise ValueError("the robot description is empty")
        if "\n" in source or len(source) > 4096:
            raise ValueError("the robot description is neither URDF text (it would start with '<') nor a path")
    try:
        return Path(source).read_text(encoding="utf-8").lstrip("\ufeff")
    except UnicodeDecodeError:
        raise ValueError(f"{source} is not a text file in UTF-8") from None
    except OSError as error:
        raise ValueError(f"cannot read the URDF {source}: {error.strerror}") from None


def _link_of(joint: ElementTree.Element, tag: str) -> str:
    element = joint.find(tag)
    if element is None or not element.get("link"):
        raise ValueError(f"joint {joint.get('name', '')!r} has no <{tag} link=…>")
    return str(element.get("link"))


def _check_types(types: dict[str, str]) -> None:
    for name, kind in types.items():
        if kind == "floating":
            raise ValueError(
                f"joint {name!r} is a floating joint: remove it from the URDF and set floating_base: true, "
                "which puts a free-flyer on the root link"
            )
        if kind not in _SUPPORTED:
            raise ValueError(f"joint {name!r} is of type {kind!r}; supported are {', '.join(_SUPPORTED)}")


def _mimic(joint: ElementTree.Element, tag: ElementTree.Element) -> Mimic:
    name = joint.get("name", "")
    try:
        return Mimic(tag.get("joint", ""), float(tag.get("multiplier", "1")), float(tag.get("offset", "0")))
    except ValueError:
        raise ValueError(f"joint {name!r}: multiplier and offset of its <mimic> must be numbers") from None


def _check_mimics(mimics: dict[str, Mimic], types: dict[str, str]) -> None:
    for name, mimic in mimics.items():
        chain = [name]
        while chain[-1] in mimics:
            leader = mimics[chain[-1]].leader
            if leader in chain:
                raise ValueError(f"joints mimic each other in a circle: {' → '.join([*chain, leader])}")
            if leader not in types:
                raise ValueError(f"joint {chain[-1]!r} mimics {leader!r}, which the URDF does not have")
            chain.append(leader)
        for joint in (name, mimic.leader):
            if types[joint] not in ("revolute", "prismatic"):
                raise ValueError(
                    f"joint {name!r} mimics {mimic.leader!r}, but {joint!r} is {types[joint]}: only revolute and "
                    "prismatic joints can follow or be followed"
                )
