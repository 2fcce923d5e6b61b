"""How contact velocities, accelerations and forces of a robot change with its state: derivatives in closed form.

A column J_k of the joint Jacobian, spatial and in the world frame, is constant in the frame of its joint. Moving q
along the velocity coordinate k of joint j therefore moves everything from joint j on by the twist J_k, so that

    ∂J_i/∂q_k = J_k × J_i         where joint j is that of column i or carries it, and zero elsewhere,
    ∂ν/∂q_k   = J_k × (ν − ν_p)                                        (p: parent of j; ν: a body that j carries)
    ∂a/∂q_k   = J_k × (a − a_p) + (ν_p × J_k) × (ν − ν_p)
    ∂a/∂v_k   = ν_j × J_k + J_k × (ν − ν_p)

with the spatial velocity ν and acceleration a of a body (Carpentier and Mansard, RSS 2018, have recursions).
Displacements of q are those of the tangent space: q ⊕ δ, with a floating base in its own frame.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class GradientSpheres(NamedTuple):
    """The k spheres of ``Spheres`` without their planes' offsets, and the m contacts' frames.

    Attributes:
        joint: (k,) int64. point: (k, 3), m. radius: (k,), m. normal: (k, 3). tangent: (k, 2, 3).
    """

    joint: Index
    point: Array
    radius: Array
    normal: Array
    tangent: Array


class MotionGradient(NamedTuple):
    """Derivatives of the contacts' motion; joint limits, after the spheres, have none and stay as they are.

    Attributes:
        rate_q: ∂(J v)/∂q (m, 3, nv). acceleration_q: ∂(J v̇ + J̇v)/∂q (m, 3, nv). acceleration_v: ∂(J̇v)/∂v (m, 3, nv).
    """

    rate_q: Array
    acceleration_q: Array
    acceleration_v: Array


@kernel
def contact_motion_gradient(
    # tree:
    parent, first, size, lead, ratio,
    # spheres:
    joint, point, radius, normal, tangent,
    # Pinocchio:
    columns, placement,
    # motion:
    velocity, acceleration,
    # scratch:
    twist,
    # out:
    rate_q, acceleration_q, acceleration_v,
):  # fmt: skip
    """Write how the contacts' velocities and accelerations change with q and v, for fixed v and v̇.

    Args: the members of JointTree and GradientSpheres; columns and placement of JointState; members of MotionGradient.
        velocity, acceleration: v and v̇ of the tree (nf,). twist: scratch (n, 12), ν and a of each body.
    """
    for i in range(rate_q.shape[0]):
        for d in range(3):
            for k in range(rate_q.shape[2]):
                rate_q[i, d, k] = acceleration_q[i, d, k] = acceleration_v[i, d, k] = 0.0
    _twists(parent, first, size, columns, velocity, acceleration, twist)
    for i in range(joint.shape[0]):
        b = joint[i]
        c = _sphere_centre(placement[b], point[i])
        s = _touching(c, normal[i], radius[i])
        w, alpha = _triple(twist[b], 3), _triple(twist[b], 9)
        speed = _sum(_triple(twist[b], 0), _cross(w, c))
        j = b
        while j > 0:
            p = parent[j]
            v_p, w_p = _triple(twist[p], 0), _triple(twist[p], 3)
            v_j, w_j = _triple(twist[j], 0), _triple(twist[j], 3)
            v_rel, w_rel = _less(_triple(twist[b], 0), v_p), _less(w, w_p)
            a_rel, alpha_rel = _less(_triple(twist[b], 6), _triple(twist[p], 6)), _less(alpha, _triple(twist[p], 9))
            for k in range(first[j], first[j] + size[j]):
                lin, rot = _triple(columns[k], 0), _triple(columns[k], 3)
                # ∂ν/∂q, ∂a/∂q and ∂a/∂v, each linear and angular
                dv, dw = _bracket(lin, rot, v_rel, w_rel), _cross(rot, w_rel)
                carried, turned = _bracket(v_p, w_p, lin, rot), _cross(w_p, rot)
                da = _sum(_bracket(lin, rot, a_rel, alpha_rel), _bracket(carried, turned, v_rel, w_rel))
                dalpha = _sum(_cross(rot, alpha_rel), _cross(turned, w_rel))
                du, dbeta = _sum(_bracket(v_j, w_j, lin, rot), dv), _sum(_cross(w_j, rot), dw)
                moved = _sum(lin, _cross(rot, c))
                centre_rate = _sum(_sum(dv, _cross(dw, c)), _cross(w, moved))
                rate = _sum(_sum(dv, _cross(dw, s)), _cross(w, moved))
                turn = _sum(_sum(da, _cross(dalpha, s)), _cross(alpha, moved))
                turn = _sum(turn, _sum(_cross(dw, speed), _cross(w, centre_rate)))
                push = _sum(_sum(du, _cross(dbeta, s)), _sum(_cross(rot, speed), _cross(w, moved)))
                for d in range(3):
                    axis = _triple(normal[i], 0) if d == 0 else _triple(tangent[i, d - 1], 0)
                    rate_q[i, d, lead[k]] += ratio[k] * _dot(axis, rate)
                    acceleration_q[i, d, lead[k]] += ratio[k] * _dot(axis, turn)
                    acceleration_v[i, d, lead[k]] += ratio[k] * _dot(axis, push)
            j = p


@kernel
def contact_force_gradient(
    # tree:
    parent, first, size, lead, ratio,
    # spheres:
    joint, point, radius, normal, tangent,
    # Pinocchio:
    columns, placement,
    # forces:
    force,
    # out:
    gradient,
):  # fmt: skip
    """Write ∂(Jᵀλ)/∂q (nv, nv) for fixed contact forces or impulses λ (m, 3), normal first.

    Args: the members of JointTree and GradientSpheres; columns and placement of JointState.
    """
    for i in range(gradient.shape[0]):
        for k in range(gradient.shape[0]):
            gradient[i, k] = 0.0
    for i in range(joint.shape[0]):
        if force[i, 0] == 0.0 and force[i, 1] == 0.0 and force[i, 2] == 0.0:
            continue
        b = joint[i]
        c = _sphere_centre(placement[b], point[i])
        n, t, u = _triple(normal[i], 0), _triple(tangent[i, 0], 0), _triple(tangent[i, 1], 0)
        pull = _sum(_sum(_scaled(force[i, 0], n), _scaled(force[i, 1], t)), _scaled(force[i, 2], u))
        torque = _cross(_touching(c, normal[i], radius[i]), pull)
        moving = b
        while moving > 0:
            for k in range(first[moving], first[moving] + size[moving]):
                lin, rot = _triple(columns[k], 0), _triple(columns[k], 3)
                moved = _cross(_sum(lin, _cross(rot, c)), pull)
                j = b
                while j > 0:
                    for row in range(first[j], first[j] + size[j]):
                        other_l, other_r = _triple(columns[row], 0), _triple(columns[row], 3)
                        value = _dot(moved, other_r)
                        if moving <= j:  # on one chain a joint carries those with larger indices
                            value += _dot(pull, _bracket(lin, rot, other_l, other_r))
                            value += _dot(torque, _cross(rot, other_r))
                        gradient[lead[row], lead[k]] += ratio[row] * ratio[k] * value
                    j = parent[j]
            moving = parent[moving]


@kernel
def _twists(parent, first, size, columns, velocity, acceleration, twist):
    """Write the spatial velocity and acceleration of every joint's body, world frame at the world's origin."""
    for k in range(12):
        twist[0, k] = 0.0
    for j in range(1, parent.shape[0]):
        p = parent[j]
        own, spin, gain, whirl = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(first[j], first[j] + size[j]):
            lin, rot = _triple(columns[k], 0), _triple(columns[k], 3)
            own, spin = _sum(own, _scaled(velocity[k], lin)), _sum(spin, _scaled(velocity[k], rot))
            gain, whirl = _sum(gain, _scaled(acceleration[k], lin)), _sum(whirl, _scaled(acceleration[k], rot))
        v_p, w_p = _triple(twist[p], 0), _triple(twist[p], 3)
        gain, whirl = _sum(gain, _bracket(v_p, w_p, own, spin)), _sum(whirl, _cross(w_p, spin))
        for d in range(3):
            twist[j, d], twist[j, 3 + d] = twist[p, d] + own[d], twist[p, 3 + d] + spin[d]
            twist[j, 6 + d], twist[j, 9 + d] = twist[p, 6 + d] + gain[d], twist[p, 9 + d] + whirl[d]


# Vectors of space are tuples, which need no memory.


@kernel
def _sphere_centre(place, p):
    """The world position of a point ``p`` of a joint's frame."""
    return (
        place[9] + place[0] * p[0] + place[3] * p[1] + place[6] * p[2],
        place[10] + place[1] * p[0] + place[4] * p[1] + place[7] * p[2],
        place[11] + place[2] * p[0] + place[5] * p[1] + place[8] * p[2],
    )


@kernel
def _touching(centre, n, radius):
    """The point of a sphere that is nearest to its plane."""
    return centre[0] - radius * n[0], centre[1] - radius * n[1], centre[2] - radius * n[2]


@kernel
def _triple(values, start):
    return values[start], values[start + 1], values[start + 2]


@kernel
def _sum(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def _less(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def _scaled(factor, a):
    return factor * a[0], factor * a[1], factor * a[2]


@kernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def _bracket(v, w, v_b, w_b):
    """The linear part of the cross product of two spatial motions (v, w) and (v_b, w_b); the angular one is w × w_b."""
    return _sum(_cross(w, v_b), _cross(v, w_b))
