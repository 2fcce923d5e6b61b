"""When a foot of a steady gait will touch or leave the ground: as long after the last times as these were apart."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.prediction import Event

Array = NDArray[np.float64]

# Most touchdowns, or liftoffs, of one contact that make up a stride: a foot may skim the ground on its way.
_MOST = 4
_COMPARED = 8  # intervals that tell how much a gait jitters
# Two strides that differ by more than this, s plus a part of the stride, are not the same.
_DIFFER, _PART = 0.01, 0.05
_LONGEST = 5.0  # s, of a stride
# What is known of a time from times that are detected to a sample is no better than this, s.
_FLOOR = 0.001
_FEW = 3.0  # a standard deviation from n differences may be too small by 1 + this / n² (Student's t at 95 %)
# ns: a foot that opens or closes for less than this bounces, or its sensors flicker.
_FLICKER = 30_000_000


class StrideRhythm:
    """Touchdowns and liftoffs foretold from the strides before.

    Forces alone do not show what a controller will do next, but a gait repeats itself: events t_k of a contact whose
    last j intervals equal the j before them (for the least such j up to 4) go on with t_{n+1} = t_{n+1−j} + T, with T
    the mean length of these two strides. Two strides must have been seen, and their intervals agree within 10 ms plus
    5 % of a stride; the root mean square of what the last eight intervals differ by, as far back as they agree, is
    taken for the standard deviation, widened where these are few. An event that does not come in its bounds is no
    longer expected, and the next one that comes too early or too late ends the rhythm until two strides agree again.
    Openings and closings of less than 30 ms are left out.
    """

    def __init__(self, contacts: int, sigmas: float) -> None:
        self._contacts, self._sigmas = contacts, sigmas
        self.reset()

    def reset(self) -> None:
        """Forget all events."""
        self._seen = [deque[tuple[int, bool]](maxlen=2 * (_COMPARED + _MOST + 1)) for _ in range(self._contacts)]
        self._undone: list[tuple[int, bool | None]] = [(0, None)] * self._contacts  # the last that was taken back
        self._due = np.full((self._contacts, 2, 3), np.inf)  # s after the origin
        self._origin_ns: int | None = None  # of seconds: float64 would not hold a stamp in s to the microsecond

    def note(self, event: Event) -> None:
        """An event that was detected, the next in time; slips and sticks are of no interest."""
        if event.kind not in (EventKind.TOUCHDOWN, EventKind.LIFTOFF):
            return
        if self._origin_ns is None:
            self._origin_ns = event.time_ns
        seen, lifts = self._seen[event.contact], event.kind == EventKind.LIFTOFF
        taken, undone = self._undone[event.contact]
        if seen and event.time_ns - seen[-1][0] < _FLICKER:
            self._undone[event.contact] = seen.pop()
        elif undone is lifts and event.time_ns - taken < _FLICKER:
            seen.append((taken, lifts))  # what came first was right
        else:
            seen.append((event.time_ns, lifts))
        for kind in (False, True):
            times = [1e-9 * (t - self._origin_ns) for t, lifted in seen if lifted is kind]
            self._due[event.contact, int(kind)] = self._next(times)

    def ahead(self, stamp_ns: int) -> Array:
        """(m, 2, 3): the next touchdown and the next liftoff of each contact: time, earliest and latest, s after a
        stamp; infinite where no steady stride tells, negative where they should have been."""
        if self._origin_ns is None:
            return self._due
        return self._due - 1e-9 * (stamp_ns - self._origin_ns)

    def _next(self, times: list[float]) -> tuple[float, float, float]:
        for j in range(1, (len(times) - 1) // 2 + 1):
            stride = 0.5 * (times[-1] - times[-1 - 2 * j])
            if stride > _LONGEST:
                break
            squares, most = [], _DIFFER + _PART * stride
            for k in range(1, min(len(times) - j, _COMPARED + 1)):  # as far back as strides agree
                apart = times[-k] - times[-k - 1] - times[-k - j] + times[-k - j - 1]
                if abs(apart) > most:
                    break
                squares.append(apart * apart)
            if len(squares) >= j:
                time = times[-j] + stride
                few = 1.0 + _FEW / len(squares) ** 2
                spread = self._sigmas * (few * math.sqrt(sum(squares) / len(squares)) + _FLOOR)
                return time, time - spread, time + spread
        return np.inf, np.inf, np.inf
