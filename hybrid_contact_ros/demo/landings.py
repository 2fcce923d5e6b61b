"""Landings: what was predicted of each, and what really happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.convex_set import ConvexSet
from hybrid_contact_ros.mechanics.kinetic_norm import kinetic_norm

Array = NDArray[np.float64]

_EDGES = 181  # directions of an outline
_BASE = 6  # coordinates of a free base


@dataclass(frozen=True, slots=True)
class HeardSet:
    """One post-impact set as it was heard.

    Attributes:
        stamp_ns: stamp of the state that it was predicted from, ns.
        contacts: names of the contacts that it was predicted for. coordinates: (nv,) names of the velocities.
        time_to_impact: from that state, s.
        velocity_minus, nominal: (nv,) velocity before the impact, and the outcome when all contacts act at once.
        velocities: (n, nv), the outcomes. generators: (g, nv). margin: √J. The set is the hull of the outcomes, plus
            Σ aᵢ generatorsᵢ with |aᵢ| ≤ 1, plus a ball of the margin in the kinetic norm.
        lower, upper: (nv,), their outer bounds.
        coverage, truncated: as of the message.
    """

    stamp_ns: int
    contacts: tuple[str, ...]
    coordinates: tuple[str, ...]
    time_to_impact: float
    velocity_minus: Array
    nominal: Array
    velocities: Array
    generators: Array
    margin: float
    lower: Array
    upper: Array
    coverage: float
    truncated: bool


@dataclass(frozen=True, slots=True)
class SetScore:
    """Where the truth lies in a set, and the set's size: parts of the jump to the nominal outcome, in the kinetic norm.

    Attributes:
        distance: of the true v⁺ from the set. nominal_distance: of it from the nominal outcome.
        radius: of the farthest point of the set from its middle. half_width: mean over an M-orthonormal basis.
        within_bounds: whether v⁺ lies in the componentwise outer bounds, widened by 5 % of their width.
    """

    distance: float
    nominal_distance: float
    radius: float
    half_width: float
    within_bounds: bool


@dataclass(frozen=True, slots=True)
class Shadow:
    """A set on two axes of the robot: its projection, generators and margin included.

    Attributes:
        names: of the two axes. outline: (k, 2), along the projection's edge. outcomes: (n, 2).
        before, nominal, after: (2,), true v⁻, nominal outcome and true v⁺.
    """

    names: tuple[str, str]
    outline: Array
    outcomes: Array
    before: Array
    nominal: Array
    after: Array


@dataclass(frozen=True, slots=True)
class Landing:
    """One landing.

    Attributes:
        time_ns: time of its first contact, ns.
        feet: names of the feet that touched during the impact.
        predicted: the last set before it, or None.
        score: where the truth lies in that set.
        normal_minus, normal_plus: (m,) true gap velocities just before and after, m/s.
        normal_range: (2, m) least and greatest gap velocities in the set, m/s.
        normal_nominal: (m,) those of its nominal outcome, m/s.
        shadows: of the set, on axes of the robot.
    """

    time_ns: int
    feet: tuple[str, ...]
    predicted: HeardSet | None
    score: SetScore | None
    normal_minus: Array
    normal_plus: Array
    normal_range: Array
    normal_nominal: Array
    shadows: tuple[Shadow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the table and for JSON. Distances are in units of the nominal jump, in the kinetic norm."""
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
            "half_width": float(self.score.half_width),
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
    score: SetScore | None = None
    shadows: tuple[Shadow, ...] = ()
    between, nominal = np.full((2, normals.shape[0]), np.nan), np.full(normals.shape[0], np.nan)
    if predicted is not None and predicted.velocities.shape[0]:
        jump = kinetic_norm(mass, predicted.nominal - predicted.velocity_minus) or kinetic_norm(mass, v_plus - v_minus)
        region = ConvexSet(predicted.velocities, predicted.generators, predicted.margin, mass, jump)
        slack = 0.05 * (predicted.upper - predicted.lower) + 1e-9
        score = SetScore(
            distance=region.distance(v_plus) / jump,
            nominal_distance=kinetic_norm(mass, predicted.nominal - v_plus) / jump,
            radius=region.radius,
            half_width=region.half_width,
            within_bounds=bool(np.all((v_plus >= predicted.lower - slack) & (v_plus <= predicted.upper + slack))),
        )
        farthest = [farthest_points(region, sign * normals) for sign in (-1.0, 1.0)]
        between = np.array([np.einsum("mn,mn->m", normals, points) for points in farthest])
        nominal = normals @ predicted.nominal
        ends = (v_minus, predicted.nominal, v_plus)
        shadows = tuple(_shadow(region, predicted, axes, ends) for axes in shown_axes(v_plus - v_minus))
    return Landing(time_ns, feet, predicted, score, normals @ v_minus, normals @ v_plus, between, nominal, shadows)


def shown_axes(jump: Array) -> list[tuple[int, int]]:
    """Which coordinates are shown against each other: forward and vertical velocity of the base, and the two joints
    that jump most; the first two where the robot has no more."""
    if jump.size < 8:
        return [(0, min(1, jump.size - 1))]
    first, second = sorted((np.argsort(-np.abs(jump[_BASE:]), kind="stable")[:2] + _BASE).tolist())
    return [(0, 2), (first, second)]


def farthest_points(region: ConvexSet, directions: Array) -> Array:
    """The points (k, nv) of a set that are farthest along directions c (k, nv), with c v as the length along them."""
    points = region.velocities[np.argmax(directions @ region.velocities.T, axis=1)]
    points = points + np.sign(directions @ region.generators.T) @ region.generators
    if region.margin > 0.0:
        back = np.linalg.solve(region.mass, directions.T).T
        length = np.sqrt(np.einsum("kn,kn->k", directions, back))
        points = points + region.margin * back / np.maximum(length, 1e-300)[:, None]
    return np.asarray(points)


def _shadow(region: ConvexSet, heard: HeardSet, axes: tuple[int, int], ends: tuple[Array, Array, Array]) -> Shadow:
    chosen = list(axes)
    angle = np.linspace(0.0, 2.0 * np.pi, _EDGES)
    directions = np.zeros((_EDGES, region.mass.shape[0]))
    # Coordinates have their own units: directions are those in which the set is about as wide both ways.
    spread = np.ptp(farthest_points(region, np.vstack([np.eye(len(heard.nominal))[chosen] * s for s in (1, -1)])), 0)
    width = np.maximum(spread[chosen], 1e-9)
    directions[:, chosen] = np.column_stack((np.cos(angle), np.sin(angle))) / width
    before, nominal, after = (v[chosen] for v in ends)
    outline = farthest_points(region, directions)[:, chosen]
    names = tuple(heard.coordinates[i] if i < len(heard.coordinates) else f"v[{i}]" for i in chosen)
    return Shadow((names[0], names[1]), outline, heard.velocities[:, chosen], before, nominal, after)
