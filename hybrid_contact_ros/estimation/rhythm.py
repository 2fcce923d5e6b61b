"""When a foot of a steady gait will next touch or leave the ground: one stride after it last did."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.prediction import Event

Array = NDArray[np.float64]

# A stride has at most this many touchdowns, or liftoffs, of one contact: a foot may skim the ground on its way.
_EVENTS_PER_STRIDE = 4
_COMPARED = 8  # intervals that tell how much a gait jitters
# Two strides are the same if they differ by no more than this many s, plus this part of the stride.
_DIFFERENCE, _DIFFERENCE_PART = 0.01, 0.05
_LONGEST_STRIDE = 5.0  # s
# s: events are detected to a sample, and a time that they foretell is no more certain than this.
_TIME_SIGMA = 0.001
# A standard deviation from n differences is widened by the factor 1 + _FEW_DIFFERENCES / n², close to what Student's t
# demands at 95 %.
_FEW_DIFFERENCES = 3.0
# A foot that opens or closes for less than this bounces, or its sensors flicker.
_FLICKER_NS = 30_000_000


class StrideRhythm:
    """Touchdowns and liftoffs foretold from the strides before.

    Forces alone do not show what a controller will do next, but a gait repeats itself. Where the last j intervals
    between the events t_k of a contact equal the j intervals before them (for the least such j up to 4), the next event
    is at t_{n+1} = t_{n+1−j} + T, with T the mean length of these two strides. Two strides must have been seen, and
    their intervals must agree within 10 ms plus 5 % of a stride. The standard deviation is the root mean square of the
    differences between the last eight intervals and those a stride before, as far back as they agree, widened where
    these are few. An event that does not come in its bounds is no longer expected, and the next one that comes too
    early or too late ends the rhythm until two strides agree again. Openings and closings of less than 30 ms are left
    out.

    Attributes:
        due: (m, 2, 3), the next touchdown and the next liftoff of each contact: time, earliest and latest, s after the
            origin, which is the first event; infinite where no steady stride tells. The same array for good.
    """

    def __init__(self, contacts: int, sigmas: float) -> None:
        self._contacts, self._sigmas = contacts, sigmas
        self.due = np.full((contacts, 2, 3), np.inf)
        self.reset()

    def reset(self) -> None:
        """Forget all events."""
        self._seen = [
            deque[tuple[int, bool]](maxlen=2 * (_COMPARED + _EVENTS_PER_STRIDE + 1)) for _ in range(self._contacts)
        ]
        self._undone: list[tuple[int, bool | None]] = [(0, None)] * self._contacts  # the last event that was taken back
        self.due.fill(np.inf)
        self._origin_ns: int | None = None  # of seconds: float64 would not hold a stamp in s to the microsecond

    def note(self, event: Event) -> None:
        """Learn from an event that was detected, the next in time; slips and sticks are of no interest."""
        if event.kind not in (EventKind.TOUCHDOWN, EventKind.LIFTOFF):
            return
        if self._origin_ns is None:
            self._origin_ns = event.time_ns
        seen, lifts = self._seen[event.contact], event.kind == EventKind.LIFTOFF
        taken, undone = self._undone[event.contact]
        if seen and event.time_ns - seen[-1][0] < _FLICKER_NS:
            self._undone[event.contact] = seen.pop()
        elif undone is lifts and event.time_ns - taken < _FLICKER_NS:
            # A foot that bounces has touched at first, and one that skims the ground before it rises has left at last.
            seen.append((event.time_ns if lifts else taken, lifts))
        else:
            seen.append((event.time_ns, lifts))
        for kind in (False, True):
            times = [1e-9 * (t - self._origin_ns) for t, lifted in seen if lifted is kind]
            self.due[event.contact, int(kind)] = self._next(times)

    def elapsed(self, stamp_ns: int) -> float:
        """The time (s) from the origin of :attr:`due` to a stamp."""
        return 0.0 if self._origin_ns is None else 1e-9 * (stamp_ns - self._origin_ns)

    def _next(self, times: list[float]) -> tuple[float, float, float]:
        """The time after these times (s) of one kind of event, with its bounds; infinite where no rhythm is."""
        for j in range(1, (len(times) - 1) // 2 + 1):
            stride = 0.5 * (times[-1] - times[-1 - 2 * j])
            if stride > _LONGEST_STRIDE:
                break
            squares, limit = [], _DIFFERENCE + _DIFFERENCE_PART * stride
            for k in range(1, min(len(times) - j, _COMPARED + 1)):  # as far back as strides agree
                apart = times[-k] - times[-k - 1] - times[-k - j] + times[-k - j - 1]
                if abs(apart) > limit:
                    break
                squares.append(apart * apart)
            if len(squares) >= j:
                time = times[-j] + stride
                few = 1.0 + _FEW_DIFFERENCES / len(squares) ** 2
                spread = self._sigmas * (few * math.sqrt(sum(squares) / len(squares)) + _TIME_SIGMA)
                return time, time - spread, time + spread
        return np.inf, np.inf, np.inf
