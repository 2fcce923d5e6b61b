"""Lower and upper bound of μ of each contact, from the forces that it held and the ratios at which it slid.

The observer's forces are a low-pass of those at the contact, and a cone holds every mean of what it holds: their ratio
|f_t| / f_n is at most μ, whatever the contact did meanwhile, so that each ratio is a lower bound. Where a contact has
slid against its force for as long as the means reach back the ratio *is* μ: a bound from both sides. The points of a
link share a force in many ways; what is unique is its resultant, which lies in their cone as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.limb_forces import limb_forces
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.records import Array, Codes, Indices
from hybrid_contact_ros.kernels.estimation.update_records import (
    FORCE_ESTIMATE,
    FORCE_MODEL,
    FRICTION_LOWER,
    FRICTION_RATIO,
    FRICTION_UPPER,
    SLIP_WARNING,
    TIME_TO_SLIP,
)

_HIGHEST = 3.0  # a ratio above is none of friction, and an upper bound above is none
_LEAST = 0.01  # a lower bound below is none
_SMOOTH = 0.02  # s, of the mean of forces,
_GUESS = 0.4  # of the least load: noise of a state before any was seen
_SPREAD = 0.1  # of the noise of one state,
_RECENT = 0.01  # of the mode's force,
_TREND = 0.02  # and of the rate of its ratio
_SKIPPED = 1.5  # time constants of the observer that a slide must last before its forces are those of the slide,
_SETTLED = 1.0  # and for which they are then averaged before they tell anything
_LATELY = 5.0  # over which they are averaged at most: the ground may change within a slide
_KNOWN = 0.005  # s, of a mean of forces that shows what is held: after an impact the observer's are none for so long
_FRESH = 0.006  # s, of the mode's forces before anything is warned of: those of an impact are others
_DIFFERENCES = 1.9  # states of a stance before one has second differences
_NOTABLE = 0.5  # of what a contact can hold: below this no growth is warned of
_AGAINST = 0.85  # cosine between the force and the direction against the slip
_STEP = 0.01  # m; a contact that has moved by less is where it was
_FOREIGN = 1.0  # exponent of forgetting above which the slide of another contact says nothing of this one's ground


class FrictionTable(NamedTuple):
    """Constants: the configuration (FrictionConfig), and which contacts share a link."""

    learns: bool  # whether anything is learned,
    applies: bool  # and forces are solved for with it
    gain: float  # 1/s, of the observer
    least_load: float  # N, of a link; a smaller force tells little
    model: float  # part of a ratio that models of efforts and contacts may have wrong
    sigmas: float  # of the noise of a ratio
    time: float  # s, and length (m): after which a bound is looser by a factor of e
    length: float
    slide_speed: float  # m/s, from which a contact slides
    margin: float  # part of what a contact can hold: a warning begins where it holds more than the rest,
    lead: float  # s; or will hold all of it within this time
    link: Indices  # (m,), of each contact


class FrictionBounds(NamedTuple):
    """What is remembered of m contacts. The first index of arrays up to ``slid`` is of links, at most m of them;
    forces are resultants."""

    begun: Array  # (1,), negative before the first state
    mean: Array  # (m, 4): mean force over the last states, N, world axes, and how many they are
    last: Array  # (m, 6): forces of the last state and of the one before it, N
    spread: Array  # (m,): variance of the noise of a state's force, per axis, N²
    course: Array  # (m, 6): mean of the mode's force, N; states in it; its ratio, and the rate of that, 1/s
    slide: Array  # (m, 4): s since it slides; recent sums of normal and tangential force, N s; 1 once it shows bounds
    place: Array  # (m, 3): where it was closed, m
    held: Array  # (m, 2): lower bound when it was shown, and how far that is forgotten (exponent)
    slid: Array  # (m, 3): ratio of the last slide, its upper bound, and the exponent
    expected: Array  # (m,), out: μ that the next state's mode is solved with
    lower: Array  # (m,), out: bounds of μ; 0 and inf where nothing is known
    upper: Array  # (m,)
    ratio: Array  # (m,), out: |f_t| / f_n of the contact's link, by the observer; NaN where it carries too little
    time_to_slip: Array  # (m,), out: s until the ratio is what the contact is thought to hold; inf, NaN where unknown
    warning: Codes  # (m,), out: whether that is near


@kernel
def bound_friction(
    dt, friction, weight, trust, residual, robot, problem, here, tracker, table, memory, solver, scratch, out
):  # fmt: skip
    """The step of an update: learn from the forces of this state, and write what is known of each contact's μ.

    Where the base floats, forces are those of each limb's own joints, if it has enough of them: what pulls at the trunk
    is none of μ.

    Args: friction: as configured (m,). trust: TrustTable. residual: r (nv,), of the momentum observer.
    """
    forces = scratch.weighed[0]
    for i in range(forces.shape[0]):
        for k in range(3):
            forces[i, k] = out.vectors[FORCE_ESTIMATE, i, k]
    if not trust.fixed:
        limb_forces(
            trust.contact_limb, trust.limb, table.link, tracker.closed, robot.normals, robot.tangents, problem.rows,
            residual, scratch.integers[0], solver.A, scratch.vectors[0], forces,
        )  # fmt: skip
    learn_friction(
        dt, tracker.closed, weight, friction, robot.normals, here.slip_speed, tracker.smooth, problem.position,
        forces, out.vectors[FORCE_MODEL], table, memory,
    )  # fmt: skip
    for i in range(friction.shape[0]):
        out.numbers[FRICTION_LOWER, i] = memory.lower[i]
        out.numbers[FRICTION_UPPER, i] = memory.upper[i]
        out.numbers[FRICTION_RATIO, i] = memory.ratio[i]
        out.numbers[TIME_TO_SLIP, i] = memory.time_to_slip[i]
        out.codes[SLIP_WARNING, i] = memory.warning[i]


@kernel
def learn_friction(
    dt, closed, weight, friction, normals, slip_speed, tangential, position, estimate, model, table, memory
):
    """Take one state; a second one of the same time changes nothing. A pause forgets means, and no bounds.

    Args:
        dt: s since the last state.
        closed: (m,) uint8. weight: (m,), of efforts: those below ``BELIEVED`` teach nothing. friction: μ as configured
            (m,). normals: (m, 3), world frame, as all vectors. slip_speed: (m,), m/s, of this state;
            tangential: (m, 3), m/s, mean velocity along the surface. position: (m, 3), m. estimate, model: forces of
            observer and mode (m, 3), N, NaN where unknown.
        table: FrictionTable. memory: in and out, FrictionBounds.
    """
    again = dt <= 0.0 and memory.begun[0] >= 0.0
    if not table.learns or again:
        return
    m, first = closed.shape[0], memory.begun[0] < 0.0
    anew = first or dt > LONGEST_PAUSE
    memory.begun[0] = 0.0
    for link in range(m):
        if first:
            memory.spread[link] = (_GUESS * table.least_load) ** 2
        if anew:
            _lift(link, memory)
        memory.held[link, 1] += dt / table.time
        memory.slid[link, 2] += dt / table.time
    for link in range(m):
        if table.link[link] == link:
            _take(link, dt, closed, weight, normals, slip_speed, tangential, position, estimate, model, table, memory)
    slippery = math.inf
    for link in range(m):
        if memory.slid[link, 2] < _FOREIGN and memory.slid[link, 1] < math.inf:
            slippery = min(slippery, memory.slid[link, 0])
    for i in range(m):
        _tell(i, dt, closed[i] != 0, friction[i], slippery, table, memory)


@kernel
def _lift(link, memory):
    """Forget the stance of a link."""
    memory.mean[link, 3] = 0.0
    memory.course[link, 3] = 0.0
    for k in range(4):
        memory.slide[link, k] = 0.0


@kernel
def _take(link, dt, closed, weight, normals, slip_speed, tangential, position, estimate, model, table, memory):
    """One state of a link, whose number is that of its first contact."""
    f0 = f1 = f2 = g0 = g1 = g2 = u0 = u1 = u2 = 0.0
    least, slowest, count, at = 1.0, math.inf, 0, -1
    for i in range(link, closed.shape[0]):
        if table.link[i] != link or not closed[i]:
            continue
        f0 += estimate[i, 0]
        f1 += estimate[i, 1]
        f2 += estimate[i, 2]
        g0 += model[i, 0]
        g1 += model[i, 1]
        g2 += model[i, 2]
        u0 += tangential[i, 0]
        u1 += tangential[i, 1]
        u2 += tangential[i, 2]
        least = min(least, weight[i])
        slowest = min(slowest, slip_speed[i])
        count += 1
        at = i if at < 0 else at
    memory.ratio[link] = math.nan
    if count == 0:
        _lift(link, memory)
        return
    n0, n1, n2 = normals[at, 0], normals[at, 1], normals[at, 2]
    push = f0 * n0 + f1 * n1 + f2 * n2
    if not push >= table.least_load or least < BELIEVED:  # an unknown force is NaN
        _lift(link, memory)
        return
    _move(link, position[at], table, memory)
    t0, t1, t2 = f0 - push * n0, f1 - push * n1, f2 - push * n2
    held = math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
    memory.ratio[link] = held / push
    _follow(link, dt, (g0, g1, g2), (n0, n1, n2), table, memory)
    _average(link, dt, (f0, f1, f2), memory)
    speed = math.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
    against = -(u0 * t0 + u1 * t1 + u2 * t2)
    if min(speed / count, slowest) >= table.slide_speed and against >= _AGAINST * speed * held:
        _slip(link, dt, push, held, math.sqrt(memory.spread[link]), table, memory)
    else:
        for k in range(4):
            memory.slide[link, k] = 0.0
        if dt * memory.mean[link, 3] >= _KNOWN:
            deviation = math.sqrt(memory.spread[link] / (2.0 * memory.mean[link, 3] - 1.0))
            _hold(link, deviation, n0, n1, n2, table, memory)


@kernel
def _move(link, place, table, memory):
    """What was shown elsewhere is forgotten as far as this place is from there; noise of a place is no way."""
    way = 0.0
    for k in range(3):
        way += (place[k] - memory.place[link, k]) ** 2
    way = math.sqrt(way)
    if way < _STEP:
        return
    for k in range(3):
        memory.place[link, k] = place[k]
    memory.held[link, 1] += way / table.length
    memory.slid[link, 2] += way / table.length


@kernel
def _follow(link, dt, force, normal, table, memory):
    """The ratio of the mode's forces, which lag less than the observer's, and its rate."""
    course = memory.course[link]
    if not abs(force[0] * normal[0] + force[1] * normal[1] + force[2] * normal[2]) < math.inf:
        course[3] = 0.0
        return
    young = course[3] == 0.0
    course[3] = 1.0 + math.exp(-dt / _RECENT) * course[3]
    push = square = 0.0
    for k in range(3):
        course[k] += (force[k] - course[k]) / course[3] if not young else force[k] - course[k]
        push += course[k] * normal[k]
        square += course[k] * course[k]
    ratio = math.sqrt(max(square - push * push, 0.0)) / max(push, table.least_load)
    if young or dt <= 0.0:
        course[5] = 0.0
    else:
        course[5] += (1.0 - math.exp(-dt / _TREND)) * ((ratio - course[4]) / dt - course[5])
    course[4] = ratio


@kernel
def _average(link, dt, force, memory):
    """Mean force of the stance, over ``_SMOOTH`` s at most, and the noise, from second differences: noise of v is in
    the observer's forces as it is, other changes are smoothed."""
    mean, last = memory.mean[link], memory.last[link]
    apart = 0.0
    for k in range(3):
        apart += (force[k] - 2.0 * last[k] + last[3 + k]) ** 2
        last[3 + k] = last[k]
        last[k] = force[k]
    if mean[3] >= _DIFFERENCES:
        memory.spread[link] += (1.0 - math.exp(-dt / _SPREAD)) * (apart / 18.0 - memory.spread[link])
    mean[3] = 1.0 + math.exp(-dt / _SMOOTH) * mean[3]
    for k in range(3):
        mean[k] += (force[k] - mean[k]) / mean[3]


