"""The events that are told of an update's state, with how far such predictions may be trusted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.prediction_record import PredictionRecord
from hybrid_contact_ros.prediction import Event

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


class EventLog:
    """Makes events of what :func:`~hybrid_contact_ros.kernels.estimation.told_events.tell_events` finds new.

    It remembers how often predictions came true.
    """

    def __init__(self, contacts: int) -> None:
        self._contacts = contacts
        self.reset()

    def reset(self) -> None:
        """Forget what became of the predictions."""
        self._record = PredictionRecord(self._contacts)

    def nothing_new(self, stamp_ns: int) -> None:
        """A state without events."""
        self._record.settle(stamp_ns, ())

    def tell(self, stamp_ns: int, rows: Indices, detected: int, probability: Array) -> tuple[Event, ...]:
        """The events of one state: ``rows`` as of ``tell_events``, of which the first are the detected ones.

        ``probability``: (m,), that each contact is closed.
        """
        record = self._record
        events: list[Event] = []
        for contact, kind, *times in rows[:detected].tolist():
            closed = float(probability[contact])
            confidence = 1.0 - closed if kind == EventKind.LIFTOFF else closed
            events.append(_event(stamp_ns, contact, kind, True, times, confidence))
        record.settle(stamp_ns, events)
        for contact, kind, *times in rows[detected:].tolist():
            confidence = record.tell(contact, EventKind(kind), *times)
            events.append(_event(stamp_ns, contact, kind, False, times, confidence))
        return tuple(events)


def _event(stamp_ns: int, contact: int, kind: int, detected: bool, times_ns: list[int], confidence: float) -> Event:
    """``times_ns``: time, earliest, latest."""
    return Event(
        stamp_ns=stamp_ns,
        contact=contact,
        kind=EventKind(kind),
        detected=detected,
        time_ns=times_ns[0],
        earliest_ns=times_ns[1],
        latest_ns=times_ns[2],
        confidence=confidence,
    )
