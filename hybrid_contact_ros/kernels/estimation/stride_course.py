"""Where in its last stride a robot is now: the course of all joints is compared with itself, one stride ago.

A gait repeats itself, but not by the clock: its period changes, and its feet stay on the ground for a longer or a
shorter part of it. The motion of all joints tells how far a stride is. With x(t) the joint positions, joint velocities
and turning rates of the base, x(t) ≈ x(t − L): the lag L and its rate are followed by an extended Kalman filter whose
measurement is the whole of x, each signal weighted by how well it repeated itself so far. It needs no forces and no
position of the base. What followed one stride ago, L later, is then known (:mod:`.stride_events`).

A lag is first tried when a contact touches or leaves: the time since it last did. It is taken where the last part of
the course looks like the same part a stride ago, and given up where it no longer does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.records import Array, Indices

KEPT = 2048
"""Samples of the course that are remembered."""
SPACING = 0.002
"""s, between two of them at least."""
SHORTEST, LONGEST = 0.15, 3.5
"""s, of a stride."""
EVENTS = 16
"""Touchdowns and liftoffs that are remembered of each contact."""
LAG, DRIFT, LAG_VARIANCE, COVARIANCE, DRIFT_VARIANCE, TRACKED, MISMATCH, LASTING = range(8)
"""Of ``lag``: L, s; dL/dt; their covariance; whether L is followed (1) or not (0); mean squares of the normed
differences, of the last 12 ms and of the last 50 ms."""
NUMBERS = 8
COUNT, PLACE, ORIGIN, POSITIONS, USED = range(5)
"""Of ``place``: samples that are kept, where the next one goes, the stamp (ns) that times count from, p, and whether a
course is wanted."""

_WALK = 0.1  # 1/s: the rate of the lag is a random walk of this variance a second
_LAG_WALK = 1e-5  # s: and so is the lag itself
_MEMORY = 0.03  # s: differences of states that are less apart are of one another's making
_RECALL = 0.5  # s, over which differences are averaged
_QUICK, _SLOW = 0.012, 0.05  # s, the same for the mean squares that tell of a change
_LOST = 6.0  # a mean square of normed differences, for so long, that no stride like the last one has
_ALWAYS = 0.01  # of a signal's variance: no stride repeats another one any better
_FAR = 9.0  # a squared difference counts in full up to this
_FASTEST = 0.45  # no stride is faster or slower than the one before by more than this part


class StrideCourse(NamedTuple):
    """What is remembered of s signals and m contacts. A sample of the past has the place (oldest + k) % KEPT."""

    configuration: Array  # (nq,), of the present state, and velocity (nv,)
    velocity: Array
    times: Array  # (KEPT,), s after the origin
    signals: Array  # (KEPT, s): p joint positions, then velocities of which the last p are theirs
    heights: Array  # (KEPT, m), m, of the contact points along their normals
    place: Indices  # (5,)
    now: Array  # (s,), the signals of the present state
    past: Array  # (2, s), signals a stride ago, and how they changed, 1/s
    noise: Array  # (3, s), variance of what does not repeat itself, mean, and variance about it
    lag: Array  # (NUMBERS,)
    events: Array  # (m, EVENTS), s, times of touchdowns and liftoffs in turn, the newest last
    lifted: Indices  # (m, EVENTS), 1 for liftoffs, 0 for touchdowns, −1 for none
    undone: Array  # (m, 3), of the event taken back last: s, 1 or 0, and s, when it was


@kernel
def follow_course(dt, stamp, first, normals, position, beside, course):
    """Take one state, and follow the lag.

    Args:
        dt: s since the last state. stamp: ns. first: whether there is none before.
        normals: (m, 3). position: (m, 3), m, contact points. beside: (m,), m, by which noise lowers them along these.
        course: in and out, StrideCourse.

    Returns:
        The time of the state, s after the origin.
    """
    place, lag = course.place, course.lag
    if first or dt > LONGEST_PAUSE:
        place[COUNT] = place[PLACE] = 0
        place[ORIGIN] = stamp
        lag[LAG] = lag[TRACKED] = 0.0
        course.lifted[:] = -1
        course.undone[:] = -1.0
    now = 1e-9 * (stamp - place[ORIGIN])
    if dt > 0.0 or place[COUNT] == 0:
        _signals(course)
        if lag[TRACKED] > 0.0:
            _follow_lag(dt, now, course)
        _keep(now, normals, position, beside, course)
    return now


@kernel
def _signals(course):
    """Write those of the present state."""
    q, v, now, p = course.configuration, course.velocity, course.now, course.place[POSITIONS]
    rest = now.shape[0] - p
    for k in range(p):
        now[k] = q[q.shape[0] - p + k]
    for k in range(rest):
        now[p + k] = v[v.shape[0] - rest + k]


@kernel
def _keep(now, normals, position, beside, course):
    """Remember the present state, if the last one that is remembered is old enough."""
    place, times = course.place, course.times
    if place[COUNT] > 0 and now - times[(place[PLACE] - 1) % KEPT] < 0.99 * SPACING:
        return
    here = place[PLACE]
    times[here] = now
    for k in range(course.now.shape[0]):
        course.signals[here, k] = course.now[k]
    for i in range(position.shape[0]):
        height = beside[i]
        for c in range(3):
            height += normals[i, c] * position[i, c]
        course.heights[here, i] = height
    place[PLACE] = (here + 1) % KEPT
    place[COUNT] = min(place[COUNT] + 1, KEPT)


@kernel
def before(time, course):
    """Which sample is the last one at or before ``time``, counted from the oldest; −1 where there is none."""
    low, high = -1, course.place[COUNT]
    oldest = course.place[PLACE] - course.place[COUNT]
    while high - low > 1:
        middle = (low + high) // 2
        if course.times[(oldest + middle) % KEPT] <= time:
            low = middle
        else:
            high = middle
    return low


@kernel
def recall(time, course):
    """Write the signals at a time of the past, and their rates: of positions the velocities, of velocities the slope
    over some 14 ms. Returns whether that time is remembered."""
    k, count = before(time, course), course.place[COUNT]
    if k < 3 or k + 4 >= count:
        return False
    oldest = course.place[PLACE] - count
    a, b = (oldest + k) % KEPT, (oldest + k + 1) % KEPT
    early, late = (oldest + k - 3) % KEPT, (oldest + k + 4) % KEPT
    t0, t1 = course.times[a], course.times[b]
    share = (time - t0) / (t1 - t0)
    span = course.times[late] - course.times[early]
    past, signals, s, p = course.past, course.signals, course.now.shape[0], course.place[POSITIONS]
    for j in range(s):
        past[0, j] = (1.0 - share) * signals[a, j] + share * signals[b, j]
        past[1, j] = (signals[late, j] - signals[early, j]) / span
    for j in range(p):
        past[1, j] = past[0, s - p + j]
    return True


@kernel
def _follow_lag(dt, now, course):
    """The Kalman filter of lag and drift; it gives up where the course is no longer like the last stride."""
    lag, noise, s = course.lag, course.noise, course.now.shape[0]
    lag[LAG] += lag[DRIFT] * dt
    lag[LAG_VARIANCE] += dt * (2.0 * lag[COVARIANCE] + dt * lag[DRIFT_VARIANCE] + _LAG_WALK)
    lag[COVARIANCE] += dt * lag[DRIFT_VARIANCE]
    lag[DRIFT_VARIANCE] += _WALK * dt
    if not recall(now - lag[LAG], course):
        lag[TRACKED] = 0.0
        return
    p = course.place[POSITIONS]
    rate = 1.0 - lag[DRIFT]
    information = pull = mismatch = 0.0
    for k in range(s):
        scale = 1.0 if k < p else rate  # the same way, walked faster
        difference = course.now[k] - scale * course.past[0, k]
        variance = noise[0, k] + _ALWAYS * noise[2, k]
        squared = difference * difference / variance
        mismatch += min(squared, 10.0 * _FAR)
        weight = 1.0 / variance if squared <= _FAR else math.sqrt(_FAR / squared) / variance
        slope = -scale * course.past[1, k]
        information += weight * slope * slope
        pull += weight * slope * difference
        new = min(dt / _RECALL, 1.0)
        noise[0, k] += new * (min(difference * difference, _FAR * variance) - noise[0, k])
        apart = course.now[k] - noise[1, k]
        noise[1, k] += new * apart
        noise[2, k] += new * (apart * apart - noise[2, k])
    lag[MISMATCH] += min(dt / _QUICK, 1.0) * (mismatch / s - lag[MISMATCH])
    lag[LASTING] += min(dt / _SLOW, 1.0) * (mismatch / s - lag[LASTING])
    part = min(dt / _MEMORY, 1.0)
    measure_lag(part * pull, part * information, lag)
    good = SHORTEST <= lag[LAG] <= LONGEST and abs(lag[DRIFT]) <= _FASTEST
    if not good or lag[LASTING] > _LOST:
        lag[TRACKED] = 0.0


@kernel
def measure_lag(pull, information, lag):
    """The update by a lag that is off by ``pull`` / ``information``, with the variance 1 / ``information``."""
    total = 1.0 + lag[LAG_VARIANCE] * information
    gain_lag, gain_drift = lag[LAG_VARIANCE] / total, lag[COVARIANCE] / total
    lag[LAG] += gain_lag * pull
    lag[DRIFT] += gain_drift * pull
    lag[DRIFT_VARIANCE] -= gain_drift * information * lag[COVARIANCE]
    lag[COVARIANCE] -= gain_drift * information * lag[LAG_VARIANCE]
    lag[LAG_VARIANCE] -= gain_lag * information * lag[LAG_VARIANCE]
