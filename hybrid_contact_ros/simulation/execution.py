"""An execution of a hybrid system: what happened, mode by mode (J Definitions 3 and 4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.mode import Mode

Array = NDArray[np.float64]


class ExecutionStatus(Enum):
    """How an execution ended. Whatever it was, the execution up to there is valid."""

    FINISHED = "finished"
    EVENT_LIMIT = "event limit"
    """``max_events`` transitions; a Zeno execution that is not truncated ends like this."""
    STEP_LIMIT = "step limit"
    ALTERNATING = "alternating"
    """Modes follow each other without time passing: forces that depend on the mode do that (J §4.6)."""
    NO_MODE = "no mode"
    """No contact mode satisfies the complementarity conditions (J Assumption A9 or A10 fails), and no impulse helps."""
    SINGULAR = "singular"
    """The mode has no dynamics: loose massless limbs, or rows that contradict each other (J Assumption A5 or A2)."""
    DIVERGED = "diverged"
    """The integrator could not go on (J Assumption A7 fails), a state was not finite, or the system raised an error."""


class EventKind(Enum):
    """What changed the mode."""

    TOUCHDOWN = "touchdown"
    """An impact (J 76); contacts may break or start to slide with it."""
    IMPACT_WITHOUT_COLLISION = "impact without collision"
    """A sliding contact jams, and an impulse stops or turns it though nothing approaches (Painlevé; H §2.2.3)."""
    LIFTOFF = "liftoff"
    SLIP = "slip"
    STICK = "stick"
    CLOSING = "closing"
    """A contact closes without impact: it touches without normal speed, and is pressed (J 38)."""
    GRAZING = "grazing"
    """A contact touches without normal speed and stays open; the mode does not change."""
    TRUNCATION = "truncation"
    """A Zeno execution was cut off near its end (O Definition 6)."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A transition.

    Attributes:
        time: s. kind, contacts: what, and which contacts are concerned.
        before, after: modes. q: configuration. velocity_before, velocity_after: equal but for impacts.
        impulse: Λ (m, 1 + d), N s. bounced: contacts that leave by restitution.
        status: of the law that was solved. decided: False where its conditions could not be satisfied exactly, and for
            truncations that are heuristic: of several contacts, or of one that does not leave at e times its speed.
        trend_order: highest Lie derivative that a sign had to be taken from (J Definition 1); 0 for none.
    """

    time: float
    kind: EventKind
    contacts: frozenset[int]
    before: Mode
    after: Mode
    q: Array
    velocity_before: Array
    velocity_after: Array
    impulse: Array
    bounced: frozenset[int] = frozenset()
    status: Status = Status.SOLVED
    decided: bool = True
    trend_order: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """One T_i of the time domain, in one mode: times (n,), q (n, nq) and v (n, nv) at the ends of the integrator's
    steps; between them the integrator's dense output (n − 1 pieces, of order 7).

    It may be a single instant, between two transitions at one time; then n is 1.
    """

    mode: Mode
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
        """q and v at a time of the interval, by the integrator's dense output."""
        i = min(max(bisect_right(self.times.tolist(), time) - 1, 0), len(self.times) - 1)
        if i >= len(self.dense) or time <= self.times[i]:
            return self.q[i].copy(), self.v[i].copy()
        state = np.asarray(self.dense[i](time), dtype=np.float64)
        n = self.q.shape[1]
        return self.system.on_manifold(state[:n].copy()), state[n:].copy()


@dataclass(frozen=True, slots=True, eq=False)
class Execution:
    """χ: T → D.

    Attributes:
        intervals: T_i with mode and states; ``events[i]`` is between intervals, but that grazing does not end one.
        events: transitions in order. status, why: how it ended. names: of the contacts.
        zeno_times: (lower, upper) bounds, s, of each time at which infinitely many impacts have ended, wider by what
            the impacts so far may be off in time (:class:`~.time_error.TimeError`): estimates where they end by
            ``velocity_tolerance`` or of several contacts, proven but for that error where one is truncated.
        most_at_once: largest number of transitions at one time; J Theorem 8 allows two without massless limbs.
        gap_drift: largest |φ| of a closed contact at the end of an interval, m, before it was corrected.
        velocity_drift: as that, largest speed in a closed row, m/s.
    """

    intervals: tuple[Interval, ...]
    events: tuple[Event, ...]
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
    def modes(self) -> tuple[Mode, ...]:
        """One for each interval."""
        return tuple(part.mode for part in self.intervals)

    @property
    def word(self) -> tuple[str, ...]:
        """σ(χ): the modes by the names of their contacts, ``~`` marking those that slide."""
        return tuple(part.mode.label(self.names) for part in self.intervals)

    @property
    def time_domain(self) -> tuple[tuple[float, float], ...]:
        """The hybrid time domain: T_i as (start, end), each starting where the one before it ends."""
        return tuple((part.start, part.end) for part in self.intervals)

    def at(self, time: float) -> tuple[Array, Array]:
        """q and v at a time, after the transitions at it.

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
