"""What foot sensors, an inertial unit and commanded contacts say of each contact, as ratios for the filter.

A foot sensor gives a load z in parts of what a stance carries: an open contact has 0 with the noise that the sensor
shows in swings, a closed one about 1, and anything above. Zero, gain and noise are learned while the foot's motion
alone says whether it stands or swings, and so is whether the sensor agrees with that at all: one that does not loses
its weight. A shock, an acceleration that the motion before it does not explain, is likely where a contact closes: it
raises the probability of that transition. A commanded contact changes the rates of transitions, and no more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.belief_likelihoods import effective
from hybrid_contact_ros.kernels.estimation.effort_noise import follow_noise
from hybrid_contact_ros.kernels.estimation.records import Array, Codes

COLUMNS = 6
EVIDENCE, SHOCK, DOWN, UP, DOWN_PART, UP_PART = range(COLUMNS)
"""Of ``beside``: log ratio closed to open; log ratio of a shock with a touchdown to one without; hazards of touchdown
and liftoff; and the parts of their rates that are left."""
FEET, UNIT, WANTED = range(3)
"""Of ``present``."""
FORCE, READING = range(2)
"""Kinds of foot sensors."""
_STANDS, _STANDS_GAP, _STANDS_FOR = 0.1, 0.02, 0.04  # m/s, m, s: a foot that surely stands
_SWINGS, _SWINGS_GAP, _SWINGS_FOR = 0.25, 0.008, 0.01  # m/s along the normal, m, s: one that surely swings
_ZERO_TIME, _LEVEL_TIME, _NOISE_TIME = 0.1, 1.0, 0.5  # s of swing, stance and swing, over which these are learned
_FIRST = 0.03  # s of a stance and of a swing before readings of unknown gain say anything
_NOISE, _LEAST_NOISE = 0.06, 0.025  # of a load, before it is learned, and at least
_LOOSE = 0.2  # density of outliers, per unit of load
_ROOT_OF_SIX = math.sqrt(6.0)
_AGREES, _MISSES = 0.95, 0.05  # of a sensor before anything is learned, worth _PRIOR s
_PRIOR, _RECALL = 0.3, 2.0  # s of stances and of swings
_WORTHLESS, _GOOD = 0.3, 0.75  # agreement in stances less that in swings
_COUNTS = 0.5  # weight of a sensor by which a contact may be decided
_STALE = 0.01  # s: a measurement that old counts half
_TOTAL_TIME, _MOST_SCALE = 2.0, 5.0  # s, over which force sensors carry the weight; scales within 1/5 and 5
_BEFORE, _QUIET = 0.01, 0.5  # s, of the acceleration and of its noise before a shock
_ROUGH = 0.05  # m²/s⁴, least variance of an accelerometer
_NEAR = 0.02  # m, gap of a foot for whose touchdown a shock speaks
_LEAST_SHOCK = -0.7  # log ratio of a landing that is not felt: soft ones are not
_TOLD_EVENTS = 0.1  # least gain of a lag
_LEAST_SPREAD, _MOST_SPREAD, _MOST_LAG = 0.005, 0.1, 0.2  # s
_SURE = 0.95  # a belief that says whether a command was right
_LOGISTIC = 0.5513288954217921  # √3/π


class SensorSettings(NamedTuple):
    """``SensorsConfig`` and what comes of the robot."""

    outliers: float  # share of measurements that nothing explains
    correlation: float  # s, of a foot sensor's errors
    shock_width: float  # standard deviation of an acceleration in an impact, over that without
    shock_most: float  # ratio that a shock is worth at most
    command_lag: float  # s, of a contact behind its command, before it is learned
    command_spread: float  # s, its standard deviation
    command_share: float  # share of commands that come true
    part: float  # 1/N, 1 over the share of the weight that each contact carries
    weight: float  # N, of the robot; 0 where its base is fixed


class SensorGiven(NamedTuple):
    """What came with a state, m contacts; written before each update where ``present`` says so."""

    present: Codes  # (3,): foot sensors, a new acceleration, commands
    force: Array  # (m, 3), N, on the robot; NaN without
    axis: Array  # (m, 3), normal of the ground in the axes of ``force``
    reading: Array  # (m,), counts; NaN without
    age: Array  # (2, m), s, of force and reading
    acceleration: Array  # (3,), m/s², specific force in the root link
    wanted: Array  # (m,), 1 closed, 0 open; NaN without
    since: Array  # (m,), s, since that is wanted


class SensorMemory(NamedTuple):
    """What is learned of the sensors."""

    offset: Array  # (m, 3), N, of forces in swings
    level: Array  # (2, m), readings in swing and in stance
    noise: Array  # (2, m), variance of loads in swings, of forces and of readings
    white: Array  # (2, m, 3), noise of a load, 0 before any is known; the last loads, NaN without
    seen: Array  # (2, 2, m), s of swing and of stance that each kind was learned in
    says: Array  # (2, 2, m), how often each kind says closed in swing, and in stance
    calm: Array  # (2, m), s since the foot surely swings, and surely stands
    trust: Array  # (2, m), weight of each kind
    load: Array  # (2, m), z of each kind; NaN without
    total: Array  # (2,), N, mean of the sum of all forces; s that it was seen
    before: Array  # (4,): acceleration before, and 1 once there is one
    quiet: Array  # (1,), m²/s⁴, its variance
    lag: Array  # (2, 3): of touchdowns and liftoffs behind their command: mean, variance, number
    kept: Array  # (2, m), how often a command agrees with the belief where that is open, and closed
    shut: Codes  # (m,), whether the belief was for closed
    beside: Array  # (m, COLUMNS), out


@kernel
def sense(settings, dt, first, moving, gap, rate, slide, probability, given, memory):
    """Write what the sensors of a state say (``beside``), and learn of them. Nothing is done without inputs.

    Args:
        moving: whether the base does: a foot that is still then stands, wherever the ground is.
        gap, rate, slide: (m,), m and m/s. probability: (m, 2), belief of the last state.

    Returns:
        Whether foot sensors that are believed say of at least half of the contacts whether they are closed.
    """
    m, present = gap.shape[0], given.present
    if not (present[FEET] or present[UNIT] or present[WANTED]):
        return False
    for i in range(m):
        for k in range(COLUMNS):
            memory.beside[i, k] = 1.0 if k >= DOWN_PART else 0.0
    known = 0
    if present[FEET]:
        _weigh_robot(settings, dt, given, memory)
        for i in range(m):
            known += _foot(i, settings, dt, first, moving, gap[i], rate[i], slide[i], given, memory)
    if present[UNIT]:
        _shock(settings, dt, gap, rate, given, memory)
    if present[WANTED]:
        for i in range(m):
            _command(i, settings, dt, probability[i, 0], given, memory)
    return m > 0 and 2 * known >= m


@kernel
def steer(row, out):
    """Change a contact's transitions (3, 3), of open, sticking and slipping, by what is ``beside`` (COLUMNS,)."""
    down, up = 1.0 - out[0, 0], out[1, 0]
    if (row[SHOCK] != 0.0 or row[DOWN] > 0.0 or row[DOWN_PART] != 1.0) and 0.0 < down < 1.0:
        to = 1.0 - math.exp(row[DOWN_PART] * math.log(1.0 - down) - row[DOWN])
        ratio = math.exp(row[SHOCK])
        to = min(to * ratio / (1.0 - to + to * ratio), 1.0)
        out[0, 0] = 1.0 - to
        out[0, 1] *= to / down
        out[0, 2] *= to / down
    if (row[UP] > 0.0 or row[UP_PART] != 1.0) and 0.0 < up < 1.0:
        to = 1.0 - math.exp(row[UP_PART] * math.log(1.0 - up) - row[UP])
        for a in range(1, 3):
            out[a, 0] = to
            for b in range(1, 3):
                out[a, b] *= (1.0 - to) / (1.0 - up)


