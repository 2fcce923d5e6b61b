"""The vector field of a mode (J 12–13, 75), with Coulomb friction at sliding contacts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.block_inverse import constrained_motion
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import ModeTable
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.dynamics import Dynamics
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.redundant import RANK, cone_rows, within
from hybrid_contact_ros.simulation.slip_direction import slip_direction

Array = NDArray[np.float64]
_CONSISTENT = 1e-7
_SLOW = 100.0  # times the speed of a contact at rest
TOUCHING = 1e-8
"""Gap, m, up to which a limb that carries nothing touches."""


class Flow:
    """F_I of one mode.

    Sticking contacts hold all their rows and sliding ones their normal. With ``kinetic`` a sliding contact has
    λ_t = −μ λ_n against its tangential velocity, otherwise none (J Assumption A12). Redundant rows share the least
    forces, or some within the friction cones where the least are not; the motion does not depend on it. Massless
    limbs without contact move by the system's ``limb_acceleration`` (A6).

    Args:
        mode: of the constraints. kinetic: see above. speed: below it (m/s) a sliding contact is at rest, and
            ``directions`` (unit vectors (d,) by contact) says where to. forcing: the mode that the forces are those
            of, by default ``mode.closed``. idle: open contacts of massless limbs that touch and carry nothing: while
            they touch, such a limb gets out of the way rather than move into the surface, which costs no force.

    Attributes:
        rough: contacts with friction where the flow began, at the first state that :meth:`dynamics` was asked for:
            which rows are held must not change on the way. Where another surface begins, :meth:`renew` begins anew.
    """

    def __init__(
        self,
        system: AdaptedSystem,
        mode: Mode,
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
        self._held: NDArray[np.bool_] | None = None
        self._regular: bool | None = None
        self.rough: frozenset[int] = frozenset()

    def __call__(self, time: float, state: Array) -> Array:
        n = self.system.nq
        q, v = state[:n], state[n:]
        return np.concatenate((self.system.configuration_rate(q, v), self.dynamics(time, q, v).acceleration))

    def renew(self, time: float, q: Array, v: Array) -> bool:
        """Begin anew where closed contacts have got friction, or lost it, since the flow began; whether that was so."""
        friction = self.system.problem(q, v, time, self.forcing).friction
        if all((friction[i] > 0.0) == (i in self.rough) for i in self.mode.closed):
            return False
        self._held, self._regular = None, None
        self.dynamics(time, q, v)
        return True

    def under_way(self) -> bool:
        """Follow contacts that set off by their velocity from here on, however slow; whether there were such."""
        found, self._starting = bool(self._starting), []
        return found

    @property
    def followed(self) -> Mode:
        """The mode by the rows that are held: contacts that had no friction where the flow began slide."""
        return Mode(self.mode.closed, self.mode.sliding | (self.mode.closed - self.rough))

    def direction(self, problem: ContactProblem, contact: int) -> Array:
        """Unit vector (d,) along which a sliding contact slides, or starts to."""
        velocity = problem.tangent_jacobian[contact] @ problem.velocity
        size = float(np.sqrt(velocity @ velocity))
        along = self.directions.get(contact)
        if problem.tangents == 1 and along is not None:
            return along  # until the end of the interval, so that its end can be found as a change of sign
        if size > self.speed:
            return velocity / size
        if along is None:
            return np.zeros(problem.tangents)
        mixed = velocity + (self.speed - size) * along  # continuous, or the integrator would chatter at the tolerance
        length = float(np.sqrt(mixed @ mixed))
        return np.asarray(mixed / length, dtype=np.float64) if length > 0.0 else along

    def dynamics(self, time: float, q: Array, v: Array) -> Dynamics:
        """Motion and forces at a state."""
        problem = self.system.problem(q, v, time, self.forcing)
        m, d, n = problem.contacts, problem.tangents, problem.nv
        if self._held is None:
            self._held = self.mode.held(problem)
            self.rough = frozenset(np.flatnonzero(problem.friction > 0.0).tolist())
            self._rubbing = [i for i in sorted(self.mode.sliding & self.rough) if self.kinetic]
            self._starting = [i for i in self._rubbing if self._starts(problem, i)]
        held = self._held
        rows = problem.jacobian().reshape(m, 1 + d, n)
        if self._regular is None or not (self._regular or self._rubbing):
            general = self._general(time, q, problem, rows, held)
            if self._regular is None:
                self._regular = general[1]
            if general[0] is None or not self._rubbing:
                return general[0] or Dynamics(problem, np.zeros(n), np.zeros((m, 1 + d)), False)
        slips = {i: self.direction(problem, i) for i in self._rubbing}
        for i in self._starting:
            slips[i] = self._setting_off(problem, rows, held, slips, i)
        return self._rubbed(problem, rows, held, slips)

    def _rubbed(
        self, problem: ContactProblem, rows: Array, held: NDArray[np.bool_], slips: Mapping[int, Array]
    ) -> Dynamics:
        """With contacts that slide along ``slips``."""
        n = problem.nv
        closed, goal = rows[held], -problem.jacobian_drift[held]
        force = np.zeros(held.shape)
        k = closed.shape[0]
        push = closed
        if slips:
            push = closed.copy()
            row = np.cumsum(held.reshape(-1)).reshape(held.shape) - 1
            for i, along in slips.items():
                push[row[i, 0]] -= problem.friction[i] * (along @ rows[i, 1:])
        matrix = np.zeros((n + k, n + k))
        matrix[:n, :n], matrix[:n, n:], matrix[n:, :n] = problem.mass, -push.T, closed
        right = np.concatenate((-problem.bias_force, goal))
        solution = _solve(matrix, right, bool(self._regular))
        if solution is None:
            return Dynamics(problem, np.zeros(n), force, False)
        if not self._regular:
            solution = within(matrix, solution, cone_rows(problem, self.mode, held))
        force[held] = solution[n:]
        for i, slip in slips.items():
            force[i, 1:] = -problem.friction[i] * force[i, 0] * slip
        return Dynamics(problem, solution[:n], force, True)

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
        held: NDArray[np.bool_],
        slips: Mapping[int, Array],
        contact: int,
    ) -> Array:
        """Direction of a contact in space that started from rest, while it is slow: the one that it accelerates along.

        Its velocity turns there within a time that goes to zero with its speed, and much faster than that direction
        turns. To follow that would take a step of the integrator for each such time.
        """
        velocity = problem.tangent_jacobian[contact] @ problem.velocity
        size, fast = float(np.sqrt(velocity @ velocity)), _SLOW * self.speed
        if size >= fast:
            return slips[contact]
        near = velocity / size if size > self.speed else self.directions[contact]
        along = slip_direction(lambda d: self._rubbed(problem, rows, held, {**slips, contact: d}), contact, near)
        weight = max(0.0, 2.0 * size / fast - 1.0)
        mixed = weight * velocity + (1.0 - weight) * fast * along
        return np.asarray(mixed / np.sqrt(mixed @ mixed), dtype=np.float64)

    def _general(
        self, time: float, q: Array, problem: ContactProblem, rows: Array, held: NDArray[np.bool_]
    ) -> tuple[Dynamics | None, bool | None]:
        """Through the block inverse: any rank. Also says whether rows are independent and all limbs decided."""
        members = sorted(self.mode.closed)
        points = rows[members].reshape(-1, problem.nv)
        target = -problem.jacobian_drift
        found = constrained_motion(problem.mass, rows[held], points, -problem.bias_force, target[held])
        if not (found.regular and found.consistent):
            return None, None
        force = np.zeros(held.shape)
        force[held] = found.reaction
        if found.redundancy.shape[1]:
            sliding = self.mode.sliding | frozenset(i for i in members if problem.friction[i] == 0.0)
            table = ModeTable(problem, members, sliding, -problem.bias_force, target)
            force = table.solve((1 << len(members)) - 1)[1]
        acceleration = found.motion
        loose = bool(found.undecided.any())
        if loose:
            own = self.system.limb_acceleration(q, problem.velocity, time, self.forcing)
            acceleration = acceleration + found.undecided @ own
            acceleration = acceleration + self._evasion(problem, found.undecided, acceleration)
        return Dynamics(problem, acceleration, force, True), not (loose or found.redundancy.shape[1])

    def rests(self, problem: ContactProblem, contact: int) -> bool:
        """Whether an open contact touches without normal speed."""
        rate = float(problem.normal_jacobian[contact] @ problem.velocity)
        return bool(problem.gap[contact] <= TOUCHING and abs(rate) <= 10.0 * self.speed)

    def _evasion(self, problem: ContactProblem, free: Array, acceleration: Array) -> Array:
        """What idle limbs have to accelerate besides so that they do not penetrate."""
        second = problem.normal_jacobian @ acceleration + problem.jacobian_drift[:, 0]
        late = [i for i in sorted(self.idle) if second[i] < 0.0 and self.rests(problem, i)]
        if not late:
            return np.zeros(problem.nv)
        reach = problem.normal_jacobian[late] @ free
        return np.asarray(free @ np.linalg.lstsq(reach, -second[late], rcond=1e-9)[0], dtype=np.float64)


def _solve(matrix: Array, right: Array, regular: bool) -> Array | None:
    if regular:
        try:
            solution: Array = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        return solution if np.isfinite(solution).all() else None
    nearest = np.asarray(np.linalg.lstsq(matrix, right, rcond=RANK)[0], dtype=np.float64)
    error = float(np.abs(matrix @ nearest - right).max(initial=0.0))
    return nearest if error <= _CONSISTENT * max(1.0, float(np.abs(right).max(initial=0.0))) else None
