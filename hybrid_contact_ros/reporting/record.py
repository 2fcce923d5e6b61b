"""The result of a replay as a report reads it: seconds from the first state, contacts in the groups of the truth."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.results.file import Result
from hybrid_contact_ros.results.scored import track_of, truth_of
from hybrid_contact_ros.scoring.contact_scores import CHATTER, TrueEdges, own_truth, true_edges
from hybrid_contact_ros.scoring.event_timing import at_stamps
from hybrid_contact_ros.scoring.track import Track, Truth, of_one_clock

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Tables = Mapping[str, Mapping[str, NDArray[Any]]]


_OF_STATES = ("states", "contacts", "stability")  # tables with a row a state


def _of_one_clock(tables: Tables) -> Tables:
    """The same without the states of a clock that was set: time only rises in what is drawn."""
    stamps = tables.get("states", {}).get("stamp_ns", np.zeros(0, np.int64))
    kept = of_one_clock(np.asarray(stamps, np.int64))
    if kept.all():
        return tables
    chosen = {
        name: {column: rows[kept] if len(rows) == kept.size else rows for column, rows in tables[name].items()}
        for name in _OF_STATES
        if name in tables
    }
    return {**tables, **chosen}


class Record:
    """A view of a result file's summary and tables (docs/scoring.md). What a file does not have is empty here.

    Args:
        summary: of the result file. tables: columns by table and name.

    Raises:
        ValueError: there is no state in it.
    """

    def __init__(self, summary: Mapping[str, Any], tables: Tables) -> None:
        self.summary, self._tables = summary, _of_one_clock(tables)
        self._result = Result(dict(summary), {name: dict(columns) for name, columns in self._tables.items()})
        stamps = self.column("states", "stamp_ns")
        if stamps is None or not stamps.size:
            raise ValueError(
                "the result holds no state: there is nothing to report (see what the replay said of its inputs)"
            )
        self.start_ns = int(stamps[0])
        self.t = self.seconds(stamps)
        closed = self.column("contacts", "closed")
        width = 0 if closed is None else closed.shape[1]
        self.contacts = tuple(str(x) for x in summary.get("contacts", ())) or tuple(
            f"contact {i}" for i in range(width)
        )
        self.closed: Bools = (
            np.zeros((self.t.size, len(self.contacts)), bool) if closed is None else closed.astype(bool)
        )
        mode = self.column("contacts", "status")
        plain = np.where(self.closed, ContactStatus.STICKING, ContactStatus.OPEN)
        self.status: NDArray[np.integer[Any]] = plain if mode is None or mode.shape != self.closed.shape else mode

    def column(self, table: str, name: str) -> NDArray[Any] | None:
        """A column of a table, or None."""
        return self._tables.get(table, {}).get(name)

    def rows(self, table: str) -> int:
        """Number of rows of a table."""
        return max((len(column) for column in self._tables.get(table, {}).values()), default=0)

    def seconds(self, stamps_ns: NDArray[Any]) -> Array:
        """Stamps as seconds from the first state. Differences are taken as integers, so they are exact to a ns."""
        return (np.asarray(stamps_ns, np.int64) - self.start_ns).astype(np.float64) * 1e-9

    @property
    def end(self) -> float:
        """Time of the last state, s."""
        return float(self.t[-1])

    @cached_property
    def track(self) -> Track | None:
        """What was predicted, as the scores read it; None where the result has no contacts."""
        return track_of(self._result)

    @cached_property
    def truth(self) -> Truth | None:
        """The truth as the scores read it; None where there is none."""
        found = truth_of(self._result)
        return None if found is None or not found.stamps_ns.size else found

    @cached_property
    def groups(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Each contact of the truth with the predicted ones that stand for it; without a truth each contact itself."""
        if self.truth is not None:
            return self.truth.groups
        return tuple((name, (i,)) for i, name in enumerate(self.contacts))

    @cached_property
    def edges(self) -> tuple[TrueEdges, ...]:
        """Touchdowns and liftoffs of each group that are scored, s: the truth's, or without one those that were
        detected later, as the self-consistency takes them."""
        if self.track is None:
            return ()
        truth = own_truth(self.track) if self.truth is None else self.truth
        return tuple(true_edges(self.track, truth, j, chatter=CHATTER) for j in range(len(self.groups)))

    def group_truth(self, group: int) -> tuple[Array, Bools]:
        """Times and contacts of one group as far as the truth knows them; as predicted where there is no truth."""
        if self.truth is None:
            return self.t, self.predicted[:, group]
        known = self.truth.known[:, group]
        return self.seconds(self.truth.stamps_ns[known]), self.truth.closed[known, group]

    @property
    def without_truth(self) -> str:
        """Why nothing tells which contacts are right; empty where a truth does."""
        if self.truth is not None:
            return ""
        if not self.truth_source:
            return "no truth was named"
        return "the truth tells of impacts alone" if self.rows("observed") else "the truth tells of no contact"

    @property
    def truth_source(self) -> str:
        """The topics that the truth is from."""
        return ", ".join(str(x) for x in self.summary.get("truth") or ())

    @cached_property
    def predicted(self) -> Bools:
        """(n, groups): whether any contact of the group is predicted to be closed."""
        return np.stack([self.closed[:, list(members)].any(axis=1) for _, members in self.groups], axis=1)

    @cached_property
    def slipping(self) -> Bools:
        """(n, groups): whether the group is closed and none of its contacts sticks."""
        sticks = self.status == ContactStatus.STICKING
        slips = self.status == ContactStatus.SLIPPING
        return np.stack(
            [slips[:, list(g)].any(axis=1) & ~sticks[:, list(g)].any(axis=1) for _, g in self.groups], axis=1
        )

    @cached_property
    def wrong(self) -> Bools:
        """(n, groups): whether a prediction differs from the truth, where that is known and not too old."""
        differs = np.zeros_like(self.predicted)
        for j in range(0 if self.truth is None else len(self.groups)):
            assert self.truth is not None
            t, closed = self.group_truth(j)
            at, near = at_stamps(self.t, t, closed[:, None], self.truth.age(j))
            differs[:, j] = (at[:, 0] != self.predicted[:, j]) & near
        return differs

    @cached_property
    def period(self) -> float:
        """Median time between states, s."""
        return float(np.median(np.diff(self.t))) if self.t.size > 1 else 0.0