@kernel
def load_log(z, noise, outliers):
    """Log ratio of the densities of a load ``z`` at a closed contact and at an open one, with standard deviation
    ``noise`` there. A pull says no more than no load, and a load above that of a stance no less than it."""
    z = max(z, 0.0)
    short = min(z - 1.0, 0.0)
    closed = 0.3989422804014327 * math.exp(-0.5 * short * short)
    opened = 0.3989422804014327 / noise * math.exp(-min(0.5 * z * z / (noise * noise), 700.0))
    loose = outliers * _LOOSE
    return math.log(((1.0 - outliers) * closed + loose) / ((1.0 - outliers) * opened + loose))


@kernel
def shock_log(square, variance, width, most):
    """Log ratio of an acceleration's density in an impact and without, isotropic in space: the same shape, ``width``
    times as wide. Bounded: an impact may be soft, and a shock may be somebody's push."""
    ratio = -3.0 * math.log(width) + 0.5 * square / variance * (1.0 - 1.0 / (width * width))
    return min(max(ratio, _LEAST_SHOCK), math.log(most))


@kernel
def _weigh_robot(settings, dt, given, memory):
    """Follow the sum of all forces: over time it is the weight, and its ratio to that the scale of the sensors."""
    total = 0.0
    for i in range(given.force.shape[0]):
        if given.axis[i, 0] == 0.0 and given.axis[i, 1] == 0.0 and given.axis[i, 2] == 0.0:
            continue  # a joint limit
        for k in range(3):
            total += given.axis[i, k] * (given.force[i, k] - memory.offset[i, k])
    if settings.weight > 0.0 and math.isfinite(total):
        if memory.total[1] == 0.0:
            memory.total[0] = settings.weight
        memory.total[1] += dt
        memory.total[0] += (1.0 - math.exp(-dt / _TOTAL_TIME)) * (total - memory.total[0])


