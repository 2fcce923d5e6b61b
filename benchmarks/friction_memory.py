"""``./run bench friction_memory [go2 anymal]``: what it gains to learn μ from landing to landing.

Each landing's set is the suite's own, made at the true v⁻ with the contacts that really hit and stood, and with the
torques measured there; only μ differs: true; configured and taken for certain; configured ± ``--part``; and as the
memory of an estimator has it that saw the recording up to then, from exact states and from noisy ones. The memory's
constants were chosen on the Go2; the ANYmal (other contact, gaits and gains) is left out of that but for three which
docs/landings.md names. Distances, radius, half-width and ball are as of ``benchmarks/landings.py``. The Go2 is the one
of the shared data.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimator import NOISE, go2, states
from benchmarks.gaits import record
from benchmarks.landing_sets.bodies import HEAD, row
from benchmarks.landing_sets.records import find
from benchmarks.landing_sets.sets import Score
from benchmarks.landing_sets.sources import ROOT, SHARED
from benchmarks.simulated_robots import SimulatedRobot
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.impact_sets import ImpactAhead, ImpactSets
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.impacts.convex_set import convex_set
from hybrid_contact_ros.impacts.steps import without_pauses
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
Interval = tuple[Array, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A landing: its state, what stood and hit (m,), the true v⁺, and μ: true, as learned exactly and with noise."""

    group: str
    state: RobotState
    standing: NDArray[np.bool_]
    hitting: NDArray[np.bool_]
    after: Array
    friction: float
    learned: dict[str, Interval | None]


def episodes(robot: str) -> Iterator[tuple[str, RigidBodyModel, EstimatorConfig, dict[str, Array]]]:
    """Group, model, configuration and recording."""
    if robot == "go2":
        model, config = go2(), EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
        for path in sorted((SHARED / "data" / "go2_mujoco").glob("*.npz")):
            yield (
                path.stem.split("_")[0] + (" on ice" if "slip" in path.stem else ""),
                model,
                config,
                dict(np.load(path)),
            )
        return
    for mu in (0.3, 0.6, 1.0):
        simulated = SimulatedRobot(robot, "soft", mu)
        for gait, seeds in (("drop", 3), ("trot", 1), ("walk", 1)):
            for seed in range(seeds):
                yield f"μ {mu}", simulated.rigid, simulated.config, record(simulated, gait, seed)


def with_part(config: EstimatorConfig, part: float) -> EstimatorConfig:
    landing = replace(config.landing, duration_min=0.001, duration_max=0.004, rebound_min=-0.07, rebound_max=0.18,
                      drive_max=0.0024, slip=0.005, creep=0.15, settling=0.6, bounce=0.05)  # fmt: skip
    return replace(config, impact=replace(config.impact, friction_margin=part, deadline=0.0), landing=landing)


def landings(group: str, model: RigidBodyModel, config: EstimatorConfig, data: dict[str, Array]) -> list[Found]:
    """Of one recording, with what an estimator has learned before each."""
    n = int(np.searchsorted(data["time"], data["valid_until"], "right"))
    closed = data["foot_contact"][:n].astype(bool)
    places = {place[0]: place for place in find(closed, data["foot_vel"][:n, :, 2])}
    if not places:
        return []
    learned: dict[str, dict[int, Interval | None]] = {}
    exact = states(model, data, None)
    for name, seen in (("exact", exact), ("noisy", states(model, data, NOISE))):
        estimator, learned[name] = ContactEstimator(model, config), {}
        for k in range(max(places) + 1):
            estimator.update(seen[k], Parts.MODE)
            if k in places:
                learned[name][k] = estimator._foresight.friction
    found = []
    for before, end, touches in places.values():
        hitting = np.zeros(closed.shape[1], dtype=bool)
        hitting[list(touches)] = True
        of = {name: intervals[before] for name, intervals in learned.items()}
        standing, mu = closed[before] & ~hitting, float(data["mu"])
        found.append(Found(group, exact[before], standing, hitting, exact[end].v.astype(np.float64), mu, of))
    return found


def scored(sets: ImpactSets, landing: Found, friction: Interval | None) -> Score | None:
    state = landing.state
    ahead = ImpactAhead(
        stamp_ns=state.stamp_ns, q=state.q, v=state.v.astype(np.float64), effort=state.effort,
        acceleration=np.zeros(state.v.size), closed=landing.standing.astype(np.uint8),
        backed=np.where(landing.hitting, int(EventKind.TOUCHDOWN), 0).astype(np.uint8),
        event_times=np.where(landing.hitting, 0.0, np.nan)[:, None].repeat(3, axis=1), friction=friction,
    )  # fmt: skip
    made = without_pauses(sets.ahead(ahead))
    if made is None or not len(made.velocities) or not made.jump > 0.0:
        return None
    region, apart = convex_set(made), landing.after - made.nominal
    return Score(
        region.distance(landing.after) / made.jump, float(np.sqrt(apart @ region.mass @ apart)) / made.jump,
        region.radius, region.half_width,
    )  # fmt: skip


def table(found: list[tuple[RigidBodyModel, EstimatorConfig, Found]], part: float) -> None:
    makers: dict[tuple[int, str], ImpactSets] = {}

    def sets(model: RigidBodyModel, config: EstimatorConfig, name: str) -> ImpactSets:
        key = id(model), name
        if key not in makers:
            makers[key] = ImpactSets(model, with_part(config, 0.0 if name == "certain" else part))
        return makers[key]

    print(f"\n{HEAD}")
    for name in ("true", "certain", "configured", "exact", "noisy"):
        scores: dict[str, list[Score]] = {}
        for model, config, landing in found:
            mu = landing.friction * np.ones(landing.hitting.size)
            friction = (mu, mu) if name == "true" else landing.learned.get(name)
            score = scored(sets(model, config, name), landing, friction)
            for group in ("all", landing.group) if score is not None else ():
                scores.setdefault(group, []).append(score)
        label = {"exact": "learned", "noisy": "learned, noisy", "configured": f"configured ± {part}"}.get(name, name)
        for group, values in scores.items():
            print(row(f"μ {label}, {group}", values), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("robots", nargs="*", default=["go2", "anymal"], help="go2, anymal, solo12, hyq")
    parser.add_argument("--part", type=float, default=0.45, help="of the configured μ, to both sides")
    parser.add_argument("--every", type=int, default=3, help="landings that are scored; all are learned from")
    chosen = parser.parse_args()
    for robot in chosen.robots:
        found = []
        for group, model, config, data in episodes(robot):
            some = landings(group, model, with_part(config, chosen.part), data)
            found += [(model, config, landing) for landing in some]
        if not found:
            print(f"{robot}: no landings; recordings are looked for in {SHARED / 'data'}")
            continue
        print(f"\n{robot}: {len(found)} landings, configured μ {np.unique(found[0][0].friction)}")
        for name in ("exact", "noisy"):
            inside = []
            for model, _, landing in found:
                low, high = landing.learned[name] or (
                    (1 - chosen.part) * model.friction,
                    (1 + chosen.part) * model.friction,
                )
                acts = landing.standing | landing.hitting
                inside.append(np.mean((low[acts] <= landing.friction) & (landing.friction <= high[acts])))
            print(f"true μ in the learned interval, {name}: {100.0 * np.mean(inside):.1f} %")
        table(found[:: chosen.every], chosen.part)


if __name__ == "__main__":
    main()
