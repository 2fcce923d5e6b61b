"""A slip in space as it comes to rest: its direction of approach, and what becomes of changes across it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Balance
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode, Direction
from hybrid_contact_ros.sensitivity.mode_gradient import Motion, motion_of

Array = NDArray[np.float64]
_ATTRACTED = 1e-3  # relative: by which the rate across may fall short of the rate along, through tolerances
_STEPS, _FAR = 8, 0.2  # of Newton's method for the direction of approach; the angle, rad, that it may find


@dataclass(frozen=True, slots=True, eq=False)
class Approach:
    """How a slip ends.

    Attributes:
        motion: with the limit ŝ of its direction. slip: ŝ (2,).
        projection: Π (2 nv, 2 nv), what becomes of small changes of the state in the last moment of the slip.
    """

    motion: Motion
    slip: Direction
    projection: Array


def approach(
    problem: ContactProblem, mode: ContactMode, contact: int, stopping: frozenset[int], rates: Array
) -> Approach | str:
    """The end of a slip, or why it has no differentiable limit.

    With û across ŝ, κ = −ŝ·a_t the deceleration and b = −∂v̇/∂θ as ŝ turns by θ towards û, a slip δ_u across ŝ obeys
    δ̇_u = −(û J_t b) δ_u / ρ at the speed ρ, and all velocities δv̇ = −b δ_u / ρ. As ρ falls to zero this takes δv to
    (1 − b û J_t / (û J_t b)) δv, whatever κ is. The angle itself obeys θ̇ = (κ − û J_t b) (θ − θ*) / ρ about the limit
    θ*, where û·a_t = 0. At a small but finite speed it is not there yet, and Newton's method takes it there.

    Args:
        problem: at the end of the slip. mode: before it. contact: that stops, with the others of ``stopping``.
        rates: ∂(J_t v)/∂q (2, nv) of the contact.
    """
    n, tangents = problem.nv, problem.tangent_jacobian[contact]
    velocity = tangents @ problem.velocity
    slip = mode.edges(problem, 0.0)[contact] if not velocity.any() else velocity / np.linalg.norm(velocity)
    first = slip
    for _ in range(_STEPS):
        aligned = ContactMode(mode.closed, mode.sliding, dict.fromkeys(stopping, slip))
        motion = motion_of(problem, aligned, np.inf)
        across = np.array([-slip[1], slip[0]])
        rows = aligned.rows(problem)
        push = np.zeros(n)
        for i in stopping:
            push += problem.friction[i] * motion.force[i, 0] * (across @ problem.tangent_jacobian[i])
        turned = Balance(problem, rows, motion.edges).solve(push[:, None], np.zeros((len(rows), 1)))[0][:, 0]
        acceleration = tangents @ motion.acceleration + problem.jacobian_drift[contact, 1:]
        rate, slowing, sideways = float(across @ tangents @ turned), -float(slip @ acceleration), across @ acceleration
        if not slowing > 0.0:
            return f"contact {contact} does not slow down"
        if rate < (1.0 - _ATTRACTED) * slowing:
            return f"the slip of contact {contact} turns away from its direction as it stops"
        if rate - slowing < _ATTRACTED * slowing or abs(sideways) <= 1e-13 * slowing:
            break
        angle = sideways / (rate - slowing)
        slip = np.cos(angle) * slip + np.sin(angle) * across
        if first @ slip < np.cos(_FAR):
            return f"the slip of contact {contact} has not found its last direction yet"
    projection = np.eye(2 * n)
    projection[n:] -= np.outer(turned, np.concatenate((across @ rates, across @ tangents))) / rate
    return Approach(motion, slip, projection)
