"""One impact of a word with its course held: which contacts stick, slide or open, so that v⁺ is smooth in (q, v)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse, ImpactDerivative, Turning, impact_derivative
from hybrid_contact_ros.sensitivity.orders import OrderOutcome, follow_impact

Array = NDArray[np.float64]

_PUSHES = 1e-7  # of the largest impulse: less is none
_NEWTON = 30  # steps of the slip directions in space at most; three are the rule


class UnsmoothError(ValueError):
    """The outcome of an impact has no derivative here; ``validity`` has the reason as a code."""

    def __init__(self, validity: EventValidity, why: str) -> None:
        super().__init__(why)
        self.validity = validity


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What the contacts of one impact do.

    Attributes:
        sticks, slides: contacts with impulse, whose point rests or moves after compression.
        bounces: those that give back. holds: those that keep others' restitution from pressing them in.
        impulse, after: (m, 1 + d), of compression, N s, and contact velocities after it, m/s: slides start from them.
    """

    sticks: tuple[int, ...]
    slides: tuple[int, ...]
    bounces: tuple[int, ...]
    holds: tuple[int, ...]
    impulse: Array
    after: Array

    def closed_form(self, problem: ContactProblem) -> ImpactCourse:
        """The same course, for :func:`~.impact_gradient.impact_derivative`."""
        slips = {k: self.after[k, 1:] for k in self.slides if problem.friction[k] > 0.0}
        return ImpactCourse(
            closed=frozenset((*self.sticks, *self.slides)),
            sliding={k: slip / np.linalg.norm(slip) for k, slip in slips.items()},
            bounced=frozenset(self.bounces),
            kept=frozenset(self.holds),
            turning=Turning.AFTER if problem.tangents == 2 else Turning.FIXED,
        )


def course_of(problem: ContactProblem, scope: Iterable[int], resting: float) -> tuple[Course, Array, float]:
    """The course of the impact of ``scope``, v⁺ and the residual of the solve. ``resting``: m/s, slower is at rest.

    Raises:
        UnsmoothError: the impact was not solved, or restitution had to be made smaller for the energy.
    """
    outcome: OrderOutcome = follow_impact(problem, scope)
    normal = outcome.impulse[:, 0]
    pushing = np.flatnonzero(normal > _PUSHES * normal.max(initial=0.0))
    slip = np.linalg.norm(problem.tangent_jacobian @ outcome.velocity, axis=1)
    smooth = problem.friction == 0.0
    slides = tuple(int(k) for k in pushing if smooth[k] or slip[k] > resting)
    sticks = tuple(int(k) for k in pushing if k not in slides)
    rate = problem.normal_jacobian @ problem.velocity
    bounces = tuple(int(k) for k in pushing if problem.restitution[k] > 0.0 and rate[k] < -resting)
    after = (problem.jacobian() @ outcome.velocity).reshape(problem.contacts, -1)
    course, velocity = Course(sticks, slides, bounces, (), outcome.impulse, after), outcome.velocity
    if bounces:
        half = np.linalg.cholesky(problem.mass)
        stopped = [k for k in scope if (problem.normal_jacobian @ velocity)[k] <= resting]
        lift = np.linalg.solve(half, problem.normal_jacobian[stopped].T)
        back = np.array([problem.restitution[k] * normal[k] if k in bounces else 0.0 for k in stopped])
        leaving = half.T @ velocity + lift @ back
        more = nnls(lift, -leaving)[0]
        course = replace(course, holds=tuple(k for k, p in zip(stopped, more, strict=True) if p > 0.0))
        velocity = np.linalg.solve(half.T, leaving + lift @ more)
        before = problem.velocity @ problem.mass @ problem.velocity
        if velocity @ problem.mass @ velocity > before * (1.0 + 1e-9):
            why = "restitution would add energy, and is made smaller by no smooth law"
            raise UnsmoothError(EventValidity.CAPPED, why)
    held, course = resolved(problem, course)
    if np.abs(held - velocity).max() > 1e-4 * (np.abs(velocity).max() + np.abs(problem.velocity).max()):
        raise UnsmoothError(EventValidity.UNEXPLAINED, "the course of the impact does not reproduce its outcome")
    return course, held, outcome.residual


