"""A robot on a crane: it stands, is lifted by its trunk, hangs, is moved about, and is let down.

``./run bench hanging [ROBOT ...]`` scores what the estimator says of the feet, with efforts and without, of exact
states and with the noise of ``benchmarks/estimator.py``: the share of the time in which a foot is in the air, but for
``DELAY`` after it left, and is said to be closed; the same of feet that stand and are said to be open; when the
last foot was said to have left after it did; and the Brier score of ``probability``. Drives hold the joints in their
posture.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from benchmarks.estimation_scores.humanoids import HUMANOIDS
from benchmarks.estimator import NOISE, states
from benchmarks.simulated_robots import ROBOTS, SimulatedRobot
from hybrid_contact_ros.demo.physics import PHYSICS_STEP
from hybrid_contact_ros.estimator import ContactEstimator, Parts

Array = NDArray[np.float64]

STEP = 0.001  # s
QUADRUPEDS = [name for name in ROBOTS if name not in HUMANOIDS]  # the posture of the others does not stand
HEIGHTS = (0.3, 0.03)  # m, by which the trunk is lifted
_STAND, _LIFT, _HOLD, _MOVE, _AGAIN = 1.0, 2.0, 2.0, 3.0, 1.5  # s, of each part
_SWAY, _TURN = 0.05, 0.1  # m and rad, by which a hanging trunk is moved about
DELAY = 0.3  # s
_SETTLES = 0.8  # s, of the drives before it begins
_STIFFNESS, _DAMPING = 1.7, 0.025  # 1/rad, of weight times height; s
_CRANE = 15.0  # 1/s, bandwidth
_LOADED = 0.002  # of the weight


@dataclass(frozen=True, slots=True)
class Hung:
    """What a crane did with a robot, and the truth of its feet.

    Attributes:
        data: arrays as of :func:`benchmarks.gaits.record`: time, q, v, tau. loaded: (n, m). part: (n,), 0 stands, 1 is
            lifted, 2 hangs, 3 is moved, 4 is let down, 5 stands again.
    """

    data: dict[str, Array]
    loaded: NDArray[np.bool_]
    part: NDArray[np.int64]


def target(time: float, height: float) -> tuple[int, float, Array]:
    """Part, height (m) over the stance, and sway and turn (3,), m, m, rad, of the trunk at a time (s)."""
    ends = np.cumsum([_STAND, _LIFT, _HOLD, _MOVE, _LIFT, _AGAIN])
    part = int(np.searchsorted(ends, time, side="right"))
    since = time - (ends[part - 1] if part else 0.0)
    moved = np.zeros(3)
    if part == 0 or part >= 5:
        return min(part, 5), 0.0, moved
    if part == 1:
        return part, height * since / _LIFT, moved
    if part == 4:
        return part, height * (1.0 - since / _LIFT), moved
    if part == 3:
        w = 2.0 * np.pi / _MOVE
        envelope = np.sin(0.5 * w * since) ** 2
        moved = envelope * np.array([_SWAY * np.sin(2 * w * since), _SWAY * np.sin(3 * w * since), 0.0])
        moved[2] = envelope * _TURN * np.sin(2 * w * since)
        return part, height + 0.3 * height * envelope * np.sin(4 * w * since), moved
    return part, height, moved


def hung(name: str, height: float) -> Hung:
    """One robot on a crane: a spring and a damper at the trunk, which take as much of its weight as they must."""
    robot = SimulatedRobot(name)
    robot.place(np.zeros(3), 0.0)
    model, data = robot.model, robot.data
    # Gains with which a robot of any size stands: a torque is a force on a foot over a leg.
    gain = _STIFFNESS * robot.mass * 9.81 * float(data.subtree_com[1, 2])

    def drives() -> Array:
        tau = np.zeros(model.nv)
        error = robot.posture - data.qpos[robot.joints + 1]
        tau[robot.joints] = gain * (error - _DAMPING * data.qvel[robot.joints])
        return tau

    for _ in range(round(_SETTLES / PHYSICS_STEP)):
        mujoco.mj_forward(model, data)
        data.qfrc_applied[:] = drives()
        mujoco.mj_step(model, data)
    start, turned, weight = data.qpos[:3].copy(), data.qpos[3:7].copy(), robot.mass * 9.81
    inertia = np.diag(model.body_inertia[1])
    rows: dict[str, list[Any]] = {name: [] for name in ("time", "q", "v", "tau", "loaded", "part")}
    loaded = robot.forces()[:, 2] > _LOADED * weight
    for k in range(round((_STAND + 2 * _LIFT + _HOLD + _MOVE + _AGAIN) / STEP)):
        mujoco.mj_forward(model, data)
        part, up, moved = target(k * STEP, height)
        tau = drives()
        q, v = robot.state()
        for key, value in zip(rows, (k * STEP, q, v, tau[robot.joints], loaded, part), strict=True):
            rows[key].append(value)
        data.qfrc_applied[:] = tau
        data.xfrc_applied[1] = 0.0
        if 1 <= part <= 4:
            goal = start + np.array([moved[0], moved[1], up]) - data.qpos[:3]
            pull = robot.mass * (_CRANE**2 * goal - 2.0 * _CRANE * data.qvel[:3])
            pull[2] = max(pull[2] + (weight if part > 1 else 0.0), 0.0)  # a rope
            tilt = np.zeros(3)
            mujoco.mju_subQuat(tilt, turned, data.qpos[3:7])
            spin = _CRANE**2 * (tilt + np.array([0.0, 0.0, moved[2]])) - 2.0 * _CRANE * data.qvel[3:6]
            data.xfrc_applied[1] = np.r_[pull, 4.0 * robot.rotation @ inertia @ spin]
        loaded = np.zeros(robot.geoms.size, dtype=bool)
        for _ in range(round(STEP / PHYSICS_STEP)):
            mujoco.mj_step(model, data)
            loaded |= robot.forces()[:, 2] > _LOADED * weight
    arrays = {key: np.array(x) for key, x in rows.items()}
    truth, parts = arrays.pop("loaded"), arrays.pop("part")
    return Hung({**arrays, "valid_until": arrays["time"][-1]}, truth, parts)


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of the time in the air with a closed foot and on the ground with an open one; s until the last foot that
    had left was said to have (NaN: some never was while it hung still); mean square error of ``probability``."""

    closed_in_the_air: float
    open_on_the_ground: float
    last: float
    brier: float


