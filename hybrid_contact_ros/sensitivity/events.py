"""The saltation matrix of an event of any kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from math import isfinite
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.mechanics.contact_sets import contact_set, finite, not_negative
from hybrid_contact_ros.sensitivity.checked import real_numbers
from hybrid_contact_ros.sensitivity.contact_mode import RESTING, ContactMode
from hybrid_contact_ros.sensitivity.force_events import liftoff_saltation, slip_saltation
from hybrid_contact_ros.sensitivity.gradients import asker
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse
from hybrid_contact_ros.sensitivity.local_event import LocalEvent
from hybrid_contact_ros.sensitivity.massless import has_massless_limbs
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal
from hybrid_contact_ros.sensitivity.slip_end import stick_saltation
from hybrid_contact_ros.sensitivity.touchdown import touchdown_saltation
from hybrid_contact_ros.systems.robot import Effort, RobotSystem, as_system

REFUSED = {
    "grazing": (Validity.GRAZING, "a contact touches without normal speed"),
    "closing": (Validity.GRAZING, "a contact closes without normal speed"),
    "truncation": (Validity.ZENO, "the execution was cut off near the end of infinitely many impacts"),
    "impact without collision": (Validity.WITHOUT_COLLISION, "a sliding contact jams"),
}
"""Kinds of events that have no saltation matrix, with the reason."""
_MANY = 2**31  # contacts: how many there are is known only where the system has been asked
KINDS = ("touchdown", "liftoff", "slip", "stick", "reversal", *REFUSED)


class Mode(Protocol):
    """A contact mode: :class:`~.contact_mode.ContactMode`, or ``HybridMode`` of an execution."""

    @property
    def closed(self) -> frozenset[int]: ...
    @property
    def sliding(self) -> frozenset[int]: ...


def as_mode(mode: Mode | Iterable[int] | None, name: str = "mode") -> ContactMode:
    """A mode from any of its forms; an iterable holds the closed contacts.

    Raises:
        ValueError: it is none; the text says so of the argument ``name``.
    """
    if isinstance(mode, ContactMode):
        return mode
    if mode is None:
        return ContactMode()
    if isinstance(mode, Iterable):
        return ContactMode(contact_set(name, mode, _MANY))
    if not (hasattr(mode, "closed") and hasattr(mode, "sliding")):
        raise ValueError(f"{name} is {mode!r}; give a ContactMode, or the closed contacts as a list")
    return ContactMode(mode.closed, mode.sliding)


def saltation_matrix(
    system: Any,
    q: ArrayLike,
    v: ArrayLike,
    kind: str | Enum,
    contacts: int | Iterable[int],
    before: Mode | Iterable[int] | None = None,
    after: Mode | Iterable[int] | None = None,
    *,
    course: ImpactCourse | None = None,
    effort: Effort = None,
    time: float = 0.0,
    resting: float = RESTING,
) -> Saltation:
    """How a small change of the state before an event appears after it: δx⁺ = Ξ δx⁻ (Pace §3; Aizerman, Gantmacher).

    A ball that stops at the ground loses its height and its speed:

    >>> import sympy
    >>> from hybrid_contact_ros import Constraint, LagrangianSystem, saltation_matrix
    >>> y = sympy.Symbol("y")
    >>> ball = LagrangianSystem("ball", [y], sympy.Matrix([[1.0]]), 9.81 * y, [Constraint("floor", y)])
    >>> landing = saltation_matrix(ball, q=[0.0], v=[-2.0], kind="touchdown", contacts=0)
    >>> (abs(landing.matrix).round(6)).tolist(), landing.rank(), landing.lost
    ([[0.0, 0.0], [0.0, 0.0]], 0, ('normal velocity of contact 0', 'gap of contact 0'))
    >>> (landing.time + 0.0).tolist()  # 1 cm higher, 5 ms later
    [0.5, 0.0]

    Args:
        system: a RigidBodyModel, or anything that ``simulate`` takes. q, v: at the event, v before it.
        kind: "touchdown", "liftoff", "slip" (a stick that ends), "stick", or "reversal"; an ``ExecutionEventKind`` is
            welcome. The other kinds of events are refused with the reason. contacts: what it happens to: one contact.
        before, after: the modes; see :func:`~.touchdown.touchdown_saltation`, :func:`~.force_events.liftoff_saltation`
            and :func:`~.slip_end.stick_saltation` for what is taken by default.
        course: of the impact of a touchdown; by default that of the system's own restitution, with friction that holds.
        effort: of a RigidBodyModel. time: s, for forces that depend on it. resting: m/s, a slower contact is at rest.

    Returns:
        A record that is applied to perturbations, and says its validity; more than one contact at a time are
        SIMULTANEOUS.

    Raises:
        ValueError: an unknown kind or contact, or a state of a wrong size or with numbers that are not finite.
    """
    name = str(kind.value if isinstance(kind, Enum) else kind)
    if name not in KINDS:
        raise ValueError(f"kind is {name!r}; choose one of {', '.join(KINDS)}")
    q_, v_ = real_numbers(q, "q"), real_numbers(v, "v")
    not_negative(resting=resting)
    finite(time=time)
    if not isfinite(q_.ravel() @ q_.ravel() + v_.ravel() @ v_.ravel()):
        raise ValueError("q and v must be finite")
    if course is not None and not isinstance(course, ImpactCourse):
        raise ValueError(f"course is {course!r}; give an ImpactCourse")
    start, end = as_mode(before, "before"), None if after is None else as_mode(after, "after")
    known = as_system(system, effort)
    there = getattr(known, "contacts", _MANY)
    there = there if isinstance(there, int | np.integer) else _MANY
    who = contact_set("contacts", [contacts] if isinstance(contacts, int | np.integer) else contacts, int(there))
    if not isinstance(known, RobotSystem) and has_massless_limbs(asker(known, time, start.closed)(q_, v_)):
        start = replace(start, kinetic=False)
        end = None if end is None else replace(end, kinetic=False)
    if name in REFUSED or len(who) != 1:  # what has no derivative is looked at all the same
        for i in who or {0}:
            LocalEvent(known, q_, v_, i, start, time, resting).gradient(end)
    if name in REFUSED:
        return refusal(name, who, *REFUSED[name])
    if len(who) != 1:
        why = (
            f"{len(who)} contacts change at one instant, and near it in several orders"
            if who
            else "no contact is named"
        )
        return refusal(name, who, Validity.SIMULTANEOUS if who else Validity.NOT_TOUCHING, why)
    (contact,) = who
    if name == "touchdown":
        return touchdown_saltation(known, q_, v_, contact, start, end, course, time=time, resting=resting)
    event = LocalEvent(known, q_, v_, contact, start, time, resting)
    if name == "liftoff":
        return liftoff_saltation(event, end)
    if name == "slip":
        return slip_saltation(event, end)
    return stick_saltation(event, end)
