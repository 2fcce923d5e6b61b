"""Impacts in a recorded stream of states: velocities jump at a contact, with free motion before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.identification.free_motion import FREE, HOLE, Motion, in_base_axes, jumping_steps, velocity_lag
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_LONGEST_IMPACT = 3  # steps; more are several impacts that cannot be told apart, or no impact
_UNFREE = 0.1  # of the jump; where velocities before or after change by more, other contacts are at work
_DIFFERENCES = 0.25  # steps; velocities that lag by more are differences of poses


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
    :func:`~.free_motion.velocity_lag`. One more free step is then needed on either side, and the samples next to the
    impact are not used.
    """
    n, m = len(states), model.contacts
    if n < 2 * FREE + 2 or m == 0:
        return []
    motion = Motion.of(model, states)
    w, rate, gap, normal, dt = motion.velocity, motion.rate, motion.gap, motion.normal, motion.dt
    jumps = jumping_steps(motion, speed, reach)
    lag = velocity_lag(motion, jumps, reach)
    w += lag * rate
    # A difference of poses next to an impact may hold a part of the jump that is too small to be noticed.
    near = 1 if lag > _DIFFERENCES * np.median(dt) else 0
    free = FREE + near
    drift = 0.5 * (rate[:-1] + rate[1:]) * dt[:, None]
    found = []
    edges = np.flatnonzero(np.diff(np.concatenate(([0], jumps.view(np.int8), [0]))))
    for first, last in edges.reshape(-1, 2):  # steps first … last − 1: from sample first to sample last
        if last - first > _LONGEST_IMPACT or first < free or last + free >= n:
            continue
        if jumps[first - free : first].any() or jumps[last : last + free].any():
            continue
        if (dt[first:last] > HOLE * np.median(dt)).any():
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
