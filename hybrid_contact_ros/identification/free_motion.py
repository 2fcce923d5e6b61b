"""Free motion in a recording: where velocities jump, and how far they lag behind positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

FREE = 2  # samples without a jump before and after an impact, over which velocities are averaged
HOLE = 3.0  # median steps; a longer step is a hole in the recording
_FLIGHT = 20  # free steps that are needed to tell how far velocities lag behind positions
_GREATEST_LAG = 3.0  # steps; what looks like a larger lag is something else


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A recording of n states in coordinates for free motion: the base's linear velocity is in world axes, which do not
    rotate.

    Attributes:
        axes: (n, 3, 3) axes of the base; None for a fixed base.
        velocity: (n, nv).
        rate: (n, nv) acceleration without contact forces.
        gap: (n, m) m.
        normal: (n, m, nv) rows of the normals.
        bend: (n, m) normal acceleration of the contacts at constant velocity, m/s².
        dt: (n − 1,) steps between stamps, s.
    """

    axes: Array | None
    velocity: Array
    rate: Array
    gap: Array
    normal: Array
    bend: Array
    dt: Array

    @classmethod
    def of(cls, model: RigidBodyModel, states: Sequence[RobotState]) -> Motion:
        n, m, nv = len(states), model.contacts, model.nv
        v, rate = np.array([state.v for state in states]), np.empty((n, nv))
        gap, normal, bend = np.empty((n, m)), np.empty((n, m, nv)), np.empty((n, m))
        for k, state in enumerate(states):
            problem = model.problem(state)
            rate[k], gap[k], normal[k] = free_acceleration(problem), problem.gap, problem.normal_jacobian
            bend[k] = problem.jacobian_drift.reshape(m, -1)[:, 0]
        stamp = np.array([state.stamp_ns for state in states], dtype=np.int64)
        dt: Array = 1e-9 * np.diff(stamp).astype(np.float64)
        axes = None
        if model.floating_base:
            axes = Rotation.from_quat([state.q[3:7] for state in states]).as_matrix()
            turning = np.cross(v[:, 3:6], v[:, :3])
            bend -= np.einsum("kmn,kn->km", normal[:, :, :3], turning)
            rate[:, :3] = np.einsum("kij,kj->ki", axes, rate[:, :3] + turning)
            v[:, :3] = np.einsum("kij,kj->ki", axes, v[:, :3])
            normal[:, :, :3] = np.einsum("kij,kmj->kmi", axes, normal[:, :, :3])
        return cls(axes, v, rate, gap, normal, bend, dt)

    def inside(self, k: int, velocity: Array) -> Array:
        """A velocity in the coordinates of the state of sample k."""
        return velocity if self.axes is None else np.r_[velocity[:3] @ self.axes[k], velocity[3:]]


def in_base_axes(model: RigidBodyModel, q: Array, velocity: Array) -> Array:
    """A velocity whose linear part is in world axes, in the coordinates of configuration q."""
    if not model.floating_base:
        return velocity
    return np.r_[Rotation.from_quat(q[3:7]).inv().apply(velocity[:3]), velocity[3:]]


def jumping_steps(motion: Motion, speed: float, reach: float) -> NDArray[np.bool_]:
    """Which steps (n − 1,) belong to impacts or to holes in the recording, and so not to free motion."""
    drift = 0.5 * (motion.rate[:-1] + motion.rate[1:]) * motion.dt[:, None]
    rise = np.einsum("kmn,kn->km", motion.normal[:-1], np.diff(motion.velocity, axis=0) - drift)
    jumps = ((rise > speed) & (np.minimum(motion.gap[:-1], motion.gap[1:]) < reach)).any(axis=1)
    return np.asarray(jumps | (motion.dt > HOLE * np.median(motion.dt)), dtype=np.bool_)


def velocity_lag(motion: Motion, jumps: NDArray[np.bool_], reach: float) -> float:
    """How far velocities lag behind positions (s), by free motion; 0 where there is too little of it.

    Where all gaps are beyond ``reach``, the mean gap changes in a step by the mean of its rates at both ends, if these
    belong to their stamps. If they do not, the difference is the lag times the acceleration. Half a step of gravity at
    148 Hz is 3 % of a drop at 1 m/s, and makes e = 0.3 look like 0.34.
    """
    out = motion.gap.min(axis=1) > reach
    near = np.convolve(jumps, np.ones(2 * FREE + 1), "same") > 0.5
    flight = out[:-1] & out[1:] & ~near
    if flight.sum() < _FLIGHT:
        return 0.0
    approach = np.einsum("kmn,kn->km", motion.normal, motion.velocity).mean(axis=1)
    along = np.einsum("kmn,kn->km", motion.normal, motion.rate).mean(axis=1)
    rise = np.diff(motion.gap.mean(axis=1))[flight] / motion.dt[flight]
    missing = rise - 0.5 * (approach[:-1] + approach[1:])[flight]
    along = 0.5 * (along[:-1] + along[1:])[flight]
    size = float(along @ along)
    lag = (
        float(missing @ along) / size if size > 0.0 else 0.0
    )  # the noise of all samples of a flight cancels but for two
    return lag if abs(lag) <= _GREATEST_LAG * float(np.median(motion.dt)) else 0.0


def free_acceleration(problem: ContactProblem) -> Array:
    """v̇ (nv,) without contact forces; where M is singular, the smallest one."""
    return np.array(np.linalg.lstsq(problem.mass, -problem.bias_force, rcond=None)[0], dtype=np.float64)
