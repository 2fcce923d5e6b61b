"""The collision shapes of a robot's links at the neutral configuration, as points in the frame of its root link.

Of a COLLADA file (.dae) Pinocchio takes the vertices as they stand. RViz does so, too, but for the file's unit, by
which it scales them: ``rviz_rendering``'s ``assimp_loader.cpp`` sets ``AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION``
and keeps the rest of the root node's transformation; older RViz and MoveIt leave ``<up_axis>`` out as well. What RViz
shows is what the author of a URDF looked at, so it is what is taken here. Some URDFs were made with viewers that turn
Y_UP upright (the iCub of example-robot-data): as they stand, their centres of mass lie outside of their links. Where
the file's axis puts them inside, it is heeded.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TURNS = {
    "X_UP": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]),
    "Y_UP": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
}
_OUTSIDE = 0.05  # m, by which centres of mass are outside of their links together, before axes are doubted
_CLEARLY = 0.5  # part of it that may be left with the other axes


class Shape(NamedTuple):
    """A shape on a link: the radius of a ball (m), or 0, and points (k, 3), m, in the frame of the root link."""

    radius: float
    points: Array


class Shapes(NamedTuple):
    """The shapes of each link that has any. turned: whether the axes were those of COLLADA files, and not RViz's."""

    of_link: dict[str, list[Shape]]
    turned: bool


def link_shapes(model: pin.Model, data: pin.Data, text: str, path: Path) -> Shapes:
    """The collision shapes of a URDF.

    Args:
        model: of a fixed base. data: with the frames at the neutral configuration. text, path: of the URDF; meshes are
            looked for beside it, and left out where they are not found.
    """
    geometry = _geometry(model, text, path).geometryObjects
    turned = _is_turned(model, text, list(geometry))
    found: dict[str, list[Shape]] = {}
    for shape in geometry:
        placed = _placed(shape, data.oMi[shape.parentJoint] * shape.placement, turned)
        if placed is not None:
            found.setdefault(model.frames[shape.parentFrame].name, []).append(placed)
    return Shapes(found, turned)


def _geometry(model: pin.Model, text: str, path: Path) -> pin.GeometryModel:
    """The collision shapes, without meshes where these cannot be found."""
    folders = [str(folder) for each in (path.absolute(), path.resolve()) for folder in each.parents]  # of a link, too
    try:
        return pin.buildGeomFromUrdfString(model, text, pin.COLLISION, package_dirs=folders)
    except (ValueError, RuntimeError):
        robot = ElementTree.fromstring(text)
        for link in robot.iter("link"):
            for shape in [each for each in link.findall("collision") if each.find("geometry/mesh") is not None]:
                link.remove(shape)
        return pin.buildGeomFromUrdfString(model, ElementTree.tostring(robot, encoding="unicode"), pin.COLLISION)


def _placed(shape: pin.GeometryObject, placement: pin.SE3, turned: bool) -> Shape | None:
    """A shape in the frame of the root link."""
    solid = shape.geometry
    kind = type(solid).__name__
    if kind == "Sphere":
        return Shape(float(solid.radius), placement.translation.reshape(1, 3).copy())
    if kind == "Box":
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        points = signs * np.asarray(solid.halfSide).reshape(3)
    elif kind in ("Cylinder", "Capsule"):
        angle = np.arange(16) * np.pi / 8
        ring = np.column_stack([solid.radius * np.cos(angle), solid.radius * np.sin(angle), np.zeros(16)])
        points = np.concatenate([ring + np.array([0.0, 0.0, z]) for z in (-solid.halfLength, solid.halfLength)])
    elif hasattr(solid, "num_vertices"):
        points = _mesh(shape, turned)
    else:
        return None
    return Shape(0.0, points @ placement.rotation.T + placement.translation) if len(points) else None


def _mesh(shape: pin.GeometryObject, turned: bool) -> Array:
    """The points (k, 3) of a mesh, m, in its own axes, or with ``turned`` with its file's axis upright."""
    solid = shape.geometry
    points = np.array([solid.vertex(i) for i in range(solid.num_vertices)]).reshape(-1, 3)
    meter, up = _asset(shape.meshPath)
    points *= meter
    if not turned or up not in _TURNS:
        return points
    scale = np.asarray(shape.meshScale, dtype=np.float64)  # which was applied already, in the file's axes
    return np.asarray((points / scale) @ _TURNS[up].T * scale)


def _asset(path: str) -> tuple[float, str]:
    """The unit, m, and the axis that points upwards, of a COLLADA file; 1 and nothing of any other."""
    if not path.lower().endswith(".dae"):
        return 1.0, ""
    meter, up = 1.0, "Y_UP"  # what COLLADA says where a file does not
    try:
        for _, element in ElementTree.iterparse(path):
            tag = element.tag.rpartition("}")[2]
            if tag == "unit":
                meter = float(element.get("meter", "1"))
            elif tag == "up_axis":
                up = (element.text or "").strip()
            elif tag == "asset":
                break  # the first one is the file's, others are of its parts
    except (OSError, ValueError, ElementTree.ParseError):
        return 1.0, ""  # whoever made the points of it could read it
    return (meter if np.isfinite(meter) and meter > 0.0 else 1.0), up


def _is_turned(model: pin.Model, text: str, shapes: list[pin.GeometryObject]) -> bool:
    """Whether the centres of mass of links are inside of their meshes only with the axes of COLLADA files."""
    centres = _centres(text)
    outside = np.zeros(2)
    for shape in shapes:
        frame = model.frames[shape.parentFrame]
        if frame.name in centres and _asset(shape.meshPath)[1] in _TURNS and hasattr(shape.geometry, "num_vertices"):
            placement = frame.placement.inverse() * shape.placement
            for k in (0, 1):
                points = _mesh(shape, bool(k)) @ placement.rotation.T + placement.translation
                outside[k] += _distance(centres[frame.name], points)
    return bool(outside[0] > _OUTSIDE and outside[1] < _CLEARLY * outside[0])


def _distance(place: Array, points: Array) -> float:
    """How far a place is outside of the box about some points, m."""
    if not len(points):
        return 0.0
    return float(np.linalg.norm(np.maximum(0.0, np.maximum(points.min(axis=0) - place, place - points.max(axis=0)))))


def _centres(text: str) -> Mapping[str, Array]:
    """The centre of mass (m, link's frame) of each link that has a mass."""
    found = {}
    for link in ElementTree.fromstring(text).iter("link"):
        mass, origin = link.find("inertial/mass"), link.find("inertial/origin")
        if mass is not None and float(mass.get("value", "0")) > 0.0:
            xyz = "0 0 0" if origin is None else origin.get("xyz", "0 0 0")
            found[link.get("name", "")] = np.array([float(x) for x in xyz.split()])
    return found
