"""``./run bench executions``: executions of the papers' systems: how long they take, and how far they drift."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.simulation.execution import Execution
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex
from hybrid_contact_ros.systems.point_and_hill import point_and_hill
from hybrid_contact_ros.systems.robot import RobotSystem
from hybrid_contact_ros.systems.rocking_block import rocking_block
from hybrid_contact_ros.systems.settling_block import leaning, settling_block

Array = NDArray[np.float64]
CONFIG = Path(__file__).resolve().parents[1] / "config"


def bouncing_ball() -> LagrangianSystem:
    y = sympy.Symbol("y")
    ground = Constraint("ground", y, restitution=0.5)
    return LagrangianSystem("ball", [y], sympy.eye(1), 9.81 * y, [ground])


def robots() -> dict[str, Callable[[], Execution]]:
    """The cube of config/, thrown, and a Go2 dropped, where example-robot-data is installed."""
    cube = RigidBodyModel.from_urdf(CONFIG / "cube.urdf", EstimatorConfig.from_file(CONFIG / "cube.yaml"))
    toss = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]), np.array([0.5, 0.0, 0.0, 1.0, 7.0, -5.0])
    cases = {
        "cube in flight, 0.2 s": lambda: simulate(cube, *toss, 0.2),
        "cube, thrown, 1 s": lambda: simulate(cube, *toss, 1.0),
    }
    try:
        go2 = RigidBodyModel.from_urdf(
            example_urdf("go2_description/urdf/go2.urdf"), EstimatorConfig.from_file(CONFIG / "go2.yaml")
        )
    except FileNotFoundError as error:
        print(f"no Go2: {error}")
        return cases
    crouch = np.tile([0.0, 0.9, -1.8], 4)
    q = go2.neutral()
    q[3:7] = 0.05, -0.075, 0.0, np.sqrt(1.0 - 0.05**2 - 0.075**2)
    q[7:] = crouch
    q[2] += 0.05 - RobotSystem(go2).gap(q).min()

    def hold(time: float, q: Array, v: Array, mode: frozenset[int]) -> Array:
        return 40.0 * (crouch - q[7:]) - 2.0 * v[6:]

    cases["Go2, dropped tilted, PD, 1 s"] = lambda: simulate(go2, q, np.zeros(18), 1.0, effort=hold)
    cases["Go2, the same, limp, 0.15 s"] = lambda: simulate(go2, q, np.zeros(18), 0.15)
    return cases


def main() -> None:
    """Print the table: best of three."""
    robot, ball, hill, block, box = (
        PlanarRHex(),
        bouncing_ball(),
        point_and_hill(0.5),
        settling_block(),
        rocking_block(restitution=0.3, friction=0.5),
    )
    start, tumbling, leap = leaning(0.2), [0.0, 1.3, 0.3], robot.crouch()
    cases: dict[str, Callable[[], Execution]] = {
        "ball, e = 0.5, 2 s": lambda: simulate(ball, [1.0], [0.0], 2.0),
        "point and hill, 2 s": lambda: simulate(hill, [-0.1, 0.0], [1.0, 0.0], 2.0),
        "settling block, 1 s": lambda: simulate(block, start, np.zeros(3), 1.0),
        "the same, δt = 0.03 s": lambda: simulate(block, start, np.zeros(3), 1.0, law="pseudo-impulse"),
        "block, e = 0.3, 3 s": lambda: simulate(box, tumbling, [0.5, 0.0, 1.0], 3.0),
        "planar RHex, 0.42 s": lambda: simulate(robot, leap, np.zeros(5), 0.42),
    }
    cases |= robots()
    print(f"{'execution':<32}{'events':>8}{'steps':>8}{'ms':>9}{'gap drift, m':>15}{'speed drift, m/s':>18}")
    for name, run in cases.items():
        execution, best = _timed(run)
        print(
            f"{name:<32}{len(execution.events):8d}{len(execution.times):8d}{1e3 * best:9.0f}"
            f"{execution.gap_drift:15.1e}{execution.velocity_drift:18.1e}"
        )


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    result, best = run(), np.inf
    for _ in range(3):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    return result, best


if __name__ == "__main__":
    main()
