"""The saltation matrix of all that happens at one instant of an execution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.orbits.corners import TOUCHING
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import RESTING, ContactMode, Direction
from hybrid_contact_ros.sensitivity.course import explain
from hybrid_contact_ros.sensitivity.events import REFUSED
from hybrid_contact_ros.sensitivity.force_events import force_jump
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse, impact_derivative
from hybrid_contact_ros.sensitivity.local_event import LocalEvent
from hybrid_contact_ros.sensitivity.massless import has_massless_limbs, limb_gradient, limb_problem
from hybrid_contact_ros.sensitivity.mode_gradient import motion_derivative, motion_of
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal, saltation
from hybrid_contact_ros.sensitivity.slip_end import stick_saltation
from hybrid_contact_ros.sensitivity.touchdown import lost_directions, parameter_columns, refuse_touchdown, unsolvable
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind, ModeInterval

Array = NDArray[np.float64]


def slip_directions(part: ModeInterval, system: AdaptedSystem, resting: float = RESTING) -> dict[int, Direction]:
    """Directions of the sliding contacts of an interval.

    In the plane there is one for the whole interval. In space it is that of a contact that starts from rest, taken
    where it has begun to move.
    """
    found: dict[int, Direction] = {}
    if not part.mode.sliding or len(part.times) < 2:
        return found
    first = part.times[0]
    for weight in (1e-3, 1e-2, 0.1, 0.5):
        time = first + weight * (part.times[1] - first)
        q, v = part.at(time)
        problem = system.problem(q, v, time, part.mode.closed)
        for i in part.mode.sliding - found.keys():
            slip = problem.tangent_jacobian[i] @ v
            speed = float(np.linalg.norm(slip))
            if speed > 10.0 * resting or weight == 0.5:
                found[i] = slip / speed if speed > 0.0 else np.zeros(len(slip))
    return found


def followed_mode(part: ModeInterval, system: AdaptedSystem) -> ContactMode:
    """The mode of an interval as the local maps take it."""
    q, v = part.at(part.start)
    kinetic = not has_massless_limbs(system.problem(q, v, part.start, part.mode.closed))
    return ContactMode(part.mode.closed, part.mode.sliding, slip_directions(part, system), kinetic)


def ends_chatter(system: AdaptedSystem, events: Sequence[ExecutionEvent], after: ContactMode) -> bool:
    """Whether a chatter ends at this instant: it was truncated, or its bounces became too slow to follow."""
    if any(event.kind is ExecutionEventKind.TRUNCATION for event in events):
        return True
    first = events[0]
    arriving = sorted(first.contacts & after.closed - first.before.closed)
    if first.kind is not ExecutionEventKind.TOUCHDOWN or not arriving:
        return False
    problem = system.problem(first.q, first.velocity_before, first.time, first.before.closed)
    returned = problem.restitution[arriving] * np.abs(problem.normal_jacobian[arriving] @ first.velocity_before)
    return bool(((returned > 0.0) & (returned <= 10.0 * RESTING)).any())


def instant_saltation(
    system: AdaptedSystem,
    events: Sequence[ExecutionEvent],
    before: ContactMode,
    after: ContactMode,
    truncated: bool = False,
) -> Saltation:
    """Ξ of the events of one instant: the first one's guard, all their resets, and the motions before and after.

    A touchdown often breaks contacts or makes them slip. These follow from it in every nearby execution, and belong to
    its reset and to the motion after it.

    Args:
        system: of the execution. events: in order, at one time; those that only grazed are among them.
        before, after: the modes of the intervals on both sides.
        truncated: whether to give the end of a chatter the derivative of the truncated execution.
    """
    first = events[0]
    kind, who = first.kind.value, first.contacts
    for event in events:
        if event.kind.value in REFUSED and not (truncated and event.kind is ExecutionEventKind.TRUNCATION):
            return refusal(event.kind.value, event.contacts, *REFUSED[event.kind.value])
    known = system.system
    try:
        if first.kind is ExecutionEventKind.TOUCHDOWN:
            chatter = ends_chatter(system, events, after)
            if chatter and not truncated:
                why = f"contact {min(who)} comes to rest as its bounces become too slow to follow"
                return refusal(kind, who, Validity.ZENO, why)
            return _impacts(known, events, before, after, chatter)
        if any(event.kind is ExecutionEventKind.TOUCHDOWN for event in events):
            return refusal(kind, who, Validity.SIMULTANEOUS, "an impact at the instant of another event")
        turning = first.kind is ExecutionEventKind.SLIP and who <= before.sliding
        if first.kind is ExecutionEventKind.STICK or turning:
            return stick_saltation(_local(known, first, before), after, together=who - {min(who)})
        return _force_event(known, first, before, after)
    except Unsolvable as error:
        return refusal(kind, who, unsolvable(error), error.why)


def _local(known: object, event: ExecutionEvent, before: ContactMode) -> LocalEvent:
    return LocalEvent(known, event.q, event.velocity_before, min(event.contacts), before, event.time)


def _force_event(known: object, first: ExecutionEvent, before: ContactMode, after: ContactMode) -> Saltation:
    """Liftoff or slip, from the mode before to the one that the instant ends in."""
    event = _local(known, first, before)
    here = motion_derivative(event.gradient(), before)
    found = force_jump(first.kind.value, event, here, motion_of(event.problem(after), after))
    if len(first.contacts) > 1 and found.valid and not np.array_equal(found.required(), np.eye(2 * len(event.v))):
        why = f"{len(first.contacts)} contacts change at one instant, and near it in several orders"
        return refusal(first.kind.value, first.contacts, Validity.SIMULTANEOUS, why)
    return found


def _impacts(
    known: object, events: Sequence[ExecutionEvent], before: ContactMode, after: ContactMode, chatter: bool
) -> Saltation:
    """An impact, with the others that it causes at the same instant, and the closing of contacts that end a chatter."""
    first = events[0]
    q, v, time = first.q, first.velocity_before, first.time
    n = len(v)
    arriving = first.contacts - before.closed
    cut = [event for event in events if event.kind is ExecutionEventKind.TRUNCATION]
    closing = after.closed - before.closed - frozenset[int]().union(*(event.contacts for event in cut))
    if len(arriving) != 1 or not closing <= arriving:
        why = f"{max(len(arriving), len(closing))} contacts arrive at one instant, and near it in several orders"
        return refusal("touchdown", first.contacts, Validity.SIMULTANEOUS, why)
    (contact,) = arriving
    here = limb_gradient(known, q, v, time, before.closed)
    fault = refuse_touchdown(here.problem, contact, before.closed, RESTING, TOUCHING)
    if fault is not None:
        return fault
    reset = np.eye(2 * n)
    columns: dict[tuple[str, int], Array] = {}
    lost: tuple[str, ...] = ()  # named where there is one impact
    for event in events:
        if event.kind is not ExecutionEventKind.TOUCHDOWN:
            continue
        if not event.contacts <= before.closed | arriving:
            return refusal("touchdown", event.contacts, Validity.SIMULTANEOUS, "another contact arrives at the instant")
        if event is not first:
            here = limb_gradient(known, q, event.velocity_before, time, event.before.closed)
        course = explain(here, event.velocity_after, event.impulse, event.after.closed, event.bounced, RESTING)
        if course is None:
            validity = Validity.CAPPED if event.bounced else Validity.UNEXPLAINED
            return refusal(
                "touchdown", event.contacts, validity, "no course of the impact leads to the velocity after it"
            )
        chosen, found = course
        step = np.eye(2 * n)
        step[n:] = found.velocity_state
        reset = step @ reset
        columns = {name: step @ column for name, column in columns.items()}
        single = event is first and len(events) == 1
        lost = lost_directions(chosen, found, contact, before, after, here.problem) if single else ()
        more, by_reset, _ = parameter_columns(found, sorted(chosen.closed), contact)
        for k, name in enumerate(more):
            columns[name] = columns.get(name, np.zeros(2 * n)) + by_reset[:, k]
    v_after = events[-1].velocity_after
    if chatter:
        step, by_height, v_after = _closing(known, cut[-1] if cut else events[-1], after)
        reset = step @ reset
        columns = {name: step @ column for name, column in columns.items()}
        for i, column in by_height.items():
            columns["height", i] = columns.get(("height", i), np.zeros(2 * n)) + column
    names = tuple(columns)
    ahead = motion_of(limb_gradient(known, q, v, time, before.closed).problem, before)
    behind = motion_of(limb_problem(known, q, v_after, time, after.closed), after)
    guard = np.concatenate((ahead.problem.normal_jacobian[contact], np.zeros(n)))
    by_guard = np.array([-1.0 if name == ("height", contact) else 0.0 for name in names])
    return saltation(
        reset,
        guard,
        ahead.field,
        behind.field,
        reset_parameters=np.column_stack([columns[name] for name in names]),
        guard_parameters=by_guard,
        velocity_after=v_after,
        kind="truncation" if chatter else "touchdown",
        contacts=first.contacts,
        parameters=names,
        lost=lost,
    )


def _closing(known: object, last: ExecutionEvent, after: ContactMode) -> tuple[Array, dict[int, Array], Array]:
    """What the end of a chatter does: it takes gaps to zero along the smallest displacement, and speeds by a plastic
    impact, as ``simulate`` does. Its derivatives by the state (2 nv, 2 nv) and by grounds (2 nv,), and v⁺ (nv,)."""
    cut = last.kind is ExecutionEventKind.TRUNCATION
    v, n = last.velocity_before if cut else last.velocity_after, len(last.velocity_after)
    here = limb_gradient(known, last.q, v, last.time, after.closed)
    found = impact_derivative(here, ImpactCourse(after.closed, after.sliding))
    normals = here.problem.normal_jacobian[sorted(after.closed)]
    back = np.linalg.pinv(normals, rcond=1e-10)
    step = np.eye(2 * n)
    step[:n, :n] -= back @ normals
    step[n:] = found.velocity_state @ step
    by_height = np.vstack((back, found.velocity_state[:, :n] @ back))
    return step, dict(zip(sorted(after.closed), by_height.T, strict=True)), found.velocity
