"""``./run bench sensitivity``: what a saltation matrix costs, and how differences of simulate approach derivatives."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros import EstimatorConfig, RigidBodyModel, simulate
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse
from hybrid_contact_ros.sensitivity.touchdown import touchdown_saltation
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid, state_before_first_impact
from hybrid_contact_ros.systems.box_and_wall import box_and_wall
from hybrid_contact_ros.systems.compass_gait import compass_gait
from hybrid_contact_ros.systems.painleve_rod import painleve_rod
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop, published_state
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
CROUCH = np.tile([0.0, 0.9, -1.8], 4)
STEPS = (1e-3, 5e-4, 2.5e-4)
ROD = ([0.36, 1.03, 1.2], [0.2, 0.1, 0.3])
SYSTEMS: dict[str, tuple[Any, Any, Any, float]] = {
    "ball on sinusoid, e = 0.5": (ball_on_sinusoid(), *state_before_first_impact(0.5), 0.6),
    "ball on sinusoid, plastic": (ball_on_sinusoid(restitution=0.0), *state_before_first_impact(0.5), 0.6),
    "pendulum with stop": (pendulum_with_stop(), *published_state(), 2.0),
    "Painlevé's rod, μ = 1": (painleve_rod(1.0), *ROD, 0.3),
    "Painlevé's rod, μ = 0.1": (painleve_rod(0.1), *ROD, 0.3),
    "box and wall": (box_and_wall(), [-1.0, 0.75, 1.3], [1.0, 0.0, 0.0], 0.35),
    "compass gait": (compass_gait(), [0.0, 1.05, 0.3, -0.35], [0.2, 0.0, 0.4, -0.2], 0.3),
}


def convergence(system: Any, q: Any, v: Any, end: float) -> tuple[list[float], float, int, int]:
    """Largest errors of central differences for the steps, the size of ∂x(t)/∂x(0), and its rank of so many."""
    options = {"rtol": 1e-11, "atol": 1e-13}
    q_, v_ = np.array(q, dtype=float), np.array(v, dtype=float)
    n = len(v_)
    exact = variational_flow(simulate(system, q_, v_, end, **options)).matrix

    def outcome(change: Array) -> Array:
        there = simulate(system, q_ + change[:n], v_ + change[n:], end, **options)
        return np.concatenate((there.q[-1], there.v[-1]))

    errors = []
    for step in STEPS:
        units = step * np.eye(2 * n)
        found = np.array([(outcome(unit) - outcome(-unit)) / (2.0 * step) for unit in units]).T
        errors.append(float(np.abs(found - exact).max()))
    size = float(np.abs(exact).max())
    return errors, size, int(np.linalg.matrix_rank(exact, tol=1e-7 * size)), 2 * n


def landing() -> tuple[RobotSystem, Array, Array]:
    """A Go2 whose front right foot lands at 1 m/s."""
    model = RigidBodyModel.from_urdf(
        example_urdf("go2_description/urdf/go2.urdf"), EstimatorConfig.from_file("config/go2.yaml")
    )
    system, rng = RobotSystem(model), np.random.default_rng(0)
    q = model.neutral()
    q[7:] = CROUCH
    q = model.integrate(q, 0.02 * rng.normal(size=18))
    row = np.zeros(18)
    for _ in range(4):
        problem = system.problem(q, np.zeros(18))
        row = problem.normal_jacobian[1]
        q = system.integrate(q, -row * problem.gap[1] / (row @ row))
    v = 0.3 * rng.normal(size=18)
    return system, q, v - row * (row @ v + 1.0) / (row @ row)


def fastest(work: Callable[[], Any], count: int = 400) -> float:
    """Least thread time, µs."""
    times = []
    for _ in range(count):
        start = time.thread_time_ns()
        work()
        times.append(time.thread_time_ns() - start)
    return min(times) / 1e3


def main() -> None:
    """Print both tables."""
    system, q, v = landing()
    model = system.model
    course = ImpactCourse(frozenset({1}))  # the foot stops, whatever friction that takes
    found = touchdown_saltation(system, q, v, 1, course=course)
    if not found.valid:
        raise SystemExit(f"the landing has no matrix: {found.why}")
    one = fastest(lambda: touchdown_saltation(system, q, v, 1, course=course))
    unit = fastest(lambda: pin.computeAllTerms(model.pinocchio_model, model.pinocchio_data, q, v))
    print(f"touchdown of a Go2: {one:.0f} µs, {one / unit:.0f} times pinocchio.computeAllTerms ({unit:.1f} µs)")
    print(f"errors of central differences of simulate for steps of {', '.join(map(str, STEPS))}:")
    for name, case in SYSTEMS.items():
        errors, size, rank, full = convergence(*case)
        listed = ", ".join(f"{error:.1e}" for error in errors)
        print(f"  {name:28s} {listed}   size {size:.1f}, rank {rank} of {full}")


if __name__ == "__main__":
    main()
