"""``ContactEvent``: something that a contact did or is about to do."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from hybrid_contact_ros.messages.envelope import Envelope
from hybrid_contact_ros.prediction import Event


class EventSource(IntEnum):
    """The values of ``ContactEvent.source``."""

    PREDICTED = 1
    DETECTED = 2


def source_of(event: Event) -> int:
    """``ContactEvent.source``."""
    return int(EventSource.DETECTED if event.detected else EventSource.PREDICTED)


def contact_event(envelope: Envelope, event: Event, sequence: int) -> Any:
    """The message of one event, with its sequence number."""
    T = envelope.types
    return T.ContactEvent(
        header=envelope.header(event.stamp_ns),
        sequence=sequence,
        contact=envelope.names[event.contact],
        kind=int(event.kind),
        source=source_of(event),
        time=envelope.time(event.time_ns),
        earliest=envelope.time(event.earliest_ns),
        latest=envelope.time(event.latest_ns),
        confidence=float(event.confidence),
        confidence_valid=bool(event.confidence_valid),
    )
