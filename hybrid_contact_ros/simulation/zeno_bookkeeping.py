"""What a run remembers of impacts: Zeno times, and where contacts that bounce may be closed (J §3.5, O §V)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.alternating_chatter import REMEMBERED, settled_in_turns
from hybrid_contact_ros.simulation.execution import Event, EventKind
from hybrid_contact_ros.simulation.mode_integration import Stretch
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.time_error import TimeError
from hybrid_contact_ros.simulation.transition_result import Settled
from hybrid_contact_ros.simulation.zeno import Cut, by_newton, came_to_rest, truncated
from hybrid_contact_ros.stability.accumulation import Impact

Array = NDArray[np.float64]


class Bounces:
    """The impacts of one run so far.

    Attributes:
        zeno_times: (lower, upper) of each sequence of impacts that has ended, s.
    """

    def __init__(self, system: AdaptedSystem, options: Options, truncation: Tolerances | None, start: float) -> None:
        """``start``: time, s."""
        self.system, self.options, self.truncation = system, options, truncation
        self.zeno_times: list[tuple[float, float]] = []
        self._late = TimeError(system, options.velocity_tolerance, start)
        self._impacts: list[Impact] = []

    def flown(self, stretch: Stretch) -> None:
        """Add what the integration of a mode may be off."""
        self._late.flown(stretch)

    def add(self, event: Event) -> None:
        """Add an event."""
        self._late.hit(event)
        if event.kind is EventKind.TOUCHDOWN:
            y = np.concatenate((event.q, event.velocity_after))
            self._impacts.append(Impact(event.time, tuple(sorted(event.contacts)), y))
            del self._impacts[:-REMEMBERED]

    def rested(self, settled: Settled, events: Sequence[Event], begin: float) -> None:
        """Remember the Zeno time if bounces have just come to rest by themselves."""
        rest = came_to_rest(settled, events, begin)
        if rest is not None:
            self.zeno_times.append(self._late.around(rest, settled.mode.closed))

    def cut(self, time: float, q: Array, v: Array, settled: Settled) -> tuple[frozenset[int], Cut] | None:
        """Contacts whose bounces may be cut off here, and how to carry on."""
        tolerances = self.truncation
        if tolerances is None:
            return None
        last = settled.events[-1]
        newton = bool(last.bounced) and by_newton(self.system, last)
        fewest = 1 if len(last.bounced) == 1 and not newton else 2  # O's proof is not about such a contact
        if newton:
            cut = truncated(self.system, time, q, v, settled.mode, last.bounced, tolerances, self.options)
            if cut is not None:
                return last.bounced, cut
        if not any(event.kind is EventKind.TOUCHDOWN for event in settled.events):
            return None
        try:
            return settled_in_turns(
                self.system, time, q, v, settled.mode, self._impacts, tolerances, self.options, fewest
            )
        except Exception:  # states around this one are asked for, which a system may refuse
            return None

    def close(self, time: float, before: Settled, contacts: frozenset[int], cut: Cut, q: Array, v: Array) -> Event:
        """The event of a truncation that leads to (q, v); impacts start anew."""
        self.zeno_times.append(self._late.around(cut.zeno_time, contacts, contacts))
        self._impacts.clear()
        nothing = np.zeros((self.system.contacts, 1 + self.system.tangents))
        here = time, EventKind.TRUNCATION, contacts, before.mode, cut.mode, q, before.v, v, nothing
        return Event(*here, decided=cut.proved)
