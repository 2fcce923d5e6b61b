"""What the sensitivities of the events ahead of a state are computed from: a copy for another thread."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


class EventAhead(NamedTuple):
    """One event, or a cluster: touchdowns, or sticks, that are close together.

    Attributes:
        kind: of the event. contacts: indices. time: s after the stamp; of a cluster the mean.
    """

    kind: EventKind
    contacts: tuple[int, ...]
    time: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EventsAhead:
    """Events are predicted: all that their sensitivities depend on, in arrays that nobody else has.

    Attributes:
        state: of which arrays are copies; its effort is zero where nothing drives the robot, None if it is not known.
        acceleration: v̇ (nv,) of its mode.
        closed, slipping, backed (m,), event_times (m, 3): of its :class:`~hybrid_contact_ros.estimation.moment.Moment`.
    """

    state: RobotState
    acceleration: Array
    closed: Codes
    slipping: Codes
    backed: Codes
    event_times: Array

    @property
    def stamp_ns(self) -> int:
        return self.state.stamp_ns

    @classmethod
    def of(cls, moment: Moment, horizon: float, trusted: bool) -> EventsAhead | None:
        """None where no event is predicted within ``horizon`` s, or that is 0. ``trusted``: the actuation is known;
        where it was not measured then, there is none."""
        times = moment.event_times[:, 0].tolist()
        if horizon == 0.0 or not any(
            kind and when <= horizon for when, kind in zip(times, moment.backed.tobytes(), strict=True)
        ):
            return None
        state = moment.state
        effort = None
        if trusted:
            effort = np.zeros(state.v.size) if state.effort is None else state.effort.copy()
        covariance = None if state.base_covariance is None else state.base_covariance.copy()
        return cls(
            state=RobotState(
                state.stamp_ns, state.q.copy(), state.v.copy(), effort, covariance, state.base_twist_in_world
            ),
            acceleration=moment.acceleration.copy(),
            closed=moment.closed.copy(),
            slipping=moment.slipping.copy(),
            backed=moment.backed.copy(),
            event_times=moment.event_times.copy(),
        )

    def events(self, horizon: float, window: float) -> list[EventAhead]:
        """The events within ``horizon`` s, in order of time. Touchdowns within ``window`` s of the first of them are
        one cluster, and so are sticks: all of them, if the first one lies within the horizon."""
        due: dict[int, list[tuple[float, int]]] = {}
        for i, (when, kind) in enumerate(zip(self.event_times[:, 0].tolist(), self.backed.tolist(), strict=True)):
            if kind and isfinite(when):
                due.setdefault(kind, []).append((max(when, 0.0), i))
        found = []
        for kind, entries in due.items():
            together = window if kind in (EventKind.TOUCHDOWN, EventKind.STICK) else -1.0
            entries.sort()
            while entries:
                group = [e for e in entries if e[0] <= entries[0][0] + together] or entries[:1]
                entries = entries[len(group) :]
                if group[0][0] > horizon:
                    break
                mean = sum(when for when, _ in group) / len(group)
                found.append(EventAhead(EventKind(kind), tuple(sorted(i for _, i in group)), mean))
        return sorted(found, key=lambda event: (event.time, int(event.kind), event.contacts))


class Spaced:
    """Lets states through that are an interval apart or more, by their stamps alone."""

    def __init__(self, seconds: float) -> None:
        self._least = round(seconds * 1e9)
        self._last: int | None = None

    def due(self, stamp_ns: int) -> bool:
        """Whether this state is one of them; the interval then begins anew. A stamp of the past always is."""
        last = self._last
        if last is not None and last <= stamp_ns < last + self._least:
            return False
        self._last = stamp_ns
        return True

    def reset(self) -> None:
        """Let the next one through."""
        self._last = None
