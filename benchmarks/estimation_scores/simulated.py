"""Recordings that are made here, in MuJoCo: gaits and ground that the shared recordings do not have.

They are made when they are first asked for, and kept in ``CACHE`` of ``sources.py``, outside of the checkout.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.estimation_scores.episodes import Array, Episode, Source
from benchmarks.estimation_scores.sources import CACHE
from benchmarks.simulated_robots import ROBOTS
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.recordings.recording import Recording

if TYPE_CHECKING:
    from benchmarks.estimation_scores.terrain import Terrain

Cases = Mapping[str, tuple[str, dict[str, float | bool]]]
VERSION = 1  # of what is made: files of another one are made anew
DURATION, SEED = 6.0, 3
_PUSHED = 0.25  # of the weight
_PUSHES = ((1.8, (0.0, 1.0)), (2.7, (1.0, 0.0)), (3.6, (0.0, -1.0)), (4.5, (-1.0, 0.0)))  # s, direction
# Gait and ground; a slope in degrees, lengths in m.
CASES: Cases = {
    "walk": ("walk", {}),
    "pace": ("pace", {}),
    "bound": ("bound", {}),
    "fast": ("fast", {}),
    "stop": ("stop", {}),
    "change": ("change", {}),
    "push": ("trot", {}),
    "tiles": ("trot", {"tile": 0.25, "height": 0.015}),
    "blocks": ("high", {"tile": 0.4, "height": 0.05, "blocks": True}),
    "slope6": ("trot", {"slope": 6.0}),
    "slope10": ("trot", {"slope": 10.0}),
    "soft8": ("trot", {"yields": 0.008}),
    "soft15": ("trot", {"yields": 0.015}),
}
FALLS = {("go2", "pace"), ("anymal", "bound")}
"""The plain controller does not keep these up."""
LEFT_OUT = {"hyq": ("walk", "pace", "bound", "change", "stop"), "solo12": ("change", "stop")}
"""Recordings of robots that nothing was chosen with, so that they tell what defaults are worth."""
STEPPED: Cases = {
    "stairs": ("climb", {"tile": 0.28, "height": 0.05, "stairs": True}),
    "treads": ("climb", {"tile": 0.25, "height": 0.05, "blocks": True}),
    "stairs_walk": ("clamber", {"tile": 0.28, "height": 0.05, "stairs": True}),
}
"""Steps of 5 cm that are as long as some strides: of :mod:`.treads`."""
CLIMBS = {
    "go2": ("stairs", "treads", "stairs_walk"),
    "anymal": ("stairs", "treads", "stairs_walk"),
    "hyq": ("stairs", "treads"),
}
WALK, CLIMB = 16.0, 8.0  # s, of their walks, whose strides are long; of what is in STEPPED


def simulated_sources() -> dict[str, Source]:
    """By name, ``ROBOT_CASE``."""
    return _sources({robot: [c for c in CASES if (robot, c) not in FALLS] for robot in ("go2", "anymal")}, DURATION)


def left_out_sources() -> dict[str, Source]:
    """Those of ``LEFT_OUT``, by name."""
    return _sources(LEFT_OUT, WALK)


def stepped_sources() -> dict[str, Source]:
    """Those of ``CLIMBS``, by name."""
    return _sources(CLIMBS, WALK, STEPPED, CLIMB)


def _sources(
    cases: Mapping[str, Sequence[str]],
    walk: float,
    every: Cases = CASES,
    other: float = DURATION,
) -> dict[str, Source]:
    """``walk``, ``other``: s, how long walks and other recordings are."""
    found = {}
    for robot, chosen in cases.items():
        config, urdf = ROBOTS[robot].configuration(), example_urdf(ROBOTS[robot].urdf)
        for case in chosen:
            name, duration = f"{robot}_{case}", walk if case == "walk" else other
            load = _loader(robot, case, duration, every)
            found[name] = Source(name, urdf, config, tuple((i,) for i in range(4)), load)
    return found


def _loader(robot: str, case: str, duration: float, cases: Cases) -> Callable[[], list[Episode]]:
    return lambda: [episode(f"{robot}_{case}", made(robot, case, duration, cases=cases))]


def made(
    robot: str,
    case: str,
    duration: float = DURATION,
    cache: Path = CACHE,
    cases: Cases = CASES,
) -> dict[str, Array]:
    """The arrays of one recording, as of ``benchmarks.gaits.record``, with the true ``gap`` (n, m) and the names of the
    joints; from the cache if it is there."""
    path = cache / f"{robot}_{case}_{duration:g}s_{VERSION}.npz"
    if path.is_file():
        return dict(np.load(path))
    from benchmarks.estimation_scores.terrain import TerrainRobot
    from benchmarks.gaits import record

    gait, terrain = cases[case][0], terrain_of(case, cases)
    body = TerrainRobot(robot, terrain)
    force = _PUSHED * body.mass * 9.81
    pushes = [(t, force * np.array([x, y, 0.0])) for t, (x, y) in _PUSHES] if case == "push" else []
    data = record(body, gait, SEED, duration, pushes)
    data |= {"gap": body.gaps(data["foot_pos"]), "joint_names": np.array(body.rigid.joint_names)}
    data["foot_names"] = np.array(body.rigid.contact_names)
    cache.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.npz")  # of each process its own: two may make the same
    np.savez_compressed(partial, **data)
    partial.rename(path)  # so that a run that is stopped leaves no half of a file
    return data


def terrain_of(case: str, cases: Cases = CASES) -> Terrain:
    """The ground of a case."""
    from benchmarks.estimation_scores.terrain import Terrain

    ground = cases[case][1]
    return Terrain(**{k: math.radians(x) if k == "slope" else x for k, x in ground.items()})  # type: ignore[arg-type]


def episode(name: str, data: dict[str, Array]) -> Episode:
    """The arrays as an episode: sensors, and truths beside them."""
    raw, closed = (data[k].astype(bool) for k in ("foot_contact_raw", "foot_contact"))
    q, v = data["q"], data["v"]
    feet = tuple(str(x) for x in data["foot_names"])
    recording = Recording(
        time=data["time"], position=q[:, :3], quaternion=q[:, 3:7], linear=v[:, :3], angular=v[:, 3:6],
        joints=tuple(str(x) for x in data["joint_names"]), q=q[:, 7:], dq=v[:, 6:], effort=data["tau"],
        contacts=feet, frames=feet, closed=closed, force=data["foot_force"],
    )  # fmt: skip
    return Episode(name, recording, raw == closed, {"raw": raw}, data["gap"], data["foot_vel"], data["foot_force"])
