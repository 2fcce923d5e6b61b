"""Which contacts hold after a plastic impact: impulse-velocity complementarity (J 46–50)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.mechanics.contact_sets import closed_rows, contact_set, touching_contacts
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import ModeTable, cone_margin, find_modes
from hybrid_contact_ros.modes.solution import Law, ModeSolution

Array = NDArray[np.float64]
_ROUNDING = 1e-12  # of the momentum: smaller impulses are none


def impulse_velocity_mode(
    problem: ContactProblem,
    touching: Iterable[int] | None = None,
    sliding: Iterable[int] = (),
    tolerance: float = 1e-9,
    enumerate_all: bool | None = None,
) -> ModeSolution:
    """Solve IV: the mode J with (k ∈ J) ⇔ the impulse of k in the plastic impact into J ∪ {k} is in its cone (J 50).

    The cone is λ_n ≥ 0 for a contact that slides or has no friction (it closes its normal only), and the friction
    cone besides for the others (they close their tangents too; J Assumption A12). As in J, a contact whose impulse
    would leave the friction cone is removed as a whole. That is meant for contacts on massless links, which get out
    of the way; on a heavy link such a contact may be removed while it still approaches: name it in ``sliding``, or
    use :func:`~hybrid_contact_ros.impacts.simultaneous.simultaneous_impact`. Without friction, and with M regular,
    the answer is unique and a removed contact separates (J Theorem 2).

    Args:
        problem: ``velocity`` is v⁻. M may be singular (J §2.3).
        touching: the scope I (J 33): contacts that may close, by default those with no gap that do not separate.
        sliding: contacts that hold their normal only. tolerance: relative, of "in the cone"; ties close.
        enumerate_all: try all modes (up to 12 touching contacts) and say whether several hold. False: find one by
            pivoting (:mod:`~hybrid_contact_ros.modes.pivoting`), and leave ``unique`` and ``count`` None. By default
            modes are enumerated up to 12 contacts.

    Returns:
        law IMPULSE_VELOCITY. NONE_FOUND where no mode fits; SINGULAR where none fits and some had no block inverse.
        With several, the one with most contacts (the first of them in binary order).

    Raises:
        ValueError: an index out of range, or an enumeration of more than 12 touching contacts.
    """
    table = impact_table(problem, touching, sliding)
    found, singular, all_tried = find_modes(len(table.contacts), impulse_predicate(table, tolerance), enumerate_all)
    return impact_solution(Law.IMPULSE_VELOCITY, table, found, singular, all_tried)


def impact_table(problem: ContactProblem, touching: Iterable[int] | None, sliding: Iterable[int]) -> ModeTable:
    """Plastic impacts into every subset of the touching contacts."""
    scope = touching_contacts(problem) if touching is None else contact_set("touching", touching, problem.contacts)
    slides = contact_set("sliding", sliding, problem.contacts)
    target = np.zeros((problem.contacts, 1 + problem.tangents))
    return ModeTable(problem, sorted(scope), slides, problem.mass @ problem.velocity, target)


def impulse_predicate(table: ModeTable, tolerance: float) -> Callable[[int, int], bool | None]:
    """U_k(P̂_J) ≥ 0, with ties inside ``tolerance`` of the largest impulse of the mode counting as ≥."""
    floor = _ROUNDING * _momentum_terms(table.problem)

    def holds(mask: int, k: int) -> bool | None:
        solution, reaction = table.solve(mask)
        if not solution.regular:
            return None
        slack = tolerance * float(np.abs(reaction).max(initial=0.0)) + floor
        return bool(cone_margin(table.problem, [table.contacts[k]], reaction)[0] >= -slack)

    return holds


def _momentum_terms(problem: ContactProblem) -> float:
    """Largest Σ|M||v⁻| of a coordinate: what the momentum is added up from, and so what its rounding is relative to."""
    return float((np.abs(problem.mass) @ np.abs(problem.velocity)).max(initial=0.0))


def impact_solution(
    law: Law, table: ModeTable, found: list[int], singular: bool, all_tried: bool = True
) -> ModeSolution:
    """Put the chosen one of the modes that were found into a solution."""
    count = len(found) if all_tried else None
    problem = table.problem
    m, d = problem.contacts, problem.tangents
    status = np.full(m, ContactStatus.OPEN, dtype=np.uint8)
    regular = [mask for mask in found if table.solve(mask)[0].regular]
    if not regular:
        code = Status.SINGULAR if singular or found else Status.NONE_FOUND
        nothing = np.zeros((m, 1 + d))
        unique = False if all_tried else None
        return ModeSolution(law, frozenset(), status, nothing, problem.velocity.copy(), unique, count, code, 0.0)
    mask = max(regular, key=lambda candidate: (candidate.bit_count(), -candidate))
    solution, reaction = table.solve(mask)
    members = table.members(mask)
    held = closed_rows(problem, members, table.sliding & set(members))
    velocity = solution.motion + solution.undecided @ problem.velocity
    for i in members:
        status[i] = ContactStatus.STICKING if held[i].all() else ContactStatus.SLIPPING
    rows = problem.jacobian().reshape(m, 1 + d, problem.nv)
    momentum = problem.mass @ (velocity - problem.velocity) - np.einsum("ijk,ij->k", rows, reaction)
    # Sums of absolute values: of a contact that only slides J_n v⁻ is rounding, which is no scale
    before = float((np.abs(rows) @ np.abs(problem.velocity)).max(initial=0.0))
    after = float(np.abs(np.einsum("ijk,k->ij", rows, velocity)[held]).max(initial=0.0))
    scale = _momentum_terms(problem)
    residual = max(after / (before or 1.0), float(np.abs(momentum).max(initial=0.0)) / (scale or 1.0))
    if law is Law.IMPULSE_VELOCITY and members:
        # Impulses at massless limbs vanish up to rounding, and count as 0 there as in the predicate
        worst = max(float(-cone_margin(problem, members, reaction).min()) - _ROUNDING * scale, 0.0)
        residual = max(residual, worst / (float(np.abs(reaction).max()) or 1.0))
    code = Status.SOLVED if residual <= 1e-7 else Status.INACCURATE
    return ModeSolution(
        law, frozenset(members), status, reaction, velocity, count == 1 if all_tried else None, count, code, residual
    )
