"""What two messages measure, checked and put into the order of a state.

These kernels say whether everything is as it should be, and no more: what is wrong with a message is looked up, and
named, by the slow code in Python.
"""

from __future__ import annotations

from math import cos, isfinite, sin, sqrt

from hybrid_contact_ros.kernels.compiling import kernel

ODD, MEASURED, WITHOUT_EFFORT = 0, 1, 2
"""Answers of :func:`joint_state`."""
USABLE, COVARIANCE, ODD_COVARIANCE = 1, 2, 4
"""Bits of the answer of :func:`base_measurement`."""


@kernel
def joint_state(nq, nv, places, bounds, numbers, position, velocity, effort, base, out):
    """Write q (nq,), v (nv,) and the effort (nv,) of a state into ``out``, one behind the other.

    Args:
        nq, nv: sizes of q and v.
        places: (k, 4) of each joint: its place in the message, its index in q and in v, and whether it turns without
            end, so that q has its cosine and sine.
        bounds: (3, nq + 2 nv): middle and half width of what can be measured, of all of ``out``, and (in the first
            entry of the last row) the largest angle of a joint that turns without end.
        numbers: the numbers of a message.
        position, velocity, effort: where those of the first joint stand in ``numbers``; −1 where no effort is.
        base: (13,) or more, position, quaternion (not of length one), linear and angular velocity of the base; (0,)
            without one.
        out: (nq + 2 nv,).

    Returns:
        MEASURED; WITHOUT_EFFORT where no joint has one (NaN for each counts as none); ODD where something is not
        finite or beyond its bounds.
    """
    joints = places.shape[0]
    for k in range(nv):
        out[nq + nv + k] = 0.0
    if base.shape[0]:
        x, y, z, w = base[3], base[4], base[5], base[6]
        norm = sqrt(x * x + y * y + z * z + w * w)
        for k in range(3):
            out[k] = base[k]
        for k in range(4):
            out[3 + k] = base[3 + k] / norm
        for k in range(6):
            out[nq + k] = base[7 + k]
    missing = 0
    for k in range(joints):
        source, at_q, at_v = places[k, 0], places[k, 1], places[k, 2]
        angle = numbers[position + source]
        if places[k, 3]:
            if not abs(angle) <= bounds[2, 0]:
                return ODD
            out[at_q] = cos(angle)
            out[at_q + 1] = sin(angle)
        else:
            out[at_q] = angle
        out[nq + at_v] = numbers[velocity + source]
        if effort >= 0:
            torque = numbers[effort + source]
            if torque != torque:
                missing += 1
            else:
                out[nq + nv + at_v] = torque
    for k in range(out.shape[0]):
        value = out[k]
        if not (isfinite(value) and abs(value - bounds[0, k]) <= bounds[1, k]):
            return ODD
    if effort < 0 or (missing == joints and joints):
        return WITHOUT_EFFORT
    return ODD if missing else MEASURED


@kernel
def base_measurement(twist_in_world, use_covariance, quaternion_tolerance, largest, message, out):
    """Check the numbers of a ``nav_msgs/Odometry``, and write what a state needs of them into ``out``.

    Args:
        twist_in_world: the twist is in the axes of the world, and is rotated into those of the base.
        use_covariance: look at the covariances.
        quaternion_tolerance: how far from one the quaternion's norm may be.
        largest: (3,) of a coordinate of the position, of a velocity, and of an entry of a covariance.
        message: (85,) in the order of the message: pose (7), its covariance (36), twist (6), its covariance (36).
        out: (85,): pose (7), twist in the axes of the base (6), and both covariances (2, 6, 6) in the axes of the base.

    Returns:
        bits: USABLE where the measurement may be used; COVARIANCE where there is one; ODD_COVARIANCE where one of them
        is none. Without USABLE nothing else is said.
    """
    total = 0.0
    for k in range(7):
        total += message[k]
    for k in range(6):
        total += message[43 + k]
    x, y, z, w = message[3], message[4], message[5], message[6]
    norm = sqrt(x * x + y * y + z * z + w * w)
    if not (isfinite(total) and abs(norm - 1.0) <= quaternion_tolerance):
        return 0
    for k in range(3):
        if not (abs(message[k]) <= largest[0]):
            return 0
    for k in range(6):
        if not (abs(message[43 + k]) <= largest[1]):
            return 0
    for k in range(7):
        out[k] = message[k]
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    for block in range(2):
        at = 7 + 3 * block
        a, b, c = message[43 + 3 * block], message[44 + 3 * block], message[45 + 3 * block]
        if twist_in_world:
            for k in range(3):
                out[at + k] = _entry(x, y, z, w, 0, k) * a + _entry(x, y, z, w, 1, k) * b + _entry(x, y, z, w, 2, k) * c
        else:
            out[at], out[at + 1], out[at + 2] = a, b, c
    if not use_covariance:
        return USABLE
    answer = USABLE
    some = False
    for part in range(2):
        source, at = (7, 13) if part == 0 else (49, 49)
        square, valid = 0.0, True
        for k in range(36):
            value = message[source + k]
            square += value * value
            if not abs(value) < largest[2]:
                valid = False
        for k in range(6):
            if not message[source + 7 * k] >= 0.0:
                valid = False
        if not square < largest[2] * largest[2]:  # also where it is NaN
            answer |= ODD_COVARIANCE
        for k in range(36):
            out[at + k] = message[source + k] if valid else 0.0
        if valid and square > 0.0:
            if part == 0 or twist_in_world:
                _rotate(x, y, z, w, out[at : at + 36])
            for k in range(36):
                some = some or out[at + k] != 0.0
    return answer | COVARIANCE if some else answer


