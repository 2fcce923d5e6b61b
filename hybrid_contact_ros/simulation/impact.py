"""The mode and velocity after an impact (Johnson (21)-(26), (46)-(58)), with restitution where contacts have any."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.kernels.stability.chain_impact import REBOUNDS, SMALLER
from hybrid_contact_ros.mechanics.block_inverse import constrained_motion
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
from hybrid_contact_ros.modes.pseudo_impulse import pseudo_impulse_mode
from hybrid_contact_ros.simulation.friction_polygon import DIRECTIONS, aligned_with_slip
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.options import Options

Array = NDArray[np.float64]
_MAX_STEPS = 30  # of the active-set method for the least energy, per contact; three are the rule


@dataclass(frozen=True, slots=True, eq=False)
class ImpactResult:
    """The outcome of an impact.

    Attributes:
        mode: the one after the impact. velocity: v⁺ (nv,).
        impulse: Λ (m, 1 + d), N s, that of the restitution included.
        bounced: contacts that leave by restitution. status: of the impact law. unique: whether its mode is; None where
            the law does not say. decided: False where the law had no mode (Johnson's Assumption A10 fails) and a
            simpler law was taken.
    """

    mode: HybridMode
    velocity: Array
    impulse: Array
    bounced: frozenset[int]
    status: Status
    unique: bool | None
    decided: bool = True


def impact(
    problem: ContactProblem, mode: HybridMode, scope: frozenset[int], options: Options, regular: bool
) -> ImpactResult:
    """Resolve the impact of the approaching contacts of ``scope`` out of ``mode``.

    A contact that slides already closes its normal only. One whose impulse leaves the friction cone is removed, as in
    Johnson's Assumption A12; where it is on a heavy link, and would go on approaching, it closes its normal only
    instead (without friction Johnson's Theorem 2 excludes that). Where the pseudo-impulse's problem has no mode, that
    of the impulses is taken, and where that has none, that of impulses without friction, which with regular M always
    has one. A removed massless limb gets out of the way: it stops approaching, which costs nothing.

    Args:
        problem: at the impact, with v⁻. scope: contacts that touch and do not separate. regular: whether M is
            invertible.
    """
    resting = options.velocity_tolerance
    sliding = set(mode.sliding)
    if options.law == "simultaneous":
        return _rebound(problem, _simultaneous(problem, scope, resting), resting, regular)
    law, decided = options.law, True
    while True:
        if law == "pseudo-impulse":
            found = pseudo_impulse_mode(problem, scope, options.duration, sliding & scope)
        else:
            found = impulse_velocity_mode(problem, scope, sliding & scope)
        rough = {i for i in scope if problem.friction[i] > 0.0} - sliding
        if found.status is Status.NONE_FOUND and (law == "pseudo-impulse" or rough):
            if law == "impulse-velocity":
                sliding |= rough
            law, decided = "impulse-velocity", False
            continue
        if found.status not in (Status.SOLVED, Status.INACCURATE):
            nothing = frozenset[int]()
            return ImpactResult(
                mode, problem.velocity.copy(), found.impulses, nothing, found.status, found.unique, decided
            )
        rate = problem.normal_jacobian @ found.velocity
        approaching = {i for i in scope - found.mode if rate[i] < -resting}
        more = {i for i in approaching if problem.friction[i] > 0.0} - sliding
        if not more or not regular:
            break
        sliding |= more
    velocity = found.velocity
    if approaching and not regular:
        velocity = stop_massless_approach(
            problem, HybridMode(found.mode, frozenset(sliding) & found.mode), approaching, velocity
        )
        if (problem.normal_jacobian[sorted(approaching)] @ velocity < -resting).any():  # nor can it move away
            nothing = frozenset[int]()
            return ImpactResult(mode, problem.velocity.copy(), found.impulses, nothing, Status.SINGULAR, False)
    slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, velocity) ** 2).sum(axis=1))
    slides = frozenset(i for i in found.mode & sliding if problem.friction[i] > 0.0 and slip[i] > resting)
    result = ImpactResult(
        HybridMode(found.mode, slides), velocity, found.impulses, frozenset(), found.status, found.unique, decided
    )
    return _rebound(problem, result, resting, regular)


def _simultaneous(problem: ContactProblem, scope: frozenset[int], resting: float) -> ImpactResult:
    order = sorted(scope)
    chosen, turns = aligned_with_slip(problem, order)
    outcome = simultaneous_impact(chosen, DIRECTIONS)
    impulse = np.zeros((problem.contacts, 1 + problem.tangents))
    impulse[order] = outcome.impulse
    impulse[order, 1:] = np.einsum("ikj,ik->ij", turns, outcome.impulse[:, 1:])
    rate = problem.normal_jacobian @ outcome.velocity
    slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, outcome.velocity) ** 2).sum(axis=1))
    closed = frozenset(i for i in scope if rate[i] <= resting)
    slides = frozenset(i for i in closed if problem.friction[i] > 0.0 and slip[i] > resting)
    return ImpactResult(HybridMode(closed, slides), outcome.velocity, impulse, frozenset(), outcome.status, None)


def _rebound(problem: ContactProblem, plastic: ImpactResult, resting: float, regular: bool) -> ImpactResult:
    """Poisson's law: contacts that approached get e times their impulse back along the normal, and none penetrates.

    For one contact without friction it is v⁺ = v⁻ − (1 + e) A†ᵀA v⁻ (Johnson §2.5; Or (4)). With friction, or several
    contacts, the returned impulses are made smaller where they would add energy.
    """
    before = problem.normal_jacobian @ problem.velocity
    e = np.where((before < -resting) & (plastic.impulse[:, 0] > 0.0), problem.restitution, 0.0)
    if not regular or not e.any():
        return plastic
    order = sorted(plastic.mode.closed)
    rows = problem.normal_jacobian[order]
    root = np.linalg.cholesky(problem.mass)
    lift = np.linalg.solve(root, rows.T)  # (J_n M^-1/2)ᵀ, so that velocities are measured in √J
    stopped = root.T @ plastic.velocity
    back = (e * plastic.impulse[:, 0])[order]
    energy = problem.velocity @ problem.mass @ problem.velocity
    factor, impulse, leaving = 1.0, back, stopped
    for attempt in range(REBOUNDS + 1):
        if attempt == REBOUNDS:
            factor = 0.0  # where friction jams, impulses are so large that hardly any part of them could be given back
        leaving = stopped + lift @ (factor * back)
        more = nnls(lift, -leaving, maxiter=_MAX_STEPS * len(order))[0]  # 0 ≤ Λ ⊥ J v⁺ ≥ 0, as the least kinetic energy
        leaving = leaving + lift @ more
        impulse = factor * back + more
        if leaving @ leaving <= energy * (1.0 + 1e-12):
            break
        factor *= SMALLER
    velocity = np.linalg.solve(root.T, leaving)
    total = plastic.impulse.copy()
    total[order, 0] += impulse
    rate = problem.normal_jacobian @ velocity
    separating = frozenset(i for i in plastic.mode.closed if rate[i] > resting)
    slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, velocity) ** 2).sum(axis=1))
    closed = plastic.mode.closed - separating
    slides = frozenset(i for i in closed if problem.friction[i] > 0.0 and slip[i] > resting)
    bounced = frozenset(i for i in separating if e[i] > 0.0)
    return ImpactResult(
        HybridMode(closed, slides), velocity, total, bounced, plastic.status, plastic.unique, plastic.decided
    )


def stop_massless_approach(
    problem: ContactProblem, mode: HybridMode, contacts: Iterable[int], velocity: Array
) -> Array:
    """v (nv,) with the approach of open ``contacts`` of massless limbs stopped by these limbs' own motion.

    That carries no momentum (Johnson's Assumption A6).
    """
    closed = mode.closed_rows(problem)
    rows = problem.jacobian().reshape(problem.contacts, -1, problem.nv)
    points = rows[sorted(mode.closed)].reshape(-1, problem.nv)
    nothing = np.zeros(problem.nv)
    free = constrained_motion(problem.mass, rows[closed], points, nothing, np.zeros(int(closed.sum()))).undecided
    normals = problem.normal_jacobian[sorted(contacts)]
    change = np.linalg.lstsq(normals @ free, -(normals @ velocity), rcond=1e-9)[0]
    return np.asarray(velocity + free @ change, dtype=np.float64)
