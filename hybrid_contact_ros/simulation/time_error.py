"""The error of the times of impacts, for bounds of a Zeno time that are honest about how they were found."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind
from hybrid_contact_ros.simulation.mode_integration import ModeIntegration

Array = NDArray[np.float64]
_ROUNDING = 8.9e-16  # relative error of times, and of gaps compared with the coordinates
_APART = 10.0  # times the error of a gap: contacts whose gaps differ by more do not hit at once
_MAX_RESTITUTION = 0.99  # bounces with more restitution than this hardly end; their errors are taken for this


class TimeError:
    """An estimate of that error, added up as an execution goes on. It is no proof.

    Where a contact hits with speed u, an error δφ of its gap is an error δφ / u in time. An error δu of the speed makes
    the bounces that follow take longer by 2 e δu / (|φ̈| (1 − e)) in all. δφ and δu are the sums of the integrator's
    errors in its steps since the contact last hit, times |J_n|, and rounding. That errors grow along the motion, and
    change φ̈ and J_n, is left out: such effects are of second order.

    Where a contact was within ``gap_tolerance``, and not there yet, as another hit, the two impacts were taken for one,
    and another order of impacts may lead elsewhere. Then the whole time from there to the Zeno point is uncertain.

    Attributes:
        position, velocity: sums of errors of q and v. time: s, the error of the times of impacts.
    """

    def __init__(self, system: AdaptedSystem, slowest: float, start: float) -> None:
        """``slowest``: m/s, a slower impact is none. ``start``: time, s."""
        self._system, self._slowest, self._start = system, slowest, start
        self.position = self.velocity = self.time = 0.0
        self._hits: dict[int, tuple[float, float, float, float]] = {}
        self._rounding: dict[int, float] = {}
        self._merged: dict[int, float] = {}

    def add_integration(self, integration: ModeIntegration) -> None:
        """Add the steps of a mode."""
        self.velocity += float(integration.error[1])
        self.position += float(integration.error[0]) + self.velocity * (integration.time - integration.times[0])

    def add_event(self, event: ExecutionEvent) -> None:
        """Add the error in time of an impact, or of the closing of a contact."""
        if event.kind not in (ExecutionEventKind.TOUCHDOWN, ExecutionEventKind.CLOSING):
            return
        problem = self._system.problem(event.q, event.velocity_before, event.time, event.before.closed)
        self.time += _ROUNDING * max(1.0, abs(event.time))
        first = min(problem.gap[i] for i in event.contacts)
        for i in sorted(event.contacts):
            row = problem.normal_jacobian[i]
            size = float(np.sqrt(row @ row))
            since, position, velocity, departure = self._hits.get(i, (self._start, 0.0, 0.0, 0.0))
            speed = max(abs(float(row @ event.velocity_before)), self._slowest)
            gap = size * (self.position - position + _ROUNDING * float(np.abs(event.q).max()))
            self.time += gap / speed
            if event.kind is ExecutionEventKind.TOUCHDOWN and problem.gap[i] - first > _APART * gap:
                for j in event.contacts:
                    self._merged.setdefault(j, event.time)
            e = min(float(problem.restitution[i]), _MAX_RESTITUTION)
            slower = size * (self.velocity - velocity) * (event.time - since) / (speed + departure)  # δu / |φ̈|
            self.time += 2.0 * e / (1.0 - e) * slower
            departure = abs(float(row @ event.velocity_after))
            self._hits[i] = event.time, self.position, self.velocity, departure
            rounding = size * _ROUNDING * float(np.abs(event.q).max()) / max(departure, self._slowest)
            self._rounding[i] = rounding * (1.0 + e) / (1.0 - e)

    def widened(
        self, bounds: tuple[float, float], contacts: Iterable[int], added: Iterable[int] = ()
    ) -> tuple[float, float]:
        """(lower, upper), s, wider by the error so far.

        Args:
            bounds: (lower, upper), s. contacts: those that came to rest. added: those whose bounces after their last
                hit were added up, so that rounding of their gaps counts, too.
        """
        error = self.time + sum(self._rounding.get(i, 0.0) for i in added)
        since = min((self._merged.pop(i) for i in contacts if i in self._merged), default=bounds[1])
        error += bounds[1] - since
        return bounds[0] - error, bounds[1] + error
