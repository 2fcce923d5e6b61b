"""What two messages measure, checked and put into the order of a state.

These kernels say whether everything is as it should be, and no more: what is wrong with a message is looked up, and
named, by the slow code in Python.
"""

from __future__ import annotations

from math import cos, exp, isfinite, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel

ODD, MEASURED, WITHOUT_EFFORT = 0, 1, 2
"""Answers of :func:`joint_state`."""
USABLE, COVARIANCE, ODD_COVARIANCE = 1, 2, 4
"""Bits of the answer of :func:`base_measurement`."""


class MissedMemory(NamedTuple):
    """What carried bases missed lately, and scratch."""

    rotation: NDArray[np.float64]  # scratch, (3, 3)
    there: NDArray[np.float64]  # (13,), the base that was carried there
    out: NDArray[np.float64]  # (2, 6), what was missed last, by second
    seen: NDArray[np.float64]  # (1,), the share of a long record that there is
    rates: NDArray[np.float64]  # (2, 6, 6), mean products of those rates, times ``seen``


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
def base_measurement(twist_in_world, use_covariance, quaternion_tolerance, largest, message, rotation, out):
    """Check the numbers of a ``nav_msgs/Odometry``, and write what a state needs of them into ``out``.

    Args:
        twist_in_world: the twist is in the axes of the world, and is rotated into those of the base.
        use_covariance: look at the covariances.
        quaternion_tolerance: how far from one the quaternion's norm may be.
        largest: (3,) of a coordinate of the position, of a velocity, and of an entry of a covariance.
        message: (85,) in the order of the message: pose (7), its covariance (36), twist (6), its covariance (36).
        rotation: scratch, (3, 3).
        out: (85,): pose (7), twist in the axes of the base (6), and both covariances (2, 6, 6) in the axes of the base.

    Returns:
        bits: USABLE where the measurement may be used; COVARIANCE where there is one; ODD_COVARIANCE where one of them
        is none. Without USABLE nothing else is said.
    """
    total, square, fastest = 0.0, 0.0, 0.0
    for k in range(13):
        source = k if k < 7 else 36 + k
        value = message[source]
        out[k] = value
        total += value
        square += value * value if 3 <= k < 7 else 0.0
        fastest = max(fastest, abs(value) / (largest[0] if k < 3 else largest[1]) if k < 3 or k >= 7 else 0.0)
    if not (isfinite(total) and abs(sqrt(square) - 1.0) <= quaternion_tolerance and fastest <= 1.0):
        return 0
    base_rotation(out, rotation)
    if twist_in_world:
        turn_into(rotation, out, 7, 1)
        turn_into(rotation, out, 10, 1)
    if not use_covariance:
        return USABLE
    answer = USABLE
    some = False
    for part in range(2):
        source, at = 7 + 42 * part, 13 + 36 * part
        square, valid = 0.0, True
        for k in range(36):
            value = message[source + k]
            square += value * value
            if not (abs(value) < largest[2] and (k % 7 or value >= 0.0)):
                valid = False
        if not square < largest[2] * largest[2]:  # also where it is NaN
            answer |= ODD_COVARIANCE
        valid = valid and square > 0.0
        for k in range(36):
            out[at + k] = message[source + k] if valid else 0.0
        if valid and (part == 0 or twist_in_world):
            for row in range(6):  # C R
                turn_into(rotation, out, at + 6 * row, 1)
                turn_into(rotation, out, at + 6 * row + 3, 1)
            for column in range(6):  # Rᵀ (C R)
                turn_into(rotation, out, at + column, 6)
                turn_into(rotation, out, at + column + 18, 6)
        for k in range(36):
            some = some or out[at + k] != 0.0
    return answer | COVARIANCE if some else answer


@kernel
def carried(seconds, base, rotation, out):
    """Write the base ``seconds`` later into ``out`` (13,), if its twist stays constant in the world frame.

    ``base`` and ``out`` are pose (7) and twist in the axes of the base (6); ``rotation`` (3, 3) is scratch. The pose is
    translated along the linear velocity and rotated by the angular velocity; the linear velocity keeps its direction in
    the world, so that its coordinates in the turned base change.
    """
    base_rotation(base, rotation)
    norm = 0.0
    for i in range(3):
        out[7 + i] = rotation[i, 0] * base[7] + rotation[i, 1] * base[8] + rotation[i, 2] * base[9]
        out[10 + i] = base[10 + i]
        out[i] = base[i] + out[7 + i] * seconds
    for k in range(4):
        norm += base[3 + k] * base[3 + k]
    for k in range(4):
        out[3 + k] = base[3 + k] / sqrt(norm)
    turn_on(seconds, base[10:13], out)
    base_rotation(out, rotation)
    turn_into(rotation, out, 7, 1)


