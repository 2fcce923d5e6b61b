"""Robots of example-robot-data in MuJoCo, with a sphere on a flat floor for every configured contact.

Nothing else collides, and the physics knows nothing of this package's contact laws. On the ground ``stiff`` an impact
takes 1-2 ms, on ``soft`` some 10 ms, and that yields about a millimetre under the robot's weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.physics import (
    STIFF,
    add_contact_forces,
    add_floor,
    contact_law,
    free_robot,
    in_world_axes,
    robot_geom,
)
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]

GROUNDS = {"stiff": STIFF, "soft": 0.005}  # s, time constant of MuJoCo's contact (solref)
_CONFIG = Path(__file__).resolve().parents[1] / "config"


@dataclass(frozen=True, slots=True)
class Robot:
    """Files of a robot in example-robot-data, its standing posture (a name in its SRDF; without one ``angles``, rad, of
    the joints that are not at zero), and its configuration.

    ``config`` is a shipped file, or None: then ``feet`` (links), ``points`` (m, of each), ``radius`` (m) and
    ``friction`` make a configuration with all other values at their defaults, as a new user would write it; joints that
    are ``locked`` are held at zero.
    """

    urdf: str
    srdf: str = ""
    posture: str = ""
    config: str | None = None
    feet: tuple[str, ...] = ()
    points: tuple[float, ...] = (0.0, 0.0, 0.0)
    radius: float = 0.02
    friction: float = 0.7
    angles: tuple[tuple[str, float], ...] = ()
    locked: tuple[str, ...] = ()

    def configuration(self) -> EstimatorConfig:
        if self.config is not None:
            return EstimatorConfig.from_file(_CONFIG / self.config)
        entry = {"points": list(self.points), "radius": self.radius, "friction": self.friction}
        contacts = {foot: {"link": foot, **entry} for foot in self.feet}
        return EstimatorConfig.from_mapping({"contacts": contacts, "locked_joints": self.locked})


# Feet in the order front left, front right, rear left, rear right.
ROBOTS = {
    "go2": Robot("go2_description/urdf/go2.urdf", "go2_description/srdf/go2.srdf", "standing", "go2.yaml"),
    "anymal": Robot(
        "anymal_b_simple_description/robots/anymal.urdf",
        "anymal_b_simple_description/srdf/anymal.srdf",
        "standing",
        "anymal.yaml",
    ),
    "solo12": Robot(
        "solo_description/robots/solo12.urdf",
        "solo_description/srdf/solo.srdf",
        "straight_standing",
        feet=("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
        radius=0.016,
    ),
    "hyq": Robot(
        "hyq_description/robots/hyq_no_sensors.urdf",
        "hyq_description/srdf/hyq.srdf",
        "straight_standing",
        feet=("lf_foot", "rf_foot", "lh_foot", "rh_foot"),
        radius=0.021,
    ),
    "talos": Robot(
        "talos_data/robots/talos_reduced.urdf",
        "talos_data/srdf/talos.srdf",
        "half_sitting",
        feet=("left_sole_link", "right_sole_link"),
        points=(0.1, 0.06, 0.005, 0.1, -0.06, 0.005, -0.1, 0.06, 0.005, -0.1, -0.06, 0.005),
        radius=0.005,
        friction=0.7,
    ),
    "g1": Robot(
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        feet=("left_ankle_roll_link", "right_ankle_roll_link"),
        points=(-0.05, 0.025, -0.03, -0.05, -0.025, -0.03, 0.12, 0.03, -0.03, 0.12, -0.03, -0.03),
        radius=0.005,
        angles=tuple(
            (f"{side}_{name}_joint", angle)
            for side in ("left", "right")
            for name, angle in (("hip_pitch", -0.3), ("knee", 0.6), ("ankle_pitch", -0.3))
        ),
        locked=(
            *(f"waist_{axis}_joint" for axis in ("yaw", "roll", "pitch")),
            *(
                f"{side}_{name}_joint"
                for side in ("left", "right")
                for name in (
                    *(f"shoulder_{axis}" for axis in ("pitch", "roll", "yaw")),
                    "elbow",
                    *(f"wrist_{axis}" for axis in ("roll", "pitch", "yaw")),
                )
            ),
        ),
    ),
}


class SimulatedRobot:
    """One robot on one ground.

    Attributes:
        rigid: the estimator's model. model, data: MuJoCo's. joints: addresses in MuJoCo's qvel of the estimator's
            joints, in its order. geoms: MuJoCo's spheres, in the order of the estimator's contacts. feet: indices of
            the contacts on each link. posture: joint angles (rad) to stand in, in the estimator's order.
    """

    def __init__(self, name: str, ground: str = "stiff", friction: float | None = None) -> None:
        """``friction``: of the floor, if it is not the configured one."""
        robot = ROBOTS[name]
        self.config = robot.configuration()
        urdf = example_urdf(robot.urdf)
        self.rigid = RigidBodyModel.from_urdf(urdf, self.config)
        self.friction = float(self.rigid.friction[0]) if friction is None else friction
        self.model = self._compile(urdf.read_text(), GROUNDS[ground])
        self.data = mujoco.MjData(self.model)
        self.joints = np.array([int(self.model.joint(n).dofadr[0]) for n in self.rigid.joint_names])
        self.geoms = np.array([self.model.geom(n).id for n in self.rigid.contact_names])
        self.radius = float(self.model.geom_size[self.geoms[0], 0])
        frames = list(self.rigid.contact_frames)
        self.feet = [np.flatnonzero([f == link for f in frames]) for link in dict.fromkeys(frames)]
        self.posture = _posture(robot, urdf, self.rigid.joint_names)
        self.mass = float(self.model.body_subtreemass[1])

    def _compile(self, urdf: str, stiffness: float) -> mujoco.MjModel:
        # Dummy links of 1e-6 kg have inertias that no body can have: MuJoCo balances these.
        compiler = {"balanceinertia": "true", "boundmass": "1e-6", "boundinertia": "1e-9"}
        spec = free_robot(urdf, self.rigid.root_link, locked=self.config.locked_joints, **compiler)
        self.add_ground(spec, contact_law(0.0, stiffness))
        geom = robot_geom(contact_law(self.friction, stiffness))
        sphere = mujoco.mjtGeom.mjGEOM_SPHERE
        names = iter(self.rigid.contact_names)
        for contact in self.config.contacts.values():
            for k in range(0, len(contact.points), 3):
                spec.body(contact.link).add_geom(
                    name=next(names), type=sphere, size=[contact.radius, 0, 0], pos=list(contact.points[k : k + 3]),
                    **geom,
                )  # fmt: skip
        model = spec.compile()
        model.dof_damping[:] = model.dof_frictionloss[:] = 0.0  # the estimator's equations have neither
        model.jnt_limited[:] = 0
        return model

    def add_ground(self, spec: mujoco.MjSpec, law: dict[str, Any]) -> None:
        """What the robot stands on: here a level floor."""
        add_floor(spec, law)

    def ground(self, points: Array) -> Array:
        """Heights (k,), m, of the ground below points (k, 2 or 3)."""
        return np.zeros(len(points))

    def state(self) -> tuple[Array, Array]:
        """``q`` and ``v`` in the estimator's order (base: position, quaternion x, y, z, w; velocities in its axes)."""
        data = self.data
        q = np.r_[data.qpos[:3], data.qpos[[4, 5, 6, 3]], data.qpos[self.joints + 1]]
        v = np.r_[data.qvel[:3] @ self.rotation, data.qvel[3:6], data.qvel[self.joints]]
        return q, v

    @property
    def rotation(self) -> Array:
        """Rotation matrix of the trunk (3, 3)."""
        matrix = np.empty(9)
        mujoco.mju_quat2Mat(matrix, self.data.qpos[3:7])
        return matrix.reshape(3, 3)

    def place(self, tilt: Array, height: float) -> None:
        """Put the robot in its posture, turned by the rotation vector ``tilt`` (3,), rad, its lowest point ``height`` m
        above the ground."""
        data = self.data
        mujoco.mj_resetData(self.model, data)
        angle = float(np.linalg.norm(tilt))
        data.qpos[3:7] = [1.0, 0.0, 0.0, 0.0]
        if angle > 0.0:
            mujoco.mju_axisAngle2Quat(data.qpos[3:7], tilt / angle, angle)
        data.qpos[self.joints + 1] = self.posture
        mujoco.mj_kinematics(self.model, data)
        points = data.geom_xpos[self.geoms]
        data.qpos[2] = height + self.radius - (points[:, 2] - self.ground(points)).min()
        mujoco.mj_forward(self.model, data)

    def forces(self) -> Array:
        """Forces of the ground on each contact in the last physics step (m, 3), N, world axes."""
        found = np.zeros((self.model.ngeom, 3))
        add_contact_forces(self.data, found)
        return in_world_axes(found[self.geoms])

    def point_jacobians(self) -> Array:
        """Jacobians (m, 3, nv) of the lowest points of the spheres, in MuJoCo's coordinates."""
        found = np.empty((self.geoms.size, 3, self.model.nv))
        for i, geom in enumerate(self.geoms):
            point = self.data.geom_xpos[geom] - [0.0, 0.0, self.radius]
            mujoco.mj_jac(self.model, self.data, found[i], None, point, int(self.model.geom_bodyid[geom]))
        return found


def _posture(robot: Robot, urdf: Path, joints: Sequence[str]) -> Array:
    """Angles (rad) of the joints in the robot's standing posture."""
    if not robot.srdf:
        angles = dict(robot.angles)
        return np.array([angles.get(name, 0.0) for name in joints])
    full = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    pin.loadReferenceConfigurations(full, str(example_urdf(robot.srdf)), False)
    reference = full.referenceConfigurations[robot.posture]
    return np.array([reference[full.joints[full.getJointId(name)].idx_q] for name in joints])
