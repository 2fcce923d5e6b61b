"""Impacts found in a stream of states: where velocities jump at a contact, with free motion before and after."""

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

_FREE = 2  # samples before and after an impact without a jump, over which velocities are averaged
_LONGEST = 3  # steps of an impact; more are several that cannot be told apart, or no impact
_UNFREE = 0.1  # of the jump: more change in the samples before or after, and other contacts are at work there
_FLIGHT = 20  # free steps that tell how far velocities lag behind positions
_DIFFERENCES = 0.25  # steps: velocities that lag more are differences of poses
_LATEST = 3.0  # steps: a larger lag is something else


@dataclass(frozen=True, slots=True, eq=False)
class ObservedImpact:
    """One impact as recorded.

    Attributes:
        time_ns: stamp of the sample nearest to it.
        problem: of the contacts that are near the lowest, at the instant of the impact, with v⁻ as its velocity.
        contacts: their indices in the model.
        after: v⁺ (nv,), carried to the same instant as v⁻ by the forces other than those of contact.
        impulse: (m, 1 + d) N s, the impulses at these contacts that explain the jump best, normals ≥ 0, no cone.
        unexplained: kinetic norm of what they leave of the jump, over the jump's.
    """

    time_ns: int
    problem: ContactProblem
    contacts: NDArray[np.intp]
    after: Array
    impulse: Array
    unexplained: float

    @property
    def velocities(self) -> tuple[Array, Array]:
        """Contact velocities before and after, (m, 1 + d) each."""
        J = self.problem.jacobian()
        shape = self.impulse.shape
        return (J @ self.problem.velocity).reshape(shape), (J @ self.after).reshape(shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Motion:
    """A recording of n states as free motion sees it: the base's linear velocity in world axes, which do not turn.

    ``axes`` (n, 3, 3) of the base; ``velocity``, ``rate`` (n, nv), the latter without contact forces; ``gap`` (n, m);
    ``normal`` (n, m, nv); ``bend`` (n, m): normal acceleration of contacts at constant velocity; ``dt`` (n − 1,) s.
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
        """A velocity in the coordinates of sample k's state."""
        return velocity if self.axes is None else np.r_[velocity[:3] @ self.axes[k], velocity[3:]]


def in_base_axes(model: RigidBodyModel, q: Array, velocity: Array) -> Array:
    """A velocity whose linear part is in world axes, in the coordinates of configuration q."""
    if not model.floating_base:
        return velocity
    return np.r_[Rotation.from_quat(q[3:7]).inv().apply(velocity[:3]), velocity[3:]]


def find_impacts(
    model: RigidBodyModel, states: Sequence[RobotState], speed: float, reach: float, together: float
) -> list[ObservedImpact]:
    """Impacts in a recording.

    A step between two states belongs to an impact if the normal velocity of a contact with a gap below ``reach`` (m)
    rises by more than ``speed`` (m/s) beyond what the free acceleration M⁻¹ (Sᵀτ − h) gives; at most three such steps
    in a row, with two free ones on either side. Velocities before and after are means over the free samples, carried
    along the free acceleration to the impact; where those samples differ by more than a tenth of the jump (kinetic
    norm), motion was not free there, and the impact is left out. The instant of the impact is where the lowest gap as
    it moved before meets the gap as it moves after; the configuration is that of the motion before. The contacts of an
    impact are those whose gap then, or at its middle sample, is within ``together`` (m) of the least.

    Velocities that lag behind the positions (differences of poses lag by half a step) are corrected, see
    :func:`velocity_lag`; then one more free step is asked for on either side, and the samples next to the impact are
    not used.
    """
    n, m = len(states), model.contacts
    if n < 2 * _FREE + 2 or m == 0:
        return []
    motion = _Motion.of(model, states)
    w, rate, gap, normal, dt = motion.velocity, motion.rate, motion.gap, motion.normal, motion.dt
    jumps = _jumps(motion, speed, reach)
    lag = velocity_lag(motion, jumps, reach)
    w += lag * rate
    # a difference of poses next to an impact may hold a part of the jump that is too small to be seen
    near = 1 if lag > _DIFFERENCES * np.median(dt) else 0
    free = _FREE + near
    drift = 0.5 * (rate[:-1] + rate[1:]) * dt[:, None]
    found = []
    edges = np.flatnonzero(np.diff(np.concatenate(([0], jumps.view(np.int8), [0]))))
    for first, last in edges.reshape(-1, 2):  # steps first … last − 1: from sample first to sample last
        if last - first > _LONGEST or first < free or last + free >= n:
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
        k = (first + last) // 2  # an impact lasts: contacts that come near in its course take part
        chosen = np.flatnonzero((problem.gap <= problem.gap.min() + together) | (gap[k] <= gap[k].min() + together))
        problem = problem.select(chosen)
        values, vectors = np.linalg.eigh(problem.mass)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T  # ‖x‖_M = ‖root x‖
        apart = np.array([in_base_axes(model, q, x) for x in apart])
        if np.abs(apart @ root.T).max() <= _UNFREE * np.linalg.norm(root @ (after - problem.velocity)):
            found.append(_observed(int(states[k].stamp_ns), problem, chosen, after, root))
    return found


def _meeting(before: tuple[float, float, float], after: tuple[float, float, float], whole: float) -> float:
    """When a gap that moved as ``before`` (itself, its rate, its acceleration) at 0 is where it moved as ``after`` at
    ``whole``, within these; the middle if it does not rise faster after."""
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
    """The steps (n − 1,) that belong to impacts, or to holes in the recording, which are no free motion."""
    drift = 0.5 * (motion.rate[:-1] + motion.rate[1:]) * motion.dt[:, None]
    rise = np.einsum("kmn,kn->km", motion.normal[:-1], np.diff(motion.velocity, axis=0) - drift)
    jumps = ((rise > speed) & (np.minimum(motion.gap[:-1], motion.gap[1:]) < reach)).any(axis=1)
    return np.asarray(jumps | (motion.dt > 3.0 * np.median(motion.dt)), dtype=np.bool_)


def velocity_lag(motion: _Motion, jumps: NDArray[np.bool_], reach: float) -> float:
    """How far (s) velocities lag behind positions, from free motion; 0 where there is too little of it.

    Out of ``reach`` the contacts' mean gap changes in a step by the mean of its normal velocities at both ends, if
    these are of their stamps; if not, the difference is the lag times the acceleration. Half a step of gravity at
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
    lag = float(missing @ along) / size if size > 0.0 else 0.0  # in a flight the noise of all samples but two cancels
    return lag if abs(lag) <= _LATEST * float(np.median(motion.dt)) else 0.0


def free_acceleration(problem: ContactProblem) -> Array:
    """v̇ without contact forces (nv,); the least one where M is singular."""
    return np.array(np.linalg.lstsq(problem.mass, -problem.bias_force, rcond=None)[0], dtype=np.float64)


def _observed(
    time_ns: int, problem: ContactProblem, contacts: NDArray[np.intp], after: Array, root: Array
) -> ObservedImpact:
    """Fit impulses to a jump: least squares in the kinetic norm, without the contacts that would pull."""
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
