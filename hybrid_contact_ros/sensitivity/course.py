"""Which course an impact took, from the velocities before and after it and its impulses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient
from hybrid_contact_ros.sensitivity.impact_gradient import (
    ImpactCourse,
    ImpactDerivative,
    Turning,
    impact_derivative,
)

Array = NDArray[np.float64]
_NO_IMPULSE = 1e-10  # of the largest
_EDGE = 1e-6  # relative: so near to the edge of its cone an impulse lies on it
_EXPLAINED = 1e-6  # of the speeds: so near to the velocity after the impact its course must lead


def explain(
    gradient: ProblemGradient,
    velocity: Array,
    impulse: Array,
    after: frozenset[int],
    bounced: frozenset[int],
    resting: float,
) -> tuple[ImpactCourse, ImpactDerivative] | None:
    """The course of an impact that ``simulate`` has resolved, by any of its laws, and its derivative.

    Contacts with friction stick in it where they end at rest, are smooth where they go on sliding without friction
    impulse, and slide where their impulse lies on the edge of its cone. Where the numbers allow more than one of these,
    the one is taken that leads to the velocity after the impact.

    Args:
        gradient: at v⁻. velocity: v⁺ (nv,). impulse: Λ (m, 1 + d). after: contacts that stay closed. bounced: that
            leave by restitution. resting: m/s, a slower contact is at rest.

    Returns:
        None where no course leads to that velocity.

    Raises:
        Unsolvable: no course has equations that decide the velocity, or impulses that are unique where it matters.
    """
    problem = gradient.problem
    size = float(np.abs(impulse).max(initial=0.0))
    acted = np.abs(impulse).max(axis=1) > _NO_IMPULSE * size
    closed = after | frozenset(np.flatnonzero(acted).tolist())
    smooth, sliding = set(), {}
    for i in sorted(closed):
        rubbing, normal = float(np.linalg.norm(impulse[i, 1:])), float(impulse[i, 0])
        if i in bounced:
            normal /= 1.0 + problem.restitution[i]
        slip = float(np.linalg.norm(problem.tangent_jacobian[i] @ velocity))
        if problem.friction[i] == 0.0 or (slip <= 10.0 * resting and i not in bounced):
            continue
        if rubbing <= _NO_IMPULSE * size:
            smooth.add(i)
        elif abs(rubbing - problem.friction[i] * normal) <= _EDGE * rubbing:
            sliding[i] = -impulse[i, 1:] / rubbing
    kept = after if bounced else frozenset[int]()
    turning = _turning(problem, sliding)
    choices = [(frozenset(smooth), sliding), (frozenset(), sliding), (frozenset(smooth) | frozenset(sliding), {})]
    failure: Unsolvable | None = None
    speed = float(np.abs(problem.velocity).max(initial=0.0)) + float(np.abs(velocity).max(initial=0.0))
    for no_friction, edges in choices:
        course = ImpactCourse(closed, no_friction, edges, bounced, kept, turning)
        try:
            found = impact_derivative(gradient, course)
        except Unsolvable as error:
            failure = error
            continue
        if np.abs(found.velocity - velocity).max(initial=0.0) <= _EXPLAINED * speed:
            return course, found
    if failure is not None:
        raise failure
    return None


def _turning(problem: ContactProblem, sliding: dict[int, Array]) -> Turning:
    """Friction impulses against the slip before the impact follow it; others are taken for edges of a polygon."""
    if problem.tangents == 1:
        return Turning.FIXED
    for i, along in sliding.items():
        slip = problem.tangent_jacobian[i] @ problem.velocity
        speed = float(np.linalg.norm(slip))
        if speed == 0.0 or np.abs(slip / speed - along).max() > _EDGE:
            return Turning.FIXED
    return Turning.BEFORE
