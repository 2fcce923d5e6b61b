"""Landings: what was predicted of each, and what really happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.scoring.containment import Containment, containment

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HeardSet:
    """One post-impact set as it was heard.

    Attributes:
        stamp_ns: stamp of the state that it was predicted from, ns.
        contacts: names of the contacts that it was predicted for.
        time_to_impact: from that state, s.
        velocity_minus, nominal: (nv,) velocity before the impact, and the outcome when all contacts act at once.
        velocities: (n, nv), the outcomes.
        lower, upper: (nv,), their outer bounds.
        coverage, truncated: as of the message.
    """

    stamp_ns: int
    contacts: tuple[str, ...]
    time_to_impact: float
    velocity_minus: Array
    nominal: Array
    velocities: Array
    lower: Array
    upper: Array
    coverage: float
    truncated: bool


@dataclass(frozen=True, slots=True)
class Landing:
    """One landing.

    Attributes:
        time_ns: time of its first contact, ns.
        feet: names of the feet that touched during the impact.
        predicted: the last set before it, or None.
        score: where the truth lies in that set.
        normal_minus, normal_plus: (m,) true gap velocities just before and after, m/s.
        normal_outcomes: (k, m) gap velocities of the outcomes of the set, m/s.
        normal_nominal: (m,) those of its nominal outcome, m/s.
        plane_outcomes, plane_nominal: (k, 2) and (2,), the outcomes and the nominal one as seen from the mean of the
            outcomes, along the two directions in which these differ most, in units of the true jump (kinetic norm).
    """

    time_ns: int
    feet: tuple[str, ...]
    predicted: HeardSet | None
    score: Containment | None
    normal_minus: Array
    normal_plus: Array
    normal_outcomes: Array
    normal_nominal: Array
    plane_outcomes: Array
    plane_nominal: Array

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the table and for JSON. Distances are in units of the true jump, in the kinetic norm."""
        row: dict[str, Any] = {"stamp": self.time_ns * 1e-9, "feet": list(self.feet)}
        if self.predicted is None or self.score is None:
            return {**row, "outcomes": 0}
        return {
            **row,
            "contacts": list(self.predicted.contacts),
            "outcomes": int(self.predicted.velocities.shape[0]),
            "coverage": self.predicted.coverage,
            "truncated": self.predicted.truncated,
            "lead": 1e-9 * (self.time_ns - self.predicted.stamp_ns),
            "radius": float(self.score.radius),
            "distance": float(self.score.distance),
            "nominal_distance": float(self.score.nominal_distance),
            "within_bounds": bool(self.score.within_bounds),
        }


def stamp_at(time: float, stamps: Sequence[tuple[float, int]]) -> int:
    """The stamp (ns) of a time of the simulation (s), from the times and stamps of the states published around it.

    Between two states it stays between their stamps, however late the second one was. What was predicted from a state
    before an impact therefore has an earlier stamp than the impact, and what was predicted from a state after it a
    later one.

    Example:
        >>> stamp_at(0.5, [(0.0, 1_000_000_000), (1.0, 2_500_000_000)])
        1500000001
    """
    before = [row for row in stamps if row[0] <= time + 1e-9]
    after = [row for row in stamps if row[0] > time + 1e-9]
    if not before:
        return after[0][1] - round(1e9 * (after[0][0] - time))
    stamp = before[-1][1] + 1 + round(1e9 * max(time - before[-1][0], 0.0))
    return min(stamp, after[0][1] - 1) if after else stamp


def landing(
    time_ns: int,
    feet: tuple[str, ...],
    v_minus: Array,
    v_plus: Array,
    predicted: HeardSet | None,
    mass: Array,
    normals: Array,
) -> Landing:
    """Compare the outcome of an impact with the set that was predicted of it.

    Args:
        time_ns: time of the impact, ns.
        feet: names of the feet that touched.
        v_minus, v_plus: (nv,) true velocities before and after.
        predicted: the set, or None.
        mass, normals: M (nv, nv) and J_n (m, nv) at the configuration of the impact.
    """
    score: Containment | None = None
    outcomes, nominal = np.zeros((0, normals.shape[0])), np.full(normals.shape[0], np.nan)
    plane = np.zeros((0, 2)), np.full(2, np.nan)
    if predicted is not None and predicted.velocities.shape[0]:
        score = containment(
            predicted.velocities, predicted.nominal, predicted.lower, predicted.upper, v_minus, v_plus, mass
        )
        outcomes, nominal = predicted.velocities @ normals.T, normals @ predicted.nominal
        plane = _plane(predicted, v_minus, v_plus, mass)
    return Landing(time_ns, feet, predicted, score, normals @ v_minus, normals @ v_plus, outcomes, nominal, *plane)


def _plane(predicted: HeardSet, v_minus: Array, v_plus: Array, mass: Array) -> tuple[Array, Array]:
    """``Landing.plane_*``: principal components of the outcomes, in coordinates in which M is the identity."""
    factor = np.linalg.cholesky(mass)  # |x @ factor|² = xᵀ M x
    mean = predicted.velocities.mean(axis=0)
    scaled = (predicted.velocities - mean) @ factor
    axes = np.linalg.svd(scaled)[2][:2] / np.linalg.norm((v_plus - v_minus) @ factor)
    return scaled @ axes.T, axes @ ((predicted.nominal - mean) @ factor)
