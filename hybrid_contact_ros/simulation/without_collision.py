"""Impacts without collision: where a sliding contact jams, and no force can hold it (Painlevé; H §2.2.3, §4)."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.kernels.impacts import delassus
from hybrid_contact_ros.kernels.impacts.increment import TOLERANCE, increment
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.friction_polygon import DIRECTIONS, aligned
from hybrid_contact_ros.simulation.impact import ImpactResult
from hybrid_contact_ros.simulation.mode import Mode

Array = NDArray[np.float64]
_PART = 1e-8  # of the fastest slip: what contacts approach with at the beginning
_INCREMENTS, _MOST = 100, 5000  # to stop the slowest slip that matters, about; in all
_MATTERS = 1e-2  # of the fastest slip
_JAMS = (1.0, 1.0 + 1e-6, 1.0 + 1e-4, 1.0 + 1e-2)  # times the friction, where forces are at the edge of existing
_SOME = 5e-2  # of a contact's slip: what an impact changes at least; less is that of a force over a moment


def impact_without_collision(problem: ContactProblem, scope: frozenset[int], resting: float) -> ImpactResult | None:
    """The impulse that stops or turns sliding contacts which no contact forces allow to slide on.

    As time passes without contact forces, contacts would approach. Where the force-acceleration problem has no
    solution, no small impulse stops that: whatever slowly pushes drives the sliding contact in, until its slip has
    stopped or turned, and out again. The impulse is followed in increments (H 72–75, all contacts with the same cap),
    from an approach that is next to nothing: that of the free motion or, where one contact's push keeps the one that is
    about to jam from approaching yet, of all at once. For one contact in the plane it is Routh's path, which ends at
    rest. Where forces grow beyond bounds, at the edge of Painlevé's region, friction is raised by as little as leads
    beyond it. Energy does not rise. Restitution has no part in it.

    Args:
        problem: regular M; nothing in ``scope`` approaches. resting: m/s, a slower contact is at rest.

    Returns:
        None where nothing slides, or where there is no such impulse.
    """
    order = sorted(scope)
    rough = problem.friction[order] > 0.0
    before = np.einsum("ijk,k->ij", problem.tangent_jacobian[order], problem.velocity)
    slip = np.where(rough, np.sqrt((before**2).sum(axis=1)), 0.0)
    fastest = float(slip.max(initial=0.0))
    if fastest <= resting:
        return None
    normals, drift = problem.normal_jacobian[order], problem.jacobian_drift[order, 0]
    free = normals @ np.linalg.solve(problem.mass, -problem.bias_force) + drift
    step = float(slip[slip >= _MATTERS * fastest].min()) / _INCREMENTS
    for approach, friction in product((free, -np.ones(len(order))), _JAMS):
        # The least change of velocity: where forces grow without bounds contacts hardly accelerate along their normals.
        wanted = _PART * fastest * approach / max(float(np.abs(approach).max()), 1e-300)
        start = problem.velocity + np.linalg.lstsq(normals, wanted - normals @ problem.velocity, rcond=1e-10)[0]
        impulse = _increments(problem, order, start, step, friction, _PART * fastest)
        if impulse is None:
            continue
        rows = problem.jacobian().reshape(problem.contacts, -1, problem.nv)
        velocity = problem.velocity + np.linalg.solve(problem.mass, np.einsum("ijk,ij->k", rows, impulse))
        change = np.einsum("ijk,k->ij", problem.tangent_jacobian[order], velocity - problem.velocity)
        if (np.sqrt((change**2).sum(axis=1)) > _SOME * slip)[slip > resting].any():
            return _result(problem, scope, velocity, impulse, max(resting, 2.0 * _PART * fastest))
    return None


def _increments(
    problem: ContactProblem, order: list[int], velocity: Array, step: float, friction: float, slow: float
) -> Array | None:
    """Λ (m, 1 + d) until nothing approaches faster than ``slow``; None where that does not end.

    ``step``: m/s, change of velocity of a contact's own push in an increment.
    """
    total = np.zeros((problem.contacts, 1 + problem.tangents))
    for k in range(_MOST):
        chosen, turns = aligned(problem.with_velocity(velocity), order, friction)
        if k > 0 and not (chosen.normal_jacobian @ velocity < -slow).any():
            return total
        space = ContactSpace(chosen, DIRECTIONS)
        if space.status is not Status.SOLVED or space.speed == 0.0:
            return None
        m, p = chosen.contacts, space.w.size
        z, after, part = np.empty(p), np.empty(p), np.zeros((m, 1 + chosen.tangents))
        caps = step / (space.scale * space.speed)
        _, residual, _ = increment(space.g, space.H, space.w, caps, space.c, space.tableau, space.lines, z, after)
        if residual > 1e3 * TOLERANCE:
            return None
        velocity = np.empty(problem.nv)
        delassus.expand(space.A, space.scale, space.speed, z, part)
        delassus.apply(chosen.velocity, space.R, part, velocity)
        part[:, 1:] = np.einsum("ikj,ik->ij", turns, part[:, 1:])
        total[order] += part
    return None


def _result(
    problem: ContactProblem, scope: frozenset[int], velocity: Array, impulse: Array, resting: float
) -> ImpactResult:
    rate = problem.normal_jacobian @ velocity
    slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, velocity) ** 2).sum(axis=1))
    closed = frozenset(i for i in scope if rate[i] <= resting)
    slides = frozenset(i for i in closed if problem.friction[i] > 0.0 and slip[i] > resting)
    return ImpactResult(Mode(closed, slides), velocity, impulse, frozenset(), Status.SOLVED, None)
