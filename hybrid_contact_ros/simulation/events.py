"""When a mode ends: functions that cross zero downwards along the flow, and where (J 78, §4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.mode_dynamics import Flow

Array = NDArray[np.float64]
Path = Callable[[float], Array]
SAMPLES = 4
"""Per step of the integrator."""
_LATE, _LATER, _LATEST = 10.0, 4.0, 1e4
_REACH = 4.0
BEYOND = 1e5
"""Times what acts and what 1 m/s² needs: forces of sliding contacts this large do not exist any more (Painlevé)."""
_BACK = 40.0  # so that a quarter of the speed of a contact at rest, backwards, counts as clearly below zero


@dataclass(frozen=True, slots=True)
class Watch:
    """A function whose fall below zero ends the mode.

    ``kind``: "gap" of an open contact (J 21), "normal" force of a closed one, "cone" margin of a sticking one, "speed"
    along its direction of a sliding one (J 70); "smooth": 1 while a closed one that had no friction when the mode began
    has none, then −1; "idle": minus the normal force that an idle one would have if it closed; "jam": 1 minus the
    largest force over the largest there may be, while some contact slides.
    """

    kind: str
    contact: int


@dataclass(frozen=True, slots=True)
class Hit:
    """The first crossing: its time, and what it was. ``grazing``: the function touches zero and does not cross."""

    time: float
    watch: Watch
    grazing: bool = False


def _closing(flow: Flow, contact: int) -> Flow:
    """The flow of the mode that closes the normal of a contact besides."""
    rough = contact in flow.rough
    mode = Mode(flow.mode.closed | {contact}, flow.mode.sliding | ({contact} if rough else frozenset[int]()))
    return Flow(flow.system, mode, flow.kinetic, flow.speed, flow.directions, flow.forcing)


class Watcher:
    """Follows the functions of one mode along a trajectory.

    A function is armed once it is above its tolerance; one that starts at zero (a contact that has just opened, a force
    that has just vanished) is not, and then only counts where it falls clearly below: its trend was taken care of when
    the mode was chosen. How clearly is more each time that nothing came of it: where no sign was found at zero, the
    mode goes on until there is one. A contact that bounces is armed from the start, and any that leaves for sure; below
    zero one that falls faster than a contact at rest counts in any case.

    Gaps are followed with their rates φ̇ = J_n v: a gap may fall below zero and rise again between two samples. Where
    it does not fall below zero, but its least value is within the tolerance, it grazes.
    """

    def __init__(self, flow: Flow, gap_tolerance: float, rising: dict[int, float]) -> None:
        """``rising``: contacts that leave with normal speed, and the time until they are highest, estimated, s."""
        self.flow = flow
        system, mode = flow.system, flow.mode
        self._n = system.nq
        self.watches = [Watch("gap", i) for i in range(system.contacts) if i not in mode.closed]
        self._gaps = len(self.watches)
        for i in sorted(mode.closed):
            self.watches.append(Watch("normal", i))
            if i in flow.rough:
                self.watches.append(Watch("speed" if i in mode.sliding else "cone", i))
            else:
                self.watches.append(Watch("smooth", i))
        if flow.kinetic and mode.sliding & flow.rough:
            self.watches.append(Watch("jam", min(mode.sliding & flow.rough)))
        self._others = {i: _closing(flow, i) for i in sorted(flow.idle)}
        self.watches += [Watch("idle", i) for i in self._others]
        self._gap_tolerance = gap_tolerance
        self.armed = np.array([w.kind == "gap" and w.contact in rising for w in self.watches], dtype=bool)
        self._rising = rising
        self._grazed: set[int] = set()
        self._open = np.array([w.contact for w in self.watches[: self._gaps]], dtype=np.intp)
        self._zero = np.zeros(self._gaps)
        self._late = np.full(len(self.watches), _LATE)

    def _gap(self, state: Array) -> Array:
        return self.flow.system.gap(state[: self._n])[self._open] - self._zero

    def values(self, time: float, state: Array, gap: Array | None = None) -> tuple[Array, Array]:
        """The functions and their tolerances at a state; ``gap``: those of the open contacts, if known."""
        value, tolerance = np.empty(len(self.watches)), np.full(len(self.watches), self._gap_tolerance)
        q = state[: self._n]
        if self._gaps:
            value[: self._gaps] = self._gap(state) if gap is None else gap
        if self._gaps == len(self.watches):
            return value, tolerance
        now = self.flow.dynamics(time, q, state[self._n :])
        size = max(float(np.abs(now.force).max()), force_scale(now.problem))
        for k in range(self._gaps, len(self.watches)):
            watch = self.watches[k]
            i = watch.contact
            tolerance[k] = 1e-9 * size
            if watch.kind == "normal":
                value[k] = now.force[i, 0]
            elif watch.kind == "idle":
                rests = self.flow.rests(now.problem, i)
                tolerance[k] = 1e-7 * size  # so that a late one is beyond doubt for complementarity
                value[k] = self._relief(i, time, state) if rests else 2.0 * tolerance[k]
            elif watch.kind == "jam":
                value[k] = 1.0 - float(np.abs(now.force).max()) / (BEYOND * force_scale(now.problem))
            elif watch.kind == "smooth":
                value[k] = 1.0 if now.problem.friction[i] == 0.0 else -1.0
                tolerance[k] = 1e-3
            elif watch.kind == "cone":
                tangent = now.force[i, 1:]
                value[k] = now.problem.friction[i] * now.force[i, 0] - np.sqrt(tangent @ tangent)
            else:
                velocity = now.problem.tangent_jacobian[i] @ now.problem.velocity
                tolerance[k] = self.flow.speed
                if now.problem.tangents == 1:
                    value[k] = self.flow.direction(now.problem, i) @ velocity
                else:
                    value[k] = self._leaves(velocity, i)
        return value, tolerance

    def _relief(self, contact: int, time: float, state: Array) -> float:
        """Minus the normal force that an idle contact would have if it closed."""
        now = self._others[contact].dynamics(time, state[: self._n], state[self._n :])
        return -float(now.force[contact, 0]) if now.solved else 1.0

    def _leaves(self, velocity: Array, contact: int) -> float:
        """Speed of a contact that slides in space above that of one at rest; far less where it falls back from rest."""
        size, along = float(np.sqrt(velocity @ velocity)), self.flow.directions.get(contact)
        if along is None or size >= self.flow.speed:
            return size - self.flow.speed
        return size - self.flow.speed + _BACK * min(0.0, float(along @ velocity))

    def start(self, time: float, state: Array) -> None:
        """Arm what is above its tolerance already; gaps within the tolerance are zero from here on."""
        if self._gaps:
            gap = self.flow.system.gap(state[: self._n])[self._open]
            self._zero = np.where(gap <= self._gap_tolerance, gap, 0.0)
        value, tolerance = self.values(time, state)
        for k in range(self._gaps, len(self.watches)):
            if self.watches[k].kind == "speed":
                tolerance[k] = 0.0  # one that moves already may stop before it gets any faster
        self.armed |= value > tolerance

    def disarm(self, watch: Watch) -> None:
        """Wait until the function is clearly positive again (its crossing changed nothing), or more negative."""
        k = self.watches.index(watch)
        if k >= self._gaps and not self.armed[k]:
            self._late[k] = min(_LATER * self._late[k], _LATEST)
        self.armed[k] = False

    def grazes(self, hit: Hit) -> bool:
        """Whether a hit that changed nothing is a touch of an open contact, noticed for the first time."""
        k, contact = self.watches.index(hit.watch), hit.watch.contact
        if hit.watch.kind != "gap" or not self.armed[k] or contact in self._grazed:
            return False
        self._grazed.add(contact)
        return True

    def first(self, path: Path, begin: float, end: float, origin: float) -> Hit | None:
        """The first crossing in a step of the integrator, from ``begin`` to ``end``; ``origin``: of the mode."""
        times = list(np.linspace(begin, end, SAMPLES + 1))
        for peak in self._rising.values():
            if begin < origin + peak < end:
                times.append(origin + peak)
        times = sorted(set(times))
        gaps = np.array([self._gap(path(time)) for time in times])
        reach = _REACH * np.abs(np.diff(gaps, axis=0)).max(axis=0, initial=0.0) + self._gap_tolerance
        near = gaps.min(axis=0) <= reach  # else too far off to come down and up again between samples
        hits: list[Hit] = []
        for j, (a, b) in enumerate(pairwise(times)):
            following, tolerance = self.values(b, path(b), gaps[j + 1])
            for k, watch in enumerate(self.watches):
                floor = 0.0 if self.armed[k] else -self._late[k] * tolerance[k]
                if following[k] < floor:
                    hits.append(Hit(self._root(path, k, a, b, floor), watch))
                elif k < self._gaps and following[k] < 0.0 and self._rate(path, k, b) < -self.flow.speed:
                    hits.append(Hit(self._fall(path, k, a, b), watch))
                elif k < self._gaps and near[k]:
                    dip = self._dip(path, k, a, b, floor)
                    if dip is not None:
                        hits.append(dip)
            if hits:
                return min(hits, key=lambda hit: hit.time)
            clear = following > tolerance
            self._grazed -= {self.watches[k].contact for k in np.flatnonzero(clear[: self._gaps]).tolist()}
            self.armed |= clear
            for k in np.flatnonzero(~self.armed[: self._gaps] & (following[: self._gaps] > 0.0)).tolist():
                self.armed[k] = self._rate(path, k, b) > self.flow.speed
        return None

    def _one(self, path: Path, k: int, time: float) -> float:
        if k < self._gaps:
            return float(self._gap(path(time))[k])
        return float(self.values(time, path(time))[0][k])

    def _root(self, path: Path, k: int, a: float, b: float, floor: float) -> float:
        """Where the function falls below ``floor`` between a and b."""
        low = a
        for _ in range(60):  # it may start at zero, rise, and fall again
            if self._one(path, k, low) > floor:
                break
            low = a + (b - a) * 0.5 ** (_ + 1)
        else:
            return a
        root = float(brentq(lambda t: self._one(path, k, t) - floor, low, b, xtol=1e-15, rtol=8.9e-16, maxiter=200))
        step = 4e-16 * max(1.0, abs(root))
        while root < b and self._one(path, k, root) - floor > self._tolerance(path, k, root):
            root, step = min(root + step, b), 2.0 * step  # forces that jump: the first time after the jump
        return root

    def _tolerance(self, path: Path, k: int, time: float) -> float:
        return float(self.values(time, path(time))[1][k])

    def _rate(self, path: Path, k: int, time: float) -> float:
        """φ̇ of an open contact."""
        state = path(time)
        q, v = state[: self._n], state[self._n :]
        problem = self.flow.system.problem(q, v, time, self.flow.forcing)
        return float(problem.normal_jacobian[self._open[k]] @ v)

    def _fall(self, path: Path, k: int, a: float, b: float) -> float:
        """Where a gap that is zero but for rounding begins to fall faster than a contact at rest does."""
        low, high = (self._rate(path, k, time) + self.flow.speed for time in (a, b))
        if not low > 0.0 > high:
            return b if low > 0.0 else a
        rate = brentq(lambda t: self._rate(path, k, t) + self.flow.speed, a, b, xtol=1e-15, rtol=8.9e-16, maxiter=200)
        return min(float(rate) * (1.0 + 4e-16), b)

    def _dip(self, path: Path, k: int, a: float, b: float, floor: float) -> Hit | None:
        """A gap that closes and opens again between two samples."""
        if not (self._rate(path, k, a) < 0.0 <= self._rate(path, k, b)):
            return None
        low = float(brentq(lambda t: self._rate(path, k, t), a, b, xtol=1e-15, rtol=8.9e-16, maxiter=200))
        least = self._one(path, k, low)
        if least < floor:
            return Hit(self._root(path, k, a, low, floor), self.watches[k])
        if self.armed[k] and least <= self._gap_tolerance and self.watches[k].contact not in self._grazed:
            self._grazed.add(self.watches[k].contact)
            return Hit(low, self.watches[k], True)
        return None


def force_scale(problem: ContactProblem) -> float:
    """What forces are measured against, N: those that act without contact, and what 1 m/s² of the bodies needs."""
    inertia = np.diag(problem.mass)
    heavy = inertia[inertia > 0.0]
    return max(float(np.abs(problem.bias_force).max(initial=0.0)), float(heavy.mean()) if heavy.size else 1.0, 1e-300)
