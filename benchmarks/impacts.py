"""Times of the impact solvers: per increment LCP, one simultaneous impact, one set of 256 samples; sets by law, within
the node's deadline, and with many friction directions.

Run from the repository root: ``./run bench impacts``. The LCPs are streams from Algorithm 1: increments at
uniform caps until no contact approaches, then afresh.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from numba import njit

from benchmarks.impact_problems import box, halm_posa_lcp, random_problem
from hybrid_contact_ros.estimation.impact import impulse_unit
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.kernels.impacts.increment import increment
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

DIRECTIONS = 4
REPEATS = 2000


def problems() -> dict[str, ContactProblem]:
    """The impacts that are timed."""
    rng = np.random.default_rng(1)
    found = {"rocking block": rocking_block_impact().problem}
    quadruped = go2_landing()
    if quadruped is not None:
        found["Go2 landing (URDF)"] = quadruped
    found["random m=4 d=2 nv=18"] = _wide(rng)
    tilted = np.array([0.1, 0.05, -1.0, 0.2, -0.3, 0.1])
    for corners in (4, 8):
        found[f"box{corners}"] = box(rng, corners).with_velocity(tilted)
    return found


def _wide(rng: np.random.Generator) -> ContactProblem:
    while True:
        problem = random_problem(rng, "plain", m=4, d=2)
        if problem.nv == 18 and (problem.normal_jacobian @ problem.velocity < 0).all():
            return problem


def go2_landing(rng: np.random.Generator | None = None) -> ContactProblem | None:
    """Go2 from the example-robot-data package, about to land on four feet; None where that is not installed.

    With ``rng`` its posture and velocities are drawn about those that it has without.
    """
    try:
        from hybrid_contact_ros.config import EstimatorConfig
        from hybrid_contact_ros.mechanics.example_data import example_urdf
        from hybrid_contact_ros.mechanics.model import RigidBodyModel
        from hybrid_contact_ros.mechanics.state import RobotState

        urdf = example_urdf("go2_description/urdf/go2.urdf")
        config = EstimatorConfig.from_file(Path(__file__).parents[1] / "config" / "go2.yaml")
        model = RigidBodyModel.from_urdf(urdf, config)
        q = np.zeros(model.nq)
        q[2], q[6], q[7:] = 0.35, 1.0, np.tile([0.0, 0.9, -1.8], 4)
        v = np.zeros(model.nv)
        v[:6] = 0.1, 0.05, -1.0, 0.3, -0.2, 0.1
        if rng is not None:
            q[7:] += rng.normal(scale=0.15, size=12)
            v += rng.normal(size=model.nv) * np.r_[0.5, 0.5, 0.3, 1.0, 1.0, 0.5, np.ones(12)]
        return model.problem(RobotState(0, q, v))
    except (ImportError, OSError, ValueError) as error:
        print(f"(no Go2: {error})", file=sys.stderr)
        return None


def cube_landing() -> ContactProblem:
    """A cube of 0.37 kg and 0.1 m that lands on four corners at once, nearly flat."""
    h = 0.05
    arms = np.array([[x, y, -h] for x in (-h, h) for y in (-h, h)])
    frame = np.eye(3)[[2, 0, 1]]
    rows = np.array([[np.concatenate((axis, np.cross(arm, axis))) for axis in frame] for arm in arms])
    mass = np.diag([0.37] * 3 + [0.001] * 3)
    return ContactProblem(mass, [0.5, 0.2, -1.0, 0.3, -0.5, 0.4], rows[:, 0], rows[:, 1:], np.full(4, 0.16))


@njit
def _stream(repeats, g, H, w, c, caps, tableau, lines, z, after, now):
    pivots = 0
    for i in range(repeats):
        approaching = False
        for k in range(c.shape[0]):
            if now[k * (1 + g)] < -1e-9:
                approaching = True
        if not approaching:
            now[:] = w
        _, _, count = increment(g, H, now, caps[i % caps.shape[0]], c, tableau, lines, z, after)
        now[:] = after
        pivots += count
    return pivots


def time_increment(
    problem: ContactProblem, rounds: int = 200, repeats: int = 50, directions: int = DIRECTIONS
) -> tuple[float, float, float]:
    """Median and 99 % quantile (µs) of the mean over ``repeats`` LCPs, and pivots each."""
    space = ContactSpace(problem, directions)
    rng, p = np.random.default_rng(0), space.w.size
    unit = impulse_scale(problem) * space.scale.max() / space.speed
    caps = rng.uniform(0, unit, (1009, problem.contacts))
    z, after, now = np.empty(p), np.empty(p), space.w.copy()
    arguments = (space.g, space.H, space.w, space.c, caps, space.tableau, space.lines, z, after, now)
    pivots = _stream(1000, *arguments) / 1000
    times = np.empty(rounds)
    for i in range(rounds):
        begin = time.perf_counter_ns()
        _stream(repeats, *arguments)
        times[i] = (time.perf_counter_ns() - begin) / repeats / 1e3
    return float(np.median(times)), float(np.quantile(times, 0.99)), pivots


def time_call(call, rounds: int) -> tuple[float, float]:
    """Median and 99 % quantile of a Python call, µs."""
    call()
    times = np.empty(rounds)
    for i in range(rounds):
        begin = time.perf_counter_ns()
        call()
        times[i] = (time.perf_counter_ns() - begin) / 1e3
    return float(np.median(times)), float(np.quantile(times, 0.99))


def time_quantecon(problem: ContactProblem) -> float | None:
    """Mean µs of quantecon's numba Lemke on Halm (75) for fresh draws, within njit; None if not installed."""
    try:
        from quantecon.optimize import lcp_lemke
    except ImportError:
        return None
    rng, unit = np.random.default_rng(0), impulse_scale(problem)
    W, w, _ = halm_posa_lcp(problem, np.ones(problem.contacts), DIRECTIONS)
    n, m = len(w), problem.contacts
    rights = np.tile(w, (200, 1))
    rights[:, :m] = rng.uniform(0, unit, (200, m))
    tableau, basis, z = np.empty((n, 2 * n + 2)), np.empty(n, dtype=np.int64), np.empty(n)
    cover = np.ones(n)

    @njit
    def run(W, rights, cover, tableau, basis, z):
        solved = 0
        for i in range(rights.shape[0]):
            solved += lcp_lemke(W, rights[i], cover, 10**6, tableau=tableau, basis=basis, z=z).success
        return solved

    run(W, rights, cover, tableau, basis, z)
    begin = time.perf_counter_ns()
    for _ in range(5):
        run(W, rights, cover, tableau, basis, z)
    return (time.perf_counter_ns() - begin) / 5 / len(rights) / 1e3


