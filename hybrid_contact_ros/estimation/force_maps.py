"""Saltation matrices of events that are predicted where forces, or the speed of a slip, fall to zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.force_events import guard_gradient, guard_value
from hybrid_contact_ros.sensitivity.gradients import problem_gradient
from hybrid_contact_ros.sensitivity.local_event import LocalEvent
from hybrid_contact_ros.sensitivity.mode_gradient import Motion, motion_derivative
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal, saltation
from hybrid_contact_ros.sensitivity.slip_end import stick_saltation
from hybrid_contact_ros.sensitivity.touchdown import unsolvable
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
_SLOWEST = 1e-6  # s: of an event that is nearer than this, nothing tells how fast its force falls
_LAST = 1e-6  # m/s: of a slip when it ends, in the direction that it has


def force_saltation(
    system: RobotSystem, now: Motion, mode: ContactMode, kind: EventKind, contact: int, q: Array, v: Array, ahead: float
) -> Saltation:
    """Ξ of a liftoff, or of a stick that ends, which is predicted ``ahead`` s after the state of the motion ``now``.

    Ξ is the identity, because the effort is taken to stay as it is when the mode changes. For ∂τ/∂x = −Dh/ḣ the rate
    of the guard h (:func:`~hybrid_contact_ros.sensitivity.force_events.guard_value`) is that of the prediction,
    −h/T, which has in it how the effort was seen to change; Dh is the model's at the predicted state (q, v).
    """
    name, who = ("liftoff" if kind == EventKind.LIFTOFF else "slip"), frozenset({contact})
    if contact not in mode.closed or (name == "slip" and contact in mode.sliding):
        return refusal(name, who, Validity.NOT_TOUCHING, f"contact {contact} is not held before the event")
    value = guard_value(name, now, contact)
    if not value > 0.0:
        why = f"by the model the force of contact {contact} is past it already, by {-value:.3g} N"
        return refusal(name, who, Validity.UNEXPLAINED, why)
    if not ahead > _SLOWEST:
        why = f"the force of contact {contact} is {value:.3g} N from it and {ahead:.3g} s remain: its rate is not known"
        return refusal(name, who, Validity.UNEXPLAINED, why)
    try:
        there = motion_derivative(problem_gradient(system, q, v, 0.0, mode.closed), mode)
    except Unsolvable as error:
        return refusal(name, who, unsolvable(error), error.why)
    except ValueError as error:
        return refusal(name, who, Validity.UNEXPLAINED, str(error))
    if name == "slip" and not there.motion.force[contact, 1:].any():
        return refusal(name, who, Validity.NOT_UNIQUE, f"contact {contact} has no direction in which it would slip")
    guard, n, closed = guard_gradient(name, there, contact), v.size, sorted(mode.closed)
    field = there.motion.field
    return saltation(
        np.eye(2 * n),
        guard[: 2 * n],
        field,
        field,
        guard_rate=-value / ahead - float(guard[: 2 * n] @ field),
        guard_parameters=guard[2 * n :][closed],
        velocity_after=v,
        kind=name,
        contacts=who,
        parameters=[("friction", i) for i in closed],
    )


def stick_ahead(
    system: RobotSystem, now: Motion, mode: ContactMode, contacts: tuple[int, ...], q: Array, v: Array
) -> Saltation:
    """Ξ of slips that are predicted to end together at (q, v), in the directions that they have now."""
    who = frozenset(contacts)
    if not who <= mode.sliding & mode.closed:
        return refusal("stick", who, Validity.NOT_TOUCHING, f"contacts {sorted(who)} do not all slide before the event")
    last = {i: now.edges[i] for i in contacts if i in now.edges}
    if len(last) < len(contacts):
        return refusal("stick", who, Validity.NOT_UNIQUE, "a contact without friction does not come to rest by itself")
    at_rest = _at_end(system.problem(q, v), mode, last)
    return stick_saltation(LocalEvent(system, q, at_rest, contacts[0], mode), together=frozenset(contacts[1:]))


def _at_end(problem: ContactProblem, mode: ContactMode, last: dict[int, Array]) -> Array:
    """The nearest velocity (kinetic norm) at which these slips are just ending, and the closed contacts are held."""
    v = problem.velocity
    rows, wanted = [], []
    for i in sorted(mode.closed):
        rows.append(problem.normal_jacobian[i][None])
        wanted.append(np.zeros(1))
        along = problem.tangent_jacobian[i]
        rows.append(along)
        wanted.append(_LAST * last[i] if i in last else along @ v if i in mode.sliding else np.zeros(len(along)))
    held, target = np.vstack(rows), np.concatenate(wanted)
    lift = np.linalg.solve(problem.mass, held.T)
    return np.asarray(v + lift @ np.linalg.lstsq(held @ lift, target - held @ v, rcond=1e-10)[0])
