"""How the velocity after an impact changes with the state and with the law's coefficients, for a fixed course of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Balance
from hybrid_contact_ros.sensitivity.contact_mode import Direction
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient

Array = NDArray[np.float64]


class Turning(Enum):
    """What the direction of sliding friction in space follows."""

    FIXED = "fixed"
    """Nothing: an edge of a friction polygon, or the plane, where there are two directions."""
    BEFORE = "before"
    """The slip before the impact, as an edge of a polygon that is aligned with it (``law="simultaneous"``)."""
    AFTER = "after"
    """The slip after it: Coulomb's law for the whole impulse."""


@dataclass(frozen=True, slots=True, eq=False)
class ImpactCourse:
    """What contacts do in an impact. Nearby impacts take the same course, which is then differentiated.

    First the closed contacts stop: M (v − v⁻) = JᵀΛ, J_n v = 0 of ``closed``, J_t v = 0 of those with friction that
    neither slide nor are smooth, and Λ_t = −μ Λ_n s of those that slide, s their direction. Where e > 0 and ``newton``
    is False (Poisson) contacts of ``bounced`` then get e Λ_n more along their normals, while ``kept`` ones do not
    move along theirs. With ``newton`` a bounced contact gets J_n v⁺ = −e J_n v⁻ at once.

    Attributes:
        closed: contacts with an impulse. smooth: those of them without friction impulse although they have friction
            (Johnson's Assumption A12). sliding: s (d,) of those at the edge of their friction cone.
        bounced: contacts whose restitution acts. kept: contacts that stay closed as the others leave.
        turning: what s follows in space. newton: the law of restitution.
    """

    closed: frozenset[int]
    smooth: frozenset[int] = frozenset()
    sliding: Mapping[int, Direction] = field(default_factory=dict)
    bounced: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    turning: Turning = Turning.FIXED
    newton: bool = False

    def rows(self, problem: ContactProblem) -> list[tuple[int, int]]:
        """Rows that stop, as (contact, row of it)."""
        found = []
        for i in sorted(self.closed):
            sticks = problem.friction[i] > 0.0 and i not in self.smooth and i not in self.sliding
            found += [(i, r) for r in range(1 + problem.tangents if sticks else 1)]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class ImpactDerivative:
    """An impact and its derivatives.

    Attributes:
        velocity: v⁺ (nv,). impulse: Λ (m, 1 + d), N s. rows: that stop, in the first phase.
        velocity_state: ∂v⁺/∂(q, v⁻) (nv, 2 nv). velocity_friction, velocity_restitution: ∂v⁺/∂μ, ∂v⁺/∂e (nv, m).
    """

    velocity: Array
    impulse: Array
    rows: list[tuple[int, int]]
    velocity_state: Array
    velocity_friction: Array
    velocity_restitution: Array


def impact_derivative(gradient: ProblemGradient, course: ImpactCourse) -> ImpactDerivative:
    """Resolve an impact along its course, and differentiate the equations of it.

    With w = v⁺ − v⁻ and A the rows that stop, M dv⁺ − Wᵀ dP = M dv⁻ − (∂(M w)/∂q − ∂(JᵀΛ)/∂q) dq and
    A dv⁺ = −∂(A v⁺)/∂q dq, where W differs from A by the friction of sliding contacts.

    Raises:
        Unsolvable: M and the closed rows do not decide v⁺, or the impulses are not unique and matter.
        ValueError: a contact slides whose friction is to follow a slip that is zero.
    """
    problem = gradient.problem
    n, m = problem.nv, problem.contacts
    before = np.zeros((n, 2 * n + 2 * m))
    before[:, n : 2 * n] = np.eye(n)
    nothing = np.zeros((m, 1 + problem.tangents))
    none = np.zeros((*nothing.shape, before.shape[1]))
    velocity, impulse, change, forces = _stop(gradient, course, problem.velocity, before, nothing, none)
    leaving = [i for i in sorted(course.bounced) if problem.restitution[i] > 0.0]
    if leaving and not course.newton:
        given, more = nothing.copy(), none.copy()
        for i in leaving:
            given[i, 0] = problem.restitution[i] * impulse[i, 0]
            more[i, 0] = problem.restitution[i] * forces[i, 0]
            more[i, 0, 2 * n + m + i] += impulse[i, 0]
        second = ImpactCourse(course.kept, smooth=course.kept)
        velocity, returned, change, _ = _stop(gradient, second, velocity, change, given, more)
        impulse = impulse + returned
    by_friction, by_restitution = change[:, 2 * n : 2 * n + m], change[:, 2 * n + m :]
    return ImpactDerivative(velocity, impulse, course.rows(problem), change[:, : 2 * n], by_friction, by_restitution)


