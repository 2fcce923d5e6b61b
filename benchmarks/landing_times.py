"""How reliable the times and orders of touchdowns are that sets are made for: ``./run bench landing_times``.

``[go2|anymal|solo12|hyq ...]``. At 5, 10 and 20 ms before each landing of ``benchmarks.landing_sets.records.find``: the
share of the contacts due first that touch within their bounds (half a sample is granted, for a recording tells no
better), and the bounds' median width; and of each two neighbours that are due within 10 ms how often the one that was
told to be the first was, by the probability that was told. States exact, and with ``benchmarks.estimator.NOISE`` without a covariance.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator

import numpy as np

from benchmarks.estimator import NOISE, states
from benchmarks.landing_sets.records import STEP, Array, find
from benchmarks.landings_ahead import Episode, episodes
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.estimation.landing_clusters import cluster_of
from hybrid_contact_ros.estimator import ContactEstimator, Parts

LEADS = (5, 10, 20)
BINS = (0.5, 0.7, 0.9, 0.97, 1.0)
_NEAR, _WARM = 0.01, 40
Bounds = tuple[int, bool, float]  # samples ahead, whether within, width in s
Pair = tuple[float, bool]  # probability, whether it was so


def of_episode(episode: Episode, noisy: bool) -> Iterator[tuple[Bounds, list[Pair]]]:
    _, model, config, data = episode
    n = int(np.searchsorted(data["time"], data["valid_until"], "right"))
    closed = data["foot_contact"][:n].astype(bool)
    rises = [np.flatnonzero(column[1:] & ~column[:-1]) + 1 for column in closed.T]
    asked = {
        before - lead: lead
        for before, _, _ in find(closed, data["foot_vel"][:n, :, 2])
        for lead in LEADS
        if before - lead > _WARM
    }
    estimator, sets = ContactEstimator(model, config), ImpactSets(model, config)
    sigmas = config.prediction.bound_sigmas
    for k, state in enumerate(states(model, data, NOISE if noisy else None)):
        estimator.update(state, Parts.MODE)
        ahead = estimator.impact_ahead() if k in asked else None
        if ahead is None:
            continue
        times = sets.touch_times(ahead)
        due = sorted(
            (times[i, 0], i) for i in np.flatnonzero(ahead.backed == 1) if times[i, 0] <= config.impact.horizon
        )
        true = {i: STEP * float(next((r for r in rises[i] if r > k), n) - k) for _, i in due}
        if not due:
            continue
        _, early, late = times[due[0][1]]
        touch = true[due[0][1]] - 0.5 * STEP
        bounds = asked[k], bool(early - 0.5 * STEP <= touch <= late + 0.5 * STEP), float(late - early)
        pairs = []
        for (first, i), (second, j) in itertools.pairwise(due):
            if second - first <= _NEAR and true[i] != true[j]:
                two = np.array(sorted((i, j)))
                told = cluster_of(two, np.zeros(closed.shape[1], np.uint8), times, sigmas).probability
                pairs.append((told, true[i] < true[j]))
        yield bounds, pairs


def main() -> None:
    parser = argparse.ArgumentParser(description="Times and orders of touchdowns, told and true.")
    parser.add_argument("robots", nargs="*", default=["go2", "anymal"], help="go2, anymal, solo12, hyq")
    chosen = parser.parse_args()
    print("| robot | states | within bounds (width, ms) at 5 / 10 / 20 ms | first, as told: by the probability told |")
    print("|---|---|---|---|")
    for robot in chosen.robots:
        found = [list(episodes(robot))]
        for noisy in (False, True):
            rows = [row for episode in found[0] for row in of_episode(episode, noisy)]
            bounds, pairs = [row[0] for row in rows], [pair for row in rows for pair in row[1]]
            cells = []
            for lead in LEADS:
                some = [(within, width) for at, within, width in bounds if at == lead]
                cells.append(f"{100 * np.mean([x[0] for x in some]):.0f} ({1e3 * np.median([x[1] for x in some]):.1f})")
            print(f"| {robot} | {'noisy' if noisy else 'exact'} | {' / '.join(cells)} | {_orders(pairs)} |", flush=True)


def _orders(pairs: list[Pair]) -> str:
    told = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    cells = []
    for low, high in itertools.pairwise(BINS):
        some: Array = told[(told[:, 0] >= low) & ((told[:, 0] < high) | (high == BINS[-1]))]
        if len(some):
            cells.append(f"{low:g}–{high:g}: {100 * some[:, 1].mean():.0f} % of {len(some)}")
    return ", ".join(cells)


if __name__ == "__main__":
    main()
