"""The loop of a simulation: flow, event, transitions, and again."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.events import Hit
from hybrid_contact_ros.simulation.execution import Event, EventKind, Execution, ExecutionStatus, Interval
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.mode_dynamics import Flow
from hybrid_contact_ros.simulation.mode_integration import Stretch, reason
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.transition import IMPACTS, Transitions
from hybrid_contact_ros.simulation.transition_result import Settled
from hybrid_contact_ros.simulation.zeno import Cut
from hybrid_contact_ros.simulation.zeno_bookkeeping import Bounces

Array = NDArray[np.float64]
_CROWD, _MOMENT = 24, 1e-9  # so many events within so short a time (s) without impact are no progress
_IDLE, _SPELL = 20, 1e-3  # events that change nothing, within so short a time, s, are no progress


class Run:
    """State of one simulation."""

    def __init__(self, system: AdaptedSystem, options: Options, truncation: Tolerances | None, t_final: float) -> None:
        self.system, self.options, self.t_final = system, options, t_final
        self.truncation = truncation
        self.transitions = Transitions(system, options)
        self.intervals: list[Interval] = []
        self.events: list[Event] = []
        self.steps = self.most = 0
        self.status: ExecutionStatus | None = None
        self._next: Settled | None = None
        self._idle: frozenset[int] = frozenset()
        self.why = ""

    def go(self, time: float, q: Array, v: Array, mode: Mode | None) -> Execution:
        """From a state to the end; ``mode`` None starts in the one that J Theorem 9 leads to."""
        self.bounces = Bounces(self.system, self.options, self.truncation, time)
        try:
            self._go(time, q, v, mode)
        except Exception as error:
            self._stop(ExecutionStatus.DIVERGED, reason(error))
            if not self.intervals:
                self._instant(time, mode or Mode(), q, v)
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

    def _go(self, time: float, q: Array, v: Array, mode: Mode | None) -> None:
        time, q, v, mode, directions = self._settle(time, q, v, mode or Mode(), {}, initial=mode is None)
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
        mode: Mode,
        directions: Mapping[int, Array],
        initial: bool = False,
    ) -> tuple[float, Array, Array, Mode, Mapping[int, Array]]:
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

    def _instant(self, time: float, mode: Mode, q: Array, v: Array) -> None:
        self.intervals.append(Interval(mode, np.array([time]), q[None].copy(), v[None].copy(), (), self.system))

    def _flow(
        self, time: float, q: Array, v: Array, mode: Mode, directions: Mapping[int, Array]
    ) -> tuple[float, Array, Array, Hit | None]:
        """Follow one mode to its end; an event that changes nothing does not end it."""
        try:
            guards = self.transitions.guards
            kinetic = guards.kinetic(guards.regular(time, q, v))
            flow = Flow(self.system, mode, kinetic, self.options.velocity_tolerance, directions, idle=self._idle)
            stretch = Stretch(flow, self.options, self.t_final, self.steps, time, q, v)
        except Exception as error:
            self._stop(ExecutionStatus.DIVERGED, reason(error))
            self._instant(time, mode, q, v)
            return time, q, v, None
        hit: Hit | None = None
        try:
            hit = self._follow(stretch, directions)
        except Exception as error:
            self._stop(ExecutionStatus.DIVERGED, reason(error))
        self.steps = stretch.steps
        self.bounces.flown(stretch)
        self.intervals.append(stretch.interval())
        return stretch.time, stretch.q, stretch.v, hit

    def _follow(self, stretch: Stretch, directions: Mapping[int, Array]) -> Hit | None:
        """The event that ends a mode; None where the simulation ends."""
        flow = stretch.flow
        if stretch.status is not None:
            self._stop(stretch.status, stretch.why)
            return None
        watcher = stretch.watcher(stretch.rising())
        ignored, since = 0, stretch.time
        while self.status is None and stretch.time < self.t_final:
            hit = stretch.advance(watcher)
            if stretch.status is not None:
                self._stop(stretch.status, stretch.why)
            if hit is None:
                return None
            if hit.grazing:
                self._graze(hit, stretch)
            elif self._ends(stretch, directions):
                return hit
            elif hit.watch.contact not in self._idle and watcher.grazes(hit):
                self._graze(hit, stretch)
            if flow.renew(stretch.time, stretch.q, stretch.v) or self._idle != flow.idle:
                flow.idle = self._idle
                watcher = stretch.watcher({})
            if hit.watch in watcher.watches and not hit.grazing:
                watcher.disarm(hit.watch)
            if stretch.time > since + _SPELL:
                ignored, since = 0, stretch.time
            ignored += 1
            if ignored > _IDLE and flow.under_way():
                ignored, watcher = 0, stretch.watcher({})
            elif ignored > _IDLE:
                self._stuck(stretch, hit)
        return None

    def _stuck(self, stretch: Stretch, hit: Hit) -> None:
        """A function stays below zero, and complementarity finds nothing better: say why."""
        i, mode = hit.watch.contact, stretch.flow.mode
        name = self.system.contact_names[i]
        why = f"the {hit.watch.kind} of {name!r} keeps falling below zero, and no other mode is right"
        if hit.watch.kind == "gap":
            closed = mode.closed | {i}
            flows = (Flow(self.system, Mode(closed, sliding), False, 0.0) for sliding in (mode.sliding, closed))
            if not any(flow.dynamics(stretch.time, stretch.q, stretch.v).solved for flow in flows):
                self._stop(ExecutionStatus.SINGULAR, f"{name!r} must close, and that has no dynamics (J Assumption A5)")
        self._stop(ExecutionStatus.ALTERNATING, why)

    def _ends(self, stretch: Stretch, directions: Mapping[int, Array]) -> bool:
        """Whether some transition is due; it is kept for :meth:`_settle`."""
        time, flow, mode = stretch.time, stretch.flow, stretch.flow.mode
        q, v = self.transitions.resets.project(time, stretch.q, stretch.v, flow.followed)
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
        mode: Mode,
        directions: Mapping[int, Array],
        idle: frozenset[int] = frozenset(),
    ) -> Settled:
        try:
            return self.transitions.settle(time, q, v, mode, directions, idle)
        except Exception as error:
            return Settled(mode, directions, q, v, [], ExecutionStatus.DIVERGED, reason(error))

    def _graze(self, hit: Hit, stretch: Stretch) -> None:
        nothing = np.zeros((self.system.contacts, 1 + self.system.tangents))
        contacts, mode = frozenset({hit.watch.contact}), stretch.flow.mode
        here = stretch.time, EventKind.GRAZING, contacts, mode, mode, stretch.q, stretch.v, stretch.v, nothing
        self.events.append(Event(*here))

    def _crowding(self) -> None:
        recent = self.events[-_CROWD:]
        if len(recent) == _CROWD and recent[-1].time - recent[0].time < _MOMENT and self.status is None:
            self._stop(ExecutionStatus.ALTERNATING, f"{_CROWD} events within {_MOMENT:g} s")

    def _close(
        self, time: float, settled: Settled, contacts: frozenset[int], cut: Cut
    ) -> tuple[float, Array, Array, Mode, Mapping[int, Array]]:
        """Carry on from a truncation, with the contacts closed."""
        self._instant(time, settled.mode, settled.q, settled.v)
        q, v = self.transitions.resets.project(time, cut.q, cut.v, cut.mode)
        self.events.append(self.bounces.close(time, settled, contacts, cut, q, v))
        return self._settle(time, q, v, cut.mode, settled.directions)
