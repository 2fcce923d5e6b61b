"""``./run bench landing_costs``: what the published sets of a landing cost, in µs and in ``pinocchio.computeAllTerms``.

Of the Go2 states 5 and 10 ms before landings of its recordings (``go2_mujoco`` of the shared data), noisy and with
covariances, up to three of each kind; of Talos falls onto two soles of four points. Columns: contacts that land and all
that take part; thread time of a set without samples (one, no deadline), best of several, as the cluster's alone and
with the sets after its first feet; the same with ``computeAllTerms`` of the Go2 as the unit; median wall time and
outcomes of the cluster's set, and further sets, within ``impact.deadline``.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.estimator import NOISE, states
from benchmarks.landing_sets.records import find
from benchmarks.landings_ahead import covariance, episodes, yardstick
from benchmarks.soles import ROBOTS, sole
from hybrid_contact_ros.config import Contact, EstimatorConfig
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.impact_sets import ImpactSets
from hybrid_contact_ros.estimation.landing_ahead import LandingAhead
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.impacts.steps import without_pauses
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Case = tuple[str, RigidBodyModel, EstimatorConfig, ImpactAhead]
_RECORDINGS = ("drop_0", "trot_inplace")
_LANDINGS, _WARM, _EACH, _TIMES = 12, 40, 3, 25


def go2_cases() -> Iterator[Case]:
    for name, model, config, data in episodes("go2"):
        if not name.startswith(_RECORDINGS):
            continue
        n = int(np.searchsorted(data["time"], data["valid_until"], "right"))
        places = find(data["foot_contact"][:n].astype(bool), data["foot_vel"][:n, :, 2])[:_LANDINGS]
        seen = [replace(state, base_covariance=covariance()) for state in states(model, data, NOISE)]
        estimator, begin = ContactEstimator(model, config), 0
        for k in sorted({place[0] - lead for place in places for lead in (5, 10)}):
            if k <= _WARM:
                continue
            for j in range(max(begin, k - _WARM), k + 1):
                estimator.update(seen[j], Parts.MODE)
            begin, ahead = k + 1, estimator.impact_ahead()
            if ahead is not None:
                yield "Go2", model, config, ahead


def talos_cases() -> Iterator[Case]:
    """Falls onto two soles that are nearly level."""
    urdf, links, size, posture = ROBOTS["Talos"]
    config = EstimatorConfig(floating_base=True, contacts={x: Contact(link=x, points=sole(4, size)) for x in links})
    model = RigidBodyModel.from_urdf(example_urdf(urdf), config)
    names = list(model.joint_names)
    for seed in range(_EACH):
        rng = np.random.default_rng(seed)
        q, v = model.neutral(), np.zeros(model.nv)
        for joint, angle in posture.items():
            q[7 + names.index(joint)] = angle
        q[3:5] = 0.002 * rng.normal(size=2)
        q[3:7] /= np.linalg.norm(q[3:7])
        v[:3], v[6:] = (0.1 * rng.normal(), 0.05 * rng.normal(), -0.6), 0.05 * rng.normal(size=model.nv - 6)
        q[2] -= float(model.problem(RobotState(0, q, v)).gap.min()) - 0.012
        estimator = ContactEstimator(model, config)
        for k in range(10):
            state = RobotState(1_000_000 * k, model.integrate(q, 1e-3 * k * v), v, np.zeros(model.nv), covariance())
            estimator.update(state, Parts.MODE)
        ahead = estimator.impact_ahead()
        if ahead is not None:
            yield "Talos", model, config, ahead


def best(sets: ImpactSets, ahead: ImpactAhead) -> float:
    """Thread time, µs."""
    found = np.inf
    for _ in range(_TIMES):
        begin = time.thread_time_ns()
        without_pauses(sets.ahead(ahead, True))
        found = min(found, 1e-3 * (time.thread_time_ns() - begin))
    return found


def measured(case: Case) -> list[float]:
    _, model, config, ahead = case
    bare = replace(config, impact=replace(config.impact, deadline=0.0, samples=1))
    alone = ImpactSets(model, replace(bare, landing=replace(bare.landing, each_foot=False)))
    numbers = [best(alone, ahead), best(ImpactSets(model, bare), ahead)]
    timed, seen = ImpactSets(model, config), []
    for _ in range(2 * _TIMES):
        begin = time.perf_counter_ns()
        found = without_pauses(timed.ahead(ahead, True))
        assert found is not None
        seen.append((1e-3 * (time.perf_counter_ns() - begin), len(found.velocities), len(found.after_each)))
    return [*numbers, *np.median(np.array(seen[_TIMES:], dtype=np.float64), axis=0).tolist()]


def main() -> None:
    groups: dict[tuple[str, int, int, int], list[Case]] = {}
    for case in (*go2_cases(), *talos_cases()):
        robot, model, config, ahead = case
        foreseen = LandingAhead(model, config)
        contacts, _ = foreseen.contacts(ahead)
        if contacts.size:
            landing, further = int((ahead.closed[contacts] == 0).sum()), len(foreseen.first_feet(ahead, contacts))
            key = robot, landing, contacts.size, further
            groups.setdefault(key, []).append(case)
    gc.disable()
    unit = yardstick()
    print(f"computeAllTerms of the Go2: {unit:.2f} µs")
    print("| robot | land / take part | further sets | µs alone | with further | in units | within the deadline |")
    print("|---|---|---|---|---|---|---|")
    for (robot, landing, taking, further), cases in sorted(groups.items()):
        alone, whole, wall, outcomes, made = np.median([measured(case) for case in cases[:_EACH]], axis=0)
        sizes = f"{alone:.0f} | {whole:.0f} | {alone / unit:.0f} / {whole / unit:.0f}"
        within = f"{wall:.0f} µs, {outcomes:.0f} outcomes, {made:.0f} further"
        print(f"| {robot} | {landing} / {taking} | {further} | {sizes} | {within} |", flush=True)


if __name__ == "__main__":
    main()
