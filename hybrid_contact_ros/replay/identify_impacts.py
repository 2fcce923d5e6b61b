"""Impacts found in a stream of states: where velocities jump at a contact, with free motion before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_FREE = 2  # samples before and after an impact without a jump, over which velocities are averaged
_LONGEST = 3  # steps of an impact; more are several that cannot be told apart, or no impact
_UNFREE = 0.1  # of the jump: more change in the samples before or after, and other contacts are at work there


@dataclass(frozen=True, slots=True, eq=False)
class ObservedImpact:
    """One impact as recorded.

    Attributes:
        time_ns: stamp of the sample nearest to it.
        problem: of the contacts that are near the lowest there, with v⁻ as its velocity.
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


def find_impacts(
    model: RigidBodyModel, states: Sequence[RobotState], speed: float, reach: float, together: float
) -> list[ObservedImpact]:
    """Impacts in a recording.

    A step between two states belongs to an impact if the normal velocity of a contact with a gap below ``reach`` (m)
    rises by more than ``speed`` (m/s) beyond what the free acceleration M⁻¹ (Sᵀτ − h) gives; at most three such steps
    in a row, with two free ones on either side. Velocities before and after are means over the free samples, carried
    along the free acceleration to the middle of the impact; where those samples differ by more than a tenth of the jump
    (kinetic norm), motion was not free there, and the impact is left out. The contacts of an impact are those whose gap
    is within ``together`` (m) of the least.
    """
    n, m = len(states), model.contacts
    if n < 2 * _FREE + 2 or m == 0:
        return []
    stamp = np.array([state.stamp_ns for state in states], dtype=np.int64)
    v = np.array([state.v for state in states])
    free, gap, normal = np.empty_like(v), np.empty((n, m)), np.empty((n, m, v.shape[1]))
    for k, state in enumerate(states):
        problem = model.problem(state)
        free[k], gap[k], normal[k] = free_acceleration(problem), problem.gap, problem.normal_jacobian
    dt = np.diff(stamp) * 1e-9
    drift = 0.5 * (free[:-1] + free[1:]) * dt[:, None]
    rise = np.einsum("kmn,kn->km", normal[:-1], np.diff(v, axis=0) - drift)
    jumps = ((rise > speed) & (np.minimum(gap[:-1], gap[1:]) < reach)).any(axis=1)
    jumps |= dt > 3.0 * np.median(dt)  # a hole in the recording is no free motion
    found = []
    edges = np.flatnonzero(np.diff(np.concatenate(([0], jumps.view(np.int8), [0]))))
    for first, last in edges.reshape(-1, 2):  # steps first … last − 1: from sample first to sample last
        if last - first > _LONGEST or first < _FREE or last + _FREE >= n:
            continue
        if jumps[first - _FREE : first].any() or jumps[last : last + _FREE].any():
            continue
        if (dt[first:last] > 3.0 * np.median(dt)).any():
            continue
        middle = 0.5 * float(stamp[last] - stamp[first]) * 1e-9
        earlier = np.array([v[k] + drift[k:first].sum(axis=0) for k in range(first - _FREE, first + 1)])
        later = np.array([v[k] - drift[last:k].sum(axis=0) for k in range(last, last + _FREE + 1)])
        before, after = earlier.mean(axis=0), later.mean(axis=0)
        k = (first + last) // 2
        chosen = np.flatnonzero(gap[k] <= gap[k].min() + together)
        problem = model.problem(states[k]).with_velocity(before + free[first] * middle).select(chosen)
        values, vectors = np.linalg.eigh(problem.mass)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T  # ‖x‖_M = ‖root x‖
        unfree = np.abs(np.concatenate((earlier - before, later - after)) @ root.T).max()
        if unfree <= _UNFREE * np.linalg.norm(root @ (after - before)):
            found.append(_observed(int(stamp[k]), problem, chosen, after - free[last] * middle, root))
    return found


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
