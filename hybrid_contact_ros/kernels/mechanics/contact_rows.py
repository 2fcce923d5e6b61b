"""Gaps, Jacobian rows and their drift for spheres against planes and for joint limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Spheres(NamedTuple):
    """k spheres on the joints of a tree, each of which may touch a plane.

    Attributes:
        joint: (k,) int64, the joint that carries the sphere. point: (k, 3), m, the centre in that joint's frame.
        radius: (k,), m.
        normal: (k, 3). tangent: (k, 2, 3), with the normal an orthonormal frame. offset: (k,), m. The plane of a sphere
            is n·x = offset in the world frame.
    """

    joint: Index
    point: Array
    radius: Array
    normal: Array
    offset: Array
    tangent: Array


class JointLimits(NamedTuple):
    """l limits of joints of one coordinate.

    Attributes:
        limit_joint: (l,) int64. limit_sign: (l,), +1 for a lower limit, −1 for an upper one. limit_bound: (l,), rad or
            m. limit_position, limit_velocity: (l,) int64, of the joint's coordinate in the q and v of the tree.
    """

    limit_joint: Index
    limit_sign: Array
    limit_bound: Array
    limit_position: Index
    limit_velocity: Index


class RowsOut(NamedTuple):
    """The m contacts of one state, the spheres first and then the limits.

    Attributes:
        rows: J (m, 3, nv), normal and two tangents. gap: φ (m,), m. drift: J̇v (m, 3), m/s², normal first.
        position: (m, 3), m, contact point in the world, or the origin of a limit's joint.
    """

    rows: Array
    gap: Array
    drift: Array
    position: Array


@kernel
def sphere_rows(tree, spheres, columns, placement, twist, out):
    """Write rows, gap, drift and position of the spheres.

    The normal row is that of the sphere's centre c, and its drift is the centre's classical acceleration along n: for a
    sphere on a plane φ̈ = n·c̈ exactly. The tangent rows give the velocity of the material point that touches,
    t·(ċ − ω × r n), so that a rolling sphere does not slip; their drift keeps n fixed.

    Args:
        tree: JointTree. spheres: Spheres. columns, placement: of JointState. twist: (n, 12), of ``joint_twists``.
        out: RowsOut, whose ``rows`` are zero on entry.
    """
    normal, tangent, rows = spheres.normal, spheres.tangent, out.rows
    for i in range(spheres.joint.shape[0]):
        b = spheres.joint[i]
        nx, ny, nz = normal[i, 0], normal[i, 1], normal[i, 2]
        px, py, pz = spheres.point[i, 0], spheres.point[i, 1], spheres.point[i, 2]
        cx = placement[b, 9] + placement[b, 0] * px + placement[b, 3] * py + placement[b, 6] * pz
        cy = placement[b, 10] + placement[b, 1] * px + placement[b, 4] * py + placement[b, 7] * pz
        cz = placement[b, 11] + placement[b, 2] * px + placement[b, 5] * py + placement[b, 8] * pz
        r = spheres.radius[i]
        sx, sy, sz = cx - r * nx, cy - r * ny, cz - r * nz
        out.position[i, 0], out.position[i, 1], out.position[i, 2] = sx, sy, sz
        out.gap[i] = nx * cx + ny * cy + nz * cz - spheres.offset[i] - r
        j = b
        while j > 0:
            for k in range(tree.first[j], tree.first[j] + tree.size[j]):
                lx, ly, lz = columns[k, 0], columns[k, 1], columns[k, 2]
                ax, ay, az = columns[k, 3], columns[k, 4], columns[k, 5]
                ratio, c = tree.ratio[k], tree.lead[k]
                rows[i, 0, c] += ratio * (
                    nx * (lx + ay * cz - az * cy) + ny * (ly + az * cx - ax * cz) + nz * (lz + ax * cy - ay * cx)
                )
                mx, my, mz = lx + ay * sz - az * sy, ly + az * sx - ax * sz, lz + ax * sy - ay * sx
                for d in range(2):
                    rows[i, 1 + d, c] += ratio * (tangent[i, d, 0] * mx + tangent[i, d, 1] * my + tangent[i, d, 2] * mz)
            j = tree.parent[j]

        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        vx = twist[b, 0] + wy * cz - wz * cy
        vy = twist[b, 1] + wz * cx - wx * cz
        vz = twist[b, 2] + wx * cy - wy * cx
        ax, ay, az = twist[b, 9], twist[b, 10], twist[b, 11]
        # Spatial acceleration at the centre, plus ω × ċ, is the classical acceleration.
        gx = twist[b, 6] + ay * cz - az * cy + wy * vz - wz * vy
        gy = twist[b, 7] + az * cx - ax * cz + wz * vx - wx * vz
        gz = twist[b, 8] + ax * cy - ay * cx + wx * vy - wy * vx
        out.drift[i, 0] = nx * gx + ny * gy + nz * gz
        gx -= r * (ay * nz - az * ny)
        gy -= r * (az * nx - ax * nz)
        gz -= r * (ax * ny - ay * nx)
        for d in range(2):
            out.drift[i, 1 + d] = tangent[i, d, 0] * gx + tangent[i, d, 1] * gy + tangent[i, d, 2] * gz


@kernel
def joint_limit_rows(tree, start, limits, configuration, placement, out):
    """Write joint limits as contacts to the entries start, start + 1, … of ``out``, a RowsOut.

    The gap is sign (q − bound). Tangents, which are zero on entry, and drift of a joint limit are zero.
    """
    for i in range(limits.limit_sign.shape[0]):
        sign, k = limits.limit_sign[i], limits.limit_velocity[i]
        out.gap[start + i] = sign * (configuration[limits.limit_position[i]] - limits.limit_bound[i])
        out.rows[start + i, 0, tree.lead[k]] = tree.ratio[k] * sign
        for c in range(3):
            out.drift[start + i, c] = 0.0
            out.position[start + i, c] = placement[limits.limit_joint[i], 9 + c]
