"""How often the true time of an event lies in the bounds that were told before it. Pure functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.scoring.event_timing import asked_at

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BoundsCoverage:
    """Bounds that were told ``horizon`` s before true events.

    Attributes:
        events: number of true events with bounds. inside: number of those whose time lay in them.
        valid, valid_inside: the same of the bounds that were said to be calibrated.
        widths: (events,) latest − earliest, s.
    """

    horizon: float
    events: int
    inside: int
    valid: int
    valid_inside: int
    widths: Array

    @property
    def coverage(self) -> float:
        return self.inside / self.events if self.events else float("nan")


def bounds_coverage(
    t: Array,
    bounds: tuple[Array, Array],
    valid: Bools,
    true_times: Array,
    before: Array,
    horizon: float,
    slack: float = 0.005,
) -> BoundsCoverage:
    """Score the bounds of one contact.

    Args:
        t: (n,) stamps of the states, s.
        bounds: (n,) earliest and latest time after the stamp, s; NaN where none were told.
        valid: (n,), whether they are said to be calibrated.
        true_times, before: (e,) s: each event came after ``before`` and not after ``true_times``, two samples of the
            truth. It lies in bounds that hold any time of this.
        horizon, slack: of the state that is asked, as in :func:`~.event_timing.event_timing`.
    """
    earliest, latest = bounds
    inside, good, widths = [], [], []
    for true, sooner, k in zip(true_times, before, asked_at(t, true_times, horizon, slack), strict=True):
        if k < 0 or not (np.isfinite(earliest[k]) and np.isfinite(latest[k])):
            continue
        inside.append(t[k] + earliest[k] <= true + 1e-6 and t[k] + latest[k] >= sooner - 1e-6)
        good.append(bool(valid[k]))
        widths.append(latest[k] - earliest[k])
    hits, sure = np.array(inside, bool), np.array(good, bool)
    return BoundsCoverage(
        horizon, hits.size, int(hits.sum()), int(sure.sum()), int((hits & sure).sum()), np.array(widths, np.float64)
    )


def pooled_bounds(found: Sequence[BoundsCoverage]) -> BoundsCoverage:
    """The bounds of several contacts at one horizon as one."""
    return BoundsCoverage(
        found[0].horizon,
        sum(x.events for x in found),
        sum(x.inside for x in found),
        sum(x.valid for x in found),
        sum(x.valid_inside for x in found),
        np.concatenate([x.widths for x in found]),
    )
