"""Robots for the tests of mechanics: those of example-robot-data, and small ones written on the spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = {
    "go2": ("go2.yaml", "go2_description/urdf/go2.urdf"),
    "anymal": ("anymal.yaml", "anymal_b_simple_description/robots/anymal.urdf"),
    "arm": ("arm.yaml", "panda_description/urdf/panda.urdf"),
    "cube": ("cube.yaml", None),
}


def urdf_path(name: str) -> Path:
    """The URDF of one of ROBOTS; skips where example-robot-data is not installed."""
    relative = ROBOTS[name][1]
    if relative is None:
        return ROOT / "config" / "cube.urdf"
    try:
        return example_urdf(relative)
    except FileNotFoundError as error:
        pytest.skip(str(error))


def load(name: str) -> RigidBodyModel:
    """One of ROBOTS with its file from config/."""
    config = EstimatorConfig.from_file(ROOT / "config" / ROBOTS[name][0])
    return RigidBodyModel.from_urdf(urdf_path(name), config)


def random_state(model: RigidBodyModel, seed: int, effort: bool = True) -> RobotState:
    """A state within ±1 of the neutral one, with velocities of the order of one."""
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.uniform(-1, 1, model.nv))
    tau = 5 * rng.normal(size=model.nv) if effort else None
    if tau is not None and model.floating_base:
        tau[:6] = 0
    return RobotState(seed, q, rng.normal(size=model.nv), tau)


def full_kinematics(model: RigidBodyModel, q, v=None):
    """Data of an independent forward kinematics at v̇ = 0 in the full coordinates, frames placed."""
    data = model.pinocchio_model.createData()
    fq = model.coordinates.full_position(q)
    fv = model.coordinates.full_velocity(np.zeros(model.nv) if v is None else v)
    pin.forwardKinematics(model.pinocchio_model, data, fq, fv, 0 * fv)
    pin.updateFramePlacements(model.pinocchio_model, data)
    return data


def link(name: str, mass: float | None = 1.0, inertia: float = 0.01) -> str:
    if mass is None:
        return f'<link name="{name}"/>'
    moments = f'ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"'
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 0.1"/><mass value="{mass}"/>'
        f"<inertia {moments}/></inertial></link>"
    )


def joint(
    name: str, parent: str, child: str, kind: str = "revolute", more: str = "", axis: str = "0 1 0",
    at: str = "0 0.05 0.3", turned: str = "0.1 0.2 0.3",
) -> str:  # fmt: skip
    limit = '<limit lower="-1" upper="2" effort="9" velocity="9"/>' if kind in ("revolute", "prismatic") else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}" rpy="{turned}"/><axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def robot(*parts: str) -> str:
    return f'<?xml version="1.0"?><robot name="test">{"".join(parts)}</robot>'
