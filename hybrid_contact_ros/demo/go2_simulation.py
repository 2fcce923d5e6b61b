"""The robot of the demo: a Go2 in MuJoCo that is dropped, hops and trots. This is plain physics, without ROS."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.demo.go2_model import FOOT_NAMES, FOOT_RADIUS, go2_model, state_of
from hybrid_contact_ros.demo.ground_truth import Flags, TrueImpact, Truth
from hybrid_contact_ros.demo.physics import PHYSICS_STEP
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

_CONTROL_STEP = 0.001  # s
_SWAY = 100.0  # N s/m, with which standing feet hold against the horizontal velocity of the trunk
_TILT = (0.3, 0.6)  # deg, range of the tilt in the drop: the four feet touch within a few milliseconds
_STANCE_HEIGHT = 0.28  # m, hips above the feet's centres


class Go2Simulation:
    """A Go2 that is dropped on four feet, hops twice and then trots slowly forward. The same seed gives the same
    motion.

    Args:
        rate_hz: rate of ``step()``, at most 1000 Hz and a divisor of it.
        seed: draws tilt and spin of the drop.
        scenario: what the robot does when.

    Attributes:
        joint_names: the 12 joints, in the order of ``state()``.
        foot_names: the links of the feet, in the order of ``contacts()``.
        urdf_text: the URDF.

    Raises:
        ValueError: the rate is no divisor of 1000 Hz.
    """

    foot_names = FOOT_NAMES

    def __init__(self, rate_hz: float = 500.0, seed: int = 0, scenario: Scenario | None = None) -> None:
        controls = 1.0 / (rate_hz * _CONTROL_STEP) if rate_hz > 0 else 0.0
        if round(controls) < 1 or abs(controls - round(controls)) > 1e-9:
            raise ValueError(
                f"rate_hz = {rate_hz}: give a divisor of {1 / _CONTROL_STEP:.0f} Hz, the controller's rate"
            )
        self._controls = round(controls)
        self._substeps = round(_CONTROL_STEP / PHYSICS_STEP)
        self.scenario = scenario or Scenario()
        self.urdf_text = example_urdf("go2_description/urdf/go2.urdf").read_text()
        self.model = go2_model(self.urdf_text)
        self.data = mujoco.MjData(self.model)
        self.joint_names = tuple(self.model.joint(i).name for i in range(1, self.model.njnt))
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
        self._truth = Truth(self.model, self.data)
        self.impacts: list[TrueImpact] = self._truth.impacts
        self._contacts: tuple[Flags, Array, Flags] = (np.zeros(4, bool), np.zeros((4, 3)), np.zeros(4, bool))

    @property
    def time(self) -> float:
        """Time since the drop, s."""
        return float(self.data.time)

    def step(self) -> None:
        """Advance by ``1 / rate_hz``. The controller acts every millisecond."""
        for _ in range(self._controls):
            for _ in range(self._substeps):
                self._truth.advance()
            self._control()
        self._contacts = self._truth.cycle()
        # Positions are then those of the new state, and not those at the beginning of the last physics step.
        mujoco.mj_kinematics(self.model, self.data)

    def state(self) -> tuple[Array, Array, Array]:
        """``q`` (19,), ``v`` (18,) as of :func:`~hybrid_contact_ros.demo.go2_model.state_of`, and the joint torques
        ``tau`` (12,) that act from now on, N m."""
        return *state_of(self.data), self._tau.copy()

    def contacts(self) -> tuple[Flags, Array, Flags]:
        """The contacts during the last ``step()``.

        Returns:
            closed: (4,), which feet carry load.
            force: (4, 3) N, mean force of the ground on each foot, in world axes.
            slipping: (4,), which of them slip.
        """
        return self._contacts

    def tilt(self) -> float:
        """Angle between the upward axis of the trunk and the vertical, rad."""
        return math.acos(max(-1.0, min(1.0, float(self.data.body("base").xmat[8]))))

    def others_touching(self) -> tuple[str, ...]:
        """What touches the floor although it should not: ``base`` or ``*_calf``."""
        return self._truth.others_touching()

    def _under_the_centre_of_mass(self) -> Vector:
        """Where the foot FL stands, seen from its hip: the feet are below their thigh joints, and shifted so that their
        middle is below the centre of mass."""
        shift = 0.0
        for _ in range(3):  # the mass of the legs moves along
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
        """Put the robot into the air, tilted a little and turning a little."""
        self._pose(self._neutral)
        tilt, direction = math.radians(rng.uniform(*_TILT)), rng.uniform(0.0, 2.0 * math.pi)
        roll, pitch = tilt * math.cos(direction), tilt * math.sin(direction)
        mujoco.mju_euler2Quat(self.data.qpos[3:7], np.array([roll, pitch, 0.0]), "xyz")
        self.data.qvel[3:6] = rng.normal(0.0, 0.05, 3)
        mujoco.mj_fwdPosition(self.model, self.data)
        feet = [self.model.geom(name).id for name in FOOT_NAMES]
        lowest = min(float(self.data.geom_xpos[i, 2]) for i in feet) - FOOT_RADIUS
        self.data.qpos[2] = self.scenario.drop - lowest

    def _control(self) -> None:
        """Set the joint torques: PD to targets by inverse kinematics, with the weight as feedforward."""
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