@kernel
def _hold(link, deviation, n0, n1, n2, table, memory):
    """A ratio that is held raises the lower bound; above the upper one, that one is wrong here."""
    mean = memory.mean[link]
    push = mean[0] * n0 + mean[1] * n1 + mean[2] * n2
    if not push >= table.least_load:
        return
    t0, t1, t2 = mean[0] - push * n0, mean[1] - push * n1, mean[2] - push * n2
    ratio = math.sqrt(t0 * t0 + t1 * t1 + t2 * t2) / push
    shown = ratio * (1.0 - table.model) - table.sigmas * math.sqrt(1.0 + ratio * ratio) * deviation / push
    if ratio > _HIGHEST or shown <= _bound(memory.held[link, 0], -memory.held[link, 1]):
        return
    memory.held[link, 0] = shown
    memory.held[link, 1] = 0.0
    if shown > _bound(memory.slid[link, 1], memory.slid[link, 2]):
        memory.slid[link, 1] = math.inf


@kernel
def _slip(link, dt, push, held, deviation, table, memory):
    """A slide tells both bounds once it is all that the observer's forces reach back to."""
    slide = memory.slide[link]
    slide[0] += dt
    settled = slide[0] - _SKIPPED / table.gain
    if settled <= 0.0:
        return
    fade = math.exp(-dt * table.gain / _LATELY)
    slide[1] = fade * slide[1] + dt * push
    slide[2] = fade * slide[2] + dt * held
    if settled < _SETTLED / table.gain:
        return
    ratio = slide[2] / slide[1]
    if ratio > _HIGHEST:
        return
    lasted = min(settled, _LATELY / table.gain)
    noise = table.sigmas * math.sqrt((1.0 + ratio * ratio) * dt * lasted) * deviation / slide[1]
    memory.mean[link, 3] = 0.0  # what was held before is not held here
    memory.slid[link, 0] = ratio
    memory.slid[link, 1] = ratio * (1.0 + table.model) + noise
    memory.slid[link, 2] = 0.0
    shown = max(ratio * (1.0 - table.model) - noise, 0.0)
    before = _bound(memory.held[link, 0], -memory.held[link, 1])
    # What this slide has shown of ground that it has left since is of other ground.
    if before < shown or before > memory.slid[link, 1] or (slide[3] > 0.0 and before > ratio):
        memory.held[link, 0] = shown
        memory.held[link, 1] = 0.0
        slide[3] = 1.0


