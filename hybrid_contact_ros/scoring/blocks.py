"""Scores as quotients of sums over stretches of time, so that they can be drawn again: how sure a difference is.

States and events near each other in time are alike, and so whole stretches are drawn, not states (the block bootstrap,
Künsch 1989).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.scoring.contact_scores import CHATTER, KINDS
from hybrid_contact_ros.scoring.event_timing import asked_at, at_stamps, debounce, detection_delays
from hybrid_contact_ros.scoring.scores import HORIZONS
from hybrid_contact_ros.scoring.track import Track, Truth

Array = NDArray[np.float64]

DRAWS = 2000
LEVEL = 0.99  # of an interval: a comparison has some twenty of them
FEWEST = 8  # stretches with something in them; of fewer no interval is told


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """One score as parts of two sums.

    Attributes:
        time_ns: (k,) of each part. part, whole: (k,); the score is Σ part / Σ whole. key: (k,) what the part is of, the
            same in another estimator's measure; scores of ``common`` measures are of what both have.
        higher: whether more is better; None where neither is.
        unit: "s" or "" for a share.
    """

    time_ns: NDArray[np.int64]
    part: Array
    whole: Array
    key: NDArray[np.int64]
    higher: bool | None
    unit: str = ""
    common: bool = False

    @property
    def value(self) -> float:
        whole = float(self.whole.sum())
        return float(self.part.sum()) / whole if whole else float("nan")


def measures(track: Track, truth: Truth) -> dict[str, Measure]:
    """The scores of a track against a truth, by name."""
    t, found = track.seconds(track.stamps_ns), {}
    states: list[tuple[NDArray[Any], ...]] = []
    events: dict[str, list[tuple[NDArray[Any], ...]]] = {}
    for j, (_, members) in enumerate(truth.groups):
        told = truth.known[:, j]
        stamps = truth.stamps_ns[told]
        if not stamps.size:
            continue
        times, column = track.seconds(stamps), truth.closed[told, j]
        at, known = at_stamps(t, times, column[:, None], truth.age(j))
        closed, chance = track.grouped(members)
        yes, said = at[known, 0].astype(float), closed[known].astype(float)
        error = np.full(yes.size, np.nan) if chance is None else (chance[known] - yes) ** 2
        states.append((track.stamps_ns[known], yes, said, error))
        change = np.diff(debounce(times, column[:, None], CHATTER, CHATTER)[:, 0].astype(np.int8))
        for name, kind in KINDS.items():
            edge = stamps[1:][change == (1 if kind == EventKind.TOUCHDOWN else -1)]
            edge = edge[(edge >= track.stamps_ns[0]) & (edge <= track.stamps_ns[-1])]
            for label, rows in _events(track, members, t, closed, track.seconds(edge), kind).items():
                events.setdefault(f"{name} {label}", []).append((edge, np.full(edge.size, j), *rows))
    if states:
        stamps, yes, said, error = (np.concatenate(x) for x in zip(*states, strict=True))
        ones = np.ones(stamps.size)
        found["accuracy"] = Measure(stamps, (yes == said).astype(float), ones, stamps, True)
        found["F1"] = Measure(stamps, 2 * yes * said, yes + said, stamps, True)
        if np.isfinite(error).all():
            found["Brier score"] = Measure(stamps, error, ones, stamps, False)
    for label, parts in events.items():
        stamps, group, part, whole = (np.concatenate(x) for x in zip(*parts, strict=True))
        key = stamps * len(truth.groups) + group  # another event of each contact has another one
        share = label.endswith(("missed", "unseen", "in bounds"))
        higher = label.endswith("in bounds")
        use = whole > 0
        found[label] = Measure(
            stamps[use], part[use], whole[use], key[use], higher, "" if share else "s", common=not share
        )
    return found


def _events(
    track: Track, members: tuple[int, ...], t: Array, closed: NDArray[np.bool_], times: Array, kind: EventKind
) -> dict[str, tuple[Array, Array]]:
    """Of each event of one contact the part and the whole of each score."""
    delay = detection_delays(t, closed if kind == EventKind.TOUCHDOWN else ~closed, times)
    seen = np.isfinite(delay).astype(float)
    found = {"unseen": (1.0 - seen, np.ones(times.size)), "seen late by, mean": (np.nan_to_num(np.abs(delay)), seen)}
    if track.next_event is None or track.time_to_event is None:
        return found
    announced, when, earliest, latest = track.announced(members, kind)
    for h in HORIZONS:
        k = asked_at(t, times, h)
        asked = k >= 0
        yes = asked & (announced[k] == kind) & np.isfinite(when[k])
        error = np.where(yes, np.abs(t[k] + when[k] - times), 0.0)
        name = f"{h * 1e3:.0f} ms ahead"
        found[f"{name}, missed"] = (asked & ~yes).astype(float), asked.astype(float)
        found[f"{name}, mean error"] = error, yes.astype(float)
        bounded = yes & np.isfinite(earliest[k]) & np.isfinite(latest[k])
        inside = bounded & (t[k] + earliest[k] <= times + 1e-6) & (t[k] + latest[k] >= times - 1e-6)
        found[f"{name}, in bounds"] = inside.astype(float), bounded.astype(float)
    return found


def on_common(one: Measure, other: Measure) -> tuple[Measure, Measure]:
    """Both measures, of a ``common`` one only the parts that both have."""
    if not one.common:
        return one, other
    both = np.intersect1d(one.key, other.key)

    def of(measure: Measure) -> Measure:
        use = np.isin(measure.key, both)
        columns = {name: getattr(measure, name)[use] for name in ("time_ns", "part", "whole", "key")}
        return replace(measure, **columns)

    return of(one), of(other)


def interval(one: Measure, other: Measure, paired: bool, length_ns: int) -> tuple[float, float] | None:
    """Bounds of the difference other − one that hold it with probability :data:`LEVEL`, by drawing stretches of
    ``length_ns`` with replacement; the same for both where they are ``paired``. None where there are too few.

    The bootstrap's intervals are approximate, and too narrow where stretches are few or depend on each other.
    """
    begins = one.time_ns, other.time_ns
    if not all(x.size for x in begins):
        return None
    origin = min(x.min() for x in begins) if paired else 0
    sums = []
    for measure in (one, other):
        block = (measure.time_ns - (origin if paired else measure.time_ns.min())) // length_ns
        sums.append((block, measure))
    if paired:
        blocks = np.union1d(sums[0][0], sums[1][0])
        tables = [_table(np.searchsorted(blocks, block), measure, blocks.size) for block, measure in sums]
    else:
        tables = []
        for block, measure in sums:
            own = np.unique(block)
            tables.append(_table(np.searchsorted(own, block), measure, own.size))
    if min(len(table) for table in tables) < FEWEST:
        return None
    rng = np.random.default_rng(0)
    values, draws = [], None
    for table in tables:
        if draws is None or not paired:
            draws = rng.multinomial(len(table), np.full(len(table), 1.0 / len(table)), DRAWS)
        part, whole = (draws @ table).T
        values.append(np.divide(part, whole, out=np.full(DRAWS, np.nan), where=whole > 0))
    apart = values[1] - values[0]
    apart = apart[np.isfinite(apart)]
    if apart.size < DRAWS // 2:
        return None
    low, high = np.percentile(apart, (50 * (1 - LEVEL), 50 * (1 + LEVEL)))
    return float(low), float(high)


def _table(place: NDArray[np.intp], measure: Measure, blocks: int) -> Array:
    """The sums of each stretch (blocks, 2)."""
    return np.column_stack([np.bincount(place, x, blocks) for x in (measure.part, measure.whole)])
