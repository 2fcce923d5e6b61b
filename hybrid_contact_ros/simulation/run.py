"""The loop of a simulation: flow, event, transitions, and again."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.events import Crossing
from hybrid_contact_ros.simulation.execution import (
    Execution,
    ExecutionEvent,
    ExecutionEventKind,
    ExecutionStatus,
    ModeInterval,
)
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.mode_integration import ModeIntegration, reason
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.transition import IMPACTS, Transitions
from hybrid_contact_ros.simulation.transition_result import TransitionResult
from hybrid_contact_ros.simulation.zeno import Cut
from hybrid_contact_ros.simulation.zeno_bookkeeping import ImpactHistory

Array = NDArray[np.float64]
_CROWD, _MOMENT = 24, 1e-9  # so many events within so short a time (s) without impact are no progress
_IDLE, _SPELL = 20, 1e-3  # events that change nothing, within so short a time, s, are no progress


class SimulationRun:
    """State of one simulation."""

    def __init__(self, system: AdaptedSystem, options: Options, truncation: Tolerances | None, t_final: float) -> None:
        self.system, self.options, self.t_final = system, options, t_final
        self.truncation = truncation
        self.transitions = Transitions(system, options)
        self.intervals: list[ModeInterval] = []
        self.events: list[ExecutionEvent] = []
        self.steps = self.most = 0
        self.status: ExecutionStatus | None = None
        self._next: TransitionResult | None = None
        self._idle: frozenset[int] = frozenset()
        self.why = ""

    def go(self, time: float, q: Array, v: Array, mode: HybridMode | None) -> Execution:
        """From a state to the end; ``mode`` None starts in the one that J Theorem 9 leads to."""
        self.bounces = ImpactHistory(self.system, self.options, self.truncation, time)
        try:
            self._go(time, q, v, mode)
        except Exception as error:
            self._stop(ExecutionStatus.DIVERGED, reason(error))
            if not self.intervals:
                self._instant(time, mode or HybridMode(), q, v)
        return Execution(
            tuple(self.intervals),
            tuple(self.events),
            self.status or ExecutionStatus.FINISHED,
            self.why,
            self.system.contact_names,
            tuple(self.bounces.zeno_times),
            self.most,
            self.transitions.resets.gap_drift,
            self.transitions.resets.velocity_drift,
            self.system,
        )

    def _go(self, time: float, q: Array, v: Array, mode: HybridMode | None) -> None:
        time, q, v, mode, directions = self._settle(time, q, v, mode or HybridMode(), {}, initial=mode is None)
        while self.status is None:
            time, q, v, hit = self._flow(time, q, v, mode, directions)
            if hit is None:
                break
            time, q, v, mode, directions = self._settle(time, q, v, mode, directions)
            if self.status is None and len(self.events) >= self.options.max_events:
                self._stop(ExecutionStatus.EVENT_LIMIT, f"{len(self.events)} events")

    def _stop(self, status: ExecutionStatus, why: str) -> None:
        if self.status is None:
            self.status, self.why = status, why

    def _settle(
        self,
        time: float,
        q: Array,
        v: Array,
        mode: HybridMode,
        directions: Mapping[int, Array],
        initial: bool = False,
    ) -> tuple[float, Array, Array, HybridMode, Mapping[int, Array]]:
        """Transitions at an instant; intervals of no length between them are recorded."""
        started = bool(self.intervals)
        if self._next is not None:
            settled, self._next = self._next, None
        else:
            if started:
                q, v = self.transitions.resets.project(time, q, v, mode)
            settled = self._transitions_at(time, q, v, mode, directions)
        if settled.events:
            q, v = settled.events[0].q, settled.events[0].velocity_before
        if settled.status is not None:
            self._stop(settled.status, settled.why)
        if initial and not any(e.kind in IMPACTS for e in settled.events):
            settled.events = []
        if not started and (self.status is not None or settled.events):
            self._instant(time, mode, q, v)
        for i, event in enumerate(settled.events):
            self.events.append(event)
            self.bounces.add(event)
            if i + 1 < len(settled.events):
                self._instant(time, event.after, q, event.velocity_after)
        self.most = max(self.most, len(settled.events))
        self._crowding()
        q, v, self._idle = settled.q, settled.v, settled.idle
        if settled.events:
            self.bounces.rested(settled, self.events, self.intervals[0].start)
            found = self.bounces.cut(time, q, v, settled) if self.status is None else None
            if found is not None:
                return self._close(time, settled, *found)
        if self.status is not None:
            self._instant(time, settled.mode, q, v)
        return time, q, v, settled.mode, settled.directions

    def _instant(self, time: float, mode: HybridMode, q: Array, v: Array) -> None:
        self.intervals.append(ModeInterval(mode, np.array([time]), q[None].copy(), v[None].copy(), (), self.system))

    def _flow(
        self, time: float, q: Array, v: Array, mode: HybridMode, directions: Mapping[int, Array]
    ) -> tuple[float, Array, Array, Crossing | None]:
        """Follow one mode to its end; an event that changes nothing does not end it."""
        try:
            guards = self.transitions.guards
            kinetic = guards.kinetic(guards.regular(time, q, v))
            flow = ModeDynamics(
                self.system, mode, kinetic, self.options.velocity_tolerance, directions, idle=self._idle
            )
            integration = ModeIntegration(flow, self.options, self.t_final, self.steps, time, q, v)
        except Exception as error:
            self._stop(ExecutionStatus.DIVERGED, reason(error))
            self._instant(time, mode, q, v)
            return time, q, v, None
        hit: Crossing | None = None
        try:
            hit = self._follow(integration, directions)
        except Exception as error:
            self._stop(ExecutionStatus.DIVERGED, reason(error))
        self.steps = integration.steps
        self.bounces.flown(integration)
        self.intervals.append(integration.interval())
        return integration.time, integration.q, integration.v, hit

    def _follow(self, integration: ModeIntegration, directions: Mapping[int, Array]) -> Crossing | None:
        """The event that ends a mode; None where the simulation ends."""
        flow = integration.flow
        if integration.status is not None:
            self._stop(integration.status, integration.why)
            return None
        watcher = integration.watcher(integration.rising())
        ignored, since = 0, integration.time
        while self.status is None and integration.time < self.t_final:
            hit = integration.advance(watcher)
            if integration.status is not None:
                self._stop(integration.status, integration.why)
            if hit is None:
                return None
            if hit.grazing:
                self._graze(hit, integration)
            elif self._ends(integration, directions):
                return hit
            elif hit.watch.contact not in self._idle and watcher.grazes(hit):
                self._graze(hit, integration)
            if flow.renew(integration.time, integration.q, integration.v) or self._idle != flow.idle:
                flow.idle = self._idle
                watcher = integration.watcher({})
            if hit.watch in watcher.watches and not hit.grazing:
                watcher.disarm(hit.watch)
            if integration.time > since + _SPELL:
                ignored, since = 0, integration.time
            ignored += 1
            if ignored > _IDLE and flow.under_way():
                ignored, watcher = 0, integration.watcher({})
            elif ignored > _IDLE:
                self._stuck(integration, hit)
        return None

    def _stuck(self, integration: ModeIntegration, hit: Crossing) -> None:
        """A function stays below zero, and complementarity finds nothing better: say why."""
        i, mode = hit.watch.contact, integration.flow.mode
        name = self.system.contact_names[i]
        why = f"the {hit.watch.kind} of {name!r} keeps falling below zero, and no other mode is right"
        if hit.watch.kind == "gap":
            closed = mode.closed | {i}
            flows = (
                ModeDynamics(self.system, HybridMode(closed, sliding), False, 0.0) for sliding in (mode.sliding, closed)
            )
            if not any(flow.motion(integration.time, integration.q, integration.v).solved for flow in flows):
                self._stop(ExecutionStatus.SINGULAR, f"{name!r} must close, and that has no dynamics (J Assumption A5)")
        self._stop(ExecutionStatus.ALTERNATING, why)

    def _ends(self, integration: ModeIntegration, directions: Mapping[int, Array]) -> bool:
        """Whether some transition is due; it is kept for :meth:`_settle`."""
        time, flow, mode = integration.time, integration.flow, integration.flow.mode
        q, v = self.transitions.resets.project(time, integration.q, integration.v, flow.followed)
        idle = frozenset[int]()
        if flow.idle:
            problem = self.system.problem(q, v, time, mode.closed)
            idle = frozenset(i for i in flow.idle if flow.rests(problem, i))
        settled = self._transitions_at(time, q, v, mode, directions, idle)
        if not settled.events and settled.status is None:
            self._idle |= settled.idle
            if self.system.tangents > 1:  # a contact that came to rest for an instant slides on in another direction
                flow.directions = dict(settled.directions)
            return False
        self._next = settled
        return True

    def _transitions_at(
        self,
        time: float,
        q: Array,
        v: Array,
        mode: HybridMode,
        directions: Mapping[int, Array],
        idle: frozenset[int] = frozenset(),
    ) -> TransitionResult:
        try:
            return self.transitions.settle(time, q, v, mode, directions, idle)
        except Exception as error:
            return TransitionResult(mode, directions, q, v, [], ExecutionStatus.DIVERGED, reason(error))

    def _graze(self, hit: Crossing, integration: ModeIntegration) -> None:
        nothing = np.zeros((self.system.contacts, 1 + self.system.tangents))
        contacts, mode = frozenset({hit.watch.contact}), integration.flow.mode
        here = (
            integration.time,
            ExecutionEventKind.GRAZING,
            contacts,
            mode,
            mode,
            integration.q,
            integration.v,
            integration.v,
            nothing,
        )
        self.events.append(ExecutionEvent(*here))

    def _crowding(self) -> None:
        recent = self.events[-_CROWD:]
        if len(recent) == _CROWD and recent[-1].time - recent[0].time < _MOMENT and self.status is None:
            self._stop(ExecutionStatus.ALTERNATING, f"{_CROWD} events within {_MOMENT:g} s")

    def _close(
        self, time: float, settled: TransitionResult, contacts: frozenset[int], cut: Cut
    ) -> tuple[float, Array, Array, HybridMode, Mapping[int, Array]]:
        """Carry on from a truncation, with the contacts closed."""
        self._instant(time, settled.mode, settled.q, settled.v)
        q, v = self.transitions.resets.project(time, cut.q, cut.v, cut.mode)
        self.events.append(self.bounces.close(time, settled, contacts, cut, q, v))
        return self._settle(time, q, v, cut.mode, settled.directions)