@kernel
def _bound(shown, exponent):
    """A bound that was shown, loosened by what is forgotten; 0 or inf where none is left."""
    bound = shown * math.exp(exponent)
    if exponent > 0.0:
        return bound if bound < _HIGHEST else math.inf
    return bound if bound > _LEAST else 0.0


@kernel
def _tell(i, dt, closed, friction, slippery, table, memory):
    """Bounds of a contact, and whether it is near a slip."""
    link = table.link[i]
    low = _bound(memory.held[link, 0], -memory.held[link, 1])
    high = _bound(memory.slid[link, 1], memory.slid[link, 2])
    memory.lower[i], memory.upper[i] = low, max(low, high)
    memory.ratio[i] = memory.ratio[link] if closed else math.nan
    holds = friction
    if high < math.inf:
        holds = memory.slid[link, 0]
    elif low < slippery:  # it has not shown that it stands on better ground
        holds = min(friction, slippery)
    holds = max(holds, low)
    ratio, rate = memory.course[link, 4], memory.course[link, 5]
    expected = holds if table.applies and high < math.inf else friction
    if table.applies and closed and memory.slide[link, 0] == 0.0 and memory.ratio[link] < _HIGHEST:
        # By the observer it holds this ratio now, which models may have too small as well as too large. A mode that had
        # it slip already would throw it off where slides jam.
        expected = max(expected, memory.ratio[link] * (1.0 + table.model))
    memory.expected[i] = expected
    memory.warning[i] = 0
    memory.time_to_slip[i] = math.nan
    if closed and dt * memory.course[link, 3] >= _FRESH:
        left = holds - ratio
        memory.time_to_slip[i] = max(left, 0.0) / rate if rate > 0.0 else (0.0 if left <= 0.0 else math.inf)
        soon = ratio >= _NOTABLE * holds and memory.time_to_slip[i] <= table.lead
        near = ratio >= (1.0 - table.margin) * holds or soon
        memory.warning[i] = 1 if near else 0
