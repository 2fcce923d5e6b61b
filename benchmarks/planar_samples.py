"""Whole samples of planar impacts: ours beside quantecon's Lemke with the same draws, and what the search for all
solutions adds. ``./run bench planar_samples [--rounds N]``; ratios of one run are what counts.

quantecon is no dependency (:mod:`.peers` says how to get it). Both sides run Algorithm 1 of Halm in a compiled loop,
from the same draws and with the conventions of the published code; quantecon solves the LCP as the paper prints it,
(75). The time of each is the thread time of the fastest of many rounds that take turns, the least disturbed one.
``set`` is the time of a call of ``post_impact_set`` from Python, everything included, without search and with it. A
quantecon sample that meets a failed solve ends there, which makes its time shorter.
"""

from __future__ import annotations

import argparse
import contextlib
from time import thread_time_ns

import numpy as np
from numba import njit

from benchmarks.impact_problems import halm_posa_lcp, random_problem
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.sampler import SamplePlan, Sampler
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.kernels.impacts.records import SAMPLE_COLUMNS, STEPS
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.example import ImpactExample
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

SAMPLES = 2000
SEARCHED_SAMPLES = 500
_SEPARATING = 1e-8


def examples() -> dict[str, ImpactExample]:
    """The papers' planar impacts, and two random ones."""
    found = {
        "rocking block": rocking_block_impact(),
        "compass gait": compass_gait_impact(),
        "box and wall": box_and_wall_impact(),
        "RAMone": ramone_impact(),
        "disks": disk_stacking_impact(),
        "disks as published": disk_stacking_impact(published=True),
    }
    for m in (2, 3):
        problem = random_problem(np.random.default_rng(8), "plain", m=m, d=1)
        found[f"random, {m} contacts"] = ImpactExample(problem, impulse_scale(problem), 100, SAMPLES)
    return found


def given_draws(example: ImpactExample) -> np.ndarray:
    """Λ_max (SAMPLES, max_steps, m), N s."""
    return example.step * np.random.default_rng(0).random((SAMPLES, example.max_steps, example.problem.contacts))


class Ours:
    """Our samples with given draws, one solution an increment, in a compiled loop."""

    def __init__(self, example: ImpactExample, draws: np.ndarray) -> None:
        problem = example.problem
        space = ContactSpace(problem, 4)
        m, p = problem.contacts, space.w.size
        plan = SamplePlan(
            space=space,
            material=None,
            search=SolutionSearch(space),
            chance=0.0,
            limit=0,
            seed=0,
            per_step=np.zeros(m),
            last_step=np.zeros(m),
            max_steps=example.max_steps,
            separating=_SEPARATING / (space.speed * space.scale),
            draws=draws * (space.scale / space.speed),
        )
        self.info = np.empty((SAMPLES, SAMPLE_COLUMNS))
        self._sampler = Sampler(plan, np.empty((SAMPLES, p)), self.info)

    def run(self) -> float:
        """Thread time of all samples, µs a sample."""
        begin = thread_time_ns()
        self._sampler.run(0, SAMPLES, np.inf)
        return (thread_time_ns() - begin) / SAMPLES / 1e3


class Quantecon:
    """The same by quantecon's Lemke."""

    def __init__(self, example: ImpactExample, draws: np.ndarray) -> None:
        from quantecon.optimize import lcp_lemke

        problem, self.draws = example.problem, draws
        m = problem.contacts
        W, w, _ = halm_posa_lcp(problem, np.ones(m), 2)
        n = w.size
        self.W, self.w = np.ascontiguousarray(W), w
        self.scratch = np.empty((n, 2 * n + 2)), np.empty(n, dtype=np.int64), np.empty(n), np.ones(n), np.empty(n)
        self.steps, self.failed = np.empty(SAMPLES), np.zeros(SAMPLES)

        @njit
        def sample(W, w, draws, tableau, basis, z, cover, q, steps, failed):
            m = draws.shape[2]
            size = 4 * m  # caps, then velocities of normals and of both directions
            for i in range(draws.shape[0]):
                q[:] = w
                taken = 0
                failed[i] = 0.0
                while q[m : 2 * m].min() < -_SEPARATING and taken < draws.shape[1]:
                    q[:m] = draws[i, taken]
                    z[:] = np.nan
                    if not lcp_lemke(W, q, cover, 10**6, tableau=tableau, basis=basis, z=z).success:
                        failed[i] = 1.0
                        break
                    for r in range(m, size):
                        for s in range(m, size):
                            q[r] += W[r, s] * z[s]
                    taken += 1
                steps[i] = taken

        self._sample = sample

    def run(self) -> float:
        """Thread time of all samples, µs a sample."""
        begin = thread_time_ns()
        self._sample(self.W, self.w, self.draws, *self.scratch, self.steps, self.failed)
        return (thread_time_ns() - begin) / SAMPLES / 1e3


def set_times(example: ImpactExample, rounds: int) -> tuple[dict[str, float], float]:
    """µs a sample of post_impact_set by ``solutions``, the least of rounds that take turns; part of increments
    searched."""
    best = dict.fromkeys(("one", "sampled", "all"), np.inf)
    searched = 0.0
    for turn in range(rounds + 1):
        for solutions in best:
            if solutions == "all" and turn > max(rounds // 8, 1):
                continue
            begin = thread_time_ns()
            found = post_impact_set(
                example.problem, example.step, SEARCHED_SAMPLES, example.max_steps, solutions=solutions
            )
            took = (thread_time_ns() - begin) / SEARCHED_SAMPLES / 1e3
            if turn:  # the first may compile
                best[solutions] = min(best[solutions], took)
            searched = found.searched if solutions == "sampled" else searched
    return best, searched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    print("one solution an increment, compiled loops, µs a sample (LCPs a sample)")
    print(f"{'system':<22}{'ours':>16}{'quantecon':>16}{'ratio':>8}{'failed':>8}", end="")
    print("    set, one: µs a sample, sampled (ratio), all (ratio), searched")
    for name, example in examples().items():
        draws = given_draws(example)
        sides: list[Ours | Quantecon] = [Ours(example, draws)]
        with contextlib.suppress(ImportError):
            sides.append(Quantecon(example, draws))
        for side in sides:
            side.run()
        times = np.array([[side.run() for side in sides] for _ in range(rounds)]).min(axis=0)
        own = sides[0].info[:, STEPS].mean()
        line = f"{name:<22}{times[0]:>9.2f} ({own:.2f})"
        if len(sides) > 1:
            other = sides[1]
            line += f"{times[1]:>9.2f} ({other.steps.mean():.2f})"
            line += f"{times[1] / times[0]:>7.1f}×{other.failed.mean():>7.1%} "
        else:
            line += f"{'-':>32} "
        best, searched = set_times(example, rounds)
        line += f"{best['one']:>10.2f}"
        for solutions in ("sampled", "all"):
            line += f"{best[solutions]:>10.2f} ({best[solutions] / best['one']:.1f}×)"
        print(line + f"{searched:>9.1%}", flush=True)


if __name__ == "__main__":
    main()
