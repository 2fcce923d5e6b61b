"""Whether the velocity after an impact was foreseen by a set. Pure functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.convex_set import ConvexSet

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Containment:
    """Whether one observed velocity after an impact was foreseen. All lengths are in the kinetic norm √(xᵀ M x), as
    parts of the observed jump ‖v⁺ − v⁻‖.

    Attributes:
        distance: of v⁺ from the nearest outcome of the set; of a landing's set, from the convex set.
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


def in_landing(found: Containment, region: ConvexSet, v_minus: Array, v_plus: Array) -> Containment:
    """The same of a landing's set, whose velocities are corners of a region: distance from it, and its radius."""
    apart = v_plus - v_minus
    jump = float(np.sqrt(apart @ region.mass @ apart))
    radius = region.radius * region.jump / jump if region.jump > 0.0 else found.radius
    return replace(found, distance=region.distance(v_plus) / jump, radius=radius)


@dataclass(frozen=True, slots=True)
class SetScore:
    """One observed v⁺ against one convex set; all in the kinetic norm, as parts of the jump of the nominal outcome.

    Attributes:
        distance: of v⁺ from the set; 0 inside. nominal_distance: of v⁺ from the nominal outcome.
        radius, half_width: of the set (:class:`~hybrid_contact_ros.impacts.convex_set.ConvexSet`).
    """

    distance: float
    nominal_distance: float
    radius: float
    half_width: float


def set_score(found: ConvexSet, nominal: Array, v_plus: Array) -> SetScore:
    """Score a set. nominal, v_plus: (nv,) the nominal and the observed velocity after the impact.

    Raises:
        ValueError: the set has no jump to compare with.
    """
    if not found.jump > 0.0:
        raise ValueError("the nominal velocity does not jump: there is nothing to compare distances with")
    apart = v_plus - nominal
    return SetScore(
        found.distance(v_plus) / found.jump,
        float(np.sqrt(max(float(apart @ found.mass @ apart), 0.0))) / found.jump,
        found.radius,
        found.half_width,
    )


@dataclass(frozen=True, slots=True)
class SetScores:
    """Sets of several impacts: ``count``, the shares of v⁺ inside and within 5 and 10 % of the jump, the median radius
    and half-width, and radii of the smallest balls around the nominal outcomes that do as well within 5 and 10 %."""

    count: int
    inside: float
    within_5: float
    within_10: float
    radius: float
    half_width: float
    ball_5: float
    ball_10: float


def summary(scores: Sequence[SetScore]) -> SetScores:
    """Of one impact or more."""
    distance = np.array([score.distance for score in scores])
    inside, within_5, within_10 = (float(np.mean(distance <= tolerance)) for tolerance in (1e-6, 0.05, 0.10))
    return SetScores(
        count=len(scores),
        inside=inside,
        within_5=within_5,
        within_10=within_10,
        radius=float(np.median([score.radius for score in scores])),
        half_width=float(np.median([score.half_width for score in scores])),
        ball_5=smallest_ball(scores, 0.05),
        ball_10=smallest_ball(scores, 0.10),
    )


def smallest_ball(scores: Sequence[SetScore], tolerance: float) -> float:
    """Radius, in jumps, of the smallest ball around the nominal outcome that holds, within ``tolerance``, as many of
    the v⁺ as the sets do. Its half-width is its radius.

    >>> near = [SetScore(0.0, x, 0.1, 0.01) for x in (0.1, 0.2, 0.3)]
    >>> round(smallest_ball([*near, SetScore(0.5, 0.9, 0.1, 0.01)], 0.05), 3)
    0.25
    """
    share = float(np.mean([score.distance <= tolerance for score in scores]))
    if share == 0.0:
        return 0.0
    far = np.sort([score.nominal_distance for score in scores])
    return max(0.0, float(far[int(np.ceil(share * len(far) - 1e-9)) - 1]) - tolerance)