def laws(rounds: int = 200) -> None:
    """Sets of 256 by law, and how much of one there is within the node's deadline."""
    print("\nsets, e 0.25-0.38, defaults of the node: 256 samples, µs (over inelastic); samples within 1 ms; LCPs")
    robot = go2_landing()
    landings = {} if robot is None else {"Go2 landing": robot}
    landings["cube, four corners"] = cube_landing()
    for name, problem in landings.items():
        step, first = impulse_unit(problem, simultaneous_impact(problem)), 0.0  # as the node takes it
        for law in ("inelastic", "poisson", "stronge"):
            options = {"law": law} if law == "inelastic" else {"law": law, "restitution": (0.25, 0.38)}

            def whole(deadline_ns=None, problem=problem, step=step, options=options):
                return post_impact_set(problem, step, 256, 100, deadline_ns=deadline_ns, **options)

            p50, p99 = time_call(whole, rounds)
            first = first or p50
            made = np.median([len(whole(1_000_000).velocities) for _ in range(rounds)])
            print(
                f"{name:<22}{law:<12}{p50:>8.0f} ({p50 / first:.1f}) p99{p99:>8.0f}{made:>10.0f} of 256"
                f"{whole().steps.mean():>9.2f}"
            )


def searches(rounds: int = 5) -> None:
    """What the search for other solutions adds to a set, with many friction directions."""
    print("\nsets of 64 of a box on its corners: ms without search, with it (ratio); increments searched")
    for corners in (2, 4, 8):
        problem = box(np.random.default_rng(1), corners).with_velocity([0.1, 0.05, -1.0, 0.2, -0.3, 0.1])
        for directions in (4, 8, 16):
            times, found = [], None
            for solutions in ("one", "sampled"):

                def run(problem=problem, directions=directions, solutions=solutions):
                    return post_impact_set(
                        problem,
                        impulse_scale(problem),
                        64,
                        100,
                        directions=directions,
                        solutions=solutions,
                        friction=0.4,
                    )

                times.append(time_call(run, rounds)[0] / 1e3)
                found = run()
            print(
                f"{corners} contacts, {directions:>2} directions{times[0]:>9.2f}{times[1]:>9.2f} "
                f"({times[1] / times[0]:.1f}){found.searched:>9.2%}"
            )


def main() -> None:
    """Print the tables."""
    head = (
        "problem",
        "m",
        "LCP p50",
        "p99",
        "pivots",
        "quantecon",
        "simult. p50",
        "p99",
        "256 samples p50",
        "p99",
        "LCPs",
    )
    print("µs; LCP: mean of 50 in a compiled loop; the others: one call from Python, everything included")
    print(("{:<22}{:>3}" + "{:>12}" * 9).format(*head))
    for name, problem in problems().items():
        step = impulse_scale(problem)
        lcp, lcp99, pivots = time_increment(problem)
        other = time_quantecon(problem)
        one, one99 = time_call(lambda problem=problem: simultaneous_impact(problem), REPEATS)
        many, many99 = time_call(
            lambda problem=problem, step=step: post_impact_set(problem, step, 256, 100), REPEATS // 10
        )
        result = post_impact_set(problem, step, 256, 100)
        cells = [f"{lcp:.2f}", f"{lcp99:.2f}", f"{pivots:.1f}", "-" if other is None else f"{other:.2f}"]
        cells += [f"{one:.1f}", f"{one99:.1f}", f"{many:.0f}", f"{many99:.0f}", f"{result.steps.mean():.2f}"]
        print(("{:<22}{:>3}" + "{:>12}" * 9).format(name, problem.contacts, *cells))
    laws()
    searches()


if __name__ == "__main__":
    main()
