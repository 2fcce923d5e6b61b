"""How much of a stream is answered, how soon, and at which cost: the echo node, another revision and this one in turns.

    ./run bench latency --against REV --rate 500 1000

Three processes run on one clock. One publishes a Go2 that lands and lifts off once a second (``joint_states`` and
``odom``, stamped when they are sent), one is the node, and this one receives what the node makes of it. Robot and
receiver handle bytes, so that they do not measure themselves. Only states that were answered have a latency, so that
their share is printed too. The floor is an echo node, which sends the bytes on and computes nothing.

Nodes are started anew for every turn, and nothing counts before they are active, connected and warm.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median

from benchmarks.live import verdict
from benchmarks.live.checkout import checkout, leave
from benchmarks.live.robot import ROOT, Robot
from benchmarks.live.session import Run, Variant, floor, measure, suite
from benchmarks.live.verdict import Goal, Summary, summary
from benchmarks.revisions import YARDSTICK, Worker

UPDATES = ["update, standing: mode, flags, sequence", "update, falling: mode, flags, sequence"]
ENGINE_TURNS = 5  # before and after the live measurements
FLOOR, NOW = "floor", "now"
SETS = {True: "sets on", False: "sets off"}


def show(name: str, found: Summary, above: float | None = None) -> None:
    """Print a row of the table; ``above`` is the processor time of the floor."""
    times = "".join(f"{x:9.3f}" for x in found.latency)
    over = "" if above is None else f"{found.cpu - above:8.0f}"
    cut = f"  left out for a while: {', '.join(found.left_out)}" if found.left_out else ""
    print(
        f"{name:22}{100.0 * found.answered:9.2f}{times}{found.cpu:9.0f}{over:>8}"
        f"{100.0 * found.others:8.0f}{100.0 * found.stolen:7.1f}{100.0 * found.late:7.1f}{found.sets:8}{cut}"
    )


def head(title: str) -> None:
    """Print the head of a table."""
    print(f"\n{title}")
    columns = (("answ. %", 9), ("p50", 9), ("p99", 9), ("p99.9", 9), ("max ms", 9), ("CPU µs", 9), ("above", 8))
    columns += (("others%", 8), ("steal%", 7), ("late%", 7), ("sets", 8))
    print(" " * 22 + "".join(f"{name:>{width}}" for name, width in columns))


class Engine:
    """Times of the engine's update in both checkouts, in turns; without ``updates`` those of the yardstick alone."""

    def __init__(self, other: Path | None, updates: bool) -> None:
        self.names = (*(UPDATES if updates else ()), YARDSTICK)
        self._roots = [ROOT] + ([other] if other else [])
        self.times: list[list[list[float]]] = [[] for _ in self._roots]

    def turns(self, count: int) -> None:
        """Measure some turns, in processes of their own."""
        workers = [Worker(root, list(self.names)) for root in self._roots]
        try:
            for turn in range(count):
                order = list(range(len(workers)))
                for i in order if turn % 2 else reversed(order):
                    self.times[i].append(workers[i].measure())
        finally:
            for worker in workers:
                worker.close()

    @property
    def yardstick(self) -> float:
        """µs of ``computeAllTerms`` on this machine."""
        return median(row[-1] for row in self.times[0])

    def show(self) -> None:
        """Print the table."""
        title = "engine, µs, median" if len(self.names) > 1 else "µs, median"
        print(f"\n{title:46}{NOW:>9}" + ("   before" if len(self.times) > 1 else ""))
        for i, name in enumerate(self.names):
            print(f"{name:46}" + "".join(f"{median(row[i] for row in rows):9.1f}" for rows in self.times))

    def goals(self) -> list[Goal]:
        return verdict.engine_goals(self.names, self.times[0], self.times[1] if len(self.times) > 1 else [])


def alternate(variants: list[tuple[str, Variant]], robot: Robot, seconds: float, turns: int) -> dict[str, Summary]:
    """Measure all variants in turns, each for ``seconds`` altogether."""
    runs: dict[str, list[Run]] = {name: [] for name, _ in variants}
    for turn in range(turns):
        k = turn % len(variants)
        for name, variant in variants[k:] + variants[:k]:
            found = measure(variant, robot, seconds / turns)
            runs[name].append(found)
            share = 100.0 * len(found.total) / found.sent
            print(f"turn {turn + 1} of {turns}, {name}: {share:.1f} % answered", file=sys.stderr, flush=True)
    return {name: summary(found) for name, found in runs.items()}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="REV", help="another revision, or the root of a checkout that is set up")
    parser.add_argument("--seconds", type=float, default=60.0, help="of publishing to each node at a rate (default 60)")
    parser.add_argument("--rate", type=float, nargs="+", default=[500.0], help="of the states, Hz (default 500)")
    parser.add_argument("--sets", choices=("on", "off", "both"), default="on", help="impact sets (default on)")
    parser.add_argument(
        "--alternations", type=int, default=3, help="turns that the seconds are spread over (default 3)"
    )
    parser.add_argument(
        "--no-engine", action="store_true", help="leave the times of the engine out; the yardstick stays"
    )
    parser.add_argument(
        "--without-flags", action="store_true", help="nobody listens to constraint_stability: only modes and sets"
    )
    parser.add_argument("--remove", action="store_true", help="remove the worktree of REV at the end")
    parser.add_argument("--json", action="store_true", help="numbers only")
    return parser.parse_args()


def main() -> None:
    """Print the tables and what they say; with ``--json``, one line for machines."""
    args = options()
    other, called = checkout(args.against) if args.against else (None, "")
    engine = Engine(None if args.no_engine else other, not args.no_engine)
    engine.turns(ENGINE_TURNS)
    found: dict[str, dict[str, dict[str, Summary]]] = {}
    flags = not args.without_flags
    wanted = [True, False] if args.sets == "both" else [args.sets == "on"]
    before = f"before ({called})"
    for rate in args.rate:
        robot = Robot(rate=rate)
        variants = [(FLOOR, floor())]
        for sets in wanted:
            if other is not None:
                variants.append((f"{before}, {SETS[sets]}", suite("before", other, robot, sets, flags=flags)))
            variants.append((f"{NOW}, {SETS[sets]}", suite("now", ROOT, robot, sets, flags=flags)))
        found[f"{rate:g} Hz"] = alternate(variants, robot, args.seconds, args.alternations)
    engine.turns(ENGINE_TURNS)
    goals = []
    for where, summaries in found.items():
        for sets in wanted:
            now, old = summaries[f"{NOW}, {SETS[sets]}"], summaries.get(f"{before}, {SETS[sets]}")
            goals += verdict.live_goals(f"{where}, {SETS[sets]}", summaries[FLOOR], now, old, engine.yardstick)
        if len(wanted) == 2:
            goals.append(verdict.sets_goal(where, *(summaries[f"{NOW}, {SETS[sets]}"] for sets in wanted)))
    if not args.no_engine:
        goals += engine.goals()
    if args.json:
        rates = {where: {name: x.as_json() for name, x in of.items()} for where, of in found.items()}
        times = {"names": engine.names, "times": engine.times}
        print(json.dumps({"rates": rates, "engine": times, "goals": [vars(goal) for goal in goals]}))
    else:
        for where, summaries in found.items():
            head(f"{where}, {args.seconds:g} s each in {args.alternations} turns")
            for name, each in summaries.items():
                show(name, each, None if name == FLOOR else summaries[FLOOR].cpu)
        engine.show()
        print()
        print("\n".join(map(str, goals)))
    if other is not None:
        leave(other, args.remove)


if __name__ == "__main__":
    main()
