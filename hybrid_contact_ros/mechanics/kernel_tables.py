"""The constants of a robot, and views on Pinocchio's memory, laid out as the kernels read them."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.mechanics.contact_rows import JointLimits, Spheres
from hybrid_contact_ros.kernels.mechanics.joint_motion import BodyInertia, JointState, JointTree
from hybrid_contact_ros.mechanics.contact_points import ContactTable
from hybrid_contact_ros.mechanics.coordinates import Coordinates

Array = NDArray[np.float64]


def joint_tree(model: pin.Model, coordinates: Coordinates) -> JointTree:
    """Which joint carries which, and where its coordinates stand in v."""
    joints = list(model.joints)[1:]
    return JointTree(
        parent=np.array(list(model.parents), dtype=np.int64),
        first=np.array([0, *(joint.idx_v for joint in joints)], dtype=np.int64),
        size=np.array([0, *(joint.nv for joint in joints)], dtype=np.int64),
        lead=coordinates.lead,
        ratio=coordinates.ratio,
    )


def body_inertia(model: pin.Model) -> BodyInertia:
    """Mass, lever and inertia of the bodies on each joint, and gravity."""
    return BodyInertia(
        inertia=np.array([_inertia(body) for body in model.inertias]), gravity=model.gravity.linear.copy()
    )


def spheres_of(table: ContactTable) -> Spheres:
    """The contacts of spheres with planes, which stand before the joint limits in the table."""
    k = len(table.joint)
    return Spheres(
        joint=table.joint,
        point=table.point,
        radius=table.radius,
        normal=table.normal[:k].copy(),
        offset=table.offset,
        tangent=table.tangent[:k].copy(),
    )


def limits_of(table: ContactTable) -> JointLimits:
    """The joint limits among the contacts."""
    return JointLimits(
        limit_joint=table.limit_joint,
        limit_sign=table.limit_sign,
        limit_bound=table.limit_bound,
        limit_position=table.limit_position,
        limit_velocity=table.limit_velocity,
    )


def joint_state(model: pin.Model, data: pin.Data) -> JointState:
    """Views on ``data``, which follow every later computation; see :func:`require_shared`.

    They are reshaped because Pinocchio hands out matrices of one column as vectors.
    """
    return JointState(
        columns=data.J.T.reshape(model.nv, 6),
        placement=_placements(data, model.njoints),
        upper=data.M.T.reshape(model.nv, model.nv),
        nonlinear=data.nle,
    )


def require_shared(joints: JointState, model: pin.Model, data: pin.Data) -> None:
    """Check that Pinocchio hands out views on its memory, as :func:`joint_state` needs.

    Raises:
        RuntimeError: its arrays are copies.
    """
    arrays = data.J, data.oMi[model.njoints - 1].translation, data.M, data.nle
    if not all(np.shares_memory(view, array) for view, array in zip(joints, arrays, strict=True)):
        raise RuntimeError("Pinocchio's arrays are copies in this build; this suite needs a build that shares them")


def _inertia(body: pin.Inertia) -> Array:
    """One row of ``BodyInertia.inertia``."""
    angular = body.inertia
    return np.array([body.mass, *body.lever, *(angular[i, j] for i in range(3) for j in range(i + 1))])


def _placements(data: pin.Data, joints: int) -> Array:
    """All placements as one view (joints, 12): Pinocchio keeps them side by side, rotation and then translation."""
    first = data.oMi[0].rotation.T
    size = first.itemsize
    return np.lib.stride_tricks.as_strided(first, (joints, 12), (12 * size, size))
