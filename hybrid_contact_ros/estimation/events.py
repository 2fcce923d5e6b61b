"""What contacts do next, and what they just did."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.kernels.event_times import next_events
from hybrid_contact_ros.prediction import ContactStatus, Event, EventKind

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

# Memory (s) of the lines through load and friction margin: a few samples of a slow stream, a small part of a step.
TIME_CONSTANT = 0.01


class EventPredictor:
    """The next event of every contact, and when.

    Touchdown: the least root of φ + φ̇ t + ½ φ̈ t². Liftoff and slip: where a fading-memory line through the model's
    load, or its friction margin, falls to zero. Stick: the slip speed at its present deceleration. Touchdowns and
    liftoffs of a steady gait also from its rhythm (:class:`~hybrid_contact_ros.estimation.rhythm.StrideRhythm`).

    Attributes (overwritten by :meth:`update`): kind (m,) uint8; backed (m,) uint8, kind without touchdowns that only
    the rhythm foretells; times (m, 3) s: time, earliest, latest.
    """

    def __init__(self, contacts: int, tolerances: ActivationConfig, config: PredictionConfig) -> None:
        self.tolerances, self.config = tolerances, config
        self.kind = np.zeros(contacts, dtype=np.uint8)
        self.backed = np.zeros(contacts, dtype=np.uint8)
        self.times = np.full((contacts, 3), np.nan)
        self._tracks = np.full((contacts, 2, 3), -1.0)
        self._scratch, self._due = np.zeros(3), np.zeros(3)

    def reset(self) -> None:
        """Forget the recent forces."""
        self._tracks[:] = -1.0

    def update(
        self,
        dt: float,
        trusted: bool,
        closed: Codes,
        slipping: Codes,
        friction: Array,
        gap: Array,
        rate: Array,
        speed: Array,
        load: Array,
        margin: Array,
        accelerations: Array,
        slip_rate: Array,
        expected: Array,
        gap_sigma: Array,
        velocity_sigma: Array,
    ) -> None:
        """One state, ``dt`` s after the last (0: none). Arguments as of :func:`~...event_times.next_events`."""
        t, c = self.tolerances, self.config
        next_events(
            c.horizon,
            c.bound_sigmas,
            TIME_CONSTANT,
            gap_sigma,
            velocity_sigma,
            t.acceleration_sigma,
            t.force_sigma,
            int(trusted),
            dt,
            closed,
            slipping,
            friction,
            gap,
            rate,
            speed,
            load,
            margin,
            accelerations,
            slip_rate,
            expected,
            self._tracks,
            self._scratch,
            self._due,
            self.kind,
            self.backed,
            self.times,
        )


class EventLog:
    """Turns predictions and changes of the contact mode into events, each told once.

    A change of mode between two states is a DETECTED event: a touchdown or a liftoff at the zero of the gap, by linear
    interpolation, where it changes sign between the two, else half way; its bounds are the two stamps. A liftoff that
    was held back by the hysteresis of the load is dated back to the state at which the load first was gone. A
    prediction is told when it is new, and again when its time leaves the bounds that were told last.
    """

    def __init__(self, contacts: int, config: PredictionConfig) -> None:
        self._contacts = contacts
        # Of a normal deviate: within the bounds at both sides, or at one where the other is open.
        self._inside = math.erf(config.bound_sigmas / math.sqrt(2.0))
        self.reset()

    def reset(self) -> None:
        """Forget the last state and what was told."""
        self._stamp: int | None = None
        self._status = np.zeros(self._contacts, dtype=np.uint8)
        self._gap = np.zeros(self._contacts)
        self._unloaded = np.full(self._contacts, -1, dtype=np.int64)  # stamp since when a closed contact has no load
        self._told: list[tuple[int, int, int]] = [(0, 0, 0)] * self._contacts

    def update(
        self, stamp_ns: int, status: Codes, gap: Array, load: Array, probability: Array, kind: Codes, times: Array
    ) -> tuple[Event, ...]:
        """The events of one state; detected ones first. Keeps copies of ``status`` and ``gap``."""
        events: list[Event] = []
        if self._stamp is not None and (status != self._status).any():
            for i in np.flatnonzero(status != self._status).tolist():
                events.append(self._detected(stamp_ns, i, int(status[i]), gap, float(probability[i])))
        if kind.any() or any(told[0] for told in self._told):
            for i in range(self._contacts):
                event = self._predicted(stamp_ns, i, int(kind[i]), times[i])
                if event is not None:
                    events.append(event)
        gone = (status >= ContactStatus.STICKING) & (load <= 0.0)
        self._unloaded[~gone] = -1
        self._unloaded[gone & (self._unloaded < 0)] = max(stamp_ns, 0)
        self._stamp = stamp_ns
        self._status[:] = status
        self._gap[:] = gap
        return tuple(events)

    def _detected(self, stamp_ns: int, i: int, status: int, gap: Array, probability: float) -> Event:
        assert self._stamp is not None
        before, now = float(self._gap[i]), float(gap[i])
        was_open, is_open = self._status[i] < ContactStatus.STICKING, status < ContactStatus.STICKING
        part, earliest = 0.5, self._stamp
        if was_open != is_open:
            kind = EventKind.LIFTOFF if is_open else EventKind.TOUCHDOWN
            if before * now <= 0.0 and before != now:
                part = before / (before - now)
        else:
            kind = EventKind.SLIP if status == ContactStatus.SLIPPING else EventKind.STICK
        time_ns = self._stamp + round(part * (stamp_ns - self._stamp))
        if kind == EventKind.LIFTOFF and self._unloaded[i] >= 0:
            time_ns = earliest = int(self._unloaded[i])
        confidence = 1.0 - probability if is_open else probability
        return Event(stamp_ns, i, kind, True, time_ns, earliest, stamp_ns, confidence)

    def _predicted(self, stamp_ns: int, i: int, kind: int, times: Array) -> Event | None:
        told, earliest_told, latest_told = self._told[i]
        if kind == EventKind.NONE:
            self._told[i] = (0, 0, 0)
            return None
        time, earliest, latest = times.tolist()
        time_ns = stamp_ns + round(time * 1e9)
        if kind == told and earliest_told <= time_ns <= latest_told:
            return None
        never = not latest < 1e9
        earliest_ns = stamp_ns + round(earliest * 1e9)
        latest_ns = 2**63 - 1 if never else stamp_ns + round(latest * 1e9)
        self._told[i] = (kind, earliest_ns, latest_ns)
        confidence = 0.5 * (1.0 + self._inside) if never else self._inside
        return Event(stamp_ns, i, EventKind(kind), False, time_ns, earliest_ns, latest_ns, confidence)