@kernel
def _foot(i, settings, dt, first, moving, gap, rate, slide, given, memory):
    """Take the sensors of one foot: returns 1 where one of them is believed."""
    speed = math.sqrt(rate * rate + slide * slide)
    swings = abs(rate) > _SWINGS and gap > _SWINGS_GAP
    stands = speed < _STANDS and (abs(gap) < _STANDS_GAP or moving)
    memory.calm[0, i] = memory.calm[0, i] + dt if swings else 0.0
    memory.calm[1, i] = memory.calm[1, i] + dt if stands else 0.0
    sure = 0 if memory.calm[0, i] > _SWINGS_FOR else (1 if memory.calm[1, i] > _STANDS_FOR else -1)
    quick = effective(dt, first, settings.correlation)
    found = 0
    for kind in range(2):
        z = _load(kind, i, settings, given, memory)
        memory.load[kind, i] = z
        log = 0.0
        if math.isfinite(z):
            _rustle(kind, i, z, memory)
            noise = max(math.sqrt(memory.noise[kind, i]), memory.white[kind, i, 0])
            log = load_log(z, noise, settings.outliers)
            fade = given.age[kind, i] / _STALE
            memory.beside[i, EVIDENCE] += memory.trust[kind, i] * quick * log / (1.0 + fade * fade)
            found += memory.trust[kind, i] >= _COUNTS
        if sure >= 0:
            _learn(kind, i, sure, dt, z, log, given, memory)
    return min(found, 1)


@kernel
def _rustle(kind, i, z, memory):
    """Follow the noise of single loads by their second differences, of which an impact makes few large: it is known
    also of a foot that never swings for certain, as the tip of an arm over its table. The same load again is none."""
    white = memory.white[kind, i]
    if z == white[1]:
        return
    x = abs(z - 2.0 * white[1] + white[2]) / _ROOT_OF_SIX
    if math.isfinite(x):
        white[0] = follow_noise(white[0] if white[0] > 0.0 else min(x, _NOISE), x)
    white[2] = white[1]
    white[1] = z


