"""What contacts do next, and what they just did."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, EventKind
from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.estimation.prediction_record import PredictionRecord
from hybrid_contact_ros.kernels.estimation.event_times import next_events
from hybrid_contact_ros.prediction import Event

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

# Memory (s) of the lines through load and friction margin: a few samples of a slow stream, a small part of a step.
TIME_CONSTANT = 0.01
_AGREEING = 3  # states in a row that must foretell the same before it is told
_NEVER = 2**63 - 1  # ns, latest time of what may not happen


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

    A change of mode is a DETECTED event. A touchdown or a liftoff is dated back to when the evidence for it began: it
    happened between the last state that did not speak for it and the first that did, at the zero of the gap, by linear
    interpolation, where the gap changes sign between the two, else half way; if the evidence had to add up over several
    states, a liftoff is at the first of them, where the load was gone. Its bounds are the last state without evidence
    and the state that tells it.

    A prediction is told when several states in a row agree on it, it is no nearer than the next state, and it is new or
    its time has left the bounds that were told last; what was told stands until the event comes or its time is over.
    """

    def __init__(self, contacts: int, config: PredictionConfig) -> None:
        self._contacts = contacts
        self.reset()

    def reset(self) -> None:
        """Forget the last state, what was told, and what became of it."""
        self._stamp: int | None = None
        self._status = np.zeros(self._contacts, dtype=np.uint8)
        # Stamp and gap of the last state without evidence against the status, and of the first with it (-1: none).
        self._calm, self._calm_gap = np.zeros(self._contacts, dtype=np.int64), np.zeros(self._contacts)
        self._begun, self._begun_gap = np.full(self._contacts, -1, dtype=np.int64), np.zeros(self._contacts)
        self._agreed: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)] * self._contacts
        self._told: list[tuple[int, int, int]] = [(0, 0, 0)] * self._contacts
        self._record = PredictionRecord(self._contacts)

    def update(
        self,
        stamp_ns: int,
        status: Codes,
        doubted: NDArray[np.bool_],
        gap: Array,
        probability: Array,
        kind: Codes,
        times: Array,
    ) -> tuple[Event, ...]:
        """The events of one state; detected ones first.

        Args:
            status (m,): of this state. doubted (m,) bool: whether there is evidence against the one before
                (:class:`~hybrid_contact_ros.estimation.tracker.ContactTracker`). gap (m,) m, probability (m,).
            kind (m,), times (m, 3): of :class:`EventPredictor`.
        """
        events: list[Event] = []
        changed = status != self._status
        if self._stamp is None:
            changed[:] = True  # nothing has begun
        elif changed.any():
            for i in np.flatnonzero(changed).tolist():
                events.append(self._detected(stamp_ns, i, int(status[i]), gap, float(probability[i])))
                self._told[i] = (0, 0, 0)
        self._record.settle(stamp_ns, events)
        period = 0 if self._stamp is None else stamp_ns - self._stamp
        if kind.any():
            for i in np.flatnonzero(kind).tolist():
                event = self._predicted(stamp_ns, period, i, int(kind[i]), times[i])
                if event is not None:
                    events.append(event)
        closed, was_closed = status >= ContactStatus.STICKING, self._status >= ContactStatus.STICKING
        calm = ~doubted | (closed != was_closed)
        if self._stamp is None:
            calm[:] = True
        begins = ~calm & (self._begun < 0)
        self._begun[begins], self._begun_gap[begins] = stamp_ns, gap[begins]
        self._begun[calm] = -1
        self._calm[calm], self._calm_gap[calm] = stamp_ns, gap[calm]
        self._stamp = stamp_ns
        self._status[:] = status
        return tuple(events)

    def _detected(self, stamp_ns: int, i: int, status: int, gap: Array, probability: float) -> Event:
        assert self._stamp is not None
        was_open, is_open = self._status[i] < ContactStatus.STICKING, status < ContactStatus.STICKING
        confidence = 1.0 - probability if is_open else probability
        if was_open == is_open:
            kind = EventKind.SLIP if status == ContactStatus.SLIPPING else EventKind.STICK
            time_ns = self._stamp + (stamp_ns - self._stamp) // 2
            return Event(stamp_ns, i, kind, True, time_ns, self._stamp, stamp_ns, confidence)
        kind = EventKind.LIFTOFF if is_open else EventKind.TOUCHDOWN
        held_back = self._begun[i] >= 0
        earliest, before = int(self._calm[i]), float(self._calm_gap[i])
        first, now = (int(self._begun[i]), float(self._begun_gap[i])) if held_back else (stamp_ns, float(gap[i]))
        part = 0.5
        if before * now <= 0.0 and before != now:
            part = before / (before - now)
        time_ns = first if held_back and is_open else earliest + round(part * (first - earliest))
        return Event(stamp_ns, i, kind, True, time_ns, earliest, stamp_ns, confidence)

    def _predicted(self, stamp_ns: int, period_ns: int, i: int, kind: int, times: Array) -> Event | None:
        time, earliest, latest = times.tolist()
        time_ns = stamp_ns + round(time * 1e9)
        never = not latest < 1e9
        earliest_ns = stamp_ns + round(earliest * 1e9)
        latest_ns = _NEVER if never else stamp_ns + round(latest * 1e9)
        known, low, high, count = self._agreed[i]
        same = kind == known and low <= time_ns <= high
        count = count + 1 if same else 1
        self._agreed[i] = (kind, earliest_ns, latest_ns, count)
        told, earliest_told, latest_told = self._told[i]
        if kind == told and earliest_told <= time_ns <= latest_told:
            return None
        if count < _AGREEING or time_ns - stamp_ns <= period_ns:
            return None
        self._told[i] = (kind, earliest_ns, latest_ns)
        confidence = self._record.tell(i, EventKind(kind), time_ns, earliest_ns, latest_ns)
        return Event(stamp_ns, i, EventKind(kind), False, time_ns, earliest_ns, latest_ns, confidence)
