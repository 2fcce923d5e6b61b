"""Many random and degenerate force-acceleration problems (Johnson (38), Coulomb's cone) through the mode solver.

``./run bench modes_campaign [N]`` (default 1000 of each kind). The contacts are at rest, so that a solution is
to be expected (sliding contacts may jam, and then there is none). The table counts the problems that are not solved to
1e-8, with the steps that a node allows and with those of ``force_acceleration_mode``, which is patient.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks.modes import legged, sole
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.workspace import OFFLINE_STEPS, REAL_TIME_STEPS, ModeWorkspace

GRAVITY = 9.81


def standing(rng: np.random.Generator) -> ContactProblem:
    """A body on 3 to 8 points of one plane, pushed with half to all of its friction, the push and the weight balanced
    by forces in the cones: it must stand still."""
    count = int(rng.integers(3, 9))
    points = np.c_[rng.uniform(-0.5, 0.5, (count, 2)), np.full(count, -0.3)]
    centre = rng.dirichlet(np.ones(count)) @ points  # of pressure, inside the polygon
    mass, friction, angle = rng.uniform(0.5, 50.0), rng.uniform(0.2, 1.2), rng.uniform(0.0, 2.0 * np.pi)
    push = rng.uniform(0.5, 1.0) * friction * mass * GRAVITY
    support = np.array([-push * np.cos(angle), -push * np.sin(angle), mass * GRAVITY])
    rows = np.stack([_rows(point) for point in points])
    inertia = np.diag(np.r_[np.full(3, mass), 0.1 * mass * rng.uniform(0.1, 1.0, 3)])
    bias = np.r_[support, np.cross(centre, support)]
    return ContactProblem(inertia, np.zeros(6), rows[:, 0], rows[:, 1:], np.full(count, friction), bias_force=bias)


def scattered(tangents: int, kind: str) -> Callable[[np.random.Generator], ContactProblem]:
    """2 to 8 contacts with random rows: independent ones, fewer coordinates than rows, or points of one body."""

    def make(rng: np.random.Generator) -> ContactProblem:
        count = int(rng.integers(2, 9))
        if kind == "body":
            nv, mass = 6, np.diag([5.0, 5.0, 5.0, 0.2, 0.3, 0.4])
            rows = np.stack([_rows(point) for point in rng.normal(size=(count, 3))])[:, : 1 + tangents]
        else:
            nv = 6 + 3 * count if kind == "independent" else int(rng.integers(3, 3 * count + 6))
            root = rng.normal(size=(nv, nv))
            mass = root @ root.T + 0.1 * np.eye(nv)
            rows = rng.normal(size=(count, 1 + tangents, nv))
        bias = rng.normal(size=nv) * 10.0 ** rng.uniform(-1.0, 2.0)
        friction = rng.choice([0.0, 0.2, 0.6, 1.0], size=count)
        return ContactProblem(mass, np.zeros(nv), rows[:, 0], rows[:, 1:], friction, bias_force=bias)

    return make


def repeated(rng: np.random.Generator) -> ContactProblem:
    """Up to 12 frictionless contacts that are sums of few others."""
    nv, count = int(rng.integers(1, 7)), int(rng.integers(1, 13))
    few = rng.integers(-2, 3, size=(int(rng.integers(1, nv + 1)), nv)).astype(float)
    normals = rng.integers(-1, 3, size=(count, len(few))).astype(float) @ few
    root = rng.normal(size=(nv, nv))
    return ContactProblem(
        root @ root.T + 0.1 * np.eye(nv),
        np.zeros(nv),
        normals,
        rng.normal(size=(count, 2, nv)),
        np.zeros(count),
        bias_force=rng.normal(size=nv),
    )


def _rows(point: np.ndarray) -> np.ndarray:
    """Rows (3, 6), normal along z first, of a point of a free body."""
    x, y, z = point
    lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    return np.hstack((np.eye(3), lever))[[2, 0, 1]]


def main() -> None:
    """Print a row for each kind of problem."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    kinds: dict[str, Callable[[np.random.Generator], ContactProblem]] = {"standing body": standing}
    for d, where in ((1, "plane"), (2, "space")):
        for kind in ("independent", "coupled", "body"):
            kinds[f"{kind}, {where}"] = scattered(d, kind)
    kinds["repeated, frictionless"] = repeated
    for count in (4, 8, 12):
        kinds[f"legs, {count}"] = lambda rng, m=count: legged(rng, m)
        kinds[f"sole, {count}"] = lambda rng, m=count: sole(rng, m)
    print(f"{number} problems of each kind; not solved")
    print(f"{'kind':<24}{'in a node':>10}{'patient':>9}{'worst residual':>16}{'s':>6}")
    for name, make in kinds.items():
        start, failed, worst = time.perf_counter(), [0, 0], 0.0
        for seed in range(number):
            problem = make(np.random.default_rng(seed))
            touching = np.ones(problem.contacts, dtype=np.uint8)
            residual = 0.0
            for i, steps in enumerate((REAL_TIME_STEPS, OFFLINE_STEPS)):
                work = ModeWorkspace(problem.nv, problem.contacts, problem.tangents, steps)
                code, residual, _ = work.solve(problem, touching, 1e-6)
                failed[i] += code != Status.SOLVED
                if code == Status.SOLVED:
                    break
            worst = max(worst, residual)
        print(f"{name:<24}{failed[0]:>10}{failed[1]:>9}{worst:>16.1e}{time.perf_counter() - start:>6.1f}", flush=True)


if __name__ == "__main__":
    main()
