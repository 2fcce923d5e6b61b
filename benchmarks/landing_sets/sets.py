"""A convex set of velocities, the convex hull of points plus a zonotope, and its sizes in the kinetic norm.

Everything is in coordinates in which the kinetic norm is the Euclidean one and the nominal jump is 1:
y = Lᵀ v / jump with M = L Lᵀ (Cholesky, in the order of v: base linear, base angular, joints).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[np.float64]
_STARTS = 16  # sign patterns from which the farthest corner of the zonotope is sought


@dataclass(frozen=True, slots=True, eq=False)
class LandingSet:
    """conv(points) ⊕ {Σ zᵢ generatorsᵢ : |zᵢ| ≤ 1} ⊕ a ball of radius ``margin`` (of the nominal jump).

    Attributes:
        nominal: (nv,) the outcome with all terms off; the jump is that from ``before`` to it.
        before: v⁻ (nv,). points: (k, nv). generators: (p, nv), p ≥ 0. mass: M (nv, nv).
    """

    nominal: Array
    before: Array
    points: Array
    generators: Array
    mass: Array
    margin: float = 0.0

    def scaled(self) -> Scaled:
        L = np.linalg.cholesky(self.mass)
        jump = float(np.linalg.norm((self.nominal - self.before) @ L))
        return Scaled(self.points @ L / jump, self.generators @ L / jump, self.nominal @ L / jump, L, jump)


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """The same set in the coordinates of this file."""

    points: Array
    generators: Array
    nominal: Array
    factor: Array
    jump: float

    def coordinates(self, v: Array) -> Array:
        return v @ self.factor / self.jump

    def distance(self, v: Array, tolerance: float = 1e-4) -> float:
        """Of a velocity to the set, over the jump: min-norm point by corners that the set's support function gives.

        The gap of the Frank-Wolfe method bounds the error: the answer is at most ``tolerance`` too large.
        """
        y, G = self.coordinates(v), self.generators
        V = self.points - y
        corners = V[np.linalg.norm(V, axis=1).argmin()][None]
        x = corners[0]
        for _ in range(400):
            length = float(np.linalg.norm(x))
            if length <= tolerance:
                return 0.0
            corner = V[(V @ x).argmin()] - np.sign(G @ x) @ G
            if length - float(corner @ x) / length <= tolerance:
                return length
            corners = np.vstack([corners, corner])
            # Least squares over the simplex of the corners: non-negative, with a heavy row for their sum.
            A = np.vstack([corners.T, np.full(len(corners), 1e3)])
            weights = nnls(A, np.r_[np.zeros(len(x)), 1e3], maxiter=2000)[0]
            kept = weights > 0.0
            corners, weights = corners[kept], weights[kept]
            x = weights @ corners / weights.sum()
        return float(np.linalg.norm(x))

    def half_widths(self) -> Array:
        """(nv,) along each axis of the basis."""
        return 0.5 * np.ptp(self.points, axis=0) + np.abs(self.generators).sum(axis=0)

    def radius(self) -> float:
        """Largest distance of a point of the set from its centre, the middle of the hull's extent along each axis.

        Exact without generators; with them the largest found by ascent from some corners (a lower bound, tight in
        practice: the exact one is combinatorial).
        """
        centre = 0.5 * (self.points.max(axis=0) + self.points.min(axis=0))
        V, G = self.points - centre, self.generators
        if not len(G):
            return float(np.linalg.norm(V, axis=1).max())
        rng = np.random.default_rng(0)
        best = 0.0
        starts = np.vstack([G, V, rng.normal(size=(_STARTS, V.shape[1]))])
        for direction in starts:
            x = direction
            for _ in range(20):
                signs = np.sign(G @ x)
                new = V[(V @ x).argmax()] + signs @ G
                if np.allclose(new, x):
                    break
                x = new
            best = max(best, float(np.linalg.norm(x)))
        return best


@dataclass(frozen=True, slots=True)
class Score:
    """One landing against one set, in parts of the nominal jump: ``distance`` of the true v⁺ from the set,
    ``nominal_distance`` of it from the nominal outcome, the set's ``radius`` and mean ``half_width``."""

    distance: float
    nominal_distance: float
    radius: float
    half_width: float


def score(found: LandingSet, truth: Array) -> Score:
    scaled = found.scaled()
    apart = scaled.coordinates(truth) - scaled.nominal
    return Score(
        max(0.0, scaled.distance(truth) - found.margin),
        float(np.linalg.norm(apart)),
        scaled.radius() + found.margin,
        float(scaled.half_widths().mean()) + found.margin,
    )


def ball(scores: list[Score], tolerance: float) -> float:
    """Radius of the smallest ball around the nominal outcome that holds, within ``tolerance``, as many of the landings
    as the sets do; its half-width is its radius."""
    share = np.mean([s.distance <= tolerance for s in scores])
    if share == 0.0:
        return 0.0
    far = np.sort([s.nominal_distance for s in scores])
    return max(0.0, float(far[int(np.ceil(share * len(far))) - 1]) - tolerance)


def row(name: str, scores: list[Score]) -> str:
    """A line of a table: distance median/p90/p95 (%), within 5 and 10 % (%), radius, half-width, and the ball's."""
    d = 100.0 * np.array([s.distance for s in scores])
    cells = [name, str(len(scores)), " / ".join(f"{x:.1f}" for x in np.percentile(d, [50, 90, 95]))]
    cells += [f"{100.0 * np.mean(d <= t):.0f}" for t in (5.0, 10.0)]
    cells += [f"{100.0 * np.median([getattr(s, k) for s in scores]):.1f}" for k in ("radius", "half_width")]
    cells += [f"{100.0 * ball(scores, t):.0f}" for t in (0.05, 0.10)]
    return "| " + " | ".join(cells) + " |"


HEAD = (
    "| set | n | distance median / p90 / p95 | < 5 % | < 10 % | radius | half-width | ball 5 % | ball 10 % |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
