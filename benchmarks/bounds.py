"""``./run bench bounds``: how tight the outer bounds are, by their widths over those of the sampled sets.

For each system 1024 samples of each of four steps, of 0.1 to 5 times the impulse that stops the fastest contact, since
the bounds hold for all. Widths are per coordinate, and their geometric mean over the coordinates that the set moves is
given (its n-th power is the ratio of the boxes' volumes): of the bounds of v⁺ from kinetic energy alone, of those of
``effort="fast"`` (once the only ones) and "tight", and of these two for the velocities of the contacts. Where
a set is nearly a point, as the Go2's, a ratio says little: the next column has the widest tight bound of a contact
velocity over the speed of approach. Times are of v⁺, the best of three calls.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.impacts import go2_landing
from hybrid_contact_ros.impacts.bounds import outcome_bounds
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.kernels.impacts.fast_bounds import energy_bounds
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

STEPS = (0.1, 0.5, 1.0, 5.0)
MATERIALS: tuple[tuple[Any, float, str], ...] = (
    (None, 0.2, "inelastic"),
    (0.3, 0.0, "poisson"),
    (0.3, 0.0, "stronge"),
    ((0.2, 0.4), 0.2, "poisson"),
    ((0.2, 0.4), 0.2, "stronge"),
)


def ratio(bounds: tuple[np.ndarray, np.ndarray], values: np.ndarray) -> float:
    """Geometric mean of the bounds' widths over those of the values (k, n), where these differ."""
    width = np.ptp(values, axis=0)
    moved = width > 1e-9 * (1.0 + np.abs(values).max(axis=0))
    if not moved.any():
        return float("nan")
    return float(np.exp(np.mean(np.log((bounds[1] - bounds[0])[moved] / width[moved]))))


def milliseconds(problem: ContactProblem, effort: str, directions: int | None) -> float:
    """Time of bounds of v⁺."""
    best = np.inf
    for _ in range(3):
        begin = time.perf_counter()
        outcome_bounds(problem, effort=effort, directions=directions)
        best = min(best, time.perf_counter() - begin)
    return 1e3 * float(best)


def _few(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.random(shape) * (rng.random(shape) < 0.4)


def _one(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.random(shape) * (np.arange(shape[2]) == rng.integers(shape[2], size=(*shape[:2], 1)))


def outcomes(
    problem: ContactProblem,
    steps: tuple[float, ...] = STEPS,
    samples: int = 1024,
    orders: bool = False,
    **material: Any,
) -> np.ndarray:
    """Sampled velocities after the impact; those of ``orders``: of few contacts, or one, at a time."""
    scale, found = impulse_scale(problem), []
    for step in steps:
        for density in (_few, _one) if orders else (None,):
            batch = post_impact_set(problem, step * scale, samples, 400, seed=1, density=density, **material)
            found.append(batch.velocities[batch.terminated])
    return np.concatenate(found)


def row(problem: ContactProblem, values: np.ndarray, more: np.ndarray, directions: int | None) -> list[float]:
    """All columns of one system."""
    space, n = ContactSpace(problem, 2), problem.nv
    energy = np.empty(n), np.empty(n)
    energy_bounds(space.L, space.Y, problem.velocity, np.empty((n + 1, n)), *energy)
    jacobian = problem.jacobian()
    at_contacts = values @ jacobian.T
    approach = max(-(problem.normal_jacobian @ problem.velocity).min(), 1e-12)
    contact = outcome_bounds(problem, jacobian, directions=directions)
    tight = outcome_bounds(problem, directions=directions)
    return [
        ratio(energy, values),
        ratio(outcome_bounds(problem, effort="fast"), values),
        ratio(tight, values),
        ratio(tight, np.concatenate([values, more])),
        ratio(outcome_bounds(problem, jacobian, effort="fast"), at_contacts),
        ratio(contact, at_contacts),
        float((contact[1] - contact[0]).max() / approach),
        milliseconds(problem, "fast", directions),
        milliseconds(problem, "tight", directions),
    ]


def material_row(problem: ContactProblem, directions: int | None, e: Any, wide: float, law: str) -> list[float]:
    """Columns of the second table: fast, tight, the same over all densities, tight at the contacts, ms."""
    mu = problem.friction
    material = {"law": law, "restitution": e, "friction": ((1.0 - wide) * mu, (1.0 + wide) * mu)}
    values = outcomes(problem, (0.1, 1.0), 512, **material)
    more = np.concatenate([values, outcomes(problem, (0.1, 1.0), 512, orders=True, **material)])
    begin = time.perf_counter()
    tight = outcome_bounds(problem, directions=directions, **material)
    spent = time.perf_counter() - begin
    jacobian = problem.jacobian()
    return [
        ratio(outcome_bounds(problem, effort="fast", **material), values),
        ratio(tight, values),
        ratio(tight, more),
        ratio(outcome_bounds(problem, jacobian, directions=directions, **material), values @ jacobian.T),
        1e3 * spent,
    ]


def main() -> None:
    """Print the tables."""
    systems: dict[str, tuple[ContactProblem, int | None]] = {
        "rocking block": (rocking_block_impact().problem, None),
        "box and wall": (box_and_wall_impact().problem, None),
        "compass gait": (compass_gait_impact().problem, None),
        "RAMone": (ramone_impact().problem, None),
        "disks": (disk_stacking_impact().problem, None),
    }
    quadruped = go2_landing()
    if quadruped is not None:
        systems["Go2, directions=4"] = (quadruped, 4)
        systems["Go2, any polygon"] = (quadruped, None)
    names = ("energy", "fast", "tight", "orders", "contacts: fast", "tight", "widest", "fast, ms", "tight, ms")
    print(f"{'system':<18}" + "".join(f"{name:>15}" for name in names))
    known: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for name, (problem, directions) in systems.items():
        if id(problem) not in known:
            known[id(problem)] = outcomes(problem), outcomes(problem, orders=True)
        columns = row(problem, *known[id(problem)], directions)
        print(f"{name:<18}" + "".join(f"{x:15.4g}" for x in columns), flush=True)
    names = ("fast", "tight", "orders", "contacts: tight", "tight, ms")
    print(f"\n{'system, e, width of μ, law':<44}" + "".join(f"{name:>16}" for name in names))
    for name, (problem, directions) in systems.items():
        if name in ("disks", "Go2, any polygon"):
            continue
        for e, wide, law in MATERIALS:
            columns = material_row(problem, directions, e, wide, law)
            title = f"{name}, {e}, ±{100 * wide:.0f} %, {law}"
            print(f"{title:<44}" + "".join(f"{x:16.4g}" for x in columns), flush=True)


if __name__ == "__main__":
    main()
