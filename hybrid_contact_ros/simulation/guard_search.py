"""Which edges of a hybrid system can be taken at all: those whose guard is not empty (Johnson (73))."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.hybrid_system import Edge, HybridSystem
from hybrid_contact_ros.simulation.mode import HybridMode

Array = NDArray[np.float64]
_STILL = 1e-12  # relative: smaller singular values count as zero


def guarded_edges(
    system: HybridSystem, draws: int = 32, speed: float = 1.0, seed: int = 0
) -> dict[Edge, tuple[Array, Array]]:
    """Γ̃ of Johnson (73): the edges (I, J) of Γ with a state in the guard G_{I,J}, and such a state (q, v) of each.

    For each mode I and each larger set of contacts that can touch together, the configuration found for that set is
    taken, with v = 0 and random v of D_I, I's closed rows at rest. A state that was found proves that the guard is not
    empty; that none was found does not prove that it is. Forces that depend on time are taken at 0.

    Args:
        system: of :func:`~.hybrid_system.hybrid_system`. draws: random velocities a mode and configuration.
        speed: standard deviation of the velocities, m/s or rad/s; three decades of it are drawn from. seed: of them.

    Raises:
        ValueError: draws below 0, or a speed that is not positive.

    Example:
        Gravity takes a ball from a ceiling, which it can only reach by an impact: both guards hold states.

        >>> from hybrid_contact_ros.simulation.hybrid_system import hybrid_system
        >>> from hybrid_contact_ros.systems.ceiling import ceiling
        >>> sorted(e.after.label(("ceiling",)) for e in guarded_edges(hybrid_system(ceiling(), [0.0])))
        ['{ceiling}', '{}']
    """
    if draws < 0 or not 0.0 < speed < np.inf:
        raise ValueError(f"draws ({draws}) must be 0 or more, and speed ({speed}) a positive, finite number")
    rng = np.random.default_rng(seed)
    edges, found = set(system.edges), {}
    for mode in system.modes:
        places = {domain.mode.closed: domain.witness for domain in system.domains.values()}
        for closed, q in places.items():
            if not mode.closed <= closed:
                continue
            for v in _velocities(system, mode, q, draws, speed, rng):
                event, _ = system._next(mode, q, v, 0.0)
                if event is None:
                    continue
                edge = Edge(mode, event.after)
                if edge in edges and edge not in found:
                    found[edge] = (q, v)
    return found


def _velocities(
    system: HybridSystem, mode: HybridMode, q: Array, draws: int, speed: float, rng: np.random.Generator
) -> list[Array]:
    """0 and random velocities for which the closed rows of the mode are at rest at q."""
    nv = system.system.nv
    problem = system.system.problem(q, np.zeros(nv), 0.0, mode.closed)
    rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, nv)[mode.closed_rows(problem)]
    free = np.eye(nv)
    if rows.size:
        _, values, right = np.linalg.svd(rows)
        rank = int((values > _STILL * max(float(values[0]), 1.0)).sum())
        free = right[rank:].T @ right[rank:]
    sizes = speed * 10.0 ** rng.uniform(-1.5, 1.5, draws)
    return [np.zeros(nv), *(free @ (size * rng.normal(size=nv)) for size in sizes)]
