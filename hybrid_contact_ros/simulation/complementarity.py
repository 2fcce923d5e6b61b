"""The next mode where nothing impacts: force-acceleration complementarity with trending signs (J 35–40)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.modes.trending import trending
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.dynamics import Dynamics
from hybrid_contact_ros.simulation.events import force_scale
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.mode_dynamics import Flow
from hybrid_contact_ros.simulation.slip_direction import leaning, slip_direction

Array = NDArray[np.float64]
LARGEST = 4096
"""Most modes that are all tried; where there are more, the solver's and its neighbours are."""
_TOLERANCE = 1e-8
AT_REST = 2.0
"""Times the tolerance of speeds: contacts in space that are slower are at rest, so that a slide ends only once."""


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A mode, the directions (d,) in which contacts that are at rest start to slide, and how it was found.

    ``decided`` is False where no mode satisfied the conditions: then the mode is the contact solver's, if it had one,
    and ``mode`` is None if not. ``trend_order`` is the highest Lie derivative that was needed.
    """

    mode: Mode | None
    directions: Mapping[int, Array] = field(default_factory=dict)
    decided: bool = True
    trend_order: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A mode of the touching contacts, with the directions of those that start to slide."""

    mode: Mode
    directions: Mapping[int, Array]


@dataclass(frozen=True, slots=True, eq=False)
class _Condition:
    """``row``: which number of the vector along ``flow``'s path must be ⪰ 0, or ≻ 0 where ``strict``."""

    flow: Flow
    kind: str
    contact: int
    strict: bool
    negated: bool = False


