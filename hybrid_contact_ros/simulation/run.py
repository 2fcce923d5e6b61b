"""The loop of a simulation: follow a mode to its end, apply the transitions there, and again."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.event_watcher import Crossing
from hybrid_contact_ros.simulation.execution import (
    Execution,
    ExecutionEvent,
    ExecutionEventKind,
    ExecutionStatus,
    ModeInterval,
)
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.mode_integration import ModeIntegration
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.system_fault import SystemFault
from hybrid_contact_ros.simulation.transition import IMPACTS, Transitions
from hybrid_contact_ros.simulation.transition_result import TransitionResult
from hybrid_contact_ros.simulation.zeno import Cut
from hybrid_contact_ros.simulation.zeno_bookkeeping import ImpactHistory

_CROWD_EVENTS, _CROWD_TIME = 24, 1e-9  # so many events within so short a time, s, are no progress
_FUTILE_EVENTS, _FUTILE_TIME = 20, 1e-3  # nor are so many that change nothing, within so short a time, s


class SimulationRun:
    """One simulation, from its first state to its end.

    Errors of the system end it (:class:`~.system_fault.SystemFault`); what was simulated until then is kept.

    Args:
        system: as it was given. The run asks its :meth:`~.adapter.AdaptedSystem.guarded` form; the execution keeps the
            one given, so that what is asked later raises as the system does.
        truncation: None to follow chatter to its end.
    """

    def __init__(self, system: AdaptedSystem, options: Options, truncation: Tolerances | None, t_final: float) -> None:
        self._given, self.system = system, system.guarded()
        self.options, self.truncation, self.t_final = options, truncation, t_final
        self.transitions = Transitions(self.system, options)
        self.intervals: list[ModeInterval] = []
        self.events: list[ExecutionEvent] = []
        self.steps = self.most_at_once = 0
        self.status: ExecutionStatus | None = None
        self.why = ""
        self._pending: TransitionResult | None = None
        self._idle: frozenset[int] = frozenset()

    def go(self, state: HybridState, choose_mode: bool) -> Execution:
        """From a state to the end.

        Args:
            choose_mode: start in the mode that the state leads to (Johnson, Theorem 9), and not in that of the state.
        """
        self.history = ImpactHistory(self.system, self.options, self.truncation, state.time)
        try:
            self._alternate(state, choose_mode)
        except SystemFault as fault:
            self._stop(ExecutionStatus.DIVERGED, str(fault))
            if not self.intervals:
                self._record_instant(state)
        return Execution(
            intervals=tuple(self.intervals),
            events=tuple(self.events),
            status=self.status or ExecutionStatus.FINISHED,
            why=self.why,
            names=self.system.contact_names,
            zeno_times=tuple(self.history.zeno_times),
            most_at_once=self.most_at_once,
            gap_drift=self.transitions.resets.gap_drift,
            velocity_drift=self.transitions.resets.velocity_drift,
            system=self._given,
        )

    def _alternate(self, state: HybridState, choose_mode: bool) -> None:
        """Transitions and modes in turns."""
        state = self._settle(state, choose_mode)
        while self.status is None:
            state, crossing = self._follow(state)
            if crossing is None:
                break
            state = self._settle(state)
            if self.status is None and len(self.events) >= self.options.max_events:
                self._stop(ExecutionStatus.EVENT_LIMIT, f"{len(self.events)} events")

    def _stop(self, status: ExecutionStatus, why: str) -> None:
        if self.status is None:
            self.status, self.why = status, why

    def _record_instant(self, state: HybridState) -> None:
        """Record an interval of no length."""
        interval = ModeInterval(
            mode=state.mode,
            times=np.array([state.time]),
            q=state.q[None].copy(),
            v=state.v[None].copy(),
            dense=(),
            system=self._given,
        )
        self.intervals.append(interval)

    # --- transitions --------------------------------------------------------------------------------------------------

    def _settle(self, state: HybridState, choose_mode: bool = False) -> HybridState:
        """Apply the transitions at an instant, and record them with the intervals of no length between them.

        Args:
            choose_mode: whether the mode is not known yet. Then changes of mode by forces alone are no events.
        """
        started = bool(self.intervals)
        if self._pending is not None:
            result, self._pending = self._pending, None
        else:
            result = self._transitions_at(self.transitions.resets.project(state) if started else state)
        if result.events:
            state = state._replace(q=result.events[0].q, v=result.events[0].velocity_before)
        if result.status is not None:
            self._stop(result.status, result.why)
        if choose_mode and not any(event.kind in IMPACTS for event in result.events):
            result.events = []
        if not started and (self.status is not None or result.events):
            self._record_instant(state)
        for i, event in enumerate(result.events):
            self.events.append(event)
            self.history.add(event)
            if i + 1 < len(result.events):
                self._record_instant(state._replace(v=event.velocity_after, mode=event.after))
        self.most_at_once = max(self.most_at_once, len(result.events))
        self._stop_where_events_crowd()
        self._idle = result.idle
        if result.events:
            self.history.note_rest(result, self.events, self.intervals[0].start)
            cut = self.history.cut(result) if self.status is None else None
            if cut is not None:
                return self._carry_on_from(cut, result)
        if self.status is not None:
            self._record_instant(result.state)
        return result.state

    def _transitions_at(self, state: HybridState, idle: frozenset[int] = frozenset()) -> TransitionResult:
        try:
            return self.transitions.settle(state, idle)
        except SystemFault as fault:
            return TransitionResult(state, status=ExecutionStatus.DIVERGED, why=str(fault))

    def _stop_where_events_crowd(self) -> None:
        recent = self.events[-_CROWD_EVENTS:]
        if len(recent) == _CROWD_EVENTS and recent[-1].time - recent[0].time < _CROWD_TIME:
            self._stop(ExecutionStatus.ALTERNATING, f"{_CROWD_EVENTS} events within {_CROWD_TIME:g} s")

    def _carry_on_from(self, cut: Cut, result: TransitionResult) -> HybridState:
        """Truncate a chatter: go on with its contacts closed."""
        self._record_instant(result.state)
        state = result.state._replace(q=cut.q, v=cut.v, mode=cut.mode)
        state = self.transitions.resets.project(state)
        self.events.append(self.history.close(cut, result, state))
        return self._settle(state)

    # --- modes --------------------------------------------------------------------------------------------------------

    def _follow(self, state: HybridState) -> tuple[HybridState, Crossing | None]:
        """Follow a mode to its end, and record its interval. None where the simulation ends."""
        try:
            guards = self.transitions.guards
            kinetic = guards.kinetic(guards.regular(state))
            dynamics = guards.dynamics(state, kinetic, idle=self._idle)
            integration = ModeIntegration(dynamics, self.options, self.t_final, self.steps, state)
        except SystemFault:
            self._record_instant(state)
            raise
        crossing: Crossing | None = None
        try:
            crossing = self._next_event(integration, state)
        except SystemFault as fault:
            self._stop(ExecutionStatus.DIVERGED, str(fault))
        self.steps = integration.steps
        self.history.add_integration(integration)
        self.intervals.append(integration.interval(self._given))
        return state._replace(time=integration.time, q=integration.q, v=integration.v), crossing

    def _next_event(self, integration: ModeIntegration, state: HybridState) -> Crossing | None:
        """The crossing that ends a mode; one that changes nothing does not. None where the simulation ends."""
        dynamics = integration.dynamics
        if integration.status is not None:
            self._stop(integration.status, integration.why)
            return None
        watcher = integration.watcher(integration.rising())
        futile, since = 0, integration.time
        while self.status is None and integration.time < self.t_final:
            crossing = integration.advance(watcher)
            if integration.status is not None:
                self._stop(integration.status, integration.why)
            if crossing is None:
                return None
            function = crossing.function
            if crossing.grazing:
                self._record_grazing(crossing, integration)
            elif self._ends(integration, state):
                return crossing
            elif function.contact not in self._idle and watcher.grazes(crossing):
                self._record_grazing(crossing, integration)
            if dynamics.renew(integration.time, integration.q, integration.v) or self._idle != dynamics.idle:
                dynamics.idle = self._idle
                watcher = integration.watcher({})
            if function in watcher.functions and not crossing.grazing:
                watcher.disarm(function)
            if integration.time > since + _FUTILE_TIME:
                futile, since = 0, integration.time
            futile += 1
            if futile > _FUTILE_EVENTS and dynamics.under_way():
                futile, watcher = 0, integration.watcher({})
            elif futile > _FUTILE_EVENTS:
                self._stop_where_futile(integration, crossing)
        return None

    def _ends(self, integration: ModeIntegration, state: HybridState) -> bool:
        """Whether some transition is due; it is kept for :meth:`_settle`."""
        dynamics = integration.dynamics
        here = HybridState(integration.time, integration.q, integration.v, dynamics.followed, state.directions)
        here = self.transitions.resets.project(here)._replace(mode=dynamics.mode)
        idle = frozenset[int]()
        if dynamics.idle:
            problem = self.system.problem(here.q, here.v, here.time, here.mode.closed)
            idle = frozenset(i for i in dynamics.idle if dynamics.rests(problem, i))
        result = self._transitions_at(here, idle)
        if not result.events and result.status is None:
            self._idle |= result.idle
            if self.system.tangents > 1:  # a contact that came to rest for an instant slides on in another direction
                dynamics.directions = dict(result.state.directions)
            return False
        self._pending = result
        return True

    def _stop_where_futile(self, integration: ModeIntegration, crossing: Crossing) -> None:
        """A function stays below zero, and complementarity finds nothing better: say why."""
        i, kind, mode = crossing.function.contact, crossing.function.kind, integration.dynamics.mode
        name = self.system.contact_names[i]
        if kind == "gap":
            closed = mode.closed | {i}
            modes = (HybridMode(closed, sliding) for sliding in (mode.sliding, closed))
            possible = (ModeDynamics(self.system, mode, False, 0.0) for mode in modes)
            if not any(other.motion(integration.time, integration.q, integration.v).solved for other in possible):
                why = f"{name!r} must close, and that has no dynamics (Johnson's Assumption A5)"
                self._stop(ExecutionStatus.SINGULAR, why)
        why = f"the {kind} of {name!r} keeps falling below zero, and no other mode is right"
        self._stop(ExecutionStatus.ALTERNATING, why)

    def _record_grazing(self, crossing: Crossing, integration: ModeIntegration) -> None:
        mode = integration.dynamics.mode
        event = ExecutionEvent(
            time=integration.time,
            kind=ExecutionEventKind.GRAZING,
            contacts=frozenset({crossing.function.contact}),
            before=mode,
            after=mode,
            q=integration.q,
            velocity_before=integration.v,
            velocity_after=integration.v,
            impulse=np.zeros((self.system.contacts, 1 + self.system.tangents)),
        )
        self.events.append(event)
