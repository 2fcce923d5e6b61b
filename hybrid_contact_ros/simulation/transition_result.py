"""What the transitions at one instant lead to, and the event of a change of mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.complementarity import Selection
from hybrid_contact_ros.simulation.execution import Event, EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.mode import Mode

Array = NDArray[np.float64]


@dataclass(slots=True)
class Settled:
    """Where the transitions at one instant lead.

    ``idle``: touching contacts of massless limbs that carry nothing (see :class:`~.flow.Flow`). ``status`` is None
    where a mode was found that time can pass in.
    """

    mode: Mode
    directions: Mapping[int, Array]
    q: Array
    v: Array
    events: list[Event] = field(default_factory=list)
    status: ExecutionStatus | None = None
    why: str = ""
    idle: frozenset[int] = frozenset()


def change_of_mode(
    system: AdaptedSystem, time: float, here: Settled, selection: Selection, turned: frozenset[int] = frozenset()
) -> Event:
    """The event by which ``selection`` follows ``here``; v stays. ``turned``: contacts that slide on otherwise."""
    before, after = here.mode, selection.mode
    assert after is not None
    opened, closed = before.closed - after.closed, after.closed - before.closed
    slips = (after.sliding - before.sliding) - closed
    sticks = (before.sliding - after.sliding) & after.closed
    kind, contacts = next(
        (
            (kind, contacts)
            for kind, contacts in (
                (EventKind.LIFTOFF, opened),
                (EventKind.CLOSING, closed),
                (EventKind.SLIP, slips),
                (EventKind.STICK, sticks),
            )
            if contacts
        ),
        (EventKind.SLIP, turned or after.sliding),
    )
    return Event(
        time,
        kind,
        contacts,
        before,
        after,
        here.q.copy(),
        here.v.copy(),
        here.v.copy(),
        np.zeros((system.contacts, 1 + system.tangents)),
        decided=selection.decided,
        trend_order=selection.trend_order,
    )
