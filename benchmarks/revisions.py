"""Times of two revisions, interleaved: ``./run bench revisions OTHER [--pairs N]``.

OTHER is the root of another checkout that ``./run setup`` has set up. Both revisions run the same workloads through
public names, in processes that take turns: first one, then the other, in an order that changes from pair to pair, and
in new processes every few pairs, because where the memory of a process lies changes its speed. The table gives the
median ratio of the thread time of this checkout to that of OTHER, and its 95 % interval by order statistics. A shared
machine slows both down alike.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import thread_time_ns
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
PAIRS_A_PROCESS = 5
YARDSTICK = "computeAllTerms"
"""Pinocchio's algorithm for the same robot in the same process: what a time is a multiple of on any machine."""
REPEATS = 3
"""Of each workload in one turn; the fastest counts."""


def workloads() -> dict[str, Callable[[], int]]:
    """What is timed: each call does the work once and returns how many units of it were done."""
    import numpy as np
    import pinocchio

    from hybrid_contact_ros import (
        ContactEstimator,
        EstimatorConfig,
        Parts,
        RigidBodyModel,
        RobotState,
        force_acceleration_mode,
        outcome_bounds,
        post_impact_set,
        simultaneous_impact,
    )
    from hybrid_contact_ros.mechanics.example_data import example_urdf
    from hybrid_contact_ros.systems.compass_gait import compass_gait_impact

    config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    urdf = example_urdf("go2_description/urdf/go2.urdf")
    model = RigidBodyModel.from_urdf(urdf, config)
    estimator = ContactEstimator(model, config)
    estimator.warm()
    rng = np.random.default_rng(1)

    def state(stamp: int, height: float, falling: float) -> RobotState:
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        q[2], q[6], q[7:] = height, 1.0, np.tile([0.0, 0.9, -1.8], 4) + 0.001 * rng.normal(size=12)
        v[2], v[6:] = falling, 0.01 * rng.normal(size=12)
        effort = np.zeros(model.nv)
        effort[6:] = np.tile([0.0, -1.0, 6.0], 4) + 0.1 * rng.normal(size=12)
        return RobotState(stamp, q, v, effort)

    gap = float(model.problem(state(0, 0.3, 0.0)).gap.mean())
    standing = [state(2_000_000 * i, 0.3 - gap, 0.0) for i in range(300)]
    falling = [state(2_000_000 * i, 0.3 - gap + 0.05 - 1e-4 * i, -0.05) for i in range(300)]
    landing = model.problem(state(0, 0.3 - gap, -1.0))
    resting = [model.problem(s) for s in standing[:30]]

    def updates(stream: list[RobotState], parts: Parts) -> Callable[[], int]:
        def run() -> int:
            estimator.reset()
            for each in stream:
                estimator.update(each, parts)
            return len(stream)

        return run

    def a_set() -> int:
        for seed in range(10):
            post_impact_set(landing, 0.3, 256, 100, seed=seed)
        return 10

    def a_restitution_set() -> int:
        for seed in range(5):
            post_impact_set(landing, 0.3, 256, 100, seed=seed, law="poisson", restitution=0.3)
        return 5

    def modes() -> int:
        for problem in resting:
            force_acceleration_mode(problem, range(4))
        return len(resting)

    walker = compass_gait_impact().problem

    def all_solutions() -> int:
        for _ in range(100):
            simultaneous_impact(walker, all_solutions=True)
        return 100

    def tight_bounds() -> int:
        outcome_bounds(walker)
        return 1

    pinocchio_model = pinocchio.buildModelFromUrdf(str(urdf), pinocchio.JointModelFreeFlyer())
    pinocchio_data, pose = pinocchio_model.createData(), pinocchio.neutral(pinocchio_model)
    at_rest = np.zeros(pinocchio_model.nv)

    def all_terms() -> int:
        for _ in range(300):
            pinocchio.computeAllTerms(pinocchio_model, pinocchio_data, pose, at_rest)
        return 300

    mode = Parts.MODE
    everything = Parts.MODE | Parts.STABILITY | Parts.SEQUENCE
    return {
        "update, standing: mode": updates(standing, mode),
        "update, standing: mode, flags, sequence": updates(standing, everything),
        "update, falling: mode, flags, sequence": updates(falling, everything),
        "set of 256, inelastic": a_set,
        "set of 256, Poisson": a_restitution_set,
        "force_acceleration_mode": modes,
        "all solutions of one impact": all_solutions,
        "tight outcome bounds": tight_bounds,
        YARDSTICK: all_terms,
    }


