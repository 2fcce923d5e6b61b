"""Outcomes of random and degenerate impacts against their guaranteed bounds; every outcome outside is printed.

``./run bench bounds_campaign [SECONDS [SEED]]`` (default 60 s from seed 0). Each problem has a law, intervals
or numbers for e and μ, a polygon, two steps, densities from uniform to one contact at a time, and all solutions or
some; where the law is inelastic it is also solved in sequence and all at once. Its outcomes are compared with the fast
and the tight bounds of v⁺, of the contacts' velocities and of random rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks.impact_problems import KINDS, random_problem
from hybrid_contact_ros import outcome_bounds, post_impact_set, sequential_impact, simultaneous_impact
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.velocity_set import impulse_scale
from hybrid_contact_ros.mechanics.problem import ContactProblem

Density = Callable[[np.random.Generator, tuple[int, int, int]], np.ndarray]
LAWS = ("inelastic", "poisson", "stronge", "stronge")
ROOM = 1e-9  # relative


def _sparse(keep: float) -> Density:
    return lambda rng, shape: rng.random(shape) * (rng.random(shape) < keep)


def _one_contact(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    caps = np.zeros(shape)
    np.put_along_axis(caps, rng.integers(shape[2], size=shape[:2])[..., None], rng.random(shape[:2])[..., None], 2)
    return caps


def _runs(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    """The same contacts for eight increments."""
    chosen = np.repeat(rng.random((shape[0], -(-shape[1] // 8), shape[2])) < 0.4, 8, axis=1)
    return chosen[:, : shape[1]] * rng.random(shape)


DENSITIES: tuple[Density | None, ...] = (
    None, _sparse(0.15), _sparse(0.4), _one_contact, _runs, lambda rng, shape: rng.random(shape) ** 6
)  # fmt: skip


def draw(rng: np.random.Generator) -> ContactProblem:
    """One of the tests' kinds, or contacts that act nearly alike, or against each other; sometimes fast or slow."""
    kind = str(rng.choice([*KINDS, "coupled", "coupled", "jamming"]))
    count = int(rng.choice([1, 1, 2, 2, 2, 3, 3, 4]))
    if kind in KINDS:
        problem = random_problem(rng, kind, m=count)
    else:
        plain = random_problem(rng, "plain", m=max(count, 2))
        normals = plain.normal_jacobian.copy()
        if kind == "coupled":
            normals[1:] = normals[0] + 0.2 * normals[1:]
        else:
            normals[1] = -normals[0]
        v = plain.velocity - np.linalg.pinv(normals[:1]) @ (normals[:1] @ plain.velocity + 1.0)
        problem = plain.replace(velocity=v, normal_jacobian=normals)
    if rng.random() < 0.1:
        problem = problem.with_velocity(problem.velocity * 10.0 ** rng.uniform(-6.0, 3.0))
    return problem


def check(seed: int) -> tuple[int, int, int]:
    """Outcomes, comparisons and violations of one problem."""
    rng = np.random.default_rng(seed)
    problem = draw(rng)
    scale, law, k = impulse_scale(problem), str(rng.choice(LAWS)), int(rng.choice([2, 4, 4, 6, 8, 12]))
    if not scale > 0.0:
        return 0, 0, 0
    high = rng.choice([0.05, 0.3, 0.6, 1.0, rng.random()], size=problem.contacts)
    e = (high * rng.choice([0.0, 0.5, 1.0]), high) if law != "inelastic" else 0.0
    known = rng.random() < 0.33
    friction = (
        None if known else (problem.friction * rng.choice([0.0, 0.5, 0.7]), problem.friction * rng.choice([1, 1.3]))
    )
    few = problem.contacts * problem.tangents <= 2  # all solutions of each increment
    found = []
    for step in (10.0 ** rng.uniform(-1.3, 1.0), rng.choice([1.0, 10.0])):
        batch = post_impact_set(
            problem, step * scale, 20, 400, seed=seed, directions=k, law=law, friction=friction,
            restitution=e if law != "inelastic" else None, common_material=bool(rng.random() < 0.5),
            density=DENSITIES[rng.integers(len(DENSITIES))],
            solutions=str(rng.choice(["sampled", "all", "one"] if few else ["sampled", "one"])),
        )  # fmt: skip
        found.append(batch.velocities[batch.terminated])
    if known and law == "inelastic":
        order = rng.permutation(problem.contacts)
        for outcome in (sequential_impact(problem, order, k), simultaneous_impact(problem, k)):
            if outcome.status is Status.SOLVED:
                found.append(outcome.velocity[None])
    velocities = np.concatenate(found)
    if not len(velocities):
        return 0, 0, 0
    rows = np.r_[np.eye(problem.nv), problem.jacobian(), rng.normal(size=(3, problem.nv))]
    values, wrong, compared = velocities @ rows.T, 0, 0
    for name, options in (("fast", {"effort": "fast"}), ("polygon", {"directions": k}), ("any polygon", {})):
        lower, upper = outcome_bounds(problem, rows, law=law, restitution=e, friction=friction, **options)
        room = ROOM * max(np.abs(values).max(), np.abs(problem.velocity).max())
        outside = max((lower - values).max(), (values - upper).max())
        compared += values.size
        if not outside <= room:
            wrong += 1
            print(f"seed {seed}, {law}, {name}: outside by {outside:g}", flush=True)
    return len(velocities), compared, wrong


def main() -> None:
    """Print the counts."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    end, problems, total = time.monotonic() + seconds, 0, np.zeros(3, dtype=int)
    while time.monotonic() < end:
        total += check(seed)
        problems, seed = problems + 1, seed + 1
    print(f"{problems} problems, {total[0]} outcomes, {total[1]} comparisons, {total[2]} bounds violated")


if __name__ == "__main__":
    main()
