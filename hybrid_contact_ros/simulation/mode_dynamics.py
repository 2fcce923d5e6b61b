"""The vector field of a mode (Johnson (12)-(13), (75)), with Coulomb friction at sliding contacts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.block_inverse import constrained_motion
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import ModeTable
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.mode_motion import ModeMotion
from hybrid_contact_ros.simulation.redundant import RANK, cone_rows, forces_within_cones
from hybrid_contact_ros.simulation.slip_direction import slip_direction

Array = NDArray[np.float64]
_CONSISTENT = 1e-7  # relative: equations that miss by more contradict each other
_SETTING_OFF = 100.0  # times the speed of a contact at rest: a slower one that started from rest is still setting off
_TOUCHING_GAP = 1e-8  # m, up to which a limb that carries nothing touches


class ModeDynamics:
    """The vector field F_I of one mode.

    Sticking contacts close all their rows and sliding ones their normal. With ``kinetic`` a sliding contact has
    λ_t = −μ λ_n against its tangential velocity, otherwise none (Johnson's Assumption A12). Redundant rows share the
    least forces, or some within the friction cones where the least are not; the motion does not depend on it. Massless
    limbs without contact move by the system's ``limb_acceleration`` (Assumption A6).

    Args:
        mode: of the constraints. kinetic: whether sliding contacts have friction.
        speed: m/s, a slower sliding contact is at rest. directions: unit vectors (d,) by contact, along which contacts
            that are at rest start to slide.
        forcing: closed contacts that the system's forces are told, by default those of the mode.
        idle: open contacts of massless limbs that touch and carry nothing: while they touch, such a limb gets out of
            the way rather than move into the surface, which costs no force.

    Attributes:
        rough: contacts with friction at the first state that :meth:`motion` was asked for, where the mode began: the
            closed rows must not change on the way. Where another surface begins, :meth:`renew` begins anew.
    """

    def __init__(
        self,
        system: AdaptedSystem,
        mode: HybridMode,
        kinetic: bool,
        speed: float,
        directions: Mapping[int, Array] | None = None,
        forcing: frozenset[int] | None = None,
        idle: frozenset[int] = frozenset(),
    ) -> None:
        self.system, self.mode, self.kinetic, self.speed = system, mode, kinetic, speed
        self.directions = dict(directions or {})
        self.forcing = mode.closed if forcing is None else forcing
        self.idle = idle
        self._rubbing: list[int] = []
        self._starting: list[int] = []
        self._closed_rows: NDArray[np.bool_] | None = None
        self._regular: bool | None = None
        self.rough: frozenset[int] = frozenset()

    def __call__(self, time: float, state: Array) -> Array:
        n = self.system.nq
        q, v = state[:n], state[n:]
        return np.concatenate((self.system.configuration_rate(q, v), self.motion(time, q, v).acceleration))

    def renew(self, time: float, q: Array, v: Array) -> bool:
        """Begin anew where closed contacts have got friction, or lost it, since the mode began; whether that was so."""
        friction = self.system.problem(q, v, time, self.forcing).friction
        if all((friction[i] > 0.0) == (i in self.rough) for i in self.mode.closed):
            return False
        self._closed_rows, self._regular = None, None
        self.motion(time, q, v)
        return True

    def under_way(self) -> bool:
        """Let contacts that are setting off slide along their velocity from here on; whether there were such."""
        found, self._starting = bool(self._starting), []
        return found

    @property
    def followed(self) -> HybridMode:
        """The mode by its closed rows: contacts that had no friction where the mode began slide."""
        return HybridMode(self.mode.closed, self.mode.sliding | (self.mode.closed - self.rough))

    def direction(self, problem: ContactProblem, contact: int) -> Array:
        """Unit vector (d,) along which a sliding contact slides, or starts to."""
        velocity = problem.tangent_jacobian[contact] @ problem.velocity
        size = float(np.sqrt(velocity @ velocity))
        along = self.directions.get(contact)
        if problem.tangents == 1 and along is not None:
            return along  # to the end of the interval, so that the end of the slide shows as a change of sign
        if size > self.speed:
            return velocity / size
        if along is None:
            return np.zeros(problem.tangents)
        mixed = velocity + (self.speed - size) * along  # continuous, or the integrator would chatter at the tolerance
        length = float(np.sqrt(mixed @ mixed))
        return np.asarray(mixed / length, dtype=np.float64) if length > 0.0 else along

    def motion(self, time: float, q: Array, v: Array) -> ModeMotion:
        """Motion and forces at a state."""
        ask = self.system.unchecked_problem if self._regular else self.system.problem
        problem = ask(q, v, time, self.forcing)
        m, d, n = problem.contacts, problem.tangents, problem.nv
        if self._closed_rows is None:
            self._closed_rows = self.mode.closed_rows(problem)
            self.rough = frozenset(np.flatnonzero(problem.friction > 0.0).tolist())
            self._rubbing = [i for i in sorted(self.mode.sliding & self.rough) if self.kinetic]
            self._starting = [i for i in self._rubbing if self._starts(problem, i)]
        closed_rows = self._closed_rows
        rows = problem.jacobian().reshape(m, 1 + d, n)
        if self._regular is None or not (self._regular or self._rubbing):
            general = self._general(time, q, problem, rows, closed_rows)
            if self._regular is None:
                self._regular = general[1]
            if general[0] is None or not self._rubbing:
                return general[0] or ModeMotion(problem, np.zeros(n), np.zeros((m, 1 + d)), False)
        slips = {i: self.direction(problem, i) for i in self._rubbing}
        for i in self._starting:
            slips[i] = self._setting_off(problem, rows, closed_rows, slips, i)
        return self._rubbed(problem, rows, closed_rows, slips)

    def _rubbed(
        self, problem: ContactProblem, rows: Array, closed_rows: NDArray[np.bool_], slips: Mapping[int, Array]
    ) -> ModeMotion:
        """The motion where contacts slide along ``slips``, unit vectors (d,)."""
        n = problem.nv
        closed, goal = rows[closed_rows], -problem.jacobian_drift[closed_rows]
        force = np.zeros(closed_rows.shape)
        k = closed.shape[0]
        push = closed
        if slips:
            push = closed.copy()
            row = np.cumsum(closed_rows.reshape(-1)).reshape(closed_rows.shape) - 1
            for i, along in slips.items():
                push[row[i, 0]] -= problem.friction[i] * (along @ rows[i, 1:])
        matrix = np.zeros((n + k, n + k))
        matrix[:n, :n], matrix[:n, n:], matrix[n:, :n] = problem.mass, -push.T, closed
        right = np.concatenate((-problem.bias_force, goal))
        solution = _solve(matrix, right, bool(self._regular))
        if solution is None:
            self.system.check(problem)
            return ModeMotion(problem, np.zeros(n), force, False)
        if not self._regular:
            solution = forces_within_cones(matrix, solution, cone_rows(problem, self.mode, closed_rows))
        force[closed_rows] = solution[n:]
        for i, slip in slips.items():
            force[i, 1:] = -problem.friction[i] * force[i, 0] * slip
        return ModeMotion(problem, solution[:n], force, True)

    def _starts(self, problem: ContactProblem, contact: int) -> bool:
        """Whether a sliding contact in space starts from rest, in a direction that is known."""
        slip = problem.tangent_jacobian[contact] @ problem.velocity
        along = self.directions.get(contact)
        return (
            slip.size > 1 and along is not None and bool(along.any()) and bool(slip @ slip <= (2.0 * self.speed) ** 2)
        )

    def _setting_off(
        self,
        problem: ContactProblem,
        rows: Array,
        closed_rows: NDArray[np.bool_],
        slips: Mapping[int, Array],
        contact: int,
    ) -> Array:
        """Direction (d,) of a contact in space that started from rest, while it is slow: it slides as it accelerates.

        Its velocity turns into that direction within a time that goes to zero with its speed. To follow the velocity
        would take a step of the integrator for each such time.
        """
        velocity = problem.tangent_jacobian[contact] @ problem.velocity
        size, fast = float(np.sqrt(velocity @ velocity)), _SETTING_OFF * self.speed
        if size >= fast:
            return slips[contact]
        near = velocity / size if size > self.speed else self.directions[contact]
        along = slip_direction(lambda d: self._rubbed(problem, rows, closed_rows, {**slips, contact: d}), contact, near)
        weight = max(0.0, 2.0 * size / fast - 1.0)
        mixed = weight * velocity + (1.0 - weight) * fast * along
        return np.asarray(mixed / np.sqrt(mixed @ mixed), dtype=np.float64)

    def _general(
        self, time: float, q: Array, problem: ContactProblem, rows: Array, closed_rows: NDArray[np.bool_]
    ) -> tuple[ModeMotion | None, bool | None]:
        """The motion by the block inverse, which takes any rank; None where there is none.

        Also says whether the rows are independent and decide the motion of all limbs: then :meth:`_rubbed`, which is
        faster, will do.
        """
        members = sorted(self.mode.closed)
        points = rows[members].reshape(-1, problem.nv)
        target = -problem.jacobian_drift
        found = constrained_motion(problem.mass, rows[closed_rows], points, -problem.bias_force, target[closed_rows])
        if not (found.regular and found.consistent):
            return None, None
        force = np.zeros(closed_rows.shape)
        force[closed_rows] = found.reaction
        if found.redundancy.shape[1]:
            sliding = self.mode.sliding | frozenset(i for i in members if problem.friction[i] == 0.0)
            table = ModeTable(problem, members, sliding, -problem.bias_force, target)
            force = table.solve((1 << len(members)) - 1)[1]
        acceleration = found.motion
        undecided = bool(found.undecided.any())
        if undecided:
            own = self.system.limb_acceleration(q, problem.velocity, time, self.forcing)
            acceleration = acceleration + found.undecided @ own
            acceleration = acceleration + self._evasion(problem, found.undecided, acceleration)
        return ModeMotion(problem, acceleration, force, True), not (undecided or found.redundancy.shape[1])

    def rests(self, problem: ContactProblem, contact: int) -> bool:
        """Whether an open contact touches without normal speed."""
        rate = float(problem.normal_jacobian[contact] @ problem.velocity)
        return bool(problem.gap[contact] <= _TOUCHING_GAP and abs(rate) <= 10.0 * self.speed)

    def _evasion(self, problem: ContactProblem, free: Array, acceleration: Array) -> Array:
        """Acceleration (nv,) that idle limbs need besides so that they do not penetrate."""
        second = problem.normal_jacobian @ acceleration + problem.jacobian_drift[:, 0]
        approaching = [i for i in sorted(self.idle) if second[i] < 0.0 and self.rests(problem, i)]
        if not approaching:
            return np.zeros(problem.nv)
        reach = problem.normal_jacobian[approaching] @ free
        return np.asarray(free @ np.linalg.lstsq(reach, -second[approaching], rcond=1e-9)[0], dtype=np.float64)


def _solve(matrix: Array, right: Array, regular: bool) -> Array | None:
    """x with matrix x = right; the least one where the matrix is not ``regular``. None where there is none."""
    if regular:
        try:
            solution: Array = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        return solution if np.isfinite(solution).all() else None
    nearest = np.asarray(np.linalg.lstsq(matrix, right, rcond=RANK)[0], dtype=np.float64)
    error = float(np.abs(matrix @ nearest - right).max(initial=0.0))
    return nearest if error <= _CONSISTENT * max(1.0, float(np.abs(right).max(initial=0.0))) else None
