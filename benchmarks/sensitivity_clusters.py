"""What a saltation matrix, and the words of a cluster of touchdowns, cost on a quadruped and on a humanoid."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.soles import ROBOTS
from hybrid_contact_ros import EstimatorConfig, RigidBodyModel
from hybrid_contact_ros.config import Contact
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.sensitivity.cluster_solver import ClusterSolver
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse
from hybrid_contact_ros.sensitivity.touchdown import touchdown_saltation
from hybrid_contact_ros.sensitivity.words import touchdown_words
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
SIGMA = 1e-3  # m, rad, m/s and rad/s, of the states before a cluster
CROUCH = np.tile([0.0, 0.9, -1.8], 4)
CLUSTERS: dict[str, tuple[tuple[int, ...], ...]] = {
    "Go2": ((1,), (0, 3), (0, 1, 2), (0, 1, 2, 3)),
    "Talos": ((0,), (0, 2), (0, 1, 2), (0, 1, 2, 3)),
}


def go2() -> RigidBodyModel:
    """The quadruped with its four feet."""
    config = EstimatorConfig.from_file("config/go2.yaml")
    return RigidBodyModel.from_urdf(example_urdf("go2_description/urdf/go2.urdf"), config)


def landing() -> tuple[RobotSystem, Array, Array]:
    """A Go2 whose front right foot lands at 1 m/s."""
    model = go2()
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


def humanoid() -> tuple[RobotSystem, Array, Array]:
    """Talos with a point at the toe and one at the heel of each sole, level, falling at 1 m/s."""
    urdf, links, size, posture = ROBOTS["Talos"]
    points = (0.5 * size[0], 0.0, 0.0, -0.5 * size[0], 0.0, 0.0)
    contacts = {link: Contact(link=link, points=points) for link in links}
    model = RigidBodyModel.from_urdf(example_urdf(urdf), EstimatorConfig(floating_base=True, contacts=contacts))
    system, names = RobotSystem(model), list(model.joint_names)
    q, v = model.neutral(), np.zeros(model.nv)
    for joint, angle in posture.items():
        q[7 + names.index(joint)] = angle
    q[2] -= system.gap(q).min()
    v[2] = -1.0
    return system, q, v


def falling() -> dict[str, tuple[RobotSystem, Array, Array]]:
    """Both robots, falling at 1 m/s."""
    system, q, _ = landing()
    return {"Go2": (system, q, np.concatenate(([0.0, 0.0, -1.0], np.zeros(15)))), "Talos": humanoid()}


def in_turns(works: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Least thread time of each, µs, in turns."""
    times: dict[str, list[int]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = time.thread_time_ns()
            work()
            times[name].append(time.thread_time_ns() - start)
    return {name: min(found) / 1e3 for name, found in times.items()}


def touchdown(system: RobotSystem, q: Array, v: Array, contact: int) -> None:
    """Ξ of a foot that stops, whatever friction that takes, with all of its columns."""
    found = touchdown_saltation(system, q, v, contact, course=ImpactCourse(frozenset({contact})))
    if not found.valid:
        raise SystemExit(f"the landing has no matrix: {found.why}")


def report(rounds: int = 300) -> None:
    """Print the table: Ξ of one touchdown, and the words of clusters, compiled with a covariance and in Python."""
    system, q, v = landing()
    model = system.model
    print("thread time, least of several turns; in brackets as multiples of pinocchio.computeAllTerms of the Go2")
    for name, (robot, at, speed) in falling().items():
        one = (system, q, v, 1) if name == "Go2" else (robot, at, speed, 0)
        times = in_turns(
            {
                "touchdown": lambda one=one: touchdown(*one),
                "unit": lambda: pin.computeAllTerms(model.pinocchio_model, model.pinocchio_data, q, v),
            },
            rounds,
        )
        took, unit = times["touchdown"], times["unit"]
        print(f"{name}, nv {robot.model.nv} (unit {unit:.1f} µs)")
        print(f"  Ξ of one touchdown, all columns: {took:.0f} µs ({took / unit:.0f})")
        solver, spread = ClusterSolver(robot.model), SIGMA**2 * np.eye(2 * robot.model.nv)
        for contacts in CLUSTERS[name]:
            _cluster(solver, robot, at, speed, contacts, spread, unit)


def _cluster(
    solver: ClusterSolver, robot: RobotSystem, q: Array, v: Array, contacts: tuple[int, ...], spread: Array, unit: float
) -> None:
    """One line of the table."""
    found, quick = touchdown_words(robot, q, v, contacts), solver.solve(q, v, contacts, covariance=spread)
    rounds = 3 if len(found.words) > 20 else 10
    slow = in_turns({"words": lambda: touchdown_words(robot, q, v, contacts)}, rounds)["words"]
    fast = in_turns({"words": lambda: solver.solve(q, v, contacts, covariance=spread)}, 20 * rounds)["words"]
    without = sum(word.matrix is None for word in found.words)
    said = f", {without} without a map" if without else ""
    agreed = "" if len(quick.impacts) == len(found.words) else f" (compiled: {len(quick.impacts)})"
    print(
        f"  {len(contacts)} contacts, {len(found.words)} words{agreed}{said}: compiled, with moments "
        f"{fast / 1e3:.3f} ms ({fast / unit:.0f}), touchdown_words {slow / 1e3:.1f} ms ({slow / unit:.0f})",
        flush=True,
    )
