"""How the velocity after an impact changes with the state and with the law's coefficients, for a fixed course of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Balance, Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import Direction
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient, coefficient_gradient
from hybrid_contact_ros.sensitivity.massless import LimbGradient

Array = NDArray[np.float64]
_FELT = 1e-7  # relative: by which outcomes may differ through rounding


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
        balance: the equations of the first phase, which often are those of the motion after it, too.
    """

    velocity: Array
    impulse: Array
    rows: list[tuple[int, int]]
    velocity_state: Array
    velocity_friction: Array
    velocity_restitution: Array
    balance: Balance


def impact_derivative(gradient: ProblemGradient, course: ImpactCourse) -> ImpactDerivative:
    """Resolve an impact along its course, and differentiate the equations of it.

    With w = v⁺ − v⁻ and A the rows that stop, M dv⁺ − Wᵀ dP = M dv⁻ − (∂(M w)/∂q − ∂(JᵀΛ)/∂q) dq and
    A dv⁺ = −∂(A v⁺)/∂q dq, where W differs from A by the friction of sliding contacts.

    Where impulses are not unique, v⁺ and its derivative are given if they are the same for all of them, along changes
    of q that keep the closed contacts at their surfaces. A column of μ or e is that of the smallest impulses.

    Raises:
        Unsolvable: M and the closed rows do not decide v⁺, or the impulses are not unique and matter.
        ValueError: a contact slides whose friction is to follow a slip that is zero.
    """
    if isinstance(gradient, LimbGradient):
        gradient = gradient.within(course.closed)
    found = _resolve(gradient, course, None)
    for way in found.balance.undecided.T:
        shifted = _resolve(gradient, course, way * float(np.abs(found.impulse).max(initial=0.0)))
        _compare(found, shifted, gradient.problem, sorted(course.closed))
    n, m, change = gradient.problem.nv, gradient.problem.contacts, found.change
    by_state, by_friction, by_restitution = change[:, : 2 * n], change[:, 2 * n : 2 * n + m], change[:, 2 * n + m :]
    rows, varying = found.balance.rows, coefficient_gradient(gradient)
    if varying is not None:  # ∂Δ/∂q̇, which Pace (20) leaves out, and ∂Δ/∂q
        by_state = by_state + by_friction @ varying[:m] + by_restitution @ varying[m:]
    return ImpactDerivative(found.velocity, found.impulse, rows, by_state, by_friction, by_restitution, found.balance)


class Resolved(NamedTuple):
    """An impact or a phase of one: v⁺ (nv,), impulses (m, 1 + d), ∂v⁺ (nv, c), the derivatives (k, c) of what the
    closed rows add, and their equations."""

    velocity: Array
    impulse: Array
    change: Array
    pressed: Array
    balance: Balance


def _resolve(gradient: ProblemGradient, course: ImpactCourse, shift: Array | None) -> Resolved:
    """Both phases; columns are those of q, v⁻, μ and e. ``shift``: (k,), to add to the impulses of the first one."""
    problem = gradient.problem
    n, m = problem.nv, problem.contacts
    before = np.zeros((n, 2 * n + 2 * m))
    before[:, n : 2 * n] = np.eye(n)
    first = _stop(gradient, course, problem.velocity, before, shift=shift)
    leaving = [i for i in sorted(course.bounced & course.closed) if problem.restitution[i] > 0.0]
    if not leaving or course.newton:
        return first
    given = np.zeros_like(first.impulse)
    more = np.zeros((*given.shape, before.shape[1]))
    for i in leaving:
        given[i, 0] = problem.restitution[i] * first.impulse[i, 0]
        more[i, 0] = problem.restitution[i] * first.pressed[first.balance.rows.index((i, 0))]
        more[i, 0, 2 * n + m + i] += first.impulse[i, 0]
    held = ImpactCourse(course.kept, smooth=course.kept)
    second = _stop(gradient, held, first.velocity, first.change, (given, more))
    return Resolved(second.velocity, first.impulse + second.impulse, second.change, first.pressed, first.balance)


