"""``./run bench bounds``: how tight the outer bounds are, by their widths over those of the sampled sets.

For each system 4096 samples. Widths are per coordinate, and their geometric mean over the coordinates that the set
moves is given (its n-th power is the ratio of the boxes' volumes): of the bounds of v⁺ from kinetic energy alone,
of those that ``outcome_bounds`` gives, and of those of the contacts' velocities. Where a set is nearly a point, as
the Go2's, a ratio says little: the last column has the widest bound of a contact velocity over the speed of
approach.
"""

from __future__ import annotations

import numpy as np

from benchmarks.impacts import go2_landing
from hybrid_contact_ros.impacts.bounds import outcome_bounds
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.kernels.outer_bounds import energy_bounds
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact


def ratio(lower: np.ndarray, upper: np.ndarray, values: np.ndarray) -> float:
    """Geometric mean of the bounds' widths over those of the values (k, n), where these differ."""
    width = np.ptp(values, axis=0)
    moved = width > 1e-9 * (1.0 + np.abs(values).max(axis=0))
    return float(np.exp(np.mean(np.log((upper - lower)[moved] / width[moved])))) if moved.any() else float("nan")


def row(problem: ContactProblem) -> tuple[float, float, float, float]:
    found = post_impact_set(problem, impulse_scale(problem), 4096, 400, seed=1)
    outcomes = found.velocities[found.terminated]
    space, n = ContactSpace(problem, 2), problem.nv
    low, high = np.empty(n), np.empty(n)
    energy_bounds(space.L, space.Y, problem.velocity, np.empty((n + 1, n)), low, high)
    lower, upper = outcome_bounds(problem)
    jacobian = problem.jacobian()
    contact = outcome_bounds(problem, jacobian)
    approach = max(-(problem.normal_jacobian @ problem.velocity).min(), 1e-12)
    return (
        ratio(low, high, outcomes),
        ratio(lower, upper, outcomes),
        ratio(*contact, outcomes @ jacobian.T),
        float((contact[1] - contact[0]).max() / approach),
    )


def main() -> None:
    """Print the table."""
    systems = {
        "rocking block": rocking_block_impact().problem,
        "box and wall": box_and_wall_impact().problem,
        "compass gait": compass_gait_impact().problem,
        "RAMone": ramone_impact().problem,
        "disks": disk_stacking_impact().problem,
    }
    quadruped = go2_landing()
    if quadruped is not None:
        systems["Go2 landing"] = quadruped
    print(f"{'system':<16}{'energy':>10}{'bounds':>10}{'contacts':>10}{'widest / approach':>20}")
    for name, problem in systems.items():
        energy, both, contact, widest = row(problem)
        print(f"{name:<16}{energy:10.1f}{both:10.1f}{contact:10.1f}{widest:20.1f}")


if __name__ == "__main__":
    main()
