"""Impacts in a recorded stream of states: velocities jump at a contact, with free motion before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_FREE = 2  # samples without a jump before and after an impact, over which velocities are averaged
_LONGEST_IMPACT = 3  # steps; more are several impacts that cannot be told apart, or no impact
_UNFREE = 0.1  # of the jump; where velocities before or after change by more, other contacts are at work
_FLIGHT = 20  # free steps that are needed to tell how far velocities lag behind positions
_DIFFERENCES = 0.25  # steps; velocities that lag by more are differences of poses
_GREATEST_LAG = 3.0  # steps; what looks like a larger lag is something else


@dataclass(frozen=True, slots=True, eq=False)
class ObservedImpact:
    """One impact as recorded.

    Attributes:
        time_ns: stamp of the sample nearest to it, ns.
        problem: contact problem of the contacts near the lowest one, at the instant of the impact, with v⁻ as velocity.
        contacts: indices of these contacts in the model.
        after: v⁺ (nv,), carried to the instant of v⁻ by all forces other than those of contact.
        impulse: (m, 1 + d) N s, the impulses at these contacts that explain the jump best. Normal impulses push; the
            tangential ones are not bound to a friction cone.
        unexplained: the part of the jump that they do not explain, in the kinetic norm.
    """

    time_ns: int
    problem: ContactProblem
    contacts: NDArray[np.intp]
    after: Array
    impulse: Array
    unexplained: float

    @property
    def velocities(self) -> tuple[Array, Array]:
        """Contact velocities before and after the impact, (m, 1 + d) each, m/s."""
        J = self.problem.jacobian()
        shape = self.impulse.shape
        return (J @ self.problem.velocity).reshape(shape), (J @ self.after).reshape(shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Motion:
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
    def of(cls, model: RigidBodyModel, states: Sequence[RobotState]) -> _Motion:
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


def find_impacts(
    model: RigidBodyModel, states: Sequence[RobotState], speed: float, reach: float, together: float
) -> list[ObservedImpact]:
    """The impacts in a recording.

    Args:
        model: the robot.
        states: the recording.
        speed: a step between two states belongs to an impact if the normal velocity of a contact rises in it by more
            than this beyond what the free acceleration M⁻¹ (Sᵀτ − h) gives, m/s.
        reach: a contact with a larger gap cannot be in an impact, m.
        together: the contacts of an impact are those whose gap is within this of the least one, at the instant of the
            impact or at its middle sample, m.

    An impact lasts at most three steps, with two free ones on either side. The velocities before and after it are means
    over the free samples, carried along the free acceleration to the impact. Where these samples differ by more than a
    tenth of the jump (kinetic norm), motion was not free, and the impact is left out. The instant of the impact is
    where the lowest gap as it moved before meets the gap as it moves after, and the configuration is that of the motion
    before.

    Velocities that lag behind the positions (differences of poses lag by half a step) are corrected; see
    :func:`velocity_lag`. One more free step is then needed on either side, and the samples next to the impact are not
    used.
    """
    n, m = len(states), model.contacts
    if n < 2 * _FREE + 2 or m == 0:
        return []
    motion = _Motion.of(model, states)
    w, rate, gap, normal, dt = motion.velocity, motion.rate, motion.gap, motion.normal, motion.dt
    jumps = _jumps(motion, speed, reach)
    lag = velocity_lag(motion, jumps, reach)
    w += lag * rate
    # A difference of poses next to an impact may hold a part of the jump that is too small to be noticed.
    near = 1 if lag > _DIFFERENCES * np.median(dt) else 0
    free = _FREE + near
    drift = 0.5 * (rate[:-1] + rate[1:]) * dt[:, None]
    found = []
    edges = np.flatnonzero(np.diff(np.concatenate(([0], jumps.view(np.int8), [0]))))
    for first, last in edges.reshape(-1, 2):  # steps first … last − 1: from sample first to sample last
        if last - first > _LONGEST_IMPACT or first < free or last + free >= n:
            continue
        if jumps[first - free : first].any() or jumps[last : last + free].any():
            continue
        if (dt[first:last] > 3.0 * np.median(dt)).any():
            continue
        earlier = np.array([w[k] + drift[k:first].sum(axis=0) for k in range(first - free, first + 1 - near)])
        later = np.array([w[k] - drift[last:k].sum(axis=0) for k in range(last + near, last + free + 1)])
        before, after = earlier.mean(axis=0), later.mean(axis=0)
        apart = np.concatenate((earlier - before, later - after))
        whole = float(dt[first:last].sum())
        i = int(gap[first : last + 1].min(axis=0).argmin())
        down, up = (
            (float(gap[k, i]), float(normal[k, i] @ v), float(normal[k, i] @ rate[k] + motion.bend[k, i]))
            for k, v in ((first, before), (last, after))
        )
        t = _meeting(down, up, whole)
        q = model.integrate(states[first].q, motion.inside(first, before + 0.5 * t * rate[first]) * t)
        before, after = before + t * rate[first], after - (whole - t) * rate[last]
        state = replace(states[first], q=q, v=in_base_axes(model, q, before))
        problem, after = model.problem(state), in_base_axes(model, q, after)
        k = (first + last) // 2  # contacts that come near in the course of the impact take part in it
        chosen = np.flatnonzero((problem.gap <= problem.gap.min() + together) | (gap[k] <= gap[k].min() + together))
        problem = problem.select(chosen)
        values, vectors = np.linalg.eigh(problem.mass)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T  # ‖x‖_M = ‖root x‖
        apart = np.array([in_base_axes(model, q, x) for x in apart])
        if np.abs(apart @ root.T).max() <= _UNFREE * np.linalg.norm(root @ (after - problem.velocity)):
            found.append(_observed(int(states[k].stamp_ns), problem, chosen, after, root))
    return found


def _meeting(before: tuple[float, float, float], after: tuple[float, float, float], whole: float) -> float:
    """When a gap that moves as ``before`` meets a gap that moves as ``after``, between 0 and ``whole`` s.

    ``before`` has the gap at 0, its rate and its acceleration, ``after`` those at ``whole``. The result is the middle
    where the gap does not rise faster afterwards.
    """
    (x, u, a), (y, v, b) = before, after
    if u >= v:
        return 0.5 * whole
    t = (x - y + v * whole) / (v - u)
    for _ in range(2):
        s = whole - t
        if v - b * s <= u + a * t:
            break
        t += (x + u * t + 0.5 * a * t * t - (y - v * s + 0.5 * b * s * s)) / (v - b * s - u - a * t)
    return min(max(t, 0.0), whole)


def _jumps(motion: _Motion, speed: float, reach: float) -> NDArray[np.bool_]:
    """Which steps (n − 1,) belong to impacts or to holes in the recording, and so not to free motion."""
    drift = 0.5 * (motion.rate[:-1] + motion.rate[1:]) * motion.dt[:, None]
    rise = np.einsum("kmn,kn->km", motion.normal[:-1], np.diff(motion.velocity, axis=0) - drift)
    jumps = ((rise > speed) & (np.minimum(motion.gap[:-1], motion.gap[1:]) < reach)).any(axis=1)
    return np.asarray(jumps | (motion.dt > 3.0 * np.median(motion.dt)), dtype=np.bool_)


def velocity_lag(motion: _Motion, jumps: NDArray[np.bool_], reach: float) -> float:
    """How far velocities lag behind positions (s), by free motion; 0 where there is too little of it.

    Where all gaps are beyond ``reach``, the mean gap changes in a step by the mean of its rates at both ends, if these
    belong to their stamps. If they do not, the difference is the lag times the acceleration. Half a step of gravity at
    148 Hz is 3 % of a drop at 1 m/s, and makes e = 0.3 look like 0.34.
    """
    out = motion.gap.min(axis=1) > reach
    near = np.convolve(jumps, np.ones(2 * _FREE + 1), "same") > 0.5
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


def _observed(
    time_ns: int, problem: ContactProblem, contacts: NDArray[np.intp], after: Array, root: Array
) -> ObservedImpact:
    """The impact with impulses fitted to its jump: least squares in the kinetic norm, without contacts that would
    pull."""
    m, d = problem.contacts, problem.tangents
    jump = root @ (after - problem.velocity)
    moves = root @ np.linalg.lstsq(problem.mass, problem.jacobian().T, rcond=None)[0]
    impulse, pushing = np.zeros((m, 1 + d)), np.ones(m, dtype=bool)
    while pushing.any():
        rows = np.repeat(pushing, 1 + d)
        impulse[:] = 0.0
        impulse[pushing] = np.linalg.lstsq(moves[:, rows], jump, rcond=None)[0].reshape(-1, 1 + d)
        worst = int(impulse[:, 0].argmin())
        if impulse[worst, 0] >= 0.0:
            break
        pushing[worst] = False
        impulse[worst] = 0.0
    size = float(np.linalg.norm(jump))
    left = float(np.linalg.norm(moves @ impulse.ravel() - jump)) / size if size > 0.0 else 0.0
    return ObservedImpact(time_ns, problem, contacts, after, impulse, left)
