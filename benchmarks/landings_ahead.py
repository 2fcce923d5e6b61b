"""Sets of landings as they are published, 0 to 20 ms ahead, against what the robot did: ``./run bench landings_ahead``.

``[go2|anymal|solo12 ...] [--off] [--unlearned] [--configured] [--unstated] [--commands]``. A landing is one of
``benchmarks.landing_sets.records.find``; it counts at a lead where it is the next one: no other foot touches between
the state and v⁻. Of the sets of that state (the cluster's, those after its first feet, that of a landing under way) the
one with the landing's contacts is compared with it; where there is none the main one is. "noisy": states with
``benchmarks.estimator.NOISE``, and covariances that say so, or with ``--unstated`` none.
Columns: as ``benchmarks.landing_sets.sets.row``; share with the landing's contacts; half-width + 5 % over the radius of
the smallest ball around the nominal outcome that holds as many as the set does within 5 %. ``--off``: v⁻ extrapolated
by the acceleration held, without a spread. μ is the true one, or with ``--configured`` the configured one.
``--commands``: states have the commands of their drives, each a sample old (``benchmarks.landing_sets.commands``).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.estimator import NOISE, go2, states
from benchmarks.gaits import record
from benchmarks.landing_sets.commands import with_commands
from benchmarks.landing_sets.records import Array, Landing, find, is_later, landings, of_landing
from benchmarks.landing_sets.sets import HEAD, Score, row
from benchmarks.landing_sets.sources import ROOT, SHARED
from benchmarks.simulated_robots import SimulatedRobot
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.impacts.convex_set import convex_set
from hybrid_contact_ros.impacts.steps import without_pauses
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.prediction import ImpactPrediction
from hybrid_contact_ros.scoring.containment import set_score

LEADS = (0, 5, 10, 20)
_WARM = 40
Found = tuple[str, int, bool, Score, bool]
Episode = tuple[str, RigidBodyModel, EstimatorConfig, dict[str, Array]]


def episodes(robot: str) -> Iterator[Episode]:
    """Name, model, configuration and recording."""
    if robot == "go2":
        config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
        for path in sorted((SHARED / "data" / "go2_mujoco").glob("*.npz")):
            yield path.stem, go2(), config, dict(np.load(path))
        return
    for mu in (0.5, 0.8, 1.0):
        simulated = SimulatedRobot(robot, "soft", mu)
        for gait, seeds in (("drop", 6), ("trot", 1), ("stop", 1), ("walk", 1)):
            for seed in range(seeds):
                data = record(simulated, gait, seed)
                yield f"{gait} {seed} mu {mu}", simulated.rigid, simulated.config, data


def covariance() -> Array:
    pose = [NOISE["base"] ** 2] * 3 + [NOISE["angle"] ** 2] * 3
    twist = [NOISE["velocity"] ** 2] * 3 + [NOISE["rate"] ** 2] * 3
    return np.array([np.diag(pose), np.diag(twist)])


def compared(published: ImpactPrediction, landing: Landing) -> tuple[Score, bool]:
    """Of the sets of one state, the one with the landing's contacts; whether there is one."""
    one, same = of_landing(published, landing)
    return set_score(convex_set(one), one.nominal, landing.after), same


