"""Contacts of a robot as tables for the kernels: spheres on links against planes, and joint limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.urdf import Urdf

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MAX_CONTACTS = 64  # the bit mask ContactMode.mode of hybrid_contact_msgs has so many bits
_NO_LIMIT = 1e10  # Pinocchio writes the limits of a joint without a <limit> as the largest float


@dataclass(frozen=True, slots=True, eq=False)
class ContactTable:
    """Constants of all m contacts: k spheres first, in the configuration's order, then the joint limits.

    Attributes:
        names, frames: (m), of each contact its name and its link (for a joint limit, the link that the joint moves).
        friction, restitution: (m,). normal: (m, 3), tangent: (m, 2, 3), world frame, n × t₁ = t₂; zero for joint
        limits.
        joint: (k,), Pinocchio's joint that carries each sphere. point: (k, 3), m, the centre in that joint's frame.
        radius: (k,), m. offset: (k,), m, of the plane n·x = offset.
        limit_sign, limit_bound, limit_position, limit_velocity: (l,), see
            :class:`~hybrid_contact_ros.kernels.mechanics.contact_rows.JointLimits`.
        limit_joint: (l,), Pinocchio's joint of each limit.
    """

    names: tuple[str, ...]
    frames: tuple[str, ...]
    friction: Array
    restitution: Array
    normal: Array
    tangent: Array
    joint: Index
    point: Array
    radius: Array
    offset: Array
    limit_sign: Array
    limit_bound: Array
    limit_position: Index
    limit_velocity: Index
    limit_joint: Index


def contact_table(config: EstimatorConfig, urdf: Urdf, model: pin.Model) -> ContactTable:
    """Look up the configured contacts in the model.

    Raises:
        ValueError: an unknown link or joint (with the closest names), a link that cannot move, a joint without
            limits, a name that is used twice, or more than 64 contacts.
    """
    names: list[str] = []
    frames: list[str] = []
    joints: list[int] = []
    rows: list[tuple[Array, float, Array, float]] = []
    coefficients: list[tuple[float, float]] = []
    for name, contact in config.contacts.items():
        frame = _frame(model, contact.link, f"contacts.{name}.link")
        if frame.parentJoint == 0:
            raise ValueError(
                f"contacts.{name}.link {contact.link!r} is welded to the world: it never touches or leaves anything"
                + ("" if config.floating_base else " (or should floating_base be true?)")
            )
        if contact.environment not in config.environments:
            known = ", ".join(config.environments) or "none"
            raise ValueError(f"contacts.{name}.environment is {contact.environment!r}; known are {known}")
        plane = config.environments[contact.environment]
        length = float(np.linalg.norm(plane.normal))
        normal = np.asarray(plane.normal) / length
        points = np.reshape(contact.points, (-1, 3))
        for i, point in enumerate(points):
            names.append(name if len(points) == 1 else f"{name}_{i}")
            frames.append(contact.link)
            joints.append(frame.parentJoint)
            # The configured normal may have any length; the offset is a distance and is not scaled with it.
            rows.append((frame.placement.act(point), contact.radius, normal, plane.offset))
            coefficients.append((contact.friction, contact.restitution))
    limits = [limit for name in config.joint_limits for limit in _limits(model, urdf, name)]
    names += [limit[0] for limit in limits]
    frames += [_child_link(model, limit[1]) for limit in limits]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"contact names must differ; used twice: {', '.join(twice)}")
    if len(names) > MAX_CONTACTS:
        raise ValueError(f"{len(names)} contacts are configured, at most {MAX_CONTACTS} are supported")
    k, m = len(joints), len(names)
    table = np.array(coefficients + [(0.0, 0.0)] * len(limits)).reshape(m, 2)
    normals, tangents = np.zeros((m, 3)), np.zeros((m, 2, 3))
    for i, row in enumerate(rows):
        normals[i] = row[2]
        tangents[i] = plane_tangents(row[2])
    return ContactTable(
        names=tuple(names),
        frames=tuple(frames),
        friction=table[:, 0].copy(),
        restitution=table[:, 1].copy(),
        normal=normals,
        tangent=tangents,
        joint=np.array(joints, dtype=np.int64),
        point=np.array([row[0] for row in rows]).reshape(k, 3),
        radius=np.array([row[1] for row in rows], dtype=np.float64),
        offset=np.array([row[3] for row in rows], dtype=np.float64),
        limit_sign=np.array([limit[2] for limit in limits], dtype=np.float64),
        limit_bound=np.array([limit[3] for limit in limits], dtype=np.float64),
        limit_position=np.array([model.joints[limit[1]].idx_q for limit in limits], dtype=np.int64),
        limit_velocity=np.array([model.joints[limit[1]].idx_v for limit in limits], dtype=np.int64),
        limit_joint=np.array([limit[1] for limit in limits], dtype=np.int64),
    )


def plane_tangents(normal: Array) -> Array:
    """Two unit tangents (2, 3) of a plane, right-handed with its unit normal; x and y for a level plane.

    t₁ is the world's x axis projected into the plane, or the y axis where x is nearly the normal.
    """
    axis = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    first = axis - (axis @ normal) * normal
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first)])


def closest(name: str, known: Sequence[str]) -> str:
    """``; did you mean FL_foot?``, or nothing where no name is close."""
    close = get_close_matches(name, known, n=3, cutoff=0.6) or [k for k in known if k.lower() == name.lower()]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _unknown(kind: str, name: str, known: Sequence[str]) -> str:
    listed = ", ".join(known[:40]) + (", …" if len(known) > 40 else "")
    return f"no {kind} {name!r} in the URDF" + (closest(name, known) or f"; it has {listed or 'none'}")


def _frame(model: pin.Model, name: str, where: str) -> pin.Frame:
    links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY and frame.name != "universe"]
    for frame in links:
        if frame.name == name:
            return frame
    raise ValueError(f"{where}: {_unknown('link', name, [frame.name for frame in links])}")


def _child_link(model: pin.Model, joint: int) -> str:
    return next(f.name for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint == joint)


def _limits(model: pin.Model, urdf: Urdf, name: str) -> list[tuple[str, int, float, float]]:
    """Finite limits of a joint: contact name, Pinocchio joint, sign, bound."""
    if name not in urdf.joint_types or urdf.joint_types[name] == "fixed":
        moving = [joint for joint, kind in urdf.joint_types.items() if kind != "fixed"]
        raise ValueError(f"joint_limits: {_unknown('moving joint', name, moving)}")
    joint = model.getJointId(name)
    index = model.joints[joint].idx_q
    lower, upper = float(model.lowerPositionLimit[index]), float(model.upperPositionLimit[index])
    found = [(f"{name}_lower", joint, 1.0, lower), (f"{name}_upper", joint, -1.0, upper)]
    # A continuous joint is (cos, sin) in q; its limits of about ±1 in Pinocchio are those of the circle.
    finite = [limit for limit in found if np.isfinite(limit[3]) and abs(limit[3]) < _NO_LIMIT]
    if urdf.joint_types[name] == "continuous" or not finite:
        raise ValueError(f"joint_limits: joint {name!r} has no finite position limit")
    if lower >= upper:
        raise ValueError(f"joint_limits: joint {name!r} has limits {lower:g} … {upper:g}; lower must be below upper")
    return finite
