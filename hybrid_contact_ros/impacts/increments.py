"""All velocities that one increment, or one whole sequence of increments, may lead to (Halm (72)–(75))."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace, check_directions
from hybrid_contact_ros.impacts.outcome import ImpactOutcome, Outcomes
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.kernels.impacts.increment import TOLERANCE
from hybrid_contact_ros.kernels.impacts.residual import increment_residual
from hybrid_contact_ros.mechanics.problem import ContactProblem

_SEPARATING = 1e-8  # m/s: a contact that approaches more slowly counts as separated, as in Halm's published code
_SAME = 1e-8  # scaled: two velocities that differ by no more than this in any component count as one


def increment_outcomes(problem: ContactProblem, maximum_impulse: ArrayLike, directions: int = 4) -> Outcomes:
    """All velocities v' after one increment: the solutions of Halm (72)–(75).

    There is one where Halm's Assumption 6 holds. The search is that of ``simultaneous_impact(…, all_solutions=True)``,
    which is the same without caps.

    Args:
        problem: with the velocity before the increment.
        maximum_impulse: Λ_max (m,), N s, the largest normal impulse of each contact.
        directions: k, even; vertices of the friction polygon (see ``simultaneous_impact``).

    Returns:
        Outcomes whose ``impulse`` (m, 1 + d) is the increment Λ, N s.

    Raises:
        ValueError: if ``maximum_impulse`` is not (m,), finite and ≥ 0, or ``directions`` is odd or below 2.
    """
    check_directions(directions)
    cap = _checked("maximum_impulse", maximum_impulse, problem.contacts, axes=1)
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
    problem: ContactProblem, maximum_impulses: ArrayLike, directions: int = 4, max_velocities: int = 10000
) -> Outcomes:
    """All velocities that one sample of Halm's Algorithm 1 with given draws can end with, whichever solutions are
    taken.

    The tree of all choices is followed, and velocities closer than 1e-8 of the approach are merged after every
    increment. The conventions are those of the published implementation, as with ``maximum_impulses`` of
    ``post_impact_set``.

    Args:
        problem: with v⁻ as its velocity.
        maximum_impulses: Λ_max of every increment (max_steps, m), N s.
        directions: k, even; vertices of the friction polygon (see ``simultaneous_impact``).
        max_velocities: how many velocities are followed after an increment, at most; ``complete`` is False if there
            were more.

    Returns:
        Terminated outcomes first, with status SOLVED, then those that still approach after the last step, with
        STEP_LIMIT. ``impulse`` is the sum, ``steps`` the increments.

    Raises:
        ValueError: as :func:`increment_outcomes`.
    """
    check_directions(directions)
    caps = _checked("maximum_impulses", maximum_impulses, problem.contacts, axes=2)
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
        complete &= len(following) <= max_velocities
        open_ = following[:max_velocities]
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
    impulse = space.impulses(z)
    return impulse, space.velocity_after(problem.velocity, impulse)


def _checked(name: str, values: ArrayLike, contacts: int, axes: int) -> Array:
    """The largest normal impulses as an array: (m,), or (steps, m) with two ``axes``.

    Raises:
        ValueError: another shape, or a number that is not finite and ≥ 0.
    """
    caps = np.asarray(values, dtype=float)
    if caps.ndim != axes or caps.shape[-1] != contacts:
        needed = f"({contacts},)" if axes == 1 else f"(steps, {contacts})"
        raise ValueError(f"{name} has shape {caps.shape}, {needed} is needed")
    if not (np.isfinite(caps) & (caps >= 0.0)).all():
        raise ValueError(f"{name} must be finite and ≥ 0")
    return caps
