"""The result of a replay as a report reads it: seconds from the first state, contacts in the groups of the truth."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.scoring.event_timing import at_stamps

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Tables = Mapping[str, Mapping[str, NDArray[Any]]]


class Record:
    """A view of a result file's summary and tables (docs/scoring.md). What a file does not have is empty here.

    Args:
        summary: of the result file. tables: columns by table and name.

    Raises:
        ValueError: there is no state in it.
    """

    def __init__(self, summary: Mapping[str, Any], tables: Tables) -> None:
        self.summary, self._tables = summary, tables
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
    def groups(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Each contact of the truth with the predicted ones that stand for it; without a truth each contact itself."""
        known = self.summary.get("groups") or {}
        pairs = known.items() if isinstance(known, Mapping) else [(one["name"], one["members"]) for one in known]
        index = {name: i for i, name in enumerate(self.contacts)}
        found = [
            (str(name), tuple(index[x] if isinstance(x, str) else int(x) for x in members)) for name, members in pairs
        ]
        return tuple(found) or tuple((name, (i,)) for i, name in enumerate(self.contacts))

    @cached_property
    def truth(self) -> tuple[Array, Bools, Bools] | None:
        """Times (k,) of the truth in order, its contacts (k, groups), and which of these are known; None where there is
        none."""
        stamps, closed = self.column("truth", "stamp_ns"), self.column("truth", "closed")
        if stamps is None or closed is None or not stamps.size:
            return None
        order = np.argsort(stamps, kind="stable")
        known = self.column("truth", "known")
        told = np.ones(closed.shape, bool) if known is None else known.astype(bool)
        return self.seconds(stamps[order]), closed[order].astype(bool), told[order]

    def group_truth(self, group: int) -> tuple[Array, Bools]:
        """Times and contacts of one group as the truth tells them; as predicted where there is no truth."""
        if self.truth is None:
            return self.t, self.predicted[:, group]
        t, closed, known = self.truth
        told = known[:, group]
        return t[told], closed[told, group]

    @property
    def truth_source(self) -> str:
        """What the truth is, in words."""
        said = self.summary.get("truth") or self.summary.get("truths") or ""
        if isinstance(said, Mapping):
            said = ", ".join(f"{key}: {value}" for key, value in said.items())
        elif not isinstance(said, str):
            said = ", ".join(str(x) for x in said)
        return said or ("the contacts that the recording tells" if self.truth is not None else "")

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
        """(n, groups): whether a prediction differs from the truth, where the truth is known."""
        if self.truth is None:
            return np.zeros_like(self.predicted)
        t, closed, told = self.truth
        at, near = at_stamps(self.t, t, closed)
        known, _ = at_stamps(self.t, t, told)
        return (at != self.predicted) & known & near[:, None]

    @cached_property
    def period(self) -> float:
        """Median time between states, s."""
        return float(np.median(np.diff(self.t))) if self.t.size > 1 else 0.0
