"""Robots for the tests of executions: small ones written on the spot, and those of example-robot-data."""

from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel

ROOT = Path(__file__).resolve().parents[2]
GRAVITY = 9.81
CORNERS = [(x, y, -0.05) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]


def link(name, mass=2.0, moments=(0.02, 0.02, 0.02)):
    xx, yy, zz = moments
    inertia = f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><mass value="{mass}"/>{inertia}</inertial></link>'


def free_body(points, mass=2.0, moments=(0.02, 0.02, 0.02), **contact):
    """One rigid body with contact points in its frame; its centre of mass is the origin."""
    flat = [float(x) for point in points for x in point]
    config = {"contacts": {"c": {"link": "body", "points": flat, "radius": 0.0, **contact}}}
    text = f'<robot name="body">{link("body", mass, moments)}</robot>'
    return RigidBodyModel.from_urdf(text, EstimatorConfig.from_mapping(config))


def ball(**contact):
    """A solid ball of 2 kg and 0.1 m: its inertia is 2/5 m r²."""
    return free_body([(0.0, 0.0, 0.0)], 2.0, (0.008, 0.008, 0.008), **{"radius": 0.1, **contact})


def block(**contact):
    """A flat block of 0.4 × 0.2 × 0.1 m that stands on four corners."""
    m, (a, b, c) = 2.0, (0.4, 0.2, 0.1)
    moments = tuple(m / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b]))
    return free_body(CORNERS, m, moments, **contact)


def turning(kind="revolute", axis="0 0 1", **config):
    """A fixed base and one joint with limits of −0.5 and 0.5 rad, if it has any."""
    limit = '<limit lower="-0.5" upper="0.5" effort="9" velocity="9"/>' if kind == "revolute" else ""
    text = (
        f'<robot name="turning">{link("base")}{link("arm")}<joint name="hinge" type="{kind}"><parent link="base"/>'
        f'<child link="arm"/><axis xyz="{axis}"/>{limit}</joint></robot>'
    )
    return RigidBodyModel.from_urdf(text, EstimatorConfig.from_mapping({"floating_base": False, **config}))


def standing(height, velocity=(0, 0, 0, 0, 0, 0)):
    """(q, v) of a free body, not turned."""
    return np.array([0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0]), np.array(velocity, dtype=float)


def cube():
    """The cube of config/, with restitution."""
    return RigidBodyModel.from_urdf(ROOT / "config" / "cube.urdf", EstimatorConfig.from_file(ROOT / "config/cube.yaml"))


def example(name, urdf):
    """A robot of example-robot-data with its file from config/; skips where that is not installed."""
    try:
        path = example_urdf(urdf)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return RigidBodyModel.from_urdf(path, EstimatorConfig.from_file(ROOT / "config" / f"{name}.yaml"))
