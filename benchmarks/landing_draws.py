"""How much of the model of a landing its set holds, and what the set takes: ``./run bench landing_draws [--landings 20]
[--draws 2000]``; the issue's brute force is ``--landings 8 --draws 100000``.

Random landings of the Go2 (one to four feet hit, the others stand) and of Talos on two soles of four points. The whole
model is drawn: every term of ``LandingTerms`` in its interval, half of the numbers at an end (``law``), all of them at
an end (``corner``), and with the contacts' impulses in random orders (``order``). Printed: share of draws in the set,
quantiles of the distance of draws over the jump, the width of ``quantile_bounds`` over that of all draws together, the
share of coordinates in which no draw is outside of them; then times, as multiples of ``pinocchio.computeAllTerms`` of
the Go2, of the law's part of a set and of a whole set without samples, and how many samples a deadline of 1 ms leaves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from benchmarks.estimator import go2
from benchmarks.soles import landing as sole_landing
from hybrid_contact_ros import ContactProblem, RobotState, VelocitySet, simultaneous_impact
from hybrid_contact_ros.config import ImpactConfig, LandingConfig
from hybrid_contact_ros.impacts.landing import Landing
from hybrid_contact_ros.impacts.landing_model import LandingTerms, common_drives, joint_drives
from hybrid_contact_ros.impacts.landing_outcomes import landing_set
from hybrid_contact_ros.impacts.landing_set import AT_REST, LandingLaw, quantile_bounds
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.slip_axes import along_slip

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
DISTANCES = 60  # of draws of a landing, whose distance is computed: it takes milliseconds
_USABLE = 2e-3  # residual of a draw
_IN_ORDER = 16  # samples of all orders for each draw of duration, k and μ


def go2_landing(model: RigidBodyModel, seed: int) -> tuple[ContactProblem, Flags]:
    """A Go2 about to land on some feet while the others stand, with torques on its joints; and which feet hit."""
    rng = np.random.default_rng(seed)
    q, v = model.neutral(), rng.normal(size=model.nv) * np.r_[0.3, 0.3, 0.1, [0.5] * 3, [2.0] * 12]
    v[2] -= 0.8 * rng.uniform(0.3, 1.5)
    q[2] = 0.3
    q[7:] = np.tile([0.0, 0.8, -1.5], 4) + 0.2 * rng.normal(size=12)
    hitting = np.zeros(4, dtype=np.bool_)
    hitting[rng.permutation(4)[: 1 + seed % 4]] = True
    effort = np.r_[np.zeros(6), rng.normal(size=12) * 8.0]
    problem = model.problem(RobotState(0, q, v, effort))
    for _ in range(20):  # feet that hit approach, the others nearly rest
        J = problem.jacobian()
        u = (J @ v).reshape(4, 3)
        wanted = np.where(hitting[:, None], u, 0.05 * rng.normal(size=(4, 3)))
        wanted[hitting, 0] = -np.abs(wanted[hitting, 0]) - 0.1
        v = v + np.linalg.lstsq(J, (wanted - u).ravel(), rcond=None)[0]
        problem = problem.with_velocity(v)
    return problem, hitting


def landings(count: int) -> list[tuple[str, ContactProblem, Flags, NDArray[np.intp]]]:
    """Name of the robot, problem, which contacts hit, and the foot of each."""
    model = go2()
    found = [("Go2", *go2_landing(model, seed), np.arange(4)) for seed in range(count)]
    for seed in range(count // 4):
        problem = sole_landing("Talos", 2, 4, seed)
        problem = problem.replace(restitution=np.zeros(problem.contacts), bias_force=_weight(problem))
        found.append(("Talos", problem, np.ones(problem.contacts, dtype=np.bool_), np.repeat([0, 1], 4)))
    return found


def _weight(problem: ContactProblem) -> Array:
    """h of a robot that only its weight acts on."""
    return problem.mass[:, 2] * 9.81


def parts(rng: np.random.Generator, corners: bool, *shape: int) -> Array:
    """Numbers in [0, 1], half of them at its ends; with ``corners`` all of them."""
    if corners:
        return rng.integers(0, 2, shape).astype(np.float64)
    return np.clip(2.0 * rng.random(shape) - 0.5, 0.0, 1.0)


def model_draws(
    problem: ContactProblem, terms: LandingTerms, hitting: Flags, feet: NDArray[np.intp], rng: np.random.Generator,
    count: int, corners: bool = False, ordered: bool = False,
) -> Array:  # fmt: skip
    """Outcomes v⁺ (count, n) of the whole model; with ``ordered`` the contacts' impulses come in random orders."""
    m, d, n = problem.tangent_jacobian.shape
    driven = np.arange(n) >= 6
    law = LandingLaw(terms, d, n, problem.friction, (np.zeros(m), np.zeros(m)), driven)
    J = problem.jacobian()
    u = (J @ problem.velocity).reshape(m, 1 + d)
    approach = np.where(hitting, -np.minimum(u[:, 0], 0.0), 0.0)

    def between(low: float, high: float, *shape: int) -> Array:
        return low + (high - low) * parts(rng, corners, *shape)

    fewer = -(-count // _IN_ORDER) if ordered else count
    again = np.repeat(np.arange(fewer), _IN_ORDER)[:count] if ordered else np.arange(count)
    duration = between(terms.duration_min, terms.duration_max, fewer)[again]
    drive = joint_drives(between(terms.drive_min, terms.drive_max, fewer), problem.mass, driven)
    drive = np.maximum(drive + between(-terms.drive_own, terms.drive_own, fewer, n), 0.0)[again] * driven
    friction = (between(1.0 - terms.friction, 1.0 + terms.friction, fewer, 1) * problem.friction)[again]
    left = np.zeros((count, m, 1 + d))
    left[:, :, 0] = between(terms.rebound_min, terms.rebound_max, count, m)[:, feet] * approach
    left[:, :, 1:] = between(-terms.slip, terms.slip, count, m, d)[:, feet] * approach[:, None]
    left[:, :, 1:] += between(0.0, terms.creep, count, m, 1)[:, feet] * np.where(hitting[:, None], u[:, 1:], 0.0)
    arguments = problem.mass, problem.bias_force, J, problem.velocity, duration, drive, friction
    found, _, residuals, _ = law.solve(*arguments, left.reshape(count, -1))
    usable = residuals <= _USABLE
    if ordered:
        for first in range(0, count, _IN_ORDER):
            rows = slice(first, min(first + _IN_ORDER, count))
            found[rows] += _in_orders(problem, drive[first], friction[first], rows, rng)
    # What standing contacts do is linear by definition (``landing_set``).
    speed, fastest = np.abs(u), approach.max(initial=0.0)
    moving = ~hitting & (speed.max(axis=1) > AT_REST * fastest)
    restless = np.where(moving[:, None], terms.settling * speed, 0.0)
    restless[:, 0] += np.where(moving, terms.bounce * fastest, 0.0)
    usual = np.full(1, 0.5 * sum(common_drives(terms, problem.mass, driven)))
    W = np.linalg.solve(problem.mass + np.diag(joint_drives(usual, problem.mass, driven)[0]), J.T)
    back = W @ np.linalg.pinv(J @ W, rcond=1e-8, hermitian=True)
    found += between(-1.0, 1.0, count, m * (1 + d)) * restless.ravel() @ back.T
    return found[usable]


def _in_orders(problem: ContactProblem, drive: Array, friction: Array, rows: slice, rng: np.random.Generator) -> Array:
    """What the order of the impulses changes (Halm's Algorithm 1) with these values, from all contacts at once."""
    same = problem.replace(mass=problem.mass + np.diag(drive), friction=friction)
    found = landing_set(same, LandingTerms(), samples=rows.stop - rows.start, seed=int(rng.integers(2**31)))
    return found.velocities - simultaneous_impact(along_slip(same)[0]).velocity


def inside(found: VelocitySet, draws: Array) -> Array:
    """Distances of draws from the set with its margin, over the jump."""
    region = found.convex()
    return np.array([region.distance(v) for v in draws]) / found.jump


def extent_ratio(found: VelocitySet, draws: Array) -> tuple[Array, Flags]:
    """Per coordinate: width of the quantile bounds over that of the draws; and whether the draws are within them."""
    law, none = found.steps == 0, np.empty((0, draws.shape[1]))
    lower, upper = quantile_bounds(
        found.velocities[law], found.velocities[~law], none if found.generators is None else found.generators
    )
    low, high = draws.min(axis=0), draws.max(axis=0)
    held = np.asarray((draws >= lower).all(axis=0) & (draws <= upper).all(axis=0))
    return (upper - lower) / np.maximum(high - low, 1e-12), held


def containment(count: int, draws: int, terms: LandingTerms) -> None:
    """Print how much of the model the sets hold."""
    shares: dict[tuple[str, str], list[Array]] = {}
    bounds: dict[str, list[tuple[Array, Array]]] = {}
    for robot, problem, hitting, feet in landings(count):
        found = landing_set(problem, terms, hitting, feet=feet, samples=256)
        rng = np.random.default_rng(0)
        kinds = {"law": {}, "corner": {"corners": True}, "order": {"ordered": True}}
        made = {kind: model_draws(problem, terms, hitting, feet, rng, draws, **how) for kind, how in kinds.items()}
        for kind, drawn in made.items():
            some = drawn[:: max(1, len(drawn) // DISTANCES)][:DISTANCES]
            shares.setdefault((robot, kind), []).append(inside(found, some))
        bounds.setdefault(robot, []).append(extent_ratio(found, np.concatenate(list(made.values()))))
    for (robot, kind), parts_of in shares.items():
        far = np.concatenate(parts_of)
        quantiles = " / ".join(f"{100.0 * x:.2f}" for x in np.percentile(far, [50, 90, 95, 99, 100]))
        print(f"{robot:6}{kind:7} in the set {100.0 * np.mean(far <= 1e-9):5.1f} %, distance % of the jump {quantiles}")
    for robot, found_bounds in bounds.items():
        ratio, held = (np.concatenate([pair[i] for pair in found_bounds]) for i in (0, 1))
        quantiles = " / ".join(f"{x:.2f}" for x in np.percentile(ratio, [0, 5, 50, 95, 100]))
        print(f"{robot:6}bounds over the extent of the draws {quantiles}, nothing outside in {100 * held.mean():.1f} %")


def best(call: Callable[[], object], turns: int = 15) -> float:
    """Least thread time of a call, µs."""
    times = []
    for _ in range(turns):
        begin = time.thread_time_ns()
        call()
        times.append(1e-3 * (time.thread_time_ns() - begin))
    return min(times)


def times(terms: LandingTerms) -> None:
    """Print what sets take."""
    model = go2()
    state = model.neutral(), np.zeros(model.nv), np.zeros(model.nv)
    unit = best(lambda: pin.computeAllTerms(model.pinocchio_model, model.pinocchio_data, *state[:2]))
    print(f"computeAllTerms {unit:.1f} µs")
    for name, problem, hitting, feet in (*landings(4)[:4], *landings(8)[-2:]):
        m, d, n = problem.tangent_jacobian.shape
        landing = Landing(problem, 4, 1.0, 100, None, terms, np.arange(n) >= 6, feet)
        rows = problem.jacobian().reshape(m, 1 + d, n)
        off = Landing(problem, 4, 1.0, 100, None)

        def whole(one: Landing, deadline: int | None = None) -> int:
            end = time.perf_counter_ns() + deadline if deadline else None
            one.prepare(problem.mass, rows, problem.velocity, np.arange(m), 0)  # noqa: B023
            if one.law is not None:
                one.points(problem.mass, problem.bias_force, hitting, True)  # noqa: B023
            taken = one.sample(256 if deadline else 1, end, True)
            one.gather(taken)
            return len(taken.info)

        law, today = best(lambda: whole(landing)), best(lambda: whole(off))  # noqa: B023
        within = np.median([whole(landing, 850_000) for _ in range(15)])
        print(
            f"{name:6}{hitting.sum()} of {m} hit: with one sample {law:.0f} µs, {law / unit:.0f} × computeAllTerms; "
            f"without terms {today:.0f} µs; samples within 0.85 ms {within:.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--landings", type=int, default=20)
    parser.add_argument("--draws", type=int, default=2000, help="of each kind, of each landing")
    chosen = parser.parse_args()
    for friction in (0.0, ImpactConfig().friction_margin):
        terms = LandingTerms.of(LandingConfig(), friction)
        print(f"μ ± {100.0 * friction:.0f} %")
        times(terms)
        containment(chosen.landings, chosen.draws, terms)


if __name__ == "__main__":
    main()
