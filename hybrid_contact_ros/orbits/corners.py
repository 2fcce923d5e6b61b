"""The Bouligand derivative of an instant of an execution at which several contacts touch."""

from __future__ import annotations

from collections.abc import Sequence

from hybrid_contact_ros.sensitivity.bouligand import BouligandDerivative, bouligand_derivative
from hybrid_contact_ros.sensitivity.bouligand_selection import InadmissibleError
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind

TOUCHING = 1e-6
"""m: so near to the ground a contact touches; the events of an execution are found to 1e-9 m."""


def arriving(events: Sequence[ExecutionEvent]) -> frozenset[int]:
    """The contacts that touch in these events and were open before."""
    touchdowns = (event for event in events if event.kind is ExecutionEventKind.TOUCHDOWN)
    return frozenset[int]().union(*(event.contacts - event.before.closed for event in touchdowns))


def landing_corner(known: object, events: Sequence[ExecutionEvent], closed: frozenset[int]) -> BouligandDerivative:
    """The derivative across the touchdowns of one instant, refused where the execution goes on in another mode.

    Args:
        known: the user's system. events: of the instant, in order, the first one a touchdown.
        closed: the contacts that the execution goes on with.
    """
    first = events[0]
    found = bouligand_derivative(
        known, first.q, first.velocity_before, arriving(events), first.before.closed, time=first.time, touching=TOUCHING
    )
    if not found.valid:
        return found
    (corner,) = found.corners
    try:
        agrees = corner.after.mode == closed
    except InadmissibleError as error:
        return BouligandDerivative(error.validity, error.why)
    if agrees:
        return found
    why = f"the execution goes on with contacts {sorted(closed)} closed, the derivative in another mode"
    return BouligandDerivative(Validity.UNEXPLAINED, why)
