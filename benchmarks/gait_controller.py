"""A controller that walks any legged robot: feet follow a schedule, and those that stand share a wrench on the trunk.

The controller is plain on purpose, and the same for all robots: its gains follow from mass, inertia and height. What
matters is that feet touch, carry, slide and leave as in a gait.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from benchmarks.simulated_robots import SimulatedRobot

Array = NDArray[np.float64]
_GRAVITY = 9.81


@dataclass(frozen=True, slots=True)
class Gait:
    """The schedule of a gait. Parts are parts of a stride.

    Attributes:
        offsets: part at which the swing of each foot begins. swing: part that a foot is in the air.
        period: of a stride, s, for a robot whose hips are 0.5 m high; for others it goes with the root of the height.
        ramp: part over which a foot takes over its load, and gives it up.
        lift: height of a swing, as a part of the robot's. speed: forward, m/s, at 0.5 m.
        rest: the robot stands this long (s) after as many seconds of gait; 0: never.
        lead: part by which the trunk leaves a foot before the foot lifts.
        pull: bandwidth with which the trunk goes to the middle of the other feet, relative to that of its fall.
        change: strides by which the gait is ahead and behind of a steady one, in turns of eight strides.
    """

    offsets: tuple[float, ...]
    swing: float
    period: float
    ramp: float = 0.05
    lift: float = 0.12
    speed: float = 0.2
    rest: float = 0.0
    lead: float = 0.0
    pull: float = 0.9
    change: float = 0.0


GAITS = {
    "walk": Gait((0.25, 0.75, 0.0, 0.5), 0.15, 1.6, ramp=0.03, speed=0.08, lead=0.1, pull=1.5),
    "trot": Gait((0.0, 0.5, 0.5, 0.0), 0.4, 0.6),
    "pace": Gait((0.0, 0.5, 0.0, 0.5), 0.42, 0.36, speed=0.1, lift=0.08),
    "bound": Gait((0.0, 0.0, 0.5, 0.5), 0.42, 0.36, speed=0.1, lift=0.08),
    "fast": Gait((0.0, 0.5, 0.5, 0.0), 0.4, 0.45, speed=0.35),
    "high": Gait((0.0, 0.5, 0.5, 0.0), 0.4, 0.6, lift=0.3),  # for ground with steps
    "climb": Gait((0.0, 0.5, 0.5, 0.0), 0.4, 0.6, lift=0.3, speed=0.35),
    "clamber": Gait((0.25, 0.75, 0.0, 0.5), 0.2, 1.2, ramp=0.03, lift=0.3, speed=0.15, lead=0.08, pull=1.5),
    "change": Gait((0.0, 0.5, 0.5, 0.0), 0.4, 0.6, change=0.35),  # its period is 0.8 to 1.4 of the trot's
    "stop": Gait((0.0, 0.5, 0.5, 0.0), 0.4, 0.6, rest=1.2),
    "step": Gait((0.25, 0.75), 0.12, 3.0, ramp=0.05, lift=0.03, speed=0.0, lead=0.17, pull=1.2),
    "march": Gait((0.25, 0.75), 0.15, 2.0, ramp=0.05, lift=0.05, speed=0.0, lead=0.15, pull=1.5),
    "stroll": Gait((0.25, 0.75), 0.14, 2.6, ramp=0.05, lift=0.04, speed=0.04, lead=0.17, pull=1.3),
}


class GaitController:
    """Joint torques for one robot and one gait; without a gait the robot stands."""

    def __init__(self, robot: SimulatedRobot, gait: Gait | None, begin: float) -> None:
        """The gait begins at ``begin``, s; until then the robot stands."""
        self.robot, self.gait, self.begin = robot, gait, begin
        robot.place(np.zeros(3), 0.0)
        data, model = robot.data, robot.model
        self._height = float(data.subtree_com[1, 2] - robot.ground(data.geom_xpos[robot.geoms]).mean())
        self._pace = math.sqrt(_GRAVITY / self._height)  # 1/s, what the trunk's gains scale with
        self._scale = math.sqrt(self._height / 0.5)
        self._bodies = [int(model.geom_bodyid[robot.geoms[foot[0]]]) for foot in robot.feet]
        self._chains = [self._chain(body) for body in self._bodies]
        self._flat = [foot.size > 1 for foot in robot.feet]
        centre = data.subtree_com[1].copy()
        self._neutral = [data.geom_xpos[robot.geoms[foot]].mean(axis=0)[:2] - centre[:2] for foot in robot.feet]
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        self._inertia, self._diagonal = mass[3:6, 3:6].copy(), np.diagonal(mass).copy()
        # What the drives are told beside a torque: gains in MuJoCo's order, of a posture and of rest.
        self.stiffness, self.damping = np.zeros(model.nv), np.zeros(model.nv)
        self._lifted: list[Array | None] = [None] * len(robot.feet)
        self._landed = [False] * len(robot.feet)

    def _chain(self, body: int) -> NDArray[np.int64]:
        """Addresses of the joints between the trunk and a body."""
        model, found = self.robot.model, []
        while body > 1:
            for k in range(int(model.body_dofnum[body])):
                found.append(int(model.body_dofadr[body]) + k)
            body = int(model.body_parentid[body])
        return np.array(sorted(i for i in found if i >= 6))

    def phases(self, time: float) -> tuple[list[float], list[float], list[float], float]:
        """Where the schedule is at a time (s).

        Returns:
            For each foot: the part of its swing that is over (below 0: it stands), its share of the load, and whether
            the trunk counts on it for its own place; and the forward speed, m/s.
        """
        gait, feet = self.gait, len(self._chains)
        walking = gait is not None and time >= self.begin
        if walking and gait is not None and gait.rest > 0.0:
            walking = (time - self.begin) % (2.0 * gait.rest) < gait.rest
        if gait is None or not walking:
            return [-1.0] * feet, [1.0] * feet, [1.0] * feet, 0.0
        stride = (time - self.begin) / (gait.period * self._scale)
        stride += gait.change * math.sin(0.25 * math.pi * stride)
        swings, shares, soon = [], [], []
        for offset in gait.offsets:
            phase = (stride - offset) % 1.0
            if stride < offset:  # The foot's first swing has not begun.
                phase = max(stride - offset + 1.0, gait.swing + gait.ramp)
            swings.append(phase / gait.swing if phase < gait.swing else -1.0)
            # A foot takes its load from a tenth on, so that it does not hop; it gives it up to nothing.
            share = min(0.1 + (phase - gait.swing) / gait.ramp, (1.0 - phase) / gait.ramp, 1.0)
            shares.append(share if phase >= gait.swing else 0.0)
            later = (phase + gait.lead) % 1.0
            soon.append(float(later >= gait.swing) if gait.lead else shares[-1])
        return swings, shares, soon, gait.speed * self._scale

    def torques(self, time: float, jacobians: Array) -> Array:
        """Torques in MuJoCo's order (nv,), N m, zero for the base, for the robot's present positions and velocities.

        ``jacobians``: :meth:`~benchmarks.simulated_robots.SimulatedRobot.point_jacobians` of the present.
        """
        robot = self.robot
        model, data = robot.model, robot.data
        swings, shares, soon, speed = self.phases(time)
        pressed = robot.forces()[:, 2] > 0.0
        for foot, members in enumerate(robot.feet):
            if swings[foot] > 0.5 and (self._landed[foot] or pressed[members].any()):  # too early: it stays
                self._landed[foot] = True
                swings[foot], shares[foot] = -1.0, 0.1
            else:
                self._landed[foot] = False
        rotation = robot.rotation
        forward = rotation[:2, 0] / max(float(np.linalg.norm(rotation[:2, 0])), 1e-6)
        heading = np.array([[forward[0], -forward[1]], [forward[1], forward[0]]])
        qvel = data.qvel
        tau = data.qfrc_bias.copy()
        self.stiffness[:] = self.damping[:] = 0.0
        # Joints that belong to no leg hold the posture.
        error = robot.posture - data.qpos[robot.joints + 1]
        gain = self._diagonal[robot.joints] * 20.0**2
        hold = np.zeros(model.nv)
        hold[robot.joints] = gain * error - 2.0 * gain / 20.0 * qvel[robot.joints]
        legs = np.unique(np.concatenate(self._chains))
        other = np.setdiff1d(robot.joints, legs)
        tau[other] += hold[other]
        standing, later = (np.repeat(x, [foot.size for foot in robot.feet]) for x in (shares, soon))
        force = self._share(standing, later, heading, forward * speed, rotation)
        for foot, (chain, swing) in enumerate(zip(self._chains, swings, strict=True)):
            if swing < 0.0:
                self._lifted[foot] = None
                for i in robot.feet[foot]:
                    tau[chain] -= jacobians[i][:, chain].T @ force[i]
                # A gentle damping of the joints, as in the control of any drive.
                self.damping[chain] = 2.0 * 3.0 * self._diagonal[chain]
                tau[chain] -= self.damping[chain] * qvel[chain]
            else:
                tau[chain] += self._swing(foot, chain, swing, heading, forward * speed, jacobians)
        tau[:6] = 0.0
        return tau

    def falling(self) -> Array:
        """Torques (nv,) that hold the posture, for a landing."""
        robot = self.robot
        tau = np.zeros(robot.model.nv)
        omega = 12.0 * self._pace / 4.5
        gain = self._diagonal[robot.joints] * (3.0 * omega) ** 2
        error = robot.posture - robot.data.qpos[robot.joints + 1]
        self.stiffness[:] = self.damping[:] = 0.0
        self.stiffness[robot.joints], self.damping[robot.joints] = gain, 1.4 * gain / (3.0 * omega)
        tau[robot.joints] = gain * error - self.damping[robot.joints] * robot.data.qvel[robot.joints]
        return tau

    def _share(self, standing: Array, soon: Array, heading: Array, velocity: Array, rotation: Array) -> Array:
        """Forces of the ground (m, 3), N, that bring the trunk back to its height, level and speed; zero for contacts
        without a share."""
        robot = self.robot
        data = robot.data
        force = np.zeros((standing.size, 3))
        if not standing.any():
            return force
        points = data.geom_xpos[robot.geoms] - [0.0, 0.0, robot.radius]
        centre = data.subtree_com[1]
        floor = float((standing * points[:, 2]).sum() / standing.sum())
        offset = np.mean(self._neutral, axis=0)
        middle = (soon[:, None] * points).sum(axis=0) / max(float(soon.sum()), 1e-9)
        wanted = np.zeros(6)
        w = self._pace
        wanted[2] = _GRAVITY + (2.2 * w) ** 2 * (self._height - centre[2] + floor) - 2.0 * 2.2 * w * data.qvel[2]
        pull = middle[:2] - heading @ offset - centre[:2]
        k = self.gait.pull if self.gait is not None else 0.9
        wanted[:2] = (k * w) ** 2 * pull - max(1.2, 1.6 * k) * w * (data.qvel[:2] - velocity)
        wanted[:3] *= robot.mass
        turn = np.array([rotation[2, 1], -rotation[2, 0], 0.0])  # rotation vector, world axes, of small tilts
        turn[2] = 0.3 * math.atan2(float(rotation[1, 0]), float(rotation[0, 0]))
        spin = rotation @ data.qvel[3:6]
        inertia = rotation @ self._inertia @ rotation.T
        wanted[3:] = inertia @ (-((3.5 * w) ** 2) * turn - 2.0 * 0.8 * 3.5 * w * spin)
        arms = points - centre
        grasp = np.zeros((6, 3 * standing.size))
        for i, (x, y, z) in enumerate(arms):
            grasp[:3, 3 * i : 3 * i + 3] = np.eye(3)
            grasp[3:, 3 * i : 3 * i + 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        unit = np.r_[[1.0] * 3, [0.2 * self._height] * 3]  # moments in newtons, and less important
        grasp = grasp / unit[:, None]
        weights = np.repeat(standing, 3) * np.tile([1.0, 1.0, 4.0], standing.size)
        core = (grasp * weights) @ grasp.T + 1e-3 * np.eye(6)
        force = (weights * (grasp.T @ np.linalg.solve(core, wanted / unit))).reshape(-1, 3)
        for _ in range(2):  # Contacts that would have to pull are left out, and the others share anew.
            pulls = force[:, 2] < 0.0
            if not pulls.any():
                break
            weights = weights * np.repeat(~pulls, 3)
            core = (grasp * weights) @ grasp.T + 1e-3 * np.eye(6)
            force = (weights * (grasp.T @ np.linalg.solve(core, wanted / unit))).reshape(-1, 3)
        # All contacts that stand press a little, or they would hop.
        weight = robot.mass * _GRAVITY
        force[:, 2] = np.clip(force[:, 2], 0.12 * weight * standing / standing.size, 2.0 * weight)
        tangential = np.linalg.norm(force[:, :2], axis=1)
        most = 0.7 * robot.friction * force[:, 2]
        force[:, :2] *= np.minimum(1.0, most / np.maximum(tangential, 1e-9))[:, None]
        return force

    def _swing(
        self, foot: int, chain: NDArray[np.int64], phase: float, heading: Array, velocity: Array, jacobians: Array
    ) -> Array:
        """Torques that carry a foot from where it left to where it is to stand next."""
        robot = self.robot
        data, gait = robot.data, self.gait
        assert gait is not None
        members = robot.feet[foot]
        here = data.geom_xpos[robot.geoms[members]].mean(axis=0) - [0.0, 0.0, robot.radius]
        lifted = self._lifted[foot]
        if lifted is None:
            lifted = self._lifted[foot] = here.copy()
        period = gait.period * self._scale
        duration = gait.swing * period
        stance = (1.0 - gait.swing) * period
        speed = data.qvel[:2]
        left = (1.0 - phase) * duration
        landing = data.subtree_com[1][:2] + heading @ self._neutral[foot] + speed * left
        landing = landing + 0.5 * stance * velocity + (speed - velocity) * min(0.5 * stance, 0.8 / self._pace)
        s = phase * phase * (3.0 - 2.0 * phase)
        rate = 6.0 * phase * (1.0 - phase) / duration
        lift = gait.lift * self._height
        # Down to a little below the ground, so that it touches with speed.
        deep = -0.03 * self._height
        wave = math.sin(math.pi * phase)
        left_at, lands_at = (float(x) for x in robot.ground(np.array([lifted[:2], landing])))
        floor = (1.0 - s) * left_at + s * lands_at
        target = np.r_[(1.0 - s) * lifted[:2] + s * landing, floor + lift * wave + phase**3 * deep]
        speed3 = np.r_[
            rate * (landing - lifted[:2]),
            (lift * math.pi * math.cos(math.pi * phase) + 3.0 * phase**2 * deep) / duration
            + rate * (lands_at - left_at),
        ]
        jacobian = jacobians[members].mean(axis=0)
        error, drift = target - here, speed3 - jacobian @ data.qvel
        task = jacobian[:, chain]
        if self._flat[foot]:
            angular = np.zeros((3, robot.model.nv))
            mujoco.mj_jacBody(robot.model, data, None, angular, self._bodies[foot])
            axes = data.xmat[self._bodies[foot]].reshape(3, 3)
            level = np.array([axes[2, 1], -axes[2, 0], 0.0])
            task = np.vstack([task, angular[:, chain]])
            error, drift = np.r_[error, -level], np.r_[drift, -angular @ data.qvel]
        scale = 1e-3 * self._height**2
        inverse = task.T @ np.linalg.inv(task @ task.T + scale * np.eye(task.shape[0]) * 0.1)
        omega = (20.0 if self._flat[foot] else 45.0) / self._scale
        inertia = self._diagonal[chain]
        return inertia * (inverse @ (omega**2 * error + 1.6 * omega * drift))
