"""State to ContactProblem, and message arrays to state."""

from __future__ import annotations

import array
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.joints import BaseMeasurement
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

CONFIG = Path(__file__).resolve().parent.parent / "config"
CALLS = 50_000
BASE = BaseMeasurement((0.1, 0.2, 0.3), (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.1), (0.0, 0.1, 0.0))
ROBOTS = (
    ("Go2", "go2.yaml", "go2_description/urdf/go2.urdf"),
    ("ANYmal B", "anymal.yaml", "anymal_b_simple_description/robots/anymal.urdf"),
    ("Panda, mimic finger", "arm.yaml", "panda_description/urdf/panda.urdf"),
    ("cube", "cube.yaml", None),
)


def states(model: RigidBodyModel, count: int) -> list[RobotState]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        q = model.integrate(model.neutral(), rng.uniform(-1, 1, model.nv))
        found.append(RobotState(0, q, rng.normal(size=model.nv), np.zeros(model.nv)))
    return found


def percentiles(call: Callable[[int], object], calls: int = CALLS) -> tuple[float, float, float]:
    """p50, p99, p99.9 of single calls, µs, the clock's own cost (about 0.05 µs) included."""
    for i in range(1000):
        call(i)
    spent = np.empty(calls)
    clock = time.perf_counter_ns
    for i in range(calls):
        start = clock()
        call(i)
        spent[i] = clock() - start
    p50, p99, p999 = np.percentile(spent, (50, 99, 99.9)) / 1000
    return float(p50), float(p99), float(p999)


def main() -> None:
    print(f"µs per call, {CALLS} calls, single thread")
    print(f"{'robot':<22}{'nv':>4}{'m':>4}  {'call':<12}{'p50':>8}{'p99':>8}{'p99.9':>8}")
    for name, yaml, urdf in ROBOTS:
        path = CONFIG / "cube.urdf" if urdf is None else example_urdf(urdf)
        model = RigidBodyModel.from_urdf(path, EstimatorConfig.from_file(CONFIG / yaml))
        some = states(model, 64)
        mapping = model.joint_map(model.joint_names[::-1])
        n = len(model.joint_names)
        values = array.array("d", np.linspace(0, 1, n))
        for label, call in (
            ("state", lambda i, mapping=mapping, values=values: mapping.state(i, values, values, values, BASE)),
            ("problem", lambda i, model=model, some=some: model.problem(some[i & 63])),
        ):
            p50, p99, p999 = percentiles(call)
            print(f"{name:<22}{model.nv:>4}{model.contacts:>4}  {label:<12}{p50:>8.1f}{p99:>8.1f}{p999:>8.1f}")


if __name__ == "__main__":
    main()