def resolved(problem: ContactProblem, course: Course) -> tuple[Array, Course]:
    """v⁺ (nv,) of an impact whose course is given: smooth in q and v. With the course at its impulses and velocities.

    Sticking points stop; sliding ones stop along the normal, with friction against the velocity after compression,
    which Newton's method finds in space. Then what bounces gets e times its normal impulse.
    """
    contacts = sorted((*course.sticks, *course.slides))
    d = problem.tangents
    n, t = problem.normal_jacobian[contacts], problem.tangent_jacobian[contacts]
    size = len(contacts) * (1 + d)
    rows = np.concatenate((n[:, None], t), axis=1).reshape(size, problem.nv)
    lift = np.linalg.solve(problem.mass, rows.T)
    G, u = rows @ lift, rows @ problem.velocity
    slides = np.array([k in course.slides for k in contacts], dtype=bool)
    mu = problem.friction[contacts]
    impulse: Array = course.impulse[contacts].ravel()
    after: Array = course.after[contacts].ravel()
    for _ in range(_NEWTON):
        A, right = G.copy(), -u
        for i in np.flatnonzero(slides):
            for x in range(d):
                r = i * (1 + d) + 1 + x
                A[r], right[r] = 0.0, 0.0
                A[r, r] = 1.0
            if mu[i] > 0.0:
                _against_slip(A, right, G, u, mu[i], int(i) * (1 + d), d, impulse, after)
        found = np.asarray(np.linalg.lstsq(A, right, rcond=1e-12)[0], dtype=np.float64)
        moved = np.abs(found - impulse).max(initial=0.0)
        impulse, after = found, u + G @ found
        if d == 1 or moved <= 1e-13 * np.abs(impulse).max(initial=0.0):  # in the plane slides keep their sign
            break
    total = lift @ impulse
    if course.bounces:
        back = np.array([
            problem.restitution[k] * impulse[i * (1 + d)] if k in course.bounces else 0.0
            for i, k in enumerate(contacts)
        ])  # fmt: skip
        total = total + lift[:, :: 1 + d] @ back
        held = problem.normal_jacobian[list(course.holds)]
        if len(held):
            pull = np.linalg.solve(problem.mass, held.T)
            total = total - pull @ np.linalg.lstsq(held @ pull, held @ (problem.velocity + total), rcond=1e-12)[0]
    impulses, velocities = course.impulse.copy(), course.after.copy()
    impulses[contacts], velocities[contacts] = impulse.reshape(-1, 1 + d), after.reshape(-1, 1 + d)
    return np.asarray(problem.velocity + total), replace(course, impulse=impulses, after=velocities)


def _against_slip(
    A: Array, right: Array, G: Array, u: Array, mu: float, f: int, d: int, impulse: Array, after: Array
) -> None:
    """Write the rows Λ_t + μ Λ_n s(u_t⁺) = 0 of one contact, linearised at the last impulse."""
    slip = after[f + 1 : f + 1 + d]
    speed = float(np.linalg.norm(slip))
    if speed == 0.0:
        return
    s = slip / speed
    bend = mu * max(impulse[f], 0.0) / speed * (np.eye(d) - np.outer(s, s))
    block = slice(f + 1, f + 1 + d)
    A[block, f] += mu * s
    A[block] += bend @ G[block]
    right[block] -= bend @ u[block]


def derivative_of(gradient: ProblemGradient, course: Course) -> ImpactDerivative:
    """∂v⁺/∂(q, v⁻) and the columns of μ and e of an impact that keeps this course.

    Raises:
        UnsmoothError: the course does not decide the velocity, or impulses are not unique and matter.
    """
    try:
        return impact_derivative(gradient, course.closed_form(gradient.problem))
    except (Unsolvable, ValueError) as error:
        raise UnsmoothError(EventValidity.NOT_UNIQUE, str(error)) from None
