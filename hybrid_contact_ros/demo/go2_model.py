"""The demo's Go2 as a MuJoCo model, and its state in this package's order."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEGS = ("FL", "FR", "RL", "RR")
FOOT_NAMES = tuple(f"{leg}_foot" for leg in LEGS)
FOOT_RADIUS = 0.020  # m
PHYSICS_STEP = 0.00025  # s
_FRICTION = 0.7


def go2_model(urdf: str, step: float = PHYSICS_STEP) -> mujoco.MjModel:
    """The Go2 on a flat floor: the URDF's masses and joints, spheres for feet, no friction or damping in the joints.

    Trunk and shanks are capsules that meet the floor only: ``base`` and ``*_calf`` among the geoms' names, ``floor``
    the ground, ``*_foot`` the feet.
    """
    robot = ElementTree.fromstring(urdf)
    for link in robot.iter("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
    options = ElementTree.SubElement(robot, "mujoco")
    # Static links are fused only after the trunk is freed: before that, they would take it to the world with them.
    ElementTree.SubElement(options, "compiler", fusestatic="false", balanceinertia="false")
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    spec.body("base").add_freejoint()
    spec.compiler.fusestatic = True
    spec.option.timestep = step
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    contact = {
        "condim": 3,
        "friction": [_FRICTION, 0.0, 0.0],
        "solref": [0.001, 1.0],
        "solimp": [0.98, 0.999, 0.0002, 0.5, 2.0],
        "mass": 0.0,
        "density": 0.0,
    }
    robot_only = contact | {"contype": 1, "conaffinity": 0}  # meets the floor, not itself
    plane, sphere, capsule = (getattr(mujoco.mjtGeom, f"mjGEOM_{n}") for n in ("PLANE", "SPHERE", "CAPSULE"))
    spec.worldbody.add_geom(name="floor", type=plane, size=[0, 0, 1], **(contact | {"contype": 0, "conaffinity": 1}))
    trunk = {"type": capsule, "fromto": [-0.15, 0, 0, 0.15, 0, 0], "size": [0.06, 0, 0]}
    spec.body("base").add_geom(name="base", **trunk, **robot_only)
    for leg in LEGS:
        foot = {"type": sphere, "size": [FOOT_RADIUS, 0, 0]}
        spec.body(f"{leg}_foot").add_geom(name=f"{leg}_foot", **foot, **robot_only)
        shank = {"type": capsule, "fromto": [0, 0, 0, 0, 0, -0.15], "size": [0.015, 0, 0]}
        spec.body(f"{leg}_calf").add_geom(name=f"{leg}_calf", **shank, **robot_only)
    return spec.compile()


def state_of(data: mujoco.MjData) -> tuple[Array, Array]:
    """``q`` (19,) and ``v`` (18,) in Pinocchio's order.

    Base position (m, world), quaternion x, y, z, w, joints (rad); base linear and angular velocity in the BASE frame
    (m/s, rad/s), joints (rad/s).
    """
    q, v = data.qpos.copy(), data.qvel.copy()
    q[3:7] = data.qpos[[4, 5, 6, 3]]
    v[:3] = v[:3] @ data.body("base").xmat.reshape(3, 3)  # MuJoCo: world axes, but body axes for the rotation
    return q, v
