"""The Go2 of the demo as a MuJoCo model, and its state in Pinocchio's order."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.demo.physics import PHYSICS_STEP, add_floor, contact_law, free_robot, robot_geom

Array = NDArray[np.float64]

LEGS = ("FL", "FR", "RL", "RR")
FOOT_NAMES = tuple(f"{leg}_foot" for leg in LEGS)
FOOT_RADIUS = 0.020  # m
_FRICTION = 0.7


def go2_model(urdf: str, step: float = PHYSICS_STEP) -> mujoco.MjModel:
    """The Go2 on a level floor, with the masses and joints of the URDF and no friction or damping in the joints.

    The feet are spheres, trunk and shanks capsules. All of them meet the floor only. The names of the geoms are
    ``floor``, ``*_foot``, ``base`` and ``*_calf``.
    """
    spec = free_robot(urdf, "base", step, balanceinertia="false")
    law = contact_law(_FRICTION)
    add_floor(spec, law)
    robot_only = robot_geom(law)
    sphere, capsule = mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE
    trunk = {"type": capsule, "fromto": [-0.15, 0, 0, 0.15, 0, 0], "size": [0.06, 0, 0]}
    spec.body("base").add_geom(name="base", **trunk, **robot_only)
    for leg in LEGS:
        foot = {"type": sphere, "size": [FOOT_RADIUS, 0, 0]}
        spec.body(f"{leg}_foot").add_geom(name=f"{leg}_foot", **foot, **robot_only)
        shank = {"type": capsule, "fromto": [0, 0, 0, 0, 0, -0.15], "size": [0.015, 0, 0]}
        spec.body(f"{leg}_calf").add_geom(name=f"{leg}_calf", **shank, **robot_only)
    return spec.compile()


def state_of(data: mujoco.MjData) -> tuple[Array, Array]:
    """The state in Pinocchio's order.

    Returns:
        q: (19,) position of the base (m, world), its quaternion x, y, z, w, joints (rad).
        v: (18,) linear and angular velocity of the base in its own axes (m/s, rad/s), joints (rad/s).
    """
    q, v = data.qpos.copy(), data.qvel.copy()
    q[3:7] = data.qpos[[4, 5, 6, 3]]
    v[:3] = v[:3] @ data.body("base").xmat.reshape(3, 3)  # MuJoCo has world axes here, and body axes for the rotation
    return q, v
