"""Landings of the demo's Go2 for ``sensitivity_filter``: the robot, its starts, and its motion here and in MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros import EstimatorConfig, Execution, RigidBodyModel, RobotSystem, simulate
from hybrid_contact_ros.demo.go2_model import go2_model, state_of
from hybrid_contact_ros.demo.go2_simulation import Go2Simulation
from hybrid_contact_ros.demo.trot import SIDES, leg_angles
from hybrid_contact_ros.mechanics.example_data import example_urdf

Array = NDArray[np.float64]

STIFFNESS, DAMPING = 80.0, 2.0  # N m/rad, N m s/rad: the demo's joint controller in a landing
MUJOCO_STEP = 5e-5  # s, about
OPTIONS: dict[str, Any] = {"law": "simultaneous", "rtol": 1e-10, "atol": 1e-12, "gap_tolerance": 1e-12}
SIGMA = np.repeat([1e-3, 2e-3, 2e-3, 1e-2, 2e-2, 5e-2], [3, 3, 12, 3, 3, 12])
"""Standard deviations at the start: base 1 mm and 2 mrad, joints 2 mrad; 1 cm/s, 20 mrad/s, 50 mrad/s."""


class Hold:
    """τ = k (q* − q) − d q̇ of the joints, with its slopes."""

    def __init__(self, goal: Array) -> None:
        self.goal = goal
        joints = np.diag(np.repeat([0.0, 1.0], [6, 12]))
        self._slopes = -STIFFNESS * joints, -DAMPING * joints

    def __call__(self, time: float, q: Array, v: Array, mode: frozenset[int]) -> Array:
        return STIFFNESS * (self.goal - q[7:]) - DAMPING * v[6:]

    def gradient(self, time: float, q: Array, v: Array, mode: frozenset[int]) -> tuple[Array, Array]:
        """∂τ/∂q and ∂τ/∂v (18, 18)."""
        return self._slopes


@dataclass(frozen=True)
class Landing:
    """A start in the air, and how long it is followed."""

    system: RobotSystem
    q: Array
    v: Array
    duration: float

    def start(self, deviation: Array) -> tuple[Array, Array]:
        """The state at a deviation (36,) from the start."""
        return self.system.integrate(self.q, deviation[:18]), self.v + deviation[18:]

    def run(self, deviation: Array) -> Execution:
        """The motion of this package from there."""
        return simulate(self.system, *self.start(deviation), self.duration, **OPTIONS)

    def in_mujoco(self, deviation: Array) -> tuple[Array, Array]:
        """(q, v) at the end of the motion in MuJoCo, with the demo's contacts and the controller in every step."""
        data = self._data
        mujoco.mj_resetData(data.model, data)
        q, v = self.start(deviation)
        data.qpos[:] = np.r_[q[:3], q[6], q[3:6], q[7:]]
        data.qvel[:] = np.r_[pin.Quaternion(q[3:7]).toRotationMatrix() @ v[:3], v[3:]]
        for goal in self._goals:
            data.qfrc_applied[6:] = goal - STIFFNESS * data.qpos[7:] - DAMPING * data.qvel[6:]
            mujoco.mj_step(data.model, data)
        mujoco.mj_kinematics(data.model, data)
        return state_of(data)

    @cached_property
    def _data(self) -> mujoco.MjData:
        step = self.duration / len(self._goals)
        return mujoco.MjData(go2_model(example_urdf("go2_description/urdf/go2.urdf").read_text(), step))

    @cached_property
    def _goals(self) -> list[Array]:
        """k q* in each step of MuJoCo."""
        times = np.linspace(0.0, self.duration, round(self.duration / MUJOCO_STEP), endpoint=False)
        return [self.system.effort(np.r_[self.q[:7], np.zeros(12)], np.zeros(18), time)[6:] for time in times]


def robot() -> RigidBodyModel:
    """The Go2 with the demo's contacts."""
    return RigidBodyModel.from_urdf(
        example_urdf("go2_description/urdf/go2.urdf"), EstimatorConfig.from_file("config/go2.yaml")
    )


def hop(after: float) -> tuple[Landing, float]:
    """The demo's first hop from when all feet are 12 mm high, to ``after`` s past the first touchdown, whose time is
    returned, too. With a roll of 0.4 rad/s one hind foot lands 20 ms before the other, and with a drift of 0.4 m/s
    backwards it sticks."""
    demo = Go2Simulation(rate_hz=1000.0)
    neutral, hop_start = demo._neutral, demo.scenario.hops[0]
    model = robot()
    while demo.time < hop_start + 0.5 or RobotSystem(model).gap(demo.state()[0]).min() < 0.012:
        demo.step()
    q, v, _ = demo.state()
    v[0] -= 0.4
    v[3] += 0.4
    begin = demo.time - hop_start

    class Retract(Hold):
        """The legs are drawn in on the way, as in the demo."""

        def __call__(self, time: float, q: Array, v: Array, mode: frozenset[int]) -> Array:
            height, _ = demo._hop.height(begin + time, -neutral[2])
            goal = [leg_angles((neutral[0], side * neutral[1], -height), side) for side in SIDES]
            return STIFFNESS * (np.concatenate(goal) - q[7:]) - DAMPING * v[6:]

    system = RobotSystem(model, Retract(q[7:]))
    touch = simulate(system, q, v, 0.3, **OPTIONS).events[0].time
    return Landing(system, q, v, touch + after), touch


def landing(before: float, after: float) -> Landing:
    """The end of the same hop: from ``before`` s before the touchdown to ``after`` s past it."""
    whole, touch = hop(after)
    q, v = whole.run(np.zeros(36)).at(touch - before)
    goal = (whole.system.effort(np.r_[q[:7], np.zeros(12)], np.zeros(18), touch) / STIFFNESS)[6:]
    return Landing(RobotSystem(whole.system.model, Hold(goal)), q, v, before + after)


def two_feet(before: float, after: float) -> Landing:
    """Both front feet come down together while the robot drifts and turns, legs unevenly drawn in."""
    goal = np.array([-0.1, 0.7, -1.6, -0.1, 0.6, -1.5, -0.1, 0.6, -1.6, 0.0, 0.7, -1.8])
    system = RobotSystem(robot(), Hold(goal))
    q, v = system.neutral(), np.zeros(18)
    q[3:7] = pin.Quaternion(pin.exp3(np.array([0.0, 0.08, 0.0]))).coeffs()
    q[7:], v[:6] = goal, (-0.2, 0.5, -1.2, -0.5, -0.4, 0.3)
    q[2] -= system.gap(q)[:2].mean()
    q = system.integrate(q, -before * v)
    for _ in range(4):  # until they touch together
        event = simulate(system, q, v, before + 2e-3, **OPTIONS).events[0]
        gap, width = system.gap(event.q), 0.3
        q = system.integrate(q, np.r_[np.zeros(3), (gap[1] - gap[0]) / width, np.zeros(14)])
        q[2] -= v[2] * (before - event.time)
    return Landing(system, q, v, before + after)
