"""Touchdowns and liftoffs as they followed one stride ago.

The course of the robot has a place in its last stride (:mod:`.stride_course`). What came after that place then comes
after it now, at the present rate of progress. A touchdown is where the foot meets the ground on the path that it took
a stride ago, moved to where the foot is now: ground that is higher or lower is met earlier or later on the same path.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.stride_course import (
    COUNT,
    COVARIANCE,
    DRIFT,
    DRIFT_VARIANCE,
    EVENTS,
    KEPT,
    LAG,
    LAG_VARIANCE,
    LASTING,
    MISMATCH,
    PLACE,
    TRACKED,
    before,
)

DOUBTED = 5.0
"""Mean square of normed differences over 12 ms, beyond which the last stride foretells nothing."""
_UNLIKE = 4.0  # the same over 50 ms
_SPREAD = 0.002  # s: steps of one gait differ by as much
_OVERDUE_SPREADS, _OVERDUE_LEFT = 3.0, 0.3  # an event may be later by so many deviations, and comes then in so many
_LATE_PART = 0.5  # of a swing, in which a foot comes down
_OVERDUE = 0.03  # s, by which an event may be later than a stride ago


@kernel
def followed(lag):
    """Whether the lag is followed, and believed."""
    return lag[TRACKED] > 0.0 and lag[MISMATCH] <= DOUBTED and lag[LASTING] <= _UNLIKE


@kernel
def has_landed(i, course):
    """Whether the last event of contact i that is sure is a touchdown. One that is open then has rebounded, or has just
    left: its touchdown of this stride is over."""
    return course.lifted[i, EVENTS - 1] == 0


@kernel
def event_after(i, lifts, now, course):
    """When contact i next touches (``lifts`` 0) or leaves (1), as it did after the same place of the last stride.

    Returns:
        s from now, and its standard deviation; infinite where nothing tells.
    """
    lag = course.lag
    if not followed(lag):
        return math.inf, math.inf
    then, rate = now - lag[LAG], 1.0 - lag[DRIFT]
    times, lifted = course.events[i], course.lifted[i]
    came = times[EVENTS - 1] - lag[LAG] + _OVERDUE if lifts == 0 and has_landed(i, course) else -math.inf
    for k in range(EVENTS):
        if lifted[k] != lifts or times[k] < then - _OVERDUE or times[k] < came:
            continue
        left = (times[k] - then) / rate
        if left < 0.0 and k + 1 < EVENTS and lifted[k + 1] >= 0 and times[k + 1] - then < then - times[k]:
            continue  # it is nearer to the end of the phase that this event began
        spread = spread_after(max(left, 0.0), lag)
        if left < -_OVERDUE_SPREADS * spread:
            break
        return max(left, _OVERDUE_LEFT * spread), spread
    return math.inf, math.inf


@kernel
def spread_after(left, lag):
    """Standard deviation (s) of an event that is ``left`` s away by the last stride."""
    rate = 1.0 - lag[DRIFT]
    variance = lag[LAG_VARIANCE] + 2.0 * left * lag[COVARIANCE] + left * left * lag[DRIFT_VARIANCE]
    return math.sqrt(max(variance, 0.0) / (rate * rate) + _SPREAD * _SPREAD)


@kernel
def touchdown_on_path(i, now, horizon, gap, speed, course):
    """When contact i meets the ground on the path of its last swing, s from now; infinite where it does not.

    Args:
        gap: m, of the path's place now, as :func:`path_gap` smooths it. speed: m/s, by which the gap changes faster
            than on that path.
    """
    lag = course.lag
    if not followed(lag) or has_landed(i, course):
        return math.inf
    then, rate = now - lag[LAG], 1.0 - lag[DRIFT]
    times, lifted = course.events[i], course.lifted[i]
    landed = begun = math.inf
    for k in range(1, EVENTS):
        if lifted[k] == 0 and times[k] > then - _OVERDUE and lifted[k - 1] == 1:
            landed, begun = times[k], times[k - 1]
            break
    if math.isinf(landed):
        return math.inf
    height, _ = height_then(i, then, course)
    if math.isnan(height):
        return math.inf
    count = course.place[COUNT]
    oldest = course.place[PLACE] - count
    last, last_left, slope = gap, 0.0, 0.0
    for k in range(before(then, course) + 1, count):
        here = (oldest + k) % KEPT
        left = (course.times[here] - then) / rate
        if course.times[here] > landed - 0.003 or left > horizon:
            break
        level = gap + course.heights[here, i] - height + speed * left
        slope = (level - last) / max(left - last_left, 1e-4)
        if level <= 0.0 and slope < 0.0 and course.times[here] > landed - _LATE_PART * (landed - begun):
            return last_left + (left - last_left) * last / max(last - level, 1e-9)
        last, last_left = level, left
    _, rate_then = height_then(i, min(landed - 0.008, then) if then > landed - 0.012 else landed - 0.008, course)
    slope = rate_then * rate + speed
    if slope >= -1e-3 or math.isnan(slope):
        return math.inf
    left = last_left - last / slope
    return left if left <= horizon else math.inf


@kernel
def height_then(i, time, course):
    """Height (m) of contact i at a time of the past and its rate over 8 ms, m/s; NaN where that is not remembered."""
    count = course.place[COUNT]
    k = before(time, course)
    if k < 2 or k + 3 >= count:
        return math.nan, math.nan
    oldest = course.place[PLACE] - count
    a, b = (oldest + k) % KEPT, (oldest + k + 1) % KEPT
    early, late = (oldest + k - 2) % KEPT, (oldest + k + 2) % KEPT
    t = course.times
    share = (time - t[a]) / (t[b] - t[a])
    # The mean of five samples, moved to the time by their slope, would be steadier; two are nearer to a strike.
    height = (1.0 - share) * course.heights[a, i] + share * course.heights[b, i]
    slope = (course.heights[late, i] - course.heights[early, i]) / (t[late] - t[early])
    return height, slope
