"""Which contacts hold, with what force, and how the robot accelerates: force-acceleration complementarity (J 35–38)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.kernels.mechanics.contact_space import is_regular
from hybrid_contact_ros.kernels.modes.enumeration import enumerate_modes
from hybrid_contact_ros.kernels.modes.splitting import ROWS
from hybrid_contact_ros.mechanics.contact_sets import contact_set, not_negative, touching_contacts
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.massless import massless_mode
from hybrid_contact_ros.modes.solution import Law, ModeSolution
from hybrid_contact_ros.modes.workspace import PATIENT, TOLERANCE, ModeWorkspace

Array = NDArray[np.float64]

LARGEST_ENUMERATION = 8
"""Most touching contacts of an enumeration with friction: 3^8 modes."""
_LIMIT = 64
_STEPS = 2000  # of splitting, for each set of closed contacts


def force_acceleration_mode(
    problem: ContactProblem,
    touching: Iterable[int] | None = None,
    slip_speed: float = 1e-6,
    enumerate_all: bool = False,
    tolerance: float = TOLERANCE,
) -> ModeSolution:
    """Solve FA: closed contacts push within their friction cone, open ones do not accelerate into the surface.

    Each touching contact is in one of three states (a_n, a_t: acceleration of the contact point):

    * sticking: a = 0, ‖λ_t‖ ≤ μ λ_n;
    * slipping: a_n = 0, ‖λ_t‖ = μ λ_n against the tangential velocity, or, at rest, against a_t;
    * open: λ = 0, a_n ≥ 0.

    Ties close (J's ⪰; higher derivatives are not looked at). Deviations from J §2.8: kinetic friction is μ and not 0,
    and a slipping contact that has come to rest may stick again (J 70). With M singular the paper's own form is used,
    see :func:`~hybrid_contact_ros.modes.massless.massless_mode`.

    Redundant contacts (four points on one flat foot) leave the forces undecided while the acceleration is not. Of the
    forces that hold the mode those least in Σ g_i ‖λ_i‖² are returned; g_i (1/kg) is the mean of contact i's own
    diagonal of the Delassus matrix.

    Args:
        touching: the scope (J 33), by default the contacts with no gap that do not separate.
        slip_speed: m/s; contact points faster than this slide.
        enumerate_all: try all modes (up to 8 touching contacts) and report how many hold; otherwise ``unique`` is None.
        tolerance: of the scaled residual.

    Returns:
        law FORCE_ACCELERATION. INACCURATE when the residual is above the tolerance; NONE_FOUND when an enumeration
        finds no mode (with large friction there may be none: Painlevé).

    Raises:
        ValueError: an index out of range, or too many contacts for an enumeration.
    """
    not_negative(slip_speed=slip_speed, tolerance=tolerance)
    scope = touching_contacts(problem) if touching is None else contact_set("touching", touching, problem.contacts)
    if enumerate_all and len(scope) > LARGEST_ENUMERATION:
        raise ValueError(f"{len(scope)} contacts touch; up to {LARGEST_ENUMERATION} are enumerated with friction")
    if not is_regular(problem.mass, np.empty_like(problem.mass)):
        return massless_mode(problem, scope, slip_speed)
    m, d = problem.contacts, problem.tangents
    flags = np.zeros(m, dtype=np.uint8)
    flags[sorted(scope)] = 1
    work = ModeWorkspace(problem.nv, m, d, PATIENT)
    code, residual, _ = work.solve(problem, flags, slip_speed, tolerance)
    solved = _solution(work.contact_status, work.forces, work.acceleration, None, Status(code), residual)
    if not enumerate_all:
        return solved
    count, statuses, forces = _enumerate(problem, flags, work, tolerance)
    if count == 0:
        if solved.status is Status.SOLVED:  # a direction of sliding that the enumeration's own search missed
            return _solution(solved.contact_status, solved.forces, solved.acceleration, 1, Status.SOLVED, residual)
        nothing = np.zeros((m, 1 + d))
        free = np.linalg.solve(problem.mass, -problem.bias_force).astype(np.float64)
        return _solution(np.full(m, ContactStatus.OPEN, np.uint8), nothing, free, 0, Status.NONE_FOUND, residual)
    same = [j for j in range(min(count, _LIMIT)) if (statuses[j] == work.contact_status).all()]
    if solved.status is Status.SOLVED:
        return _solution(
            solved.contact_status, solved.forces, solved.acceleration, count + (not same), Status.SOLVED, residual
        )
    pushed = np.einsum("ijk,ij->k", problem.jacobian().reshape(m, 1 + d, problem.nv), forces[0])
    acceleration = np.linalg.solve(problem.mass, pushed - problem.bias_force).astype(np.float64)
    return _solution(statuses[0], forces[0], acceleration, count, Status.SOLVED, tolerance)


def _solution(
    status: NDArray[np.uint8], forces: Array, acceleration: Array, count: int | None, code: Status, residual: float
) -> ModeSolution:
    mode = frozenset(np.flatnonzero(status >= ContactStatus.STICKING).tolist())
    unique = None if count is None else count == 1
    return ModeSolution(
        Law.FORCE_ACCELERATION,
        mode,
        status.copy(),
        forces.copy(),
        acceleration.copy(),
        unique,
        count,
        code,
        float(residual),
    )


def _enumerate(
    problem: ContactProblem, touching: NDArray[np.uint8], work: ModeWorkspace, tolerance: float
) -> tuple[int, NDArray[np.uint8], Array]:
    m, d = problem.contacts, problem.tangents
    n = m * (1 + d)
    found = np.zeros((_LIMIT, m), dtype=np.uint8)
    forces = np.zeros((_LIMIT, n))
    count = enumerate_modes(
        d,
        _LIMIT,
        _STEPS,
        tolerance,
        work.delassus,
        work.free,
        problem.friction,
        touching,
        work.moving,
        work.slip_direction.copy(),
        np.zeros(m, dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        np.zeros((2 * n + ROWS, n)),
        np.zeros((2, n)),
        np.zeros(2 * n, dtype=np.int64),
        np.zeros(n),
        np.zeros(m, dtype=np.uint8),
        found,
        forces,
    )
    return count, found, forces.reshape(_LIMIT, m, 1 + d)
