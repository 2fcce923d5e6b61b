"""Many random and degenerate impact problems through the solvers; every failure is printed.

``./run bench impacts_campaign [N]`` (default 2000; 100000 takes some minutes). For each problem: one increment
LCP (Halm (72–75)) with random caps, and the simultaneous impact (Halm (31–35)). A failure is a status other than
SOLVED, a residual ≥ 1e-9 found by the kernel that knows nothing of the solver, or kinetic energy that rises by more
than 1e-9 of itself.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.impact_problems import KINDS, random_problem
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.kernels.impacts.increment import TOLERANCE, increment
from hybrid_contact_ros.kernels.impacts.residual import increment_residual

DIRECTIONS = (2, 4, 4, 6, 8, 16)
CAPS = (1e-6, 1e-2, 0.3, 1.0, 1.0, 10.0, 1000.0)  # largest cap, in velocity scales


def run(number: int, seed: int = 0) -> dict[str, dict[str, float]]:
    """Per kind of problem: problems, failures, worst residuals; prints each failure."""
    table = {kind: {"problems": 0, "failures": 0, "increment": 0.0, "simultaneous": 0.0} for kind in KINDS}
    for i in range(number):
        rng = np.random.default_rng((seed, i))
        kind = KINDS[i % len(KINDS)]
        row = table[kind]
        row["problems"] += 1
        problem = random_problem(rng, kind)
        directions = int(rng.choice(DIRECTIONS))
        m, d = problem.contacts, problem.tangents
        space = ContactSpace(problem, directions)
        cap = rng.choice(CAPS) * rng.uniform(0, 1, m) * (rng.random(m) < 0.9)
        z, after = np.empty(space.w.size), np.empty(space.w.size)
        code, _, _ = increment(space.g, space.H, space.w, cap, space.c, space.tableau, space.lines, z, after)
        impulse = space.impulses(z)
        caps, out = cap * space.speed / space.scale, np.empty(m * (1 + d))
        residual = increment_residual(directions, space.G, space.u, problem.friction, caps, space.speed, impulse, out)
        v = problem.velocity + space.R.T @ impulse.ravel()
        outcome = simultaneous_impact(problem, directions)
        for law, status, left, velocity in (
            ("increment", Status(code), residual, v),
            ("simultaneous", outcome.status, outcome.residual, outcome.velocity),
        ):
            row[law] = max(row[law], left)
            before = problem.velocity @ problem.mass @ problem.velocity
            gained = velocity @ problem.mass @ velocity - before
            if status != Status.SOLVED or not left < TOLERANCE or gained > 1e-9 * before:
                row["failures"] += 1
                print(f"{law} {i} {kind!r} m={m} d={d} k={directions}: {status.name}, {left:.1e}, energy +{gained:.1e}")
    return table


def main(number: int | None = None) -> int:
    """Run and print the table; the exit code says whether there were failures."""
    if number is None:
        number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    begin = time.perf_counter()
    table = run(number)
    print(f"{'kind':<26}{'problems':>9}{'failures':>9}{'worst: increment':>18}{'simultaneous':>14}")
    for kind, row in table.items():
        print(
            f"{kind:<26}{row['problems']:>9}{row['failures']:>9}{row['increment']:>18.1e}{row['simultaneous']:>14.1e}"
        )
    failures = sum(row["failures"] for row in table.values())
    print(f"{number} problems, two solves each: {failures} failures; {time.perf_counter() - begin:.0f} s")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
