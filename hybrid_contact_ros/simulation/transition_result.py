"""What the transitions at one instant lead to, and the event of a change of mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.complementarity import Selection
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind, ExecutionStatus
from hybrid_contact_ros.simulation.hybrid_state import HybridState


@dataclass(slots=True)
class TransitionResult:
    """Where the transitions at one instant lead. It changes while they are applied one by one.

    Attributes:
        state: after the transitions so far. events: one for each of them.
        status: None where a mode was found that time can pass in; otherwise how the execution ends. why: in words.
        idle: touching contacts of massless limbs that carry nothing
            (see :class:`~.mode_dynamics.ModeDynamics`).
    """

    state: HybridState
    events: list[ExecutionEvent] = field(default_factory=list)
    status: ExecutionStatus | None = None
    why: str = ""
    idle: frozenset[int] = frozenset()

    def stop(self, status: ExecutionStatus, why: str) -> None:
        """No time can pass from here."""
        self.status, self.why = status, why


def change_of_mode(
    system: AdaptedSystem, state: HybridState, selection: Selection, turned: frozenset[int] = frozenset()
) -> ExecutionEvent:
    """The event by which the mode of ``selection`` follows that of ``state``; v does not change.

    Args:
        turned: contacts that go on sliding in another direction, of which the event is if nothing else changes.
    """
    before, after = state.mode, selection.mode
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
        time=state.time,
        kind=kind,
        contacts=contacts,
        before=before,
        after=after,
        q=state.q.copy(),
        velocity_before=state.v.copy(),
        velocity_after=state.v.copy(),
        impulse=np.zeros((system.contacts, 1 + system.tangents)),
        decided=selection.decided,
        trend_order=selection.trend_order,
    )
