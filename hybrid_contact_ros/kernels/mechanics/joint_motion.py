"""How the bodies of a robot move, and the rate of its momentum, from Pinocchio's world-frame joint Jacobian.

Reading velocities and accelerations of every frame through Python would cost more than the rest of the estimator, and
Pinocchio's Coriolis matrix as much as all its other algorithms; both follow from the Jacobian and the placements, which
are there already.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class JointTree(NamedTuple):
    """Constants of a tree of n joints (joint 0 is the world) with nf velocities, of which nv are independent.

    Attributes:
        parent, first, size: (n,) int64, of each joint its parent, its first velocity index, its number of velocities.
        lead: (nf,) int64, ratio: (nf,): velocity i of the tree is ratio[i] times the independent velocity lead[i].
            Without mimic joints they are 0 … nv − 1 and ones.
    """

    parent: Index
    first: Index
    size: Index
    lead: Index
    ratio: Array


class JointState(NamedTuple):
    """What Pinocchio has computed of one state.

    Attributes:
        columns: (nf, 6), the joint Jacobian transposed: spatial, in the world frame at the world's origin, linear then
            angular.
        placement: (n, 12), of each joint in the world: the rotation, column by column, and the origin, m.
        upper: (nf, nf), the transpose of M, of which the lower triangle is read (crba promises no more).
        nonlinear: h (nf,).
    """

    columns: Array
    placement: Array
    upper: Array
    nonlinear: Array


class BodyInertia(NamedTuple):
    """Inertia of what each of n joints carries, and gravity.

    Attributes:
        inertia: (n, 10): mass, kg; centre of mass in the joint's frame, m; xx, xy, yy, xz, yz, zz about it, kg m².
        gravity: (3,), m/s².
    """

    inertia: Array
    gravity: Array


@kernel
def joint_twists(tree, columns, velocity, twist):
    """Write the spatial velocity ν and the spatial acceleration a of every joint's body, world frame, at v̇ = 0.

    With w = Σ J_k v_k over the joint's own columns, ν = ν_parent + w. Those columns are constant in the joint's own
    frame, so that J̇_k = ν × J_k and a = a_parent + ν × w = a_parent + ν_parent × w (w × w = 0).

    Args:
        columns: of JointState. velocity: v of the tree (nf,). twist: out, (n, 12), ν and a, linear then angular.
    """
    for c in range(12):
        twist[0, c] = 0.0
    for j in range(1, tree.parent.shape[0]):
        p = tree.parent[j]
        lx = ly = lz = ax = ay = az = 0.0
        for k in range(tree.first[j], tree.first[j] + tree.size[j]):
            lx += columns[k, 0] * velocity[k]
            ly += columns[k, 1] * velocity[k]
            lz += columns[k, 2] * velocity[k]
            ax += columns[k, 3] * velocity[k]
            ay += columns[k, 4] * velocity[k]
            az += columns[k, 5] * velocity[k]
        vx, vy, vz = twist[p, 0], twist[p, 1], twist[p, 2]
        wx, wy, wz = twist[p, 3], twist[p, 4], twist[p, 5]
        twist[j, 0], twist[j, 1], twist[j, 2] = vx + lx, vy + ly, vz + lz
        twist[j, 3], twist[j, 4], twist[j, 5] = wx + ax, wy + ay, wz + az
        twist[j, 6] = twist[p, 6] + wy * lz - wz * ly + vy * az - vz * ay
        twist[j, 7] = twist[p, 7] + wz * lx - wx * lz + vz * ax - vx * az
        twist[j, 8] = twist[p, 8] + wx * ly - wy * lx + vx * ay - vy * ax
        twist[j, 9] = twist[p, 9] + wy * az - wz * ay
        twist[j, 10] = twist[p, 10] + wz * ax - wx * az
        twist[j, 11] = twist[p, 11] + wx * ay - wy * ax


@kernel
def momentum_rate(
    # tree:
    parent, first, size, lead, ratio,
    # bodies:
    inertia, gravity,
    # state:
    columns, placement, twist,
    # scratch:
    carried,
    # out:
    rate,
):  # fmt: skip
    """Write Ṁ v − h = Cᵀv − g, the rate of the generalised momentum M v without actuation and contact.

    With M = Σ J_bᵀ I_b J_b over the bodies, Ṁ v − h is Σ J̇_bᵀ I_b ν_b less gravity's part. Column k of J_b is that of
    joint j for every body b that j carries, and its rate is ν_j × J_k, so that

        rate_k = (ν_j × J_k) · H_j + J_k · W_j,

    with H_j the spatial momentum, and W_j the weight, of all that joint j carries.

    Args: the members of JointTree and BodyInertia; columns and placement of JointState.
        twist: (n, 12), of :func:`joint_twists`. carried: scratch, (n, 10): H, mass times centre of mass, mass.
        rate: out, (nv,).
    """
    count = parent.shape[0]
    for j in range(count):
        _body_momentum(inertia[j], placement[j], twist[j], carried[j])
    for k in range(rate.shape[0]):
        rate[k] = 0.0
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    for j in range(count - 1, 0, -1):
        h = carried[j]
        vx, vy, vz, wx, wy, wz = twist[j, 0], twist[j, 1], twist[j, 2], twist[j, 3], twist[j, 4], twist[j, 5]
        # The weight: a force at the centre of mass, and its torque about the world's origin.
        fx, fy, fz = h[9] * gx, h[9] * gy, h[9] * gz
        tx, ty, tz = h[7] * gz - h[8] * gy, h[8] * gx - h[6] * gz, h[6] * gy - h[7] * gx
        for k in range(first[j], first[j] + size[j]):
            lx, ly, lz = columns[k, 0], columns[k, 1], columns[k, 2]
            ax, ay, az = columns[k, 3], columns[k, 4], columns[k, 5]
            change = (wy * lz - wz * ly + vy * az - vz * ay) * h[0]
            change += (wz * lx - wx * lz + vz * ax - vx * az) * h[1]
            change += (wx * ly - wy * lx + vx * ay - vy * ax) * h[2]
            change += (wy * az - wz * ay) * h[3] + (wz * ax - wx * az) * h[4] + (wx * ay - wy * ax) * h[5]
            weight = lx * fx + ly * fy + lz * fz + ax * tx + ay * ty + az * tz
            rate[lead[k]] += ratio[k] * (change + weight)
        for c in range(10):
            carried[parent[j], c] += h[c]


@kernel
def _body_momentum(body, place, twist, out):
    """Write the spatial momentum of one body about the world's origin, its mass times centre of mass, and its mass."""
    px, py, pz = body[1], body[2], body[3]
    cx = place[9] + place[0] * px + place[3] * py + place[6] * pz
    cy = place[10] + place[1] * px + place[4] * py + place[7] * pz
    cz = place[11] + place[2] * px + place[5] * py + place[8] * pz
    wx, wy, wz = twist[3], twist[4], twist[5]
    out[0] = body[0] * (twist[0] + wy * cz - wz * cy)
    out[1] = body[0] * (twist[1] + wz * cx - wx * cz)
    out[2] = body[0] * (twist[2] + wx * cy - wy * cx)
    # The angular velocity in the joint's frame, where the inertia is constant.
    ux = place[0] * wx + place[1] * wy + place[2] * wz
    uy = place[3] * wx + place[4] * wy + place[5] * wz
    uz = place[6] * wx + place[7] * wy + place[8] * wz
    sx = body[4] * ux + body[5] * uy + body[7] * uz
    sy = body[5] * ux + body[6] * uy + body[8] * uz
    sz = body[7] * ux + body[8] * uy + body[9] * uz
    out[3] = cy * out[2] - cz * out[1] + place[0] * sx + place[3] * sy + place[6] * sz
    out[4] = cz * out[0] - cx * out[2] + place[1] * sx + place[4] * sy + place[7] * sz
    out[5] = cx * out[1] - cy * out[0] + place[2] * sx + place[5] * sy + place[8] * sz
    out[6], out[7], out[8], out[9] = body[0] * cx, body[0] * cy, body[0] * cz, body[0]
