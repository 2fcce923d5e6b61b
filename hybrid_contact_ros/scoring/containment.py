"""Whether the velocity after an impact was foreseen by a set. Pure functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Containment:
    """Whether one observed velocity after an impact was foreseen. All lengths are in the kinetic norm √(xᵀ M x), as
    parts of the observed jump ‖v⁺ − v⁻‖.

    Attributes:
        distance: of v⁺ from the nearest outcome of the set.
        nominal_distance: of v⁺ from the simultaneous outcome.
        radius: greatest distance of an outcome from the mean of the outcomes; it is the size of the set.
        within_bounds: whether v⁺ lies in the componentwise outer bounds, widened by 5 % of their width.
    """

    distance: float
    nominal_distance: float
    radius: float
    within_bounds: bool

    def within(self, tolerance: float) -> bool:
        return self.distance <= tolerance


def containment(
    velocities: Array, nominal: Array, lower: Array, upper: Array, v_minus: Array, v_plus: Array, mass: Array
) -> Containment:
    """Score one set against an observed impact.

    Args:
        velocities: (k, nv) outcomes; where there is none, the nominal one stands for the set.
        nominal: (nv,) the simultaneous outcome.
        lower, upper: (nv,) outer bounds of the set.
        v_minus, v_plus: (nv,) observed velocities before and after.
        mass: (nv, nv) at the impact.

    Raises:
        ValueError: the observed velocity does not jump.
    """

    def length(x: Array) -> Array:
        return np.sqrt(np.maximum(np.einsum("...i,ij,...j", x, mass, x), 0.0))

    jump = float(length(v_plus - v_minus))
    if not jump > 0.0:
        raise ValueError("the observed velocity does not jump: there is nothing to be near to")
    outcomes = velocities if velocities.shape[0] else nominal[None, :]
    margin = 0.05 * (upper - lower) + 1e-9
    return Containment(
        float(length(outcomes - v_plus).min()) / jump,
        float(length(nominal - v_plus)) / jump,
        float(length(outcomes - outcomes.mean(axis=0)).max()) / jump,
        bool(np.all((v_plus >= lower - margin) & (v_plus <= upper + margin))),
    )
