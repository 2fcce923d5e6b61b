"""What is told of recordings whose legs are named wrongly, or that are in other units, and of right ones, of which
nothing should be: ``./run bench wrong_recordings [RECORDING ...] [--states FAULT ...]``.

Recordings, their groups and the faults of sensors are those of ``./run bench estimation``. A mistake counts as told
where the intake would report it (reasons ``legs`` and ``stamp_unit``); recordings of less than four seconds are too
short for three windows, and count among the right ones alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.estimation import wanted
from benchmarks.estimation_scores.arms import arm_sources
from benchmarks.estimation_scores.episodes import Source, states
from benchmarks.estimation_scores.faults import FAULTS, noisy
from benchmarks.estimation_scores.humanoids import humanoid_sources
from benchmarks.estimation_scores.simulated import left_out_sources, simulated_sources
from benchmarks.estimation_scores.sources import shared_sources
from hybrid_contact_ros.mechanics.leg_motion import LegMotion
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.doubts import Doubts

States = list[RobotState]
_LONG = 4.0  # s
_REASONS = {"legs", "stamp_unit"}
# The leg whose joints each leg is given, by the order of the contacts, for as many legs.
_EXCHANGES = {
    "front and rear": {4: (2, 3, 0, 1)},
    "left and right": {4: (1, 0, 3, 2), 2: (1, 0)},
    "two legs": {4: (1, 0, 2, 3)},
}
_UNITS = {"odometry in mm": 1000.0, "odometry in cm": 100.0}
_CLOCKS = {"ms as s": 1000.0, "s as ms": 0.001}


def exchanged(motion: LegMotion, seen: States, source: tuple[int, ...]) -> States:
    """Each leg has the joints of another one."""
    of_q, of_v = motion.order(np.array(source))
    return [replace(state, q=state.q[of_q], v=state.v[of_v], effort=None) for state in seen]


def in_units(seen: States, factor: float) -> States:
    """The base in another unit of length."""
    q, v = np.ones(seen[0].q.size), np.ones(seen[0].v.size)
    q[:3] = v[:3] = factor
    return [replace(state, q=q * state.q, v=v * state.v) for state in seen]


def in_time(seen: States, factor: float) -> States:
    """Stamps in another unit of time."""
    first = seen[0].stamp_ns
    return [replace(state, stamp_ns=first + round(factor * (state.stamp_ns - first))) for state in seen]


def mistakes(model: RigidBodyModel) -> dict[str, Callable[[States], States]]:
    """What can be wrong about states of a robot, by name."""
    motion, found = LegMotion(model), {}
    for name, orders in _EXCHANGES.items():
        order = orders.get(len(motion.legs))
        if order is not None and len(motion.source) == len(motion.legs):
            found[name] = lambda seen, order=order: exchanged(motion, seen, order)
    for name, factor in _UNITS.items():
        found[name] = lambda seen, factor=factor: in_units(seen, factor)
    for name, factor in _CLOCKS.items():
        found[name] = lambda seen, factor=factor: in_time(seen, factor)
    return found


def told(model: RigidBodyModel, seen: States) -> bool:
    """Whether anything is told of states."""
    doubts = Doubts(model, with_base=True, with_imu=False)
    return any(doubt.reason in _REASONS for state in seen for doubt in doubts.state(state))


def counts(source: Source, states_are: str) -> dict[str, tuple[int, int]]:
    """Of each mistake, and of "right" recordings, how many were told, and of how many."""
    model, found = source.model(source.config), {}
    change = noisy if states_are == "noise" else FAULTS["none" if states_are == "recorded" else states_are]
    for episode in source.load():
        seen = states(model, change(episode).recording)
        wrong = {} if 1e-9 * (seen[-1].stamp_ns - seen[0].stamp_ns) < _LONG else mistakes(model)
        for name, make in {"right": lambda seen: seen, **wrong}.items():
            so_far = found.get(name, (0, 0))
            found[name] = so_far[0] + told(model, make(seen)), so_far[1] + 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench wrong_recordings", description="Recordings with mistakes.")
    parser.add_argument("names", nargs="*", metavar="RECORDING", help="as of ./run bench estimation")
    parser.add_argument(
        "--states", nargs="+", default=["recorded", "noise"], choices=["recorded", "noise", *FAULTS], metavar="FAULT"
    )
    chosen = parser.parse_args()
    sources = wanted(
        chosen.names, shared_sources(), simulated_sources(), left_out=left_out_sources(), arms=arm_sources(),
        humanoids=humanoid_sources(),
    )  # fmt: skip
    columns = ["right", *_EXCHANGES, *_UNITS, *_CLOCKS]
    print("told / of\n| recording | states | " + " | ".join(columns) + " |")
    print("|---|---|" + "---|" * len(columns))
    for states_are in chosen.states:
        total = dict.fromkeys(columns, (0, 0))
        for source in sources:
            if source.missing or not source.config.floating_base:
                continue
            found = counts(source, states_are)
            for name, (told_of, of) in found.items():
                total[name] = total[name][0] + told_of, total[name][1] + of
            _row(source.name, states_are, [found.get(name, (0, 0)) for name in columns])
        _row("all", states_are, list(total.values()))


def _row(name: str, states_are: str, cells: list[tuple[int, int]]) -> None:
    print(f"| {name} | {states_are} | " + " | ".join(f"{n} / {m}" if m else "" for n, m in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
