"""The least squares for the errors of efforts that repeat (:mod:`.effort_errors`).

Unknowns are in deviations of their prior, kind by kind: a scale, a bias, a friction and an inertia of each of the n
joints; and, last, the time δ by which the efforts of all of them come after the motion. Low-passed efforts that are
late are off by δ times their rate.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_basis import left_entry, take_off
from hybrid_contact_ros.kernels.estimation.effort_correction import KINDS

LIMB_SIGMA = 0.5  # of a scale that all joints of a limb have in common, beside those of other limbs
SCALE_SIGMA, TORQUE_SIGMA = 0.2, 0.02  # before anything was seen; torques over weight times the median lever,
TORQUE_SIGMA_ARM = 0.05  # and those of an arm, whose gears have more friction
BRISK = 20.0  # rad/s² (m/s²), at which one deviation of a drive's inertia takes one deviation of a bias
LATE_SIGMA, LATEST = 0.005, 0.015  # s, before anything was seen, and at most
LEAST_LATE, SURE_LATE = 0.0015, 3.0  # s, and deviations, from which on efforts are late for certain
_PLAUSIBLE, _SCALED_UP = 3.0, 7.5  # deviations of a single joint, of any constant, and of a scale above 1: 0.4 to 2.5


@kernel
def low_passed(constants, a, table, trust, errors):
    """What ``constants`` (k,), in deviations, make of joint a in the low-passed torques, in parts of the weight."""
    n, k = errors.joint.shape[0], errors.joint[a]
    torque = constants[n + a] * table.scale[k] * trust.begun[2] + constants[2 * n + a] * errors.sign[2, k]
    torque -= constants[3 * n + a] * errors.swift[2, k] / BRISK
    late = LATE_SIGMA * constants[KINDS * n] * rate_of_effort(k, table.bandwidth, trust)
    return SCALE_SIGMA * constants[a] * trust.second[1, k] + errors.unit[0] * torque + late


@kernel
def rate_of_effort(k, bandwidth, trust):
    """The rate (1/s) of the low-passed effort of coordinate k."""
    return bandwidth * (trust.first[1, k] - trust.second[1, k])


@kernel
def add_sample(certain, keep, found, table, trust, scratch, errors):
    """Add what contacts leave of the motion (``errors.left[0]``) with the weight ``certain``; ``keep``: of what was
    there before. P is a projection: the product of its columns is its entry."""
    left = errors.left[0]
    n, settled = errors.joint.shape[0], trust.begun[2]
    row, normal, cross = errors.row, errors.normal, errors.cross
    for a in range(n):
        k = errors.joint[a]
        root = scratch.root[k] / settled
        row[a] = SCALE_SIGMA * trust.second[1, k] * root
        row[n + a] = errors.unit[0] * table.scale[k] * settled * root
        row[2 * n + a] = errors.unit[0] * errors.sign[2, k] * root
        row[3 * n + a] = -errors.unit[0] * errors.swift[2, k] * root / BRISK
        for b in range(a + 1):
            errors.share[a, b] = left_entry(found, scratch.basis, k, errors.joint[b])
            errors.share[b, a] = errors.share[a, b]
    for kind in range(KINDS):
        for a in range(n):
            p = kind * n + a
            scaled = certain * row[p]
            cross[p] = keep * cross[p] + scaled * left[errors.joint[a]]
            for other in range(kind):
                for b in range(n):
                    q = other * n + b
                    normal[p, q] = keep * normal[p, q] + scaled * row[q] * errors.share[a, b]
            for b in range(a + 1):
                q = kind * n + b
                normal[p, q] = keep * normal[p, q] + scaled * row[q] * errors.share[a, b]
    _add_late(certain, keep, found, table, trust, scratch, errors)


@kernel
def _add_late(certain, keep, found, table, trust, scratch, errors):
    """The same of the time by which the efforts of all joints are late."""
    n, rate, last = errors.joint.shape[0], errors.work, KINDS * errors.joint.shape[0]
    row, normal = errors.row, errors.normal
    for k in range(rate.shape[0]):
        rate[k] = 0.0
    for a in range(n):
        k = errors.joint[a]
        rate[k] = LATE_SIGMA * rate_of_effort(k, table.bandwidth, trust) * scratch.root[k] / trust.begun[2]
    take_off(found, scratch.basis, rate, scratch.part)
    square = cross = 0.0
    for k in range(rate.shape[0]):
        square += rate[k] * rate[k]
        cross += rate[k] * errors.left[0, k]
    errors.cross[last] = keep * errors.cross[last] + certain * cross
    normal[last, last] = keep * normal[last, last] + certain * square
    for q in range(last):
        normal[last, q] = keep * normal[last, q] + certain * row[q] * rate[errors.joint[q % n]]


@kernel
def solve_errors(noise, resolved, errors):
    """Write the constants that explain what was seen best, with their prior.

    No drive has less inertia than none: where one would, it has none, and the others are found once more. So are they
    where efforts are not late for certain: they are made up for without that, then.

    Args:
        noise: square of what the constants leave of the motion, over that which the samples were weighted with.
        resolved: whether states tell how late efforts are.

    Returns:
        Whether a drive may have them; s by which efforts are late, whether that is certain or not, and its deviation.
    """
    size, inertias = errors.cross.shape[0], 3 * errors.joint.shape[0]
    late, kept, lateness, sigma = size - 1, errors.estimate, 0.0, 0.0
    for p in range(size):
        kept[p] = 1.0
    for step in range(3):
        if not _least_squares(errors):
            for p in range(size):
                kept[p] = 0.0
            return False, 0.0, 0.0
        again = False
        for p in range(inertias, late):
            if step == 0 and errors.row[p] < 0.0:
                kept[p] = 0.0
                again = True
        if not again and kept[late] > 0.0:
            lateness = LATE_SIGMA * errors.row[late]
            sigma = LATE_SIGMA * math.sqrt(noise) / errors.factor[late, late] if resolved else math.inf
            if not is_late(lateness, sigma):
                kept[late] = 0.0
                again = True
        if not again:
            break
    plausible = True
    for p in range(size):
        kept[p] = errors.row[p] if kept[p] > 0.0 else 0.0
        if inertias <= p < late:
            kept[p] = max(kept[p], 0.0)
        plausible = plausible and is_plausible(p, errors)
    kept[late] = min(kept[late], LATEST / LATE_SIGMA)
    return plausible, lateness, sigma


@kernel
def is_late(lateness, sigma):
    """Whether efforts are late for certain."""
    return lateness > max(LEAST_LATE, SURE_LATE * sigma)


@kernel
def is_plausible(p, errors):
    """Whether a drive may have the constant p."""
    if p == KINDS * errors.joint.shape[0]:  # that is none of a drive's
        return True
    most = _SCALED_UP if p < errors.joint.shape[0] else _PLAUSIBLE
    return -_PLAUSIBLE <= errors.estimate[p] <= most


@kernel
def _least_squares(errors):
    """Write the constants into ``row``, without those that are 0 in ``estimate``; whether there is a
    solution."""
    size = errors.cross.shape[0]
    for p in range(size):
        for q in range(p + 1):
            errors.factor[p, q] = errors.normal[p, q] * errors.estimate[p] * errors.estimate[q]
        if p < errors.joint.shape[0]:  # a scale
            for q in range(p + 1):
                errors.factor[p, q] += errors.prior[p, q]
        else:
            errors.factor[p, p] += 1.0
        errors.row[p] = errors.cross[p] * errors.estimate[p]
    if cholesky_factor(size, 1e-12, errors.factor, errors.factor) != size:
        return False
    cholesky_solve(size, errors.factor, errors.row)
    return True
