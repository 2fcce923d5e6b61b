"""A robot on four legs whose motion is known in closed form: each leg moves its foot along three axes of the base, so
that joints are where the foot is, and feet that stand are exactly at rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.recordings.recording import Recording

LEGS = {"FL": (0.3, 0.2), "FR": (0.3, -0.2), "RL": (-0.3, 0.2), "RR": (-0.3, -0.2)}
DIAGONAL = np.array([0.0, 0.5, 0.5, 0.0])  # of a stride, by which each leg is later: a trot
_HEIGHT = 0.4  # m
_INERTIAL = """<inertial><mass value="{}"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
_JOINT = """<joint name="{child}" type="prismatic"><parent link="{parent}"/><child link="{child}_link"/>
<origin xyz="{place}"/><axis xyz="{axis}"/><limit lower="-9" upper="9" effort="999" velocity="99"/></joint>
<link name="{child}_link">{inertial}</link>"""
_AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}


def _leg(name: str, x: float, y: float) -> str:
    text, parent = "", "base"
    for axis, along in _AXES.items():
        place = f"{x} {y} 0" if parent == "base" else "0 0 0"
        text += _JOINT.format(
            parent=parent, child=f"{name}_{axis}", place=place, axis=along, inertial=_INERTIAL.format(0.1)
        )
        parent = f"{name}_{axis}_link"
    return text


URDF = (
    f'<robot name="quadruped"><link name="base">{_INERTIAL.format(9)}</link>'
    + "".join(_leg(name, x, y) for name, (x, y) in LEGS.items())
    + "</robot>"
)
CONFIG = EstimatorConfig.from_mapping({"contacts": {name: {"link": f"{name}_z_link"} for name in LEGS}})


def model() -> RigidBodyModel:
    return RigidBodyModel.from_urdf(URDF, CONFIG)


@dataclass(frozen=True)
class Gait:
    """speed: m/s. sway: rad, of roll and pitch. stride: s. duty: part of it for which a foot stands. later: of each
    leg. hz: of the states. slip: m/s, of feet that stand. lift: m, of feet that swing."""

    seconds: float = 6.0
    speed: float = 0.3
    sway: float = 0.08
    stride: float = 0.5
    duty: float = 0.55
    later: tuple[float, ...] = tuple(DIAGONAL)
    hz: float = 500.0
    slip: float = 0.0
    lift: float = 0.05


def walk(gait: Gait) -> Recording:
    """The base drives on and sways, and its feet trot below it."""
    t = np.arange(0.0, gait.seconds, 1.0 / gait.hz)
    position, rotation = _base(gait, t)
    step = 1e-5
    ahead, behind = (_joints(gait, t + d) for d in (step, -step))
    velocity = (_base(gait, t + step)[0] - _base(gait, t - step)[0]) / (2.0 * step)
    angular = (_base(gait, t - step)[1].inv() * _base(gait, t + step)[1]).as_rotvec() / (2.0 * step)
    names = tuple(f"{name}_z_link" for name in LEGS)
    return Recording(
        time=t, position=position, quaternion=rotation.as_quat(), linear=rotation.inv().apply(velocity),
        angular=angular, joints=tuple(f"{name}_{axis}" for name in LEGS for axis in _AXES), q=_joints(gait, t),
        dq=(ahead - behind) / (2.0 * step), contacts=tuple(LEGS), frames=names, closed=_phase(gait, t) < gait.duty,
        urdf=URDF,
    )  # fmt: skip


def states(robot: RigidBodyModel, r: Recording) -> list[RobotState]:
    order = [r.joints.index(name) for name in robot.joint_names]
    q = np.hstack((r.position, r.quaternion, r.q[:, order]))
    v = np.hstack((r.linear, r.angular, r.dq[:, order]))
    return [RobotState(10**9 + round(1e9 * t), *row) for t, *row in zip(r.time, q, v, strict=True)]


def renamed(r: Recording, names: dict[str, str]) -> Recording:
    """The joints of legs under the names of others."""
    return replace(r, joints=tuple(f"{names.get(name[:2], name[:2])}{name[2:]}" for name in r.joints))


def _base(gait: Gait, t: np.ndarray) -> tuple[np.ndarray, Rotation]:
    turn = 2.0 * np.pi * t / gait.stride
    angles = gait.sway * np.column_stack((np.sin(turn), np.cos(turn), 0.5 * np.sin(0.5 * turn)))
    height = _HEIGHT + 0.1 * gait.sway * np.sin(2.0 * turn)
    return np.column_stack((gait.speed * t, 0.0 * t, height)), Rotation.from_euler("xyz", angles)


def _phase(gait: Gait, t: np.ndarray) -> np.ndarray:
    return (t[:, None] / gait.stride + np.array(gait.later)) % 1.0


def _joints(gait: Gait, t: np.ndarray) -> np.ndarray:
    """(n, 12): where the feet are, from where the legs are attached, in the axes of the base."""
    position, rotation = _base(gait, t)
    phase = _phase(gait, t)
    begun = gait.stride * (t[:, None] / gait.stride - phase)  # when this stride of the leg began
    swing = np.clip((phase - gait.duty) / max(1.0 - gait.duty, 1e-9), 0.0, 1.0)
    eased = swing - np.sin(2.0 * np.pi * swing) / (2.0 * np.pi)
    reach = gait.speed * gait.stride
    columns = []
    for i, (x, y) in enumerate(LEGS.values()):
        stood = gait.slip * (t - begun[:, i])
        foot = np.column_stack((
            x + gait.speed * begun[:, i] + reach * eased[:, i] + stood,
            np.full_like(t, y),
            gait.lift * np.sin(np.pi * swing[:, i]) ** 2,
        ))  # fmt: skip
        columns.append(rotation.inv().apply(foot - position) - np.array([x, y, 0.0]))
    return np.hstack(columns)
