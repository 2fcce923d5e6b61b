"""Recordings of humanoids with soles, made here in MuJoCo as those of :mod:`.simulated` are: they step in place, march
and stroll, on level ground, a slope, tiles and ground that gives way.

A sole is four contacts of the estimator and one of the truth: closed while any of its points bears load.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.estimation_scores.episodes import Array, Bools, Episode, Source
from benchmarks.estimation_scores.simulated import episode, made
from benchmarks.gaits import smoothed
from benchmarks.simulated_robots import ROBOTS
from hybrid_contact_ros.mechanics.example_data import example_urdf

DURATION = 12.0  # s
# Gait and ground, as of CASES of :mod:`.simulated`.
CASES: dict[str, tuple[str, dict[str, float | bool]]] = {
    "step": ("step", {}),
    "march": ("march", {}),
    "stroll": ("stroll", {}),
    "step_slope4": ("step", {"slope": 4.0}),
    "step_tiles": ("step", {"tile": 0.35, "height": 0.01}),
    "step_soft10": ("step", {"yields": 0.010}),
}
HUMANOIDS = ("g1", "talos")
"""Nothing was chosen with the second one."""


def humanoid_sources() -> dict[str, Source]:
    """By name, ``ROBOT_CASE``."""
    found = {}
    for robot in HUMANOIDS:
        config, urdf = ROBOTS[robot].configuration(), example_urdf(ROBOTS[robot].urdf)
        points = len(ROBOTS[robot].points) // 3
        members = tuple(tuple(range(k * points, (k + 1) * points)) for k in range(2))
        for case in CASES:
            name = f"{robot}_{case}"
            found[name] = Source(name, urdf, config, members, _loader(robot, case, members))
    return found


def _loader(robot: str, case: str, members: tuple[tuple[int, ...], ...]) -> Callable[[], list[Episode]]:
    return lambda: [soles(f"{robot}_{case}", made(robot, case, DURATION, cases=CASES), members)]


def soles(name: str, data: dict[str, Array], members: tuple[tuple[int, ...], ...]) -> Episode:
    """The episode of the arrays, whose contacts are points of soles, with one contact for each sole: the gap and the
    velocity of its lowest point, and the sum of the forces."""
    points = episode(name, data)
    assert points.gap is not None and points.velocity is not None and points.force is not None
    raw = _any(points.labels["raw"], members)
    closed = smoothed(raw)
    lowest = np.stack([np.array(g)[points.gap[:, g].argmin(axis=1)] for g in members], axis=1)
    gap = np.take_along_axis(points.gap, lowest, axis=1)
    velocity = np.take_along_axis(points.velocity, lowest[:, :, None], axis=1)
    force = np.stack([points.force[:, g].sum(axis=1) for g in members], axis=1)
    feet = tuple(str(data["foot_names"][g[0]]) for g in members)
    recording = replace(points.recording, contacts=feet, frames=feet, closed=closed, force=force)
    return Episode(name, recording, raw == closed, {"raw": raw}, gap, velocity, force)


def _any(flags: Bools, members: tuple[tuple[int, ...], ...]) -> Bools:
    return np.stack([flags[:, g].any(axis=1) for g in members], axis=1)
