"""Foretold against true touchdowns and liftoffs: the errors behind the numbers of the scores, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.reporting.record import Record
from hybrid_contact_ros.scoring.event_timing import edges
from hybrid_contact_ros.scoring.scores import HORIZONS

Array = NDArray[np.float64]
KINDS = {EventKind.TOUCHDOWN: "touchdown", EventKind.LIFTOFF: "liftoff"}

_SLACK = 0.005  # s; a state that is older by more than this is not taken, as in the scores


@dataclass(frozen=True, slots=True, eq=False)
class Foretold:
    """Events of one kind, predicted ``horizon`` s before they came.

    Attributes:
        times: (k,) s, of those that were foretold. errors: (k,) s, predicted − true. groups: (k,) index of each.
        missed: (l,) s, times of those that were not, and ``missed_groups`` (l,) their groups.
    """

    kind: EventKind
    horizon: float
    times: Array
    errors: Array
    groups: NDArray[np.intp]
    missed: Array
    missed_groups: NDArray[np.intp]

    @property
    def events(self) -> int:
        """Number of true events for which there is a state at that time before them."""
        return self.times.size + self.missed.size


def true_edges(record: Record, group: int) -> dict[EventKind, Array]:
    """Times of a group's touchdowns and liftoffs within the predictions: the truth's, or those detected without one."""
    both = dict(zip(KINDS, edges(*record.group_truth(group)), strict=True))
    return {kind: times[(times >= 0.0) & (times <= record.end)] for kind, times in both.items()}


def foretold(record: Record) -> list[Foretold]:
    """All events of both kinds at each of the horizons of the scores; nothing where the result has no announcements."""
    said, ahead = record.column("contacts", "next_event"), record.column("contacts", "time_to_event")
    if said is None or ahead is None:
        return []
    true = [true_edges(record, j) for j in range(len(record.groups))]
    found = []
    for kind in KINDS:
        when = [_announced(record, list(members), kind, said, ahead) for _, members in record.groups]
        found += [_before(record.t, kind, horizon, when, [times[kind] for times in true]) for horizon in HORIZONS]
    return found


def _before(t: Array, kind: EventKind, horizon: float, when: list[Array], true: list[Array]) -> Foretold:
    """What the newest state at ``horizon`` before each event said of it. when: of each group (n,), NaN where it says
    nothing."""
    moments = np.concatenate(true) if true else np.empty(0)
    groups = np.repeat(np.arange(len(true)), [times.size for times in true])
    k = np.searchsorted(t, moments - horizon + 1e-6, side="right") - 1
    usable = (k >= 0) & (moments - horizon - t[np.maximum(k, 0)] <= _SLACK)
    moments, groups, k = moments[usable], groups[usable], k[usable]
    predicted = t[k] + (np.stack(when, axis=1)[k, groups] if when else 0.0)
    told = np.isfinite(predicted)
    errors = (predicted - moments)[told]
    return Foretold(kind, horizon, moments[told], errors, groups[told], moments[~told], groups[~told])


def _announced(record: Record, members: list[int], kind: EventKind, said: NDArray[Any], ahead: NDArray[Any]) -> Array:
    """Time (n,) until the predicted event of a group as a whole, NaN for none: a group touches down with its first
    member and lifts off with its last one."""
    closed = record.closed[:, members]
    says, time = said[:, members] == kind, ahead[:, members].astype(float)
    if kind == EventKind.TOUCHDOWN:
        yes = says.any(axis=1) & ~closed.any(axis=1)
        when = np.where(says, time, np.inf).min(axis=1)
    else:
        yes = (says | ~closed).all(axis=1) & closed.any(axis=1)
        when = np.where(says & closed, time, -np.inf).max(axis=1)
    return np.where(yes & np.isfinite(when), when, np.nan)
