"""Is ``VelocitySet.coverage`` a valid bound, and how far below the truth is it?

Run from the repository root: ``./run bench set_coverage [RUNS]``. Sets of the sizes below, each from a seed of
its own, are compared with 5000 draws of another seed: "true" is the mean part of these within ε of a set, "bound" the
mean ``coverage``, "held" how often coverage was no more than the truth, which its confidence promises in 95 % of cases.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.impacts import cube_landing, go2_landing
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

SIZES = 10, 40, 160
FRESH = 5000
UNCERTAIN = {"law": "poisson", "restitution": (0.1, 0.5), "friction": (0.4, 0.8)}


def cases() -> dict[str, tuple[ContactProblem, dict]]:
    """Problems, and keywords of ``post_impact_set``."""
    found: dict[str, tuple[ContactProblem, dict]] = {
        "rocking block": (rocking_block_impact().problem, {}),
        "compass gait": (compass_gait_impact().problem, {}),
        "RAMone": (ramone_impact().problem, {}),
        "disks": (disk_stacking_impact().problem, {}),
        "cube, Poisson, intervals": (cube_landing(), {**UNCERTAIN, "friction": (0.1, 0.3)}),
    }
    quadruped = go2_landing()
    if quadruped is not None:
        found["Go2, Poisson, intervals"] = quadruped, UNCERTAIN
        found["Go2, intervals of each foot"] = quadruped, {**UNCERTAIN, "common_material": False}
    return found


def calibrate(problem: ContactProblem, keywords: dict, size: int, runs: int) -> tuple[float, float, float]:
    """Mean truth, mean bound, part of the runs in which the bound held."""
    step = 0.5 * impulse_scale(problem)
    factor = np.linalg.cholesky(problem.mass)
    fresh = post_impact_set(problem, step, FRESH, 200, seed=10**6, **keywords)
    draws = fresh.velocities[fresh.terminated] @ factor
    true, bound = np.empty(runs), np.empty(runs)
    for run in range(runs):
        found = post_impact_set(problem, step, size, 200, seed=run, **keywords)
        tree = cKDTree(found.velocities[found.terminated] @ factor)
        near = tree.query(draws, distance_upper_bound=found.coverage_radius)[0]
        true[run], bound[run] = np.isfinite(near).sum() / FRESH, found.coverage
    return float(true.mean()), float(bound.mean()), float((bound <= true).mean())


def main(runs: int = 100) -> None:
    print(f"{'system':28} {'samples':>7} {'true':>6} {'bound':>6} {'held':>6}")
    for name, (problem, keywords) in cases().items():
        for size in SIZES:
            true, bound, held = calibrate(problem, keywords, size, runs)
            print(f"{name:28} {size:7} {true:6.2f} {bound:6.2f} {held:6.0%}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
