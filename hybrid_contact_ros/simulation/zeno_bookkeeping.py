"""What a simulation remembers of impacts: Zeno times, and where bouncing contacts may be closed (Or §V)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.alternating_chatter import REMEMBERED, alternating_chatter_end
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode_integration import ModeIntegration
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.system_fault import SystemFault
from hybrid_contact_ros.simulation.time_error import TimeError
from hybrid_contact_ros.simulation.transition_result import TransitionResult
from hybrid_contact_ros.simulation.zeno import Cut, came_to_rest, obeys_newtons_law, truncate_bounces
from hybrid_contact_ros.stability.accumulation import Impact

Array = NDArray[np.float64]


class ImpactHistory:
    """The impacts of one simulation so far.

    Attributes:
        zeno_times: (lower, upper) of each sequence of impacts that has ended, s.
    """

    def __init__(self, system: AdaptedSystem, options: Options, truncation: Tolerances | None, start: float) -> None:
        """``start``: time, s."""
        self.system, self.options, self.truncation = system, options, truncation
        self.zeno_times: list[tuple[float, float]] = []
        self._time_error = TimeError(system, options.velocity_tolerance, start)
        self._impacts: list[Impact] = []

    def add_integration(self, integration: ModeIntegration) -> None:
        """Add the error that the integration of a mode may have made."""
        self._time_error.add_integration(integration)

    def add(self, event: ExecutionEvent) -> None:
        """Add an event."""
        self._time_error.add_event(event)
        if event.kind is ExecutionEventKind.TOUCHDOWN:
            y = np.concatenate((event.q, event.velocity_after))
            self._impacts.append(Impact(event.time, tuple(sorted(event.contacts)), y))
            del self._impacts[:-REMEMBERED]

    def note_rest(self, result: TransitionResult, events: Sequence[ExecutionEvent], begin: float) -> None:
        """Remember the Zeno time if bounces have just come to rest by themselves. ``begin``: of the execution, s."""
        rest = came_to_rest(result, events, begin)
        if rest is not None:
            self.zeno_times.append(self._time_error.widened(rest, result.state.mode.closed))

    def cut(self, result: TransitionResult) -> Cut | None:
        """How to carry on from here with the contacts that bounce closed, if that is within the tolerances."""
        tolerances = self.truncation
        if tolerances is None:
            return None
        last = result.events[-1]
        newton = bool(last.bounced) and obeys_newtons_law(self.system, last)
        if newton:
            try:
                cut = truncate_bounces(self.system, result.state, last.bounced, tolerances, self.options)
            except SystemFault:  # states around this one are asked for, which a system may refuse
                cut = None
            if cut is not None:
                return cut
        if not any(event.kind is ExecutionEventKind.TOUCHDOWN for event in result.events):
            return None
        fewest = 1 if len(last.bounced) == 1 and not newton else 2  # Or's proof is not about such a contact
        try:
            return alternating_chatter_end(self.system, result.state, self._impacts, tolerances, self.options, fewest)
        except SystemFault:
            return None

    def close(self, cut: Cut, before: TransitionResult, after: HybridState) -> ExecutionEvent:
        """The event of a truncation that leads to the state ``after``; impacts start anew."""
        self.zeno_times.append(self._time_error.widened(cut.zeno_time, cut.contacts, cut.contacts))
        self._impacts.clear()
        return ExecutionEvent(
            time=after.time,
            kind=ExecutionEventKind.TRUNCATION,
            contacts=cut.contacts,
            before=before.state.mode,
            after=cut.mode,
            q=after.q,
            velocity_before=before.state.v,
            velocity_after=after.v,
            impulse=np.zeros((self.system.contacts, 1 + self.system.tangents)),
            decided=cut.proved,
        )
