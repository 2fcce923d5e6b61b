"""What contacts do next, and what they just did: predictions, and the events that are told of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, EventKind
from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.prediction_record import PredictionRecord
from hybrid_contact_ros.kernels.estimation.event_times import EventOut, EventScratch, next_events
from hybrid_contact_ros.prediction import Event

Array = NDArray[np.float64]

# Memory (s) of the lines through load and friction margin: a few samples of a slow stream, a small part of a stride.
TIME_CONSTANT = 0.01
_AGREEING_STATES = 3  # that must foretell the same, in a row, before it is told
_NEVER_NS = 2**63 - 1  # latest time of an event that may not happen


class EventPredictor:
    """The next event of every contact, and when.

    Touchdown: the least root of φ + φ̇ t + ½ φ̈ t². Liftoff and slip: where a fading-memory line through the model's
    load, or its friction margin, falls to zero. Stick: where the slip speed does at its present deceleration.
    Touchdowns and liftoffs of a steady gait also from its rhythm
    (:class:`~hybrid_contact_ros.estimation.rhythm.StrideRhythm`).

    It remembers the lines of each contact.
    """

    def __init__(self, contacts: int, tolerances: ActivationConfig, config: PredictionConfig) -> None:
        self.tolerances, self.config = tolerances, config
        self._lines = np.full((contacts, 2, 3), -1.0)
        self._scratch = EventScratch(found=np.zeros(3), due=np.zeros(3))

    def reset(self) -> None:
        """Forget the recent forces."""
        self._lines[:] = -1.0

    def update(self, moment: Moment, expected: Array) -> None:
        """Write ``next_event``, ``backed`` and ``event_times`` of a moment whose forces are known.

        ``expected``: (m, 2, 3) s, as of :meth:`~hybrid_contact_ros.estimation.rhythm.StrideRhythm.ahead`.
        """
        tolerances, config, problem = self.tolerances, self.config, moment.problem
        m = problem.contacts
        out = EventOut(
            lines=self._lines,
            kind=np.empty(m, dtype=np.uint8),
            backed=np.empty(m, dtype=np.uint8),
            times=np.empty((m, 3)),
        )
        next_events(
            config.bound_sigmas,
            moment.gap_sigma,
            moment.velocity_sigma,
            tolerances.acceleration_sigma,
            tolerances.force_sigma,
            config.horizon,
            TIME_CONSTANT,
            int(moment.trusted),
            moment.dt,
            moment.closed,
            moment.slipping,
            problem.friction,
            problem.gap,
            moment.gap_velocity,
            moment.slip_speed,
            moment.load,
            moment.friction_margin,
            moment.accelerations,
            moment.slip_acceleration,
            expected,
            *self._scratch,
            *out,
        )
        moment.next_event, moment.backed, moment.event_times = out.kind, out.backed, out.times


class EventLog:
    """Turns predictions and changes of the contact mode into events, each told once.

    A change of mode is a DETECTED event. A touchdown or a liftoff is dated back to when the evidence for it began. It
    happened between the last state that did not speak for it and the first that did: where the gap changes sign between
    the two, at the zero of the gap by linear interpolation, and otherwise half way. If the evidence had to add up over
    several states, a liftoff is at the first of them, where the load was gone. The bounds of the event are the last
    state without evidence and the state that tells it.

    A prediction is told when several states in a row agree on it, when it is no nearer than the next state, and when it
    is new or its time has left the bounds that were told last. A prediction that was told stands until the event comes
    or its time is over.
    """

    def __init__(self, contacts: int, config: PredictionConfig) -> None:
        self._contacts = contacts
        self.reset()

    def reset(self) -> None:
        """Forget the last state, what was told, and what became of it."""
        self._stamp: int | None = None
        self._status = np.zeros(self._contacts, dtype=np.uint8)
        # Stamp (ns) and gap (m) of the last state without evidence against the status, and of the first with it (-1:
        # there is none).
        self._calm, self._calm_gap = np.zeros(self._contacts, dtype=np.int64), np.zeros(self._contacts)
        self._begun, self._begun_gap = np.full(self._contacts, -1, dtype=np.int64), np.zeros(self._contacts)
        # Kind, earliest and latest time (ns) of the latest prediction of each contact, and how many states agree on it.
        self._agreed: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)] * self._contacts
        # Kind, earliest and latest time of the prediction told last; kind 0 for none.
        self._told: list[tuple[int, int, int]] = [(0, 0, 0)] * self._contacts
        self._record = PredictionRecord(self._contacts)

    def update(self, moment: Moment) -> tuple[Event, ...]:
        """The events of one state; detected ones first. Reads the moment's status, ``doubted``, gap, probability and
        next events."""
        stamp_ns, status, doubted, gap = moment.stamp_ns, moment.status, moment.doubted, moment.problem.gap
        kind, times = moment.next_event, moment.event_times
        events: list[Event] = []
        changed = status != self._status
        if self._stamp is None:
            changed[:] = True  # The status before is unknown, and so is whether anything began.
        elif changed.any():
            for i in np.flatnonzero(changed).tolist():
                events.append(self._detected(stamp_ns, i, int(status[i]), gap, float(moment.probability[i])))
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
        """The event that contact i's change to ``status`` is, dated back."""
        assert self._stamp is not None
        was_open, is_open = self._status[i] < ContactStatus.STICKING, status < ContactStatus.STICKING
        confidence = 1.0 - probability if is_open else probability
        if was_open == is_open:
            kind = EventKind.SLIP if status == ContactStatus.SLIPPING else EventKind.STICK
            time_ns = self._stamp + (stamp_ns - self._stamp) // 2
            return _event(stamp_ns, i, kind, True, (time_ns, self._stamp, stamp_ns), confidence)
        kind = EventKind.LIFTOFF if is_open else EventKind.TOUCHDOWN
        added_up = self._begun[i] >= 0  # evidence of several states
        earliest, before = int(self._calm[i]), float(self._calm_gap[i])
        first, now = (int(self._begun[i]), float(self._begun_gap[i])) if added_up else (stamp_ns, float(gap[i]))
        part = 0.5
        if before * now <= 0.0 and before != now:
            part = before / (before - now)
        time_ns = first if added_up and is_open else earliest + round(part * (first - earliest))
        return _event(stamp_ns, i, kind, True, (time_ns, earliest, stamp_ns), confidence)

    def _predicted(self, stamp_ns: int, period_ns: int, i: int, kind: int, times: Array) -> Event | None:
        """The prediction for contact i as an event, or None where it is not to be told (again)."""
        time, earliest, latest = times.tolist()
        time_ns = stamp_ns + round(time * 1e9)
        never = not latest < 1e9
        earliest_ns = stamp_ns + round(earliest * 1e9)
        latest_ns = _NEVER_NS if never else stamp_ns + round(latest * 1e9)
        known, low, high, count = self._agreed[i]
        same = kind == known and low <= time_ns <= high
        count = count + 1 if same else 1
        self._agreed[i] = (kind, earliest_ns, latest_ns, count)
        told, earliest_told, latest_told = self._told[i]
        if kind == told and earliest_told <= time_ns <= latest_told:
            return None
        if count < _AGREEING_STATES or time_ns - stamp_ns <= period_ns:
            return None
        self._told[i] = (kind, earliest_ns, latest_ns)
        confidence = self._record.tell(i, EventKind(kind), time_ns, earliest_ns, latest_ns)
        return _event(stamp_ns, i, EventKind(kind), False, (time_ns, earliest_ns, latest_ns), confidence)


def _event(
    stamp_ns: int, contact: int, kind: EventKind, detected: bool, times_ns: tuple[int, int, int], confidence: float
) -> Event:
    """``times_ns``: time, earliest, latest."""
    return Event(
        stamp_ns=stamp_ns,
        contact=contact,
        kind=kind,
        detected=detected,
        time_ns=times_ns[0],
        earliest_ns=times_ns[1],
        latest_ns=times_ns[2],
        confidence=confidence,
    )
