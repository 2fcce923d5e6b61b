"""Force-acceleration complementarity with massless limbs, where open contacts have no acceleration (Johnson (38))."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import ModeTable, best_mode, cone_margin, find_modes
from hybrid_contact_ros.modes.solution import Law, ModeSolution

Array = NDArray[np.float64]
_ROUNDING = 1e-12  # a force below this part of the largest applied one counts as none


def massless_mode(
    problem: ContactProblem,
    scope: frozenset[int],
    slip_speed: float,
    tolerance: float = 1e-9,
    enumerate_all: bool | None = None,
) -> ModeSolution:
    """Find the contacts whose forces hold them closed, also with massless limbs, in the form of Johnson (38).

    A contact k is in the mode exactly where its force in the mode ∪ {k} is in its cone.

    This form needs no acceleration of an open contact, so that M may be singular where the closed contacts hold its
    massless limbs (Assumption A5). Friction is as in Assumption A12: a contact at rest closes all its rows and is
    removed when its force leaves the friction cone; one that slides has no friction. Limbs without mass or contact get
    no acceleration (Assumption A6).

    Args:
        scope: contacts that touch. slip_speed: m/s; contact points faster than this slide.
        tolerance: a force outside its cone by this part of the largest force counts as inside.
        enumerate_all: as of :func:`~hybrid_contact_ros.modes.impulse_velocity.impulse_velocity_mode`.

    Raises:
        ValueError: an enumeration of more than 12 touching contacts (by default, more are solved by pivoting).
    """
    m, d, _ = problem.tangent_jacobian.shape
    speed = np.sqrt(((problem.tangent_jacobian @ problem.velocity) ** 2).sum(axis=1))
    sliding = frozenset(i for i in scope if speed[i] > slip_speed)
    force = -problem.bias_force
    table = ModeTable(problem, sorted(scope), sliding, force, -problem.jacobian_drift)
    floor = _ROUNDING * float(np.abs(force).max(initial=0.0))

    def holds(mask: int, k: int) -> bool | None:
        solution, reaction = table.solve(mask)
        if not (solution.regular and solution.consistent):
            return None
        slack = tolerance * float(np.abs(reaction).max(initial=0.0)) + floor
        return bool(cone_margin(problem, [table.contacts[k]], reaction)[0] >= -slack)

    found, singular, all_tried = find_modes(len(table.contacts), holds, enumerate_all)
    count = len(found) if all_tried else None
    mask = best_mode(table, found)
    if mask is None:
        nothing = np.zeros((m, 1 + d))
        return ModeSolution.failed(
            Law.FORCE_ACCELERATION, nothing, np.zeros(problem.nv), singular or bool(found), count
        )
    solution, reaction = table.solve(mask)
    held = table.held(mask)
    residual = _residual(table, mask, held)
    return ModeSolution.found(Law.FORCE_ACCELERATION, held, reaction, solution.motion, count, residual)


def _residual(table: ModeTable, mask: int, held: NDArray[np.bool_]) -> float:
    """Largest violation of M v̇ + h − Sᵀτ = Jᵀλ and of the accelerations that the mode closes, each over its scale."""
    problem, (solution, reaction) = table.problem, table.solve(mask)
    force = -problem.bias_force
    rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
    kept = np.eye(problem.nv) - solution.undecided.T  # forces on limbs left out (A6) move nothing here
    balance = kept @ (problem.mass @ solution.motion - force - np.einsum("ijk,ij->k", rows, reaction))
    still = (np.einsum("ijk,k->ij", rows, solution.motion) + problem.jacobian_drift)[held]
    largest = float(np.abs(problem.jacobian_drift).max(initial=0.0)) + float(np.abs(solution.motion).max(initial=0.0))
    # Forces that only the drift causes are balanced too: the scale is all that acts, for the bias may be rounding of
    # zero
    acting = np.abs(problem.mass) @ np.abs(solution.motion) + np.einsum("ijk,ij->k", np.abs(rows), np.abs(reaction))
    size = float((acting + np.abs(force)).max(initial=0.0))
    return max(
        float(np.abs(balance).max(initial=0.0)) / (size or 1.0),
        float(np.abs(still).max(initial=0.0)) / (largest or 1.0),
    )