def _compare(one: Resolved, other: Resolved, problem: ContactProblem, closed: list[int]) -> None:
    """Refuse an impact that shares impulses between contacts in no unique way where its outcome depends on the share.

    Outcomes are compared along changes of q that keep the gaps of the ``closed`` contacts.

    Raises:
        Unsolvable: v⁺ or its derivative is not unique.
    """
    n = problem.nv
    admissible = np.eye(2 * n)
    admissible = np.hstack((admissible[:, :n] @ null_space(problem.normal_jacobian[closed]), admissible[:, n:]))
    speed = float(np.abs(problem.velocity).max(initial=0.0))
    if np.abs(one.velocity - other.velocity).max(initial=0.0) > _FELT * speed:
        what = "velocity"
    elif np.abs((one.change - other.change)[:, : 2 * n] @ admissible).max(initial=0.0) > _FELT * (
        1.0 + float(np.abs(one.change[:, : 2 * n]).max(initial=0.0))
    ):
        what = "derivative"
    else:
        return
    raise Unsolvable(False, f"the contacts share the impulse in no unique way, and the {what} after it depends on that")


def _stop(
    gradient: ProblemGradient,
    course: ImpactCourse,
    v: Array,
    before: Array,
    returned: tuple[Array, Array] | None = None,
    shift: Array | None = None,
) -> Resolved:
    """One phase, from the velocity v (nv,) with derivatives ``before`` (nv, c).

    Args:
        returned: in the second phase, impulses (m, 1 + d) that act, and their derivatives (m, 1 + d, c).
        shift: (k,), added to the impulses of the closed rows, which no motion feels.
    """
    problem = gradient.problem
    n, m = problem.nv, problem.contacts
    edges = dict(course.sliding)
    rows = course.rows(problem)
    balance = Balance(problem, rows, edges)
    target = np.zeros(len(rows))
    rebounds = {}
    if course.newton:
        rebounds = {at: i for at, (i, r) in enumerate(rows) if r == 0 and i in course.bounced}
        for at, i in rebounds.items():
            target[at] = -problem.restitution[i] * (problem.normal_jacobian[i] @ v)
    momentum, force = problem.mass @ v, problem.mass @ before
    if returned is not None:
        given, more = returned
        stacked = problem.jacobian().reshape(m, -1, n)
        momentum = momentum + np.einsum("crj,cr->j", stacked, given)
        force += np.einsum("crj,crk->jk", stacked, more)
    after, pressing = balance.solve(momentum[:, None], target[:, None])
    velocity = after[:, 0]
    fresh = balance.forces(pressing[:, 0] if shift is None else pressing[:, 0] + shift)
    impulse = fresh if returned is None else fresh + returned[0]

    force[:, :n] += gradient.pushes(impulse) - gradient.momentum(velocity - v)
    rates = gradient.rates(velocity)
    aim = np.zeros((len(rows), before.shape[1]))
    if rows:
        aim[:, :n] = -rates[balance.place]
    for at, i in rebounds.items():
        aim[at] -= problem.restitution[i] * (problem.normal_jacobian[i] @ before)
        aim[at, :n] -= problem.restitution[i] * gradient.rates(v)[i, 0]
        aim[at, 2 * n + m + i] -= problem.normal_jacobian[i] @ v
    turns: dict[int, Array] = {}
    for i, slip in edges.items():
        normal = fresh[i, 0]
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
            normal = problem.friction[i] * fresh[i, 0] / speed
            across = np.eye(2) - np.outer(slip, slip)
            bend += normal * tangents.T @ across @ tangents
            force[:, :n] -= normal * tangents.T @ across @ rates[i, 1:]
        balance = Balance(problem, rows, edges, bend)
    change, pressed = balance.solve(force, aim)
    return Resolved(velocity, impulse, change, pressed, balance)


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
