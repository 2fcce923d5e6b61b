"""How far the measured efforts of each limb explain its motion: a weight from 1 (trusted) to 0 (ignored).

M v̇ + h = Sᵀτ + Jᵀλ holds for the right efforts with some λ, whatever the contacts do and wherever the ground is: no
contact mode and no gap is used here. r, the low-pass of ṗ − Cᵀv + g − Sᵀτ, is then a combination of the rows of J. What
least squares leave of it over, with the base among the rows, are forces that no contact makes; of the right efforts it
is a few per cent of the load that a limb carries. It is compared with what would be left if the limb had no efforts.

A leg that folds up after an impact has other rows by the time that the filters have passed its force, which leave a
part of that force. What is left is therefore found step by step as well, with the rows of that step, and low-passed
afterwards; that in turn remembers how much a limb counted then. The less of both is what a limb's efforts leave.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_basis import add_row, left_entry, take_off, take_off_rows
from hybrid_contact_ros.kernels.estimation.effort_correction import BIAS, FRICTION, INERTIA, SCALE
from hybrid_contact_ros.kernels.estimation.effort_errors import follow_joints, learn_errors
from hybrid_contact_ros.kernels.estimation.error_squares import rate_of_effort
from hybrid_contact_ros.kernels.estimation.hanging import forget_hanging, note_hanging, wait_for_efforts
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.records import Array, Indices

_LIGHTEST = 0.05  # Rows of an ignored limb keep this weight, so that it can win trust back.
_UNSETTLED = 0.1  # Below this share of a constant force the filters have seen too little.
_PRIOR = 0.01  # s of motion explained to within the floor, which every limb begins with
# m and m/s: a point of a fixed base that is further up, and faster, touches nothing; of an arm, which presses on what
# was measured when it was configured, and of a robot that stands
_SWINGS_ARM, _SWINGS = (0.01, 0.05), (0.03, 0.3)
_SWING_AGE = 6.0  # time constants of the filters after which they have forgotten the stance
_LIMIT_NEAR = 0.05  # rad, m: a joint limit that is nearer may push
_NOISE_TIME = 0.1  # s, over which noise is averaged
_NOISES = 4.0  # variances of noise that are no contradiction: it is learned from few states
_SLOW = 20.0  # times the memory, over which scales and biases are averaged


class TrustTable(NamedTuple):
    """Constants: the configuration (TrustConfig), and which limb is where. A limb is what contacts share joints."""

    bandwidth: float  # 1/s, of the filters; 0 switches the check off
    recall: float  # s, over which motion is judged
    floor: float  # of the load that is a limb's share of the weight; a smaller contradiction is none
    full: float  # ratios of what efforts and no efforts leave unexplained, below which the weight is 1
    none: float  # and above which it is 0
    share: float  # 1 / number of limbs
    unit: float  # 1 / weight, 1/N
    contact_limb: Indices  # (m,), −1 where no joint lies between the base and the contact
    limb: Indices  # (nv,), of each coordinate; −1 for the base, −2 for joints of no limb
    scale: Array  # (nv,), 1 / (weight · lever): N and N m into parts of the robot's weight; 0 for joints of no limb
    is_limit: NDArray[np.uint8]  # (m,), whether the contact is a joint limit
    fixed: bool  # whether the base is: no motion of it then tells forces of limbs from errors of efforts
    presses: float  # part of its share of the weight that a limb presses with: 1, but for an arm
    doubt: Array  # (nv,), kg m² (kg), D of :mod:`.observed_forces`


class TrustMemory(NamedTuple):
    """What is remembered; l limbs. Efforts and forces in parts of the weight (``scale``) from ``first`` on."""

    begun: Array  # (5,): s since the filters started, negative before; answers of theirs, and of ``rough``, to a 1; and
    # whether ``unexplained`` has begun
    last: Array  # (3, nv): p, Cᵀv − g and Sᵀτ of the last state
    first: Array  # (2, nv): r and low-passed efforts after one pole,
    second: Array  # (2, nv): and after two
    unexplained: Array  # (2, nv): what contacts leave of each step, after one pole and after two, by roots of weights
    rough: Array  # (nv,), mean square of the change of ``first`` from state to state
    swing: Array  # (m,), s since the contact swings for certain
    energy: Array  # (l, 3): sums over time of what is left with efforts, without, and of noise
    time: Array  # (2,): s that these sums are over; and those of scales and biases
    normal: Array  # (l, l), cross (l,): of the least squares for the scales of efforts
    cross: Array
    bias: Array  # (2, nv): sums of what is left, and of the share of it that a bias would leave
    weight: Array  # (l,)
    force_weight: Array  # (m,), out: the weight of each contact's forces


class TrustScratch(NamedTuple):
    """Memory of one check."""

    basis: Array  # (3 m, nv), orthonormal rows
    triangle: Array  # (3 m, 3 m), rows of J in that basis
    part: Array  # (3 m,)
    kept: Indices  # (3 m,), which rows of J; −1 behind the last
    step: Array  # (nv,), what enters the first pole of r with this state; then what the efforts leave
    left: Array  # (1 + l, nv): what is left of r, and of each limb's efforts
    root: Array  # (nv,), roots of the weights of coordinates
    load: Array  # (l,), parts of the weight


@kernel
def check_efforts(given, problem, here, velocity, closed, jitter, table, memory, scratch, correction, errors, hang):
    """Take one state, and write ``force_weight``, 0 for all limbs without efforts.

    A pause starts the filters anew and leaves the weights; a second state of the same time changes nothing. The efforts
    of ``problem`` are corrected (``correction.added``); the filters follow those that were measured, and what they are
    judged by is corrected with what is applied now. ``closed``: (m,) uint8, with the state before. ``jitter``: (nv,),
    of :mod:`.effort_noise`.
    """
    m, limbs = memory.force_weight.shape[0], memory.weight.shape[0]
    if table.bandwidth > 0.0 and limbs:
        if not given.trusted:
            memory.begun[0] = -1.0
            forget_hanging(hang)
        elif given.dt != 0.0 or memory.begun[0] < 0.0:
            settled = _filter(given.dt, problem.effort, velocity, correction, here, table, memory, scratch)
            follow_joints(given.dt, memory.begun[0] == 0.0, table.bandwidth, velocity, table.scale, errors)
            if settled:
                note_hanging(given.dt, table, memory, hang)
                _compare(given.dt, problem, here, closed, jitter, table, memory, scratch, correction, errors)
            else:
                wait_for_efforts(given.dt, hang)
    least = 1.0
    for k in range(limbs):
        least = min(least, limb_weight(k, memory.weight, errors.refuted))
    for i in range(m):
        limb = table.contact_limb[i]
        weight = limb_weight(limb, memory.weight, errors.refuted) if limb >= 0 else least
        memory.force_weight[i] = weight if given.trusted else 0.0


@kernel
def limb_weight(limb, weight, refuted):
    """How far the efforts of a limb are believed: by what they leave of its motion, and by their errors (l,)."""
    return 0.0 if refuted[limb] else weight[limb]


@kernel
def _filter(dt, effort, velocity, correction, here, table, memory, scratch):
    """Two poles over r and over efforts, as they were measured. Returns whether they have settled enough."""
    nv = effort.shape[0]
    anew = memory.begun[0] < 0.0 or not 0.0 < dt <= LONGEST_PAUSE
    step = 0.0 if anew else table.bandwidth * dt
    forget = 0.0 if anew else math.exp(-dt / _NOISE_TIME)
    for k in range(nv):
        momentum = here.momentum[k] - correction.drives[k] * velocity[k]
        rate, torque = here.rate[k], effort[k] - correction.added[k]
        scratch.step[k] = 0.0
        if anew:
            for side in range(2):
                memory.first[side, k] = 0.0
                memory.second[side, k] = 0.0
        elif table.scale[k] > 0.0:
            torques = 0.5 * dt * (memory.last[2, k] + torque)
            forces = momentum - memory.last[0, k] - 0.5 * dt * (memory.last[1, k] + rate) - torques
            before = memory.first[0, k]
            scratch.step[k] = table.bandwidth * table.scale[k] * forces
            for side in range(2):
                gained = scratch.step[k] if side == 0 else table.bandwidth * table.scale[k] * torques
                memory.first[side, k] = (memory.first[side, k] + gained) / (1.0 + step)
                memory.second[side, k] = (memory.second[side, k] + step * memory.first[side, k]) / (1.0 + step)
            change = memory.first[0, k] - before
            memory.rough[k] += (1.0 - forget) * (change * change - memory.rough[k])
        memory.last[0, k] = momentum
        memory.last[1, k] = rate
        memory.last[2, k] = torque
    if anew:
        memory.begun[0] = 0.0
        memory.begun[1] = 0.0
        memory.begun[2] = 0.0
        memory.begun[4] = 0.0
        return False
    memory.begun[3] += (1.0 - forget) * (1.0 - memory.begun[3])
    memory.begun[0] += dt
    memory.begun[1] = (memory.begun[1] + step) / (1.0 + step)
    memory.begun[2] = (memory.begun[2] + step * memory.begun[1]) / (1.0 + step)
    return memory.begun[2] > _UNSETTLED


@kernel
def _compare(dt, problem, here, closed, jitter, table, memory, scratch, correction, errors):
    """What r leaves unexplained, with the efforts of each limb and without; from these the weights."""
    limbs = memory.weight.shape[0]
    settled = memory.begun[2]
    for k in range(scratch.root.shape[0]):
        limb = table.limb[k]
        scratch.root[k] = math.sqrt(max(memory.weight[limb], _LIGHTEST)) if limb >= 0 else 1.0
    _put(table, memory, scratch)
    if correction.active[0]:
        _correct(correction, table, memory, scratch, errors)
    found = _span(dt, problem, here, closed, table, memory, scratch)
    for a in range(found, scratch.kept.shape[0]):
        scratch.kept[a] = -1
    take_off(found, scratch.basis, scratch.left[0], scratch.part)
    _loads(found, table, scratch)
    take_off_rows(found, scratch.basis, scratch.left, 1)
    _follow(table.bandwidth * dt, found, memory, scratch)
    _show(found, table, memory, scratch, correction, errors)
    forget = math.exp(-dt / table.recall)
    memory.time[0] = forget * memory.time[0] + dt * settled
    for limb in range(limbs):
        _judge(limb, dt, forget, table, memory, scratch)
    if correction.active[0]:  # what is learned and told is of the efforts that were measured
        _put(table, memory, scratch)
        take_off_rows(found, scratch.basis, scratch.left, 0)
    _learn(dt * settled, math.exp(-dt / (_SLOW * table.recall)), found, table, memory, scratch)
    learn_errors(
        dt, table.floor * table.share * table.presses, found, jitter, table, memory, scratch, correction, errors
    )  # fmt: skip


@kernel
def _put(table, memory, scratch):
    """Write r and the efforts of each limb, low-passed, by the roots of the weights of their coordinates."""
    settled = memory.begun[2]
    for k in range(scratch.root.shape[0]):
        limb = table.limb[k]
        for row in range(scratch.left.shape[0]):
            scratch.left[row, k] = 0.0
        if table.scale[k] > 0.0:
            scratch.left[0, k] = memory.second[0, k] * scratch.root[k] / settled
            if limb >= 0:
                scratch.left[1 + limb, k] = memory.second[1, k] * scratch.root[k] / settled


@kernel
def _correct(correction, table, memory, scratch, errors):
    """Correct what the efforts leave, and the efforts themselves, as if all of the past had been corrected so."""
    for a in range(errors.joint.shape[0]):
        k = errors.joint[a]
        torque = _correcting(k, correction, table, memory, scratch, errors)
        scratch.left[0, k] -= torque
        scratch.left[1 + table.limb[k], k] += torque


@kernel
def _follow(step, found, memory, scratch):
    """Low-pass what contacts leave of this step; it begins with what they leave of the filters of r."""
    nv = scratch.step.shape[0]
    past, vector = memory.unexplained, scratch.step
    if memory.begun[4] == 0.0:
        memory.begun[4] = 1.0
        for side in range(2):
            for k in range(nv):
                past[side, k] = (memory.first[0, k] if side == 0 else memory.second[0, k]) * scratch.root[k]
            take_off(found, scratch.basis, past[side], scratch.part)
        return
    for k in range(nv):
        vector[k] *= scratch.root[k]
    take_off(found, scratch.basis, vector, scratch.part)
    for k in range(nv):
        past[0, k] = (past[0, k] + vector[k]) / (1.0 + step)
        past[1, k] = (past[1, k] + step * past[0, k]) / (1.0 + step)


@kernel
def _show(found, table, memory, scratch, correction, errors):
    """Write what the efforts leave, corrected with what is applied now, as if all of the past had been."""
    vector = scratch.step
    for k in range(vector.shape[0]):
        vector[k] = 0.0
    if correction.active[0]:
        for a in range(errors.joint.shape[0]):
            k = errors.joint[a]
            vector[k] = _correcting(k, correction, table, memory, scratch, errors)
        take_off(found, scratch.basis, vector, scratch.part)
    for k in range(vector.shape[0]):
        vector[k] = memory.unexplained[1, k] / memory.begun[2] - vector[k]


@kernel
def _correcting(k, correction, table, memory, scratch, errors):
    """The low-passed torque that corrects coordinate k, by the root of its weight."""
    settled, applied = memory.begun[2], correction.applied
    torque = applied[SCALE, k] * memory.second[1, k] + applied[BIAS, k] * table.scale[k] * settled
    torque += applied[FRICTION, k] * errors.sign[2, k] - applied[INERTIA, k] * errors.swift[2, k]
    torque += correction.late[k] * rate_of_effort(k, table.bandwidth, memory)
    return torque * scratch.root[k] / settled


@kernel
def _judge(limb, dt, forget, table, memory, scratch):
    """Add one state to the sums of a limb, and set its weight."""
    nv, settled = memory.rough.shape[0], memory.begun[2]
    step = dt * settled
    left = stepwise = without = rough = 0.0
    pull = min(scratch.load[limb], 0.0)
    for k in range(nv):
        inside = table.limb[k] == limb
        if inside or table.limb[k] == -1:
            rough += memory.rough[k] * (1.0 if inside else table.share * table.share)
        if inside:
            e, t = scratch.left[0, k] / scratch.root[k], scratch.left[1 + limb, k] / scratch.root[k]
            left += e * e
            stepwise += (scratch.step[k] / scratch.root[k]) ** 2
            without += (e + t) * (e + t)
    # The white noise of p is in the first pole as it is, and the second averages it: its variance times dt is this.
    # That of the very first state has the filters settle from a wrong value.
    rough /= memory.begun[3] * settled * settled
    age = table.bandwidth * memory.begun[0]
    noise = 0.25 * table.bandwidth * dt * rough + 0.5 * rough * (age * math.exp(-age)) ** 2
    energy = memory.energy[limb]
    energy[0] = forget * energy[0] + step * (min(left, stepwise) + pull * pull)
    energy[1] = forget * energy[1] + step * without
    energy[2] = forget * energy[2] + step * noise
    nothing = (table.floor * table.share) ** 2 * (memory.time[0] + _PRIOR) + _NOISES * energy[2]
    ratio = math.sqrt(energy[0] / (energy[1] + nothing))
    x = min(max((table.none - ratio) / (table.none - table.full), 0.0), 1.0)
    memory.weight[limb] = x * x * (3.0 - 2.0 * x)


@kernel
def _learn(step, forget, found, table, memory, scratch):
    """Sums for scale and bias: of efforts that are a times the measured ones t plus b, (a − 1) P t + P b is left."""
    nv, limbs = memory.rough.shape[0], memory.weight.shape[0]
    left = scratch.left
    memory.time[1] = forget * memory.time[1] + step
    for i in range(limbs):
        total = 0.0
        for k in range(nv):
            total += left[1 + i, k] * left[0, k]
        memory.cross[i] = forget * memory.cross[i] + step * total
        for j in range(i + 1):
            total = 0.0
            for k in range(nv):
                total += left[1 + i, k] * left[1 + j, k]
            memory.normal[i, j] = forget * memory.normal[i, j] + step * total
            memory.normal[j, i] = memory.normal[i, j]
    for k in range(nv):
        if table.limb[k] >= 0:
            share = left_entry(found, scratch.basis, k, k)
            memory.bias[0, k] = forget * memory.bias[0, k] + step * left[0, k] / scratch.root[k]
            memory.bias[1, k] = forget * memory.bias[1, k] + step * share


@kernel
def _span(dt, problem, here, closed, table, memory, scratch):
    """An orthonormal basis of what contacts may push along, but for those of an arm that swing. Returns its size.

    A leg that swings needs no such rule: forces that it does not have would move the base. A tip that is closed and
    moves along its surface alone slides, on a table that is higher than it was configured.
    """
    found = 0
    gap, fast = _SWINGS if table.presses >= 1.0 else _SWINGS_ARM
    for i in range(memory.swing.shape[0]):
        slide = 0.0 if closed[i] else here.slip_speed[i]
        speed = math.sqrt(here.gap_velocity[i] ** 2 + slide**2)
        swings = table.fixed and problem.gap[i] > gap and speed > fast and not table.is_limit[i]
        memory.swing[i] = memory.swing[i] + dt if swings else 0.0
        if memory.swing[i] * table.bandwidth > _SWING_AGE or (table.is_limit[i] and problem.gap[i] > _LIMIT_NEAR):
            continue
        for side in range(1 if table.is_limit[i] else 3):
            if add_row(found, problem.rows[i, side], table.scale, scratch):
                scratch.kept[found] = 3 * i + side
                found += 1
    return found


@kernel
def _loads(found, table, scratch):
    """The normal force on each limb, in weights: unique even where the points of a sole share it in many ways."""
    for limb in range(scratch.load.shape[0]):
        scratch.load[limb] = 0.0
    part, unit = scratch.part, table.unit
    for back in range(found):
        a = found - 1 - back
        for later in range(a + 1, found):
            part[a] -= scratch.triangle[later, a] * part[later]
        part[a] /= scratch.triangle[a, a]
        contact = scratch.kept[a] // 3
        if scratch.kept[a] % 3 == 0 and table.contact_limb[contact] >= 0 and not table.is_limit[contact]:
            scratch.load[table.contact_limb[contact]] += part[a] * unit
