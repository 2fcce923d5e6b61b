"""An execution of a hybrid system: what happened, mode by mode (Johnson, Definitions 3 and 4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.mode import HybridMode

Array = NDArray[np.float64]


class ExecutionStatus(Enum):
    """How an execution ended. Whatever the reason, the execution up to its end is valid."""

    FINISHED = "finished"
    EVENT_LIMIT = "event limit"
    """``max_events`` transitions; a Zeno execution that is not truncated ends like this."""
    STEP_LIMIT = "step limit"
    DEADLINE = "deadline"
    """So much computing time was given. What could be done in it depends on the machine."""
    ALTERNATING = "alternating"
    """Modes follow each other without time passing: forces that depend on the mode do that (Johnson §4.6)."""
    NO_MODE = "no mode"
    """No contact mode satisfies the complementarity conditions (Johnson's A9 or A10), and no impulse helps."""
    SINGULAR = "singular"
    """The mode has no dynamics: massless limbs hang loose, or rows contradict each other (Johnson's A5 or A2)."""
    DIVERGED = "diverged"
    """The integrator could not go on (Johnson's A7 fails), or the system raised an error or gave an answer that is not
    finite."""


class ExecutionEventKind(Enum):
    """What changed the mode, or might have."""

    TOUCHDOWN = "touchdown"
    """An impact (Johnson (76)); contacts may break or start to slide with it."""
    IMPACT_WITHOUT_COLLISION = "impact without collision"
    """A sliding contact jams, and an impulse stops or turns it though nothing approaches (Painlevé; Halm §2.2.3)."""
    LIFTOFF = "liftoff"
    SLIP = "slip"
    STICK = "stick"
    CLOSING = "closing"
    """A contact closes without impact: it touches without normal speed, and is pressed (Johnson (38))."""
    GRAZING = "grazing"
    """A contact touches without normal speed and stays open; the mode does not change."""
    TRUNCATION = "truncation"
    """A Zeno execution was cut off near its end (Or, Definition 6)."""


@dataclass(frozen=True, slots=True, eq=False)
class ExecutionEvent:
    """A transition of an execution.

    Attributes:
        time: s. kind: what happened. contacts: those that it happened to.
        before, after: modes. q: (nq,). velocity_before, velocity_after: (nv,), which differ in impacts only.
        impulse: Λ (m, 1 + d), N s, normal first. bounced: contacts that leave by restitution.
        status: of the law that was solved. decided: False where its conditions could not be satisfied exactly, and for
            truncations that are heuristic: of several contacts, or of one that does not leave at e times its speed.
        trend_order: highest Lie derivative that a sign had to be taken from (Johnson, Definition 1); 0 for none.
    """

    time: float
    kind: ExecutionEventKind
    contacts: frozenset[int]
    before: HybridMode
    after: HybridMode
    q: Array
    velocity_before: Array
    velocity_after: Array
    impulse: Array
    bounced: frozenset[int] = frozenset()
    status: Status = Status.SOLVED
    decided: bool = True
    trend_order: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class ModeInterval:
    """One interval of the hybrid time domain, in one mode.

    It may be a single instant, between two transitions at one time; then n is 1.

    Attributes:
        mode: of the whole interval. times: (n,) s, the ends of the integrator's steps. q: (n, nq). v: (n, nv).
        dense: the integrator's dense output, (q, v) of a time, for each of the n − 1 steps; it is of order 7.
        system: brings interpolated configurations back to their manifold.
    """

    mode: HybridMode
    times: Array
    q: Array
    v: Array
    dense: tuple[Callable[[float], Array], ...]
    system: AdaptedSystem

    @property
    def start(self) -> float:
        return float(self.times[0])

    @property
    def end(self) -> float:
        return float(self.times[-1])

    def at(self, time: float) -> tuple[Array, Array]:
        """q (nq,) and v (nv,) at a time of the interval, s, by the integrator's dense output."""
        i = min(max(bisect_right(self.times.tolist(), time) - 1, 0), len(self.times) - 1)
        if i >= len(self.dense) or time <= self.times[i]:
            return self.q[i].copy(), self.v[i].copy()
        state = np.asarray(self.dense[i](time), dtype=np.float64)
        n = self.q.shape[1]
        return self.system.on_manifold(state[:n].copy()), state[n:].copy()


@dataclass(frozen=True, slots=True, eq=False)
class Execution:
    """What a system did from its first state to the end of the simulation (Johnson's execution of a hybrid system).

    Time is cut into intervals with one contact mode each, and events change the mode between them. A ball that is
    dropped from 0.5 m onto a floor without bouncing falls, and rests after one event:

    >>> import sympy
    >>> from hybrid_contact_ros import Constraint, LagrangianSystem, simulate
    >>> y = sympy.Symbol("y")
    >>> ball = LagrangianSystem("ball", [y], sympy.Matrix([[1.0]]), 9.81 * y, [Constraint("floor", y)])
    >>> execution = simulate(ball, q=[0.5], v=[0.0], t_final=1.0)
    >>> execution.word, execution.events[0].kind.name, round(execution.events[0].time, 4)
    (('{}', '{floor}'), 'TOUCHDOWN', 0.3193)
    >>> q, v = execution.at(0.2)
    >>> q.shape, round(float(v[0]), 3)
    ((1,), -1.962)

    Attributes:
        intervals: :class:`ModeInterval` for each stretch of time in one mode, in order. Each event but a grazing lies
            between two intervals.
        events: :class:`ExecutionEvent` for each transition, in order.
        status: how the execution ended. why: the same in words, empty if FINISHED.
        names: the m names of the contacts, in the order of the system.
        zeno_times: (lower, upper) bounds, s, of each time at which infinitely many impacts have ended, wider by the
            error that the impacts so far may have in time (:class:`~.time_error.TimeError`). They are estimates where
            impacts end by ``velocity_tolerance``, or are those of several contacts; where those of one contact are
            truncated they are proven but for that error.
        most_at_once: largest number of transitions at one time; Johnson's Theorem 8 allows two without massless limbs.
        gap_drift: largest |φ| of a closed contact at the end of an interval, m, before it was corrected.
        velocity_drift: largest speed in a closed row at the end of an interval, m/s, before it was corrected.
        system: the system that was simulated.
    """

    intervals: tuple[ModeInterval, ...]
    events: tuple[ExecutionEvent, ...]
    status: ExecutionStatus
    why: str
    names: tuple[str, ...]
    zeno_times: tuple[tuple[float, float], ...]
    most_at_once: int
    gap_drift: float
    velocity_drift: float
    system: AdaptedSystem

    @property
    def times(self) -> Array:
        """All times (n,), s; the time of a transition is in both intervals."""
        return np.concatenate([part.times for part in self.intervals])

    @property
    def q(self) -> Array:
        """Configurations (n, nq) at ``times``."""
        return np.concatenate([part.q for part in self.intervals])

    @property
    def v(self) -> Array:
        """Velocities (n, nv) at ``times``: before and after an event."""
        return np.concatenate([part.v for part in self.intervals])

    @property
    def modes(self) -> tuple[HybridMode, ...]:
        """The mode of each interval, in order."""
        return tuple(part.mode for part in self.intervals)

    @property
    def word(self) -> tuple[str, ...]:
        """The modes in order, by the names of their closed contacts, with ``~`` behind those that slide."""
        return tuple(part.mode.label(self.names) for part in self.intervals)

    @property
    def mode_sequence(self) -> tuple[frozenset[int], ...]:
        """Pace's contact mode sequence ω (Definition 5): the closed contacts of each mode that lasts, in order.

        Unlike :attr:`word` it leaves out modes that are passed at one instant, and does not tell sliding from sticking.
        A bounce, which activates a constraint and deactivates it at once, has the same set before it and after it.
        """
        found: list[frozenset[int]] = []
        turning = [event for event in self.events if event.kind is not ExecutionEventKind.GRAZING]
        impact = False
        for k, part in enumerate(self.intervals):
            impact = impact or (k > 0 and turning[k - 1].kind is ExecutionEventKind.TOUCHDOWN)
            if part.end > part.start and (impact or not found or part.mode.closed != found[-1]):
                found.append(part.mode.closed)
                impact = False
        return tuple(found)

    @property
    def time_domain(self) -> tuple[tuple[float, float], ...]:
        """The hybrid time domain: (start, end) of each interval, s; each starts where the one before it ends."""
        return tuple((part.start, part.end) for part in self.intervals)

    def at(self, time: float) -> tuple[Array, Array]:
        """q (nq,) and v (nv,) at a time, s, after the transitions at that time.

        Raises:
            ValueError: outside the execution.
        """
        starts = [part.start for part in self.intervals]
        if not starts[0] <= time <= self.intervals[-1].end:
            raise ValueError(f"time {time} is not within {starts[0]} … {self.intervals[-1].end}")
        return self.intervals[max(bisect_right(starts, time) - 1, 0)].at(time)

    def energy(self) -> Array:
        """Energies (n,), J, at ``times``.

        Raises:
            ValueError: the system has none.
        """
        energy = getattr(self.system.system, "energy", None)
        if energy is None:
            raise ValueError(f"{self.system.name} has no energy(q, v)")
        return np.array([energy(q, v) for q, v in zip(self.q, self.v, strict=True)])

    def __str__(self) -> str:
        lines = [
            f"{self.system.name}: {len(self.events)} events, {self.status.value} at {self.intervals[-1].end:.6g} s"
        ]
        if self.why:
            lines[0] += f" ({self.why})"
        for event in self.events[:50]:
            which = ", ".join(self.names[i] for i in sorted(event.contacts))
            change = f"{event.before.label(self.names)} → {event.after.label(self.names)}"
            lines.append(f"  {event.time:12.9f} s  {event.kind.value:10s} {which:12s} {change}")
        if len(self.events) > 50:
            lines.append(f"  … and {len(self.events) - 50} more")
        for lower, upper in self.zeno_times:
            lines.append(f"  Zeno time between {lower:.9g} and {upper:.9g} s")
        return "\n".join(lines)
