"""The tables ``sets`` and ``observed`` of a result: post-impact sets as they stood before their impact, and true
impacts beside them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.convex_set import convex_set
from hybrid_contact_ros.prediction import ImpactPrediction
from hybrid_contact_ros.results.file import Table
from hybrid_contact_ros.scoring.containment import Containment
from hybrid_contact_ros.scoring.scoreboard import TrueImpact

Array = NDArray[np.float64]

_KEPT = 64  # outcomes of a set that are kept, evenly chosen: a set of 256 takes 37 kB in memory
_RECENT = 16  # sets that may still be kept for another reason
_SAME_NS = 10_000_000  # a set that foretells an impact this much later foretells another one


class _Observed(NamedTuple):
    """A true impact, the row of the set that it was compared with (−1: none), and what came of that."""

    told: TrueImpact
    row: int
    found: Containment | None


class _SetRow(NamedTuple):
    """What is kept of a set, by the columns of its table."""

    stamp_ns: int
    impact_time_ns: int
    contacts: int
    radius: float
    v_minus: Array
    nominal: Array
    lower: Array
    upper: Array
    nsamples: int
    truncated: bool
    velocities: NDArray[np.float32]


class ImpactRows:
    """Sets and true impacts in, tables out.

    Each state near an impact has a set, each better than the one before; the last one counts. A set is final when its
    impact was due before the next set was made and that one is for an impact 10 ms later or more, and where a true
    impact was compared with it.

    Args:
        nv: number of velocity coordinates; of a set or an impact with another number all are NaN.
    """

    def __init__(self, nv: int) -> None:
        self._nv = nv
        self._newest: ImpactPrediction | None = None
        self._finals: list[_SetRow] = []
        self._recent: deque[tuple[ImpactPrediction, int]] = deque(maxlen=_RECENT)
        self._observed: list[_Observed] = []

    def predicted(self, impact: ImpactPrediction) -> None:
        """The sets of one state."""
        ahead = [one for one in (*impact.after_each, impact) if not one.time_to_impact < 0.0]
        if not ahead:  # that of a landing under way foretells nothing
            return
        newer, older = ahead[-1], self._newest
        if older is not None and newer.stamp_ns > _due(older) and _due(newer) - _due(older) >= _SAME_NS:
            self._keep(older)
        self._newest = newer

    def observed(self, told: TrueImpact, impact: ImpactPrediction | None, found: Containment | None) -> None:
        """A true impact, the set that it was compared with and what came of that, as a scoreboard tells them."""
        self._observed.append(_Observed(told, -1 if impact is None else self._keep(impact), found))

    def tables(self) -> dict[str, Table]:
        """The tables so far. The newest set counts as final, also where nothing came of it yet."""
        if self._newest is not None:
            self._keep(self._newest)
        order = sorted(range(len(self._finals)), key=lambda row: self._finals[row].stamp_ns)
        place = {row: at for at, row in enumerate(order)}
        return {"sets": self._sets([self._finals[row] for row in order]), "observed": self._true_impacts(place)}

    def _keep(self, impact: ImpactPrediction) -> int:
        """The row of a set, which is a new one unless it has one."""
        for kept, row in self._recent:
            if kept is impact:
                return row
        row = len(self._finals)
        self._recent.append((impact, row))
        velocities = impact.velocities.reshape(-1, impact.nominal.size)
        self._finals.append(
            _SetRow(
                stamp_ns=impact.stamp_ns,
                impact_time_ns=_due(impact),
                contacts=sum(1 << int(contact) for contact in impact.contacts if contact < 64),
                radius=_radius(impact),
                v_minus=impact.velocity_minus,
                nominal=impact.nominal,
                lower=impact.lower,
                upper=impact.upper,
                nsamples=len(velocities),
                truncated=impact.truncated,
                velocities=_chosen(velocities),
            )
        )
        return row

    def _sets(self, sets: list[_SetRow]) -> Table:
        return {
            "stamp_ns": np.array([one.stamp_ns for one in sets], np.int64),
            "impact_time_ns": np.array([one.impact_time_ns for one in sets], np.int64),
            "contacts": np.array([one.contacts for one in sets], np.uint64),
            "radius": np.array([one.radius for one in sets], np.float32),
            "v_minus": self._rows([one.v_minus for one in sets]),
            "nominal": self._rows([one.nominal for one in sets]),
            "lower": self._rows([one.lower for one in sets]),
            "upper": self._rows([one.upper for one in sets]),
            "nsamples": np.array([one.nsamples for one in sets], np.int32),
            "truncated": np.array([one.truncated for one in sets], np.bool_),
            "offsets": np.concatenate(([0], np.cumsum([len(one.velocities) for one in sets]))).astype(np.int64),
            "velocities": np.concatenate([self._rows([]), *(one.velocities for one in sets)]),
        }

    def _true_impacts(self, place: dict[int, int]) -> Table:
        told = [one.told for one in self._observed]
        nan = float("nan")
        nothing = Containment(nan, nan, nan, False)
        found = [nothing if one.found is None else one.found for one in self._observed]
        return {
            "time_ns": np.array([one.time_ns for one in told], np.int64),
            "v_minus": self._rows([one.v_minus for one in told]),
            "v_plus": self._rows([one.v_plus for one in told]),
            "set": np.array([place.get(one.row, -1) for one in self._observed], np.int32),
            "distance": np.array([one.distance for one in found], np.float32),
            "nominal_distance": np.array([one.nominal_distance for one in found], np.float32),
            "radius": np.array([one.radius for one in found], np.float32),
            "within_bounds": np.array([one.within_bounds for one in found], np.bool_),
        }

    def _rows(self, vectors: list[Array]) -> NDArray[np.float32]:
        """Velocities (n, nv); NaN for one of another robot."""
        rows = np.full((len(vectors), self._nv), np.nan, np.float32)
        for row, vector in zip(rows, vectors, strict=True):
            if vector.shape == row.shape:
                row[:] = vector
        return rows


def _due(impact: ImpactPrediction) -> int:
    """When the impact is to be, ns."""
    return impact.stamp_ns + round(impact.time_to_impact * 1e9)


def _chosen(velocities: Array) -> NDArray[np.float32]:
    """At most 64 of the outcomes, evenly chosen."""
    if len(velocities) > _KEPT:
        velocities = velocities[np.linspace(0, len(velocities) - 1, _KEPT).astype(np.intp)]
    return velocities.astype(np.float32)


def _radius(impact: ImpactPrediction) -> float:
    """Size of a set in the kinetic norm, as a part of the jump of the nominal outcome; NaN where it is not known.

    Of a landing's set it is that of its region, of a set of samples the distance of the farthest from their mean.
    """
    if impact.mass is None or not impact.jump > 0.0 or not len(impact.velocities):
        return float("nan")
    if impact.generators is not None:
        try:
            return convex_set(impact).radius
        except ValueError:  # numbers that have no norm: the prediction was what it was
            return float("nan")
    apart = impact.velocities - impact.velocities.mean(axis=0)
    return float(np.sqrt(np.maximum(((apart @ impact.mass) * apart).sum(axis=1), 0.0)).max()) / impact.jump
