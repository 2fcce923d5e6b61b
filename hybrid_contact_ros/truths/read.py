"""Truths and estimates out of a recording: the columns of all topics, put beside each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.scoring.track import Track, Truth, members_of
from hybrid_contact_ros.truths.asked import Asked
from hybrid_contact_ros.truths.columns import Column, read_columns, unitree_names
from hybrid_contact_ros.truths.levels import Levels
from hybrid_contact_ros.truths.modes import CONTACT_MODE, mode_track

_AGE = 0.02  # s; a truth that is older is not of the state, unless its messages come more seldom
_PERIODS = 1.5  # between messages, that a truth may be old


def read_truth(
    reader: BagReader,
    asked: Sequence[Asked],
    names: Sequence[str],
    frames: Sequence[str],
    threshold: Levels | None = None,
) -> tuple[Truth, list[str]]:
    """The truth of the contacts ``names`` on ``frames``, and what a user should know of how it was read.

    Raises:
        BagError: a topic cannot be used, none of its names is that of a contact, or two tell of the same contact.
    """
    columns: list[Column] = []
    groups: list[tuple[str, tuple[int, ...]]] = []
    warnings: list[str] = []
    feet = unitree_names(names)
    for each in asked:
        found, said = read_columns(reader, each, [*names, *frames], threshold)
        warnings += said
        left_out = []
        for column in found:
            name, members = _members(column, names, frames, feet)
            if not members:
                left_out.append("+".join(column.names))
                continue
            if name in [other for other, _ in groups]:
                raise BagError(f"{each.topic}: another truth tells of {name} already")
            columns.append(column)
            groups.append((name, tuple(members)))
            if column.levels is not None:
                on, off = column.levels.on, column.levels.off
                warnings.append(f"{each.topic}: {name} counts as closed from {on:.3g} upward, as open below {off:.3g}")
        if len(left_out) == len(found):
            theirs, ours = ", ".join(left_out), ", ".join(_called(names)) or "none"
            raise BagError(
                f"{each.topic} tells of {theirs}; predicted are {ours}: tell which of these by NAME={each.topic}"
            )
        if left_out:
            warnings.append(f"{each.topic}: {', '.join(left_out)} is no contact of the estimate and is left out")
    stamps, closed, known = _beside(columns)
    ages = tuple(max(_AGE, _PERIODS * _period(column)) for column in columns)
    return Truth(stamps, tuple(groups), closed, known, ages), warnings


def read_estimate(reader: BagReader, asked: Asked, threshold: Levels | None = None) -> tuple[Track, list[str]]:
    """What another estimator said on its topic, and what a user should know of how it was read.

    Raises:
        BagError: the topic cannot be used, or holds less than two states.
    """
    if reader.topics.get(asked.topic) == CONTACT_MODE:
        return mode_track(reader, asked.topic)
    columns, warnings = read_columns(reader, asked, threshold=threshold)
    stamps, closed, known = _beside(columns)
    seen = np.logical_or.accumulate(known, axis=0).all(axis=1)  # until all were told of, there is no whole state
    if np.count_nonzero(seen) < 2:
        raise BagError(f"{asked.topic} has less than two states of all its contacts")
    names = tuple(column.names[0] if not column.together else "+".join(column.names) for column in columns)
    frames = tuple(column.names[1] if len(column.names) > 1 else "" for column in columns)
    return Track(stamps[seen], names, frames, closed[seen]), warnings


def _called(names: Sequence[str]) -> list[str]:
    """The names of contacts; of a sole's points its own."""
    soles = [(name.rpartition("_")[0], name) for name in names]
    return list(dict.fromkeys(sole if len(members_of((sole,), names, ())) > 1 else name for sole, name in soles))


def _members(
    column: Column, names: Sequence[str], frames: Sequence[str], feet: dict[str, str]
) -> tuple[str, list[int]]:
    """The name of a column of the truth, and the contacts that it stands for."""
    if column.together:
        each = [members_of((name,), names, frames) for name in column.names]
        return "+".join(column.names), sorted({i for group in each for i in group}) if all(each) else []
    for name in column.names:
        for wanted in (name, feet.get(name, "")):
            found = members_of((wanted,), names, frames)
            if wanted and found:
                return names[found[0]] if len(found) == 1 else wanted, found
    return column.names[0], []


def _beside(
    columns: Sequence[Column],
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Stamps of all columns (k,), and their values beside each other (k, g): the newest one, and whether it is of that
    stamp and known."""
    stamps = np.unique(np.concatenate([column.stamps_ns for column in columns]))
    closed = np.zeros((stamps.size, len(columns)), bool)
    known = closed.copy()
    for j, column in enumerate(columns):
        newest = np.searchsorted(column.stamps_ns, stamps, side="right") - 1
        closed[:, j] = np.where(newest >= 0, column.closed[np.maximum(newest, 0)], False)
        at = np.searchsorted(stamps, column.stamps_ns)
        known[at, j] = column.known
    return stamps, closed, known


def _period(column: Column) -> float:
    return float(np.median(np.diff(column.stamps_ns))) * 1e-9 if column.stamps_ns.size > 1 else 0.0
