"""``./run bench landing_bounds [LANDINGS] [--friction PART]``: how tight the proven bounds of landings are.

Recorded landings of the Go2 (``go2_mujoco`` of the shared data), LANDINGS (default 4) of each group: in flight or while
others stand, with so many contacts. 100000 draws of each are of the law with the default terms: half of the numbers at
the ends of their intervals, and a tenth of the draws at all ends; μ is known, or but for ± PART of it. Columns: draws
outside of the bounds; widths of the bounds over those of the draws, median and 90th percentile over the coordinates, of
the law's bounds and of those with all orders, which messages carry, and of the bounds of impacts without terms;
microseconds, as the law's bounds take them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.landing_draws import parts
from benchmarks.landing_sets import sources
from benchmarks.landing_sets.records import Landing
from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.impacts.bounds import outcome_bounds
from hybrid_contact_ros.impacts.landing_bounds import LandingBounds
from hybrid_contact_ros.impacts.landing_model import LandingTerms, joint_drives
from hybrid_contact_ros.impacts.landing_set import LandingLaw
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
DRAWS, BATCH = 100_000, 10_000
_USABLE = 1e-6


def draws(law: LandingLaw, driven: Array, friction: Array, impact: tuple[Array, ...], seed: int) -> Iterator[Array]:
    """Outcomes (any, n) of the law in batches, the last one at the ends of all intervals."""
    terms, rng, n = law.terms, np.random.default_rng(seed), driven.size
    left, radius = law.left(impact[2], impact[3], impact[4].astype(bool))
    for batch in range(DRAWS // BATCH):
        corners = batch == DRAWS // BATCH - 1

        def between(low: float, high: float, *shape: int, corners: bool = corners) -> Array:
            return np.asarray(low + (high - low) * parts(rng, corners, BATCH, *shape))

        drive = joint_drives(between(terms.drive_min, terms.drive_max), impact[0], driven > 0.0)
        drive += between(-terms.drive_own, terms.drive_own, n)
        mu = between(1.0 - terms.friction, 1.0 + terms.friction, 1) * friction
        w = left + radius * between(-1.0, 1.0, left.size)
        duration = between(terms.duration_min, terms.duration_max)
        found, _, residuals, _ = law.solve(*impact[:4], duration, np.maximum(drive, 0.0) * driven, mu, w)
        yield found[residuals <= _USABLE]


def row(landing: Landing, terms: LandingTerms, seed: int) -> tuple[int, Array, Array, Array, float]:
    """Draws outside; widths (n,) over theirs of the law's bounds, with orders and without terms; µs."""
    known = landing.truth
    chosen, n = known.active, known.velocity.size
    rows, friction, hitting = known.rows[chosen], known.friction[chosen], known.hitting[chosen]
    none, driven = np.zeros(chosen.size), np.arange(n) >= 6
    law = LandingLaw(terms, 2, n, friction, (none, none), driven)
    impact = known.mass, known.bias, np.ascontiguousarray(rows.reshape(-1, n)), known.velocity, hitting
    made = law.points(*impact, known.velocity)
    bounds = LandingBounds(law, friction, driven)
    best = np.inf
    for _ in range(10):
        begin = time.thread_time_ns()
        lower, upper = bounds.of(*impact, made)
        best = min(best, 1e-3 * (time.thread_time_ns() - begin))
    outside, low, high = 0, np.full(n, np.inf), np.full(n, -np.inf)
    for found in draws(law, driven.astype(np.float64), friction, impact, seed):
        outside += int(((found < lower + made.restless) | (found > upper - made.restless)).any(axis=1).sum())
        low, high = np.minimum(low, found.min(axis=0)), np.maximum(high, found.max(axis=0))
    width = np.maximum(high - low + 2.0 * made.restless, 1e-9)
    problem = ContactProblem(known.mass, known.velocity, rows[:, 0], rows[:, 1:], friction)
    plain = outcome_bounds(problem, effort="fast")
    more = np.abs(made.generators).sum(axis=0)
    least, most = np.minimum(lower, plain[0] + made.offset - more), np.maximum(upper, plain[1] + made.offset + more)
    return outside, (upper - lower) / width, (most - least) / width, (plain[1] - plain[0]) / width, best


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("landings", type=int, nargs="?", default=4)
    parser.add_argument("--friction", type=float, default=0.0, metavar="PART")
    chosen = parser.parse_args(arguments)
    count = chosen.landings
    groups: dict[str, list[Landing]] = {}
    for landing in sources.go2(ahead=False):
        groups.setdefault(f"{landing.group}, {landing.truth.active.size} contacts", []).append(landing)
    terms = LandingTerms.of(LandingConfig(), chosen.friction)
    print("| landings | outside | law | with orders | without terms | µs |\n|---|---|---|---|---|---|")
    for name, found in sorted(groups.items()):
        rows = [row(landing, terms, i) for i, landing in enumerate(found[:: max(1, len(found) // count)][:count])]
        cells = [" / ".join(f"{x:.2f}" for x in np.percentile([r[k] for r in rows], [50, 90])) for k in (1, 2, 3)]
        took = np.median([r[4] for r in rows])
        print(f"| {name} | {sum(r[0] for r in rows)} | {' | '.join(cells)} | {took:.0f} |", flush=True)


if __name__ == "__main__":
    main()
