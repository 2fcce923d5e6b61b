"""Events told against events that happened: missed, false, delays, and predictions that came within their bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.prediction import Event, Prediction

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

WINDOW = 0.02  # s: an event told this near to a true one is that one
LEAST_SWING = 0.001  # m: openings that stay below this gap are left out of the events, feet that skim the ground
SLIP = 0.05  # m/s: a loaded foot that moves faster along the ground slips
_SAMPLE = 0.001  # s, of the recordings: no true time is known better
KINDS = (EventKind.TOUCHDOWN, EventKind.LIFTOFF, EventKind.SLIP, EventKind.STICK)


class EventScores:
    """Pooled over recordings; every dictionary is keyed by the kind of event.

    Touchdowns and liftoffs count as true where they begin or end a stretch of the smoothed truth; what was told is
    false only if the unsmoothed truth, bounces of a millisecond included, has none near. Slips are true where a foot
    that is loaded moves faster than 0.05 m/s, and sticks where such a slip ends with the foot still loaded.

    Attributes:
        true, missed, told, false: counts; ``told``: of DETECTED events. delays: s, from a true event to the stamp of
            the state at which its detection was told. errors: s, time told less the true time. inside: of each
            prediction
            that was told, whether a true event lay in its bounds. confidences: said with them.
    """

    def __init__(self) -> None:
        self.true, self.missed, self.told, self.false = (dict.fromkeys(KINDS, 0) for _ in range(4))
        self.delays: dict[EventKind, list[float]] = {k: [] for k in KINDS}
        self.errors: dict[EventKind, list[float]] = {k: [] for k in KINDS}
        self.inside: dict[EventKind, list[bool]] = {k: [] for k in KINDS}
        self.confidences: dict[EventKind, list[float]] = {k: [] for k in KINDS}

    def add(self, data: dict[str, Array], answers: Sequence[Prediction]) -> None:
        n = len(answers)
        clock = data["time"][:n]
        raw, smooth = (data[k][:n].astype(bool) for k in ("foot_contact_raw", "foot_contact"))
        height = data["foot_pos"][:n, :, 2] - float(data["foot_radius"])
        for foot in range(smooth.shape[1]):  # no encoder could see the events of a foot that skims the ground
            smooth[:, foot] |= skimming(smooth[:, foot], height[:, foot])
        slips = raw & (np.linalg.norm(data["foot_vel"][:n, :, :2], axis=2) > SLIP)
        events = [e for answer in answers for e in answer.events]
        for foot in range(raw.shape[1]):
            mine = [e for e in events if e.contact == foot]
            truth = {
                EventKind.TOUCHDOWN: (_rises(clock, smooth[:, foot]), _rises(clock, raw[:, foot])),
                EventKind.LIFTOFF: (_rises(clock, ~smooth[:, foot]), _rises(clock, ~raw[:, foot])),
            }
            begins = _rises(clock, slips[:, foot])
            ends = clock[1:][slips[:-1, foot] & ~slips[1:, foot] & raw[1:, foot]]
            truth[EventKind.SLIP], truth[EventKind.STICK] = (begins, begins), (ends, ends)
            for kind, (lasting, every) in truth.items():
                self._count(kind, lasting, every, [e for e in mine if e.kind == kind], float(clock[-1]))

    def _count(self, kind: EventKind, lasting: Array, every: Array, events: list[Event], end: float) -> None:
        found = [e for e in events if e.detected]
        times = np.array([1e-9 * e.time_ns for e in found])
        self.true[kind] += lasting.size
        self.told[kind] += times.size
        self.false[kind] += sum(not _near(every, t, WINDOW) for t in times)
        for t in lasting:
            if not _near(times, t, WINDOW):
                self.missed[kind] += 1
                continue
            nearest = int(np.abs(times - t).argmin())
            self.errors[kind].append(float(times[nearest] - t))
            self.delays[kind].append(1e-9 * found[nearest].stamp_ns - float(t))
        for e in events:
            latest = min(1e-9 * e.latest_ns, 1e9)
            if e.detected or 1e-9 * e.time_ns > end:
                continue
            low, high = 1e-9 * e.earliest_ns - _SAMPLE, latest + _SAMPLE
            self.inside[kind].append(bool(((every >= low) & (every <= high)).any()))
            self.confidences[kind].append(e.confidence)

    def counts(self, kind: EventKind) -> str:
        """``true/told/missed/false``."""
        return f"{self.true[kind]}/{self.told[kind]}/{self.missed[kind]}/{self.false[kind]}"

    def delay(self, kind: EventKind) -> str:
        """Median and 95 % of the delays, ms."""
        values = 1e3 * np.array(self.delays[kind])
        return f"{np.median(values):.1f} ({np.quantile(values, 0.95):.0f})" if values.size else "–"

    def reliability(self, kind: EventKind) -> str:
        """How many of the predictions told came true within their bounds, of how many, and what was said of them."""
        inside = self.inside[kind]
        if not inside:
            return "–"
        said = float(np.mean(self.confidences[kind]))
        return f"{sum(inside)}/{len(inside)} said {said:.2f}"


def skimming(contact: Flags, gap: Array) -> Flags:
    """Samples (n,) of the openings that never reach ``LEAST_SWING``."""
    edges = np.flatnonzero(np.diff(np.r_[True, contact, True].astype(int)))
    found = np.zeros_like(contact)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        found[begin:end] = gap[begin:end].max() < LEAST_SWING
    return found


def _rises(clock: Array, flags: Flags) -> Array:
    return clock[1:][flags[1:] & ~flags[:-1]]


def _near(times: Array, t: float, window: float) -> bool:
    return bool(np.abs(times - t).min(initial=np.inf) <= window)
