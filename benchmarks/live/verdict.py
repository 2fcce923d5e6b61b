"""What several measurements say together, and whether the goals are reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.live.session import Run

PERCENTILES = (50, 99, 99.9)
SLOW_YARDSTICK = 15.0
"""µs of ``computeAllTerms`` on the machine on which the goals are stated. Allowances in time scale with it."""
SHARE = 0.003  # of the states, that may be missing beside the floor
P50, P99 = 0.35, 1.0  # ms above the floor, on that machine
CPU_RATIO, UPDATE_RATIO, UPDATE_YARDSTICKS = 0.35, 0.4, 15.0
SETS_RATIO = 1.1  # p99 with sets over p99 without


@dataclass(frozen=True)
class Summary:
    """Measurements of one node together.

    Attributes:
        answered: share of the states that were sent. latency: p50, p99, p99.9 and the greatest, ms, of those answered.
        input, compute: p50 and p99, ms, until the node took the state, and in it. cpu: µs of the node's processor time
        a state that it answered; cpu_range: least and greatest of the measurements. others, stolen: shares of the
        machine, the mean. late: share of states that were sent late. sets: impact sets received. left_out: outputs
            that the node left out for a while.
    """

    answered: float
    latency: tuple[float, ...]
    input: tuple[float, ...]
    compute: tuple[float, ...]
    cpu: float
    cpu_range: tuple[float, float]
    others: float
    stolen: float
    late: float
    sets: int
    left_out: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Numbers under names. The echo node has no times of its own."""
        found = asdict(self)
        for name in ("input", "compute"):
            if np.isnan(found[name]).any():
                del found[name]
        return found


def summary(runs: Sequence[Run]) -> Summary:
    """All measurements of one node as one."""
    total = np.concatenate([run.total for run in runs])
    sent = sum(run.sent for run in runs)
    each = [1e6 * run.load.used[0] / len(run.total) for run in runs]
    cuts = [float(x) for x in np.percentile(total, PERCENTILES)]
    parts = [
        np.percentile(np.concatenate(x), PERCENTILES[:2])
        for x in zip(*((r.input, r.compute) for r in runs), strict=True)
    ]
    return Summary(
        answered=len(total) / sent,
        latency=(*cuts, float(total.max())),
        input=tuple(map(float, parts[0])),
        compute=tuple(map(float, parts[1])),
        cpu=1e6 * sum(run.load.used[0] for run in runs) / len(total),
        cpu_range=(min(each), max(each)),
        others=float(np.mean([run.load.others for run in runs])),
        stolen=float(np.mean([run.load.stolen for run in runs])),
        late=sum(run.late for run in runs) / sent,
        sets=sum(run.sets for run in runs),
        left_out=tuple(sorted(set().union(*(run.left_out for run in runs)))),
    )


@dataclass(frozen=True)
class Goal:
    """A goal: what was measured, what is allowed, and whether the first is within the second."""

    name: str
    measured: float
    allowed: float
    reached: bool

    def __str__(self) -> str:
        return (
            f"{'reached' if self.reached else 'MISSED '}  {self.name}: {self.measured:.4g}, allowed {self.allowed:.4g}"
        )


def at_most(name: str, measured: float, allowed: float) -> Goal:
    return Goal(name, measured, allowed, measured <= allowed)


def live_goals(where: str, floor: Summary, now: Summary, before: Summary | None, yardstick: float) -> list[Goal]:
    """The goals of one rate.

    Args:
        where: how the rate is called.
        floor, now, before: the echo node, this checkout, and the other one where there is one.
        yardstick: µs of ``computeAllTerms`` on this machine now.
    """
    scale = yardstick / SLOW_YARDSTICK
    least = floor.answered - SHARE
    goals = [
        Goal(f"{where}, answered, %", 100.0 * now.answered, 100.0 * least, now.answered >= least),
        at_most(f"{where}, p50, ms", now.latency[0], floor.latency[0] + P50 * scale),
        at_most(f"{where}, p99, ms", now.latency[1], floor.latency[1] + P99 * scale),
    ]
    if before is not None:
        ratio = (now.cpu - floor.cpu) / (before.cpu - floor.cpu)
        goals.append(at_most(f"{where}, processor time above the floor's, over before", ratio, CPU_RATIO))
    return goals


def sets_goal(where: str, with_sets: Summary, without: Summary) -> Goal:
    """Sets never delay a state."""
    return at_most(f"{where}, p99 with sets over without", with_sets.latency[1] / without.latency[1], SETS_RATIO)


def engine_goals(
    names: Sequence[str], ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]
) -> list[Goal]:
    """The goals of the engine's update.

    Args:
        names: of the workloads, the yardstick last.
        ours, theirs: µs of each workload, one row a turn; ``theirs`` is empty without another checkout.
    """
    goals = []
    for i, name in enumerate(names[:-1]):
        if theirs:
            ratios = [mine[i] / yours[i] for mine, yours in zip(ours, theirs, strict=True)]
            goals.append(at_most(f"{name}, over before", median(ratios), UPDATE_RATIO))
        multiples = median(mine[i] / mine[-1] for mine in ours)
        goals.append(at_most(f"{name}, in computeAllTerms", multiples, UPDATE_YARDSTICKS))
    return goals
