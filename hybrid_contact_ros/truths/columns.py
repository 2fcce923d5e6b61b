"""The series of one contact each, out of the messages of a topic."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.truths.asked import Asked
from hybrid_contact_ros.truths.levels import Levels, find_levels, touching
from hybrid_contact_ros.truths.messages import SCOPED, SILENT, UNITREE, reader_of, stamp_of

Array = NDArray[np.float64]

_SILENCE = 2.5  # periods without a message, after which a publisher that is silent while nothing touches is silent


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """What was said of one contact.

    Attributes:
        names: of the contact, the first that is known counts; or of several contacts that it stands for together.
        together: whether it stands for all of them.
        stamps_ns: (k,) strictly rising. closed: (k,). known: (k,), whether that was known.
        levels: the loads between which it was decided, or None where messages say yes and no.
    """

    names: tuple[str, ...]
    together: bool
    stamps_ns: NDArray[np.int64]
    closed: NDArray[np.bool_]
    known: NDArray[np.bool_]
    levels: Levels | None


@dataclass(slots=True)
class _Series:
    stamps: list[int] = field(default_factory=list)
    values: list[float | bool] = field(default_factory=list)


def read_columns(
    reader: BagReader, asked: Asked, links: Sequence[str] = (), threshold: Levels | None = None
) -> tuple[list[Column], list[str]]:
    """The columns of a topic, and what a user should know of how they were read.

    Args:
        asked: its whole name, and names of contacts.
        links: names of links and contacts that scoped names of collisions are looked through for.
        threshold: of loads; without it :func:`~.levels.find_levels` finds it for each column.

    Raises:
        BagError: the topic is not there, is empty, cannot be read, or says nothing of contacts.
    """
    topic = asked.topic
    kind = reader.topics.get(topic, "any type that tells contacts")
    reader.require({topic: kind})
    series: dict[tuple[str, ...], _Series] = {}
    stamps: list[int] = []
    unreadable, why, read = 0, "", None
    for _, time_ns, data in reader.messages([topic], raw=[topic]):
        try:
            msg = reader.deserialize(data, kind)
        except BagError as error:
            unreadable, why = unreadable + 1, str(error)
            continue
        read = read or _reader(topic, kind, msg)
        stamp = stamp_of(msg, time_ns)
        stamps.append(stamp)
        said = read(msg)
        if kind in SCOPED:
            keys = {key for names, _ in said if (key := _scoped(names[0], asked, links))}
            for key in keys:
                _append(series, key, stamp, True)
            continue
        if asked.names and len(said) != len(asked.names):
            own = ", ".join(dict.fromkeys(names[0] for names, _ in said if names and names[0]))
            own = f" ({own})" if own else ""
            raise BagError(
                f"{topic} ({kind}) has {len(said)} values{own}, and {len(asked.names)} names were"
                " given for them; name each one, in their order, or the topic of a foot sensor"
            )
        for i, (names, value) in enumerate(said):
            key = asked.names[i] if asked.names else _own(names, i, len(said), topic)
            _append(series, key, stamp, value)
    if not stamps:
        raise BagError(f"no message of {topic} ({kind}) could be read: {why}. Name the folder of its package by --msg")
    warnings = [f"{unreadable} messages of {topic} could not be read: {why}"] if unreadable else []
    if kind in SCOPED:
        if not series:
            what = "nothing ever touches" if not links else f"no collision of {', '.join(links)} ever touches"
            raise BagError(f"{topic}: {what}; name the contact by NAME={topic}")
        series = {key: _filled(held.stamps, stamps, kind == SILENT) for key, held in series.items()}
    return [_column(key, bool(asked.names), held, threshold, topic) for key, held in series.items()], warnings


def _reader(topic: str, kind: str, msg: Any) -> Callable[[Any], Any]:
    """How messages of this type are read.

    Raises:
        BagError: they say nothing of contacts.
    """
    read = reader_of(kind, msg)
    if read is None:
        raise BagError(f"{topic} is a {kind}, of which nobody knows how it tells contacts; docs/scoring.md lists types")
    return read


def _append(series: dict[tuple[str, ...], _Series], key: tuple[str, ...], stamp: int, value: float | bool) -> None:
    into = series.setdefault(key, _Series())
    into.stamps.append(stamp)
    into.values.append(value)


def _own(names: tuple[str, ...], place: int, count: int, topic: str) -> tuple[str, ...]:
    """The names of a value that nobody named: those of the message, then what its topic is called. Several values
    without names cannot be told apart."""
    parts = tuple(reversed([part for part in topic.split("/") if part])) if count == 1 else ()
    own = tuple(name for name in names if name) + parts
    if not own:
        names_ = ",".join(f"NAME{i}" for i in range(count))
        raise BagError(
            f"the {count} values of {topic} have no names: tell the contacts in their order, {names_}={topic}"
        )
    return own


def _scoped(name: str, asked: Asked, links: Sequence[str]) -> tuple[str, ...] | None:
    """The contact of a collision's scoped name, as ``robot::base::lump__FL_foot_collision``: the longest link or
    contact that stands in it as a word. With a single given name it is that one, whatever touches."""
    if len(asked.names) == 1:
        return asked.names[0]
    wanted = [part for group in asked.names for part in group] or list(links)
    found = [link for link in wanted if re.search(rf"(?<![A-Za-z0-9]){re.escape(link)}(?![A-Za-z0-9])", name)]
    return (max(found, key=len),) if found else None


def _filled(touched: list[int], stamps: list[int], silent: bool) -> _Series:
    """Open where a message did not name the contact, and where a publisher was silent because nothing touched."""
    every = np.unique(np.array(stamps, np.int64))
    there = np.isin(every, np.array(touched, np.int64))
    if silent and every.size > 1:
        step = np.diff(every)
        period = int(np.median(step))
        holes = np.flatnonzero(step > _SILENCE * period)
        added = np.concatenate((every[holes] + period, every[holes + 1] - period))
        every, there = np.concatenate((every, added)), np.concatenate((there, np.zeros(added.size, bool)))
    return _Series(every.tolist(), there.tolist())


def _column(key: tuple[str, ...], given: bool, held: _Series, threshold: Levels | None, topic: str) -> Column:
    """A series in the order of its stamps; of one stamp the last message counts.

    Raises:
        BagError: loads do not show two levels, and no threshold was given.
    """
    stamps, values = np.array(held.stamps, np.int64), held.values
    order = np.argsort(stamps, kind="stable")
    last = np.append(np.diff(stamps[order]) > 0, True)
    chosen = order[last]
    loads = np.array(values, np.float64)[chosen]
    known = ~np.isnan(loads)
    levels = None
    if all(isinstance(value, bool) or value != value for value in values) or set(np.unique(loads[known])) <= {0.0, 1.0}:
        closed = loads > 0.5
    else:
        try:
            levels = threshold or find_levels(loads)
        except ValueError as error:
            name = "+".join(key)
            advice = "give --threshold where it is a foot's load, and another topic where it is none"
            raise BagError(f"the load of {name} on {topic} does not tell contact: {error}; {advice}") from None
        closed = touching(loads, levels)
    return Column(key, given and len(key) > 1, stamps[chosen], closed, known, levels)


def unitree_names(names: Sequence[str]) -> dict[str, str]:
    """The contacts that Unitree's feet are, where exactly one begins with each."""
    found = {foot: [name for name in names if name.upper().startswith(foot)] for foot in UNITREE}
    return {foot: each[0] for foot, each in found.items() if len(each) == 1}