def serve(names: list[str] | None = None) -> None:
    """The worker: a line with microseconds a unit of each workload, or of those named, for each line on standard
    input."""
    work = workloads()
    if names:
        work = {name: work[name] for name in names}
    for run in work.values():
        run()
    print("\t".join(work), flush=True)
    for _ in sys.stdin:
        times = []
        for run in work.values():
            best = float("inf")
            for _ in range(REPEATS):
                begin = thread_time_ns()
                units = run()
                best = min(best, 1e-3 * (thread_time_ns() - begin) / units)
            times.append(best)
        print("\t".join(f"{t:.3f}" for t in times), flush=True)


class Worker:
    """A process of one revision that measures all workloads, or those named."""

    def __init__(self, root: Path, names: list[str] | None = None) -> None:
        # The other checkout need not have this file: it is run there with the package of that checkout.
        run = f"runpy.run_path({__file__!r})['serve']({names!r})"
        code = f"import runpy, sys; sys.path.insert(0, {str(root)!r}); {run}"
        self._process = subprocess.Popen(
            [root / ".venv" / "bin" / "python", "-c", code],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names = self._line().split("\t")

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().rstrip("\n")
        if not line:
            raise RuntimeError(f"a worker ended with exit code {self._process.wait()}; see its message above")
        return line

    def measure(self) -> list[float]:
        """Microseconds a unit of each workload."""
        feed: IO[str] | None = self._process.stdin
        assert feed is not None
        feed.write("\n")
        feed.flush()
        return [float(x) for x in self._line().split("\t")]

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


@contextmanager
def both(ours: Path, other: Path) -> Iterator[tuple[Worker, Worker]]:
    """A worker of each revision, ended at the end."""
    first, second = Worker(ours), Worker(other)
    try:
        yield first, second
    finally:
        first.close()
        second.close()


def interval(values: list[float]) -> tuple[float, float]:
    """95 % interval of the median by order statistics, without assuming a distribution."""
    from scipy.stats import binom

    ordered = sorted(values)
    k = int(binom.ppf(0.025, len(ordered), 0.5))
    k = max(k, 1)
    return ordered[k - 1], ordered[-k]


def main() -> None:
    from statistics import median

    parser = argparse.ArgumentParser(prog="./run bench revisions", description="Compares two revisions.")
    parser.add_argument("other", type=Path, help="root of the other checkout")
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    names: list[str] = []
    pairs: list[tuple[list[float], list[float]]] = []
    while len(pairs) < options.pairs:
        with both(ROOT, options.other.resolve()) as (ours, theirs):
            names = ours.names
            for _ in range(min(PAIRS_A_PROCESS, options.pairs - len(pairs))):
                if len(pairs) % 2:
                    mine, yours = ours.measure(), theirs.measure()
                else:
                    yours, mine = theirs.measure(), ours.measure()
                pairs.append((mine, yours))
    print(f"{'µs a unit, median':42}{'here':>10}{'other':>10}{'ratio':>8}   95 % interval, {len(pairs)} pairs")
    for i, name in enumerate(names):
        ratios = [mine[i] / yours[i] for mine, yours in pairs]
        low, high = interval(ratios)
        here, there = (median(pair[k][i] for pair in pairs) for k in (0, 1))
        print(f"{name:42}{here:10.1f}{there:10.1f}{median(ratios):8.3f}   {low:.3f} – {high:.3f}")


if __name__ == "__main__":
    main()
