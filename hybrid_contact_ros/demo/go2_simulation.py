"""The demo's robot: a Go2 quadruped in MuJoCo that is dropped, hops and trots; plain physics, no ROS.

MuJoCo's contact law (convex, slightly compliant) is not this package's: what is predicted here is checked against an
engine that knows nothing of the predictor.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.demo.trot import SIDES, Trot, TrotController, Trunk, Vector, force_torques, leg_angles
from hybrid_contact_ros.mechanics.example_data import example_urdf

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEGS = ("FL", "FR", "RL", "RR")
FOOT_RADIUS = 0.020  # m
SLIPPING = 0.05  # m/s, speed along the ground from which on a loaded foot counts as slipping
_LOADED = 1.0  # N; a foot that skims the ground carries less

_PHYSICS_STEP = 0.0005  # s
_CONTROL_STEP = 0.001  # s
_FRICTION = 0.7


def go2_model(urdf: str, step: float = _PHYSICS_STEP) -> mujoco.MjModel:
    """The Go2 on a flat floor: the URDF's masses and joints, spheres for feet, no friction or damping in the joints.

    Trunk and shanks are capsules that meet the floor only: ``base`` and ``*_calf`` among the geoms' names, ``floor`` the
    ground, ``*_foot`` the feet.
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


@dataclass(frozen=True, slots=True)
class Scenario:
    """When the robot does what; times in s since the drop.

    Attributes:
        drop: m, of the lowest foot above the ground at the start.
        hops: when each hop's crouch begins.
        trot: when the trot begins.
        speed: m/s, forward, of the trot.
    """

    drop: float = 0.27
    hops: tuple[float, ...] = (2.5, 4.5)
    trot: float = 6.5
    speed: float = 0.1


@dataclass(frozen=True, slots=True)
class _Hop:
    """Crouch, push off at constant acceleration, and draw the legs in again for the landing."""

    low: float = 0.20  # m, hips above the feet
    high: float = 0.33
    crouch: float = 0.5  # s
    acceleration: float = 8.0  # m/s²
    retract: float = 0.12  # s

    def height(self, time: float, neutral: float) -> tuple[float, float, bool]:
        """Hip height (m), acceleration (m/s²), and whether the legs carry, ``time`` s after the crouch began."""
        if time < self.crouch:
            return neutral + (self.low - neutral) * _smooth(time / (0.8 * self.crouch)), 0.0, True
        time -= self.crouch
        push = math.sqrt(2.0 * (self.high - self.low) / self.acceleration)
        if time < push:
            return self.low + 0.5 * self.acceleration * time * time, self.acceleration, True
        return self.high + (neutral - self.high) * _smooth((time - push) / self.retract), 0.0, False


def _smooth(part: float) -> float:
    return 0.5 * (1.0 - math.cos(math.pi * min(max(part, 0.0), 1.0)))


class Go2Simulation:
    """A Go2 that is dropped on four feet, hops twice and then trots slowly forward; the same for the same seed.

    Attributes:
        joint_names: the 12 joints, in the order of ``state()``.
        foot_names: the feet's links, in the order of ``contacts()``.
        urdf_text: the robot's description.
    """

    foot_names = tuple(f"{leg}_foot" for leg in LEGS)

    def __init__(self, rate_hz: float = 500.0, seed: int = 0, scenario: Scenario | None = None) -> None:
        """``rate_hz``: of ``step()``, at most 1000 and a divisor of it; the seed draws tilt and spin of the drop."""
        controls = 1.0 / (rate_hz * _CONTROL_STEP) if rate_hz > 0 else 0.0
        if round(controls) < 1 or abs(controls - round(controls)) > 1e-9:
            raise ValueError(f"rate_hz = {rate_hz}: give a divisor of {1 / _CONTROL_STEP:.0f} Hz, the controller's rate")
        self._controls = round(controls)
        self._substeps = round(_CONTROL_STEP / _PHYSICS_STEP)
        self.scenario = scenario or Scenario()
        self.urdf_text = example_urdf("go2_description/urdf/go2.urdf").read_text()
        self.model = go2_model(self.urdf_text)
        self.data = mujoco.MjData(self.model)
        self.joint_names = tuple(self.model.joint(i).name for i in range(1, self.model.njnt))
        self._feet = {self.model.geom(name).id: k for k, name in enumerate(self.foot_names)}
        effort = [float(j.find("limit").get("effort")) for j in map(self._joint_element, self.joint_names)]
        self._effort = np.array(effort)
        self._weight = float(self.model.body_subtreemass[0]) * 9.81
        self._hop = _Hop()
        self._place(np.random.default_rng(seed))
        self._tau = np.zeros(12)
        self._control()
