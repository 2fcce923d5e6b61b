"""Landings out of flight: what was predicted of each, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.scoring.scores import Containment, containment

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HeardSet:
    """One post-impact set: outcomes (n, nv), with what it was predicted from and for."""

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
        time_ns: of its first contact. feet: that touched during the impact.
        predicted: the last set before it, or None; ``score`` says where the truth lies in it.
        normal_minus, normal_plus: (m,) true gap velocities just before and after, m/s.
        normal_outcomes (k, m), normal_nominal (m,): those of the set's outcomes and of its nominal one.
        plane_outcomes (k, 2), plane_nominal (2,): the same velocities from the outcomes' mean, along
            the two directions in which they differ most, in the kinetic norm, in units of the true jump.
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
        """For the table and for JSON; distances are in units of the velocity jump, in the kinetic norm."""
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
    """Stamp, ns, of a time of the simulation, from (time, stamp) of the states published around it, in order.

    Between two states it stays between their stamps, however late the second was: what was predicted from a state
    before an impact has an earlier stamp than the impact, what was predicted from one after it a later stamp.
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
    """Compare the true velocities (nv,) of an impact with the set predicted of it; M (nv, nv) and J_n (m, nv) there."""
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
    """``Landing.plane_*``: principal components, after a change of coordinates that makes M the identity."""
    factor = np.linalg.cholesky(mass)  # |x @ factor|² = xᵀ M x
    mean = predicted.velocities.mean(axis=0)
    scaled = (predicted.velocities - mean) @ factor
    axes = np.linalg.svd(scaled)[2][:2] / np.linalg.norm((v_plus - v_minus) @ factor)
    return scaled @ axes.T, axes @ ((predicted.nominal - mean) @ factor)