def _stop(
    gradient: ProblemGradient, course: ImpactCourse, v: Array, before: Array, given: Array, more: Array
) -> tuple[Array, Array, Array, Array]:
    """One phase, from the velocity v (nv,) with derivatives ``before`` (nv, c), under impulses ``given`` (m, 1 + d)
    with derivatives ``more`` (m, 1 + d, c). Returns v⁺, the whole impulse, and the derivatives of both."""
    problem = gradient.problem
    n, m = problem.nv, problem.contacts
    edges = dict(course.sliding)
    rows = course.rows(problem)
    stacked = problem.jacobian().reshape(m, -1, n)
    balance = Balance(problem, rows, edges)
    target = np.zeros(len(rows))
    rebounds = {}
    if course.newton:
        rebounds = {at: i for at, (i, r) in enumerate(rows) if r == 0 and i in course.bounced}
        for at, i in rebounds.items():
            target[at] = -problem.restitution[i] * (problem.normal_jacobian[i] @ v)
    momentum, force = problem.mass @ v, problem.mass @ before
    if given.any() or more.any():  # the second phase
        momentum = momentum + np.einsum("crj,cr->j", stacked, given)
        force += np.einsum("crj,crk->jk", stacked, more)
    after, pressing = balance.solve(momentum[:, None], target[:, None])
    velocity = after[:, 0]
    impulse = balance.forces(pressing[:, 0]) + given

    force[:, :n] += gradient.pushes(impulse) - gradient.momentum(velocity - v)
    rates = gradient.rates(velocity)
    aim = np.zeros((len(rows), before.shape[1]))
    for at, (i, r) in enumerate(rows):
        aim[at, :n] = -rates[i, r]
    for at, i in rebounds.items():
        aim[at] -= problem.restitution[i] * (problem.normal_jacobian[i] @ before)
        aim[at, :n] -= problem.restitution[i] * gradient.rates(v)[i, 0]
        aim[at, 2 * n + m + i] -= problem.normal_jacobian[i] @ v
    turns: dict[int, Array] = {}
    for i, slip in edges.items():
        normal = impulse[i, 0] - given[i, 0]
        force[:, 2 * n + i] -= normal * (slip @ problem.tangent_jacobian[i])
        if problem.tangents == 2 and course.turning is Turning.BEFORE:
            turns[i] = _turn(problem, i, slip, v, before, gradient.rates(v)[i, 1:])
            force -= problem.friction[i] * normal * (problem.tangent_jacobian[i].T @ turns[i])
    if problem.tangents == 2 and course.turning is Turning.AFTER and edges:
        bend = np.zeros((n, n))
        for i, slip in edges.items():
            tangents = problem.tangent_jacobian[i]
            speed = float(np.linalg.norm(tangents @ velocity))
            if not speed > 0.0:
                raise ValueError(f"contact {i} does not slide after the impact, so that its friction has no direction")
            normal = problem.friction[i] * (impulse[i, 0] - given[i, 0]) / speed
            across = np.eye(2) - np.outer(slip, slip)
            bend += normal * tangents.T @ across @ tangents
            force[:, :n] -= normal * tangents.T @ across @ rates[i, 1:]
        balance = Balance(problem, rows, edges, bend)
    change, pressed = balance.solve(force, aim)
    forces = more.copy()
    for at, (i, r) in enumerate(rows):
        forces[i, r] += pressed[at]
    return velocity, impulse, change, forces


def _turn(problem: ContactProblem, contact: int, slip: Direction, v: Array, before: Array, rates: Array) -> Array:
    """∂s/∂columns (2, c) of a direction s that keeps its angle with the slip J_t v."""
    tangents = problem.tangent_jacobian[contact]
    velocity = tangents @ v
    square = float(velocity @ velocity)
    if not square > 0.0:
        raise ValueError(f"contact {contact} does not slide before the impact: its friction follows no slip")
    change = tangents @ before
    change[:, : problem.nv] += rates
    angle = (velocity[0] * change[1] - velocity[1] * change[0]) / square
    return np.outer([-slip[1], slip[0]], angle)
