"""The hybrid system of a mechanical system, to list and to look at (Johnson §3.1-3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import ExecutionEvent
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_domains import Domain, default_configuration, list_domains, velocity_count
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.simulation.transition import Transitions
from hybrid_contact_ros.simulation.transition_result import TransitionResult
from hybrid_contact_ros.systems.robot import as_system

if TYPE_CHECKING:
    from rich.table import Table

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Edge:
    """A possible transition between two modes, (I, J) ∈ Γ.

    It is (I, I) where a contact hits and leaves again by restitution, which Johnson, with e = 0, does not have.
    """

    before: HybridMode
    after: HybridMode

    def by_impact(self) -> bool:
        """Whether it can be a touchdown: some contact closes, or bounces. Otherwise it is a liftoff, a slip or a stick,
        or an impact of bouncing contacts that opens others."""
        return self.before == self.after or not self.after.closed <= self.before.closed


class HybridSystem:
    """Johnson's Definition 5: modes, edges Γ, domains D, vector fields F, guards G and resets R.

    Attributes:
        modes: by number of contacts. edges: Γ (Johnson (72)): pairs of modes whose union of contacts is a mode, and
            (I, I) where some contact with restitution can hit: of such a contact every impact faster than
            ``velocity_tolerance`` is a bounce, which leaves it open.
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

    def _bounces(self, mode: HybridMode, sets: set[frozenset[int]]) -> bool:
        witness = self.domains[mode].witness
        elastic = np.flatnonzero(self.system.problem(witness, np.zeros(self.system.nv)).restitution > 0.0)
        return any(i not in mode.closed and mode.closed | {i} in sets for i in elastic.tolist())

    def vector_field(self, mode: HybridMode, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> Array:
        """F_I (nq + nv,): q̇ and v̇ (Johnson (75)).

        Raises:
            ValueError: the mode has no dynamics here (Johnson's Assumption A5).
        """
        q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        guards = self._transitions.guards
        state = HybridState(time, q_, v_, mode, {})
        now = guards.dynamics(state, guards.kinetic(guards.regular(state))).motion(time, q_, v_)
        if not now.solved:
            raise ValueError(f"mode {mode.label(self.system.contact_names)} has no dynamics at q = {q_}")
        return np.concatenate((self.system.configuration_rate(q_, v_), now.acceleration))

    def next_mode(self, mode: HybridMode, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> HybridMode | None:
        """The mode that follows at a state (Johnson (82)): ``mode`` in no guard, None where nothing can follow."""
        event, settled = self._next(mode, q, v, time)
        if event is not None:
            return event.after
        return None if settled.status is not None else mode

    def _next(
        self, mode: HybridMode, q: ArrayLike, v: ArrayLike, time: float
    ) -> tuple[ExecutionEvent | None, TransitionResult]:
        q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        settled = self._transitions.settle(HybridState(time, q_, v_, mode, {}))
        return (settled.events[0] if settled.events else None), settled

    def in_guard(self, edge: Edge, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> bool:
        """Whether a state of D_I is in G_{I,J} (Johnson (76)-(77)). Guards of one mode are disjoint (Theorem 5).

        The guard of (I, I) holds the states in which a contact bounces and the mode stays.
        """
        if not self.domains[edge.before].contains(q, v):
            return False
        event, _ = self._next(edge.before, q, v, time)
        return event is not None and event.after == edge.after

    def reset(self, edge: Edge, q: ArrayLike, v: ArrayLike, time: float = 0.0) -> tuple[Array, Array]:
        """R_{I,J}: (q, v⁺) by the plastic impact into the mode after (Johnson (80)).

        It is the identity where that mode closes nothing new.

        In the guard of an edge that a bounce takes, (q, v⁺) with the restitution.

        Raises:
            ValueError: the impact has no solution (Johnson's A5), or nothing bounces in this state of (I, I).
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
    """List the modes of a mechanical system, with their domains and the edges between them.

    A set of contacts is a mode if a configuration is found where they are closed and no other penetrates (Johnson (71),
    (74)), by least squares from ``q`` and from ``searches`` − 1 normal draws around it. That a set is missing is
    therefore not proven. With friction each closed contact may stick or slide.

    >>> from hybrid_contact_ros.systems.ceiling import ceiling
    >>> print(hybrid_system(ceiling()))
    ceiling: 2 modes, 2 edges
      {}               φ_ceiling ≥ 0
      {ceiling}        φ_ceiling = 0, φ̇_ceiling = 0

    Args:
        system: as for :func:`~.simulate.simulate`.
        q: (nq,) a configuration to search from, by default the system's ``neutral()``, or zeros where it has none and
            v = q̇. spread: standard deviation of the draws, m or rad. seed: of the draws.
        options: of :class:`~.options.Options`, for the guards: law, duration, tolerances.

    Raises:
        ValueError: more than 10 contacts, options that make no sense, or a system that does not tell its size, or has
            v ≠ q̇ and no ``neutral()``, where no ``q`` is given.
    """
    system = as_system(system)
    start = default_configuration(system) if q is None else np.array(q, dtype=np.float64)
    curved = callable(getattr(system, "configuration_rate", None))
    adapted = AdaptedSystem(system, start, np.zeros(velocity_count(system, start) if curved else start.size))
    return HybridSystem(adapted, list_domains(adapted, start, searches, spread, seed), Options(**options))


def list_modes(system: Any, q: ArrayLike | None = None, **search: Any) -> tuple[HybridMode, ...]:
    """The modes of :func:`hybrid_system`."""
    return hybrid_system(system, q, **search).modes