def of_episode(
    episode: Episode, changes: dict[str, Any], configured: bool, stated: bool, costs: list[int], commanded: bool = False
) -> Iterator[Found]:
    name, model, config, data = episode
    config = replace(
        config, landing=replace(config.landing, **changes), impact=replace(config.impact, deadline=0.0, samples=64)
    )
    known = landings(model, config, data, name, ahead=False)
    n = int(np.searchsorted(data["time"], data["valid_until"], "right"))
    places = find(data["foot_contact"][:n].astype(bool), data["foot_vel"][:n, :, 2])
    touches = np.array(sorted(k for _, _, feet in places for k in feet.values()))
    for noisy in (False, True):
        seen = states(model, data, NOISE if noisy else None)
        if commanded:
            seen = with_commands(model, data, seen)
        if noisy and stated:
            seen = [replace(state, base_covariance=covariance()) for state in seen]
        estimator, begin = ContactEstimator(model, config), 0
        wanted = sorted((place[0] - lead, i, lead) for i, place in enumerate(places) for lead in LEADS)
        for k, i, lead in wanted:
            if k <= _WARM or is_later(places[i], lead, touches):
                continue
            for state in seen[begin : k + 1]:
                estimator.update(state, Parts.MODE)
            begin = max(begin, k + 1)
            ahead, landing = estimator.impact_ahead(), known[i]
            if ahead is None:
                continue
            friction = model.friction.copy()
            if not configured:
                model.friction[:] = landing.truth.friction
            sets = ImpactSets(model, config)
            without_pauses(sets.ahead(ahead))
            start = time.thread_time_ns()
            published = without_pauses(sets.ahead(ahead))
            costs.append(time.thread_time_ns() - start)
            model.friction[:] = friction
            if published is not None and len(published.velocities) and published.jump > 0.0:
                yield name, lead, noisy, *compared(published, landing)


def told(name: str, found: list[Found]) -> None:
    scores = [one[3] for one in found]
    share = np.mean([s.distance <= 0.05 for s in scores])
    radius = np.quantile([s.nominal_distance for s in scores], share)
    ratio = (np.median([s.half_width for s in scores]) + 0.05) / radius
    print(row(name, scores), f"{100 * np.mean([one[4] for one in found]):.0f} | {ratio:.2f} |", flush=True)


def yardstick() -> float:
    """Thread time of ``pinocchio.computeAllTerms`` of the Go2, µs, best of several."""
    model = go2()
    q, v, best = model.neutral(), np.zeros(model.nv), np.inf
    for _ in range(20):
        start = time.thread_time_ns()
        for _ in range(100):
            pin.computeAllTerms(model.pinocchio_model, model.pinocchio_data, q, v)
        best = min(best, (time.thread_time_ns() - start) / 1e5)
    return float(best)


def main() -> None:
    parser = argparse.ArgumentParser(description="Published sets of landings, some time ahead.")
    parser.add_argument("robots", nargs="*", default=["go2"], help="go2, anymal, solo12, hyq")
    parser.add_argument("--off", action="store_true", help="v⁻ by the acceleration held, without a spread")
    parser.add_argument("--unlearned", action="store_true", help="nothing is learned of earlier extrapolations")
    parser.add_argument("--configured", action="store_true", help="the configured friction")
    parser.add_argument("--unstated", action="store_true", help="noisy states without covariances")
    parser.add_argument("--commands", action="store_true", help="what the drives are told is known")
    chosen = parser.parse_args()
    changes = {"course": 0.0, "spread": 0.0, "remembered": 0} if chosen.off else {}
    if chosen.unlearned:
        changes = {"remembered": 0}
    for robot in chosen.robots:
        costs: list[int] = []
        found = [
            one
            for episode in episodes(robot)
            for one in of_episode(episode, changes, chosen.configured, not chosen.unstated, costs, chosen.commands)
        ]
        if not found:
            print(f"{robot}: no landings; recordings are looked for in {SHARED / 'data'}")
            continue
        head, line = HEAD.split("\n")
        print(f"\n{robot}\n{head} contacts | size/ball |\n{line}---|---|")
        for noisy in (False, True):
            for lead in LEADS:
                here = [one for one in found if one[1:3] == (lead, noisy)]
                kinds = sorted({one[0].split()[0].split("_0")[0].split("_1")[0].split("_2")[0] for one in here})
                for kind in (*kinds, ""):
                    some = [one for one in here if one[0].startswith(kind)]
                    told(f"{lead} ms, {'noisy' if noisy else 'exact'}, {kind or 'all'}", some)
        print(f"all sets of a state: {np.median(costs) / 1e3:.0f} µs, computeAllTerms {yardstick():.1f} µs")


if __name__ == "__main__":
    main()
