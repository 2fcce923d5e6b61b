"""Gaps, Jacobian rows and their drift for spheres against planes, from Pinocchio's world-frame joint Jacobian.

Two calls into Pinocchio give the joint Jacobian, the placements and M; reading velocities and accelerations of every
frame through Python would cost more than the rest of the estimator, so they are rebuilt here from the Jacobian.
"""

from numba import njit


@njit(cache=True, nogil=True)
def contact_rows(
    parent,
    first,
    size,
    joint,
    point,
    radius,
    normal,
    offset,
    tangent,
    columns,
    rotation,
    translation,
    velocity,
    twist,
    position_out,
    gap_out,
    normal_out,
    tangent_out,
    drift_out,
):
    """Rows of the first k contacts (spheres), for the tree's n joints (joint 0 is the world) and nv coordinates.

    Constants: parent, first, size (n,): parent joint, first velocity index, number of velocities; joint (k,): joint
    that carries the sphere; point (k, 3): its centre in that joint's frame, m; radius (k,); normal (k, 3), offset (k,):
    the plane n·x = offset; tangent (k, 2, 3): with n an orthonormal frame.
    Inputs: columns (nv, 6): world-frame (spatial, at the world's origin) joint Jacobian transposed, linear then
    angular; rotation (k, 3, 3), translation (k, 3): world placement of each contact's joint; velocity (nv,).
    Scratch: twist (n, 12): each joint's spatial velocity and spatial acceleration at v̇ = 0.
    Outputs (only their first k entries are written): position (m, 3) contact point, gap (m,), normal (m, nv),
    tangent (m, 2, nv), drift (m, 3).

    The normal row is that of the centre and its drift the centre's classical acceleration: for a sphere on a plane φ̈ =
    n·c̈ exactly. The tangent rows are the velocity of the material point that touches, t·(ċ − ω × r n), so that a
    rolling sphere does not slip; its drift keeps n fixed.
    """
    _twists(parent, first, size, columns, velocity, twist)
    nv = velocity.shape[0]
    for i in range(joint.shape[0]):
        nx, ny, nz = normal[i, 0], normal[i, 1], normal[i, 2]
        px, py, pz = point[i, 0], point[i, 1], point[i, 2]
        cx = translation[i, 0] + rotation[i, 0, 0] * px + rotation[i, 0, 1] * py + rotation[i, 0, 2] * pz
        cy = translation[i, 1] + rotation[i, 1, 0] * px + rotation[i, 1, 1] * py + rotation[i, 1, 2] * pz
        cz = translation[i, 2] + rotation[i, 2, 0] * px + rotation[i, 2, 1] * py + rotation[i, 2, 2] * pz
        r = radius[i]
        sx, sy, sz = cx - r * nx, cy - r * ny, cz - r * nz
        position_out[i, 0], position_out[i, 1], position_out[i, 2] = sx, sy, sz
        gap_out[i] = nx * cx + ny * cy + nz * cz - offset[i] - r

        normal_out[i, :] = 0.0
        tangent_out[i, :, :] = 0.0
        j = joint[i]
        while j > 0:
            for k in range(first[j], first[j] + size[j]):
                lx, ly, lz = columns[k, 0], columns[k, 1], columns[k, 2]
                ax, ay, az = columns[k, 3], columns[k, 4], columns[k, 5]
                normal_out[i, k] = (
                    nx * (lx + ay * cz - az * cy) + ny * (ly + az * cx - ax * cz) + nz * (lz + ax * cy - ay * cx)
                )
                mx, my, mz = lx + ay * sz - az * sy, ly + az * sx - ax * sz, lz + ax * sy - ay * sx
                for d in range(2):
                    tangent_out[i, d, k] = tangent[i, d, 0] * mx + tangent[i, d, 1] * my + tangent[i, d, 2] * mz
            j = parent[j]

        b = joint[i]
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        vx = twist[b, 0] + wy * cz - wz * cy
        vy = twist[b, 1] + wz * cx - wx * cz
        vz = twist[b, 2] + wx * cy - wy * cx
        ax, ay, az = twist[b, 9], twist[b, 10], twist[b, 11]
        # Spatial acceleration at the centre, plus ω × ċ, is the classical acceleration.
        gx = twist[b, 6] + ay * cz - az * cy + wy * vz - wz * vy
        gy = twist[b, 7] + az * cx - ax * cz + wz * vx - wx * vz
        gz = twist[b, 8] + ax * cy - ay * cx + wx * vy - wy * vx
        drift_out[i, 0] = nx * gx + ny * gy + nz * gz
        gx -= r * (ay * nz - az * ny)
        gy -= r * (az * nx - ax * nz)
        gz -= r * (ax * ny - ay * nx)
        for d in range(2):
            drift_out[i, 1 + d] = tangent[i, d, 0] * gx + tangent[i, d, 1] * gy + tangent[i, d, 2] * gz
    # Contacts after the spheres are joint limits: one entry each, written by joint_limit_rows.
    for i in range(joint.shape[0], gap_out.shape[0]):
        for k in range(nv):
            normal_out[i, k] = 0.0
            tangent_out[i, 0, k] = 0.0
            tangent_out[i, 1, k] = 0.0
        for d in range(3):
            drift_out[i, d] = 0.0


@njit(cache=True, nogil=True)
def joint_limit_rows(start, sign, bound, position_index, velocity_index, configuration, gap_out, normal_out):
    """Joint limits as contacts, written to entries start, start + 1, … of the outputs.

    Constants: sign (l,): +1 for a lower limit, −1 for an upper one; bound (l,): the limit, rad or m; position_index,
    velocity_index (l,): of the joint's coordinate. Inputs: configuration (nq,). Outputs: gap (m,) = sign (q − bound)
    and its row in normal (m, nv). Tangents and drift are zero.
    """
    for i in range(sign.shape[0]):
        gap_out[start + i] = sign[i] * (configuration[position_index[i]] - bound[i])
        normal_out[start + i, velocity_index[i]] = sign[i]


@njit(cache=True, nogil=True)
def symmetric_copy(upper, mass_out):
    """Copy the upper triangle of a (nv, nv) matrix to both triangles of mass_out (crba promises no more than one).

    ``upper`` comes transposed, as the C-contiguous view of a column-major matrix: upper[j, i] is entry (i, j).
    """
    for i in range(upper.shape[0]):
        for j in range(i, upper.shape[0]):
            mass_out[i, j] = upper[j, i]
            mass_out[j, i] = upper[j, i]


@njit(cache=True, nogil=True)
def _twists(parent, first, size, columns, velocity, twist):
    """Spatial velocity ν and spatial acceleration a of every joint's body, world frame, at v̇ = 0.

    With w = Σ J_k v_k over the joint's own columns: ν = ν_parent + w, and since those columns are constant in the
    joint's own frame J̇_k = ν × J_k, so a = a_parent + ν × w = a_parent + ν_parent × w (w × w = 0).
    """
    for c in range(12):
        twist[0, c] = 0.0
    for j in range(1, parent.shape[0]):
        p = parent[j]
        lx = ly = lz = ax = ay = az = 0.0
        for k in range(first[j], first[j] + size[j]):
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
