"""The stamps of a stream: their order, jumps of their clock, the period of the stream, and messages that never came."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from typing import Any

from hybrid_contact_ros.messages.refusals import DoubtedError, RefusedError

_RUN = 10
"""This many odd stamps in a row, in order among themselves, mean that the clock was set (a recording starts over or is
wound forward, a simulator is reset). Fewer are stray messages or a second publisher."""
_SHORT_RUN = 3
"""So many are enough where they are off by :data:`_JUMP_NS` or more, for longer than two steps of the stream took."""
_PATIENCE = 1.5  # times the longest of the last steps: a second, faster publisher fits in between two messages
_JUMP_NS = 1_000_000_000
"""A step of the stamps that exceeds the step of the clock by this much is not a pause of the stream."""
_STEPS = 32  # the period is the median of this many steps between stamps
_EVERY = 8  # messages; the period is computed again after so many
_PAUSE_NS = 1_000_000_000  # a longer step is a pause, and tells nothing of the period
_WRITERS = 8  # publishers whose sequence numbers are remembered


def stamp_of(sec: int, nanosec: int) -> int:
    """A stamp in integer nanoseconds.

    Raises:
        RefusedError: ``invalid_stamp``.
    """
    if sec < 0 or not 0 <= nanosec < 1_000_000_000 or sec + nanosec == 0:
        raise RefusedError("invalid_stamp", f"sec {sec}, nanosec {nanosec}")
    return sec * 1_000_000_000 + nanosec


class StampOrder:
    """Lets stamps pass that go forward with the clock, and notices a clock that was set back or ahead.

    What a stamp that is off by a second or more means is known only when the next ones have come: the clock was set, or
    the message was a stray one. Such a message is doubted first, and counts as refused when it was a stray one.

    Of two clocks on one topic, the first one is believed, unless the other alone agrees with the time of reception.

    Attributes:
        last: the newest stamp that was let through, ns.
    """

    def __init__(self) -> None:
        self.last = 0
        self._received = 0
        self._odd = 0
        self._run = 0
        self._begun = 0  # the first stamp of the run
        self._off = False  # whether the stamp that was let through last was no time of reception
        self._agreed = self._between = 0  # odd stamps that were one, and stamps let through since the last of them
        self._steps: deque[int] = deque(maxlen=_EVERY)  # of the stamps that were let through
        self._doubted: list[RefusedError] = []
        self._strays: list[RefusedError] = []

    def check(self, stamp_ns: int, receive_ns: int) -> str | None:
        """None, or ``"clock_set_back"`` or ``"clock_set_ahead"`` when the clock was set to this stamp.

        Raises:
            RefusedError: ``repeated_stamp``, ``backward_stamp`` or ``stamp_jump``. The last one is there because a
                single stamp from far ahead must not make all that follow look old.
            DoubtedError: one of the last two, off by so much that the clock may have been set.
        """
        step = stamp_ns - self.last
        ahead = step - max(0, receive_ns - self._received)
        if step > 0 and (ahead <= _JUMP_NS or not self.last):
            if self.last:
                self._steps.append(step)
            self._settle()
            self._take(stamp_ns, receive_ns)
            self._between += 1
            return None
        if step == 0:
            raise RefusedError("repeated_stamp", f"{stamp_ns * 1e-9:.9f} s")
        if not self._run or stamp_ns <= self._odd:
            self._settle()
            self._run, self._begun = 0, stamp_ns
        self._run += 1
        self._odd = stamp_ns
        far = abs(step) >= _JUMP_NS
        lasting = bool(self._steps) and stamp_ns - self._begun >= _PATIENCE * max(self._steps)
        agrees = far and self._agrees(stamp_ns, receive_ns)
        if self._run >= _RUN or (far and self._run >= _SHORT_RUN and lasting) or agrees:
            self._doubted.clear()  # this is what was odd about them
            self._steps.clear()
            self._take(stamp_ns, receive_ns)
            return "clock_set_back" if step < 0 else "clock_set_ahead"
        reason = "backward_stamp" if step < 0 else "stamp_jump"
        off = f"{-step * 1e-9:.6f} s before the newest" if step < 0 else f"{step * 1e-9:.3f} s ahead of the one before"
        if not far:
            raise RefusedError(reason, off)
        self._doubted.append(DoubtedError(reason, off))
        raise self._doubted[-1]

    def strays(self) -> list[RefusedError]:
        """The doubted messages that have turned out to be stray ones since the last call."""
        found, self._strays = self._strays, []
        return found

    def set(self, stamp_ns: int) -> None:
        """The other stream's clock was set to this stamp: go on from about there."""
        about = stamp_ns - _JUMP_NS // 2
        if stamp_ns < self.last or (self.last and about > self.last):
            self.last = about
            self._run = 0
            self._doubted.clear()

    def _agrees(self, stamp_ns: int, receive_ns: int) -> bool:
        """Whether odd stamps are times of reception again and again, and those that are let through never are."""
        if not self._off or abs(stamp_ns - receive_ns) > _JUMP_NS:
            return False
        self._agreed = self._agreed + 1 if self._between <= _SHORT_RUN else 1
        self._between = 0
        return self._agreed >= _SHORT_RUN

    def _settle(self) -> None:
        """What was doubted until now was no jump of the clock."""
        if self._doubted:
            self._strays += self._doubted
            self._doubted = []

    def _take(self, stamp_ns: int, receive_ns: int) -> None:
        self.last, self._received, self._run = stamp_ns, receive_ns, 0
        self._off = abs(stamp_ns - receive_ns) > _JUMP_NS