@kernel
def _load(kind, i, settings, given, memory):
    """The load of a contact in parts of a stance, by one kind of sensor; NaN where it is not known."""
    if kind == FORCE:
        along = 0.0
        for k in range(3):
            along += given.axis[i, k] * (given.force[i, k] - memory.offset[i, k])
        scale = 1.0
        if settings.weight > 0.0 and memory.total[1] > 0.0:
            scale = settings.weight / max(memory.total[0], settings.weight / _MOST_SCALE)
        return along * settings.part * max(scale, 1.0 / _MOST_SCALE)
    if memory.seen[READING, 0, i] < _FIRST or memory.seen[READING, 1, i] < _FIRST:
        return math.nan
    span = memory.level[1, i] - memory.level[0, i]
    return (given.reading[i] - memory.level[0, i]) / span if span != 0.0 else math.nan


@kernel
def _learn(kind, i, sure, dt, z, log, given, memory):
    """Learn of one sensor while the foot surely swings (``sure`` 0) or stands (1)."""
    there = math.isfinite(given.force[i, 0]) if kind == FORCE else math.isfinite(given.reading[i])
    if not there:
        return
    seen = memory.seen[kind, sure]
    seen[i] += dt
    if math.isfinite(z):
        gain = dt / min(seen[i] + _PRIOR, _RECALL + dt)
        memory.says[kind, sure, i] += gain * ((1.0 if log > 0.0 else 0.0) - memory.says[kind, sure, i])
        x = (memory.says[kind, 1, i] - memory.says[kind, 0, i] - _WORTHLESS) / (_GOOD - _WORTHLESS)
        x = min(max(x, 0.0), 1.0)
        memory.trust[kind, i] = x * x * (3.0 - 2.0 * x)
    if sure == 0 and math.isfinite(z):
        # Once the zero is known: what is off it by more than three deviations is no noise.
        square = min(z * z, 9.0 * memory.noise[kind, i])
        gain = dt / min(seen[i] + 0.1 * _NOISE_TIME, _NOISE_TIME + dt)
        memory.noise[kind, i] += gain * (square - memory.noise[kind, i])
        memory.noise[kind, i] = max(memory.noise[kind, i], _LEAST_NOISE * _LEAST_NOISE)
    gain = dt / min(seen[i] + 1e-9, (_ZERO_TIME if sure == 0 else _LEVEL_TIME) + dt)
    if kind == READING:
        memory.level[sure, i] += gain * (given.reading[i] - memory.level[sure, i])
    elif sure == 0:
        for k in range(3):
            memory.offset[i, k] += gain * (given.force[i, k] - memory.offset[i, k])


@kernel
def _shock(settings, dt, gap, rate, given, memory):
    """Take a new acceleration: what is off the mean of those just before it, in deviations."""
    before = memory.before
    square = 0.0
    for k in range(3):
        off = given.acceleration[k] - before[k]
        square += off * off
    if before[3] > 0.0:
        log = shock_log(square, memory.quiet[0], settings.shock_width, settings.shock_most)
        for i in range(gap.shape[0]):
            near = math.exp(-max(gap[i], 0.0) / _NEAR)
            memory.beside[i, SHOCK] = log * near if rate[i] < 0.05 else 0.0
        third = min(square / 3.0, 9.0 * memory.quiet[0])
        memory.quiet[0] = max(memory.quiet[0] + (1.0 - math.exp(-dt / _QUIET)) * (third - memory.quiet[0]), _ROUGH)
    share = 1.0 if before[3] == 0.0 else 1.0 - math.exp(-dt / _BEFORE)
    for k in range(3):
        before[k] += share * (given.acceleration[k] - before[k])
    before[3] = 1.0