class ForceAcceleration:
    """CP_FA at one state.

    With regular M a contact is open where its separating acceleration is trending positive (J 40), and friction is
    Coulomb's with ``kinetic``. With singular M, where that does not exist, or without kinetic friction, a row is open
    where closing it needs a force that is trending out of its cone (J 36–38); rows are normals and tangents, so that
    a contact may also be left with its normal only (J §2.8, stick to slip). Ties close, as J's ⪰ does.
    """

    def __init__(
        self, system: AdaptedSystem, time: float, q: Array, v: Array, current: Mode, kinetic: bool, speed: float
    ) -> None:
        self.system, self.time, self.q, self.v = system, time, q, v
        self.current, self.kinetic, self.speed = current, kinetic, speed
        self._resting = speed * (AT_REST if system.tangents > 1 else 1.0)
        self.problem = system.problem(q, v, time, current.closed)
        self._order = 0
        rate = np.einsum("ijk,k->ij", self.problem.tangent_jacobian, v)
        self.moving = {i for i in range(system.contacts) if np.sqrt(rate[i] @ rate[i]) > self._resting}
        self._slip = rate

    def select(self, scope: frozenset[int]) -> Selection:
        """The mode J ⊆ scope that satisfies the conditions; among several the solver's, then one with most rows."""
        guess = self._guess(scope)
        for candidate in self._candidates(scope, guess):
            if self.holds(candidate, scope):
                return Selection(candidate.mode, candidate.directions, True, self._order)
        if guess is not None:
            return Selection(guess.mode, guess.directions, False, self._order)
        return Selection(None, {}, False, self._order)

    def holds(self, candidate: Candidate, scope: frozenset[int]) -> bool:
        """Whether the conditions hold, by the value and, where that is zero, by the trend along the mode's flow."""
        conditions = self._conditions(candidate, scope)
        if conditions is None:
            return False
        marginal = []
        for condition in conditions:
            value, scale = self._value(condition, self.time, self.q, self.v), self._scale(condition)
            if abs(value) <= _TOLERANCE * scale:
                marginal.append((condition, scale))
            elif value < 0.0:
                return False
        for condition, scale in marginal:
            state = np.concatenate((self.q, self.v))
            along = self._along(condition)
            trend = trending(along, condition.flow, self.time, state, scale, tolerance=_TOLERANCE)
            self._order = max(self._order, int(trend.order[0]))
            if trend.sign[0] < 0 or (condition.strict and trend.sign[0] == 0):
                return False
        return True

    def _along(self, condition: _Condition) -> Callable[[float, Array], list[float]]:
        n = self.system.nq
        return lambda time, state: [self._value(condition, time, state[:n], state[n:])]

    def _flow(self, mode: Mode, directions: Mapping[int, Array]) -> Flow:
        # The forces are those of the mode that the system is in: whoever commands them learns of the next one later
        return Flow(self.system, mode, self.kinetic, self.speed, directions, self.current.closed)

    def _conditions(self, candidate: Candidate, scope: frozenset[int]) -> list[_Condition] | None:
        flow = self._flow(candidate.mode, candidate.directions)
        if not flow.dynamics(self.time, self.q, self.v).solved:
            return None
        mode, found = candidate.mode, []
        for i in sorted(scope):
            rough = self.problem.friction[i] > 0.0
            if i not in mode.closed:
                if self.kinetic:
                    found.append(_Condition(flow, "separation", i, True))
                    continue
                closed = mode.closed | {i}
                for sliding in (mode.sliding | {i}, mode.sliding) if rough and i not in self.moving else (None,):
                    added = mode.sliding | ({i} if rough else set()) if sliding is None else sliding
                    other = self._flow(Mode(closed, frozenset(added)), candidate.directions)
                    if other.dynamics(self.time, self.q, self.v).solved:
                        found.append(_Condition(other, "margin", i, True, negated=True))
                continue
            found.append(_Condition(flow, "normal", i, False))
            if not rough:
                continue
            if i not in mode.sliding:
                found.append(_Condition(flow, "margin", i, False))
            elif i not in self.moving:
                if self.kinetic:
                    found.append(_Condition(flow, "start", i, True))
                else:
                    other = self._flow(Mode(mode.closed, mode.sliding - {i}), candidate.directions)
                    if other.dynamics(self.time, self.q, self.v).solved:
                        found.append(_Condition(other, "margin", i, True, negated=True))
        return found

    def _value(self, condition: _Condition, time: float, q: Array, v: Array) -> float:
        now = condition.flow.dynamics(time, q, v)
        i = condition.contact
        if condition.kind == "normal":
            value = float(now.force[i, 0])
        elif condition.kind == "margin":
            value = margin(now, i, i not in condition.flow.mode.sliding)
        elif condition.kind == "separation":
            value = float(now.problem.normal_jacobian[i] @ now.acceleration + now.problem.jacobian_drift[i, 0])
        else:
            rate = now.problem.tangent_jacobian[i] @ now.acceleration + now.problem.jacobian_drift[i, 1:]
            value = float(condition.flow.directions[i] @ rate)
        return -value if condition.negated else value

    def _scale(self, condition: _Condition) -> float:
        """Accelerations are measured against those without contact and 1 m/s², forces against what these need."""
        if condition.kind in ("normal", "margin"):
            return force_scale(self.problem)
        return max(1.0, float(np.abs(self.problem.jacobian_drift[condition.contact]).max()))

    def _guess(self, scope: frozenset[int]) -> Candidate | None:
        if not self.kinetic:
            return None
        solution = force_acceleration_mode(self.problem, scope, self._resting)
        if solution.status is not Status.SOLVED:
            return None
        sliding, directions = set(), {}
        for i in solution.mode:
            if self.problem.friction[i] == 0.0 or solution.contact_status[i] != ContactStatus.SLIPPING:
                continue
            sliding.add(i)
            directions[i] = self._direction(i, solution.forces[i, 1:])
        return Candidate(Mode(solution.mode, frozenset(sliding)), directions)

    def _direction(self, contact: int, force: Array) -> Array:
        """Along the velocity, or against the friction where the contact starts from rest."""
        along = self._slip[contact] if contact in self.moving else -force
        size = float(np.sqrt(along @ along))
        return along / size if size > 0.0 else np.zeros(along.shape)

    def _candidates(self, scope: frozenset[int], guess: Candidate | None) -> Iterator[Candidate]:
        if guess is not None:
            yield guess
        contacts = sorted(scope)
        starts = self._leaning(guess)
        choices: list[list[tuple[str, Array | None]]] = [self._choices(i, guess, starts) for i in contacts]
        count = int(np.prod([len(c) for c in choices])) if choices else 1
        found = list(product(*choices)) if count <= LARGEST else list(_neighbours(choices, contacts, guess))
        weight = {"stick": 2, "slide": 1, "open": 0}
        found.sort(key=lambda states: -sum(weight[s] for s, _ in states))
        for states in found:
            closed = frozenset(i for i, (s, _) in zip(contacts, states, strict=True) if s != "open")
            slides = {i: a for i, (s, a) in zip(contacts, states, strict=True) if s == "slide"}
            yield Candidate(Mode(closed, frozenset(slides)), {i: a for i, a in slides.items() if a is not None})

    def _leaning(self, guess: Candidate | None) -> Mapping[int, Array]:
        """Directions in space in which contacts that stick in the guess, near the edge of their cones, would slide."""
        if guess is None or self.problem.tangents == 1:
            return {}
        now = self._flow(guess.mode, guess.directions).dynamics(self.time, self.q, self.v)
        found = {}
        for i in sorted(guess.mode.closed - guess.mode.sliding):
            near = leaning(now, i)
            if near is not None:
                found[i] = slip_direction(partial(self._sliding, guess, i), i, near)
        return found

    def _sliding(self, guess: Candidate, contact: int, along: Array) -> Dynamics:
        """With a contact that sticks in the guess sliding."""
        flow = self._flow(Mode(guess.mode.closed, guess.mode.sliding | {contact}), {**guess.directions, contact: along})
        return flow.dynamics(self.time, self.q, self.v)

    def _choices(
        self, contact: int, guess: Candidate | None, leaning: Mapping[int, Array]
    ) -> list[tuple[str, Array | None]]:
        if self.problem.friction[contact] == 0.0:
            return [("stick", None), ("open", None)]
        if contact in self.moving:
            return [("slide", self._direction(contact, np.zeros(self.problem.tangents))), ("open", None)]
        starts: list[Array] = []
        if not self.kinetic:
            starts = [np.ones(1)] if self.problem.tangents == 1 else [np.zeros(2)]
        elif self.problem.tangents == 1:
            starts = [np.ones(1), -np.ones(1)]
        elif guess is not None and contact in guess.directions:
            starts = [guess.directions[contact]]
        elif contact in leaning:
            starts = [leaning[contact]]
        return [("stick", None), *(("slide", s) for s in starts), ("open", None)]


def margin(now: Dynamics, contact: int, holds: bool) -> float:
    """How far the force of a contact is inside its cone: min(λ_n, μ λ_n − ‖λ_t‖), or λ_n if only its normal is held."""
    normal = float(now.force[contact, 0])
    if not holds or now.problem.friction[contact] == 0.0:
        return normal
    tangent = now.force[contact, 1:]
    return min(normal, float(now.problem.friction[contact] * normal - np.sqrt(tangent @ tangent)))


def _neighbours(
    choices: list[list[tuple[str, Array | None]]], contacts: list[int], guess: Candidate | None
) -> Iterator[tuple[tuple[str, Array | None], ...]]:
    if guess is None:
        return
    base: list[tuple[str, Array | None]] = []
    for i in contacts:
        state = "slide" if i in guess.mode.sliding else "stick" if i in guess.mode.closed else "open"
        base.append((state, guess.directions.get(i)))
    for at, options in enumerate(choices):
        for option in options:
            yield (*base[:at], option, *base[at + 1 :])