class StreamRate:
    """How often a stream comes, and how many of its messages were lost on the way.

    The publishers' own sequence numbers, which Fast DDS hands out, make the count exact whatever the stream does.
    Without them gaps between stamps are counted: where a step of some k periods lies between two steps of about one
    period, k - 1 messages were lost. Nothing is counted where the stamps are irregular, at a pause of a second, or
    where the rate changes. Where many messages are lost this count is too small, because the stamps then do not tell
    the period.

    Attributes:
        received: number of messages noted.
        lost: number of messages that never came.
        exact: whether they were counted by sequence numbers.
        period_ns: period of the stream as it was sent, the median of the last steps, ns; 0 before it is known.
    """

    def __init__(self) -> None:
        self.received = self.lost = 0
        self.exact = False
        self.period_ns = 0
        self._numbers: dict[Any, int] = {}
        self._stamp = 0
        self._steps: list[int] = []
        self._regular = False
        self._before = self._step = 0

    def note(self, stamp_ns: int, number: int | None = None, writer: Any = None) -> None:
        """A message has come with this stamp. ``number`` is what its publisher counted, ``writer`` a key of the
        publisher."""
        self.received += 1
        missed = 0
        self.exact = number is not None
        if number is not None:
            last = self._numbers.get(writer)
            if last is None and len(self._numbers) >= _WRITERS:  # publishers come and go
                self._numbers.clear()
            if last is not None and number > last:
                missed = number - last - 1
                self.lost += missed
            self._numbers[writer] = number
        step, self._stamp = stamp_ns - self._stamp, stamp_ns
        if not 0 < step < _PAUSE_NS:
            self._before = self._step = 0
            return
        if not self.exact:
            self._weigh(step)
        self._steps.append(step // (missed + 1))
        if len(self._steps) > _STEPS:
            del self._steps[0]
        if self.received % _EVERY == 0:
            steps = sorted(self._steps)
            middle = len(steps) // 2
            self.period_ns = (steps[middle] + steps[~middle]) // 2  # the median
            low, high = 0.7 * self.period_ns, 1.3 * self.period_ns
            within = bisect_left(steps, high) - bisect_right(steps, low)
            self._regular = len(steps) >= _EVERY and within >= 0.6 * len(steps)

    def forget(self) -> None:
        """The stream starts anew. The counts stay."""
        self._numbers.clear()
        self._steps.clear()
        self._stamp = self._before = self._step = 0
        self._regular = False

    def _weigh(self, step: int) -> None:
        """Count what was lost in the step before this one, now that both its neighbours are known."""
        last, before = self._step, self._before
        self._before, self._step = last, step
        if not (self._regular and last and before):
            return
        low, high = 0.7 * self.period_ns, 1.3 * self.period_ns
        if last > 1.5 * self.period_ns and low < before < high and low < step < high:
            self.lost += round(last / self.period_ns) - 1
