"""Landings that have begun: which contacts touched lately, and what the landing was foreseen from.

While an impact lasts, velocities are on their way from v⁻ to v⁺, and nothing that is extrapolated from them is true.
What is known of such a landing is what was foreseen by the last state before its first touch. Until all contacts of
its cluster have touched it is incomplete, and then complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead, LandingBegun
from hybrid_contact_ros.estimation.landing_clusters import impacting_contacts
from hybrid_contact_ros.estimation.moment import Moment

_LONG_AGO = -(2**62)


class LandingPhases:
    """The touches of the last states of m contacts."""

    def __init__(self, contacts: int, config: EstimatorConfig) -> None:
        self.tune(config)
        self._touched = np.full(contacts, _LONG_AGO, dtype=np.int64)
        self.reset()

    def tune(self, config: EstimatorConfig) -> None:
        """Take over another window and other durations."""
        self._impact, landing = config.impact, config.landing
        self._lasts = None if landing.duration_max == 0.0 else landing.duration_min
        self._window_ns = int(1e9 * config.impact.window)

    def reset(self) -> None:
        """Forget all states."""
        self._touched.fill(_LONG_AGO)
        self._last = _LONG_AGO
        self._kept: ImpactAhead | None = None
        self._begun: ImpactAhead | None = None
        self._hits: frozenset[int] = frozenset()

    def keep(self, moment: Moment) -> None:
        """Remember a state that may be the last one before a touch. After the touches that it told."""
        if EventKind.TOUCHDOWN in moment.backed.tobytes():
            self._kept = ImpactAhead.of(moment, self._impact.window)
        else:
            self._kept = None

    def touch(
        self, told: Iterable[tuple[int, int, int]], complete: Callable[[ImpactAhead], ImpactAhead]
    ) -> list[tuple[int, int]]:
        """These contacts touched: (index, time, earliest time in ns). Returns index and earliest time of those that did
        not only bounce: that had not touched less than ``impact.window`` before.

        Args:
            complete: adds to what the last state was copied from what is remembered of the states before it.
        """
        landed = []
        for contact, time, earliest in told:
            if time - self._touched[contact] > self._window_ns:
                landed.append((contact, earliest))
                self._last = max(self._last, time)
                self._begin(contact, complete)
            self._touched[contact] = time
        return landed

    def _begin(self, contact: int, complete: Callable[[ImpactAhead], ImpactAhead]) -> None:
        """A landing begins with this contact, unless one is under way that it belongs to."""
        kept = self._kept
        if self._begun is not None and contact in self._hits:
            return
        self._begun = None
        if kept is None or kept.backed[contact] != EventKind.TOUCHDOWN:
            return  # nobody foresaw it
        together, _ = impacting_contacts(self._impact, kept.closed, kept.backed, kept.event_times, self._lasts)
        hits = frozenset(int(i) for i in together if not kept.closed[i])
        if contact in hits:
            self._begun, self._hits = complete(kept), hits

    def begun(self, moment: Moment) -> LandingBegun | None:
        """The landing that began less than ``impact.window`` before a state with its last touch."""
        stamp, foreseen = moment.stamp_ns, self._begun
        if foreseen is None or stamp - self._last > self._window_ns:
            self._begun = None
            return None
        coming = [i for i in self._hits if not moment.closed[i] and self._touched[i] <= foreseen.stamp_ns]
        return LandingBegun(foreseen, 1e-9 * (stamp - self._last), bool(coming))

    def settled(self, ahead: ImpactAhead) -> ImpactAhead:
        """The same, where contacts that bounce stand: those that touched less than ``impact.window`` before and are
        open again, as long as another touchdown is foreseen."""
        lately = ahead.stamp_ns - self._touched <= self._window_ns
        if not lately.any():
            return ahead
        due = ahead.backed == EventKind.TOUCHDOWN
        bounces = due & lately & (ahead.closed == 0)
        others = due & ~bounces & (ahead.event_times[:, 0] <= self._impact.horizon)
        if not (bounces.any() and others.any()):
            return ahead
        closed, backed = ahead.closed.copy(), ahead.backed.copy()
        closed[bounces], backed[bounces] = 1, EventKind.NONE
        return changed(ahead, closed=closed, backed=backed)

    def since_touch(self, stamp_ns: int) -> float:
        """s since the last touch of any contact that was no bounce."""
        return 1e-9 * (stamp_ns - self._last)
