"""What it costs to find all solutions: the papers' systems, sampled with one solution an increment and with all.

Run from the repository root: ``./run bench impact_solutions``. LCPs a sample are comparable with Halm, Table 3
(2.67, 2.27, 1.97, 3.20, 9.04); its times are of another machine.
"""

from __future__ import annotations

import time

from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.example import ImpactExample
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact


def best(call, repeats: int = 5) -> float:
    """Least time of a call, s, after one that may compile."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def examples() -> dict[str, ImpactExample]:
    return {
        "rocking block": rocking_block_impact(),
        "compass gait": compass_gait_impact(),
        "box and wall": box_and_wall_impact(),
        "RAMone": ramone_impact(),
        "disks": disk_stacking_impact(),
        "disks as published": disk_stacking_impact(published=True),
    }


def main() -> None:
    print("all: all solutions of Halm (31), µs (how many); then µs a sample, LCPs a sample, part of the LCPs searched")
    print(f"{'system':<20}{'all':>12}{'one':>8}{'sampled':>9}{'all':>9}{'LCPs':>7}{'searched':>10}{'several':>9}")
    for name, example in examples().items():
        problem, many = example.problem, 500 if example.problem.contacts < 4 else 100
        found = simultaneous_impact(problem, all_solutions=True)
        every = best(lambda problem=problem: simultaneous_impact(problem, all_solutions=True))
        cells = [f"{every * 1e6:.0f} ({len(found)})"]
        for solutions in ("one", "sampled", "all"):

            def run(example=example, many=many, solutions=solutions):
                return post_impact_set(example.problem, example.step, many, example.max_steps, solutions=solutions)

            cells.append(f"{best(run, 12) / many * 1e6:.1f}")
        result = post_impact_set(problem, example.step, many, example.max_steps)
        cells += [f"{result.steps.mean():.2f}", f"{result.searched:.3f}", f"{result.several:.3f}"]
        print("{:<20}{:>12}{:>8}{:>9}{:>9}{:>7}{:>10}{:>9}".format(name, *cells))


if __name__ == "__main__":
    main()
