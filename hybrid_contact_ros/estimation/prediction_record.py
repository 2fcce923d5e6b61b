"""What became of the predictions that were told: how often the event came within its bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.prediction import Event

# ns: a prediction without a latest time has failed when nothing came this long after its time
_PATIENCE = 1_000_000_000
_PENDING = 64  # of one contact, that may wait for their event
_RECENT = 100  # settled ones of a kind that count
_LATE = 20_000_000  # ns: a detection may need this long to be told


class PredictionRecord:
    """The share of the recent predictions of each kind, of all contacts together, that came true within their bounds.

    True is what was detected afterwards: an event of that kind and contact, dated within the bounds. The share is that
    of Laplace, (s + 1) / (n + 2) of the last 100: one half while nothing is known. It needs no tuning, and follows the
    robot, its ground and its noise; but what is detected is not the truth, so that it is not calibrated against that.
    """

    def __init__(self, contacts: int) -> None:
        self._settled = {kind: deque[bool](maxlen=_RECENT) for kind in EventKind}
        self._pending = [deque[tuple[EventKind, int, int, int]](maxlen=_PENDING) for _ in range(contacts)]

    def tell(self, contact: int, kind: EventKind, time_ns: int, earliest_ns: int, latest_ns: int) -> float:
        """Note a prediction; returns the share of its kind so far."""
        self._pending[contact].append((kind, earliest_ns, latest_ns, min(latest_ns, time_ns + _PATIENCE)))
        settled = self._settled[kind]
        return (sum(settled) + 1.0) / (len(settled) + 2.0)

    def settle(self, stamp_ns: int, detected: Iterable[Event]) -> None:
        """Settle by the events detected at a state, and by what did not come until then."""
        for event in detected:
            waiting = self._pending[event.contact]
            for _ in range(len(waiting)):
                kind, earliest, latest, until = waiting.popleft()
                if kind == event.kind:
                    self._settled[kind].append(earliest <= event.time_ns <= latest)
                else:
                    waiting.append((kind, earliest, latest, until))
        for waiting in self._pending:
            while waiting and waiting[0][3] + _LATE < stamp_ns:
                self._settled[waiting.popleft()[0]].append(False)
