"""Where the landings come from: recorded Go2s in MuJoCo, and robots simulated here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.estimator import go2 as go2_model
from benchmarks.gaits import record
from benchmarks.landing_sets.records import Landing, landings
from benchmarks.simulated_robots import SimulatedRobot
from hybrid_contact_ros.config import EstimatorConfig

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("HYBRID_CONTACT_SHARED", ROOT.parent / "shared"))


def go2(ahead: bool = True, window: int = 0) -> Iterator[Landing]:
    """Of the recordings ``go2_mujoco`` of the shared data; nothing without them."""
    model, config = go2_model(), EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    for path in sorted((SHARED / "data" / "go2_mujoco").glob("*.npz")):
        yield from landings(model, config, dict(np.load(path)), path.stem, ahead, window)


def simulated(
    name: str = "anymal", ground: str = "soft", frictions: tuple[float, ...] = (0.5, 0.8, 1.0), drops: int = 6,
    gaits: tuple[str, ...] = ("trot", "stop", "walk"), ahead: bool = True,
) -> Iterator[Landing]:  # fmt: skip
    """Drops and gaits of another robot: its own controller, another contact (solref 0.005 for ``soft``)."""
    for mu in frictions:
        robot = SimulatedRobot(name, ground, mu)
        for gait, seeds in [("drop", drops), *((gait, 1) for gait in gaits)]:
            for seed in range(seeds):
                data = record(robot, gait, seed)
                yield from landings(robot.rigid, robot.config, data, f"{gait} {seed} mu {mu}", ahead)