@kernel
def carried(seconds, base, out):
    """Write the base ``seconds`` later into ``out`` (13,), if its twist stays constant in the world frame.

    ``base`` and ``out`` are pose (7) and twist in the axes of the base (6). The pose is translated along the linear
    velocity and rotated by the angular velocity; the linear velocity keeps its direction in the world, so that its
    coordinates in the turned base change.
    """
    qx, qy, qz, qw = base[3], base[4], base[5], base[6]
    norm = sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    qx, qy, qz, qw = qx / norm, qy / norm, qz / norm, qw / norm
    hx, hy, hz = 0.5 * seconds * base[10], 0.5 * seconds * base[11], 0.5 * seconds * base[12]
    angle = sqrt(hx * hx + hy * hy + hz * hz)
    ratio = sin(angle) / angle if angle > 0.0 else 1.0
    x, y, z, c = ratio * hx, ratio * hy, ratio * hz, cos(angle)
    tx = qw * x + qx * c + qy * z - qz * y
    ty = qw * y - qx * z + qy * c + qz * x
    tz = qw * z + qx * y - qy * x + qz * c
    tw = qw * c - qx * x - qy * y - qz * z
    norm = sqrt(tx * tx + ty * ty + tz * tz + tw * tw)
    tx, ty, tz, tw = tx / norm, ty / norm, tz / norm, tw / norm
    for i in range(3):
        speed = 0.0
        for k in range(3):
            speed += _entry(qx, qy, qz, qw, i, k) * base[7 + k]
        out[i] = base[i] + speed * seconds
        out[3 + i] = speed  # for a moment: in the axes of the world
    for i in range(3):
        out[7 + i] = (
            _entry(tx, ty, tz, tw, 0, i) * out[3]
            + _entry(tx, ty, tz, tw, 1, i) * out[4]
            + _entry(tx, ty, tz, tw, 2, i) * out[5]
        )
        out[10 + i] = base[10 + i]
    out[3], out[4], out[5], out[6] = tx, ty, tz, tw


@kernel
def _entry(x, y, z, w, i, j):
    """Entry (i, j) of the rotation from base to world of a unit quaternion."""
    if i == j:
        a, b = (y, z) if i == 0 else ((x, z) if i == 1 else (x, y))
        return 1.0 - 2.0 * (a * a + b * b)
    k = 3 - i - j
    first, second = (x, y) if k == 2 else ((x, z) if k == 1 else (y, z))
    axis = x if k == 0 else (y if k == 1 else z)
    sign = 1.0 if (j - i) % 3 == 2 else -1.0
    return 2.0 * (first * second + sign * axis * w)


@kernel
def _rotate(x, y, z, w, covariance):
    """Turn a covariance (36,), (6, 6), from the axes of the world into those of the base, in place."""
    for row in range(6):  # C R
        for block in range(0, 6, 3):
            at = 6 * row + block
            a, b, c = covariance[at], covariance[at + 1], covariance[at + 2]
            for j in range(3):
                covariance[at + j] = (
                    a * _entry(x, y, z, w, 0, j) + b * _entry(x, y, z, w, 1, j) + c * _entry(x, y, z, w, 2, j)
                )
    for column in range(6):  # Rᵀ (C R)
        for block in range(0, 6, 3):
            at = 6 * block + column
            a, b, c = covariance[at], covariance[at + 6], covariance[at + 12]
            for i in range(3):
                covariance[at + 6 * i] = (
                    _entry(x, y, z, w, 0, i) * a + _entry(x, y, z, w, 1, i) * b + _entry(x, y, z, w, 2, i) * c
                )
