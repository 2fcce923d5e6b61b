"""What went wrong, the worst first: the stretches of a recording that somebody should look at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hybrid_contact_ros.reporting.decimation import merged, runs
from hybrid_contact_ros.reporting.events import Foretold
from hybrid_contact_ros.reporting.headline import duration
from hybrid_contact_ros.reporting.impacts import Impact
from hybrid_contact_ros.reporting.record import Array, Record

MARGIN = 0.25
"""s that are shown before and after what went wrong."""

_SHORT = 0.01  # s; edges that differ by less are told by the delays, not one by one
_PAUSE = 0.05  # s; wrong stretches of one contact that are nearer to each other are one
_GAP = 0.05  # s without a state that count as a gap, at least, and as multiples of the usual time between states:
_GAP_PERIODS = 5.0
_FAR = 0.10  # of the jump: an impact whose velocity is farther than this from its set is told


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something that went wrong between ``begin`` and ``end``, s. ``text`` says what in one sentence. ``weight`` orders
    those of one ``kind``, of which there are ``alike`` in all."""

    kind: str
    begin: float
    end: float
    weight: float
    text: str
    alike: int = 1

    @property
    def window(self) -> tuple[float, float]:
        """What to look at, s."""
        return self.begin - MARGIN, self.end + MARGIN


def mistakes(record: Record, events: list[Foretold], impacts: list[Impact], most: int = 6) -> list[Mistake]:
    """The worst of each kind, ``most`` at most: wrong contacts, impacts outside of their sets, events that nobody had
    foretold or that came at another time, times without states, and refused inputs."""
    kinds = (_wrong(record), _impacts(impacts), _events(record, events), _gaps(record), _refusals(record))
    worst = [(sorted(kind, key=lambda x: -x.weight)[:most], len(kind)) for kind in kinds]
    return [replace(one, alike=count) for kind, count in worst for one in kind]


def _wrong(record: Record) -> list[Mistake]:
    found = []
    for j, (name, _) in enumerate(record.groups):
        begins, ends, value = runs(record.t, record.wrong[:, j], record.end)
        for begin, end in _together(begins[value], ends[value]):
            if end - begin < _SHORT:
                continue
            inside = (record.t >= begin) & (record.t < end)
            claimed = "closed" if record.predicted[inside, j].mean() > 0.5 else "open"
            truly = "open" if claimed == "closed" else "closed"
            said = f"{name} is called {claimed} while it is {truly}: {duration(end - begin)}"
            found.append(Mistake("contact", begin, end, end - begin, said))
    return found


def _together(begins: Array, ends: Array) -> list[tuple[float, float]]:
    """Stretches with those that follow within _PAUSE."""
    near = int(np.sum(begins[1:] - ends[:-1] < _PAUSE))
    begins, ends, _ = merged(begins, ends, begins.size - near) if near else (begins, ends, 0.0)
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def _impacts(impacts: list[Impact]) -> list[Mistake]:
    return [
        Mistake(
            "impact", one.time, one.time, one.distance,
            f"after the impact of {one.names} the velocity is {one.distance:.0%} of the jump away from the set",
        )
        for one in impacts if one.distance > _FAR
    ]  # fmt: skip


def _events(record: Record, events: list[Foretold]) -> list[Mistake]:
    """Of one horizon, 20 ms: the others tell the same events again. What is foretold comes later than now, so that
    nothing is foretold earlier than by the whole horizon: half of it is much."""
    found = []
    for one in (x for x in events if x.horizon == 0.02):
        what, ahead = one.kind.name.lower(), duration(one.horizon)
        if record.truth is None:
            what = f"detected {what}"
        for t, error, j in zip(one.times.tolist(), one.errors.tolist(), one.groups.tolist(), strict=True):
            if abs(error) > 0.5 * one.horizon:
                late = "late" if error > 0 else "early"
                text = f"{record.groups[j][0]}: the {what} was foretold {duration(abs(error))} too {late}"
                found.append(Mistake("event", t, t, abs(error), text))
        for t, j in zip(one.missed.tolist(), one.missed_groups.tolist(), strict=True):
            text = f"{record.groups[j][0]}: the {what} was not foretold {ahead} before it"
            found.append(Mistake("event", t, t, one.horizon, text))
    return found


def _gaps(record: Record) -> list[Mistake]:
    steps = np.diff(record.t)
    long = np.flatnonzero(steps > max(_GAP, _GAP_PERIODS * record.period))
    return [
        Mistake("gap", begin, begin + step, step, f"no state for {duration(step)}")
        for begin, step in zip(record.t[long].tolist(), steps[long].tolist(), strict=True)
    ]


def _refusals(record: Record) -> list[Mistake]:
    stamps, reason = record.column("refusals", "stamp_ns"), record.column("refusals", "reason")
    if stamps is None or reason is None or not stamps.size:
        return []
    names = record.summary.get("reasons", ())
    found = []
    for code in np.unique(reason).tolist():
        times = np.sort(record.seconds(stamps[reason == code]))
        first = np.append(0, np.flatnonzero(np.diff(times) > 1.0) + 1)
        for begin, end in zip(first, np.append(first[1:], times.size), strict=True):
            name = str(names[code]) if code < len(names) else f"reason {code}"
            count = int(end - begin)
            text = f"{count} input{'s' if count > 1 else ''} refused or reported: {name}"
            found.append(Mistake("input", float(times[begin]), float(times[end - 1]), float(count), text))
    return found
