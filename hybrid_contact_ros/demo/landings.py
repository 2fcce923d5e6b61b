"""Landings out of flight: what was predicted of each, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.replay.scores import Containment, containment

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
    """

    time_ns: int
    feet: tuple[str, ...]
    predicted: HeardSet | None
    score: Containment | None
    normal_minus: Array
    normal_plus: Array
    normal_outcomes: Array
    normal_nominal: Array

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
    if predicted is not None and predicted.velocities.shape[0]:
        score = containment(
            predicted.velocities, predicted.nominal, predicted.lower, predicted.upper, v_minus, v_plus, mass
        )
        outcomes, nominal = predicted.velocities @ normals.T, normals @ predicted.nominal
    return Landing(time_ns, feet, predicted, score, normals @ v_minus, normals @ v_plus, outcomes, nominal)
