"""What no outcome of an impact can exceed."""

from __future__ import annotations

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.mechanics.problem import ContactProblem


def outcome_bounds(problem: ContactProblem) -> tuple[Array, Array]:
    """Componentwise bounds (lower, upper), each (nv,), on every velocity after the impact, sampled or not.

    Used is only what holds for every impact law of this package, every order of impacts and any friction polygon:
    kinetic energy never rises (H Theorem 7), and impulses act at the contacts alone, so that the component of v that
    is M-orthogonal to range(M⁻¹ Jᵀ) stays as it is. The bounds are those of the ball of these velocities, exactly.
    If no contact approaches, or there is none, v does not change and both are v. Where M is singular the energy says
    nothing of massless directions: −inf and inf.
    """
    return ContactSpace(problem, 2).bounds(problem.velocity)
