"""All contacts resolved at once (Anitescu and Potra 1997; Halm (31)–(35))."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace, check_directions
from hybrid_contact_ros.impacts.outcome import ImpactOutcome, Outcomes
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.kernels.impacts.increment import TOLERANCE, simultaneous
from hybrid_contact_ros.kernels.impacts.residual import increment_residual
from hybrid_contact_ros.mechanics.problem import ContactProblem


@overload
def simultaneous_impact(
    problem: ContactProblem, directions: int = 4, all_solutions: Literal[False] = False
) -> ImpactOutcome: ...


@overload
def simultaneous_impact(problem: ContactProblem, directions: int = 4, *, all_solutions: Literal[True]) -> Outcomes: ...


@overload
def simultaneous_impact(problem: ContactProblem, directions: int, all_solutions: Literal[True]) -> Outcomes: ...


def simultaneous_impact(
    problem: ContactProblem, directions: int = 4, all_solutions: bool = False
) -> ImpactOutcome | Outcomes:
    """Solve the simultaneous inelastic impact with polygonal Coulomb friction, Halm (31).

    0 ≤ Λ_n ⊥ J_n v⁺ ≥ 0, and Λ_t is maximally dissipative at v⁺ within the friction polygon of radius μ Λ_n. All
    contacts of the problem take part; restitution is not used (this is the inelastic law). There is always a solution
    (Halm, Proposition 2), and energy never rises; where there are several solutions, one of them is returned.

    Deviations: one solution is found as that of the increment LCP (Halm (75)) with caps that no impulse reaches, in
    contact space; the published code enumerates the complementary bases of (32)–(33) instead, with the same outcomes.

    Args:
        problem: with v⁻ as its velocity.
        directions: k, even. The friction polygon has its vertices along k unit vectors at the angles 2πj/k from the
            first tangent. In the plane (d = 1) it is a segment, and ``directions`` has no effect.
        all_solutions: whether to return all outcomes with different velocities, found by a search over the modes of the
            contacts, which is exact, and meant for some five contacts in the plane or three in space.

    Returns:
        One outcome, whose ``steps`` are pivots. With ``all_solutions`` a list that says whether it is complete
        (:class:`~hybrid_contact_ros.impacts.outcome.Outcomes`), and ``steps`` are 0. Where several impulses cause one
        velocity, one of them is given. Where solutions form a continuum of velocities, its ends are in the list and
        ``continuum`` is set.

    Raises:
        ValueError: if ``directions`` is odd or below 2.

    Example:
        A point mass of 1 kg slides over the ground and falls on it; friction takes 0.3 of the impulse of 1 N s.

        >>> import numpy as np
        >>> from hybrid_contact_ros import ContactProblem, simultaneous_impact
        >>> up, along = np.array([[0.0, 1.0]]), np.array([[[1.0, 0.0]]])
        >>> falling = ContactProblem(np.eye(2), np.array([0.5, -1.0]), up, along, np.array([0.3]))
        >>> outcome = simultaneous_impact(falling)
        >>> outcome.status.name, outcome.impulse.round(9).tolist()
        ('SOLVED', [[1.0, -0.3]])
    """
    check_directions(directions)
    space = ContactSpace(problem, directions)
    m, d = problem.contacts, problem.tangents
    if not all_solutions:
        return outcome_at_once(problem, directions, space)
    if space.status != Status.SOLVED or m == 0 or space.speed == 0.0:
        still = ImpactOutcome(problem.velocity.copy(), np.zeros((m, 1 + d)), space.status, 0.0, 0)
        return Outcomes([still], complete=space.status == Status.SOLVED)
    found = SolutionSearch(space).all(space.w, np.full(m, np.inf))
    outcomes = [impact_outcome(problem, directions, space, z, Status.SOLVED, 0) for z in found.z]
    return Outcomes(outcomes, found.complete, found.continuum)


def outcome_at_once(problem: ContactProblem, directions: int, space: ContactSpace) -> ImpactOutcome:
    """:func:`simultaneous_impact` in the contact space of the problem with these ``directions``."""
    m, d = problem.contacts, problem.tangents
    if space.status != Status.SOLVED or m == 0 or space.speed == 0.0:
        return ImpactOutcome(problem.velocity.copy(), np.zeros((m, 1 + d)), space.status, 0.0, 0)
    z, after, cap = np.empty(space.w.size), np.empty(space.w.size), np.empty(m)
    code, _, pivots = simultaneous(space.g, space.H, space.w, cap, space.c, space.tableau, space.lines, z, after)
    return impact_outcome(problem, directions, space, z, Status(code), pivots)


def impact_outcome(
    problem: ContactProblem, directions: int, space: ContactSpace, z: Array, status: Status, steps: int
) -> ImpactOutcome:
    """The outcome of scaled impulses z (p,) of Halm (31), checked by the residual that knows nothing of the solver."""
    impulse = space.impulses(z)
    velocity = space.velocity_after(problem.velocity, impulse)
    residual = increment_residual(
        directions,
        space.G,
        space.u,
        problem.friction,
        np.full(problem.contacts, np.inf),
        space.speed,
        impulse,
        np.empty(space.u.size),
    )
    if status == Status.SOLVED and not residual <= 10 * TOLERANCE:
        status = Status.INACCURATE
    return ImpactOutcome(velocity, impulse, status, residual, steps)
