"""Plastic impact into a given contact mode (Johnson (23)–(25))."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.outcome import ImpactOutcome
from hybrid_contact_ros.mechanics.block_inverse import constrained_motion
from hybrid_contact_ros.mechanics.contact_sets import closed_rows, contact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

_TOLERANCE = 1e-8  # scaled: largest residual of an answer that counts as solved


def plastic_impact(problem: ContactProblem, mode: Iterable[int], sliding: Iterable[int] = ()) -> ImpactOutcome:
    """Stop the contacts of ``mode`` at once: v⁺ = M†M v⁻ and Λ = −A†M v⁻ with the rows A that they close.

    A closed contact holds its normal and all its tangents; one in ``sliding``, or without friction, holds its normal
    only and slides freely (Johnson, Assumption A12). The signs of the impulses are not checked: the contacts are glued
    for the instant, so that the impulse of a wrong mode pulls, or leaves the friction cone.
    :func:`~hybrid_contact_ros.modes.impulse_velocity.impulse_velocity_mode` chooses the mode. Restitution is not used
    (Johnson, Assumption A8).

    M may be singular where the closed contacts hold its massless limbs (A5). Limbs without mass or contact keep their
    velocity unchanged (A6). Redundant contacts share the least impulse in the Euclidean norm; v⁺ does not depend on it.

    Args:
        problem: m contacts, each with d tangents, at the configuration of the impact; ``velocity`` (nv,) is v⁻.
        mode: indices of the contacts that are closed after the impact.
        sliding: indices of those among them that hold the normal only.

    Returns:
        ``velocity`` (nv,) is v⁺, and ``impulse`` (m, 1 + d) is Λ, N s, the normal first.
        ``status`` is SOLVED, or SINGULAR where Assumption A5 fails (then v⁺ = v⁻, without impulse); ``steps`` is 1;
        ``residual`` is the larger of the speed left in the closed rows and the error of M (v⁺ − v⁻) = JᵀΛ, scaled.

    Raises:
        ValueError: an index out of range, or ``sliding`` not within ``mode``.

    Example:
        A point mass of 2 kg that falls sticks to the ground.

        >>> import numpy as np
        >>> from hybrid_contact_ros import ContactProblem, plastic_impact
        >>> up, along = np.array([[0.0, 1.0]]), np.array([[[1.0, 0.0]]])
        >>> falling = ContactProblem(2.0 * np.eye(2), np.array([0.5, -1.0]), up, along, np.array([0.3]))
        >>> plastic_impact(falling, {0}).impulse.tolist()
        [[2.0, -1.0]]
    """
    closed = contact_set("mode", mode, problem.contacts)
    slides = contact_set("sliding", sliding, problem.contacts)
    if not slides <= closed:
        raise ValueError(f"sliding contacts {sorted(slides - closed)} are not in mode {sorted(closed)}")
    m, d, nv = problem.tangent_jacobian.shape
    every = problem.jacobian().reshape(m, 1 + d, nv)
    held = closed_rows(problem, closed, slides)
    rows = every[held]
    momentum = problem.mass @ problem.velocity
    solution = constrained_motion(
        problem.mass, rows, every[sorted(closed)].reshape(-1, nv), momentum, np.zeros(rows.shape[0])
    )
    impulse = np.zeros((m, 1 + d))
    if not solution.regular:
        return ImpactOutcome(problem.velocity.copy(), impulse, Status.SINGULAR, 0.0, 1)
    impulse[held] = solution.reaction
    velocity = solution.motion + solution.undecided @ problem.velocity
    change = problem.mass @ (velocity - problem.velocity) - rows.T @ solution.reaction
    # The scales are sums of absolute values, because J v⁻ of contacts at rest and M v⁻ of massless limbs are rounding
    speed = float((np.abs(rows) @ np.abs(problem.velocity)).max(initial=0.0))
    size = float((np.abs(problem.mass) @ np.abs(problem.velocity)).max(initial=0.0))
    residual = max(
        float(np.abs(rows @ velocity).max(initial=0.0)) / (speed or 1.0),
        float(np.abs(change).max(initial=0.0)) / (size or 1.0),
    )
    status = Status.SOLVED if residual <= _TOLERANCE else Status.INACCURATE
    return ImpactOutcome(velocity, impulse, status, residual, 1)
