"""The support polygon of a robot with a floating base: whether its centre of mass is above it."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

_LEAST = 1e-9  # kg, N and m: nothing less is anything


@kernel
def is_above(margin, stands, rows, bias, L, places):
    """Whether the centre of mass lies at least ``margin`` (m) within the convex hull of the contacts that stand, seen
    along gravity.

    All of it is found in the axes of the base, without the base's pose. The rows of a contact's Jacobian that belong to
    the base are the directions d of its normal and tangents, and p × d of its place p; those of the mass matrix that
    couple torques with linear accelerations are m [c]×; and of a robot at rest, the bias of the base's linear
    coordinates is its weight, upwards (Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 2.10 and 2.13).

    Args:
        stands: (m,), not negative of contacts that stand. rows: (3m, nv), of each contact its normal and both tangents;
            the base's coordinates first, linear before angular. bias: (nv,), N. L: (nv, nv), the lower factor of the
            mass matrix. places: (2m,) at least, scratch.
    """
    mass = L[0, 0] * L[0, 0]
    weight = math.sqrt(bias[0] ** 2 + bias[1] ** 2 + bias[2] ** 2)
    if not (weight > _LEAST and mass > _LEAST):
        return False
    c0 = (L[5, 0] * L[1, 0] + L[5, 1] * L[1, 1]) / mass
    c1 = -(L[5, 0] * L[0, 0]) / mass
    c2 = (L[4, 0] * L[0, 0]) / mass
    up0, up1, up2 = bias[0] / weight, bias[1] / weight, bias[2] / weight
    # Two horizontal axes: up × the base's axis that is most horizontal, and up × that.
    if abs(up0) <= abs(up1) and abs(up0) <= abs(up2):
        a0, a1, a2 = 0.0, up2, -up1
    elif abs(up1) <= abs(up2):
        a0, a1, a2 = -up2, 0.0, up0
    else:
        a0, a1, a2 = up1, -up0, 0.0
    length = math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    a0, a1, a2 = a0 / length, a1 / length, a2 / length
    b0, b1, b2 = up1 * a2 - up2 * a1, up2 * a0 - up0 * a2, up0 * a1 - up1 * a0
    count = 0
    for i in range(stands.shape[0]):
        if stands[i] >= 0:
            p0, p1, p2 = -c0, -c1, -c2
            for k in range(3 * i, 3 * i + 3):  # p = Σ d × (p × d) / 2
                p0 += 0.5 * (rows[k, 1] * rows[k, 5] - rows[k, 2] * rows[k, 4])
                p1 += 0.5 * (rows[k, 2] * rows[k, 3] - rows[k, 0] * rows[k, 5])
                p2 += 0.5 * (rows[k, 0] * rows[k, 4] - rows[k, 1] * rows[k, 3])
            places[2 * count] = a0 * p0 + a1 * p1 + a2 * p2
            places[2 * count + 1] = b0 * p0 + b1 * p1 + b2 * p2
            count += 1
    return is_within(margin, count, places)


@kernel
def is_within(margin, count, places):
    """Whether the origin is at least ``margin`` within the convex hull of ``count`` points (x, y) of ``places``: round
    the hull, from one of its points to the next (Jarvis, Information Processing Letters 2, 1973)."""
    if count < 3:
        return False
    start = 0
    for i in range(1, count):
        lower = places[2 * i + 1] < places[2 * start + 1]
        if lower or (places[2 * i + 1] == places[2 * start + 1] and places[2 * i] < places[2 * start]):
            start = i
    at = start
    for _ in range(count):
        ahead, x, y = -1, 0.0, 0.0  # the edge to the point that has all others on its left
        for i in range(count):
            u, v = places[2 * i] - places[2 * at], places[2 * i + 1] - places[2 * at + 1]
            cross, square = x * v - y * u, u * u + v * v
            if square > _LEAST * _LEAST and (ahead < 0 or cross < 0.0 or (cross == 0.0 and square > x * x + y * y)):
                ahead, x, y = i, u, v
        if ahead < 0:
            return False  # all points are one
        # Left of the edge by this much
        if (y * places[2 * at] - x * places[2 * at + 1]) < margin * math.sqrt(x * x + y * y):
            return False
        at = ahead
        if at == start:
            return True
    return True
