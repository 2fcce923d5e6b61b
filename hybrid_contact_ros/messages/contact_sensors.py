"""Readings of foot sensors of no certain unit: ``sensor_msgs/JointState`` with contacts (or their links) as names and
readings as efforts.

Pressure sensors in feet drift, die and get stuck, and one number in a thousand may be of the electronics. The zero of
each is the low end of what it read lately, which follows readings below it at once and creeps up otherwise; the top is
the high end, which creeps down. Both look at the median of the last three readings, so that a glitch moves neither. A
load is where between these a reading is; one that is far outside is none. A sensor is dead while its span is nothing
beside that of its best fellow, and stuck once it has read the very same number while a fellow has gone up and down
several times, by much more than its readings change from one to the next; or for five times as long as it ever did
before, while its fellows' readings go on changing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.sensors import ContactReadings
from hybrid_contact_ros.messages.parts import Parts
from hybrid_contact_ros.messages.refusals import RefusedError

Array = NDArray[np.float64]

SENSORS = "contact_sensors"
_CREEP = 20.0  # s, in which zero and top come closer by 63 % of the span
_MEDIAN_OF = 3  # readings
_FAR = 1.0  # of the span, below the zero or above the top: no load
_PAUSE = 1.0  # s; a longer one starts them anew
_DEAD = 0.02  # of the largest span
_LOW, _HIGH = 0.3, 0.7  # loads between which a fellow has gone up and down
_CLEAR, _CHANGE_TIME = 10.0, 1.0  # a swing is so many times the mean change from reading to reading; s, of that mean
_SWINGS = 3  # of a fellow, after which the very same reading is stuck
# Readings in a row that are the same, and times as many as ever before, of a sensor that was read _KNOWN times; share
# of these in which another sensor's reading changed; and where between zero and top a reading is none of their ends,
# of which nothing is known before _SEEN readings there were others than those before: it may have no noise at its zero.
_SAME, _LONGER, _KNOWN, _ALIVE, _WITHIN, _SEEN = 50, 5, 200, 0.9, (0.05, 0.95), 10


class ReadingHealth:
    """Zero, top and health of the readings of m sensors.

    Attributes:
        low, high: (m,), of each; NaN before the first reading. stuck, dead: (m,) bool.
    """

    def __init__(self, sensors: int) -> None:
        self._m = sensors
        self.reset()

    def reset(self) -> None:
        """Forget all readings."""
        m = self._m
        self.low, self.high, self._last = (np.full(m, np.nan) for _ in range(3))
        self._recent = np.full((_MEDIAN_OF, m), np.nan)
        self._read = np.zeros(m, dtype=np.int64)  # how many readings of each
        self._stamp = 0
        self._above = np.zeros(m, dtype=np.bool_)
        self._change, self._changes = np.zeros(m), np.zeros(m)  # mean of |change|, and the weight that it is made of
        self._swings = np.zeros(m, dtype=np.int64)  # of each sensor since the start
        self._since = np.zeros(m, dtype=np.int64)  # swings of the liveliest fellow when its reading last changed
        # Readings in a row that were the same, the most of these before, and those in which another one changed.
        self._run, self._longest, self._alive, self._ends = (np.zeros(m, dtype=np.int64) for _ in range(4))
        self.stuck, self.dead = np.zeros(m, dtype=np.bool_), np.ones(m, dtype=np.bool_)

    @property
    def surely_dead(self) -> NDArray[np.bool_]:
        """(m,): the sensors that have been read, and show nothing while a fellow has gone up and down."""
        return self.dead & np.isfinite(self._last) & (self._swings.max(initial=0) >= _SWINGS)

    def add(self, stamp_ns: int, raw: Array) -> Array:
        """Readings (m,), NaN where there is none: the loads (m,)."""
        seconds = 1e-9 * (stamp_ns - self._stamp)
        if not 0.0 < seconds <= _PAUSE:
            self.reset()
            seconds = 0.0
        self._stamp = stamp_ns
        creep = 1.0 - math.exp(-seconds / _CREEP)
        span = np.nan_to_num(self.high - self.low)
        seen = np.isfinite(raw)
        which = np.flatnonzero(seen)
        self._recent[self._read[which] % _MEDIAN_OF, which] = raw[which]
        self._read += seen
        middle = np.median(self._recent, axis=0)  # NaN before there are so many
        told = seen & np.isfinite(middle)
        self.low = np.where(told, np.fmin(self.low + creep * span, middle), self.low)
        self.high = np.where(told, np.fmax(self.high - creep * span, middle), self.high)
        span = np.nan_to_num(self.high - self.low)
        with np.errstate(over="ignore"):  # of a glitch
            load = np.where(span > 0.0, (raw - self.low) / np.where(span > 0.0, span, 1.0), np.nan)
        load = np.where((load < -_FAR) | (load > 1.0 + _FAR), np.nan, load)
        # Noise of a foot that stands still goes up and down within a span of its own.
        share = 1.0 - math.exp(-seconds / _CHANGE_TIME)
        with np.errstate(over="ignore"):
            change = np.abs(raw - self._last)
        known = np.isfinite(change) & (span > 0.0)
        self._changes += known * share * (1.0 - self._changes)
        known &= self._changes > 0.0
        self._change[known] += share / self._changes[known] * (np.minimum(change, span)[known] - self._change[known])
        rises = ~self._above & (load > _HIGH)
        self._swings += rises & (span > _CLEAR * self._change)
        self._above = np.where(rises, True, self._above & ~(load < _LOW))
        self.dead = ~(span > _DEAD * span.max(initial=0.0))
        most = int(self._swings.max(initial=0))
        moved = seen & (raw != self._last)
        self._since = np.where(moved, most, self._since)
        self.stuck = (most - self._since >= _SWINGS) | self._frozen(seen, moved, load)
        self._last = np.where(seen, raw, self._last)
        return np.asarray(load)

    def _frozen(self, seen: NDArray[np.bool_], moved: NDArray[np.bool_], load: Array) -> NDArray[np.bool_]:
        """(m,): which readings have been the same for far longer than ever before. A robot of which nothing moves may
        say the same for long."""
        others = moved.sum() > moved  # another one than this
        self._longest = np.where(moved, np.maximum(self._longest, self._run), self._longest)
        self._run = np.where(moved, 0, self._run + seen)
        self._alive = np.where(moved, 0, self._alive + (seen & others))
        long = self._run >= np.maximum(_SAME, _LONGER * self._longest)
        ends = (load < _WITHIN[0]) | (load > _WITHIN[1])
        self._ends += ends & moved
        known = ~ends | (self._ends >= _SEEN)
        return np.asarray(long & known & (self._alive >= _ALIVE * self._run) & (self._read >= _KNOWN + self._run))


def places(model: Any) -> dict[str, list[int]]:
    """Indices of the contacts by name, and by that of their link."""
    found: dict[str, list[int]] = {}
    for place, (name, frame) in enumerate(zip(model.contact_names, model.contact_frames, strict=True)):
        found.setdefault(frame, []).append(place)
        found[name] = [place]
    return found


def of_contacts(parts: Parts, field: str, where: dict[str, list[int]], m: int, what: str) -> tuple[Array, Array]:
    """What a message with names of contacts or links says of them.

    Args:
        field: that has the numbers. where: :func:`places`. m: contacts of the robot. what: is said, for the refusal.

    Returns:
        The numbers as they came, and of each contact (m,), NaN where there is none.

    Raises:
        RefusedError: ``array_length``, ``contact_names`` (none is known) or ``not_finite`` (infinite; NaN is none).
    """
    names, values = parts.texts("name"), parts.numbers(field)
    if len(names) != values.size:
        raise RefusedError("array_length", f"{len(names)} names, {field} {values.size}")
    if not any(name in where for name in names):
        raise RefusedError("contact_names", f"none of {', '.join(names) or 'no names'}")
    if np.isinf(values).any():
        raise RefusedError("not_finite", f"{what} of {names[int(np.isinf(values).argmax())]!r}")
    found = np.full(m, np.nan)
    for name, value in zip(names, values.tolist(), strict=True):
        if name in where:
            found[where[name]] = value
    return values, found


class ContactSensorReader:
    """Makes loads of the readings of foot sensors. A name is that of a contact, or of a link with one or more.

    Args:
        model: of the robot. report: told of sensors that are stuck or dead: topic, reason, names.
    """

    def __init__(self, model: Any, report: Callable[[str, str, str], None]) -> None:
        self._names, self._m, self._report = model.contact_names, len(model.contact_names), report
        self._places = places(model)
        self.health = ReadingHealth(self._m)

    def reset(self) -> None:
        """Forget all readings."""
        self.health.reset()

    def read(self, parts: Parts, stamp_ns: int) -> ContactReadings:
        """The readings of a message.

        Raises:
            RefusedError: ``array_length``, ``contact_names`` or ``not_finite``.
        """
        values, raw = of_contacts(parts, "effort", self._places, self._m, "reading")
        if np.isnan(values).all():  # of some feet alone it says that these are not measured
            raise RefusedError("not_finite", "no reading is a number")
        load = self.health.add(stamp_ns, raw)
        health = self.health
        for reason, odd in (("sensor_stuck", health.stuck & np.isfinite(raw)), ("sensor_dead", health.surely_dead)):
            if odd.any():
                self._report(SENSORS, reason, ", ".join(np.array(self._names)[odd]))
        valid = np.isfinite(load) & ~health.dead & ~health.stuck
        return ContactReadings(stamp_ns, raw, load, valid)
