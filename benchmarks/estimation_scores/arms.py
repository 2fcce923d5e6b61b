"""Recordings of arms that press on a table, made here by ``simulate`` and kept in ``CACHE`` of ``sources.py``.

Each arm rests above the table, comes down slowly and fast, presses with 3, 20 and 60 N, wipes, and hovers 2, 5, 40 and
100 mm above it: an arm that rests need not stand on anything, and its contacts carry a small part of its weight. The
tip is drawn to its goal by a spring and a damper.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio

from benchmarks.estimation_scores.episodes import Array, Episode, Source
from benchmarks.estimation_scores.sources import CACHE
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.simulation.simulate import simulate

VERSION, STEP = 1, 0.002  # of what is made; s
STIFFNESS, DAMPING, RADIUS = 4000.0, 200.0, 0.01  # N/m, N s/m, m
# s, m above the table and m along it; below the table a goal presses with STIFFNESS times its depth.
PLAN = np.array([
    (0.0, 0.040, 0.0), (0.8, 0.040, 0.0), (1.3, -0.005, 0.0), (1.8, -0.005, 0.0), (2.4, -0.005, 0.1), (2.7, 0.005, 0.1),
    (3.5, 0.005, 0.1), (3.8, -0.00075, 0.1), (4.5, -0.00075, 0.1), (4.7, 0.002, 0.1), (5.5, 0.002, 0.1),
    (5.8, 0.05, 0.1), (5.95, -0.015, 0.1), (6.5, -0.015, 0.1), (6.8, 0.1, 0.0), (7.6, 0.1, 0.0), (8.0, -0.01, 0.0),
    (8.8, -0.01, -0.08), (9.2, 0.04, -0.08), (10.0, 0.04, -0.08),
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm of example-robot-data: its URDF, the frame of its tip, a posture (rad, m) and joints that are held."""

    urdf: str
    tip: str
    posture: tuple[float, ...]
    locked: tuple[str, ...] = ()

    def config(self, table: float) -> EstimatorConfig:
        """As a new user writes it: one ball at the tip, one table at the height ``table`` (m)."""
        return EstimatorConfig.from_mapping({
            "floating_base": False,
            "environments": {"table": {"offset": table}},
            "contacts": {"tip": {"link": self.tip, "radius": RADIUS, "friction": 0.3, "environment": "table"}},
            "locked_joints": self.locked,
        })  # fmt: skip


ARMS = {
    "ur5": Arm("ur_description/urdf/ur5_robot.urdf", "tool0", (0.0, -1.2, 1.9, -2.27, -1.57, 0.0)),
    "panda": Arm(
        "panda_description/urdf/panda.urdf", "panda_hand_tcp", (0.0, 0.1, 0.0, -2.2, 0.0, 2.3, 0.8),
        ("panda_finger_joint1", "panda_finger_joint2"),
    ),
    "xarm": Arm("xarm_description/urdf/xarm7.urdf", "link_eef", (0.0, 0.2, 0.0, 1.4, 0.0, 1.2, 0.0)),
    "z1": Arm("z1_description/urdf/z1.urdf", "link06", (0.0, 1.5, -1.4, -0.1, 0.0, 0.0), ("jointGripper",)),
}  # fmt: skip


def arm_sources() -> dict[str, Source]:
    """By name, ``arm_ROBOT``."""
    return {f"arm_{name}": _source(name) for name in ARMS}


def _source(name: str) -> Source:
    arm = ARMS[name]
    urdf = example_urdf(arm.urdf)
    return Source(f"arm_{name}", urdf, arm.config(table_height(arm)), ((0,),), lambda: [episode(name, made(name))])


def table_height(arm: Arm) -> float:
    """m, of the table: below the tip of the posture by the first height of ``PLAN``."""
    model = RigidBodyModel.from_urdf(example_urdf(arm.urdf), arm.config(0.0))
    q = np.array(arm.posture)
    return float(model.problem(RobotState(0, q, np.zeros(q.size))).gap[0]) - float(PLAN[0, 1])


def made(name: str, cache: Path = CACHE) -> dict[str, Array]:
    """Times, states, efforts, and the true gap and normal force; from the cache if they are there."""
    path = cache / f"arm_{name}_{VERSION}.npz"
    if path.is_file():
        return dict(np.load(path))
    arm = ARMS[name]
    model = RigidBodyModel.from_urdf(example_urdf(arm.urdf), arm.config(table_height(arm)))
    drawn = _Drawn(model, arm)
    nv, duration = model.nv, float(PLAN[-1, 0])
    run = simulate(model, np.array(arm.posture), np.zeros(nv), t_final=duration, effort=drawn.effort)
    times = np.arange(0.0, duration, STEP)
    q, v = (np.array(part) for part in zip(*(run.at(t) for t in times), strict=True))
    effort = np.array([drawn.effort(t, *state, None) for t, state in zip(times, zip(q, v, strict=True), strict=True)])
    gap = np.array([model.problem(RobotState(0, *state)).gap for state in zip(q, v, strict=True)])
    data = {"time": times, "q": q, "v": v, "effort": effort, "gap": gap, "joints": np.array(model.joint_names)}
    cache.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial.npz")
    np.savez_compressed(partial, **data)
    partial.rename(path)
    return data


class _Drawn:
    """The controller: a spring and a damper from the tip to its goal, damped joints, and the weight of the arm."""

    def __init__(self, model: RigidBodyModel, arm: Arm) -> None:
        full = pinocchio.buildModelFromUrdf(str(example_urdf(arm.urdf)))
        held = [full.getJointId(name) for name in arm.locked]
        self._arm = pinocchio.buildReducedModel(full, held, pinocchio.neutral(full)) if held else full
        self._data, self._tip = self._arm.createData(), self._arm.getFrameId(arm.tip)
        self._rest = np.array(arm.posture)
        pinocchio.framesForwardKinematics(self._arm, self._data, self._rest)
        self._home = self._data.oMf[self._tip].translation - np.array([0.0, 0.0, PLAN[0, 1]])

    def effort(self, time: float, q: Array, v: Array, mode: object) -> Array:
        """N m."""
        arm, data = self._arm, self._data
        pinocchio.computeJointJacobians(arm, data, q)
        pinocchio.framesForwardKinematics(arm, data, q)
        J = pinocchio.getFrameJacobian(arm, data, self._tip, pinocchio.LOCAL_WORLD_ALIGNED)[:3]
        height, along = (np.interp(time, PLAN[:, 0], PLAN[:, k]) for k in (1, 2))
        goal = self._home + np.array([0.0, along, height])
        force = STIFFNESS * (goal - data.oMf[self._tip].translation) - DAMPING * J @ v
        hold = 5.0 * (self._rest - q) - 1.0 * v
        free = np.eye(len(q)) - J.T @ np.linalg.pinv(J.T)  # the posture must not push the tip
        return np.asarray(J.T @ force + free @ hold - 0.5 * v + pinocchio.computeGeneralizedGravity(arm, data, q))


def episode(name: str, data: dict[str, Array]) -> Episode:
    """The arrays as an episode. A contact is closed where the gap is rounding."""
    closed = data["gap"] < 1e-6
    recording = Recording(
        time=data["time"], joints=tuple(str(x) for x in data["joints"]), q=data["q"], dq=data["v"],
        effort=data["effort"], contacts=("tip",), frames=(ARMS[name].tip,), closed=closed,
    )  # fmt: skip
    return Episode(f"arm_{name}", recording, np.ones_like(closed), {}, data["gap"])
