"""Modes that the forces may allow at a state: which contacts may stick, slide (in which direction) or open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.mode_motion import ModeMotion
from hybrid_contact_ros.simulation.slip_direction import direction_at_cone_edge, slip_direction

Array = NDArray[np.float64]
ContactChoice: TypeAlias = tuple[str, Array | None]
"""``"stick"``, ``"slide"`` or ``"open"``, and the direction (d,) in which a contact at rest starts to slide."""
MAX_ENUMERATED = 4096
"""Modes that are all tried at most; where there are more, the contact solver's mode and its neighbours are tried."""
AT_REST = 2.0
"""Times the tolerance of speeds: slower contacts in space are at rest, so that a slide ends only once."""
_ROWS = {"stick": 2, "slide": 1, "open": 0}


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A mode of the touching contacts, with the directions (d,) of those that start to slide."""

    mode: HybridMode
    directions: Mapping[int, Array]


class ModeCandidates:
    """The candidates at one state.

    Args:
        kinetic: whether sliding contacts have friction. speed: m/s, a slower contact is at rest.

    Attributes:
        problem: the contact problem of the state. moving: contacts that are not at rest along their tangents.
    """

    def __init__(self, system: AdaptedSystem, state: HybridState, kinetic: bool, speed: float) -> None:
        self.system, self.state, self.kinetic, self.speed = system, state, kinetic, speed
        self._resting = speed * (AT_REST if system.tangents > 1 else 1.0)
        self.problem = system.problem(state.q, state.v, state.time, state.mode.closed)
        self._slip = np.einsum("ijk,k->ij", self.problem.tangent_jacobian, state.v)
        self.moving = {i for i in range(system.contacts) if np.sqrt(self._slip[i] @ self._slip[i]) > self._resting}

    def dynamics(self, mode: HybridMode, directions: Mapping[int, Array]) -> ModeDynamics:
        """The vector field of another mode, with the forces of the mode that the system is in.

        Whoever commands the forces learns of the next mode later.
        """
        return ModeDynamics(self.system, mode, self.kinetic, self.speed, directions, self.state.mode.closed)

    def by_solver(self, scope: frozenset[int]) -> Candidate | None:
        """The mode that the contact solver finds, if it finds one. It knows kinetic friction only."""
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
        return Candidate(HybridMode(solution.mode, frozenset(sliding)), directions)

    def all(self, scope: frozenset[int], guess: Candidate | None) -> Iterator[Candidate]:
        """The ``guess`` first, then the others, those that close most rows first."""
        if guess is not None:
            yield guess
        contacts = sorted(scope)
        starts = self._about_to_slide(guess)
        choices: list[list[ContactChoice]] = [self._choices(i, guess, starts) for i in contacts]
        count = int(np.prod([len(c) for c in choices])) if choices else 1
        found = list(product(*choices)) if count <= MAX_ENUMERATED else list(_neighbours(choices, contacts, guess))
        found.sort(key=lambda states: -sum(_ROWS[s] for s, _ in states))
        for states in found:
            closed = frozenset(i for i, (s, _) in zip(contacts, states, strict=True) if s != "open")
            slides = {i: a for i, (s, a) in zip(contacts, states, strict=True) if s == "slide"}
            yield Candidate(HybridMode(closed, frozenset(slides)), {i: a for i, a in slides.items() if a is not None})

    def _direction(self, contact: int, force: Array) -> Array:
        """Along the velocity, or against the friction where the contact starts from rest."""
        along = self._slip[contact] if contact in self.moving else -force
        size = float(np.sqrt(along @ along))
        return along / size if size > 0.0 else np.zeros(along.shape)

    def _about_to_slide(self, guess: Candidate | None) -> Mapping[int, Array]:
        """Directions in space in which contacts that stick in the guess, near the edge of their cones, would slide."""
        if guess is None or self.problem.tangents == 1:
            return {}
        state = self.state
        now = self.dynamics(guess.mode, guess.directions).motion(state.time, state.q, state.v)
        found = {}
        for i in sorted(guess.mode.closed - guess.mode.sliding):
            near = direction_at_cone_edge(now, i)
            if near is not None:
                found[i] = slip_direction(partial(self._with_sliding, guess, i), i, near)
        return found

    def _with_sliding(self, guess: Candidate, contact: int, along: Array) -> ModeMotion:
        """The motion where a contact that sticks in the guess slides ``along`` a direction (d,)."""
        mode = HybridMode(guess.mode.closed, guess.mode.sliding | {contact})
        dynamics = self.dynamics(mode, {**guess.directions, contact: along})
        return dynamics.motion(self.state.time, self.state.q, self.state.v)

    def _choices(
        self, contact: int, guess: Candidate | None, about_to_slide: Mapping[int, Array]
    ) -> list[ContactChoice]:
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
        elif contact in about_to_slide:
            starts = [about_to_slide[contact]]
        return [("stick", None), *(("slide", s) for s in starts), ("open", None)]


def _neighbours(
    choices: list[list[ContactChoice]], contacts: list[int], guess: Candidate | None
) -> Iterator[tuple[ContactChoice, ...]]:
    """Modes that differ from the guess in one contact."""
    if guess is None:
        return
    base: list[ContactChoice] = []
    for i in contacts:
        state = "slide" if i in guess.mode.sliding else "stick" if i in guess.mode.closed else "open"
        base.append((state, guess.directions.get(i)))
    for at, options in enumerate(choices):
        for option in options:
            yield (*base[:at], option, *base[at + 1 :])
