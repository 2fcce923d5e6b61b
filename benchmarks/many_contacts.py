"""More contacts than the stream leaves time for: a humanoid on two soles of 20 points, its states at 200 Hz.

What the node says at configure, what share it answers with what latency, and what its diagnostics say meanwhile.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.live.robot import ROOT, Robot
from benchmarks.live.session import Run, measure, suite

SOLE = (0.20, 0.12)  # m, length and width
SOLES = ("left_sole_link", "right_sole_link")


def parameters(points: int) -> str:
    """A parameter file with soles of that many points, in rows of four along their length."""
    rows = points // 4
    grid = [(x, y, 0.0) for x in np.linspace(-0.5, 0.5, rows) * SOLE[0] for y in np.linspace(-0.5, 0.5, 4) * SOLE[1]]
    flat = ", ".join(f"{x:.4f}" for point in grid for x in point)
    contacts = "".join(f"      {sole}: {{link: {sole}, friction: 0.7, points: [{flat}]}}\n" for sole in SOLES)
    head = "/**:\n  ros__parameters:\n    floating_base: true\n"
    return f"{head}    contact_names: [{', '.join(SOLES)}]\n    contacts:\n{contacts}"


def show(run: Run, rate: float) -> None:
    """Print the table."""
    print(f"{'ms':34}{'p50':>9}{'p99':>9}{'p99.9':>9}{'max':>9}")
    for values, label in (
        (run.input, "stamp to node"),
        (run.compute, "node: message in to prediction"),
        (run.total, "stamp to received prediction"),
    ):
        cuts = [*np.percentile(values, (50, 99, 99.9)), values.max()]
        print(f"{label:34}" + "".join(f"{x:9.3f}" for x in cuts))
    answered = len(run.total)
    print(
        f"received {answered} of {run.sent} ({100.0 * answered / run.sent:.2f} %) in {run.load.seconds:.0f} s "
        f"at {rate:g} Hz, and {run.sets} impact sets; others took {100.0 * run.load.others:.0f} % of the machine"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of publishing (default 20)")
    parser.add_argument("--rate", type=float, default=200.0, help="Hz, of states (default 200)")
    parser.add_argument("--points", type=int, default=20, help="of each sole, a multiple of four (default 20)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "soles.yaml"
        config.write_text(parameters(args.points))
        robot = Robot(
            str(config), "talos_data/robots/talos_reduced.urdf", args.rate, {"leg_left_3": -0.4, "leg_right_3": -0.4,
            "leg_left_4": 0.8, "leg_right_4": 0.8, "leg_left_5": -0.4, "leg_right_5": -0.4}, bob=0.0005, noise=0.01,
        )  # fmt: skip
        run = measure(suite("soles", ROOT, robot, log="info"), robot, args.seconds)
    show(run, args.rate)
    print("diagnostics:")
    told = set()
    for sentence in run.said:
        kind = re.sub(r"[0-9.]+", "#", sentence)
        if kind not in told:
            print(f"- {sentence}")
        told.add(kind)


if __name__ == "__main__":
    main()
