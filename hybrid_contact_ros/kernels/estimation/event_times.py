"""When a contact touches, leaves, slips or sticks, by extrapolation from one state.

An estimate of a time is an array (3,): time, earliest, latest, in s from now; infinite where there is none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.algebra.quadratic import first_root
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.event_rhythm import agree, not_yet
from hybrid_contact_ros.kernels.estimation.records import Array, Codes, TimeBounds

LINE_TIME_CONSTANT = 0.01
"""s, memory of the lines: a few samples of a slow stream, a small part of a stride."""
SETTLED = 2.0
"""A line is used once it is this many of its time constants old."""
_NONE, _TOUCHDOWN, _LIFTOFF = int(EventKind.NONE), int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_SLIP, _STICK = int(EventKind.SLIP), int(EventKind.STICK)
# A line through the recent past is extended into the future by at most this many of its time constants.
_REACH = 3.0
ABRUPT = 100.0
"""m/s²: the acceleration of a foot does not change by more for long, unless it strikes something."""


class EventProblem(NamedTuple):
    """What :func:`next_events` knows of the contacts at one state."""

    force_sigma: float  # N, of the model's normal force
    horizon: float  # s; later events are none
    time_constant: float  # s, memory of the lines
    weight: Array  # (m,), of efforts: from 1, trusted, to 0, not measured or ignored
    dt: float  # s since the last state; ≤ 0 for none
    closed: Codes  # (m,) uint8
    slipping: Codes  # (m,) uint8
    friction: Array  # μ (m,)
    gap: Array  # φ (m,), m
    rate: Array  # φ̇ (m,), m/s
    speed: Array  # slip speed (m,), m/s
    load: Array  # (m,), N, as of contact_quantities.model_loads
    margin: Array  # μ λ_n − ‖λ_t‖ (m,), N
    accelerations: Array  # (m, 1 + d), m/s², normal first
    slip_acceleration: Array  # d‖u_t‖/dt (m,), m/s²
    expected: Array  # (m, 2, 3), touchdown and liftoff that the rhythm of the gait foretells


class EventScratch(NamedTuple):
    found: Array  # (3,), estimate by the state
    due: Array  # (3,), estimate by the rhythm


class EventOut(NamedTuple):
    """The next event of every contact, and what is remembered to find it."""

    lines: Array  # in and out (m, 2, 3), the lines (follow_line) of load and margin
    kind: Codes  # (m,) uint8, values of EventKind
    backed: Codes  # (m,) uint8, kind without the touchdowns that only the rhythm foretells
    times: Array  # (m, 3), time, earliest, latest, s; NaN for NONE


@kernel
def touchdown_time(sigmas, gap_sigma, velocity_sigma, acceleration_sigma, gap, rate, acceleration, out):
    """Touchdown under a parabola, with bounds.

    The gap at time t is uncertain by √(σ_φ² + σ_φ̇² t² + ¼ σ_φ̈² t⁴). The bounds are where the parabola, shifted by
    ``sigmas`` times that, crosses zero; the shift is taken at the nominal time, and then once more at the bound found.

    Args:
        sigmas: of the bounds, in standard deviations. gap_sigma: m. velocity_sigma: m/s. acceleration_sigma: m/s².
        gap: φ, m. rate: φ̇, m/s. acceleration: φ̈, m/s².
        out: (3,), time, earliest, latest, s; all infinite where there is no touchdown, latest infinite where it may not
            happen.
    """
    out[0] = first_root(gap, rate, acceleration)
    out[1] = out[0]
    out[2] = out[0]
    if math.isinf(out[0]):
        return
    for side in (-1.0, 1.0):
        t = out[0]
        for _ in range(2):
            if math.isinf(t):
                break
            drift = velocity_sigma * t
            bend = 0.5 * acceleration_sigma * t * t
            spread = sigmas * math.sqrt(gap_sigma * gap_sigma + drift * drift + bend * bend)
            t = first_root(gap + side * spread, rate, acceleration)
        if side < 0.0:
            out[1] = min(t, out[0])
        else:
            out[2] = max(t, out[0])


@kernel
def follow_line(dt, time_constant, measured, line):
    """Follow a signal by a fading-memory line (a critically damped g-h filter; Morrison 1969, ch. 13).

    Args:
        dt: s since the last sample. time_constant: s. measured: the sample.
        line: in and out (3,), value, rate (1/s), age (s). A negative age starts the line anew; dt ≤ 0 changes nothing
            else.
    """
    if line[2] < 0.0:
        line[0] = measured
        line[1] = 0.0
        line[2] = 0.0
        return
    if dt <= 0.0:
        return
    keep = math.exp(-dt / time_constant)
    ahead = line[0] + line[1] * dt
    error = measured - ahead
    line[0] = ahead + (1.0 - keep * keep) * error
    line[1] += (1.0 - keep) * (1.0 - keep) * error / dt
    line[2] += dt


@kernel
def is_too_far(gap, rate, most, t):
    """Whether a foot is too far up to be on the ground in ``t`` s, which may be infinite, at the acceleration ``most``
    (m/s², less than zero: downwards)."""
    return t < math.inf and gap + (rate + 0.5 * most * t) * t > 0.0


@kernel
def next_events(
    # bounds:
    sigmas, gap_sigma, velocity_sigma, acceleration_sigma,
    # problem:
    force_sigma, horizon, time_constant, weight, dt, closed, slipping, friction, gap, rate, speed, load, margin,
    accelerations, slip_acceleration, expected,
    # scratch:
    found, due,
    # out:
    lines, kind, backed, times,
):  # fmt: skip
    """The next event of every contact within ``horizon``, and when.

    An open contact touches down where the second-order extrapolation of its gap is zero. A closed one lifts off where
    the recent line of its load falls to zero. Where no liftoff is near, it slips where the line of its friction margin
    falls to zero, or, if it slides, sticks where its speed does at its present deceleration. The liftoff is looked for
    first because a foot that is unloaded nearly always slips a moment before it leaves. Forces are used only where
    efforts have a ``weight`` of at least a half, and always by their lines: the forces of a single state chatter, and
    each dip would foretell a liftoff.

    Where the rhythm of the gait foretells an event, a touchdown is where both agree (:mod:`.event_rhythm`), or where
    the rhythm says if the extrapolation does not come down within ``horizon``; a liftoff is where the rhythm says,
    because a load tells of it only shortly before.

    The arguments are the members of :class:`~.records.TimeBounds`, :class:`EventProblem`, :class:`EventScratch` and
    :class:`EventOut`, where their shapes and units are.
    """
    bounds = TimeBounds(sigmas, gap_sigma, velocity_sigma, acceleration_sigma)
    problem = EventProblem(
        force_sigma, horizon, time_constant, weight, dt, closed, slipping, friction, gap, rate, speed, load, margin,
        accelerations, slip_acceleration, expected,
    )  # fmt: skip
    scratch = EventScratch(found, due)
    out = EventOut(lines, kind, backed, times)
    for i in range(gap.shape[0]):
        kind[i] = _NONE
        times[i, 0] = math.inf
        rhythm_alone = False
        if closed[i]:
            _next_of_closed(i, bounds, problem, scratch, out)
        else:
            lines[i, 0, 2] = -1.0
            lines[i, 1, 2] = -1.0
            rhythm_alone = _next_of_open(i, bounds, problem, scratch, out)
        if not times[i, 0] <= horizon:
            kind[i] = _NONE
            times[i, 0] = math.nan
            times[i, 1] = math.nan
            times[i, 2] = math.nan
        backed[i] = _NONE if rhythm_alone else kind[i]


@kernel
def _next_of_open(i, bounds, problem, scratch, out):
    """The touchdown of open contact i; whether nothing but the rhythm foretells it."""
    found, due = scratch.found, scratch.due
    gap, rate, acceleration = problem.gap[i], problem.rate[i], problem.accelerations[i, 0]
    touchdown_time(
        bounds.sigmas,
        bounds.gap_sigma[i],
        bounds.velocity_sigma[i],
        bounds.acceleration_sigma,
        gap,
        rate,
        acceleration,
        found,
    )
    if found[0] > problem.horizon:  # An extrapolation that far says nothing.
        found[:] = math.inf
    not_yet(problem.expected[i, 0], due)
    if is_too_far(gap, rate, acceleration - ABRUPT, due[2]):
        due[:] = math.inf
    rhythm_alone = agree(due, found)
    _take_earlier(_TOUCHDOWN, i, found, out.kind, out.times)
    return rhythm_alone


@kernel
def _next_of_closed(i, bounds, problem, scratch, out):
    """The liftoff of closed contact i, or else its slip or stick."""
    found, due, kind, times = scratch.found, scratch.due, out.kind, out.times
    load, margin = out.lines[i, 0], out.lines[i, 1]
    force_spread = bounds.sigmas * problem.force_sigma
    horizon, time_constant, trusted = problem.horizon, problem.time_constant, problem.weight[i] >= BELIEVED
    if trusted:
        follow_line(problem.dt, time_constant, problem.load[i], load)
        follow_line(problem.dt, time_constant, problem.margin[i], margin)
        if load[2] > SETTLED * time_constant:
            _decline(load[0], load[1], force_spread, found)
            if found[0] <= _REACH * time_constant:
                _take_earlier(_LIFTOFF, i, found, kind, times)
    not_yet(problem.expected[i, 1], due)
    if due[0] < math.inf:
        times[i, 0] = math.inf
        _take_earlier(_LIFTOFF, i, due, kind, times)
    if not trusted or problem.friction[i] <= 0.0:
        return
    lifts = times[i, 0] <= min(horizon, _REACH * time_constant)
    if not lifts and not problem.slipping[i] and margin[2] > SETTLED * time_constant:
        _decline(margin[0], margin[1], force_spread, found)
        if found[0] <= _REACH * time_constant:
            _take_earlier(_SLIP, i, found, kind, times)
    if problem.slipping[i] and not times[i, 0] <= horizon:
        _decline(problem.speed[i], problem.slip_acceleration[i], bounds.sigmas * bounds.velocity_sigma[i], found)
        _take_earlier(_STICK, i, found, kind, times)


@kernel
def _decline(level, rate, spread, out):
    """Time at which ``level`` falls to zero at ``rate``, with bounds from ± ``spread``; infinite where it does not."""
    out[0] = math.inf
    if level <= 0.0:
        out[0] = 0.0
    elif rate < 0.0:
        out[0] = -level / rate
    out[1] = out[0]
    out[2] = out[0]
    if math.isinf(out[0]):
        return
    out[1] = max(0.0, level - spread) / -rate if rate < 0.0 else 0.0
    out[2] = max(0.0, level + spread) / -rate if rate < 0.0 else math.inf


@kernel
def _take_earlier(event, i, found, kind, times):
    """Make ``found`` the event of contact i if it comes before the one that is there."""
    if found[0] < times[i, 0]:
        kind[i] = event
        for k in range(3):
            times[i, k] = found[k]
