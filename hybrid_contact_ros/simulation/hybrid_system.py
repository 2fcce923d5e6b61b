"""The self-manipulation hybrid system (J, D, F, G, R) of a mechanical system, to list and to look at (J §3.1–3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import Event
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.mode_dynamics import Flow
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.simulation.transition import Transitions
from hybrid_contact_ros.simulation.transition_result import Settled
from hybrid_contact_ros.systems.robot import as_system

if TYPE_CHECKING:
    from rich.table import Table

Array = NDArray[np.float64]
_MOST_VELOCITIES = 60
LARGEST = 10
"""Most contacts whose modes are listed: up to 3^10 with friction."""


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """D_I: the mode's contacts touch and do not move in the closed rows, and nothing penetrates (J 74).

    ``witness`` is a configuration (nq,) with these contacts closed.
    """

    system: AdaptedSystem
    mode: Mode
    witness: Array

    def contains(self, q: ArrayLike, v: ArrayLike, tolerance: float = 1e-8) -> bool:
        """Whether a state is in the domain, to a tolerance in m and m/s."""
        problem = self.system.problem(q, v, 0.0, self.mode.closed)
        rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
        closed = sorted(self.mode.closed)
        return bool(
            (problem.gap >= -tolerance).all()
            and (problem.gap[closed] <= tolerance).all()
            and (np.abs(rows[self.mode.held(problem)] @ problem.velocity) <= tolerance).all()
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


@dataclass(frozen=True, slots=True)
class Edge:
    """(I, J) ∈ Γ, or (I, I): a contact hits and leaves again by restitution, which J, with e = 0, does not have."""

    before: Mode
    after: Mode

    def by_impact(self) -> bool:
        """Whether it can be a touchdown: some contact closes, or bounces. Otherwise it is a liftoff, a slip or a stick,
        or an impact of bouncing contacts that opens others."""
        return self.before == self.after or not self.after.closed <= self.before.closed


class HybridSystem:
    """H = (J, Γ, D, F, G, R) of Definition 5.

    Attributes:
        modes: J, by number of contacts. edges: Γ (J 72): pairs whose union of contacts is a mode, and (I, I) where some
            contact with restitution can hit: of such a contact every impact faster than ``velocity_tolerance`` is a
            bounce, which leaves it open.
        domains: D_I by mode. options: law and tolerances of the guards.
    """

    def __init__(self, system: AdaptedSystem, domains: Iterable[Domain], options: Options) -> None:
        self.system, self.options = system, options
        self.domains = {domain.mode: domain for domain in domains}
        self.modes = tuple(self.domains)
        sets = {mode.closed for mode in self.modes}
        self.edges = tuple(
            Edge(i, j)
            for i in self.modes
            for j in self.modes
            if (i.closed | j.closed in sets if i != j else self._bounces(i, sets))
        )
        self._transitions = Transitions(system, options)

    def _bounces(self, mode: Mode, sets: set[frozenset[int]]) -> bool:
        witness = self.domains[mode].witness
        elastic = np.flatnonzero(self.system.problem(witness, np.zeros(self.system.nv)).restitution > 0.0)
        return any(i not in mode.closed and mode.closed | {i} in sets for i in elastic.tolist())

    def vector_field(self, mode: Mode, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> Array:
        """F_I (nq + nv,): q̇ and v̇ (J 75).

        Raises:
            ValueError: the mode has no dynamics here (J Assumption A5).
        """
        q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        guards = self._transitions.guards
        kinetic = guards.kinetic(guards.regular(time, q_, v_))
        now = Flow(self.system, mode, kinetic, self.options.velocity_tolerance).dynamics(time, q_, v_)
        if not now.solved:
            raise ValueError(f"mode {mode.label(self.system.contact_names)} has no dynamics at q = {q_}")
        return np.concatenate((self.system.configuration_rate(q_, v_), now.acceleration))

    def next_mode(self, mode: Mode, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> Mode | None:
        """CP_G (J 82): J where the state is in the guard G_{I,J}, I where it is in none, None without a solution."""
        event, settled = self._next(mode, q, v, time)
        if event is not None:
            return event.after
        return None if settled.status is not None else mode

    def _next(self, mode: Mode, q: ArrayLike, v: ArrayLike, time: float) -> tuple[Event | None, Settled]:
        q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        settled = self._transitions.settle(time, q_, v_, mode, {})
        return (settled.events[0] if settled.events else None), settled

    def in_guard(self, edge: Edge, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> bool:
        """Whether a state of D_I is in G_{I,J} (J 76–77). Guards are disjoint (J Theorem 5): at most one J fits.

        That of (I, I) holds the states in which a contact bounces and the mode stays.
        """
        if not self.domains[edge.before].contains(q, v):
            return False
        event, _ = self._next(edge.before, q, v, time)
        return event is not None and event.after == edge.after

    def reset(self, edge: Edge, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> tuple[Array, Array]:
        """R_{I,J}: (q, v⁺) by the plastic impact into J (J 80); the identity where J closes nothing new.

        In the guard of an edge that a bounce takes, (q, v⁺) with the restitution.

        Raises:
            ValueError: the impact has no solution (J Assumption A5), or nothing bounces in this state of (I, I).
        """
        q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        event, _ = self._next(edge.before, q_, v_, time)
        if event is not None and event.bounced and event.after == edge.after:
            return q_, event.velocity_after
        if edge.before == edge.after:
            raise ValueError(f"nothing bounces in {edge.before.label(self.system.contact_names)} at v = {v_}")
        problem = self.system.problem(q_, v_, time, edge.before.closed)
        outcome = plastic_impact(problem, edge.after.closed, edge.after.sliding)
        if outcome.status is not Status.SOLVED:
            raise ValueError(f"no impact into {edge.after.label(self.system.contact_names)}: {outcome.status.name}")
        return q_, outcome.velocity

    def table(self) -> Table:
        """Modes, domains and edges as a table for a terminal."""
        from rich.table import Table

        found = Table(title=f"{self.system.name}: {len(self.modes)} modes, {len(self.edges)} edges")
        for column in ("mode", "domain", "by impact into", "otherwise into"):
            found.add_column(column)
        for row in self._rows():
            found.add_row(*row)
        return found

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        names = self.system.contact_names
        for mode in self.modes:
            out = [edge for edge in self.edges if edge.before == mode]
            impacts = " ".join(e.after.label(names) for e in out if e.by_impact())
            others = " ".join(e.after.label(names) for e in out if not e.by_impact())
            yield mode.label(names), str(self.domains[mode]), impacts, others

    def __str__(self) -> str:
        lines = [f"{self.system.name}: {len(self.modes)} modes, {len(self.edges)} edges"]
        lines += [f"  {mode:16s} {domain}" for mode, domain, _, _ in self._rows()]
        return "\n".join(lines)


def hybrid_system(
    system: Any,
    q: ArrayLike | None = None,
    *,
    searches: int = 16,
    spread: float = 1.0,
    seed: int = 0,
    **options: Any,
) -> HybridSystem:
    """The hybrid system of a mechanical system.

    A set of contacts is a mode if a configuration is found where they are closed and no other penetrates (J 71, 74),
    by least squares from ``q`` and from ``searches`` − 1 normal draws around it. That a set is missing is therefore not
    proven. With friction each closed contact may stick or slide.

    Args:
        system: as for :func:`~.simulate.simulate`.
        q: (nq,) a configuration to search from, by default zeros, or the neutral one of a RigidBodyModel. spread:
            standard deviation of the draws, m or rad. seed: of the draws.
        options: of :class:`~.options.Options`, for the guards: law, duration, tolerances.

    Raises:
        ValueError: more than 10 contacts, options that make no sense, or a system that does not tell its size.
    """
    system = as_system(system)
    start = _start(system) if q is None else np.array(q, dtype=np.float64)
    adapted = AdaptedSystem(system, start, np.zeros(getattr(system, "nv", start.size)))
    return HybridSystem(adapted, list_domains(adapted, start, searches, spread, seed), Options(**options))


def list_modes(system: Any, q: ArrayLike | None = None, **search: Any) -> tuple[Mode, ...]:
    """The modes of :func:`hybrid_system`."""
    return hybrid_system(system, q, **search).modes


def _start(system: Any) -> Array:
    """A robot's neutral configuration, or zeros: as many as the system says, or the first number its problem takes."""
    if hasattr(system, "neutral"):
        return np.array(system.neutral(), dtype=np.float64)
    if hasattr(system, "nv"):
        return np.zeros(system.nv)
    for count in range(1, _MOST_VELOCITIES + 1):
        try:
            if system.problem(np.zeros(count), np.zeros(count)).nv == count:
                return np.zeros(count)
        except (ValueError, IndexError, AttributeError):
            continue
    raise ValueError(f"{type(system).__name__} does not tell its size; give q")


def list_domains(system: AdaptedSystem, q: Array, searches: int, spread: float, seed: int) -> list[Domain]:
    """Domains of all modes that are found, by number of contacts."""
    if system.contacts > LARGEST:
        raise ValueError(f"{system.contacts} contacts have too many modes to list; up to {LARGEST} can be")
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
            found.append(Domain(system, Mode(subset, frozenset(slides)), witness))
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
