"""Which contacts hold after a plastic impact: impulse-velocity complementarity (Johnson (46)–(50))."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.contact_sets import contact_set, touching_contacts
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import ModeTable, best_mode, cone_margin, find_modes
from hybrid_contact_ros.modes.solution import Law, ModeSolution

Array = NDArray[np.float64]
_ROUNDING = 1e-12  # an impulse below this part of the momentum counts as none


def impulse_velocity_mode(
    problem: ContactProblem,
    touching: Iterable[int] | None = None,
    sliding: Iterable[int] = (),
    tolerance: float = 1e-9,
    enumerate_all: bool | None = None,
) -> ModeSolution:
    """Find the contacts that stay closed after a plastic impact (Johnson (50), "IV").

    A contact k is in the mode exactly where its impulse in the plastic impact into mode ∪ {k} is in its cone. The cone
    is Λ_n ≥ 0 for a contact that slides or has no friction (it closes its normal only), and the friction cone for the
    others (they close their tangents too; Johnson, Assumption A12). As in the paper, a contact whose impulse would
    leave the friction cone is removed as a whole. That is meant for contacts on massless links, which get out of the
    way; on a heavy link such a contact may be removed while it still approaches: name it in ``sliding``, or use
    :func:`~hybrid_contact_ros.impacts.simultaneous.simultaneous_impact`. Without friction, and with M regular, the
    answer is unique and a removed contact separates (Johnson, Theorem 2).

    A point falls into a corner, whose floor and wall both hold it:

    >>> from hybrid_contact_ros import ContactProblem, impulse_velocity_mode
    >>> corner = ContactProblem(
    ...     mass=[[1.0, 0.0], [0.0, 1.0]], velocity=[-1.0, -2.0], normal_jacobian=[[1.0, 0.0], [0.0, 1.0]],
    ...     tangent_jacobian=[[[0.0, 1.0]], [[1.0, 0.0]]], friction=[0.0, 0.0],
    ... )
    >>> solution = impulse_velocity_mode(corner)
    >>> sorted(solution.mode), solution.impulses[:, 0].round(6).tolist(), solution.unique
    ([0, 1], [1.0, 2.0], True)

    Args:
        problem: m contacts, each with d tangents; its velocity (nv,) is v⁻. M (nv, nv) may be singular (Johnson §2.3).
        touching: the scope (Johnson (33)): indices of the contacts that may close, by default those with no gap that
            do not separate.
        sliding: indices of contacts that hold their normal only.
        tolerance: an impulse outside its cone by this part of the largest impulse counts as inside: ties close.
        enumerate_all: True tries all modes (up to 12 touching contacts) and says whether several hold; False finds one
            by pivoting (:mod:`~hybrid_contact_ros.modes.pivoting`) and leaves ``unique`` and ``count`` None. By default
            modes are enumerated up to 12 contacts.

    Returns:
        A solution with the law IMPULSE_VELOCITY: ``mode``, a frozenset of indices; ``impulses`` (m, 1 + d), N s;
        ``velocity`` (nv,), v⁺; ``contact_status`` (m,). Its status is NONE_FOUND where no mode fits, and SINGULAR where
        none fits and some had no block inverse. Where several fit, it is the one with most contacts, the first of them
        in binary order.

    Raises:
        ValueError: an index out of range, or an enumeration of more than 12 touching contacts.
    """
    table = impact_table(problem, touching, sliding)
    found, singular, all_tried = find_modes(len(table.contacts), impulse_predicate(table, tolerance), enumerate_all)
    return impact_solution(Law.IMPULSE_VELOCITY, table, found, singular, all_tried)


def impact_table(problem: ContactProblem, touching: Iterable[int] | None, sliding: Iterable[int]) -> ModeTable:
    """The table of plastic impacts into every subset of the touching contacts."""
    scope = touching_contacts(problem) if touching is None else contact_set("touching", touching, problem.contacts)
    slides = contact_set("sliding", sliding, problem.contacts)
    target = np.zeros((problem.contacts, 1 + problem.tangents))
    return ModeTable(problem, sorted(scope), slides, problem.mass @ problem.velocity, target)


def impulse_predicate(table: ModeTable, tolerance: float) -> Callable[[int, int], bool | None]:
    """The predicate of IV: whether the impulse of a contact in a mode is in its cone, within ``tolerance``."""
    floor = _ROUNDING * _momentum_terms(table.problem)

    def holds(mask: int, k: int) -> bool | None:
        solution, reaction = table.solve(mask)
        if not solution.regular:
            return None
        slack = tolerance * float(np.abs(reaction).max(initial=0.0)) + floor
        return bool(cone_margin(table.problem, [table.contacts[k]], reaction)[0] >= -slack)

    return holds


def _momentum_terms(problem: ContactProblem) -> float:
    """Largest Σ|M||v⁻| of a coordinate: the momentum is added up from these terms, and its rounding is relative to
    them."""
    return float((np.abs(problem.mass) @ np.abs(problem.velocity)).max(initial=0.0))


def impact_solution(
    law: Law, table: ModeTable, found: list[int], singular: bool, all_tried: bool = True
) -> ModeSolution:
    """The solution of the best of the modes that were found; a failed one where none has a block inverse.

    Args:
        found: masks over ``table.contacts``. singular: whether a mode without block inverse was met. all_tried: whether
            ``found`` are all masks there are.
    """
    count = len(found) if all_tried else None
    problem = table.problem
    m, d = problem.contacts, problem.tangents
    mask = best_mode(table, found)
    if mask is None:
        nothing = np.zeros((m, 1 + d))
        return ModeSolution.failed(law, nothing, problem.velocity.copy(), singular or bool(found), count)
    solution, reaction = table.solve(mask)
    members = table.members(mask)
    held = table.held(mask)
    velocity = solution.motion + solution.undecided @ problem.velocity
    rows = problem.jacobian().reshape(m, 1 + d, problem.nv)
    momentum = problem.mass @ (velocity - problem.velocity) - np.einsum("ijk,ij->k", rows, reaction)
    # The scale is a sum of absolute values: where a contact only slides, J_n v⁻ is rounding of zero
    before = float((np.abs(rows) @ np.abs(problem.velocity)).max(initial=0.0))
    after = float(np.abs(np.einsum("ijk,k->ij", rows, velocity)[held]).max(initial=0.0))
    scale = _momentum_terms(problem)
    residual = max(after / (before or 1.0), float(np.abs(momentum).max(initial=0.0)) / (scale or 1.0))
    if law is Law.IMPULSE_VELOCITY and members:
        # Impulses at massless limbs vanish up to rounding, and count as 0 here as in the predicate
        worst = max(float(-cone_margin(problem, members, reaction).min()) - _ROUNDING * scale, 0.0)
        residual = max(residual, worst / (float(np.abs(reaction).max()) or 1.0))
    return ModeSolution.found(law, held, reaction, velocity, count, residual)
