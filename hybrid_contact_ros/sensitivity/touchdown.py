"""The saltation matrix of a touchdown: one contact reaches its surface, and an impact follows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.mechanics.contact_sets import not_negative
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import RESTING, ContactMode
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse, ImpactDerivative, impact_derivative
from hybrid_contact_ros.sensitivity.local_event import LocalEvent
from hybrid_contact_ros.sensitivity.massless import LimbGradient
from hybrid_contact_ros.sensitivity.mode_gradient import motion_of
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal, saltation
from hybrid_contact_ros.sensitivity.word_impacts import UnsmoothError, course_of

Array = NDArray[np.float64]
TOUCHING = 1e-6
"""Gap, m, up to which a contact is at its surface, unless said otherwise."""
_CONE = 1e-6  # relative: by which an impulse may leave its friction cone, or pull
PARAMETERS = ("friction", "restitution", "height")


def touchdown_saltation(
    system: Any,
    q: ArrayLike,
    v: ArrayLike,
    contact: int,
    before: ContactMode | None = None,
    after: ContactMode | None = None,
    course: ImpactCourse | None = None,
    *,
    time: float = 0.0,
    resting: float = RESTING,
    touching: float = TOUCHING,
) -> Saltation:
    """Ξ of the impact of one contact, with ∂τ/∂x, ∂v⁺/∂x and the columns of μ, e and the height of the ground.

    Args:
        system: as for ``simulate``. q, v: at the impact, v⁻. contact: the one that arrives.
        before: the mode before, by default all other contacts open.
        after: the mode after, by default the contacts of the course but those that bounce, sliding where the course
            has them smooth or sliding.
        course: of the impact; by default that of the system's own restitution and friction. The contact and those
            that were closed stop, with friction that holds (contacts that slide before or after it are without friction
            impulse, as in ``simulate`` by Johnson's Assumption A12), and e > 0 then returns the contact by Poisson's
            law. Where an impulse would pull or leave its friction cone, laws differ, and the course must be given.

    Returns:
        The saltation, or the reason why there is none: GRAZING, NOT_TOUCHING, SINGULAR, NOT_UNIQUE, CAPPED,
        UNEXPLAINED.

    Raises:
        ValueError: contacts that do not exist, or v of a wrong size.
    """
    not_negative(touching=touching)
    contacts, before = frozenset({contact}), before or ContactMode()
    event = LocalEvent(system, np.asarray(q, float), np.asarray(v, float), contact, before, time, resting)
    here = event.gradient(after)
    fault = refuse_touchdown(here.problem, contact, before.closed, resting, touching)
    if fault is not None:
        return fault
    slides = before.sliding | (after.sliding if after is not None else frozenset())
    bounces = course is None and here.problem.restitution[contact] > 0.0
    try:
        if bounces:
            chosen = _returning_course(here, contact, before.closed, slides, resting)
        else:
            chosen = course or ImpactCourse(before.closed | contacts, slides)
        found = impact_derivative(here, chosen)
    except Unsolvable as error:
        return refusal("touchdown", contacts, unsolvable(error), error.why)
    except UnsmoothError as error:
        return refusal("touchdown", contacts, Validity[error.validity.name], f"{error}; give the course of the impact")
    if bounces and after is not None and contact in after.closed:
        if here.problem.normal_jacobian[contact] @ found.velocity > resting:
            why = f"contact {contact} is closed after the impact, but its restitution returns it"
            return refusal("touchdown", contacts, Validity.UNEXPLAINED, f"{why}; give the course of the impact")
    elif course is None and not bounces:
        outside = leaves_cone(here.problem, chosen, found)
        if outside is not None:
            return refusal("touchdown", contacts, Validity.UNEXPLAINED, outside)
    mode = after or _mode_after(here.problem, chosen, found, resting, before.kinetic)
    return _touchdown_jump(event, here.problem, chosen, found, mode)


def _returning_course(
    gradient: ProblemGradient, contact: int, closed: frozenset[int], smooth: frozenset[int], resting: float
) -> ImpactCourse:
    """The course of an impact with restitution, as words have it, where no law of friction sees it otherwise.

    Args:
        contact: the one that arrives. closed: those that rest. smooth: those of them without friction impulse.
        resting: m/s, a slower contact is at rest.

    Raises:
        UnsmoothError: laws differ, or the impact has no course that can be differentiated.
    """
    scope = closed | {contact}
    problem = (gradient.within(scope) if isinstance(gradient, LimbGradient) else gradient).problem
    friction = problem.friction.copy()
    friction[sorted(smooth)] = 0.0
    known = problem.replace_trusted(friction=friction)
    try:
        course = course_of(known, scope, resting)[0]
    except UnsmoothError:
        raise
    except ValueError as error:  # a singular M
        raise UnsmoothError(EventValidity.SINGULAR, str(error)) from None
    rubs = [k for k in course.slides if friction[k] > 0.0]
    if rubs:
        why = f"contact {rubs[0]} slides in the impact, and laws differ in the friction of that"
        raise UnsmoothError(EventValidity.UNEXPLAINED, why)
    idle = scope.difference(course.sticks, course.slides)  # what neither pushes nor moves stays closed
    still = {k for k in idle if np.linalg.norm(course.after[k, : 1 if friction[k] == 0.0 else None]) <= resting}
    opens = sorted(idle - still)
    if opens and friction[list(course.sticks)].any():
        why = f"contact {opens[0]} opens in the impact, and laws differ in the friction of the others"
        raise UnsmoothError(EventValidity.UNEXPLAINED, why)
    found = course.closed_form(known)
    return replace(found, closed=found.closed | still, smooth=smooth)


def _touchdown_jump(
    event: LocalEvent, problem: ContactProblem, course: ImpactCourse, found: ImpactDerivative, after: ContactMode
) -> Saltation:
    """The saltation from an impact that is differentiated already."""
    contact, before, resting = event.contact, event.before, event.resting
    contacts, n = frozenset({contact}), problem.nv
    try:
        ahead = motion_of(problem, before, resting)
        behind = motion_of(event.problem(after, found.velocity), after, resting, found.balance)
    except Unsolvable as error:
        return refusal("touchdown", contacts, unsolvable(error), error.why)
    except ValueError as error:
        return refusal("touchdown", contacts, Validity.UNEXPLAINED, str(error))
    reset = np.eye(2 * n)
    reset[n:] = found.velocity_state
    guard = np.concatenate((problem.normal_jacobian[contact], np.zeros(n)))
    names, by_reset, by_guard = parameter_columns(found, sorted(course.closed | contacts), contact)
    return saltation(
        reset,
        guard,
        ahead.field,
        behind.field,
        reset_parameters=by_reset,
        guard_parameters=by_guard,
        velocity_after=found.velocity,
        kind="touchdown",
        contacts=contacts,
        parameters=names,
        lost=lost_directions(course, found, contact, before, after, problem),
    )


def parameter_columns(
    found: ImpactDerivative, involved: Iterable[int], contact: int
) -> tuple[tuple[tuple[str, int], ...], Array, Array]:
    """Names (p), D_p R (2 nv, p) and D_p h (p,) of μ and e of the involved contacts and of the ground of one."""
    chosen = list(involved)
    n = len(found.velocity)
    names = (*[("friction", i) for i in chosen], *[("restitution", i) for i in chosen], ("height", contact))
    reset = np.zeros((2 * n, len(names)))
    for k, i in enumerate(chosen):
        reset[n:, k], reset[n:, len(chosen) + k] = found.velocity_friction[:, i], found.velocity_restitution[:, i]
    guard = np.zeros(len(names))
    guard[-1] = -1.0  # the gap falls as its ground rises
    return names, reset, guard


def refuse_touchdown(
    problem: ContactProblem, contact: int, closed: frozenset[int], resting: float, touching: float
) -> Saltation | None:
    """Why a contact does not touch down in a state, or None where it does."""
    if not 0 <= contact < problem.contacts:
        raise ValueError(f"contact {contact} does not exist; there are {problem.contacts}")
    who = frozenset({contact})
    sums = [a.ravel() @ a.ravel() for a in (problem.mass, problem.velocity, problem.bias_force, problem.gap)]
    gap, speed = float(problem.gap[contact]), float(problem.normal_jacobian[contact] @ problem.velocity)
    if not math.isfinite(sum(sums)):
        return refusal("touchdown", who, Validity.SINGULAR, "the state has numbers that are not finite")
    if contact in closed:
        return refusal("touchdown", who, Validity.NOT_TOUCHING, f"contact {contact} is closed already")
    if abs(gap) > touching:
        where = "below" if gap < 0.0 else "above"
        why = f"contact {contact} is {abs(gap):.3g} m {where} its surface"
        return refusal("touchdown", who, Validity.NOT_TOUCHING, why)
    if speed > resting:
        return refusal("touchdown", who, Validity.NOT_TOUCHING, f"contact {contact} leaves at {speed:.3g} m/s")
    if speed >= -resting:
        return refusal("touchdown", who, Validity.GRAZING, f"contact {contact} touches at {speed:.3g} m/s")
    return None


def unsolvable(error: Unsolvable) -> Validity:
    """The validity that an error of the equations means."""
    return Validity.SINGULAR if error.unique else Validity.NOT_UNIQUE


def leaves_cone(problem: ContactProblem, course: ImpactCourse, found: ImpactDerivative) -> str | None:
    """Which impulse pulls, or leaves its friction cone, in words."""
    largest = _CONE * float(np.abs(found.impulse).max(initial=0.0))
    for i in sorted(course.closed):
        normal, *along = found.impulse[i].tolist()
        tangent = math.hypot(*along)
        if normal < -largest:
            return f"the impulse of contact {i} would pull, so that the contact opens; give the course of the impact"
        if i not in course.bounced and tangent > problem.friction[i] * normal + largest:
            why = f"the impulse of contact {i} would leave its friction cone, so that the contact slides"
            return f"{why}; give a mode after the impact in which it does, ContactMode(closed, sliding)"
    return None


def _mode_after(
    problem: ContactProblem, course: ImpactCourse, found: ImpactDerivative, resting: float, kinetic: bool
) -> ContactMode:
    touching = course.closed | course.kept
    closed = touching.difference(i for i in touching if problem.normal_jacobian[i] @ found.velocity > resting)
    slides = {
        i
        for i in closed
        if problem.friction[i] > 0.0 and math.hypot(*(problem.tangent_jacobian[i] @ found.velocity)) > resting
    }
    return ContactMode(closed, frozenset(slides), kinetic=kinetic)


def lost_directions(
    course: ImpactCourse,
    found: ImpactDerivative,
    contact: int,
    before: ContactMode,
    after: ContactMode,
    problem: ContactProblem,
) -> tuple[str, ...]:
    """Names of what an impact brings to zero: each row that stops and, where the contact stays, its gap."""
    names = []
    for i, r in found.rows:
        if i in course.bounced and problem.restitution[i] > 0.0 and r == 0:
            continue
        names.append(f"{'normal velocity' if r == 0 else f'slip {r}'} of contact {i}")
    if contact in after.closed:
        names.append(f"gap of contact {contact}")
    return tuple(names)
