"""How often the predictions that were told came true: the confidence of the next ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.prediction import Event

# A prediction without a latest time has failed when nothing came this long after its time.
_PATIENCE_NS = 1_000_000_000
_PENDING = 64  # predictions of one contact that may wait for their event
_RECENT = 100  # settled predictions of a kind that count
_NEVER_NS = 2**63 - 1
_DETECTION_NS = 20_000_000  # A detection may be told this long after its event.


class PredictionRecord:
    """The share of the recent predictions of each kind, of all contacts together, that came true within their bounds.

    A prediction came true if an event of its kind and contact was detected afterwards and dated within its bounds. With
    s of the last n ≤ 100 predictions true, the share is Laplace's (s + 1) / (n + 2), one half while nothing is known.
    It needs no tuning, and follows the robot, its ground and its noise; but detections are not the truth, against which
    it is therefore not calibrated.
    """

    def __init__(self, contacts: int) -> None:
        self._settled = {kind: deque[bool](maxlen=_RECENT) for kind in EventKind}
        self._pending = [deque[tuple[EventKind, int, int, int]](maxlen=_PENDING) for _ in range(contacts)]
        self._soonest_ns = _NEVER_NS  # before it no prediction's time has run out

    def tell(self, contact: int, kind: EventKind, time_ns: int, earliest_ns: int, latest_ns: int) -> float:
        """Note a prediction; the answer is the share of its kind so far."""
        self._pending[contact].append((kind, earliest_ns, latest_ns, min(latest_ns, time_ns + _PATIENCE_NS)))
        self._find_soonest()
        settled = self._settled[kind]
        return (sum(settled) + 1.0) / (len(settled) + 2.0)

    def settle(self, stamp_ns: int, detected: Sequence[Event]) -> None:
        """Settle predictions by the events detected at a state, and those whose time has run out."""
        if not detected and stamp_ns <= self._soonest_ns + _DETECTION_NS:
            return
        for event in detected:
            waiting = self._pending[event.contact]
            for _ in range(len(waiting)):
                kind, earliest, latest, until = waiting.popleft()
                if kind == event.kind:
                    self._settled[kind].append(earliest <= event.time_ns <= latest)
                else:
                    waiting.append((kind, earliest, latest, until))
        for waiting in self._pending:
            while waiting and waiting[0][3] + _DETECTION_NS < stamp_ns:
                self._settled[waiting.popleft()[0]].append(False)
        self._find_soonest()

    def _find_soonest(self) -> None:
        self._soonest_ns = min((waiting[0][3] for waiting in self._pending if waiting), default=_NEVER_NS)
