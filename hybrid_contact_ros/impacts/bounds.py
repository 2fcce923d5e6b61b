"""Bounds that no outcome of an impact exceeds, whatever its order, steps and friction polygon."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace, check_directions
from hybrid_contact_ros.impacts.restitution import LAWS, Material, Range
from hybrid_contact_ros.impacts.tight_bounds import ImpulsePolyhedron
from hybrid_contact_ros.kernels.impacts.fast_bounds import tighten
from hybrid_contact_ros.mechanics.problem import ContactProblem

EFFORTS = ("tight", "fast")


def outcome_bounds(
    problem: ContactProblem,
    rows: ArrayLike | None = None,
    restitution: Range | None = 0.0,
    *,
    law: str = "poisson",
    friction: Range | None = None,
    effort: str = "tight",
    directions: int | None = None,
) -> tuple[Array, Array]:
    """Bound every velocity after the impact, sampled or not, component by component: (lower, upper).

    The bounds hold for every order of impacts, step, density and friction polygon, whichever solution an increment
    takes, and for every e and μ in the intervals, whether contacts have them in common or not.

    With effort "fast" two kinds are intersected. Kinetic energy does not rise (Halm, Theorem 7), and impulses act at
    the
    contacts alone: v⁺ is in a ball of the M-norm within the affine space v + range(M⁻¹ Jᵀ). And compression pushes only
    against what approaches, so that the total impulse of a contact lies in an interval
    (:func:`~hybrid_contact_ros.kernels.impacts.fast_bounds.impulse_bounds`); the velocity then follows from impulses
    within friction cones over these intervals. Where contacts are coupled so strongly that no interval follows, the
    ball remains. These are the bounds that every :class:`~hybrid_contact_ros.impacts.outcome.VelocitySet` carries.

    With effort "tight" a polyhedron of total impulses is cut down further, by what contacts were doing when each of
    many functions of the impulses last increased (:mod:`~hybrid_contact_ros.kernels.impacts.hull_lp`). That takes tens
    to hundreds of milliseconds, and seconds with restitution and polygons of many vertices at many contacts. Linear
    programs are certified by their duals. Where impulses are not bounded (the friction cone is not pointed, as of an
    object that may jam) the fast bounds are the answer.

    If no contact approaches, or there is none, both bounds are v, which does not change. Where M is singular they are
    −inf and inf.

    Args:
        problem: the contacts at the impact.
        rows: (k, nv); bounds of ``rows @ v⁺`` are returned instead of those of v⁺. With ``problem.jacobian()`` they
            are those of the contacts' velocities.
        restitution, friction: e and μ in place of the problem's (None): a number, (m,) numbers, or an interval as a
            tuple (low, high) of these, as in :func:`~hybrid_contact_ros.impacts.velocity_set.post_impact_set`. The
            bounds hold for every e from 0 to the high end.
        law: "inelastic", "poisson" or "stronge", which are the same for e = 0.
        effort: "tight" or "fast".
        directions: an even number: tight bounds for the friction polygon with that many vertices alone, which in space
            are much tighter (in the plane there is one polygon only). None: for all polygons, and for the circle.

    Returns:
        (nv,) or (k,) each, in the units of v or of ``rows @ v``.

    Raises:
        ValueError: rows that are not (k, nv) and finite, or another argument out of range.

    >>> ball = ContactProblem([[2.0]], [-1.0], [[1.0]], [[[0.0]]], [0.0])
    >>> lower, upper = outcome_bounds(ball, restitution=(0.2, 0.5), law="poisson")
    >>> bool(lower[0] <= 0.2 and 0.5 <= upper[0] < 0.501)
    True
    """
    if law not in LAWS:
        raise ValueError(f"law is {law!r}; one of {', '.join(LAWS)} is needed")
    material = Material(problem, law, restitution, friction, common=False)
    if effort not in EFFORTS:
        raise ValueError(f"effort is {effort!r}; one of {', '.join(EFFORTS)} is needed")
    if directions is not None:
        check_directions(directions)
    C = None if rows is None else np.ascontiguousarray(rows, dtype=np.float64)
    if C is not None and (C.ndim != 2 or C.shape[1] != problem.nv or not np.isfinite(C).all()):
        raise ValueError(f"rows has shape {C.shape}; a finite (k, {problem.nv}) is needed")
    problem = material.with_highest_friction(problem)
    space = ContactSpace(problem, 2)
    lower, upper, low, high = space.bounds(
        problem.velocity, problem.friction, material.restitution_gain, material.residual_slack
    )
    if C is not None:
        lower, upper = _bounds_of_rows(problem, space, C, low, high)
    if effort == "fast" or space.status != Status.SOLVED or not high.any():
        return lower, upper
    queries = np.eye(problem.nv) if C is None else C
    change = ImpulsePolyhedron(problem, space, material, directions, queries).bounds() if len(queries) else None
    if change is not None:
        base = queries @ problem.velocity
        room = 1e-12 * (np.abs(queries) @ np.abs(problem.velocity))
        lower = np.maximum(lower, base + change[0] - room)
        upper = np.minimum(upper, base + change[1] + room)
    return lower, upper


def _bounds_of_rows(
    problem: ContactProblem, space: ContactSpace, C: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """The fast bounds of C v⁺, from the intervals [low, high] of the normal impulses and the ball of energy."""
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
