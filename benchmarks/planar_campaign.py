"""All solutions of fresh planar increments by three searches: none may miss what another one finds.

``./run bench planar_campaign [N]`` (default 10000 a family). The families are the rocking block, the compass
gait, the disks, and random problems of all kinds with one to four contacts and much friction. An increment has a random
velocity of the robot (or one that a sample meets) and random caps. ``search`` goes through the modes contact by contact
for any problem, as it always did; ``search_planar`` and, for up to three contacts, ``search_few`` are those of sampling
in the plane. A solution counts as found if another one has its scaled velocities within 1e-6. Every solution is checked
by the residual, which knows nothing of any search.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.impact_problems import KINDS, random_problem
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.solution_search import SOLUTIONS_LIMIT, PlanarScratch, SolutionSearch
from hybrid_contact_ros.kernels.impacts.all_solutions import SearchBudget, search
from hybrid_contact_ros.kernels.impacts.planar_few import search_few
from hybrid_contact_ros.kernels.impacts.planar_pieces import MOST_CONTACTS, Pieces
from hybrid_contact_ros.kernels.impacts.planar_search import search_planar
from hybrid_contact_ros.kernels.impacts.planar_tree import PlanarTree
from hybrid_contact_ros.kernels.impacts.records import IncrementProblem
from hybrid_contact_ros.kernels.impacts.residual import axes_residual
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

LIMIT = 10.0**9
SAME = 1e-6
FAMILIES = ("rocking block", "compass gait", "disks", "random")
A_PROBLEM = 20  # increments


class Searches:
    """The three searches of one configuration."""

    def __init__(self, problem: ContactProblem) -> None:
        self.space = ContactSpace(problem, 4)
        self.general = SolutionSearch(self.space)
        m, p = self.space.c.size, self.space.w.size
        self.planar = PlanarScratch(m)
        self.pieces, self.tree = Pieces(*self.planar.pieces), PlanarTree(*self.planar.tree)
        self.states, self.none = np.empty(m, dtype=np.int64), np.empty((0, p), dtype=np.int64)
        self.z, self.after = np.empty((SOLUTIONS_LIMIT + 3, p)), np.empty((SOLUTIONS_LIMIT + 3, p))

    def run(self, name: str, w: np.ndarray, cap: np.ndarray, energy: float) -> tuple[np.ndarray, np.ndarray]:
        """Impulses and velocities of all solutions."""
        space, out = self.space, (self.none, 0, self.z, self.after)
        budget, problem = SearchBudget(LIMIT, np.inf, SOLUTIONS_LIMIT, 0), (space.H, w, cap, space.c)
        if name == "search":
            scratch = self.general.T, self.general.A, self.general.states, self.general.modes
            count = search(space.g, *budget, *problem, *scratch, *out)[0]
        elif name == "search_planar":
            count = search_planar(space.g, *budget, *problem, energy, *self.tree, *out)[0]
        else:
            increment = IncrementProblem(space.g, *problem)
            count = search_few(increment, budget, -1, self.states, self.pieces, self.tree, *out)[0]
        return self.z[:count].copy(), self.after[:count].copy()


def problems(family: str, rng: np.random.Generator) -> ContactProblem:
    """The family's problem, with the velocity of its impact or another one."""
    if family == "random":
        problem = random_problem(rng, str(rng.choice(KINDS[:8])), m=int(rng.integers(1, 5)), d=1)
        return problem.replace(friction=problem.friction * rng.choice([0.3, 1.0, 4.0]))
    make = {"rocking block": rocking_block_impact, "compass gait": compass_gait_impact, "disks": disk_stacking_impact}
    problem = make[family]().problem
    if rng.random() < 0.5:
        scale = np.abs(problem.velocity).max()
        return problem.with_velocity(problem.velocity + scale * rng.normal(size=problem.nv) * rng.choice([0.1, 1.0]))
    return problem


def increments(searches: Searches, problem: ContactProblem, rng: np.random.Generator) -> Iterator[tuple]:
    """(w, caps, twice the kinetic energy), scaled, along samples of the problem; the caller moves w on in place."""
    space = searches.space
    for _ in range(A_PROBLEM):
        energy = float(problem.velocity @ problem.mass @ problem.velocity) / space.speed**2
        w = space.w.copy()
        size = rng.choice([0.1, 0.5, 2.0])
        while (w[::2] < -1e-6).any():
            before, cap = w.copy(), size * rng.random(space.c.size)
            z = yield w, cap, energy * (1 + 1e-9) + 1e-9
            w = before + space.H @ z
            energy += z @ (before + w)
            if rng.random() < 0.2:
                break


def missed(found: np.ndarray, others: np.ndarray) -> int:
    """How many of ``others`` are not among ``found``."""
    return sum(not len(found) or np.abs(found - one).max(axis=1).min() > SAME for one in others)


def run(family: str, number: int, seed: int = 0) -> dict[str, float]:
    """Counts over ``number`` increments; each miss is printed."""
    rng = np.random.default_rng((seed, FAMILIES.index(family)))
    told = {"increments": 0, "several": 0, "solutions": 0, "missed": 0, "more": 0, "residual": 0.0}
    while told["increments"] < number:
        problem = problems(family, rng)
        searches = Searches(problem)
        if searches.space.speed == 0.0:
            continue
        names = ("search_planar", "search_few")[: 2 if problem.contacts <= MOST_CONTACTS else 1]
        stream = increments(searches, problem, rng)
        case = next(stream, None)
        while case is not None and told["increments"] < number:
            w, cap, energy = case
            z, before = searches.run("search", w, cap, np.inf)
            for name in names:
                own_z, found = searches.run(name, w, cap, energy)
                lost = missed(found, before)
                told["missed"] += lost
                told["more"] += missed(before, found) if name == names[0] else 0
                for one in own_z:
                    left = axes_residual(1, searches.space.H, w, cap, searches.space.c, one, np.empty(w.size))
                    told["residual"] = max(told["residual"], left)
                if lost:
                    print(f"{name} misses {lost} of {len(before)}: {family}, increment {told['increments']}")
                if len(found) > len(z):
                    z = own_z
            told["increments"] += 1
            told["several"] += len(before) > 1
            told["solutions"] += len(before)
            if not len(z):
                break
            try:
                case = stream.send(z[rng.integers(len(z))])
            except StopIteration:
                break
    return told


def main(number: int | None = None) -> int:
    """Run and print the table; the exit code says whether anything was missed."""
    if number is None:
        number = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    failures = 0
    print(f"{'family':<16}{'increments':>11}{'several':>9}{'solutions':>11}{'missed':>8}{'more':>6}{'residual':>10}")
    for family in FAMILIES:
        told = run(family, number)
        failures += told["missed"]
        print(
            f"{family:<16}{told['increments']:>11}{told['several']:>9}{told['solutions']:>11}{told['missed']:>8}"
            f"{told['more']:>6}{told['residual']:>10.1e}",
            flush=True,
        )
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
