"""Foretold against true touchdowns and liftoffs: the errors behind the numbers of the scores, one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.reporting.record import Record
from hybrid_contact_ros.scoring.contact_scores import KINDS as NAMED
from hybrid_contact_ros.scoring.event_timing import asked_at
from hybrid_contact_ros.scoring.scores import HORIZONS

Array = NDArray[np.float64]
KINDS = {kind: name for name, kind in NAMED.items()}


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


def foretold(record: Record) -> list[Foretold]:
    """All events of both kinds at each of the horizons of the scores; nothing where the result has no announcements.
    What is announced of a group, which events count and which state is asked are those of the scores."""
    track = record.track
    if track is None or track.next_event is None or track.time_to_event is None:
        return []
    found = []
    for kind, name in KINDS.items():
        when = [track.announced(members, kind)[1] for _, members in record.groups]
        true = [each.scored(name) for each in record.edges]
        found += [_before(track.seconds(track.stamps_ns), kind, horizon, when, true) for horizon in HORIZONS]
    return found


def _before(t: Array, kind: EventKind, horizon: float, when: list[Array], true: list[Array]) -> Foretold:
    """What the newest state at ``horizon`` before each event said of it. when: of each group (n,), NaN where it says
    nothing."""
    moments = np.concatenate([np.empty(0), *true])
    groups = np.repeat(np.arange(len(true)), [times.size for times in true])
    k = asked_at(t, moments, horizon)
    moments, groups, k = moments[k >= 0], groups[k >= 0], k[k >= 0]
    predicted = t[k] + (np.stack(when, axis=1)[k, groups] if when else 0.0)
    told = np.isfinite(predicted)
    errors = (predicted - moments)[told]
    return Foretold(kind, horizon, moments[told], errors, groups[told], moments[~told], groups[~told])
