"""All contacts resolved at once (Anitescu and Potra 1997; H eq. 31–35)."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace, check_directions
from hybrid_contact_ros.impacts.outcome import ImpactOutcome, Outcomes
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.kernels.impacts import delassus
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
    """Solve the simultaneous inelastic impact with polygonal Coulomb friction, H eq. (31).

    0 ≤ Λ_n ⊥ J_n v⁺ ≥ 0, and Λ_t maximally dissipative at v⁺ within the friction polygon of radius μ Λ_n with its
    vertices along the ``directions`` (k, even) unit vectors at angles 2πj/k from the first tangent; in the plane
    (d = 1) the polygon is the segment and ``directions`` has no effect. All contacts of the problem take part;
    restitution is not used (this is the inelastic law). A solution exists always (H Proposition 2), energy never
    rises; where there are several, one of them is returned.

    With ``all_solutions`` the answer is a list of all outcomes with different velocities (:class:`~.outcome.Outcomes`,
    which says whether it is complete), by a search over the contacts' modes: exact, and meant for some five contacts in
    the plane or three in space. Where several impulses cause one velocity, one of them is given. Where solutions form
    a continuum of velocities, its ends are in the list and ``continuum`` is set. ``steps`` is 0 for these.

    Deviations: one solution is found as that of the increment LCP (H 75) with caps that no impulse reaches, in contact
    space; the published code enumerates the complementary bases of (32)–(33) instead, with the same outcomes.

    Raises:
        ValueError: if ``directions`` is odd or below 2.
    """
    check_directions(directions)
    m, d = problem.contacts, problem.tangents
    space = ContactSpace(problem, directions)
    if space.status != Status.SOLVED or m == 0 or space.speed == 0.0:
        still = ImpactOutcome(problem.velocity.copy(), np.zeros((m, 1 + d)), space.status, 0.0, 0)
        return Outcomes([still], complete=space.status == Status.SOLVED) if all_solutions else still
    if all_solutions:
        found = SolutionSearch(space).all(space.w, np.full(m, np.inf))
        outcomes = [impact_outcome(problem, directions, space, z, Status.SOLVED, 0) for z in found.z]
        return Outcomes(outcomes, found.complete, found.continuum)
    z, after, cap = np.empty(space.w.size), np.empty(space.w.size), np.empty(m)
    code, _, pivots = simultaneous(space.g, space.H, space.w, cap, space.c, space.tableau, space.lines, z, after)
    return impact_outcome(problem, directions, space, z, Status(code), pivots)


def impact_outcome(
    problem: ContactProblem, directions: int, space: ContactSpace, z: Array, status: Status, steps: int
) -> ImpactOutcome:
    """The outcome of scaled impulses z (p,) of H (31), checked by the residual that knows nothing of the solver."""
    m, d = problem.contacts, problem.tangents
    impulse, velocity = np.zeros((m, 1 + d)), problem.velocity.copy()
    delassus.expand(space.A, space.scale, space.speed, z, impulse)
    delassus.apply(problem.velocity, space.R, impulse, velocity)
    residual = increment_residual(
        directions,
        space.G,
        space.u,
        problem.friction,
        np.full(m, np.inf),
        space.speed,
        impulse,
        np.empty(space.u.size),
    )
    if status == Status.SOLVED and not residual <= 10 * TOLERANCE:
        status = Status.INACCURATE
    return ImpactOutcome(velocity, impulse, status, residual, steps)
