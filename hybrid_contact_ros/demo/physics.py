"""Robots in MuJoCo: the contact law and the solver that the demo and the benchmarks share, and a URDF as a free body.

MuJoCo's contacts are convex and slightly compliant, other than those of this package: what is predicted here is checked
against an engine that knows nothing of the predictor.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PHYSICS_STEP = 0.00025  # s
STIFF = 0.001  # s, time constant of a contact in which an impact takes 1 to 2 ms

_LEVEL_AXES = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Rows: the axes, in the world, of MuJoCo's contacts with a level floor."""


def free_robot(
    urdf: str, root: str, step: float = PHYSICS_STEP, locked: tuple[str, ...] = (), **compiler: str
) -> mujoco.MjSpec:
    """A URDF as a floating body without geometry, ready for the geoms of its contacts.

    Args:
        urdf: text of the URDF.
        root: its root link.
        step: physics step, s.
        locked: joints that are held at zero.
        compiler: further attributes of MuJoCo's compiler.
    """
    # Static links are fused only after the root is freed: before that, they would take the root to the world with them.
    spec = _bare(_held(urdf, locked), step, compiler)
    spec.body(root).add_freejoint()
    spec.compiler.fusestatic = True
    return spec


def fixed_robot(urdf: str, locked: tuple[str, ...] = (), step: float = PHYSICS_STEP, **compiler: str) -> mujoco.MjSpec:
    """The same of a robot that is bolted to the world; the ``locked`` joints are held at zero."""
    return _bare(_held(urdf, locked), step, compiler)


def _held(urdf: str, locked: tuple[str, ...]) -> ElementTree.Element:
    """A URDF in which the ``locked`` joints are fixed."""
    robot = ElementTree.fromstring(urdf)
    for joint in robot.iter("joint"):
        if joint.get("name") in locked:
            joint.set("type", "fixed")
            for element in joint.findall("mimic"):
                joint.remove(element)
    return robot


def _bare(robot: ElementTree.Element, step: float, compiler: dict[str, str]) -> mujoco.MjSpec:
    for link in robot.iter("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
    for old in robot.findall("mujoco"):
        robot.remove(old)
    options = ElementTree.SubElement(robot, "mujoco")
    ElementTree.SubElement(options, "compiler", {"fusestatic": "false", **compiler})
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    spec.option.timestep = step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    return spec


def contact_law(friction: float, time_constant: float = STIFF) -> dict[str, Any]:
    """Attributes of a massless geom: Coulomb friction, and the time constant (s) with which a contact gives way."""
    return {
        "condim": 3,
        "friction": [friction, 0.0, 0.0],
        "solref": [time_constant, 1.0],
        "solimp": [0.98, 0.999, 0.0002, 0.5, 2.0],
        "mass": 0.0,
        "density": 0.0,
    }


def robot_geom(law: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a geom of a robot: it meets the floor, and not the robot itself."""
    return law | {"contype": 1, "conaffinity": 0}


def add_floor(spec: mujoco.MjSpec, law: dict[str, Any]) -> None:
    """A level floor, which meets the geoms of the robot."""
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(name="floor", type=plane, size=[0, 0, 1], **(law | {"contype": 0, "conaffinity": 1}))


def add_contact_forces(data: mujoco.MjData, total: Array) -> None:
    """Add the forces of the contacts with the floor to ``total`` (ngeom, 3), along the axes of the contacts, N.

    They acted during the step just made, so that the contacts are still those of its beginning.
    """
    if data.ncon:
        # Contacts are the last constraints, with three rows each: normal and tangents (elliptic cones).
        geoms = data.contact.geom2
        total[geoms] += data.efc_force[-3 * geoms.size :].reshape(-1, 3)


def in_world_axes(forces: Array) -> Array:
    """Forces (k, 3) along the axes of contacts with a level floor, in world axes."""
    return np.asarray(forces @ _LEVEL_AXES)
