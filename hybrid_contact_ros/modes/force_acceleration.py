"""Which contacts hold, with what force, and how the robot accelerates: force-acceleration complementarity.

The problem is Johnson (35)–(38), with Coulomb friction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.kernels.mechanics.contact_space import is_regular
from hybrid_contact_ros.kernels.modes.enumeration import enumerate_modes
from hybrid_contact_ros.kernels.modes.records import ContactDynamics, ModesFound, SearchScratch, mode_scratch
from hybrid_contact_ros.mechanics.contact_sets import contact_set, not_negative, touching_contacts
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.massless import massless_mode
from hybrid_contact_ros.modes.solution import Law, ModeSolution
from hybrid_contact_ros.modes.workspace import OFFLINE_STEPS, TOLERANCE, ModeWorkspace

Array = NDArray[np.float64]
Trends: TypeAlias = Callable[[frozenset[int]], tuple[NDArray[np.uint8], int] | None]
"""Statuses (m,) by higher derivatives for touching contacts, and the order that decided (``simulation.trends``)."""

MOST_IN_THREE_STATES = 8
"""Most touching contacts that ``enumerate_all`` tries in all states (open, sticking, slipping): 3^8 modes."""
_MODE_LIMIT = 64  # an enumeration ends when it has found this many modes
_STEPS = 2000  # of operator splitting at most, for each set of closed contacts


def force_acceleration_mode(
    problem: ContactProblem,
    touching: Iterable[int] | None = None,
    slip_speed: float = 1e-6,
    enumerate_all: bool = False,
    tolerance: float = TOLERANCE,
    trends: Trends | None = None,
) -> ModeSolution:
    """Find the contacts that stay closed under the forces that act, and these forces (Johnson (38), "FA").

    Closed contacts push within their friction cone, and open contacts do not accelerate into the surface.

    A block of 1 kg on the ground, pushed by 3 N, sticks where its friction is 0.5:

    >>> from hybrid_contact_ros import ContactProblem, force_acceleration_mode
    >>> block = ContactProblem(
    ...     mass=[[1.0, 0.0], [0.0, 1.0]], velocity=[0.0, 0.0], normal_jacobian=[[0.0, 1.0]],
    ...     tangent_jacobian=[[[1.0, 0.0]]], friction=[0.5], bias_force=[-3.0, 9.81],
    ... )
    >>> solution = force_acceleration_mode(block)
    >>> solution.contact_status.tolist(), solution.forces.round(6).tolist()  # 2 is STICKING; normal force first
    ([2], [[9.81, -3.0]])

    Each touching contact is in one of three states (a_n, a_t: acceleration of the contact point):

    * sticking: a = 0, ‖λ_t‖ ≤ μ λ_n;
    * slipping: a_n = 0, ‖λ_t‖ = μ λ_n against the tangential velocity, or, at rest, against a_t;
    * open: λ = 0, a_n ≥ 0.

    Ties close: a contact that neither pushes nor accelerates is closed. Johnson's ⪰ lets the first derivative along the
    motion decide that does not vanish; one problem does not know its motion, and ``trends`` does. The problem differs
    from Johnson §2.8 in two ways: kinetic friction is μ and not 0, and a slipping contact that has come to rest may
    stick again (Johnson (70)). With M singular the paper's own form is used, see
    :func:`~hybrid_contact_ros.modes.massless.massless_mode`.

    Redundant contacts (four points on one flat foot) leave the forces undecided while the acceleration is not. Of the
    forces that hold the mode those least in Σ g_i ‖λ_i‖² are returned; g_i (1/kg) is the mean of contact i's own
    diagonal of the Delassus matrix.

    Args:
        problem: m contacts, each with d tangents. M (nv, nv) must be positive semidefinite; restitution and gaps play
            no part beside the default of ``touching``.
        touching: the scope (Johnson (33)): indices of contacts, by default of those with no gap that do not separate.
        slip_speed: m/s; contact points faster than this slide.
        enumerate_all: try all modes (up to 8 touching contacts) and report how many hold; otherwise ``unique`` is None.
        tolerance: of the scaled residual.
        trends: decides ties as ``simulate`` does: a
            :class:`~hybrid_contact_ros.simulation.trends.ModeTrends` of the system at this state. Forces and
            acceleration are the same in all modes of a tie; ``trend_order`` tells the derivative.

    Returns:
        A solution with the law FORCE_ACCELERATION: ``mode``, a frozenset of indices; ``forces`` (m, 1 + d), N;
        ``acceleration`` (nv,), v̇; ``contact_status`` (m,). Its status is INACCURATE where the residual is above the
        tolerance, and NONE_FOUND where an enumeration finds no mode (with large friction there may be none: Painlevé).

    Raises:
        ValueError: an index out of range, or too many contacts for an enumeration.
    """
    not_negative(slip_speed=slip_speed, tolerance=tolerance)
    scope = touching_contacts(problem) if touching is None else contact_set("touching", touching, problem.contacts)
    if enumerate_all and len(scope) > MOST_IN_THREE_STATES:
        raise ValueError(f"{len(scope)} contacts touch; up to {MOST_IN_THREE_STATES} are enumerated with friction")
    if trends is not None:
        plain = force_acceleration_mode(problem, scope, slip_speed, enumerate_all, tolerance)
        return _by_trends(plain, trends(scope))
    if not is_regular(problem.mass, np.empty_like(problem.mass)):
        return massless_mode(problem, scope, slip_speed)
    m, d = problem.contacts, problem.tangents
    flags = np.zeros(m, dtype=np.uint8)
    flags[sorted(scope)] = 1
    work = ModeWorkspace(problem.nv, m, d, OFFLINE_STEPS)
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
    same = [j for j in range(min(count, _MODE_LIMIT)) if (statuses[j] == work.contact_status).all()]
    if solved.status is Status.SOLVED:
        return _solution(
            solved.contact_status, solved.forces, solved.acceleration, count + (not same), Status.SOLVED, residual
        )
    pushed = np.einsum("ijk,ij->k", problem.jacobian().reshape(m, 1 + d, problem.nv), forces[0])
    acceleration = np.linalg.solve(problem.mass, pushed - problem.bias_force).astype(np.float64)
    return _solution(statuses[0], forces[0], acceleration, count, Status.SOLVED, tolerance)


def _by_trends(plain: ModeSolution, trend: tuple[NDArray[np.uint8], int] | None) -> ModeSolution:
    """The solution in the mode that higher derivatives decided, where they did decide."""
    if trend is None or trend[1] == 0 or plain.status is not Status.SOLVED:
        return plain  # no derivative was needed: then there is no tie
    statuses, order = trend
    mode = frozenset(np.flatnonzero(statuses >= ContactStatus.STICKING).tolist())
    return replace(plain, mode=mode, contact_status=statuses, trend_order=order)


def _solution(
    status: NDArray[np.uint8], forces: Array, acceleration: Array, count: int | None, code: Status, residual: float
) -> ModeSolution:
    mode = frozenset(np.flatnonzero(status >= ContactStatus.STICKING).tolist())
    unique = None if count is None else count == 1
    return ModeSolution(
        law=Law.FORCE_ACCELERATION,
        mode=mode,
        contact_status=status.copy(),
        reaction=forces.copy(),
        motion=acceleration.copy(),
        unique=unique,
        count=count,
        status=code,
        residual=float(residual),
    )


def _enumerate(
    problem: ContactProblem, touching: NDArray[np.uint8], work: ModeWorkspace, tolerance: float
) -> tuple[int, NDArray[np.uint8], Array]:
    """How many modes hold, their contact statuses (limit, m) and their forces (limit, m, 1 + d)."""
    m, d = problem.contacts, problem.tangents
    n = m * (1 + d)
    search = SearchScratch(
        slip=work.slip_direction.copy(),
        state=np.zeros(m, dtype=np.int64),
        intended=np.zeros(m, dtype=np.int64),
        accelerations=np.zeros(n),
        status=np.zeros(m, dtype=np.uint8),
    )
    out = ModesFound(np.zeros((_MODE_LIMIT, m), dtype=np.uint8), np.zeros((_MODE_LIMIT, n)))
    dynamics = ContactDynamics(d, work.delassus, work.free, problem.friction)
    count = enumerate_modes(_STEPS, tolerance, dynamics, touching, work.moving, search, mode_scratch(n), out)
    return count, out.modes, out.forces.reshape(_MODE_LIMIT, m, 1 + d)
