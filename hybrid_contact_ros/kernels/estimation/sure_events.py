"""Which of the touchdowns and liftoffs that were detected are learned from, and when.

At the end of a stance a foot may bear nothing for some 20 ms, bear a little again, and only then rise: each of these
changes is detected, and the foot leaves once, at the last of them. A liftoff is therefore learned from when the foot
has been open for 30 ms. A touchdown before that takes it back, and teaches nothing either: a foot that bounces as it
lands has touched when it first did. A foot that touches for less than 30 ms has most likely bounced off: that it has
left is learned when it has been open for 60 ms.
"""

from __future__ import annotations

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.told_events import COLUMNS

OPEN = 30_000_000
"""ns, for which a foot that has left is open at least."""
REBOUND = 60_000_000
"""ns, the same of a foot that had touched for less than ``OPEN``."""
NEVER = -(1 << 62)
"""ns, when a foot landed that nobody saw land."""
_TOUCHDOWN, _LIFTOFF = int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
_KIND, _TIME = 1, 2


@kernel
def events_to_learn(stamp, detected, events, waiting, landed, sure):
    """Write the events that are sure at this state, as rows of :func:`~.told_events.tell_events`.

    Args:
        stamp: ns. detected: how many rows of ``events`` are of detected events.
        waiting: in and out (m, COLUMNS), the last liftoff of each contact that is not sure; kind 0 for none.
        landed: in and out (m,), ns, when each contact landed last, or rebounded.
        sure: out (2 m, COLUMNS).

    Returns:
        How many are written.
    """
    count = 0
    for k in range(detected):
        contact, kind = events[k, 0], events[k, _KIND]
        if kind == _LIFTOFF:
            _copy(events[k], waiting[contact])
        elif kind == _TOUCHDOWN:
            least = _least(waiting[contact], landed[contact])
            bounces = waiting[contact, _KIND] != 0 and events[k, _TIME] - waiting[contact, _TIME] < least
            if not bounces or least == REBOUND:  # a foot that skims at the end of its stance has not landed again
                landed[contact] = events[k, _TIME]
            if not bounces:
                if waiting[contact, _KIND] != 0:
                    _copy(waiting[contact], sure[count])
                    count += 1
                _copy(events[k], sure[count])
                count += 1
            waiting[contact, _KIND] = 0
        else:
            _copy(events[k], sure[count])
            count += 1
    for i in range(waiting.shape[0]):
        if waiting[i, _KIND] != 0 and stamp - waiting[i, _TIME] >= _least(waiting[i], landed[i]):
            _copy(waiting[i], sure[count])
            waiting[i, _KIND] = 0
            count += 1
    return count


@kernel
def _least(liftoff, landed):
    """ns, for which a foot is open after this liftoff before it is sure."""
    return REBOUND if liftoff[_TIME] - landed < OPEN else OPEN


@kernel
def _copy(row, into):
    for k in range(COLUMNS):
        into[k] = row[k]
