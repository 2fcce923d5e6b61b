"""``./run bench impact_scaling``: increments against contacts and friction directions, sets by threads, deadlines.

Bodies: a free rigid body on m points, at random (m ≤ 12, in space). LCPs are streams from Algorithm 1, as in
``./run bench impacts``. Deadlines are measured in the time of the thread, so that other programs on the machine do not
count.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.impacts import box, go2_landing, time_call, time_increment
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

CONTACTS = (1, 2, 3, 4, 6, 8, 10, 12)
DIRECTIONS = (2, 4, 6, 8, 12, 16)
DEADLINE = 1.0  # ms


def many_legs(m: int, rng: np.random.Generator) -> ContactProblem:
    """A body on m legs of three joints each (nv = 6 + 3 m), whose feet come down at random velocities."""
    nv = 6 + 3 * m
    mass = np.eye(nv)
    mass[:6, :6] *= 12.0
    rows = np.zeros((m, 3, nv))
    for i in range(m):
        arm = rng.normal(size=3)
        turn = np.array([[0.0, arm[2], -arm[1]], [-arm[2], 0.0, arm[0]], [arm[1], -arm[0], 0.0]])
        rows[i, :, :3], rows[i, :, 3:6] = np.eye(3)[[2, 0, 1]], turn[[2, 0, 1]]
        rows[i, :, 6 + 3 * i : 9 + 3 * i] = rng.normal(size=(3, 3))
    velocity = 0.1 * rng.normal(size=nv)
    velocity[2] = -1.0
    lift = rows[:, 0] @ velocity
    for i in np.flatnonzero(lift > -0.1):  # all come down
        leg = slice(6 + 3 * i, 9 + 3 * i)
        velocity[leg] -= rows[i, 0, leg] * (lift[i] + 0.5) / (rows[i, 0, leg] @ rows[i, 0, leg])
    return ContactProblem(mass, velocity, rows[:, 0], rows[:, 1:], np.full(m, 0.6))


def scaling() -> None:
    """Increments (µs, pivots) against contacts and directions."""
    print("increment LCP against contacts: µs p50 (pivots)")
    print(f"{'contacts':>10}{'legs, 4 directions':>22}{'legs, 8':>18}{'one body, 4 directions':>24}")
    for m in CONTACTS:
        legs, body = many_legs(m, np.random.default_rng(m)), flat_body(m)
        cells = [time_increment(legs, 60), time_increment(legs, 60, directions=8), time_increment(body, 60)]
        print(
            f"{m:>10}"
            + "".join(f"{f'{us:.2f} ({n:.1f})':>{w}}" for (us, _, n), w in zip(cells, (22, 18, 24), strict=True))
        )
    print("\nincrement LCP of four legs against directions: µs p50 (pivots)")
    for k in DIRECTIONS:
        us, _, n = time_increment(many_legs(4, np.random.default_rng(4)), 60, directions=k)
        print(f"{k:>10}{f'{us:.2f} ({n:.1f})':>22}")


def flat_body(m: int) -> ContactProblem:
    """A box with its first m corners (and points between them beyond 8) near the ground."""
    problem = box(np.random.default_rng(0), 8).with_velocity([0.1, 0.05, -1.0, 0.2, -0.3, 0.1])
    rows = problem.jacobian().reshape(8, 3, 6)
    extra = np.array([(rows[i] + rows[i + 1]) / 2 for i in range(max(m - 8, 0))]).reshape(-1, 3, 6)
    rows = np.concatenate([rows[:m], extra])
    return ContactProblem(problem.mass, problem.velocity, rows[:, 0], rows[:, 1:], np.full(m, problem.friction[0]))


def threads() -> None:
    """Whole sets, by one and by two threads."""
    print("\nsets, ms p50: one thread, two threads")
    block = rocking_block_impact()
    cases = {"rocking block, 16384 samples": (block.problem, block.step, 16384, block.max_steps)}
    legs = go2_landing() or many_legs(4, np.random.default_rng(4))
    cases["four legs, 1000 samples"] = (legs, impulse_scale(legs), 1000, 100)
    for name, arguments in cases.items():
        times = [
            time_call(lambda a=arguments, n=n: post_impact_set(*a, solutions="one", threads=n), 30)[0] / 1e3
            for n in (1, 2)
        ]
        print(f"{name:<32}{times[0]:8.2f}{times[1]:8.2f}  ({times[0] / times[1]:.2f}×)")


def deadlines() -> None:
    """How well a deadline is kept."""
    print(
        f"\nsets with a deadline of {DEADLINE} ms, 200 each, two laws: time of the thread p50, p99, max ms; samples p50"
    )
    examples = {
        "rocking block": rocking_block_impact,
        "compass gait": compass_gait_impact,
        "box and wall": box_and_wall_impact,
        "RAMone": ramone_impact,
        "disks": disk_stacking_impact,
    }
    problems = {name: make().problem for name, make in examples.items()}
    problems |= {"four legs": many_legs(4, np.random.default_rng(4)), "box, 4 corners": flat_body(4)}
    problems["box, 8 corners"] = flat_body(8)
    for name, problem in problems.items():
        for law, restitution in (("inelastic", None), ("poisson", (0.0, 0.4))):
            times, counts = [], []
            for seed in range(-1, 200):
                begin = time.thread_time_ns()
                found = post_impact_set(
                    problem,
                    impulse_scale(problem),
                    4096,
                    100,
                    seed=max(seed, 0),
                    law=law,
                    restitution=restitution,
                    deadline_ns=int(DEADLINE * 1e6),
                )
                times.append((time.thread_time_ns() - begin) / 1e6)
                counts.append(len(found.velocities))
            p50, p99 = np.quantile(times[1:], (0.5, 0.99))
            print(
                f"{name:<20}{law:<12}{p50:8.2f}{p99:8.2f}{max(times[1:]):8.2f}{np.median(counts[1:]):8.0f}", flush=True
            )


def main() -> None:
    """Print the tables."""
    scaling()
    threads()
    deadlines()


if __name__ == "__main__":
    main()
