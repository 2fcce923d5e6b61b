"""Force-acceleration complementarity with massless limbs, where accelerations of open contacts do not exist (J 38)."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.mechanics.contact_sets import closed_rows
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import ModeTable, cone_margin, find_modes
from hybrid_contact_ros.modes.solution import Law, ModeSolution


def massless_mode(
    problem: ContactProblem,
    scope: frozenset[int],
    slip_speed: float,
    tolerance: float = 1e-9,
    enumerate_all: bool | None = None,
) -> ModeSolution:
    """Solve FA in the form of J 38: (k ∈ J) ⇔ the force of k in mode J ∪ {k} is in its cone.

    Needs no acceleration of an open contact, so that M may be singular where the closed contacts hold its massless
    limbs (A5). Friction as in J Assumption A12: a contact at rest closes all its rows and is removed when its force
    leaves the friction cone; one that slides has no friction. Limbs without mass or contact get no acceleration (A6).

    Raises:
        ValueError: an enumeration of more than 12 touching contacts (by default, more are solved by pivoting).
    """
    m, d, _ = problem.tangent_jacobian.shape
    speed = np.sqrt(((problem.tangent_jacobian @ problem.velocity) ** 2).sum(axis=1))
    sliding = frozenset(i for i in scope if speed[i] > slip_speed)
    force = -problem.bias_force
    table = ModeTable(problem, sorted(scope), sliding, force, -problem.jacobian_drift)
    floor = 1e-12 * float(np.abs(force).max(initial=0.0))

    def holds(mask: int, k: int) -> bool | None:
        solution, reaction = table.solve(mask)
        if not (solution.regular and solution.consistent):
            return None
        slack = tolerance * float(np.abs(reaction).max(initial=0.0)) + floor
        return bool(cone_margin(problem, [table.contacts[k]], reaction)[0] >= -slack)

    found, singular, all_tried = find_modes(len(table.contacts), holds, enumerate_all)
    count = len(found) if all_tried else None
    status = np.full(m, ContactStatus.OPEN, dtype=np.uint8)
    regular = [mask for mask in found if table.solve(mask)[0].regular]
    if not regular:
        code = Status.SINGULAR if singular or found else Status.NONE_FOUND
        return ModeSolution(
            Law.FORCE_ACCELERATION,
            frozenset(),
            status,
            np.zeros((m, 1 + d)),
            np.zeros(problem.nv),
            False if all_tried else None,
            count,
            code,
            0.0,
        )
    mask = max(regular, key=lambda candidate: (candidate.bit_count(), -candidate))
    solution, reaction = table.solve(mask)
    members = table.members(mask)
    held = closed_rows(problem, members, sliding & set(members))
    for i in members:
        status[i] = ContactStatus.STICKING if held[i].all() else ContactStatus.SLIPPING
    rows = problem.jacobian().reshape(m, 1 + d, problem.nv)
    keep = np.eye(problem.nv) - solution.undecided.T  # forces on limbs left out (A6) move nothing here
    balance = keep @ (problem.mass @ solution.motion - force - np.einsum("ijk,ij->k", rows, reaction))
    still = (np.einsum("ijk,k->ij", rows, solution.motion) + problem.jacobian_drift)[held]
    largest = float(np.abs(problem.jacobian_drift).max(initial=0.0)) + float(np.abs(solution.motion).max(initial=0.0))
    # Forces that only the drift makes are balanced too: the measure is all that acts, not the bias, maybe rounding
    acting = np.abs(problem.mass) @ np.abs(solution.motion) + np.einsum("ijk,ij->k", np.abs(rows), np.abs(reaction))
    size = float((acting + np.abs(force)).max(initial=0.0))
    residual = max(
        float(np.abs(balance).max(initial=0.0)) / (size or 1.0),
        float(np.abs(still).max(initial=0.0)) / (largest or 1.0),
    )
    code = Status.SOLVED if residual <= 1e-7 else Status.INACCURATE
    return ModeSolution(
        Law.FORCE_ACCELERATION,
        frozenset(members),
        status,
        reaction,
        solution.motion,
        count == 1 if all_tried else None,
        count,
        code,
        residual,
    )
