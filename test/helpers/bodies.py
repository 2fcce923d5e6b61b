"""Single bodies and an arm as estimators, their states, and the comparison of predictions to the bit."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from hybrid_contact_ros.config import EstimatorConfig, LandingConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

GRAVITY = 9.81
MASS = 2.0
BALL = f"""<robot name="ball"><link name="ball"><inertial><mass value="{MASS}"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
SLIDER = """<robot name="slider"><link name="world_link"/>
<link name="rod"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="lift" type="prismatic"><parent link="world_link"/><child link="rod"/><axis xyz="0 0 1"/>
<limit lower="-0.5" upper="1" effort="100" velocity="10"/></joint></robot>"""


def body(points, **more) -> ContactEstimator:
    contact = {"link": "ball", "points": list(points), "friction": 0.5, **more.pop("contact", {})}
    config = EstimatorConfig.from_mapping({"contacts": {"foot": contact}, **more})
    return ContactEstimator(RigidBodyModel.from_urdf(BALL, config), config)


def block(**more) -> ContactEstimator:
    """A block on four points, 10 cm apart, 5 cm below its centre."""
    return body([x for i in (-1, 1) for j in (-1, 1) for x in (0.05 * i, 0.05 * j, -0.05)], **more)


def free(stamp, height, velocity=(0, 0, 0), force=(0, 0, 0)) -> RobotState:
    """A body without rotation; the force is given as generalised effort on the base."""
    return RobotState(
        stamp, np.array([0, 0, height, 0, 0, 0, 1.0]), np.r_[velocity, 0, 0, 0].astype(float),
        np.r_[force, 0, 0, 0].astype(float),
    )  # fmt: skip


def same_bits(a, b) -> bool:
    """All fields of two predictions, to the bit."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same_bits(x, y) for x, y in zip(a, b, strict=True))
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(same_bits(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return a == b or (a != a and b != b)


def landing(dt=0.002, seed=0) -> list[RobotState]:
    """A block that falls, hits, rests, and slides a little, with noise."""
    rng = np.random.default_rng(seed)
    states = []
    for i in range(150):
        t = i * dt
        height = max(0.05, 0.1 - 0.5 * GRAVITY * t * t) + 2e-4 * rng.normal()
        speed = -GRAVITY * t if height > 0.055 else 0.0
        states.append(free(round(1e9 * t), height, (0.1 * (i > 120), 0, speed + 0.01 * rng.normal())))
    return states


NO_DEADLINE = {"impact": {"deadline": 0.0, "samples": 32}}
NO_TERMS = {
    "landing": {f.name: 0.0 for f in fields(LandingConfig) if isinstance(f.default, float) and f.name != "level"}
}
"""Impacts to which landing adds nothing."""


def arm(effort_known=True) -> tuple[ContactEstimator, list[RobotState]]:
    """A rod on a vertical slide, let down onto its lower limit, where it rests."""
    config = EstimatorConfig.from_mapping(
        {"floating_base": False, "contacts": {}, "joint_limits": ["lift"], "prediction": {"horizon": 1.0}}
    )
    thing = ContactEstimator(RigidBodyModel.from_urdf(SLIDER, config), config)
    effort = np.array([0.0]) if effort_known else None
    states = [RobotState(0, np.array([-0.4]), np.array([-0.5]), effort)]
    states += [RobotState(i * 1_000_000, np.array([-0.5]), np.zeros(1), effort) for i in range(300, 400)]
    return thing, states
