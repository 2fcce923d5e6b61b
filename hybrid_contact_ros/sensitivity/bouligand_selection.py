"""Touchdowns at one instant, order by order: the selection functions of the flow (Pace (15)-(22))."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.gradients import asker, problem_gradient
from hybrid_contact_ros.sensitivity.impact_gradient import ImpactCourse, impact_derivative
from hybrid_contact_ros.sensitivity.mode_gradient import motion_of
from hybrid_contact_ros.sensitivity.saltation import Validity, saltation

Array = NDArray[np.float64]
Landed = frozenset[int]
Heights = Mapping[int, float]
_PULL = 1e-9  # of the sum of what makes it up: a smaller acceleration away from the ground is none
_RANK = 1e-9


class InadmissibleError(Exception):
    """Some order of the touchdowns is not admissible (Pace, Definition 4)."""

    def __init__(self, validity: Validity, why: str) -> None:
        super().__init__(why)
        self.validity, self.why = validity, why


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """One linear piece of a Bouligand derivative: the derivative of one selection function.

    Attributes:
        orders: of the touchdowns, one for each instant. matrix: (2 nv, 1 + 2 nv), its first column for the time budget.
        cone: (r, 2 nv): it holds where cone @ (δq, δv) ≥ 0.
    """

    orders: tuple[tuple[int, ...], ...]
    matrix: Array
    cone: Array

    def holds(self, direction: ArrayLike) -> bool:
        """Whether a direction (u, δq, δv) belongs to it; those in boundaries belong to several, which agree there."""
        return bool((self.cone @ np.asarray(direction, dtype=np.float64)[1:] >= 0.0).all())

    def rank(self) -> int:
        """The rank of what it makes of (δq, δv): singular values above 1e-9 of the largest."""
        values = np.linalg.svd(self.matrix[:, 1:], compute_uv=False)
        return int((values > _RANK * values[0]).sum())


class Side(NamedTuple):
    """The state after some of the touchdowns."""

    velocity: Array  # (nv,)
    mode: frozenset[int]
    field: Array  # F (2 nv,)


class Corner:
    """The instant when contacts with orthogonal constraints touch together, followed in any order.

    With the set S landed, v_S = Δ_S v⁻, and F_S is the motion in the mode that v_S leads to. As constraints are
    orthogonal, no impact changes the speed of another contact, so that the first-order times
    τ_i = −Dφ_i δq / (Dφ_i v⁻) hold in every order. What is computed is kept: each S and each step once.

    Args:
        system: with ``problem``. q, v, time: of the instant, v⁻. contacts: that touch. closed: that rest before, and
            stay where no force lifts them. problem: of the state, in the mode before. resting: m/s.
    """

    def __init__(
        self,
        system: Any,
        q: Array,
        v: Array,
        time: float,
        contacts: tuple[int, ...],
        closed: frozenset[int],
        problem: ContactProblem,
        resting: float,
    ) -> None:
        self.contacts, self.closed = contacts, closed
        self._system, self._q, self._v, self._time, self._resting = system, q, v, time, resting
        self._rows = problem.normal_jacobian
        lift = np.linalg.solve(problem.mass, self._rows[list(contacts)].T)
        rates = self._rows[list(contacts)] @ v
        sizes = np.einsum("ij,ji->i", self._rows[list(contacts)], lift)
        self._stops = {i: lift[:, k] * (rates[k] / sizes[k]) for k, i in enumerate(contacts)}
        self.times = np.hstack((self._rows[list(contacts)], np.zeros((len(contacts), v.size)))) / -rates[:, None]
        self._sides: dict[Landed, Side] = {}
        self._steps: dict[tuple[Landed, int], tuple[Array, Array]] = {}
        self._rates = dict(zip(contacts, rates.tolist(), strict=True))

    @property
    def after(self) -> Side:
        """The state after all touchdowns."""
        return self.side(frozenset(self.contacts))

    def order(self, change: Array, heights: Heights = MappingProxyType({})) -> tuple[int, ...]:
        """The contacts by the first-order times of a change (δq, δv) (2 nv,), and of changes of their grounds, m."""
        late = [heights.get(i, 0.0) / self._rates[i] for i in self.contacts]
        return tuple(self.contacts[k] for k in np.argsort(self.times @ change + late, kind="stable"))

    def follow(self, change: Array, heights: Heights = MappingProxyType({})) -> tuple[Array, tuple[int, ...]]:
        """The change after the instant, and the order that it takes: n steps and n + 1 states, each computed once."""
        order, landed, found = self.order(change, heights), Landed(), change
        for i in order:
            matrix, by_height = self._stepped(landed, i)
            found = matrix @ found + by_height * heights.get(i, 0.0)
            landed |= {i}
        return found, order

    def piece(self, order: tuple[int, ...]) -> tuple[Array, dict[int, Array]]:
        """The matrix (2 nv, 2 nv) of an order, and the columns (2 nv,) of the grounds' heights by contact."""
        matrix, columns, landed = np.eye(2 * self._v.size), dict[int, Array](), Landed()
        for i in order:
            step, by_height = self._stepped(landed, i)
            matrix, columns = step @ matrix, {k: step @ column for k, column in columns.items()} | {i: by_height}
            landed |= {i}
        return matrix, columns

    def orders(self) -> Iterator[tuple[tuple[int, ...], Array, Array]]:
        """Each order with its matrix (2 nv, 2 nv) and its cone (n − 1, 2 nv)."""
        place = {i: k for k, i in enumerate(self.contacts)}
        for order in permutations(self.contacts):
            yield order, self.piece(order)[0], np.diff(self.times[[place[i] for i in order]], axis=0)

    def examine(self) -> None:
        """Look at all orders at once: 2ⁿ states.

        Raises:
            InadmissibleError: one of them is not admissible.
        """
        for size in range(len(self.contacts)):
            for chosen in combinations(self.contacts, size):
                for i in set(self.contacts) - set(chosen):
                    self._admit(Landed(chosen), i)

    def side(self, landed: Landed) -> Side:
        """The state after the touchdowns of a set: of closed contacts, those leave that would be pulled.

        Raises:
            InadmissibleError: NOT_UNIQUE where efforts switch with the mode so that no mode agrees with its forces.
        """
        if landed not in self._sides:
            velocity = self._v - sum((self._stops[i] for i in sorted(landed)), np.zeros_like(self._v))
            touching = self.closed | landed
            problem, mode = self._problem(velocity, touching), touching
            leaving = self._leaving(problem, touching)
            if leaving:
                mode = touching - leaving
                problem = self._problem(velocity, mode)
                if self._leaving(problem, touching) != leaving:
                    why = (
                        f"efforts switch with the mode, and none of contacts {sorted(touching)} agrees with its forces"
                    )
                    raise InadmissibleError(Validity.NOT_UNIQUE, why)
            try:
                motion = motion_of(problem, ContactMode(mode), self._resting)
            except Unsolvable as error:
                raise InadmissibleError(Validity.SINGULAR, error.why) from None
            self._sides[landed] = Side(velocity, mode, motion.field)
        return self._sides[landed]

    def step(self, landed: Landed, contact: int) -> Array:
        """Ξ (2 nv, 2 nv) of one touchdown after others."""
        return self._stepped(landed, contact)[0]

    def _stepped(self, landed: Landed, contact: int) -> tuple[Array, Array]:
        """Ξ, and ∂x⁺/∂height (2 nv,) of the ground that is touched."""
        if (landed, contact) not in self._steps:
            before, after = self._admit(landed, contact)
            n = self._v.size
            here = problem_gradient(self._system, self._q, before.velocity, self._time, before.mode)
            reset, guard = np.eye(2 * n), np.zeros(2 * n)
            reset[n:] = impact_derivative(here, ImpactCourse(before.mode | {contact})).velocity_state
            guard[:n] = self._rows[contact]
            found = saltation(
                reset,
                guard,
                before.field,
                after.field,
                guard_parameters=np.array([-1.0]),
                parameters=(("height", contact),),
            )
            matrix, columns = found.required(), found.parameter_matrix
            assert columns is not None
            self._steps[landed, contact] = matrix, columns[:, 0]
        return self._steps[landed, contact]

    def _admit(self, landed: Landed, contact: int) -> tuple[Side, Side]:
        before, after = self.side(landed), self.side(landed | {contact})
        pressed = after.mode - before.mode - {contact}
        if pressed:
            why = f"contact {min(pressed)}, released after {sorted(landed)} landed, is pressed again as {contact} lands"
            raise InadmissibleError(Validity.GRAZING, f"{why}: it closes without normal speed")
        return before, after

    def _problem(self, velocity: Array, mode: frozenset[int]) -> ContactProblem:
        found: ContactProblem = asker(self._system, self._time, mode)(self._q, velocity)
        return found

    def _leaving(self, problem: ContactProblem, touching: frozenset[int]) -> frozenset[int]:
        """Contacts that accelerate away from the ground: as rows are orthogonal, each is decided by itself."""
        free = np.linalg.solve(problem.mass, -problem.bias_force)
        rows, drift = problem.normal_jacobian, problem.jacobian_drift[:, 0]
        size = np.abs(rows) @ np.abs(free) + np.abs(drift)
        away = rows @ free + drift > _PULL * size
        return frozenset(i for i in touching if away[i])


def count_orders(corners: list[Corner]) -> int:
    """How many selection functions there are, equal ones and those of empty cones included."""
    return math.prod(math.factorial(len(corner.contacts)) for corner in corners)
