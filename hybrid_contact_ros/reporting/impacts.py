"""Each observed impact with the set that was predicted for it, as two planes that can be drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from hybrid_contact_ros.reporting.record import Array, Record

_MOST_POINTS = 64  # samples of a set that are drawn; the outline is of all
_COLUMNS = (
    ("observed", "v_minus"), ("observed", "v_plus"), ("sets", "nominal"), ("sets", "offsets"), ("sets", "velocities"),
)  # fmt: skip
_FREE_FLYER = ("base linear x", "base linear y", "base linear z", "base angular x", "base angular y", "base angular z")


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Two coordinates of the velocity. Points are (n, 2), m/s and rad/s.

    Attributes:
        labels: names of the coordinates, with units. samples: some of the set. outline: hull of all (k, 2).
        before, nominal, after: (2,) v⁻, the outcome with all contacts resolved at once, and the observed v⁺.
    """

    labels: tuple[str, str]
    samples: Array
    outline: Array
    before: Array
    nominal: Array
    after: Array


@dataclass(frozen=True, slots=True, eq=False)
class Impact:
    """An observed impact.

    Attributes:
        time: s. names: its contacts. distance, radius: of the observed velocity from the set, and of the set, as parts
        of the observed jump in the kinetic norm; NaN where no set was predicted. planes: none without a set.
    """

    time: float
    names: str
    distance: float
    radius: float
    planes: tuple[Plane, ...] = ()


def impacts(record: Record, most_planes: int = 150) -> list[Impact]:
    """All observed impacts in order of time; the worst ``most_planes`` of them with their planes."""
    stamps = record.column("observed", "time_ns")
    if stamps is None or not stamps.size:
        return []
    n = stamps.size
    times = record.seconds(stamps)
    distance, radius = (_floats(record, name, n) for name in ("distance", "radius"))
    row = record.column("observed", "set")
    rows = np.full(n, -1) if row is None else row.astype(int)
    worst = set(np.argsort(-np.nan_to_num(distance, nan=-1.0), kind="stable")[:most_planes].tolist())
    found = []
    for i in np.argsort(times, kind="stable").tolist():
        planes = _planes(record, i, int(rows[i])) if rows[i] >= 0 and i in worst else ()
        found.append(
            Impact(float(times[i]), _names(record, int(rows[i])), float(distance[i]), float(radius[i]), planes)
        )
    return found


def _floats(record: Record, name: str, n: int) -> Array:
    column = record.column("observed", name)
    return np.full(n, np.nan) if column is None else column.astype(float)


def _names(record: Record, row: int) -> str:
    mask = record.column("sets", "contacts")
    if row < 0 or mask is None or row >= mask.size:
        return "no predicted set"
    return ", ".join(name for i, name in enumerate(record.contacts) if int(mask[row]) >> i & 1) or "no contact"


def _planes(record: Record, i: int, row: int) -> tuple[Plane, ...]:
    """Two planes: of the linear velocity of a free base, and of what else the impact changes most, in its own unit."""
    columns = [record.column(*name) for name in _COLUMNS]
    if any(column is None for column in columns):
        return ()
    before, after, nominal, offsets, velocities = (np.asarray(column) for column in columns)
    if row >= len(nominal):
        return ()
    samples = velocities[offsets[row] : offsets[row + 1]].astype(float)
    samples = samples if len(samples) else nominal[row : row + 1].astype(float)
    names = velocity_names(record, samples.shape[1])
    jump = np.abs(after[i] - before[i]).astype(float)
    linear = [k for k, name in enumerate(names) if "linear" in name]
    chosen = sorted(linear, key=lambda k: -jump[k])[:2] if len(linear) >= 2 else []
    rest = [k for k in np.argsort(-jump).tolist() if k not in chosen]
    chosen += rest[: 4 - len(chosen)]
    return tuple(
        _plane(names, pair, samples, before[i], nominal[row], after[i])
        for pair in (chosen[:2], chosen[2:]) if len(pair) == 2
    )  # fmt: skip


def _plane(names: list[str], pair: list[int], samples: Array, before: Array, nominal: Array, after: Array) -> Plane:
    points = np.ascontiguousarray(samples[:, pair])
    some = points[:: max(1, -(-len(points) // _MOST_POINTS))]
    return Plane(
        (names[pair[0]], names[pair[1]]),
        some,
        outline(points),
        *(np.asarray(v, float)[pair] for v in (before, nominal, after)),
    )


def outline(points: Array) -> Array:
    """Corners (k, 2) of the convex hull of points (n, 2) in order; the points themselves where they span no area."""
    if len(points) < 3:
        return points
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:
        along = points @ (np.ptp(points, axis=0) + 1e-300)
        return points[[int(np.argmin(along)), int(np.argmax(along))]]


def velocity_names(record: Record, nv: int) -> list[str]:
    """Names of the velocity's coordinates with units, as the result tells them, or as Pinocchio orders them."""
    known = [str(x) for x in record.summary.get("velocity_names", ())]
    units = [str(x) for x in record.summary.get("velocity_units", ())]
    if len(known) == len(units) == nv:
        return [f"{name} [{unit}]" for name, unit in zip(known, units, strict=True)]
    if len(known) != nv:
        floating = record.column("states", "base_position") is not None and nv >= 6
        head = list(_FREE_FLYER) if floating else []
        known = head + [f"joint coordinate {i}" for i in range(nv - len(head))]
    return [f"{name} [{_unit(name)}]" for name in known]


def _unit(name: str) -> str:
    """What the name tells: results of older versions do not say which joints are prismatic."""
    return "m/s" if "linear" in name else "rad/s" if "angular" in name else "rad/s or m/s"
