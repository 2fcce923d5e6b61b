"""How the motion and the forces of a contact mode change with the state, with friction and with controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Balance
from hybrid_contact_ros.sensitivity.contact_mode import RESTING, ContactMode, Direction
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient, coefficient_gradient
from hybrid_contact_ros.sensitivity.massless import limb_gradient

Array = NDArray[np.float64]
_WELL = 1e-3  # as of ``Balance``, for Cholesky's pivots, which are roots of those


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """What a mode does at a state.

    Attributes:
        acceleration: v̇ (nv,). force: λ (m, 1 + d), N, normal first, friction of sliding contacts included.
        edges: unit vectors of slip by sliding contact. problem: of the state.
    """

    acceleration: Array
    force: Array
    edges: dict[int, Direction]
    problem: ContactProblem

    @property
    def field(self) -> Array:
        """F = (v, v̇) (2 nv,) in the tangent space."""
        return np.concatenate((self.problem.velocity, self.acceleration))


@dataclass(frozen=True, slots=True, eq=False)
class MotionDerivative:
    """Derivatives of a mode's motion.

    Attributes:
        motion: the motion itself. acceleration: ∂v̇/∂(q, v) (nv, 2 nv). force: ∂λ/∂(q, v) (m, 1 + d, 2 nv).
        acceleration_friction: ∂v̇/∂μ (nv, m). force_friction: ∂λ/∂μ (m, 1 + d, m).
        friction: ∂μ/∂(q, v) (m, 2 nv), or None where it does not change with the state.
        acceleration_push, force_push: ∂v̇/∂f (nv, nv) and ∂λ/∂f (m, 1 + d, nv) of a generalised force f, into which a
            control parameter u enters by ∂f/∂u (Pace (27)).
    """

    motion: Motion
    acceleration: Array
    force: Array
    acceleration_friction: Array
    force_friction: Array
    acceleration_push: Array
    force_push: Array
    friction: Array | None = None


def motion_of(
    problem: ContactProblem, mode: ContactMode, resting: float = RESTING, known: Balance | None = None
) -> Motion:
    """Motion and forces of a mode: M v̇ + h = Sᵀτ + Jᵀλ, closed rows do not accelerate, sliding contacts rub.

    Args:
        known: the equations of an impact at this configuration, factored; taken if they are those of the mode, too.

    Raises:
        Unsolvable: the mode has no motion, or its forces are not unique and matter.
    """
    if not mode.closed:
        factor, acceleration, failed = dposv(problem.mass, -problem.bias_force)
        least = 0.0 if failed else float(factor.diagonal().min())
        if least > _WELL * float(factor.diagonal().max()):
            return Motion(acceleration, np.zeros((problem.contacts, 1 + problem.tangents)), {}, problem)
    edges, rows = mode.edges(problem, resting), mode.rows(problem)
    balance = known if known is not None and known.fits(rows, edges) else Balance(problem, rows, edges)
    return _motion(problem, balance, edges)


def _motion(problem: ContactProblem, balance: Balance, edges: dict[int, Direction]) -> Motion:
    target = -problem.jacobian_drift[balance.place][:, None] if balance.rows else np.zeros((0, 1))
    acceleration, pushing = balance.solve(-problem.bias_force[:, None], target)
    return Motion(acceleration[:, 0], balance.forces(pushing[:, 0]), edges, problem)


def motion_derivative(gradient: ProblemGradient, mode: ContactMode, resting: float = RESTING) -> MotionDerivative:
    """Differentiate the equations of :func:`motion_of`.

    In the plane the direction of slip is ±1 and does not change; in space it turns with the velocity as long as the
    contact is not at rest. Redundant rows are welcome where they belong to rigid bodies: forces are the least ones.

    Raises:
        Unsolvable: as :func:`motion_of`.
    """
    problem = gradient.problem
    n, m, d = problem.nv, problem.contacts, problem.tangents
    edges = mode.edges(problem, resting)
    balance = Balance(problem, mode.rows(problem), edges)
    motion = _motion(problem, balance, edges)
    change = gradient.motion(motion.acceleration)
    rates = gradient.rates(problem.velocity) if edges and d > 1 else None
    # Columns: q, v, μ of each contact, and a unit force along each coordinate.
    force = np.zeros((n, 3 * n + m))
    force[:, :n] = gradient.pushes(motion.force) - change.force_q
    force[:, n : 2 * n] = -change.force_v
    force[:, 2 * n + m :] = np.eye(n)
    turning: dict[int, Array] = {}
    for i, slip in edges.items():
        normal = motion.force[i, 0]
        tangents = problem.tangent_jacobian[i]
        force[:, 2 * n + i] -= normal * (slip @ tangents)
        turn = _turn(problem, i, slip, None if rates is None else rates[i, 1:], mode, resting)
        if turn is not None:
            turning[i] = turn
            force[:, : 2 * n] -= problem.friction[i] * normal * (tangents.T @ turn)
    target = np.zeros((len(balance.rows), 3 * n + m))
    for at, (i, r) in enumerate(balance.rows):
        target[at, :n], target[at, n : 2 * n] = -change.acceleration_q[i, r], -change.acceleration_v[i, r]
    acceleration, pushing = balance.solve(force, target)
    forces = np.zeros((m, 1 + d, 3 * n + m))
    for at, (i, r) in enumerate(balance.rows):
        forces[i, r] = pushing[at]
    for i, slip in edges.items():
        forces[i, 1:] = -problem.friction[i] * slip[:, None] * forces[i, 0]
        forces[i, 1:, 2 * n + i] -= motion.force[i, 0] * slip
        if i in turning:
            forces[i, 1:, : 2 * n] -= problem.friction[i] * motion.force[i, 0] * turning[i]
    state, friction, push = slice(2 * n), slice(2 * n, 2 * n + m), slice(2 * n + m, None)
    by_state, by_friction, by_push = acceleration[:, state], acceleration[:, friction], acceleration[:, push]
    force_state, force_friction, force_push = forces[:, :, state], forces[:, :, friction], forces[:, :, push]
    varying = coefficient_gradient(gradient)
    if varying is not None:
        varying = varying[:m]
        by_state, force_state = by_state + by_friction @ varying, force_state + force_friction @ varying
    return MotionDerivative(motion, by_state, force_state, by_friction, force_friction, by_push, force_push, varying)


def mode_motion(
    system: Any, q: Array, v: Array, time: float, mode: ContactMode, resting: float = RESTING
) -> MotionDerivative:
    """Motion of a system in a mode, and its derivatives, at a state and a time."""
    return motion_derivative(limb_gradient(system, q, v, time, mode.closed), mode, resting)


def _turn(
    problem: ContactProblem, contact: int, slip: Direction, rates: Array | None, mode: ContactMode, resting: float
) -> Array | None:
    """∂s/∂(q, v) (d, 2 nv) of a slip direction s in space; None where it does not turn."""
    if rates is None:
        return None
    speed = float(np.sqrt(((problem.tangent_jacobian[contact] @ problem.velocity) ** 2).sum()))
    if speed <= resting and contact in mode.directions:
        return None
    across = (np.eye(2) - np.outer(slip, slip)) / speed
    return np.hstack((across @ rates, across @ problem.tangent_jacobian[contact]))
