"""Which share of its states the demo answers, in turns with an echo node in place of the suite, on the same machine.

    ./run bench demo --alternations 3 [--against REV]

``hybrid-contact demo --echo`` runs the same robot, listener and scorer around a node that answers at once and computes
nothing. The goal is its share less one point.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.live import machine
from benchmarks.live.checkout import checkout, leave
from benchmarks.live.domain import own_domain
from benchmarks.live.robot import ROOT
from benchmarks.live.session import environment, python_of
from benchmarks.live.verdict import Goal

POINT = 0.01  # of the states, that may be missing beside the echo node
ECHO, NOW = "echo", "now"


@dataclass(frozen=True)
class Shown:
    """One demo: states sent and answered, those sent late, latency p50 and p99 (ms), and the share of the machine that
    others took from the start of its processes to their end."""

    sent: int
    answered: int
    late: int
    p50: float
    p99: float
    others: float


def _used_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def play(root: Path, seconds: float, *arguments: str) -> Shown:
    """Run the demo of a checkout.

    Raises:
        RuntimeError: it failed.
    """
    settings = environment(root)
    settings.setdefault("HYBRID_CONTACT_DEMO_DOMAIN", own_domain())
    with tempfile.TemporaryDirectory() as folder:
        command = [python_of(root), "-m", "hybrid_contact_ros.programs", "command", "demo", "--json"]
        command += ["--seconds", f"{seconds:g}", "--out", folder, *arguments]
        begin, before = machine.read([]), _used_by_children()
        done = subprocess.run(command, cwd=root, env=settings, capture_output=True, text=True)
        load, ours = machine.between(begin, machine.read([])), _used_by_children() - before
    if done.returncode:
        raise RuntimeError(f"the demo ended with exit code {done.returncode}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    latency = found["latency"]
    others = max(0.0, load.others - ours / (load.seconds * (os.cpu_count() or 1)))
    robot = found["robot"]
    return Shown(
        robot["cycles"], found["predictions"], robot["late"], 1e3 * latency["p50"], 1e3 * latency["p99"], others
    )


def share(shown: list[Shown]) -> float:
    """Of the states of several demos, those answered."""
    return sum(x.answered for x in shown) / sum(x.sent for x in shown)


def goal(now: list[Shown], echo: list[Shown]) -> Goal:
    """The goal of the demo."""
    least = share(echo) - POINT
    return Goal("demo, answered, %", 100.0 * share(now), 100.0 * least, share(now) >= least)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each scenario (default 20)")
    parser.add_argument("--alternations", type=int, default=2, help="turns (default 2)")
    parser.add_argument("--against", metavar="REV", help="another revision, or the root of a checkout that is set up")
    args = parser.parse_args()
    other, called = checkout(args.against) if args.against else (None, "")
    variants: list[tuple[str, Path, tuple[str, ...]]] = [(ECHO, ROOT, ("--echo",)), (NOW, ROOT, ())]
    if other is not None:
        variants.append((f"before ({called})", other, ()))
    shown: dict[str, list[Shown]] = {name: [] for name, _, _ in variants}
    for turn in range(args.alternations):
        for name, root, arguments in variants if turn % 2 else variants[::-1]:
            shown[name].append(play(root, args.seconds, *arguments))
            print(f"turn {turn + 1} of {args.alternations}, {name}: {shown[name][-1]}", file=sys.stderr, flush=True)
    print(f"{'':22}{'answered %':>12}{'p50':>9}{'p99 ms':>9}{'late %':>9}{'others %':>10}   means of the turns")
    for name, each in shown.items():
        late = 100.0 * sum(x.late for x in each) / sum(x.sent for x in each)
        p50, p99, others = (float(np.mean([getattr(x, field) for x in each])) for field in ("p50", "p99", "others"))
        print(f"{name:22}{100.0 * share(each):12.2f}{p50:9.3f}{p99:9.3f}{late:9.1f}{100.0 * others:10.0f}")
    print(goal(shown[NOW], shown[ECHO]))
    if other is not None:
        leave(other, remove=False)


if __name__ == "__main__":
    main()
