"""All contacts resolved at once (Anitescu and Potra 1997; H eq. 31–35)."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.impacts.contact_space import ContactSpace, check_directions
from hybrid_contact_ros.impacts.outcome import ImpactOutcome
from hybrid_contact_ros.kernels import delassus
from hybrid_contact_ros.kernels.increment import TOLERANCE, simultaneous
from hybrid_contact_ros.kernels.residual import increment_residual
from hybrid_contact_ros.kernels.status import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem


def simultaneous_impact(problem: ContactProblem, directions: int = 4) -> ImpactOutcome:
    """Solve the simultaneous inelastic impact with polygonal Coulomb friction, H eq. (31).

    0 ≤ Λ_n ⊥ J_n v⁺ ≥ 0, and Λ_t maximally dissipative at v⁺ within the friction polygon of radius μ Λ_n with its
    vertices along the ``directions`` (k, even) unit vectors at angles 2πj/k from the first tangent; in the plane
    (d = 1) the polygon is the segment and ``directions`` has no effect. All contacts of the problem take part;
    restitution is not used (this is the inelastic law). A solution exists always (H Proposition 2), energy never
    rises; where there are several, one of them is returned.

    Deviations: solved as the increment LCP (H 75) with caps that no impulse reaches, in contact space.

    Raises:
        ValueError: if ``directions`` is odd or below 2.
    """
    check_directions(directions)
    m, d = problem.contacts, problem.tangents
    space = ContactSpace(problem, directions)
    impulse = np.zeros((m, 1 + d))
    velocity = problem.velocity.copy()
    if space.status != Status.SOLVED or m == 0 or space.speed == 0.0:
        return ImpactOutcome(velocity, impulse, space.status, 0.0, 0)
    z, after, cap = np.empty(space.w.size), np.empty(space.w.size), np.empty(m)
    code, _, pivots = simultaneous(space.g, space.H, space.w, cap, space.c, space.floats, space.ints, z, after)
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
    status = Status(code)
    if status == Status.SOLVED and not residual <= 10 * TOLERANCE:
        status = Status.INACCURATE
    return ImpactOutcome(velocity, impulse, status, residual, pivots)
