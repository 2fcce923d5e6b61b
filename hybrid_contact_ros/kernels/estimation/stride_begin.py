"""Touchdowns and liftoffs as they are remembered beside the course of a stride, and how a lag begins with them.

A lag is first tried when a contact touches or leaves: the time since it last did. Where one is followed, that time is a
measurement of it.
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
    LONGEST,
    MISMATCH,
    PLACE,
    POSITIONS,
    SHORTEST,
    TRACKED,
    before,
    measure_lag,
    recall,
)

_ALIKE = 0.35  # of a mean square speed: a course differs from one that is like it by no more
_COMPARED = 24  # samples of the last part of the course
_PART = 0.3  # of a stride, which is compared
_START_LAG, _START_DRIFT = 0.006, 0.1  # standard deviations at the beginning, s and 1
_EVENT_SIGMA = 0.003  # s, of a detected event
_FLICKER = 0.03  # s: what opens or closes for less than this bounces, or its sensors flicker
_LEAST = 1e-6  # variance of a signal, rad² or (rad/s)²


@kernel
def note_event(i, lifts, time, course):
    """Remember that contact i touched (``lifts`` 0) or left (1) at a time, s after the origin, and learn of the lag.

    Returns:
        Whether it is new: events that are less than 30 ms apart take each other back.
    """
    new = _note(i, lifts, time, course)
    if new:
        _try_lag(i, lifts, time, course)
    return new


@kernel
def _note(i, lifts, time, course):
    """Add an event of contact i; one that ends a flicker takes the one that began it back. Whether it is new."""
    times, lifted, undone, last = course.events[i], course.lifted[i], course.undone[i], EVENTS - 1
    since = undone[2] if undone[0] == times[last] else times[last]  # an event that was restored has bounced since
    if lifted[last] >= 0 and time - since < _FLICKER:
        undone[0], undone[1], undone[2] = times[last], lifted[last], time
        for k in range(last, 0, -1):
            times[k], lifted[k] = times[k - 1], lifted[k - 1]
        lifted[0] = -1
        return False
    new = True
    if undone[1] == lifts and time - undone[2] < _FLICKER:
        undone[2] = time
        time, new = undone[0], False  # the first of them was right, however often it bounced
    for k in range(last):
        times[k], lifted[k] = times[k + 1], lifted[k + 1]
    times[last], lifted[last] = time, lifts
    return new


@kernel
def _try_lag(i, lifts, time, course):
    """Compare the time since the same event of contact i with the lag, or begin with it."""
    times, lifted, lag = course.events[i], course.lifted[i], course.lag
    for k in range(EVENTS - 2, -1, -1):
        if lifted[k] < 0:
            return
        if lifted[k] != lifts:
            continue
        stride = time - times[k]
        if stride > LONGEST:
            return
        if stride < SHORTEST:
            continue
        if lag[TRACKED] > 0.0:
            apart = stride - lag[LAG]
            sigma = math.sqrt(lag[LAG_VARIANCE] + _EVENT_SIGMA * _EVENT_SIGMA)
            if abs(apart) <= 5.0 * sigma:
                information = 1.0 / (_EVENT_SIGMA * _EVENT_SIGMA)
                measure_lag(information * apart, information, lag)
            return
        if _alike(stride, course):
            lag[TRACKED], lag[LAG], lag[DRIFT], lag[MISMATCH], lag[LASTING] = 1.0, stride, 0.0, 1.0, 1.0
            lag[LAG_VARIANCE], lag[COVARIANCE] = _START_LAG**2, 0.0
            lag[DRIFT_VARIANCE] = _START_DRIFT**2
        return


@kernel
def _alike(stride, course):
    """Whether the last part of the course is like the same part a stride ago; then the noise is what differs."""
    count, s = course.place[COUNT], course.now.shape[0]
    oldest = course.place[PLACE] - count
    newest = course.times[(course.place[PLACE] - 1) % KEPT]
    noise, signals = course.noise, course.signals
    noise[:] = 0.0
    apart = whole = 0.0
    for n in range(_COMPARED):
        k = before(newest - _PART * stride * n / _COMPARED, course)
        here = (oldest + k) % KEPT
        if k < 0 or not recall(course.times[here] - stride, course):
            return False
        for j in range(s):
            difference = signals[here, j] - course.past[0, j]
            noise[0, j] += difference * difference / _COMPARED
            if j >= course.place[POSITIONS]:
                apart += difference * difference
                whole += 0.5 * (signals[here, j] ** 2 + course.past[0, j] ** 2)
    for n in range(_COMPARED):
        here = (oldest + max(before(newest - stride * n / _COMPARED, course), 0)) % KEPT
        for j in range(s):
            noise[1, j] += signals[here, j] / _COMPARED
            noise[2, j] += signals[here, j] ** 2 / _COMPARED
    for j in range(s):
        noise[2, j] = max(noise[2, j] - noise[1, j] ** 2, _LEAST)
    return apart <= _ALIKE * whole
