"""When a mode ends: where its functions cross zero downwards along the integrated path (Johnson (78), §4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.watched_functions import WatchedFunction, WatchedFunctions

Array = NDArray[np.float64]
Path = Callable[[float], Array]
"""The state (q, v) at a time, by the dense output of the integrator."""
_SAMPLES = 4  # per step of the integrator
_DEPTH = 10.0  # tolerances below zero that a function must fall which was not above its tolerance before
_DEEPER, _DEEPEST = 4.0, 1e4  # factor by which that depth grows each time that nothing came of it; its bound
_SWINGS = 4.0  # changes between two samples within which a gap may come down to zero and go up again
_ROOT = {"xtol": 1e-15, "rtol": 8.9e-16, "maxiter": 200}


@dataclass(frozen=True, slots=True)
class Crossing:
    """The first crossing of a path.

    Attributes:
        time: s. function: which one. grazing: whether it touches zero and does not cross.
    """

    time: float
    function: WatchedFunction
    grazing: bool = False


class EventWatcher:
    """Follows the functions of one mode along a trajectory.

    A function is armed once it is above its tolerance; one that starts at zero (a contact that has just opened, a force
    that has just vanished) is not, and then only counts where it falls clearly below: its trend was taken care of when
    the mode was chosen. How clearly is more each time that nothing came of it: where no sign was found at zero, the
    mode goes on until there is one. A contact that bounces is armed from the start, and so is any that surely leaves;
    below zero a contact that falls faster than one at rest counts in any case.

    Gaps are followed with their rates φ̇ = J_n v: a gap may fall below zero and rise again between two samples. Where
    it does not fall below zero, but its least value is within the tolerance, it grazes.
    """

    def __init__(self, dynamics: ModeDynamics, gap_tolerance: float, rising: dict[int, float]) -> None:
        """``rising``: contacts that leave with normal speed, and the time until they are highest, estimated, s."""
        self.dynamics, self._gap_tolerance, self._rising = dynamics, gap_tolerance, rising
        self.watched = WatchedFunctions(dynamics, gap_tolerance)
        self.functions, self._gaps = self.watched.functions, self.watched.gaps
        self.armed = np.array([w.kind == "gap" and w.contact in rising for w in self.functions], dtype=bool)
        self._grazed: set[int] = set()
        self._depth = np.full(len(self.functions), _DEPTH)

    def start(self, time: float, state: Array) -> None:
        """Arm what is above its tolerance already; gaps within the tolerance are zero from here on."""
        self.watched.begin(state)
        value, tolerance = self.watched.values(time, state)
        for k in range(self._gaps, len(self.functions)):
            if self.functions[k].kind == "speed":
                tolerance[k] = 0.0  # one that moves already may stop before it gets any faster
        self.armed |= value > tolerance

    def disarm(self, function: WatchedFunction) -> None:
        """Wait until the function is clearly positive again (its crossing changed nothing), or more negative."""
        k = self.functions.index(function)
        if k >= self._gaps and not self.armed[k]:
            self._depth[k] = min(_DEEPER * self._depth[k], _DEEPEST)
        self.armed[k] = False

    def grazes(self, crossing: Crossing) -> bool:
        """Whether a crossing that changed nothing is a touch of an open contact, noticed for the first time."""
        k, contact = self.functions.index(crossing.function), crossing.function.contact
        if crossing.function.kind != "gap" or not self.armed[k] or contact in self._grazed:
            return False
        self._grazed.add(contact)
        return True

    def first(self, path: Path, begin: float, end: float, origin: float) -> Crossing | None:
        """The first crossing in an integrator's step from ``begin`` to ``end``, s; the mode began at ``origin``."""
        times = list(np.linspace(begin, end, _SAMPLES + 1))
        for peak in self._rising.values():
            if begin < origin + peak < end:
                times.append(origin + peak)
        times = sorted(set(times))
        gaps = np.array([self.watched.gap(path(time)) for time in times])
        reach = _SWINGS * np.abs(np.diff(gaps, axis=0)).max(axis=0, initial=0.0) + self._gap_tolerance
        near = gaps.min(axis=0) <= reach  # else too far off to come down and up again between samples
        for j, (a, b) in enumerate(pairwise(times)):
            following, tolerance = self.watched.values(b, path(b), gaps[j + 1])
            found = [
                self._crossing(path, k, a, b, following[k], tolerance[k], near) for k in range(len(self.functions))
            ]
            crossings = [crossing for crossing in found if crossing is not None]
            if crossings:
                return min(crossings, key=lambda crossing: crossing.time)
            clear = following > tolerance
            self._grazed -= {self.functions[k].contact for k in np.flatnonzero(clear[: self._gaps]).tolist()}
            self.armed |= clear
            for k in np.flatnonzero(~self.armed[: self._gaps] & (following[: self._gaps] > 0.0)).tolist():
                self.armed[k] = self._rate(path, k, b) > self.dynamics.speed
        return None

    def _crossing(
        self, path: Path, k: int, a: float, b: float, following: float, tolerance: float, near: NDArray[np.bool_]
    ) -> Crossing | None:
        """The crossing of one function between the samples a and b; ``following``: its value at b."""
        floor = 0.0 if self.armed[k] else -self._depth[k] * tolerance
        if following < floor:
            return Crossing(self._root(path, k, a, b, floor), self.functions[k])
        if k >= self._gaps:
            return None
        if following < 0.0 and self._rate(path, k, b) < -self.dynamics.speed:
            return Crossing(self._fall(path, k, a, b), self.functions[k])
        return self._dip(path, k, a, b, floor) if near[k] else None

    def _root(self, path: Path, k: int, a: float, b: float, floor: float) -> float:
        """Where the function falls below ``floor`` between a and b."""
        low = a
        for halvings in range(60):  # it may start at zero, rise, and fall again
            if self._value(path, k, low) > floor:
                break
            low = a + (b - a) * 0.5 ** (halvings + 1)
        else:
            return a
        root = float(brentq(lambda t: self._value(path, k, t) - floor, low, b, **_ROOT))
        step = 4e-16 * max(1.0, abs(root))
        while root < b and self._value(path, k, root) - floor > self._tolerance(path, k, root):
            root, step = min(root + step, b), 2.0 * step  # forces that jump: the first time after the jump
        return root

    def _fall(self, path: Path, k: int, a: float, b: float) -> float:
        """Where a gap that is zero but for rounding begins to fall faster than a contact at rest does."""
        low, high = (self._rate(path, k, time) + self.dynamics.speed for time in (a, b))
        if not low > 0.0 > high:
            return b if low > 0.0 else a
        time = brentq(lambda t: self._rate(path, k, t) + self.dynamics.speed, a, b, **_ROOT)
        return min(float(time) * (1.0 + 4e-16), b)

    def _dip(self, path: Path, k: int, a: float, b: float, floor: float) -> Crossing | None:
        """A gap that closes and opens again between two samples."""
        if not (self._rate(path, k, a) < 0.0 <= self._rate(path, k, b)):
            return None
        low = float(brentq(lambda t: self._rate(path, k, t), a, b, **_ROOT))
        least, function = self._value(path, k, low), self.functions[k]
        if least < floor:
            return Crossing(self._root(path, k, a, low, floor), function)
        if self.armed[k] and least <= self._gap_tolerance and function.contact not in self._grazed:
            self._grazed.add(function.contact)
            return Crossing(low, function, True)
        return None

    def _value(self, path: Path, k: int, time: float) -> float:
        return self.watched.value(k, time, path(time))

    def _tolerance(self, path: Path, k: int, time: float) -> float:
        return float(self.watched.values(time, path(time))[1][k])

    def _rate(self, path: Path, k: int, time: float) -> float:
        return self.watched.rate(k, time, path(time))
