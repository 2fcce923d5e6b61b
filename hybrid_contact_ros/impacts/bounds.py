"""What no outcome of an impact can exceed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.kernels.outer_bounds import tighten
from hybrid_contact_ros.kernels.status import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem


def outcome_bounds(
    problem: ContactProblem, rows: ArrayLike | None = None, restitution: ArrayLike = 0.0
) -> tuple[Array, Array]:
    """Componentwise bounds (lower, upper) on every velocity after the impact, sampled or not.

    They hold for every order of impacts, step, density and friction polygon, whichever solution an increment takes.

    Two kinds are intersected. Kinetic energy does not rise (H Theorem 7) and impulses act at the contacts alone: v⁺ is
    in a ball of the M-norm within the affine space v + range(M⁻¹ Jᵀ). And a contact pushes only while it approaches, so
    that its total impulse lies in an interval (:func:`~hybrid_contact_ros.kernels.outer_bounds.impulse_bounds`); the
    velocity then follows from impulses within friction cones over these intervals. Where contacts are coupled so
    strongly that no interval follows, the ball remains. If no contact approaches, or there is none, v does not change
    and both bounds are that. Where M is singular nothing is said: −inf and inf.

    Args:
        rows: (k, nv), bounds of ``rows @ v⁺`` are returned instead of those of v⁺; with ``problem.jacobian()``, of the
            velocities of the contacts.
        restitution: largest Poisson restitution of the contacts, (m,) or one for all, 0 ≤ e ≤ 1.

    Returns:
        (nv,) or (k,) each, in the units of v or of ``rows @ v``.

    Raises:
        ValueError: rows that are not (k, nv) and finite, or a restitution out of range.
    """
    m = problem.contacts
    e = np.array(np.broadcast_to(np.asarray(restitution, np.float64), (m,)))
    if not ((e >= 0.0) & (e <= 1.0)).all():
        raise ValueError(f"restitution is {e.tolist()}; it must lie in [0, 1]")
    space = ContactSpace(problem, 2)
    lower, upper, low, high = space.bounds(problem.velocity, problem.friction, e / (1.0 + e))
    if rows is None:
        return lower, upper
    C = np.ascontiguousarray(rows, dtype=np.float64)
    if C.ndim != 2 or C.shape[1] != problem.nv or not np.isfinite(C).all():
        raise ValueError(f"rows has shape {C.shape}; a finite (k, {problem.nv}) is needed")
    return _of_rows(problem, space, C, low, high)


def _of_rows(problem: ContactProblem, space: ContactSpace, C: Array, low: Array, high: Array) -> tuple[Array, Array]:
    k = C.shape[0]
    if space.status != Status.SOLVED:
        return np.full(k, -np.inf), np.full(k, np.inf)
    base = C @ problem.velocity
    if not high.any():
        return base, base.copy()
    # ‖c‖ in the dual norm of the part of M⁻¹ cᵀ that impulses at the contacts reach, and c v of the part that stays
    Lc = solve_triangular(space.L, C.T, lower=True)
    x = space.L.T @ problem.velocity
    q, s, _ = np.linalg.svd(space.Y.T, full_matrices=False)
    q = q[:, s > 1e-11 * s[0]] if s.size else q
    reach, moving = q.T @ Lc, q.T @ x
    stays = base - reach.T @ moving
    half = np.linalg.norm(reach, axis=0) * np.linalg.norm(moving) * (1.0 + 1e-9) + 1e-12 * np.abs(base)
    lower, upper = stays - half, stays + half
    d = problem.tangent_jacobian.shape[1]
    tighten(d, np.ascontiguousarray(space.R @ C.T), base, problem.friction, low, high, lower, upper)
    return lower, upper
