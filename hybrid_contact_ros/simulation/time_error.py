"""How far off the times of impacts may be, for bounds of a Zeno time that are honest about how they were found."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import Event, EventKind
from hybrid_contact_ros.simulation.mode_integration import Stretch

Array = NDArray[np.float64]
_ROUNDING = 8.9e-16  # of times, and of gaps relative to the coordinates that they are of
_EARLY = 10.0  # times what a gap may be off: contacts that are farther apart do not hit at once
_ELASTIC = 0.99  # bounces with more restitution than this hardly end; their errors are taken for this


class TimeError:
    """An estimate, added up as an execution goes on; no proof.

    A gap that is off by δφ where a contact hits with speed u is off in time by δφ / u. A speed that is off by δu makes
    the bounces that follow take longer by 2 e δu / (|φ̈| (1 − e)) in all. δφ and δu are what the integrator's errors in
    its steps since the contact was last hit add up to, times |J_n|, and rounding. That errors grow along the flow, and
    turn φ̈ and J_n, is left out: they are small of second order.

    Where a contact was within ``gap_tolerance``, and not there yet, as another hit, the two impacts were taken for one,
    and what follows is that of another order. Then the time from there to the Zeno point may be off by all of itself.

    Attributes:
        position, velocity: sums of errors of q and v. time: s, by which the times of impacts may be off.
    """

    def __init__(self, system: AdaptedSystem, slowest: float, start: float) -> None:
        """``slowest``: m/s, an impact slower than that is none."""
        self._system, self._slowest, self._start = system, slowest, start
        self.position = self.velocity = self.time = 0.0
        self._hits: dict[int, tuple[float, float, float, float]] = {}
        self._touch: dict[int, float] = {}
        self._merged: dict[int, float] = {}

    def flown(self, stretch: Stretch) -> None:
        """Add the steps of a mode."""
        self.velocity += float(stretch.error[1])
        self.position += float(stretch.error[0]) + self.velocity * (stretch.time - stretch.times[0])

    def hit(self, event: Event) -> None:
        """Add what an impact, or the closing of a contact, is off."""
        if event.kind not in (EventKind.TOUCHDOWN, EventKind.CLOSING):
            return
        problem = self._system.problem(event.q, event.velocity_before, event.time, event.before.closed)
        self.time += _ROUNDING * max(1.0, abs(event.time))
        first = min(problem.gap[i] for i in event.contacts)
        for i in sorted(event.contacts):
            row = problem.normal_jacobian[i]
            size = float(np.sqrt(row @ row))
            since, position, velocity, left = self._hits.get(i, (self._start, 0.0, 0.0, 0.0))
            speed = max(abs(float(row @ event.velocity_before)), self._slowest)
            gap = size * (self.position - position + _ROUNDING * float(np.abs(event.q).max()))
            self.time += gap / speed
            if event.kind is EventKind.TOUCHDOWN and problem.gap[i] - first > _EARLY * gap:
                for j in event.contacts:
                    self._merged.setdefault(j, event.time)
            e = min(float(problem.restitution[i]), _ELASTIC)
            slower = size * (self.velocity - velocity) * (event.time - since) / (speed + left)  # δu / |φ̈|
            self.time += 2.0 * e / (1.0 - e) * slower
            leaves = abs(float(row @ event.velocity_after))
            self._hits[i] = event.time, self.position, self.velocity, leaves
            touch = size * _ROUNDING * float(np.abs(event.q).max()) / max(leaves, self._slowest)
            self._touch[i] = touch * (1.0 + e) / (1.0 - e)

    def around(
        self, bounds: tuple[float, float], contacts: Iterable[int], added: Iterable[int] = ()
    ) -> tuple[float, float]:
        """(lower, upper), wider by the error so far.

        ``contacts``: that came to rest. ``added``: whose bounces after their last hit were added up, so that rounding
        of their gaps counts, too.
        """
        error = self.time + sum(self._touch.get(i, 0.0) for i in added)
        since = min((self._merged.pop(i) for i in contacts if i in self._merged), default=bounds[1])
        error += bounds[1] - since
        return bounds[0] - error, bounds[1] + error
