"""Robots for the tests of mechanics: those of example-robot-data, and small ones written on the spot."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = {
    "go2": ("go2.yaml", "go2_description/urdf/go2.urdf"),
    "anymal": ("anymal.yaml", "anymal_b_simple_description/robots/anymal.urdf"),
    "arm": ("arm.yaml", "panda_description/urdf/panda.urdf"),
    "cube": ("cube.yaml", None),
}


def robot_data() -> Path:
    """The folder of example-robot-data's robots; skips where the package is not installed."""
    places = [Path(prefix) for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix]
    places.append(Path(sys.prefix))
    try:
        places.insert(0, Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix"))))
    except importlib.metadata.PackageNotFoundError:
        pass
    for place in places:
        if (place / "share/example-robot-data/robots").is_dir():
            return place / "share/example-robot-data/robots"
    pytest.skip("example-robot-data is not installed")


def load(name: str) -> RigidBodyModel:
    """One of ROBOTS with its file from config/."""
    yaml, urdf = ROBOTS[name]
    path = ROOT / "config" / "cube.urdf" if urdf is None else robot_data() / urdf
    config = EstimatorConfig.from_file(ROOT / "config" / yaml)
    return RigidBodyModel.from_urdf(path, config)


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


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "", axis: str = "0 1 0") -> str:
    limit = '<limit lower="-1" upper="2" effort="9" velocity="9"/>' if kind in ("revolute", "prismatic") else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0.05 0.3" rpy="0.1 0.2 0.3"/><axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def robot(*parts: str) -> str:
    return f'<?xml version="1.0"?><robot name="test">{"".join(parts)}</robot>'


@pytest.fixture(scope="session")
def go2() -> RigidBodyModel:
    return load("go2")


@pytest.fixture(scope="session", params=sorted(ROBOTS))
def any_robot(request: pytest.FixtureRequest) -> RigidBodyModel:
    return load(request.param)


@pytest.fixture(scope="session")
def shared() -> Path:
    path = Path(os.environ.get("HYBRID_CONTACT_SHARED", ROOT.parent / "shared"))
    if not path.is_dir():
        pytest.skip(f"no shared data at {path}")
    return path
