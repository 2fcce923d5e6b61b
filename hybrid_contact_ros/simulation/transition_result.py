"""What the transitions at one instant lead to, and the event of a change of mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.complementarity import Selection
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind, ExecutionStatus
from hybrid_contact_ros.simulation.mode import HybridMode

Array = NDArray[np.float64]


@dataclass(slots=True)
class TransitionResult:
    """Where the transitions at one instant lead.

    ``idle``: touching contacts of massless limbs that carry nothing (see :class:`~.mode_dynamics.ModeDynamics`). ``status``
    is None where a mode was found that time can pass in.
    """

    mode: HybridMode
    directions: Mapping[int, Array]
    q: Array
    v: Array
    events: list[ExecutionEvent] = field(default_factory=list)
    status: ExecutionStatus | None = None
    why: str = ""
    idle: frozenset[int] = frozenset()


def change_of_mode(
    system: AdaptedSystem,
    time: float,
    here: TransitionResult,
    selection: Selection,
    turned: frozenset[int] = frozenset(),
) -> ExecutionEvent:
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
                (ExecutionEventKind.LIFTOFF, opened),
                (ExecutionEventKind.CLOSING, closed),
                (ExecutionEventKind.SLIP, slips),
                (ExecutionEventKind.STICK, sticks),
            )
            if contacts
        ),
        (ExecutionEventKind.SLIP, turned or after.sliding),
    )
    return ExecutionEvent(
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
