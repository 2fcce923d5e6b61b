"""What extrapolations of the velocity missed before the last landings, learned from landing to landing.

How the efforts will change before a touchdown is in a controller's mind: the acceleration held, v + T v̇, misses it,
and misses it in much the same way before each landing of a gait. When a contact touches, what came is compared with
what each of the states before it had extrapolated. Before its next landing, those errors count that were made as long
before the touch, in the same mode, as long after the touch before that: their median moves v⁻, and their scatter is how
uncertain it is. No constant says how large errors are: a robot that moves as its accelerations say has small ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.command_errors import Told, errors_of
from hybrid_contact_ros.estimation.missed_velocities import Missed

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

_SEEN = 40  # states that are remembered
_SPACING = 900_000  # ns between them at least
_TOLD_SPACING = 2_400_000  # ns, between those whose commands are remembered
_LONGEST, _SHORTEST = 0.03, 0.0015  # s, of extrapolations that are compared
_BEFORE = 1_000_000  # ns: what is told late of a touch has changed v already
_ALIKE = 0.003  # s: that far apart in time to go and time since the last touch, situations are no longer alike
_LONG_AGO = 0.015  # s after a touch nothing swings any more
_STEADY = 0.3  # what a difference in time to go counts within _ALIKE, of one in time since the last touch


class Touches(NamedTuple):
    """The extrapolations, of k states in all, that the last touches of a contact ended."""

    ends: tuple[int, ...]  # of the states of each touch, the earliest first
    seconds: Array  # (k,) that they reached
    mode: NDArray[np.uint64]  # (k,) bits of the closed contacts
    since: Array  # (k,) s since another touch
    errors: Array  # (k, nv) what came, less v + T v̇
    told: tuple[Told, ...]  # of k states with commands; none of others

    def followed_by(self, other: Touches, most: int) -> Touches:
        """The last ``most`` touches of these, and of another one."""
        first = self.ends[-most - 1] if len(self.ends) > most else 0
        kept = tuple(end - first for end in self.ends if end > first)
        return Touches(
            ends=(*kept, self.ends[-1] - first + other.ends[0]),
            seconds=np.concatenate((self.seconds[first:], other.seconds)),
            mode=np.concatenate((self.mode[first:], other.mode)),
            since=np.concatenate((self.since[first:], other.since)),
            errors=np.concatenate((self.errors[first:], other.errors)),
            told=self.told[first:] + other.told,
        )

    def those(self, chosen: NDArray[np.intp], told: tuple[Told, ...]) -> Touches:
        """Of these states of one touch alone."""
        arrays = self.seconds[chosen], self.mode[chosen], self.since[chosen], self.errors[chosen]
        return Touches((len(chosen),), *arrays, told)


class ErrorsSeen:
    """A copy of what :class:`VelocityErrors` remembers, at the state last added."""

    def __init__(self, touches: dict[int, Touches], told: dict[int, Touches], mode: int, since: float) -> None:
        self._touches, self._told, self._mode, self._since = touches, told, np.uint64(mode), since

    def before(self, contact: int, seconds: float) -> Missed | None:
        """What was missed this long before touches of a contact, in situations like that of the state."""
        touches = self._touches.get(contact)
        nearest = self._alike(touches, seconds)
        if touches is None or not nearest:
            return None
        return Missed(touches.errors[nearest] * (seconds / touches.seconds[nearest])[:, None])

    def before_told(
        self, contact: int, seconds: float, follow: Callable[[Told, float], Array | None], most: int | None
    ) -> Missed | None:
        """The same, of what commanded drives were foreseen to do; ``follow`` foresees it. most: errors that are found
        anew, None for all."""
        touches = self._told.get(contact)
        nearest = self._alike(touches, seconds)
        if touches is None:
            return None
        errors, chosen = errors_of([touches.told[i] for i in nearest], follow, most)
        if not chosen:
            return None
        return Missed(errors * (seconds / touches.seconds[nearest][chosen])[:, None])

    def _alike(self, touches: Touches | None, seconds: float) -> list[int]:
        """Of each touch the situation most like that of the state, so long before it, where one is like it."""
        if touches is None or not 0.0 < seconds <= _LONGEST:
            return []
        apart = np.abs(touches.seconds - seconds)
        swings = np.minimum(touches.since, _LONG_AGO) - min(self._since, _LONG_AGO)
        unlike = _STEADY * np.minimum(apart, _ALIKE) + np.maximum(apart - _ALIKE, 0.0) + np.abs(swings)
        unlike[touches.mode != self._mode] = np.inf
        nearest, begin = [], 0
        for end in touches.ends:
            best = begin + int(unlike[begin:end].argmin())
            if unlike[best] <= _ALIKE:
                nearest.append(best)
            begin = end
        return nearest


class VelocityErrors:
    """The last states of a stream, and what extrapolations from them missed at the last touches of each contact."""

    def __init__(self, nv: int, remembered: int) -> None:
        """remembered: touches of each contact; 0 for no memory."""
        self._kept = remembered
        self._stamps = np.zeros(_SEEN, dtype=np.int64)
        self._touched = np.zeros(_SEEN, dtype=np.int64)
        self._modes = np.zeros(_SEEN, dtype=np.uint64)
        self._values = np.zeros((_SEEN, 2, nv))
        self._told: list[Told | None] = [None] * _SEEN
        self.reset()

    def reset(self) -> None:
        """Forget all states."""
        self._touches: dict[int, Touches] = {}
        self._told_touches: dict[int, Touches] = {}
        self._last_touch = -(10**12)
        self._count = self._mode = self._last = self._last_told = 0
        self._closed = b""  # what the mode was made of

    def pause(self) -> None:
        """Forget the states, but not what was learned."""
        self._count = 0

    def add(
        self,
        stamp_ns: int,
        v: NDArray[np.floating],
        acceleration: Array,
        closed: Codes,
        told: Callable[[], Told | None] | None = None,
    ) -> None:
        """The next state: its v and v̇ (nv,), its closed contacts (m,), and what its drives are told, which is asked for
        where it is remembered. After the touches that it told."""
        if not self._kept:
            return
        if (kinds := closed.tobytes()) != self._closed:
            self._closed = kinds
            self._mode = int.from_bytes(np.packbits(closed[:64]).tobytes(), "big")
        count = self._count
        if count and stamp_ns - self._last < _SPACING:
            return
        place, self._last, self._count = count % _SEEN, stamp_ns, count + 1
        self._stamps[place], self._touched[place], self._modes[place] = stamp_ns, self._last_touch, self._mode
        row = self._values[place]
        row[0], row[1] = v, acceleration
        self._told[place] = None
        if told is not None and not 0 <= stamp_ns - self._last_told < _TOLD_SPACING:
            self._told[place], self._last_told = told(), stamp_ns

    def touched(self, contacts: Iterable[tuple[int, int]]) -> None:
        """The state that is about to be added told that these contacts touched: (index, earliest time in ns)."""
        told = list(contacts)
        if not (told and self._kept):
            return
        for contact, earliest in told:
            for kept, made in zip((self._touches, self._told_touches), self._ended(earliest), strict=True):
                if made is not None:
                    known = kept.get(contact)
                    kept[contact] = made if known is None else known.followed_by(made, self._kept - 1)
        self._last_touch = max(earliest for _, earliest in told)

    def _ended(self, earliest: int) -> tuple[Touches | None, Touches | None]:
        """The extrapolations from states since the touch before, to the last state that is surely before this one: of
        all of these, and of those with commands."""
        count = min(self._count, _SEEN)
        order = np.arange(self._count - count, self._count) % _SEEN
        stamps = self._stamps[order]
        last = int(np.searchsorted(stamps, earliest - _BEFORE, "right")) - 1
        if last < 1:
            return None, None
        seconds = 1e-9 * (stamps[last] - stamps[:last])
        use = (seconds >= _SHORTEST) & (seconds <= _LONGEST) & (self._touched[order[:last]] == self._last_touch)
        values = self._values[order[:last][use]]
        seconds = seconds[use]
        errors = self._values[order[last], 0] - values[:, 0] - seconds[:, None] * values[:, 1]
        if not (len(errors) and np.isfinite(errors).all()):
            return None, None
        since = 1e-9 * (stamps[:last][use] - self._last_touch).astype(np.float64)
        found = Touches((len(errors),), seconds, self._modes[order[:last][use]], since, errors, ())
        told = {i: one for i, place in enumerate(order[:last][use]) if (one := self._told[place]) is not None}
        for i, one in told.items():
            one.ended(float(seconds[i]), self._values[order[last], 0])
        chosen = np.array(list(told), dtype=np.intp)
        return found, found.those(chosen, tuple(told.values())) if told else None

    def seen(self) -> ErrorsSeen:
        """A copy for another thread."""
        since = 1e-9 * (self._last - self._last_touch)
        return ErrorsSeen(dict(self._touches), dict(self._told_touches), self._mode, since)
