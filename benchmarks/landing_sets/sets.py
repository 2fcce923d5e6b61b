"""A convex set of velocities, the convex hull of points plus a zonotope, and its scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.landing_sets.recorded import HEAD, row
from hybrid_contact_ros.impacts.convex_set import ConvexSet
from hybrid_contact_ros.scoring.containment import SetScore, set_score

Array = NDArray[np.float64]
Score = SetScore
__all__ = ["HEAD", "LandingSet", "Score", "row", "score"]


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


def score(found: LandingSet, truth: Array) -> SetScore:
    """The set against the true v⁺ (nv,)."""
    apart = found.nominal - found.before
    jump = float(np.sqrt(apart @ found.mass @ apart))
    made = ConvexSet(found.points, found.generators, found.margin * jump, found.mass, jump)
    return set_score(made, found.nominal, truth)
