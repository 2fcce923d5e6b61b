"""When a contact touches, leaves, slips or sticks, by extrapolation from one state."""

from __future__ import annotations

import math

from numba import njit

from hybrid_contact_ros.kernels.algebra.quadratic import first_root
from hybrid_contact_ros.kernels.estimation.event_rhythm import agree, not_yet

# The values of prediction.EventKind
_NONE, _TOUCHDOWN, _LIFTOFF, _SLIP, _STICK = 0, 1, 2, 3, 4
# A line through the recent past is extended into the future by at most this many of its time constants.
_REACH = 3.0
_ABRUPT = 100.0  # m/s²: a foot's acceleration does not change by more, unless it strikes something


@njit(cache=True, nogil=True)
def touchdown_time(sigmas, gap_sigma, velocity_sigma, acceleration_sigma, gap, rate, acceleration, out):
    """Touchdown under a parabola, with bounds.

    The gap at time t is uncertain by √(σ_φ² + σ_φ̇² t² + ¼ σ_φ̈² t⁴); the bounds are where the parabola shifted by
    ``sigmas`` of it crosses zero, found from the spread at the nominal time and once again from that at the bound.

    Args:
        out: (3,), time, earliest, latest, s; all infinite where there is none, latest where it may not happen.
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


@njit(cache=True, nogil=True)
def follow_line(dt, time_constant, measured, track):
    """Fading-memory line through a signal (a critically damped g-h filter; Morrison 1969, ch. 13).

    Args:
        dt: s since the last sample. time_constant: s. measured: the sample.
        track: in and out (3,), value, rate, age (s); a negative age starts anew, dt ≤ 0 changes nothing else.
    """
    if track[2] < 0.0:
        track[0] = measured
        track[1] = 0.0
        track[2] = 0.0
        return
    if dt <= 0.0:
        return
    keep = math.exp(-dt / time_constant)
    ahead = track[0] + track[1] * dt
    error = measured - ahead
    track[0] = ahead + (1.0 - keep * keep) * error
    track[1] += (1.0 - keep) * (1.0 - keep) * error / dt
    track[2] += dt


@njit(cache=True, nogil=True)
def _decline(level, rate, spread, out):
    """Time at which ``level`` falls to zero at ``rate`` with bounds from ± ``spread``; infinite where it does not."""
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


@njit(cache=True, nogil=True)
def next_events(
    horizon,
    sigmas,
    time_constant,
    gap_sigma,
    velocity_sigma,
    acceleration_sigma,
    force_sigma,
    trusted,
    dt,
    closed,
    slipping,
    friction,
    gap,
    rate,
    speed,
    load,
    margin,
    accelerations,
    slip_rate,
    expected,
    tracks,
    scratch,
    due,
    kind,
    backed,
    times,
):
    """The next event of every contact within ``horizon`` s, and when.

    Open contacts: touchdown under the second-order extrapolation of the gap. Closed ones: liftoff (their load falls to
    zero along its recent line); where none is near, the first of slip (a sticking contact's friction margin falls to
    zero) and stick (a sliding contact's speed does, at its present deceleration): a foot that is unloaded nearly always
    slips a moment before it leaves, which would hide the liftoff. Forces are used only where efforts are ``trusted``,
    and level and rate both from the lines: those of a single state chatter, and each dip would foretell a liftoff.

    Where the rhythm of the gait foretells an event, a touchdown is where both agree, or where the rhythm says if the
    extrapolation does not come down within ``horizon``; a liftoff is where the rhythm says: a load tells of it only
    shortly before.

    Args:
        sigmas: of the bounds, in standard deviations gap_sigma (m,) m, velocity_sigma (m,) m/s, acceleration_sigma
            m/s², force_sigma N. time_constant: s, memory of the lines. dt: s since the last state; ≤ 0 for none.
        closed, slipping (m,) uint8; friction, gap, rate, speed, load, margin (m,); accelerations (m, 1 + d), normal
        first; slip_rate (m,): d‖v_t‖/dt, m/s².
        expected (m, 2, 3): touchdowns and liftoffs that the rhythm of the gait foretells: time, earliest, latest, s;
        infinite for none.
        tracks: in and out (m, 2, 3), the lines of load and margin. scratch, due: (3,), scratch.
        kind: out (m,) uint8, values of EventKind. times: out (m, 3), time, earliest, latest; NaN for NONE.
        backed: out (m,) uint8, kind without the touchdowns that nothing but the rhythm foretells: at these the
        extrapolated state does not touch.
    """
    for i in range(gap.shape[0]):
        kind[i] = _NONE
        times[i, 0] = math.inf
        alone = False
        if not closed[i]:
            tracks[i, 0, 2] = -1.0
            tracks[i, 1, 2] = -1.0
            touchdown_time(
                sigmas,
                gap_sigma[i],
                velocity_sigma[i],
                acceleration_sigma,
                gap[i],
                rate[i],
                accelerations[i, 0],
                scratch,
            )
            if scratch[0] > horizon:  # nobody extrapolates that far
                scratch[:] = math.inf
            not_yet(expected[i, 0], due)
            t = due[2]
            if t < math.inf and gap[i] + (rate[i] + 0.5 * (accelerations[i, 0] - _ABRUPT) * t) * t > 0.0:
                due[:] = math.inf  # it is still too far up
            alone = agree(due, scratch)
            _take(_TOUCHDOWN, i, scratch, kind, times)
        else:
            if trusted:
                follow_line(dt, time_constant, load[i], tracks[i, 0])
                follow_line(dt, time_constant, margin[i], tracks[i, 1])
                if tracks[i, 0, 2] > 2.0 * time_constant:
                    _decline(tracks[i, 0, 0], tracks[i, 0, 1], sigmas * force_sigma, scratch)
                    if scratch[0] <= _REACH * time_constant:
                        _take(_LIFTOFF, i, scratch, kind, times)
            not_yet(expected[i, 1], due)
            if due[0] < math.inf:
                times[i, 0] = math.inf
                _take(_LIFTOFF, i, due, kind, times)
            if trusted:
                lifts = times[i, 0] <= min(horizon, _REACH * time_constant)
                if not lifts and not slipping[i] and friction[i] > 0.0 and tracks[i, 1, 2] > 2.0 * time_constant:
                    _decline(tracks[i, 1, 0], tracks[i, 1, 1], sigmas * force_sigma, scratch)
                    if scratch[0] <= _REACH * time_constant:
                        _take(_SLIP, i, scratch, kind, times)
            if not times[i, 0] <= horizon and slipping[i] and friction[i] > 0.0 and trusted:
                _decline(speed[i], slip_rate[i], sigmas * velocity_sigma[i], scratch)
                _take(_STICK, i, scratch, kind, times)
        if not times[i, 0] <= horizon:
            kind[i] = _NONE
            times[i, 0] = math.nan
            times[i, 1] = math.nan
            times[i, 2] = math.nan
        backed[i] = _NONE if alone else kind[i]


@njit(cache=True, nogil=True)
def _take(event, i, found, kind, times):
    if found[0] < times[i, 0]:
        kind[i] = event
        for k in range(3):
            times[i, k] = found[k]
