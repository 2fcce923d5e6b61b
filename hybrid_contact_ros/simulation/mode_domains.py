"""The modes that a system can be in, with their domains, found by a search for configurations (Johnson (71), (74))."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.mode import HybridMode

Array = NDArray[np.float64]
MAX_CONTACTS = 10
"""Contacts whose modes are listed at most: with friction they have up to 3^10."""
_MAX_VELOCITIES = 60  # sizes that a system which does not tell its own is tried with


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """D_I: the states in which the mode's contacts touch and are at rest in the closed rows, and nothing penetrates.

    Source: Johnson (74).

    Attributes:
        mode: I. witness: a configuration (nq,) with these contacts closed.
    """

    system: AdaptedSystem
    mode: HybridMode
    witness: Array

    def contains(self, q: ArrayLike, v: ArrayLike, tolerance: float = 1e-8) -> bool:
        """Whether a state is in the domain, to a tolerance in m and m/s."""
        problem = self.system.problem(q, v, 0.0, self.mode.closed)
        rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
        closed = sorted(self.mode.closed)
        return bool(
            (problem.gap >= -tolerance).all()
            and (problem.gap[closed] <= tolerance).all()
            and (np.abs(rows[self.mode.closed_rows(problem)] @ problem.velocity) <= tolerance).all()
        )

    def __str__(self) -> str:
        names = self.system.contact_names
        closed = sorted(self.mode.closed)
        friction = self.system.problem(self.witness, np.zeros(self.system.nv)).friction
        parts = [f"φ_{names[i]} = 0" for i in closed]
        parts += [f"φ_{names[i]} ≥ 0" for i in range(self.system.contacts) if i not in closed]
        for i in closed:
            sticks = i not in self.mode.sliding and friction[i] > 0.0
            parts.append(f"u_{names[i]} = 0" if sticks else f"φ̇_{names[i]} = 0")
        return ", ".join(parts) or "all states"


def default_configuration(system: Any) -> Array:
    """A robot's neutral configuration, or zeros: as many as the system says, or the first number its problem takes."""
    if hasattr(system, "neutral"):
        return np.array(system.neutral(), dtype=np.float64)
    if hasattr(system, "nv"):
        return np.zeros(system.nv)
    for count in range(1, _MAX_VELOCITIES + 1):
        try:
            if system.problem(np.zeros(count), np.zeros(count)).nv == count:
                return np.zeros(count)
        except (ValueError, IndexError, AttributeError):
            continue
    raise ValueError(f"{type(system).__name__} does not tell its size; give q")


def list_domains(system: AdaptedSystem, q: Array, searches: int, spread: float, seed: int) -> list[Domain]:
    """Domains of all modes that are found, by number of contacts."""
    if system.contacts > MAX_CONTACTS:
        raise ValueError(f"{system.contacts} contacts have too many modes to list; up to {MAX_CONTACTS} can be")
    steps = spread * np.random.default_rng(seed).normal(size=(max(searches, 1) - 1, system.nv))
    starts = np.vstack((q[None], *(system.integrate(q, step)[None] for step in steps)))
    found: list[Domain] = []
    possible: set[frozenset[int]] = set()
    every = range(system.contacts)
    for closed in chain.from_iterable(combinations(every, k) for k in range(system.contacts + 1)):
        subset = frozenset(closed)
        witness = _witness(system, subset, starts)
        if witness is None:
            continue
        possible.add(subset)
        friction = system.problem(witness, np.zeros(system.nv)).friction
        rough = [i for i in closed if friction[i] > 0.0]
        for slides in chain.from_iterable(combinations(rough, k) for k in range(len(rough) + 1)):
            found.append(Domain(system, HybridMode(subset, frozenset(slides)), witness))
    return found


def _witness(system: AdaptedSystem, closed: frozenset[int], starts: Array) -> Array | None:
    """A configuration with exactly zero gap at ``closed`` and no negative gap, if one is found."""
    index = sorted(closed)

    def moved(start: Array, x: Array) -> Array:
        return system.integrate(start, x) if system.curved else x

    def misfit(x: Array, start: Array) -> Array:
        gap = system.gap(moved(start, x))
        below = np.minimum(gap, 0.0)
        below[index] = gap[index]
        return below

    for start in starts:
        if not system.contacts:
            return start
        begin = np.zeros(system.nv) if system.curved else start
        answer = least_squares(misfit, begin, args=(start,), xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=100)
        if float(np.abs(answer.fun).max()) <= 1e-9:
            return moved(start, np.asarray(answer.x, dtype=np.float64))
    return None
