"""What an inertial unit measured lately: bases are carried along it, and how late an odometry is shows against it."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.messages.measurements import base_rotation, turn_into, turn_on

KEPT = 512
"""Measurements that are kept at most; at least half of them are, once there are as many."""
_LONGEST = 20_000_000  # ns between two measurements, or from the last one on, in which nobody knows what was


class Trail(NamedTuple):
    """Measurements one after the other, axes of the root link."""

    filled: NDArray[np.int64]  # (1,), how many there are
    stamps: NDArray[np.int64]  # (KEPT,), ns
    spins: NDArray[np.float64]  # (KEPT, 3), rad/s
    forces: NDArray[np.float64]  # (KEPT, 3), specific force of the unit, m/s²
    angles: NDArray[np.float64]  # (KEPT, 3), integral of the rates, rad
    now: NDArray[np.float64]  # scratch, (2, 3): rate and specific force at one time
    rotation: NDArray[np.float64]  # scratch, (3, 3)


@kernel
def add_measurement(stamp, spin, force, trail):
    """Take one measurement. One that is not later than the last begins anew: the clock was set."""
    count = trail.filled[0]
    if count and stamp <= trail.stamps[count - 1]:
        count = 0
    if count == KEPT:
        count = KEPT // 2
        for k in range(count):
            source = KEPT - count + k
            trail.stamps[k] = trail.stamps[source]
            for i in range(3):
                trail.spins[k, i] = trail.spins[source, i]
                trail.forces[k, i] = trail.forces[source, i]
                trail.angles[k, i] = trail.angles[source, i]
    trail.stamps[count] = stamp
    for i in range(3):
        trail.spins[count, i] = spin[i]
        trail.forces[count, i] = force[i]
        trail.angles[count, i] = 0.0
        if count:
            mean = 0.5 * (trail.spins[count - 1, i] + spin[i])
            trail.angles[count, i] = trail.angles[count - 1, i] + 1e-9 * (stamp - trail.stamps[count - 1]) * mean
    trail.filled[0] = count + 1


@kernel
def covers(start, end, trail):
    """Whether it is known what was from ``start`` to ``end`` (ns, in this order)."""
    count = trail.filled[0]
    if not count or trail.stamps[0] > start or end - trail.stamps[count - 1] > _LONGEST:
        return False
    k = count - 1
    while k > 0 and trail.stamps[k] > start:
        if trail.stamps[k] - trail.stamps[k - 1] > _LONGEST:
            return False
        k -= 1
    return True


@kernel
def _after(stamp, trail):
    """The index of the first measurement later than ``stamp``."""
    low, high = 0, trail.filled[0]
    while low < high:
        middle = (low + high) // 2
        if trail.stamps[middle] > stamp:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _between(stamp, k, numbers, trail, out):
    """Write what was at ``stamp``, between the measurements k − 1 and k, into ``out`` (3,); beyond an end as there."""
    last = trail.filled[0] - 1
    before, after = max(k - 1, 0), min(k, last)
    share = 0.0
    if after > before:
        share = (stamp - trail.stamps[before]) / (trail.stamps[after] - trail.stamps[before])
    for i in range(3):
        out[i] = numbers[before, i] + share * (numbers[after, i] - numbers[before, i])


@kernel
def _spin_at(stamp, off, trail):
    """Write the rate at ``stamp`` (ns), which is covered, less ``off`` (3,), into ``trail.now[0]``."""
    _between(stamp, _after(stamp, trail), trail.spins, trail, trail.now[0])
    for i in range(3):
        trail.now[0, i] -= off[i]


@kernel
def carried_by_unit(start, end, gravity, place, off, trail, base, out):
    """Carry a base from ``start`` to ``end`` (ns), which are covered, by what the unit measured between.

    Args:
        gravity: m/s², downwards. place: (3,), of the unit in the root link.
        off: (2, 3), of rates (rad/s) and specific forces (m/s²), which are too large by it.
        base, out: pose (7) and twist in the axes of the base (6).
    """
    rotation, now = trail.rotation, trail.now
    length = sqrt(base[3] ** 2 + base[4] ** 2 + base[5] ** 2 + base[6] ** 2)
    for i in range(4):
        out[3 + i] = base[3 + i] / length
    base_rotation(out, rotation)
    _spin_at(start, off[0], trail)
    # From here on out[:3] and out[7:10] are place and velocity of the unit, axes of the world.
    vx, vy, vz = _with_lever(1.0, now[0], place, base)
    for i in range(3):
        out[7 + i] = rotation[i, 0] * vx + rotation[i, 1] * vy + rotation[i, 2] * vz
        out[i] = base[i] + rotation[i, 0] * place[0] + rotation[i, 1] * place[1] + rotation[i, 2] * place[2]
    at, k = start, _after(start, trail)
    forward = end >= start
    if not forward and k > 0 and trail.stamps[k - 1] == start:
        k -= 1
    while at != end:
        # The interval to the next measurement, which the numbers between k - 1 and k hold for.
        until = end
        if forward:
            if k < trail.filled[0]:
                until = min(end, trail.stamps[k])
        elif k > 0:
            until = max(end, trail.stamps[k - 1])
        middle = at + (until - at) // 2
        _between(middle, k, trail.spins, trail, now[0])
        _between(middle, k, trail.forces, trail, now[1])
        seconds = 1e-9 * (until - at)
        for i in range(3):
            now[0, i] -= off[0, i]
            now[1, i] -= off[1, i]
        turn_on(0.5 * seconds, now[0], out)
        base_rotation(out, rotation)
        for i in range(3):
            pushed = rotation[i, 0] * now[1, 0] + rotation[i, 1] * now[1, 1] + rotation[i, 2] * now[1, 2]
            if i == 2:
                pushed -= gravity
            out[i] += seconds * (out[7 + i] + 0.5 * seconds * pushed)
            out[7 + i] += seconds * pushed
        turn_on(0.5 * seconds, now[0], out)
        at = until
        k += 1 if forward else -1
    base_rotation(out, rotation)
    turn_into(rotation, out, 7, 1)
    _spin_at(end, off[0], trail)
    out[7], out[8], out[9] = _with_lever(-1.0, now[0], place, out)
    for i in range(3):
        out[i] -= rotation[i, 0] * place[0] + rotation[i, 1] * place[1] + rotation[i, 2] * place[2]
        out[10 + i] = now[0, i]


@kernel
def _with_lever(sign, spin, place, base):
    """The linear velocity in ``base``, and ``sign`` times what ``spin`` adds to it at ``place``, in the axes of all."""
    return (
        base[7] + sign * (spin[1] * place[2] - spin[2] * place[1]),
        base[8] + sign * (spin[2] * place[0] - spin[0] * place[2]),
        base[9] + sign * (spin[0] * place[1] - spin[1] * place[0]),
    )


@kernel
def compare_rates(stamp, spin, lags, half, keep, trail, weight, sums):
    """Compare a rate that an odometry has at ``stamp`` with the unit's mean rates around earlier times.

    Args:
        spin: rad/s (3,), of the odometry. lags: ns (n,), by which the times are earlier. half: ns, half of the time of
            a mean. keep: what is kept of the sums.
        weight: (1,), sums: (n, 3, 2), of differences and their squares, in and out.

    Returns:
        Whether the trail covers all of that.
    """
    n = lags.shape[0]
    if not covers(stamp - lags[n - 1] - half, stamp - lags[0] + half, trail):
        return False
    size = 0.0
    for i in range(3):
        size += abs(spin[i])
    if not isfinite(size):
        return False
    before, after = trail.now[0], trail.now[1]
    for n_lag in range(n):
        middle = stamp - lags[n_lag]
        _between(middle - half, _after(middle - half, trail), trail.angles, trail, before)
        _between(middle + half, _after(middle + half, trail), trail.angles, trail, after)
        for i in range(3):
            off = spin[i] - (after[i] - before[i]) / (2e-9 * half)
            sums[n_lag, i, 0] = keep * sums[n_lag, i, 0] + off
            sums[n_lag, i, 1] = keep * sums[n_lag, i, 1] + off * off
    weight[0] = keep * weight[0] + 1.0
    return True


def trail() -> Trail:
    """Nothing was measured."""
    return Trail(
        filled=np.zeros(1, np.int64),
        stamps=np.zeros(KEPT, np.int64),
        spins=np.zeros((KEPT, 3)),
        forces=np.zeros((KEPT, 3)),
        angles=np.zeros((KEPT, 3)),
        now=np.zeros((2, 3)),
        rotation=np.zeros((3, 3)),
    )