@kernel
def _command(i, settings, dt, p, given, memory):
    """Let a command raise the hazard of its event, and lower the rate of the other; learn its lag, and whether the
    contact obeys at all."""
    wanted, since = given.wanted[i], given.since[i]
    if not math.isfinite(wanted):
        return
    kind = 0 if wanted > 0.5 else 1
    mean, variance, count = memory.lag[kind, 0], memory.lag[kind, 1], memory.lag[kind, 2]
    if count == 0.0:
        mean, variance = settings.command_lag, settings.command_spread * settings.command_spread
        memory.lag[kind, 0], memory.lag[kind, 1] = mean, variance
    shut = p > 0.5
    if shut != (memory.shut[i] != 0):
        if shut == (kind == 0) and abs(since) < _MOST_LAG:
            memory.lag[kind, 2] = count + 1.0
            gain = max(1.0 / (count + 3.0), _TOLD_EVENTS)
            off = since - mean
            memory.lag[kind, 0] = mean + gain * off
            spread = (1.0 - gain) * (variance + gain * off * off)
            memory.lag[kind, 1] = min(max(spread, _LEAST_SPREAD * _LEAST_SPREAD), _MOST_SPREAD * _MOST_SPREAD)
        memory.shut[i] = 1 if shut else 0
    spread = math.sqrt(variance)
    if since > mean + 3.0 * spread and (p > _SURE or p < 1.0 - _SURE):
        side = 1 if shut else 0
        gain = 1.0 - math.exp(-dt / _RECALL)
        memory.kept[side, i] += gain * ((1.0 if kind == 0 else 0.0) - memory.kept[side, i])
    x = min(max((memory.kept[1, i] - memory.kept[0, i] - _WORTHLESS) / (_GOOD - _WORTHLESS), 0.0), 1.0)
    share = settings.command_share * x
    scale = max(spread * _LOGISTIC, 1e-6)
    before, after = (since - dt - mean) / scale, (since - mean) / scale
    memory.beside[i, DOWN if kind == 0 else UP] = share * max(_softplus(after) - _softplus(before), 0.0)
    memory.beside[i, UP_PART if kind == 0 else DOWN_PART] = 1.0 - share / (
        1.0 + math.exp(-min(max(after, -50.0), 50.0))
    )


@kernel
def _softplus(x):
    """log(1 + eˣ)."""
    return x + math.log1p(math.exp(-x)) if x > 0.0 else math.log1p(math.exp(x))


def sensor_given(m: int) -> SensorGiven:
    """Nothing has come."""
    return SensorGiven(
        present=np.zeros(3, np.uint8), force=np.full((m, 3), np.nan),
        axis=np.zeros((m, 3)), reading=np.full(m, np.nan), age=np.zeros((2, m)), acceleration=np.zeros(3),
        wanted=np.full(m, np.nan),
        since=np.zeros(m),
    )  # fmt: skip


def sensor_memory(m: int) -> SensorMemory:
    """Nothing is learned; see :func:`forget`."""
    found = SensorMemory(
        offset=np.zeros((m, 3)), level=np.zeros((2, m)), noise=np.zeros((2, m)), white=np.zeros((2, m, 3)),
        seen=np.zeros((2, 2, m)),
        says=np.zeros((2, 2, m)), calm=np.zeros((2, m)), trust=np.zeros((2, m)), load=np.zeros((2, m)),
        total=np.zeros(2), before=np.zeros(4), quiet=np.zeros(1), lag=np.zeros((2, 3)), kept=np.zeros((2, m)),
        shut=np.zeros(m, np.uint8), beside=np.zeros((m, COLUMNS)),
    )  # fmt: skip
    forget(found)
    return found


def forget(memory: SensorMemory) -> None:
    """Forget all that was learned: sensors are believed until they contradict."""
    arrays: tuple[NDArray, ...] = memory
    for array in arrays:
        array.fill(0)
    memory.noise.fill(_NOISE * _NOISE)
    memory.says[:, 0], memory.says[:, 1] = _MISSES, _AGREES
    memory.kept[0], memory.kept[1] = _MISSES, _AGREES
    memory.trust.fill(1.0)
    memory.load.fill(np.nan)
    memory.white[:, :, 1:] = np.nan
    memory.quiet.fill(1.0)
    silence(memory)


def silence(memory: SensorMemory) -> None:
    """No sensor says anything."""
    memory.beside[:, :DOWN_PART] = 0.0
    memory.beside[:, DOWN_PART:] = 1.0
