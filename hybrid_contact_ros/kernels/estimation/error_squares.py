"""The least squares for the errors of efforts that repeat (:mod:`.effort_errors`).

Unknowns are in deviations of their prior, kind by kind: a scale, a bias, a friction and an inertia of each of the n
joints; and, last, the time δ by which the efforts of all of them come after the motion. Low-passed efforts that are late
are off by δ times their rate.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_basis import left_entry, take_off
from hybrid_contact_ros.kernels.estimation.effort_correction import KINDS

LIMB_SIGMA = 0.5  # of a scale that all joints of a limb have in common, beside those of other limbs
SCALE_SIGMA, TORQUE_SIGMA = 0.2, 0.02  # before anything was seen; torques over weight times the median lever,
TORQUE_SIGMA_ARM = 0.05  # and those of an arm, whose gears have more friction
BRISK = 20.0  # rad/s² (m/s²), at which one deviation of a drive's inertia takes one deviation of a bias
LATE_SIGMA, LATEST = 0.005, 0.015  # s, before anything was seen, and at most
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
    """Add what contacts leave of the motion (``errors.left``) with the weight ``certain``; ``keep``: of what was there
    before. P is a projection: the product of its columns is its entry."""
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
            cross[p] = keep * cross[p] + scaled * errors.left[errors.joint[a]]
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
        cross += rate[k] * errors.left[k]
    errors.cross[last] = keep * errors.cross[last] + certain * cross
    normal[last, last] = keep * normal[last, last] + certain * square
    for q in range(last):
        normal[last, q] = keep * normal[last, q] + certain * row[q] * rate[errors.joint[q % n]]


@kernel
def solve_errors(errors):
    """Write the constants that explain what was seen best, with their prior. Returns whether a drive may have them.

    No drive has less inertia than none: where one would, it has none, and the others are found once more.
    """
    size, inertias = errors.cross.shape[0], 3 * errors.joint.shape[0]
    late = size - 1
    for p in range(size):
        errors.estimate[p] = 1.0
    for again in range(2):
        if not _least_squares(errors):
            for p in range(size):
                errors.estimate[p] = 0.0
            return False
        negative = False
        for p in range(inertias, late):
            negative = negative or errors.row[p] < 0.0
        if again or not negative:
            break
        for p in range(inertias, late):
            errors.estimate[p] = 0.0 if errors.row[p] < 0.0 else 1.0
    plausible = True
    for p in range(size):
        errors.estimate[p] = max(errors.row[p], 0.0) if inertias <= p < late else errors.row[p]
        plausible = plausible and is_plausible(p, errors)
    return plausible


@kernel
def is_plausible(p, errors):
    """Whether a drive may have the constant p."""
    if p == KINDS * errors.joint.shape[0]:  # that is none of a drive's
        return True
    most = _SCALED_UP if p < errors.joint.shape[0] else _PLAUSIBLE
    return -_PLAUSIBLE <= errors.estimate[p] <= most


@kernel
def _least_squares(errors):
    """Write the constants into ``row``, without those that are 0 in ``estimate``; whether there is a solution."""
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
