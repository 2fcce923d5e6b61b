"""The tree of words: which contact strikes next is a linear inequality between the gaps at the corner."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventValidity, Status
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.sensitivity.cones import has_interior
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient, asker, problem_gradient
from hybrid_contact_ros.sensitivity.orders import ChainImpact
from hybrid_contact_ros.sensitivity.saltation import Saltation, saltation
from hybrid_contact_ros.sensitivity.touchdown import parameter_columns
from hybrid_contact_ros.sensitivity.word_impacts import UnsmoothError, course_of, derivative_of

Array = NDArray[np.float64]

_SAME_TIME = 1e-9  # relative: touchdowns whose times differ by less for every state are one impact
_TENTH = 0.2  # times speed over acceleration: the time in which forces change a gap by a tenth of what speed does


class Branch(NamedTuple):
    """A word so far; k is the number of contacts of the cluster."""

    chain: tuple[ChainImpact, ...]
    on: frozenset[int]
    velocity: Array  # (nv,)
    acceleration: Array  # (nv,), in the mode ``on``
    saltations: tuple[Saltation, ...]  # of the impacts of the chain
    time: Array  # (k,): the time of the last impact, of the gaps at the corner's instant
    gaps: dict[int, Array]  # of each open contact that takes part: its gap at that time, (k,)
    cone: Array  # (r, k)
    why: str
    validity: EventValidity = EventValidity.VALID

    @property
    def matrix(self) -> Array:
        """S = Ξ_last … Ξ_1 (2 nv, 2 nv)."""
        matrix = np.eye(2 * self.velocity.size)
        for jump in self.saltations:
            matrix = jump.required() @ matrix
        return matrix


class WordTree:
    """Grows the words of one corner.

    Attributes:
        spread: s, the shortest time in which forces would change the speed of a touchdown by a tenth.
    """

    def __init__(
        self, system: Any, q: Array, resting: float, cluster: tuple[int, ...], max_impacts: int, max_words: int
    ) -> None:
        self._system, self._q, self._resting, self._cluster = system, q, resting, cluster
        self._max_impacts, self._max_words = max_impacts, max_words
        self.spread = math.inf

    def problem(self, velocity: Array, mode: frozenset[int]) -> ContactProblem:
        """The contact problem at the corner, with the effort of a mode."""
        found: ContactProblem = asker(self._system, 0.0, mode)(self._q, velocity)
        return found

    def grow(self, velocity: Array, closed: frozenset[int]) -> list[Branch]:
        """All words, those that were cut or have no derivative included; their cones cover everything."""
        k = len(self._cluster)
        acceleration, on = self._motion(velocity, closed)
        gaps = {i: np.zeros(k) for i in closed - on}
        for place, i in enumerate(self._cluster):
            gaps[i] = np.eye(k)[place]
        root = Branch((), on, velocity, acceleration, (), np.zeros(k), gaps, np.zeros((0, k)), "")
        leaves: list[Branch] = []
        open_ = [root]
        while open_:
            branch = open_.pop()
            following = self._following(branch)
            if following is None or branch.why:
                leaves.append(branch)
            elif len(branch.chain) == self._max_impacts or len(leaves) + len(open_) >= self._max_words:
                leaves.append(branch._replace(why="more impacts than the cap", validity=EventValidity.CUT))
            else:
                open_.extend(following)
        return leaves

    def _following(self, branch: Branch) -> list[Branch] | None:
        """The branches after the next impact; None where nothing approaches."""
        if branch.why:
            return []
        problem = self.problem(branch.velocity, branch.on)
        rate = problem.normal_jacobian @ branch.velocity
        due = {i: branch.time + gap / -rate[i] for i, gap in branch.gaps.items() if rate[i] < -self._resting}
        if not due:
            return None
        if len(branch.chain) == self._max_impacts:
            return []
        size = max(float(np.abs(time).max()) for time in due.values())
        groups: list[list[int]] = []
        for i, time in due.items():
            for group in groups:
                if np.abs(due[group[0]] - time).max() <= _SAME_TIME * size:
                    group.append(i)
                    break
            else:
                groups.append([i])
        gradient = problem_gradient(self._system, self._q, branch.velocity, 0.0, branch.on)
        following = []
        for group in groups:
            rows = [due[other[0]] - due[group[0]] for other in groups if other is not group]
            cone = np.vstack((branch.cone, *rows)) if rows else branch.cone
            if len(groups) == 1 or has_interior(cone):
                following.append(self._after(branch, group, due[group[0]], cone, gradient, rate))
        return following

    def _after(
        self, branch: Branch, group: list[int], time: Array, cone: Array, gradient: ProblemGradient, rate: Array
    ) -> Branch:
        """The branch after the impact of the contacts of ``group``."""
        problem, nv = gradient.problem, branch.velocity.size
        struck = frozenset(group)
        scope = sorted(branch.on | struck)
        gaps = {i: gap + rate[i] * (time - branch.time) for i, gap in branch.gaps.items() if i not in struck}
        change = problem.normal_jacobian @ branch.acceleration + problem.jacobian_drift[:, 0]
        for i in group:
            if change[i] != 0.0:
                self.spread = min(self.spread, _TENTH * float(-rate[i] / abs(change[i])))
        try:
            course, after, _ = course_of(problem, scope, self._resting)
            rates = problem.normal_jacobian @ after
            rests = frozenset(i for i in scope if abs(rates[i]) <= self._resting)
            acceleration, on = self._motion(after, rests)
            derivative = derivative_of(gradient, course)
        except UnsmoothError as fault:
            chain = (*branch.chain, ChainImpact(struck, frozenset()))
            return branch._replace(chain=chain, time=time, cone=cone, why=str(fault), validity=fault.validity)
        for i in scope:
            if i not in on:
                gaps[i] = np.zeros(len(self._cluster))
        reset = np.eye(2 * nv)
        reset[nv:] = derivative.velocity_state
        names, by_reset, by_guard = parameter_columns(derivative, scope, group[0])
        jump = saltation(
            reset,
            np.r_[problem.normal_jacobian[group[0]], np.zeros(nv)],
            np.r_[branch.velocity, branch.acceleration],
            np.r_[after, acceleration],
            reset_parameters=by_reset,
            guard_parameters=by_guard,
            velocity_after=after,
            kind="touchdown",
            contacts=struck,
            parameters=names,
        )
        chain = (*branch.chain, ChainImpact(struck, rests))
        validity = EventValidity.VALID if jump.valid else EventValidity.GRAZING
        return Branch(chain, on, after, acceleration, (*branch.saltations, jump), time, gaps, cone, jump.why, validity)

    def _motion(self, velocity: Array, resting: frozenset[int]) -> tuple[Array, frozenset[int]]:
        """v̇ in the mode that the resting contacts lead to, and which of them stay closed."""
        problem = self.problem(velocity, resting)
        if not resting:
            return np.asarray(np.linalg.solve(problem.mass, -problem.bias_force), dtype=np.float64), resting
        found = force_acceleration_mode(problem, sorted(resting), slip_speed=self._resting)
        if found.status != Status.SOLVED:
            raise UnsmoothError(EventValidity.NOT_UNIQUE, "the contact mode after an impact was not found")
        return found.acceleration, frozenset(found.mode)
