"""Changes of the contact mode, and predictions, as events that are each told once.

A change of mode is a DETECTED event. A touchdown or a liftoff is dated back to when the evidence for it began. It
happened between the last state that did not speak for it and the first that did: where the gap changes sign between the
two, at the zero of the gap by linear interpolation, and otherwise half way. A foot that was slowed down since that last
state, or just before it, as no leg slows a foot down was struck, and touched when it was: evidence of a noisy gap
begins before the impact, that of forces a state or two later. If the evidence had to add up over several states, a
liftoff is at the first of them, where the load was gone. The bounds of the event are the last state without evidence,
or one before the impact, and the state that tells it.

A prediction is told when several states in a row agree on it, when it is no nearer than the next state, and when it is
new or its time has left the bounds that were told last. A prediction that was told stands until the event comes or its
time is over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.codes import ContactStatus, EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.rate_lines import GAP, RATE
from hybrid_contact_ros.kernels.estimation.records import Array, Codes, Indices

_TOUCHDOWN, _LIFTOFF = int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_SLIP, _STICK = int(EventKind.SLIP), int(EventKind.STICK)
_STICKING, _SLIPPING = int(ContactStatus.STICKING), int(ContactStatus.SLIPPING)
_AGREEING_STATES = 3  # that must foretell the same, in a row, before it is told
_UNSEEN_NS = 2_000_000  # for so long, or one state, an impact may be no evidence
# What slows a foot down is an impact where it takes this part of its speed, faster than this (m/s²), and more than so
# many deviations of a rate.
_STRUCK, _ABRUPT, _SIGMAS = 0.1, 40.0, 4.0
_LONGEST_STEP_NS = 10_000_000  # between states, in which a leg may not have done the same
_NEVER_NS = 2**63 - 1  # latest time of an event that may not happen
_LATEST = 1e9  # s; a later time is never

COLUMNS = 5
"""Of a told event: contact, kind, time, earliest and latest time, ns."""


class LogMemory(NamedTuple):
    """What the log remembers of m contacts; times are stamps in ns."""

    last_status: Codes  # (m,)
    calm: Indices  # (m,), the last state without evidence against the status
    calm_gap: Array  # (m,), m, at that state
    begun: Indices  # (m,), the first state with evidence; −1 where there is none
    begun_gap: Array  # (m,), m
    before: Indices  # (m,), from when on the open contact may have been struck; −1 where it was not
    struck: Indices  # (m,), when it probably was
    slowed: Indices  # (m,), the last state at which that slowed it down
    agreed: Indices  # (m, 4), latest prediction: kind, earliest, latest, and how many states agree on it
    told: Indices  # (m, 3), prediction told last: kind (0 for none), earliest, latest
    waiting: Indices  # (m, COLUMNS), liftoffs that are not sure, as of events_to_learn; kind 0 for none
    landed: Indices  # (m,), when each contact landed last, or rebounded, as of events_to_learn
    sure: Indices  # (2 m, COLUMNS), what is learned from at this state


@kernel
def note_impacts(stamp, last_stamp, first, rate, rate_sigmas, lines, memory):
    """Note which open contacts were struck since the last state.

    What an impact does to a rate is seen at the next state, or at the one after that where it came shortly before. The
    gap says when, too, but is noisy, and over a ground that is known by a millimetre: the middle of the two is taken.

    Args: stamp, last_stamp, first: as of :func:`tell_events`. rate: φ̇ (m,), m/s, with its deviations. lines: (m,
        COLUMNS), of :mod:`.rate_lines`, as of the last state. memory: in and out, LogMemory.
    """
    period = max(stamp - last_stamp, 0)
    for i in range(rate.shape[0]):
        above, fell = lines[i, GAP], -lines[i, RATE]
        if first or memory.last_status[i] >= _STICKING or lines[i, 2] < 0.0:
            memory.before[i] = -1
            continue
        if fell <= 0.0 or period > _LONGEST_STEP_NS:
            continue
        if not (fell + rate[i] > max(_STRUCK * fell, _ABRUPT * 1e-9 * period, _SIGMAS * rate_sigmas[i])):
            continue
        if memory.before[i] < 0 or last_stamp - memory.slowed[i] > _UNSEEN_NS:
            sooner = min(period, _UNSEEN_NS)
            memory.before[i] = last_stamp - sooner
            memory.struck[i] = last_stamp + (period // 2 + min(max(_whole(1e9 * above / fell), -sooner), period)) // 2
        memory.slowed[i] = stamp


@kernel
def tell_events(stamp, last_stamp, first, status, evidence, gap, kind, times, memory, events):
    """Write the events of one state, the detected ones first.

    Args:
        stamp, last_stamp: ns, of this state and the one before it; ``first`` where there is none before.
        status: (m,) uint8, ContactStatus. evidence: (m,), positive where something speaks against the status before.
        gap: φ (m,), m. kind: (m,) uint8, EventKind, times: (m, 3), s; of next_events. memory: in and out, LogMemory,
            with the impacts of this state (:func:`note_impacts`).
        events: out, (2 m, COLUMNS) int64.

    Returns:
        How many events are detected ones, and how many there are.
    """
    count = 0
    for i in range(status.shape[0]):
        if not first and status[i] != memory.last_status[i]:
            _detect(i, stamp, last_stamp, status, gap, memory, events[count])
            memory.told[i, 0] = memory.told[i, 1] = memory.told[i, 2] = 0
            count += 1
    detected = count
    period = 0 if first else stamp - last_stamp
    for i in range(status.shape[0]):
        if kind[i] and _foretell(i, stamp, period, kind, times, memory, events[count]):
            count += 1
        moved = (status[i] >= _STICKING) != (memory.last_status[i] >= _STICKING)
        if first or moved or not evidence[i] > 0.0:
            memory.begun[i] = -1
            memory.calm[i] = stamp
            memory.calm_gap[i] = gap[i]
        elif memory.begun[i] < 0:
            memory.begun[i] = stamp
            memory.begun_gap[i] = gap[i]
        memory.last_status[i] = status[i]
    return detected, count


@kernel
def _crossed(before, now):
    """The part of a step at which a gap changed its sign, by linear interpolation; a half, where it did not."""
    return before / (before - now) if before * now <= 0.0 and before != now else 0.5


@kernel
def _detect(i, stamp, last_stamp, status, gap, memory, event):
    """Write the event that contact i's change of status is, dated back."""
    was_open, is_open = memory.last_status[i] < _STICKING, status[i] < _STICKING
    event[0] = i
    event[4] = stamp
    if was_open == is_open:
        event[1] = _SLIP if status[i] == _SLIPPING else _STICK
        event[2] = last_stamp + (stamp - last_stamp) // 2
        event[3] = last_stamp
        return
    event[1] = _LIFTOFF if is_open else _TOUCHDOWN
    added_up = memory.begun[i] >= 0  # evidence of several states
    earliest, before = memory.calm[i], memory.calm_gap[i]
    begin, now = stamp, gap[i]
    if added_up:
        begin, now = memory.begun[i], memory.begun_gap[i]
    event[2] = begin if added_up and is_open else earliest + _whole(_crossed(before, now) * (begin - earliest))
    event[3] = earliest
    if not is_open and memory.before[i] >= 0 and memory.struck[i] >= earliest - max(_UNSEEN_NS, begin - earliest):
        event[2] = memory.struck[i]
        event[3] = min(memory.before[i], earliest)


@kernel
def _foretell(i, stamp, period, kind, times, memory, event):
    """Write the prediction for contact i; whether it is to be told (again)."""
    agreed, told = memory.agreed[i], memory.told[i]
    time = stamp + _whole(times[i, 0] * 1e9)
    earliest = stamp + _whole(times[i, 1] * 1e9)
    latest = stamp + _whole(times[i, 2] * 1e9) if times[i, 2] < _LATEST else _NEVER_NS
    same = kind[i] == agreed[0] and agreed[1] <= time <= agreed[2]
    agreed[0], agreed[1], agreed[2] = kind[i], earliest, latest
    agreed[3] = agreed[3] + 1 if same else 1
    if kind[i] == told[0] and told[1] <= time <= told[2]:
        return False
    if agreed[3] < _AGREEING_STATES or time - stamp <= period:
        return False
    told[0], told[1], told[2] = kind[i], earliest, latest
    event[0], event[1], event[2], event[3], event[4] = i, kind[i], time, earliest, latest
    return True


@kernel
def _whole(value):
    """The nearest integer."""
    return np.int64(np.rint(value))
