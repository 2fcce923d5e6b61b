"""What an estimator said along a recording, and what the truth said: arrays that scores are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """What an estimator said of m contacts at n stamps; what it does not say is None.

    Attributes:
        stamps_ns: (n,) strictly rising. names, frames: of the contacts.
        closed: (n, m). probability: (n, m) of being closed.
        next_event: (n, m) :class:`EventKind`. time_to_event: (n, m) s, NaN where there is none.
        earliest, latest: (n, m) s, bounds of it. bounds_valid: (n, m), whether they are said to be calibrated.
    """

    stamps_ns: NDArray[np.int64]
    names: tuple[str, ...]
    frames: tuple[str, ...]
    closed: Bools
    probability: Array | None = None
    next_event: NDArray[np.uint8] | None = None
    time_to_event: Array | None = None
    earliest: Array | None = None
    latest: Array | None = None
    bounds_valid: Bools | None = None

    def seconds(self, stamps_ns: NDArray[np.int64]) -> Array:
        """Stamps as seconds after the first one of the estimator."""
        return (stamps_ns - self.stamps_ns[0]) * 1e-9

    def grouped(self, members: Sequence[int]) -> tuple[Bools, Array | None]:
        """Whether any of these contacts is closed (n,), and with what probability at least."""
        chosen = list(members)
        closed: Bools = np.any(self.closed[:, chosen], axis=1)
        return closed, None if self.probability is None else self.probability[:, chosen].max(axis=1)

    def announced(self, members: Sequence[int], kind: EventKind) -> tuple[NDArray[np.uint8], Array, Array, Array]:
        """The event that is predicted for contacts as a whole, when, and the bounds of that (n,). They touch down with
        the first of them, and lift off with the last one."""
        assert self.next_event is not None and self.time_to_event is not None
        rows, chosen = np.arange(len(self.closed)), np.array(members)
        closed = self.closed[:, chosen]
        says = self.next_event[:, chosen] == kind
        time = self.time_to_event[:, chosen]
        if kind == EventKind.TOUCHDOWN:
            yes = says.any(axis=1) & ~closed.any(axis=1)
            which = np.where(says & np.isfinite(time), time, np.inf).argmin(axis=1)
        else:
            yes = (says | ~closed).all(axis=1) & closed.any(axis=1)
            which = np.where(says & closed & np.isfinite(time), time, -np.inf).argmax(axis=1)

        def of(column: Array | None) -> Array:
            if column is None:
                return np.full(len(rows), np.nan)
            return np.where(yes, column[rows, chosen[which]], np.nan)

        return np.where(yes, np.uint8(kind), np.uint8(0)), of(self.time_to_event), of(self.earliest), of(self.latest)


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Which of g contacts or feet touched, at k stamps.

    Attributes:
        stamps_ns: (k,) rising. groups: name of each, and the indices of the estimator's contacts that it stands for.
        closed: (k, g). known: (k, g), whether the truth of that one was known then; what is not is not scored.
        max_age: (g,) s; a state is compared with the newest known truth, if that is not older. Empty: 0.02 s.
    """

    stamps_ns: NDArray[np.int64]
    groups: tuple[tuple[str, tuple[int, ...]], ...]
    closed: Bools
    known: Bools
    max_age: tuple[float, ...] = ()

    def age(self, group: int) -> float:
        """How old a truth of this group may be, s."""
        return self.max_age[group] if self.max_age else 0.02


def of_one_clock(stamps_ns: NDArray[np.int64]) -> Bools:
    """Which stamps (n,) are kept of a clock that was set back, so that they rise strictly: those before it was set, or
    those after it, whichever are more. All of them where it was not."""
    if not stamps_ns.size:
        return np.zeros(0, dtype=np.bool_)
    before = np.append(True, stamps_ns[1:] > np.maximum.accumulate(stamps_ns)[:-1])
    after = np.append(stamps_ns[:-1] < np.minimum.accumulate(stamps_ns[::-1])[::-1][1:], True)
    return max(before, after, key=np.count_nonzero)


def members_of(wanted: Sequence[str], names: Sequence[str], frames: Sequence[str]) -> list[int]:
    """The contacts that a name of the truth stands for: that of the name, or NAME_0, NAME_1, …, or those on the frame
    of that name; of several names the first that stands for any."""
    for name in wanted:
        exact = [i for i, each in enumerate(names) if each == name]
        pattern = re.compile(re.escape(name) + r"_\d+")
        found = exact or [i for i, each in enumerate(names) if pattern.fullmatch(each)]
        found = found or [i for i, each in enumerate(frames) if each == name]
        if name and found:
            return found
    return []
