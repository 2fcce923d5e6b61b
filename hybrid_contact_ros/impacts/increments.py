"""All that one increment, or one whole sequence of increments, may lead to (H 72–75)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace, check_directions
from hybrid_contact_ros.impacts.outcome import ImpactOutcome, Outcomes
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.kernels.impacts import delassus
from hybrid_contact_ros.kernels.impacts.increment import TOLERANCE
from hybrid_contact_ros.kernels.impacts.residual import increment_residual
from hybrid_contact_ros.mechanics.problem import ContactProblem

_SEPARATING = 1e-8  # m/s, of the published implementation
_SAME = 1e-8


def increment_outcomes(problem: ContactProblem, maximum_impulse: ArrayLike, directions: int = 4) -> Outcomes:
    """All velocities v' after one increment with caps λ_max (m,), N s: the solutions of H (72)–(75).

    One where H Assumption 6 holds. ``impulse`` is the increment λ; otherwise as
    ``simultaneous_impact(…, all_solutions=True)``, which is the same without caps.

    Raises:
        ValueError: if ``maximum_impulse`` is not (m,), finite and ≥ 0, or ``directions`` is odd or below 2.
    """
    cap = _checked(problem, np.asarray(maximum_impulse, dtype=float)[None], directions)[0]
    space = ContactSpace(problem, directions)
    m, d = problem.contacts, problem.tangents
    if space.status != Status.SOLVED or m == 0 or space.speed == 0.0:
        still = ImpactOutcome(problem.velocity.copy(), np.zeros((m, 1 + d)), space.status, 0.0, 0)
        return Outcomes([still], complete=space.status == Status.SOLVED)
    found = SolutionSearch(space).all(space.w, cap * space.scale / space.speed)
    outcomes = []
    for z in found.z:
        impulse, velocity = _motion(problem, space, z)
        residual = increment_residual(
            directions, space.G, space.u, problem.friction, cap, space.speed, impulse, np.empty(space.u.size)
        )
        status = Status.SOLVED if residual <= 10 * TOLERANCE else Status.INACCURATE
        outcomes.append(ImpactOutcome(velocity, impulse, status, residual, 1))
    return Outcomes(outcomes, found.complete, found.continuum)


def reachable_outcomes(
    problem: ContactProblem, maximum_impulses: ArrayLike, directions: int = 4, most: int = 10000
) -> Outcomes:
    """All velocities that one sample of H Algorithm 1 with given draws can end with, whichever solutions are taken.

    The tree of all choices, with velocities closer than 1e-8 of the approach merged in every step; the conventions are
    the published implementation's, as with ``maximum_impulses`` of ``post_impact_set``.

    Args:
        maximum_impulses: λ_max of every step (max_steps, m), N s.
        most: velocities that are followed in a step, at most; ``complete`` is False if there were more.

    Returns:
        Terminated outcomes first, with status SOLVED, then those that still approach after the last step, with
        STEP_LIMIT. ``impulse`` is the sum, ``steps`` the increments.

    Raises:
        ValueError: as :func:`increment_outcomes`.
    """
    caps = _checked(problem, np.asarray(maximum_impulses, dtype=float), directions)
    space = ContactSpace(problem, directions)
    m, n = problem.contacts, 1 + space.g
    if space.status != Status.SOLVED or m == 0 or space.speed == 0.0:
        return increment_outcomes(problem, np.zeros(m), directions)
    search = SolutionSearch(space)
    separating = _SEPARATING / (space.speed * space.scale)
    ended: list[tuple[Array, Array, int]] = []
    open_ = [(space.w, np.zeros(m * n))]
    complete, continuum = True, False
    for step, cap in enumerate(caps * space.scale / space.speed):
        following: list[tuple[Array, Array]] = []
        for w, total in open_:
            if (w[::n] >= -separating).all():
                ended.append((w, total, step))
                continue
            found = search.all(w, cap)
            complete &= found.complete
            continuum |= found.continuum
            for z, after in zip(found.z, found.after, strict=True):
                if all(np.abs(after - other).max() > _SAME for other, _ in following):
                    following.append((after, total + z))
        complete &= len(following) <= most
        open_ = following[:most]
    last = len(caps)
    ended += [(w, total, last) for w, total in open_ if (w[::n] >= -separating).all()]
    stuck = [(w, total, last) for w, total in open_ if not (w[::n] >= -separating).all()]
    outcomes = []
    for status, group in ((Status.SOLVED, ended), (Status.STEP_LIMIT, stuck)):
        for _, total, step in group:
            impulse, velocity = _motion(problem, space, total)
            outcomes.append(ImpactOutcome(velocity, impulse, status, 0.0, step))
    return Outcomes(outcomes, complete, continuum)


def _motion(problem: ContactProblem, space: ContactSpace, z: Array) -> tuple[Array, Array]:
    impulse, velocity = np.zeros((problem.contacts, 1 + problem.tangents)), np.empty(problem.nv)
    delassus.expand(space.A, space.scale, space.speed, z, impulse)
    delassus.apply(problem.velocity, space.R, impulse, velocity)
    return impulse, velocity


def _checked(problem: ContactProblem, caps: Array, directions: int) -> Array:
    check_directions(directions)
    if caps.ndim != 2 or caps.shape[1] != problem.contacts:
        raise ValueError(f"maximum impulses have shape {caps.shape[-2:]}; {problem.contacts} a step are needed")
    if not (np.isfinite(caps) & (caps >= 0.0)).all():
        raise ValueError("maximum impulses must be finite and ≥ 0")
    return caps
