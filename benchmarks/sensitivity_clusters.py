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
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse
from hybrid_contact_ros.sensitivity.touchdown import touchdown_saltation
from hybrid_contact_ros.sensitivity.words import touchdown_words
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
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
    system, q, v = landing()
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
    """Print the table."""
    system, q, v = landing()
    model = system.model
    unit_data, unit_q, unit_v = model.pinocchio_data, q, v
    print("thread time, least of several; times of pinocchio.computeAllTerms of the Go2 in brackets")
    for name, (robot, at, speed) in falling().items():
        where = (system, q, v, 1) if name == "Go2" else (robot, at, speed, 0)
        times = in_turns(
            {
                "touchdown": lambda where=where: touchdown(*where),
                "unit": lambda: pin.computeAllTerms(model.pinocchio_model, unit_data, unit_q, unit_v),
            },
            rounds,
        )
        one, unit = times["touchdown"], times["unit"]
        print(f"  {name}, nv {robot.model.nv}: Ξ of one touchdown {one:.0f} µs ({one / unit:.0f}; unit {unit:.1f} µs)")
        for contacts in CLUSTERS[name]:
            found = touchdown_words(robot, at, speed, contacts)
            count = len(found.words)
            repeat = 3 if count > 20 else 10
            took = in_turns(
                {"words": lambda robot=robot, at=at, speed=speed, c=contacts: touchdown_words(robot, at, speed, c)},
                repeat,
            )["words"]
            said = "" if found.complete else f", {sum(word.matrix is None for word in found.words)} without a map"
            print(f"    {len(contacts)} contacts, {count} words{said}: {took / 1e3:.2f} ms ({took / unit:.0f})", flush=True)
