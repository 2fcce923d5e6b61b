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
_MAX_VELOCITIES = 60  # largest nv that is tried with a system that does not tell its own


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The domain of a mode: the states in which its contacts touch without moving in the closed rows, and no contact
    penetrates (D_I of Johnson (74), where the letter I is the mode).

    Attributes:
        system: the mechanical system that the mode belongs to.
        mode: the contact mode whose domain this is.
        witness: a configuration (nq,) in which the mode's contacts are closed and no other one penetrates.
    """

    system: AdaptedSystem
    mode: HybridMode
    witness: Array

    def contains(self, q: ArrayLike, v: ArrayLike, tolerance: float = 1e-8) -> bool:
        """Tell whether a state is in the domain, with one tolerance for gaps (m) and for speeds (m/s)."""
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
    """A configuration (nq,) to search from: the neutral one of the system, or zeros where v = q̇, so that nq = nv.

    Raises:
        ValueError: the system has v ≠ q̇ and no ``neutral``, or its size is not found.
    """
    if hasattr(system, "neutral"):
        return np.array(system.neutral(), dtype=np.float64)
    if callable(getattr(system, "configuration_rate", None)):
        name = type(system).__name__
        raise ValueError(f"{name} has v ≠ q̇ and no neutral(), and zeros may be no configuration of it; give q")
    return np.zeros(velocity_count(system, None))


def velocity_count(system: Any, q: Array | None) -> int:
    """The number nv: what the system says, or the first number of zeros that its problem takes as v.

    Args:
        q: (nq,) the configuration to ask at; where it is None, as many zeros as there are velocities.

    Raises:
        ValueError: no number up to 60 is taken.
    """
    if hasattr(system, "nv"):
        return int(system.nv)
    for count in range(1, _MAX_VELOCITIES + 1):
        still = np.zeros(count)
        try:
            if system.problem(still if q is None else q, still).nv == count:
                return count
        except (ValueError, IndexError, AttributeError):
            continue
    raise ValueError(f"{type(system).__name__} does not tell its size; give q, and nv where v ≠ q̇")


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
