"""Landings out of flight: what was predicted of each, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.replay.scores import Containment, containment

Array = NDArray[np.float64]

_FLIGHT = 0.05  # s with all feet open, before a touchdown counts as a landing
_TOGETHER = 0.02  # s; touchdowns this close to the first are of one landing
_SETTLED = 0.006  # s after the last of these touchdowns, by when the simulator's impacts are over (most take 1 ms)
_STOPPED = 0.05  # of the speed of approach: a contact that approaches slower has stopped


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
        time_ns: of the first touchdown. spread: s from the first touchdown to the last within ``_TOGETHER``.
        feet: that touched. predicted: the last set before it, or None; ``score`` says where the truth lies in it.
        normal_minus, normal_plus: (m,) true gap velocities just before and after, m/s.
        normal_outcomes, normal_nominal: those of the set (n, m) and of its nominal outcome (m,).
    """

    time_ns: int
    spread: float
    feet: tuple[str, ...]
    predicted: HeardSet | None
    score: Containment | None
    normal_minus: Array
    normal_plus: Array
    normal_outcomes: Array
    normal_nominal: Array

    def to_dict(self) -> dict[str, Any]:
        """For the table and for JSON; distances are in units of the velocity jump, in the kinetic norm."""
        row: dict[str, Any] = {"stamp": self.time_ns * 1e-9, "feet": list(self.feet), "spread": self.spread}
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


def find_landings(
    contacts: Sequence[str],
    truth_ns: NDArray[np.int64],
    closed: NDArray[np.bool_],
    state_ns: NDArray[np.int64],
    q: Array,
    v: Array,
    sets: Sequence[HeardSet],
    mass: Callable[[Array], Array],
    normals: Callable[[Array], Array],
) -> list[Landing]:
    """All landings in a record.

    Args:
        contacts: m names. truth_ns (n,), closed (n, m): the truth. state_ns (k,), q (k, nq), v (k, nv): the states.
        mass, normals: M and J_n at a configuration.

    The velocity after an impact is read from the first state in which the contacts of the set no longer approach, and
    before another foot touches. Gravity, the motors and the supporting forces act meanwhile: at 500 Hz that is up to
    2 ms of them, some 10 % of the jump, which are not the set's.
    """
    touching = np.concatenate(([True], closed.any(axis=1)))  # what came before the record was no flight
    touchdowns = np.flatnonzero(touching[1:] & ~touching[:-1])
    liftoffs = np.flatnonzero(~touching[1:] & touching[:-1])
    found: list[Landing] = []
    for k in touchdowns:
        begin = liftoffs[liftoffs < k][-1]
        whole = truth_ns[-1] - truth_ns[k] >= (_TOGETHER + 2 * _SETTLED) * 1e9
        if whole and truth_ns[k] - truth_ns[begin] >= _FLIGHT * 1e9:
            landing = _landing(contacts, truth_ns[k:], closed[k:], state_ns, q, v, sets, mass, normals)
            if landing is not None:
                found.append(landing)
    return found


def _landing(
    contacts: Sequence[str],
    truth_ns: NDArray[np.int64],
    closed: NDArray[np.bool_],
    state_ns: NDArray[np.int64],
    q: Array,
    v: Array,
    sets: Sequence[HeardSet],
    mass: Callable[[Array], Array],
    normals: Callable[[Array], Array],
) -> Landing | None:
    """The landing that begins with the first row of the truth."""
    first = int(truth_ns[0])
    touched = {}
    for i, name in enumerate(contacts):
        rows = np.flatnonzero(closed[:, i] & (truth_ns <= first + _TOGETHER * 1e9))
        if rows.size:
            touched[name] = int(truth_ns[rows[0]])
    earlier = np.flatnonzero(state_ns < first)
    if not earlier.size:
        return None
    at = int(earlier[-1])
    predicted = next((s for s in reversed(sets) if s.stamp_ns < first and first - s.stamp_ns < 5e7), None)
    involved = [t for name, t in touched.items() if predicted is None or name in predicted.contacts] or [first]
    last_ns = min([max(involved) + _SETTLED * 1e9, *(t for t in touched.values() if t > max(involved))])
    after = np.flatnonzero((state_ns >= max(involved)) & (state_ns <= last_ns))
    if not after.size:
        return None
    gap_rows = normals(q[at])
    minus = v[at]
    members = [
        i for i, name in enumerate(contacts) if name in touched and (predicted is None or name in predicted.contacts)
    ]
    stopped = (v[after] @ gap_rows[members].T >= _STOPPED * (gap_rows[members] @ minus)).all(axis=1)
    plus = v[int(after[stopped][0] if stopped.any() else after[-1])]
    score: Containment | None = None
    outcomes: Array = np.zeros((0, len(contacts)))
    nominal: Array = np.full(len(contacts), np.nan)
    if predicted is not None and predicted.velocities.shape[0]:
        score = containment(
            predicted.velocities, predicted.nominal, predicted.lower, predicted.upper, minus, plus, mass(q[at])
        )
        outcomes, nominal = predicted.velocities @ gap_rows.T, gap_rows @ predicted.nominal
    return Landing(
        first,
        1e-9 * (max(touched.values()) - first),
        tuple(touched),
        predicted,
        score,
        gap_rows @ minus,
        gap_rows @ plus,
        outcomes,
        nominal,
    )
