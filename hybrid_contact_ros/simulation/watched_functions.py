"""The functions whose fall below zero ends a mode: gaps, normal forces, margins of friction cones, speeds of slip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.mode_motion import JAM_FORCE, ModeMotion, force_scale

Array = NDArray[np.float64]
_BACKWARDS = 40.0  # so that a quarter of the speed of a contact at rest, backwards, counts as clearly below zero


@dataclass(frozen=True, slots=True)
class WatchedFunction:
    """A function whose fall below zero ends the mode.

    Attributes:
        kind: "gap" of an open contact (Johnson (21)); "normal" force of a closed one; "cone" margin of a sticking one;
            "speed" along its direction of a sliding one (Johnson (70)); "smooth": 1 while a closed contact that had no
            friction when the mode began has none, then −1; "idle": minus the normal force that an idle contact would
            have if it closed; "jam": 1 minus the largest force over the largest there may be, while a contact slides.
        contact: of which contact.
    """

    kind: str
    contact: int


class WatchedFunctions:
    """The functions of one mode, gaps first.

    Attributes:
        functions: what they are. gaps: how many of them are gaps. open: (gaps,) the contacts of these.
        zero: (gaps,) m, gaps that count as zero: those that were within the tolerance when watching began.
    """

    def __init__(self, dynamics: ModeDynamics, gap_tolerance: float) -> None:
        """gap_tolerance: m."""
        self.dynamics, self.gap_tolerance = dynamics, gap_tolerance
        system, mode = dynamics.system, dynamics.mode
        self._n = system.nq
        self.functions = [WatchedFunction("gap", i) for i in range(system.contacts) if i not in mode.closed]
        self.gaps = len(self.functions)
        for i in sorted(mode.closed):
            self.functions.append(WatchedFunction("normal", i))
            if i in dynamics.rough:
                self.functions.append(WatchedFunction("speed" if i in mode.sliding else "cone", i))
            else:
                self.functions.append(WatchedFunction("smooth", i))
        if dynamics.kinetic and mode.sliding & dynamics.rough:
            self.functions.append(WatchedFunction("jam", min(mode.sliding & dynamics.rough)))
        self._closing = {i: _closing(dynamics, i) for i in sorted(dynamics.idle)}
        self.functions += [WatchedFunction("idle", i) for i in self._closing]
        self.open = np.array([w.contact for w in self.functions[: self.gaps]], dtype=np.intp)
        self.zero = np.zeros(self.gaps)

    def gap(self, state: Array) -> Array:
        """Gaps (gaps,), m, of the open contacts at a state (q, v), above what counts as zero."""
        return self.dynamics.system.gap(state[: self._n])[self.open] - self.zero

    def begin(self, state: Array) -> None:
        """Let gaps within the tolerance be zero from this state on."""
        if self.gaps:
            gap = self.dynamics.system.gap(state[: self._n])[self.open]
            self.zero = np.where(gap <= self.gap_tolerance, gap, 0.0)

    def rate(self, k: int, time: float, state: Array) -> float:
        """φ̇ = J_n v of the open contact of function ``k``, m/s."""
        q, v = state[: self._n], state[self._n :]
        problem = self.dynamics.system.problem(q, v, time, self.dynamics.forcing)
        return float(problem.normal_jacobian[self.open[k]] @ v)

    def value(self, k: int, time: float, state: Array) -> float:
        """One function at a state."""
        return float(self.gap(state)[k]) if k < self.gaps else float(self.values(time, state)[0][k])

    def values(self, time: float, state: Array, gap: Array | None = None) -> tuple[Array, Array]:
        """The functions and their tolerances at a state (q, v).

        Args:
            gap: (gaps,) what :meth:`gap` says of this state, if that is known.
        """
        value, tolerance = np.empty(len(self.functions)), np.full(len(self.functions), self.gap_tolerance)
        if self.gaps:
            value[: self.gaps] = self.gap(state) if gap is None else gap
        if self.gaps == len(self.functions):
            return value, tolerance
        now = self.dynamics.motion(time, state[: self._n], state[self._n :])
        scale = max(float(np.abs(now.force).max()), force_scale(now.problem))
        for k in range(self.gaps, len(self.functions)):
            value[k], tolerance[k] = self._of_closed(self.functions[k], time, state, now, scale)
        return value, tolerance

    def _of_closed(
        self, function: WatchedFunction, time: float, state: Array, now: ModeMotion, scale: float
    ) -> tuple[float, float]:
        """A function that is not a gap, and its tolerance. ``scale``: of forces, N."""
        i, problem = function.contact, now.problem
        small = 1e-9 * scale
        if function.kind == "normal":
            return now.force[i, 0], small
        if function.kind == "idle":
            small = 1e-7 * scale  # so that a late one is beyond doubt for complementarity
            rests = self.dynamics.rests(problem, i)
            return (self._relief(i, time, state) if rests else 2.0 * small), small
        if function.kind == "jam":
            return 1.0 - float(np.abs(now.force).max()) / (JAM_FORCE * force_scale(problem)), small
        if function.kind == "smooth":
            return (1.0 if problem.friction[i] == 0.0 else -1.0), 1e-3
        if function.kind == "cone":
            tangent = now.force[i, 1:]
            return problem.friction[i] * now.force[i, 0] - np.sqrt(tangent @ tangent), small
        velocity = problem.tangent_jacobian[i] @ problem.velocity
        if problem.tangents == 1:
            return self.dynamics.direction(problem, i) @ velocity, self.dynamics.speed
        return self._speed_in_space(velocity, i), self.dynamics.speed

    def _relief(self, contact: int, time: float, state: Array) -> float:
        """Minus the normal force that an idle contact would have if it closed."""
        now = self._closing[contact].motion(time, state[: self._n], state[self._n :])
        return -float(now.force[contact, 0]) if now.solved else 1.0

    def _speed_in_space(self, velocity: Array, contact: int) -> float:
        """Speed of a sliding contact above that of one at rest; far less where the contact falls back from rest."""
        speed, along = self.dynamics.speed, self.dynamics.directions.get(contact)
        size = float(np.sqrt(velocity @ velocity))
        if along is None or size >= speed:
            return size - speed
        return size - speed + _BACKWARDS * min(0.0, float(along @ velocity))


def _closing(dynamics: ModeDynamics, contact: int) -> ModeDynamics:
    """The dynamics of the mode that closes the normal of a contact besides."""
    rough = contact in dynamics.rough
    mode = dynamics.mode
    closed = HybridMode(mode.closed | {contact}, mode.sliding | ({contact} if rough else frozenset[int]()))
    return ModeDynamics(
        dynamics.system, closed, dynamics.kinetic, dynamics.speed, dynamics.directions, dynamics.forcing
    )
