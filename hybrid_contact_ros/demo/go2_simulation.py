"""The demo's robot: a Go2 quadruped in MuJoCo that is dropped, hops and trots; plain physics, no ROS.

MuJoCo's contact law (convex, slightly compliant) is not this package's: what is predicted here is checked against an
engine that knows nothing of the predictor.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.demo.scenario import GRAVITY, Hop, Scenario, taken_over
from hybrid_contact_ros.demo.trot import (
    HIP_OFFSET,
    HIPS,
    SIDES,
    Trot,
    TrotController,
    Trunk,
    Vector,
    force_torques,
    leg_angles,
)
from hybrid_contact_ros.mechanics.example_data import example_urdf

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEGS = ("FL", "FR", "RL", "RR")
FOOT_RADIUS = 0.020  # m
SLIPPING = 0.05  # m/s, speed along the ground from which on a loaded foot counts as slipping
_LOADED = 1.0  # N; a foot that skims the ground carries less

_PHYSICS_STEP = 0.00025  # s
_CONTROL_STEP = 0.001  # s
_FRICTION = 0.7
_SWAY = 100.0  # N s/m, what standing feet hold against the trunk's horizontal velocity
_TILT = (0.3, 0.6)  # deg, of the drop: the four feet touch within a millisecond or two
_STANCE_HEIGHT = 0.28  # m, hips above the feet's centres


_FLIGHT = 0.05  # s in the air, before a touchdown is an impact to record
_STOPPED = 0.05  # of the speed of approach: a foot that approaches slower has stopped
_LONGEST_IMPACT = 0.003  # s; most take 1 ms


@dataclass(frozen=True, slots=True)
class TrueImpact:
    """An impact that ended a flight, from the physics step before the first contact to the first at which no foot that
    touched approaches any more. Four steps of gravity, springs and motors are in ``v_plus``: a per cent or so.

    Attributes:
        time: s, of its beginning. feet: that touched meanwhile.
        q (19,), v_minus, v_plus (18,): as of :meth:`Go2Simulation.state`.
    """

    time: float
    feet: tuple[str, ...]
    q: Array
    v_minus: Array
    v_plus: Array


def go2_model(urdf: str, step: float = _PHYSICS_STEP) -> mujoco.MjModel:
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
            raise ValueError(
                f"rate_hz = {rate_hz}: give a divisor of {1 / _CONTROL_STEP:.0f} Hz, the controller's rate"
            )
        self._controls = round(controls)
        self._substeps = round(_CONTROL_STEP / _PHYSICS_STEP)
        self.scenario = scenario or Scenario()
        self.urdf_text = example_urdf("go2_description/urdf/go2.urdf").read_text()
        self.model = go2_model(self.urdf_text)
        self.data = mujoco.MjData(self.model)
        self.joint_names = tuple(self.model.joint(i).name for i in range(1, self.model.njnt))
        self._feet = {self.model.geom(name).id: k for k, name in enumerate(self.foot_names)}
        joints = ElementTree.fromstring(self.urdf_text).iter("joint")
        limits = {j.get("name"): limit.get("effort", "0") for j in joints if (limit := j.find("limit")) is not None}
        self._effort = [float(limits[name]) for name in self.joint_names]
        self._weight = float(self.model.body_subtreemass[0]) * GRAVITY
        self._hop = Hop()
        self._neutral = self._under_the_centre_of_mass()
        self._trot = TrotController(self._neutral, self._weight, self.scenario.speed, Trot())
        self._tau = np.zeros(12)
        self._place(np.random.default_rng(seed))
        self._control()
        mujoco.mj_forward(self.model, self.data)
        self.impacts: list[TrueImpact] = []
        self._flight = math.inf  # s in the air; only to be compared with _FLIGHT
        self._impact: TrueImpact | None = None
        self._rates = np.zeros(4)

    @property
    def time(self) -> float:
        """s since the drop."""
        return float(self.data.time)

    def step(self) -> None:
        """Advance by ``1 / rate_hz``; the controller acts every millisecond."""
        for _ in range(self._controls):
            left = self._substeps
            while left and self._flight >= _FLIGHT:
                self._watch()
                left -= 1
            if left:
                mujoco.mj_step(self.model, self.data, left)
                self._flight = 0.0 if self.data.ncon else self._flight + left * _PHYSICS_STEP
            self._control()
        # Contact forces of the new state, not of the last substep's beginning.
        mujoco.mj_forward(self.model, self.data)

    def _watch(self) -> None:
        """One physics step in flight or during the impact that ends it."""
        q, v, _ = self.state()
        heights = self._heights()
        mujoco.mj_step(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        rates = (self._heights() - heights) / _PHYSICS_STEP
        feet = {self._feet[int(c.geom2)] for c in self.data.contact[: self.data.ncon] if int(c.geom2) in self._feet}
        if feet and self._impact is None:
            self._impact = TrueImpact(self.time - _PHYSICS_STEP, (), q, v, v)
            self._approach, self._touched = self._rates, set()
        self._rates = rates
        if self._impact is None:
            return
        self._touched |= feet
        members = sorted(self._touched)
        over = (rates[members] >= _STOPPED * self._approach[members]).all()
        if over or self.time - self._impact.time > _LONGEST_IMPACT:
            names = tuple(self.foot_names[k] for k in members)
            self.impacts.append(replace(self._impact, feet=names, v_plus=self.state()[1]))
            self._impact, self._flight = None, 0.0

    def _heights(self) -> Array:
        return np.array([self.data.geom_xpos[index, 2] for index in self._feet])

    def state(self) -> tuple[Array, Array, Array]:
        """``q`` (19,), ``v`` (18,) and the joint torques ``tau`` (12,) that act from now on, N m.

        Pinocchio's order: base position (m, world), quaternion x, y, z, w, joints (rad); base linear and angular
        velocity in the BASE frame (m/s, rad/s), joints (rad/s).
        """
        q, v = self.data.qpos.copy(), self.data.qvel.copy()
        q[3:7] = self.data.qpos[[4, 5, 6, 3]]
        v[:3] = v[:3] @ self.data.body("base").xmat.reshape(3, 3)  # MuJoCo: world axes, but body axes for the rotation
        return q, v, self._tau.copy()

    def contacts(self) -> tuple[Flags, Array, Flags]:
        """Which feet carry load (4,), the ground's force on each (4, 3) in world axes [N], which of them slip (4,)."""
        model, data = self.model, self.data
        force, slipping = np.zeros((4, 3)), np.zeros(4, dtype=bool)
        local, velocity = np.zeros(6), np.zeros(6)
        for index in range(data.ncon):
            contact = data.contact[index]
            foot = self._feet.get(int(contact.geom2))
            if foot is None:
                continue
            mujoco.mj_contactForce(model, data, index, local)
            force[foot] = local[:3] @ contact.frame.reshape(3, 3)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_GEOM, contact.geom2, velocity, 0)
            along = velocity[3:] + np.cross(velocity[:3], contact.pos - data.geom_xpos[contact.geom2])
            slipping[foot] = math.hypot(along[0], along[1]) > SLIPPING
        closed = force[:, 2] > _LOADED
        return closed, force, slipping & closed

    def tilt(self) -> float:
        """Angle between the trunk's own up and the vertical, rad."""
        return math.acos(max(-1.0, min(1.0, float(self.data.body("base").xmat[8]))))

    def others_touching(self) -> tuple[str, ...]:
        """What touches the floor although it should not: ``base`` or ``*_calf``."""
        touching = {int(c.geom2) for c in self.data.contact[: self.data.ncon]} - self._feet.keys()
        return tuple(sorted(self.model.geom(i).name for i in touching))

    def _under_the_centre_of_mass(self) -> Vector:
        """Where FL's foot stands, from its hip: feet below their thigh joints, shifted to below the centre of mass."""
        shift = 0.0
        for _ in range(3):  # the legs' own mass moves along
            neutral = (shift, HIP_OFFSET, -_STANCE_HEIGHT)
            self._pose(neutral)
            mujoco.mj_fwdPosition(self.model, self.data)
            shift = float(self.data.subtree_com[1, 0])
        return neutral

    def _pose(self, neutral: Vector) -> None:
        self.data.qpos[:7] = [0, 0, 0, 1, 0, 0, 0]
        for leg, side in enumerate(SIDES):
            foot = (neutral[0], side * neutral[1], neutral[2])
            self.data.qpos[7 + 3 * leg : 10 + 3 * leg] = leg_angles(foot, side)

    def _place(self, rng: np.random.Generator) -> None:
        """In the air, tilted a little, turning a little."""
        self._pose(self._neutral)
        tilt, direction = math.radians(rng.uniform(*_TILT)), rng.uniform(0.0, 2.0 * math.pi)
        roll, pitch = tilt * math.cos(direction), tilt * math.sin(direction)
        mujoco.mju_euler2Quat(self.data.qpos[3:7], np.array([roll, pitch, 0.0]), "xyz")
        self.data.qvel[3:6] = rng.normal(0.0, 0.05, 3)
        mujoco.mj_fwdPosition(self.model, self.data)
        lowest = min(float(self.data.geom_xpos[i, 2]) for i in self._feet) - FOOT_RADIUS
        self.data.qpos[2] = self.scenario.drop - lowest

    def _control(self) -> None:
        """Joint torques from the scenario: targets by inverse kinematics, PD, and the weight as feedforward."""
        time, scenario, neutral = self.time + 1e-9, self.scenario, self._neutral
        forces, kp, kd = [0.0] * 4, 80.0, 2.0
        hop = time - max((t for t in scenario.hops if t <= time), default=math.inf)
        trunk, along, across = self._trunk(), 0.0, 0.0
        if time >= scenario.trot:
            feet, forces = self._trot.targets(time - scenario.trot, _CONTROL_STEP, trunk)
            kp, kd = 120.0, 3.0
        else:
            height, share = -neutral[2], taken_over(time)
            if hop >= 0.0:
                height, share = self._hop.height(hop, height)
            feet = [(neutral[0], side * neutral[1], -height) for side in SIDES]
            for leg, (foot, hip) in enumerate(zip(feet, HIPS, strict=True)):
                level = trunk.levelling(hip[0] + foot[0], hip[1] + foot[1])
                forces[leg] = max(0.25 * share * (self._weight + level), 0.0)
            along, across = -0.25 * _SWAY * share * trunk.forward, -0.25 * _SWAY * share * trunk.left
        q, v = self.data.qpos[7:].tolist(), self.data.qvel[6:].tolist()
        for leg, side in enumerate(SIDES):
            first = 3 * leg
            target = leg_angles(feet[leg], side)
            angles = (q[first], q[first + 1], q[first + 2])
            feedforward = force_torques(angles, side, (along, across, forces[leg]))
            for k in range(3):
                i = first + k
                torque = kp * (target[k] - q[i]) - kd * v[i] + feedforward[k]
                self._tau[i] = min(max(torque, -self._effort[i]), self._effort[i])
        self.data.qfrc_applied[6:] = self._tau

    def _trunk(self) -> Trunk:
        m = self.data.body("base").xmat.tolist()
        heading = math.atan2(m[3], m[0])
        x, y, _, roll_rate, pitch_rate, _ = self.data.qvel[:6].tolist()
        sin, cos = math.sin(heading), math.cos(heading)
        return Trunk(
            roll=math.atan2(m[7], m[8]),
            pitch=-math.asin(max(-1.0, min(1.0, m[6]))),
            forward=cos * x + sin * y,
            left=cos * y - sin * x,
            roll_rate=roll_rate,
            pitch_rate=pitch_rate,
        )
