"""The next mode where nothing impacts: force-acceleration complementarity with trending signs (Johnson (35)-(40))."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.modes.trending import trending
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_candidates import Candidate, ModeCandidates
from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.mode_motion import ModeMotion, force_scale

Array = NDArray[np.float64]
_TOLERANCE = 1e-8  # of the scaled conditions: a smaller value is zero, and its trend decides


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A mode, and how it was found.

    Attributes:
        mode: None where no mode satisfied the conditions and the contact solver had none either.
        directions: unit vectors (d,) in which contacts that are at rest start to slide.
        decided: False where no mode satisfied the conditions; then the mode is the contact solver's.
        trend_order: the highest Lie derivative that was needed (Johnson, Definition 1).
    """

    mode: HybridMode | None
    directions: Mapping[int, Array] = field(default_factory=dict)
    decided: bool = True
    trend_order: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Condition:
    """A number along the path of a vector field that must be ⪰ 0, or ≻ 0 where ``strict``.

    Attributes:
        dynamics: the vector field. kind: "normal" force; "margin" of the force within its cone; "separation", the
            acceleration of the gap; "start", the acceleration along the direction of a contact that starts to slide.
        contact: of which contact. negated: whether it is minus that number.
    """

    dynamics: ModeDynamics
    kind: str
    contact: int
    strict: bool
    negated: bool = False


class ForceAcceleration:
    """The force-acceleration complementarity problem at one state.

    With regular M a contact is open where its separating acceleration is trending positive (Johnson (40)), and friction
    is Coulomb's with ``kinetic``. With singular M, where that acceleration does not exist, or without kinetic friction,
    a row is open where closing it needs a force that is trending out of its cone (Johnson (36)-(38)); rows are normals
    and tangents, so that a contact may also keep its normal only (Johnson §2.8, stick to slip). Ties close, as
    Johnson's ⪰ does.

    Args:
        kinetic: whether sliding contacts have friction. speed: m/s, a slower contact is at rest.
    """

    def __init__(self, system: AdaptedSystem, state: HybridState, kinetic: bool, speed: float) -> None:
        self.system, self.state, self.kinetic = system, state, kinetic
        self.candidates = ModeCandidates(system, state, kinetic, speed)
        self.problem, self.moving = self.candidates.problem, self.candidates.moving
        self._order = 0

    def select(self, scope: frozenset[int]) -> Selection:
        """The mode within ``scope`` that satisfies the conditions; among several the contact solver's, then one with
        most rows."""
        guess = self.candidates.by_solver(scope)
        for candidate in self.candidates.all(scope, guess):
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
        time, q, v, _, _ = self.state
        marginal = []
        for condition in conditions:
            value, scale = _value(condition, time, q, v), self._scale(condition)
            if abs(value) <= _TOLERANCE * scale:
                marginal.append((condition, scale))
            elif value < 0.0:
                return False
        for condition, scale in marginal:
            along = self._along(condition)
            trend = trending(along, condition.dynamics, time, np.concatenate((q, v)), scale, tolerance=_TOLERANCE)
            self._order = max(self._order, int(trend.order[0]))
            if trend.sign[0] < 0 or (condition.strict and trend.sign[0] == 0):
                return False
        return True

    def _along(self, condition: _Condition) -> Callable[[float, Array], list[float]]:
        n = self.system.nq
        return lambda time, state: [_value(condition, time, state[:n], state[n:])]

    def _exists(self, dynamics: ModeDynamics) -> bool:
        return dynamics.motion(self.state.time, self.state.q, self.state.v).solved

    def _conditions(self, candidate: Candidate, scope: frozenset[int]) -> list[_Condition] | None:
        """What must hold for a candidate; None where its mode has no dynamics."""
        mode, directions = candidate.mode, candidate.directions
        dynamics = self.candidates.dynamics(mode, directions)
        if not self._exists(dynamics):
            return None
        found = []
        for i in sorted(scope):
            rough = self.problem.friction[i] > 0.0
            if i not in mode.closed:
                if self.kinetic:
                    found.append(_Condition(dynamics, "separation", i, True))
                    continue
                closed = mode.closed | {i}
                for sliding in (mode.sliding | {i}, mode.sliding) if rough and i not in self.moving else (None,):
                    added = mode.sliding | ({i} if rough else set()) if sliding is None else sliding
                    other = self.candidates.dynamics(HybridMode(closed, frozenset(added)), directions)
                    if self._exists(other):
                        found.append(_Condition(other, "margin", i, True, negated=True))
                continue
            found.append(_Condition(dynamics, "normal", i, False))
            if not rough:
                continue
            if i not in mode.sliding:
                found.append(_Condition(dynamics, "margin", i, False))
            elif i not in self.moving:
                if self.kinetic:
                    found.append(_Condition(dynamics, "start", i, True))
                else:
                    other = self.candidates.dynamics(HybridMode(mode.closed, mode.sliding - {i}), directions)
                    if self._exists(other):
                        found.append(_Condition(other, "margin", i, True, negated=True))
        return found

    def _scale(self, condition: _Condition) -> float:
        """Accelerations are measured against those without contact and 1 m/s², forces against what these need."""
        if condition.kind in ("normal", "margin"):
            return force_scale(self.problem)
        return max(1.0, float(np.abs(self.problem.jacobian_drift[condition.contact]).max()))


def _value(condition: _Condition, time: float, q: Array, v: Array) -> float:
    now = condition.dynamics.motion(time, q, v)
    i = condition.contact
    if condition.kind == "normal":
        value = float(now.force[i, 0])
    elif condition.kind == "margin":
        value = cone_margin(now, i, i not in condition.dynamics.mode.sliding)
    elif condition.kind == "separation":
        value = float(now.problem.normal_jacobian[i] @ now.acceleration + now.problem.jacobian_drift[i, 0])
    else:
        rate = now.problem.tangent_jacobian[i] @ now.acceleration + now.problem.jacobian_drift[i, 1:]
        value = float(condition.dynamics.directions[i] @ rate)
    return -value if condition.negated else value


def cone_margin(now: ModeMotion, contact: int, sticks: bool) -> float:
    """How far the force of a contact is inside its cone, N.

    min(λ_n, μ λ_n − ‖λ_t‖) of a contact that ``sticks`` by friction, λ_n of one of which the normal only is closed.
    """
    normal = float(now.force[contact, 0])
    if not sticks or now.problem.friction[contact] == 0.0:
        return normal
    tangent = now.force[contact, 1:]
    return min(normal, float(now.problem.friction[contact] * normal - np.sqrt(tangent @ tangent)))