def score(data: Hung, closed: NDArray[np.bool_], probability: Array) -> Score:
    """What was said, each (n, m), against the truth. A foot has left once it is unloaded for good before it hangs."""
    delay = round(DELAY / STEP)
    air = ~data.loaded
    settled = air.copy()
    for back in range(1, delay + 1):
        settled[back:] &= air[:-back]
    settled[:delay] = False
    hangs = np.flatnonzero(data.part == 2)
    lasts = []
    for truth, said in zip(data.loaded.T, closed.T, strict=True):
        left = int(np.flatnonzero(truth[: hangs[-1]])[-1])
        still = np.flatnonzero(said[left : hangs[-1]])
        never = still.size and left + still[-1] >= hangs[-1] - 2
        lasts.append(np.nan if never else STEP * float(still[-1] + 1 if still.size else 0))
    return Score(
        float(closed[settled].mean()),
        float((~closed[data.loaded]).mean()),
        float(np.max(lasts)),
        float(((probability - data.loaded) ** 2).mean()),
    )


def said(
    estimator: ContactEstimator, data: Hung, noise: dict[str, float] | None, efforts: bool
) -> tuple[NDArray[np.bool_], Array]:
    """What the estimator says is closed, and with what probability, each (n, m)."""
    estimator.reset()
    found = []
    for state in states(estimator.model, data.data, noise):
        given = state if efforts else replace(state, effort=None)
        mode = estimator.update(given, Parts.MODE).mode
        found.append((mode.closed.copy(), mode.probability.copy()))
    closed, probability = zip(*found, strict=True)
    return np.array(closed), np.array(probability)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench hanging", description="A robot on a crane.")
    parser.add_argument("robots", nargs="*", default=QUADRUPEDS, metavar="ROBOT", help=", ".join(ROBOTS))
    print(
        "| robot | lifted by | states | efforts | closed in the air | open on the ground | last opens after | Brier |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in parser.parse_args().robots:
        robot = SimulatedRobot(name)
        estimator = ContactEstimator(robot.rigid, robot.config)
        estimator.warm(parts=Parts.MODE)
        for height in HEIGHTS:
            data = hung(name, height)
            for noise in (None, NOISE):
                for efforts in (True, False):
                    s = score(data, *said(estimator, data, noise, efforts))
                    given = f"{'noise' if noise else 'exact'} | {'given' if efforts else 'none'}"
                    print(
                        f"| {name} | {100 * height:.0f} cm | {given} | {100 * s.closed_in_the_air:.1f} % "
                        f"| {100 * s.open_on_the_ground:.1f} % | {s.last:.2f} s | {s.brier:.3f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
