"""The mechanics of a tree at one configuration: its bias force at any velocity, and how M w and J w change with q.

With the notation of :mod:`~hybrid_contact_ros.kernels.mechanics.contact_gradient`: moving q along the coordinate k of
joint j moves all that the joint carries by the twist J_k. With α = Σ J_l w_l of the parent of j, F and I the force and
the inertia of all that a joint carries,

    ∂(M w)_i/∂q_k = −(I_i J_i) · (J_k × α)                     where j is the joint of column i, or carries it
    ∂(M w)_i/∂q_k = J_i · (J_k ×* F_k − I_k (J_k × α))          where j is carried by the joint of column i

and zero elsewhere.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.mechanics.joint_motion import joint_twists


@kernel
def place_bodies(tree, inertia, placement, columns, body, carried, momentum):
    """Write the inertia of each body in the world frame, of what each joint carries, and its momentum for J_k."""
    count = tree.parent.shape[0]
    for j in range(count):
        p, b = placement[j], inertia[j]
        m = b[0]
        cx = p[9] + p[0] * b[1] + p[3] * b[2] + p[6] * b[3]
        cy = p[10] + p[1] * b[1] + p[4] * b[2] + p[7] * b[3]
        cz = p[11] + p[2] * b[1] + p[5] * b[2] + p[8] * b[3]
        xx = xy = yy = xz = yz = zz = 0.0
        for r in range(3):
            for c in range(3):
                low, high = min(r, c), max(r, c)
                value = b[4 + high * (high + 1) // 2 + low]
                x, y, z = p[3 * r] * value, p[3 * r + 1] * value, p[3 * r + 2] * value
                xx += x * p[3 * c]
                xy += x * p[3 * c + 1]
                yy += y * p[3 * c + 1]
                xz += x * p[3 * c + 2]
                yz += y * p[3 * c + 2]
                zz += z * p[3 * c + 2]
        o = body[j]
        o[0], o[1], o[2], o[3] = m, cx, cy, cz
        o[4], o[5], o[6], o[7], o[8], o[9] = xx, xy, yy, xz, yz, zz
        o = carried[j]
        o[0], o[1], o[2], o[3] = m, m * cx, m * cy, m * cz
        o[4], o[5], o[6] = xx + m * (cy * cy + cz * cz), xy - m * cx * cy, yy + m * (cx * cx + cz * cz)
        o[7], o[8], o[9] = xz - m * cx * cz, yz - m * cy * cz, zz + m * (cx * cx + cy * cy)
    for j in range(count - 1, 0, -1):
        for r in range(10):
            carried[tree.parent[j], r] += carried[j, r]
    for j in range(1, count):
        for k in range(tree.first[j], tree.first[j] + tree.size[j]):
            _momentum(carried[j], columns[k], momentum[k])


@kernel
def spread(tree, velocity, full):
    """Velocities (nf,) of the tree from independent ones (nv,)."""
    for k in range(full.shape[0]):
        full[k] = tree.ratio[k] * velocity[tree.lead[k]]


@kernel
def bias_force(tree, gravity, columns, body, full, twist, force, bias):
    """Write h(q, v) (nv,) and the motion of the bodies, ``twist``; ``full``: v of the tree (nf,)."""
    joint_twists(tree, columns, full, twist)
    count = tree.parent.shape[0]
    for j in range(1, count):
        m, cx, cy, cz = body[j, 0], body[j, 1], body[j, 2], body[j, 3]
        xx, xy, yy, xz, yz, zz = body[j, 4], body[j, 5], body[j, 6], body[j, 7], body[j, 8], body[j, 9]
        t = twist[j]
        wx, wy, wz, ax, ay, az = t[3], t[4], t[5], t[9], t[10], t[11]
        vx, vy, vz = t[0] + wy * cz - wz * cy, t[1] + wz * cx - wx * cz, t[2] + wx * cy - wy * cx
        fx = m * (t[6] + ay * cz - az * cy + wy * vz - wz * vy - gravity[0])
        fy = m * (t[7] + az * cx - ax * cz + wz * vx - wx * vz - gravity[1])
        fz = m * (t[8] + ax * cy - ay * cx + wx * vy - wy * vx - gravity[2])
        hx, hy, hz = xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz
        o = force[j]
        o[0], o[1], o[2] = fx, fy, fz
        o[3] = cy * fz - cz * fy + xx * ax + xy * ay + xz * az + wy * hz - wz * hy
        o[4] = cz * fx - cx * fz + xy * ax + yy * ay + yz * az + wz * hx - wx * hz
        o[5] = cx * fy - cy * fx + xz * ax + yz * ay + zz * az + wx * hy - wy * hx
    for k in range(bias.shape[0]):
        bias[k] = 0.0
    for j in range(count - 1, 0, -1):
        for k in range(tree.first[j], tree.first[j] + tree.size[j]):
            bias[tree.lead[k]] += tree.ratio[k] * _dot6(columns[k], force[j])
        if tree.parent[j] > 0:
            for r in range(6):
                force[tree.parent[j], r] += force[j, r]


@kernel
def contact_drift(spheres, which, placement, twist, drift):
    """Write J̇v (n,) of the contacts ``which``, as :func:`~..mechanics.contact_rows.sphere_rows`."""
    for a in range(which.shape[0]):
        i = which[a]
        if i >= spheres.joint.shape[0]:  # a joint limit
            drift[3 * a] = drift[3 * a + 1] = drift[3 * a + 2] = 0.0
            continue
        t, p, q = twist[spheres.joint[i]], placement[spheres.joint[i]], spheres.point[i]
        nx, ny, nz, r = spheres.normal[i, 0], spheres.normal[i, 1], spheres.normal[i, 2], spheres.radius[i]
        cx = p[9] + p[0] * q[0] + p[3] * q[1] + p[6] * q[2]
        cy = p[10] + p[1] * q[0] + p[4] * q[1] + p[7] * q[2]
        cz = p[11] + p[2] * q[0] + p[5] * q[1] + p[8] * q[2]
        wx, wy, wz, ax, ay, az = t[3], t[4], t[5], t[9], t[10], t[11]
        vx, vy, vz = t[0] + wy * cz - wz * cy, t[1] + wz * cx - wx * cz, t[2] + wx * cy - wy * cx
        gx = t[6] + ay * cz - az * cy + wy * vz - wz * vy
        gy = t[7] + az * cx - ax * cz + wz * vx - wx * vz
        gz = t[8] + ax * cy - ay * cx + wx * vy - wy * vx
        drift[3 * a] = nx * gx + ny * gy + nz * gz
        gx -= r * (ay * nz - az * ny)
        gy -= r * (az * nx - ax * nz)
        gz -= r * (ax * ny - ay * nx)
        for d in range(2):
            tangent = spheres.tangent[i, d]
            drift[3 * a + 1 + d] = tangent[0] * gx + tangent[1] * gy + tangent[2] * gz


@kernel
def take_mass_gradient(tree, columns, carried, momentum, full, twist, force, swept, pulled, gradient):
    """Subtract ∂(M w)/∂q from ``gradient`` (nv, nv), for w of the tree, ``full`` (nf,).

    Leaves the velocities of the bodies that w stands for in ``twist[:, :6]``.
    """
    count = tree.parent.shape[0]
    for r in range(6):
        twist[0, r] = 0.0
    for j in range(1, count):
        p = tree.parent[j]
        for r in range(6):
            twist[j, r], force[j, r] = twist[p, r], 0.0
        for k in range(tree.first[j], tree.first[j] + tree.size[j]):
            for r in range(6):
                twist[j, r] += columns[k, r] * full[k]
                # what the joint carries, moved by this column, and below by those of the joints in between
                force[j, r] += momentum[k, r] * full[k]
    # F_j = I_j α_parent + Σ over the columns from joint j on, of what they carry
    for j in range(count - 1, 0, -1):
        p = tree.parent[j]
        if p > 0:
            for r in range(6):
                force[p, r] += force[j, r]
    for j in range(1, count):
        p = tree.parent[j]
        fx, fy, fz, nx, ny, nz = _apply(carried[j], twist[p])
        f = force[j]
        fx, fy, fz, nx, ny, nz = fx + f[0], fy + f[1], fz + f[2], nx + f[3], ny + f[4], nz + f[5]
        for k in range(tree.first[j], tree.first[j] + tree.size[j]):
            axis, z = columns[k], swept[k]
            _cross_motion(axis, twist[p], z)
            gx, gy, gz, hx, hy, hz = _apply(carried[j], z)
            y = pulled[k]
            y[0] = axis[4] * fz - axis[5] * fy - gx
            y[1] = axis[5] * fx - axis[3] * fz - gy
            y[2] = axis[3] * fy - axis[4] * fx - gz
            y[3] = axis[4] * nz - axis[5] * ny + axis[1] * fz - axis[2] * fy - hx
            y[4] = axis[5] * nx - axis[3] * nz + axis[2] * fx - axis[0] * fz - hy
            y[5] = axis[3] * ny - axis[4] * nx + axis[0] * fy - axis[1] * fx - hz
    for j in range(1, count):
        for i in range(tree.first[j], tree.first[j] + tree.size[j]):
            a, ratio = tree.lead[i], tree.ratio[i]
            b = j
            while b > 0:
                for k in range(tree.first[b], tree.first[b] + tree.size[b]):
                    both = ratio * tree.ratio[k]
                    gradient[a, tree.lead[k]] += both * _dot6(momentum[i], swept[k])
                    if b != j:
                        gradient[tree.lead[k], a] -= both * _dot6(columns[k], pulled[i])
                b = tree.parent[b]


@kernel
def rate_gradient(tree, spheres, which, columns, placement, twist, rate):
    """Write ∂(J w)/∂q (n, nv) of the contacts ``which``; ``twist[:, :6]``: velocities of the bodies for w."""
    for r in range(rate.shape[0]):
        for k in range(rate.shape[1]):
            rate[r, k] = 0.0
    for a in range(which.shape[0]):
        i = which[a]
        if i >= spheres.joint.shape[0]:
            continue
        b = spheres.joint[i]
        p, q, r = placement[b], spheres.point[i], spheres.radius[i]
        cx = p[9] + p[0] * q[0] + p[3] * q[1] + p[6] * q[2]
        cy = p[10] + p[1] * q[0] + p[4] * q[1] + p[7] * q[2]
        cz = p[11] + p[2] * q[0] + p[5] * q[1] + p[8] * q[2]
        normal = spheres.normal[i]
        sx, sy, sz = cx - r * normal[0], cy - r * normal[1], cz - r * normal[2]
        wx, wy, wz = twist[b, 3], twist[b, 4], twist[b, 5]
        j = b
        while j > 0:
            t = twist[tree.parent[j]]
            ux, uy, uz = twist[b, 0] - t[0], twist[b, 1] - t[1], twist[b, 2] - t[2]
            ox, oy, oz = wx - t[3], wy - t[4], wz - t[5]
            for k in range(tree.first[j], tree.first[j] + tree.size[j]):
                axis = columns[k]
                # the twist of the body changes by J_k × (ν − ν_p), and the point that touches moves
                dx, dy, dz = axis[4] * oz - axis[5] * oy, axis[5] * ox - axis[3] * oz, axis[3] * oy - axis[4] * ox
                ex = axis[4] * uz - axis[5] * uy + axis[1] * oz - axis[2] * oy + dy * sz - dz * sy
                ey = axis[5] * ux - axis[3] * uz + axis[2] * ox - axis[0] * oz + dz * sx - dx * sz
                ez = axis[3] * uy - axis[4] * ux + axis[0] * oy - axis[1] * ox + dx * sy - dy * sx
                mx = axis[0] + axis[4] * cz - axis[5] * cy
                my = axis[1] + axis[5] * cx - axis[3] * cz
                mz = axis[2] + axis[3] * cy - axis[4] * cx
                ex, ey, ez = ex + wy * mz - wz * my, ey + wz * mx - wx * mz, ez + wx * my - wy * mx
                ratio, at = tree.ratio[k], tree.lead[k]
                rate[3 * a, at] += ratio * (normal[0] * ex + normal[1] * ey + normal[2] * ez)
                for d in range(2):
                    tangent = spheres.tangent[i, d]
                    rate[3 * a + 1 + d, at] += ratio * (tangent[0] * ex + tangent[1] * ey + tangent[2] * ez)
            j = tree.parent[j]


@kernel
def _momentum(body, motion, out):
    out[0], out[1], out[2], out[3], out[4], out[5] = _apply(body, motion)


@kernel
def _apply(body, motion):
    """The spatial momentum (linear, angular) of an inertia about the origin, for a motion."""
    m, x, y, z = body[0], body[1], body[2], body[3]
    vx, vy, vz, wx, wy, wz = motion[0], motion[1], motion[2], motion[3], motion[4], motion[5]
    return (
        m * vx + wy * z - wz * y,
        m * vy + wz * x - wx * z,
        m * vz + wx * y - wy * x,
        y * vz - z * vy + body[4] * wx + body[5] * wy + body[7] * wz,
        z * vx - x * vz + body[5] * wx + body[6] * wy + body[8] * wz,
        x * vy - y * vx + body[7] * wx + body[8] * wy + body[9] * wz,
    )


@kernel
def _cross_motion(a, b, out):
    """The cross product of two spatial motions."""
    out[0] = a[4] * b[2] - a[5] * b[1] + a[1] * b[5] - a[2] * b[4]
    out[1] = a[5] * b[0] - a[3] * b[2] + a[2] * b[3] - a[0] * b[5]
    out[2] = a[3] * b[1] - a[4] * b[0] + a[0] * b[4] - a[1] * b[3]
    out[3] = a[4] * b[5] - a[5] * b[4]
    out[4] = a[5] * b[3] - a[3] * b[5]
    out[5] = a[3] * b[4] - a[4] * b[3]


@kernel
def _dot6(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]
