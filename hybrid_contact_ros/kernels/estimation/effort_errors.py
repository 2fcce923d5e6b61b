"""Errors of the efforts that repeat: scale, bias, dry friction and the inertia of each joint's drive, learned and made
up for.

The true torque of a joint whose drive says τ is taken for

    τ + a τ + b + c g(q̇) − d q̈ + δ τ̇,  g a smooth sign,  d ≥ 0,

with constants that nobody knows: a gear's friction or the spring of a cable is not in the current of the motor, a URDF
has no place for the inertia of a rotor, which counts as the square of its gear's ratio, and low-passed currents come δ
after the motion, those of all joints. What the efforts leave unexplained of the motion, e = P r of
:mod:`.effort_trust`, is then P Σ (a t + b + c g − d q̈ + δ ṫ), low-passed, of all joints at once. Least squares with a
prior on the constants give them, whatever the contacts do (:mod:`.error_squares`); the scales of a limb's joints have a
part in common there. d is added to the mass matrix, for accelerations are not measured.

e is what is left step by step, with the rows of each step: of right efforts next to nothing. A sample counts the more,
the less of the last ones was left by what had been learned before.

They are *applied* only where they foretell: what they would have left of the motion that came after they were solved
for must be less than a part of what the measured efforts left, and that be more than the check of efforts passes over
anyway, and less than a part of what a push or a load leaves that acts on the base (:mod:`.lasting_push`). Right
efforts are not touched, then. Nothing is learned where what they leave leaps, and a push or a load would explain it:
something has come on that no drive brings about. A constant that no drive has says that something else is wrong: none
is applied, and where they foretell all the same, the limb that needs it is *refuted*, and not believed. Nothing is
learned while a limb's efforts are not believed (a dead drive, a crane), nor for some time after states that did not
come: what the efforts were meanwhile is not known, and where a clock leapt (a simulator that is late),
gravity seems to have pulled for a time that never was.

Efforts are led by δ as soon as that is certain, whether the other errors are worth correcting or not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_basis import take_off
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.effort_correction import (
    BIAS,
    CONSTANTS,
    FRICTION,
    INERTIA,
    LATE,
    SCALE,
    STEPPED,
    UNREST,
    smooth_sign,
)
from hybrid_contact_ros.kernels.estimation.error_forecasts import (
    ASIDE,
    ENOUGH_FORETOLD,
    FORETOLD,
    JUDGED,
    LATENESS,
    LATENESS_SIGMA,
    LEFT,
    MEASURED,
    REST,
    SECONDS,
    SOLVED_AT,
    UNIT,
    UNKNOWN,
    USUAL,
    WHITE,
    forget_certainty,
    has_come_on,
    judge,
    noise_left,
    with_constants,
    without_constants,
)
from hybrid_contact_ros.kernels.estimation.error_squares import (
    BRISK,
    LATEST,
    SCALE_SIGMA,
    add_sample,
    is_late,
    is_plausible,
    rate_of_effort,
    solve_errors,
)
from hybrid_contact_ros.kernels.estimation.lasting_push import learn_push, outside_columns
from hybrid_contact_ros.kernels.estimation.missing_states import are_missing, usual_step
from hybrid_contact_ros.kernels.estimation.records import Array, Codes, Indices

MOST_JOINTS = 30
"""A robot with more joints in its limbs is not corrected: solving would take longer than a state has."""
_EITHER_WAY = 1.0 / 12.0  # of the square of a friction: the variance of what is between none and all of it
_UNSEEN, _UNSEEN_FOR = 0.05, 0.2  # part of efforts that is an error before anything was seen, for so many s of motion
_CORRELATED = 0.04  # s, over which what nothing explains keeps its sign: two time constants of the filters
_TIMING = 0.001  # s, by which efforts and motion may be apart: what changes quickly says little
_SPACING = 0.008  # s, between two samples: the low-pass has little news sooner
_LONGEST = 0.05  # s, that one sample may count
_FORGOTTEN = 5.0  # time constants of the filters, after which they have forgotten what came while states were missing
_MOVED = 0.5  # of the floor: joints that stand still say the same again, which neither adds nor forgets anything
_MEMORY = 20.0  # s of motion, over which errors are learned
_SOLVED_EVERY = 0.2  # s of motion
_LEARNED = 0.5  # s of motion before the first forecast
_WORTH = 0.5  # squares of the floor that the efforts leave step by step, below which nothing is to be gained
_HELPS, _FAILS = 0.5, 0.8  # parts of what they leave, below which the correction begins, and above which it ends
_ODD = 10.0  # times what is usually left: samples of which more is count less
_RESOLVED = 0.006  # s between states: from further apart ones nothing tells how late efforts are
_NOISES = 4.0  # times what noise leaves, which is no error
_WHITE = 0.25  # of the variance of white noise, times bandwidth and step: what two poles leave of it
_LASTS = 0.1  # of the square of what efforts leave, which is more than noise at least
_PUSH_MEMORY = 1.0  # s of motion, over which a push lasts


class EffortErrors(NamedTuple):
    """What is remembered; n joints of limbs, k = KINDS n + 1 unknowns, of :mod:`.error_squares`."""

    joint: Indices  # (n,), constant: coordinates of the joints
    unit: Array  # (1,), constant: N m (N), one deviation of a bias or of friction
    prior: Array  # (n, n), constant: the inverse covariance of the scales before anything was seen, in deviations
    numbers: Array  # (NUMBERS,): s of motion seen; s since the last sample; s seen at the last solution; what was left
    # with measured efforts and with the forecasts, in squares of the floor times s; these s; the usual time between
    # states, s; s for which the filters still remember efforts that are not known; what was left with a push that
    # lasts, as with the forecasts; s, by which efforts are late, and its deviation, 0 before the first solution; what
    # was left with forecasts of both; and, in squares of the floor, what samples are weighted with at most, and what
    # was left with the constants, the least lately, and of the last samples, of which a push that lasts as well; and,
    # in squares of the floor, what is left and counts as one of these, because noise alone leaves much of it, and
    # how much that is
    sign: Array  # (3, nv): g of the last state, after one pole and after two
    swift: Array  # (3, nv): the last velocity; accelerations after one pole and after two, by ``scale``
    last: Array  # (2, nv): efforts and signs of the last sample
    left: Array  # (LEFTS, nv): what contacts leave of the motion of a sample, of robots whose base floats step by step;
    # what the constants leave of that; and what contacts leave of a push
    normal: Array  # (k, k)
    cross: Array  # (k,)
    estimate: Array  # (k,)
    factor: Array  # (k, k), scratch
    row: Array  # (k,), scratch
    work: Array  # (nv,), scratch
    share: Array  # (n, n), scratch
    push: Array  # (2, 22, 10), of :mod:`.lasting_push`: of measured efforts, and of those with the constants
    refuted: Codes  # (l,), limbs whose efforts are wrong by more than any constant that a drive may have


@kernel
def follow_joints(dt, anew, bandwidth, velocity, scale, errors):
    """Low-pass the signs of the joints' speeds just as the check does the efforts, and their accelerations as the rate
    of the momentum, also in parts of the weight."""
    sign, swift = errors.sign, errors.swift
    step = bandwidth * dt
    for a in range(errors.joint.shape[0]):
        k = errors.joint[a]
        now = scale[k] * smooth_sign(velocity[k])
        if anew:
            sign[1, k] = 0.0
            sign[2, k] = 0.0
            swift[1, k] = 0.0
            swift[2, k] = 0.0
        else:
            swift[1, k] = (swift[1, k] + bandwidth * scale[k] * (velocity[k] - swift[0, k])) / (1.0 + step)
            swift[2, k] = (swift[2, k] + step * swift[1, k]) / (1.0 + step)
            sign[1, k] = (sign[1, k] + 0.5 * step * (sign[0, k] + now)) / (1.0 + step)
            sign[2, k] = (sign[2, k] + step * sign[1, k]) / (1.0 + step)
        sign[0, k] = now
        swift[0, k] = velocity[k]


@kernel
def doubt_torques(velocity, effort, table, numbers, correction):
    """Write by how much the efforts may be wrong in this state, N m (N), into ``unsure``: all by half of a leap, for
    nobody knows from when between two states on it acted; late ones by what they are led by, as far as their rate has
    changed of late; a ramp is led for certain.

    Of an arm, whose base contradicts nothing, it is also what they left of its motion lately, corrected or not, and a
    part of the ``effort`` (nv,) until it has moved for some time; and the friction of joints that stand still, where
    that is made up for: it is anything between none and all of it.
    """
    for k in range(velocity.shape[0]):
        led = correction.late[k] * correction.effort_rate[UNREST, k]
        correction.unsure[k] = math.hypot(led, correction.effort_rate[STEPPED, k])
    if table.presses >= 1.0:
        return
    constant = correction.active[0] & CONSTANTS != 0
    square = numbers[FORETOLD] if constant else numbers[MEASURED]
    floor, unseen = table.floor * table.share * table.presses, _UNSEEN_FOR / (numbers[JUDGED] + _UNSEEN_FOR)
    square *= numbers[UNIT]
    lasts = max(square - numbers[WHITE] * numbers[JUDGED], _LASTS * square)  # noise is counted with the forces
    left = floor * math.sqrt(lasts / (numbers[JUDGED] + _UNSEEN_FOR))
    for k in range(velocity.shape[0]):
        if table.scale[k] > 0.0 and table.limb[k] >= 0:
            sign = smooth_sign(velocity[k])
            friction = correction.applied[FRICTION, k] if constant else 0.0
            still = _EITHER_WAY * friction * friction * (1.0 - sign * sign)
            before = (unseen * _UNSEEN * effort[k]) ** 2
            lasting = (left / table.scale[k]) ** 2 + before + still
            correction.unsure[k] = math.sqrt(correction.unsure[k] ** 2 + lasting)


@kernel
def learn_errors(dt, floor, found, jitter, table, trust, scratch, correction, errors):
    """Take what the efforts leave of the motion of one state, and decide what is applied from the next one on.

    Args:
        floor: what is passed over, in parts of the weight. found: rows of the basis. jitter, table, trust, scratch: of
            :func:`~.effort_trust.check_efforts`; ``scratch.left[0]`` is e of the measured efforts.
    """
    n = errors.joint.shape[0]
    numbers = errors.numbers
    if n == 0 or _remembers_unknown(dt, table.bandwidth, numbers):
        return
    numbers[ASIDE] += dt
    if numbers[ASIDE] < _SPACING:
        return
    for limb in range(trust.weight.shape[0]):
        if trust.weight[limb] < BELIEVED:  # what is wrong there is none of these, and would be laid to all joints
            numbers[ASIDE] = 0.0
            return
    if not _has_moved(floor, trust, errors):
        return
    step = min(numbers[ASIDE], _LONGEST)
    numbers[ASIDE] = 0.0
    left, settled = errors.left[LEFT], trust.begun[2]
    for k in range(left.shape[0]):
        # The rows of an arm's contacts are no part of P while it swings: steps before that were of another P.
        left[k] = scratch.left[0, k] if table.fixed else trust.unexplained[1, k] / settled
    take_off(found, scratch.basis, left, scratch.part)
    columns = errors.left[REST + 1 :]
    if not table.fixed:
        outside_columns(found, table.scale, scratch.basis, trust.second[0], settled, columns)
    square, white = floor * floor, 0.0
    for a in range(n):
        k = errors.joint[a]
        change = _TIMING * rate_of_effort(k, table.bandwidth, trust) / settled
        square += change * change
    if table.fixed:  # the floor of what presses a little is below the noise of encoders and currents
        white = _noise(dt, jitter, table, trust, errors)
        square += _NOISES * white
        white /= floor * floor
    certain, noise = step / (_CORRELATED * square), min(noise_left(numbers), 1.0)
    odd = judge(step, square, square / (floor * floor), white, found, columns, table, trust, scratch, errors)
    if not table.fixed:
        remembered = math.exp(-step / _PUSH_MEMORY)
        learn_push(certain, remembered, noise, columns, left, errors.push[0])
        learn_push(certain, remembered, noise, columns, errors.left[REST], errors.push[1])
        certain /= max(1.0, odd / (_ODD * noise))  # what is odd is none of what is learned here
        forget_certainty(noise, numbers, errors)
    certain /= noise
    if table.fixed or not has_come_on(step, numbers):  # a base that is bolted down carries what an arm takes up
        add_sample(certain, math.exp(-step / _MEMORY), found, table, trust, scratch, errors)
    numbers[SECONDS] += step
    if numbers[SECONDS] - numbers[SOLVED_AT] < _SOLVED_EVERY or numbers[SECONDS] < _LEARNED:
        return
    numbers[SOLVED_AT] = numbers[SECONDS]
    noise = max(noise_left(numbers), 1.0)
    plausible, lateness, sigma = solve_errors(noise, numbers[USUAL] <= _RESOLVED, errors)
    numbers[LATENESS], numbers[LATENESS_SIGMA] = min(max(lateness, -LATEST), LATEST), sigma
    _apply(plausible, table, errors, correction)


@kernel
def _noise(dt, jitter, table, trust, errors):
    """The square, in parts of the weight, of what noise of velocities and of efforts leaves: the joint with the least
    torque would be said to need none of it, for that explains its noise."""
    square = 0.0
    for limb in range(trust.weight.shape[0]):
        square += trust.energy[limb, 2] / trust.time[0]
    for a in range(errors.joint.shape[0]):
        k = errors.joint[a]
        square += _WHITE * table.bandwidth * dt * (table.scale[k] * jitter[k]) ** 2
    return square


@kernel
def _remembers_unknown(dt, bandwidth, numbers):
    """Whether states are missing before this one, or were so lately that the filters have not forgotten it."""
    if are_missing(dt, numbers[USUAL]):
        numbers[UNKNOWN] = _FORGOTTEN / bandwidth
    else:
        numbers[UNKNOWN] = max(numbers[UNKNOWN] - dt, 0.0)
    numbers[USUAL] = usual_step(dt, numbers[USUAL])
    return numbers[UNKNOWN] > 0.0


@kernel
def _has_moved(floor, trust, errors):
    """Whether efforts or directions are others than at the last sample; they are noted then."""
    square = 0.0
    for a in range(errors.joint.shape[0]):
        k = errors.joint[a]
        effort = trust.second[1, k] - errors.last[0, k]
        sign = errors.unit[0] * (errors.sign[2, k] - errors.last[1, k])
        square += effort * effort + sign * sign
    if square < (_MOVED * floor) ** 2:
        return False
    for a in range(errors.joint.shape[0]):
        k = errors.joint[a]
        errors.last[0, k] = trust.second[1, k]
        errors.last[1, k] = errors.sign[2, k]
    return True


@kernel
def _led(numbers):
    """s, by which efforts that are late for certain are led: none where they foretell no better then, or a push does as
    well."""
    if numbers[JUDGED] < ENOUGH_FORETOLD or with_constants(numbers) > without_constants(numbers):
        return 0.0
    return numbers[LATENESS] if is_late(numbers[LATENESS], numbers[LATENESS_SIGMA]) else 0.0


@kernel
def _apply(plausible, table, errors, correction):
    """Begin, renew or end the correction, or what is said against limbs whose constants no drive has."""
    numbers, n = errors.numbers, errors.joint.shape[0]
    known = correction.active[0] & CONSTANTS != 0
    for limb in range(errors.refuted.shape[0]):
        known = known or errors.refuted[limb] != 0
        errors.refuted[limb] = 0
    if known:
        known = with_constants(numbers) <= _FAILS * without_constants(numbers)
    elif numbers[JUDGED] >= ENOUGH_FORETOLD and numbers[MEASURED] > _WORTH * numbers[JUDGED]:
        known = with_constants(numbers) < _HELPS * without_constants(numbers)
    constant, late = known and plausible, _led(numbers)
    correction.active[0] = (CONSTANTS if constant else 0) + (LATE if late > 0.0 else 0)
    if known and not plausible:
        for p in range(errors.estimate.shape[0]):
            if not is_plausible(p, errors):
                errors.refuted[table.limb[errors.joint[p % n]]] = 1
    for a in range(n):
        k = errors.joint[a]
        on = 1.0 if constant else 0.0
        correction.applied[SCALE, k] = on * SCALE_SIGMA * errors.estimate[a]
        correction.applied[BIAS, k] = on * errors.unit[0] * errors.estimate[n + a]
        correction.applied[FRICTION, k] = on * errors.unit[0] * errors.estimate[2 * n + a]
        correction.applied[INERTIA, k] = on * errors.unit[0] * errors.estimate[3 * n + a] / BRISK
        correction.late[k] = late
    if not correction.active[0]:
        for k in range(correction.added.shape[0]):
            correction.added[k] = 0.0