@kernel
def missed(there, after, rotation, out):
    """Write by how much a base that was carried ``there`` misses the one that was measured then.

    Args:
        there, after: pose (7) and twist in the axes of the base (6); ``there`` of a quaternion of length one.
        rotation: (3, 3), scratch.
        out: (2, 6): displacement (m) and rotation vector (rad, of the first order) in the axes of the base, then the
            differences of its twist.
    """
    base_rotation(after, rotation)
    norm = 0.0
    for k in range(4):
        norm += after[3 + k] * after[3 + k]
    x, y, z, c = after[3], after[4], after[5], after[6]
    px, py, pz, pc = there[3], there[4], there[5], there[6]
    twice = 2.0 / sqrt(norm) * (1.0 if px * x + py * y + pz * z + pc * c >= 0.0 else -1.0)
    out[0, 3] = twice * (pc * x - px * c - py * z + pz * y)
    out[0, 4] = twice * (pc * y - py * c - pz * x + px * z)
    out[0, 5] = twice * (pc * z - pz * c - px * y + py * x)
    for k in range(3):
        out[0, k] = 0.0
        for i in range(3):
            out[0, k] += rotation[i, k] * (after[i] - there[i])
    for k in range(6):
        out[1, k] = after[7 + k] - there[7 + k]


@kernel
def note_missed(seconds, remembered, most, usual, after, rotation, there, out, seen, rates):
    """Take what a carried base missed (:func:`missed`) into mean products by time: of the rates at which it misses.

    Args:
        seconds: over which it was carried. remembered: s, of the mean. most: times what was missed lately, or ``usual``
            (2,) for pose and twist: a larger rate counts as that. after: of :func:`missed`.
        rotation, there, out, seen, rates: in and out, members of MissedMemory, ``there`` the carried base.
    """
    missed(there, after, rotation, out)
    total = 0.0
    for part in range(2):
        for k in range(6):
            out[part, k] /= seconds
            total += out[part, k] * out[part, k]
    if not isfinite(total):  # numbers that are none, which an intake without limits lets pass
        return
    keep = exp(-seconds / remembered)
    for part in range(2):
        size, lately = 0.0, 0.0
        for k in range(6):
            size += out[part, k] * out[part, k]
            lately += rates[part, k, k]
        limit = most * max(sqrt(lately / max(seen[0], 1e-9)), usual[part])
        scale = limit / max(sqrt(size), limit)
        for i in range(6):
            for k in range(6):
                added = scale * scale * out[part, i] * out[part, k]
                rates[part, i, k] = keep * rates[part, i, k] + (1.0 - keep) * added
    seen[0] = keep * seen[0] + 1.0 - keep


@kernel
def turn_on(seconds, spin, base):
    """Turn the quaternion of length one in ``base`` on by a rate (3,), rad/s, its own axes."""
    size = sqrt(spin[0] ** 2 + spin[1] ** 2 + spin[2] ** 2)
    half = 0.5 * seconds * size
    ratio = sin(half) / size if size > 0.0 else 0.0
    x, y, z, c = ratio * spin[0], ratio * spin[1], ratio * spin[2], cos(half)
    qx, qy, qz, qw = base[3], base[4], base[5], base[6]
    base[3] = qw * x + qx * c + qy * z - qz * y
    base[4] = qw * y - qx * z + qy * c + qz * x
    base[5] = qw * z + qx * y - qy * x + qz * c
    base[6] = qw * c - qx * x - qy * y - qz * z


@kernel
def base_rotation(base, rotation):
    """Write the rotation from base to world (3, 3) of the quaternion in ``base``, which may have any length."""
    length = 0.0
    for k in range(3, 7):
        length += base[k] * base[k]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        a, b, c = base[3 + i], base[3 + j], base[3 + k]
        rotation[i, i] = 1.0 - 2.0 * (b * b + c * c) / length
        rotation[i, j] = 2.0 * (a * b - c * base[6]) / length
        rotation[j, i] = 2.0 * (a * b + c * base[6]) / length


@kernel
def turn_into(rotation, numbers, at, step):
    """Turn a vector from the axes of the world into those of the base, in place. It stands at ``at`` and every ``step``
    numbers after that."""
    a, b, c = numbers[at], numbers[at + step], numbers[at + 2 * step]
    for j in range(3):
        numbers[at + step * j] = rotation[0, j] * a + rotation[1, j] * b + rotation[2, j] * c
