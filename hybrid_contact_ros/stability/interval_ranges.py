"""Guaranteed ranges over boxes, for systems written in symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import sympy
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.contact_sets import closed_rows
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.intervals import Interval, solve
from hybrid_contact_ros.stability.ranges import RangeFinder, Ranges, System, safety
from hybrid_contact_ros.stability.sampled_ranges import SampledRanges
from hybrid_contact_ros.stability.symbolic import IntervalFunction, UnsupportedExpressionError
from hybrid_contact_ros.systems.lagrangian import LagrangianSystem

Array = NDArray[np.float64]

_functions: WeakKeyDictionary[Any, tuple[IntervalFunction, IntervalFunction]] = WeakKeyDictionary()


def range_finder(system: System, problem: ContactProblem, contact: int, held: Sequence[int] = ()) -> RangeFinder:
    """Choose interval arithmetic for a :class:`LagrangianSystem` without applied forces, and samples otherwise.

    Args:
        problem: of the present state, whose sizes and friction are used. contact: index of the bouncing contact.
        held: indices of the closed contacts, which stick where they have friction.
    """
    if not isinstance(system, LagrangianSystem) or system.force is not None:
        return SampledRanges(system, contact, held)
    found = _functions.get(system)
    if found is None:
        symbols, expressions = system.symbols, system.expressions
        try:
            values = IntervalFunction(symbols, expressions)
            slopes = IntervalFunction(symbols, [sympy.diff(e, x) for x in symbols for e in expressions])
        except UnsupportedExpressionError:
            return SampledRanges(system, contact, held)
        found = _functions[system] = values, slopes
    return IntervalRanges(*found, problem, contact, held)


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """Ranges of M, h, J (m, 1 + d, n), J̇v (m, 1 + d) and φ; or of their slopes along x = (q, v), the first axis."""

    mass: Interval
    bias: Interval
    rows: Interval
    drift: Interval
    gap: Interval


class IntervalRanges:
    """Enclosures of the parts of the contact problem over a box, and of all solutions of the linear systems with them.

    These enclosures forget how the parts depend on each other through q. Therefore the results are also enclosed by
    their values at the centre and their slopes over the box (the mean value theorem), and the two enclosures are
    intersected. D̄ is one vector, the middle of the range of the impact direction D at the centre of the box
    (:attr:`Ranges.middle`).
    """

    guaranteed = True

    def __init__(
        self,
        values: IntervalFunction,
        slopes: IntervalFunction,
        problem: ContactProblem,
        contact: int,
        held: Sequence[int],
    ) -> None:
        self._values, self._slopes, self._friction = values, slopes, problem.friction
        m, d, n = problem.tangent_jacobian.shape
        self._shapes = (n, n), (n,), (m, 1 + d, n), (m, 1 + d), (m,)
        self._contact, self._closed = contact, closed_rows(problem, held)
        self._open = [i for i in range(m) if i != contact and i not in held]

    def __call__(self, box: Interval) -> Ranges | None:
        """The ranges over ``box``; None where M may be singular, or no impulse may move the bouncing contact."""
        over_box = self._solved(self._parts(self._values(box)))
        centre = 0.5 * (box.lo + box.hi)
        at_centre = self._solved(self._parts(self._values(Interval.of(centre))))
        if over_box is None or at_centre is None:
            return None
        n, c = centre.size // 2, self._closed
        reference = 0.5 * (at_centre.direction.lo + at_centre.direction.hi)[:n]
        slopes = self._sloped(over_box, self._parts(self._slopes(box)), reference)
        if slopes is None:
            return None
        offset = box - centre
        free = over_box.free.cut(at_centre.free + slopes.free.dot(offset))
        acceleration = over_box.acceleration.cut(at_centre.acceleration + slopes.acceleration.dot(offset))
        direction = over_box.direction
        if not self._friction[self._contact]:
            direction = direction.cut(at_centre.direction + slopes.direction.dot(offset))
        across = Interval.of(np.eye(n)) - Interval.of(reference[:, None]) * over_box.normal[None]  # identity − D̄ J_n
        slide = across.dot(free[:n]) - reference * over_box.parts.drift[self._contact, 0]
        slide = slide.cut((at_centre.free[:n] - reference * at_centre.acceleration) + slopes.slide.dot(offset))
        return Ranges(
            acceleration,
            direction[:n],
            free[:n],
            reference,
            slide,
            float(over_box.parts.gap.lo[self._open].min(initial=np.inf)),
            float(min(safety(-y[n:], c, self._friction).min(initial=np.inf) for y in (free, direction))),
        )

    def gaps(self, box: Interval) -> tuple[Interval, Interval]:
        """The ranges of φ and φ̇ over ``box``."""
        parts, i = self._parts(self._values(box)), self._contact
        return parts.gap[i], parts.rows[i, 0].dot(box[parts.bias.lo.size :])

    def _solved(self, parts: _Parts) -> _Solved | None:
        """Enclose the motion between impacts and by an impact.

        Returns:
            None where the matrix may be singular, or where a unit impulse at the bouncing contact may leave its φ̇ as it
            is, as held contacts or friction can bring about.
        """
        n, i, c = parts.bias.lo.size, self._contact, self._closed
        matrix = Interval(*(_bordered(m, r[c]) for m, r in _ends(parts.mass, parts.rows)))
        normal = parts.rows[i, 0]
        impulse_row = normal
        if mu := float(self._friction[i]):
            for k in range(parts.rows.lo.shape[1] - 1):
                impulse_row = impulse_row + Interval.of(-mu, mu) * parts.rows[i, 1 + k]
        still = Interval.of(np.zeros(c.sum()))
        right = Interval.stack([_joined(-parts.bias, -parts.drift[c]), _joined(impulse_row, still)])
        found = solve(matrix, Interval(right.lo.T, right.hi.T))
        if found is None:
            return None
        response = normal.dot(found[:n, 1])
        if not response.lo > 0.0:
            return None
        free = found[:, 0]
        acceleration = normal.dot(free[:n]) + parts.drift[i, 0]
        return _Solved(parts, matrix, normal, response, free, acceleration, found[:, 1] / response)

    def _sloped(self, over_box: _Solved, slopes: _Parts, reference: Array) -> _Slopes | None:
        """Enclose the derivatives along x of what :meth:`_solved` finds.

        A solution y of A y = b has the derivative ∂y with A ∂y = ∂b − ∂A y.

        Args:
            over_box: the solutions over the box. slopes: the derivatives of the parts. reference: D̄ (n,).

        Returns:
            None where A may be singular.
        """
        n, i, c = reference.size, self._contact, self._closed
        free_sides, impact_sides, normal_slopes = [], [], []
        for j in range(2 * n):
            matrix_slope = Interval(*(_bordered(m[j], r[j][c]) for m, r in _ends(slopes.mass, slopes.rows)))
            impact_side = _joined(slopes.rows[j, i, 0], Interval.of(np.zeros(c.sum())))
            free_sides.append(_joined(-slopes.bias[j], -slopes.drift[j][c]) - matrix_slope.dot(over_box.free))
            impact_sides.append(impact_side - matrix_slope.dot(over_box.direction * over_box.response))
            normal_slopes.append(slopes.rows[j, i, 0])
        right = Interval.stack(free_sides + impact_sides)
        found = solve(over_box.matrix, Interval(right.lo.T, right.hi.T))
        if found is None:
            return None
        free, impact, normals = found[:, : 2 * n], found[:, 2 * n :], Interval.stack(normal_slopes)
        acceleration = normals.dot(over_box.free[:n]) + over_box.normal.dot(free[:n]) + slopes.drift[:, i, 0]
        response = normals.dot(over_box.direction[:n] * over_box.response) + over_box.normal.dot(impact[:n])
        direction = (impact - over_box.direction[:, None] * response) / over_box.response
        return _Slopes(free, acceleration, direction, free[:n] - reference[:, None] * acceleration)

    def _parts(self, values: Interval) -> _Parts:
        """Cut the values of all expressions, or all their derivatives, into the parts of the problem."""
        sizes = [int(np.prod(shape)) for shape in self._shapes]
        whole = sum(sizes)
        table = Interval(values.lo.reshape(-1, whole), values.hi.reshape(-1, whole))
        found, start = [], 0
        for shape, size in zip(self._shapes, sizes, strict=True):
            part = table[:, start : start + size]
            full = (-1, *shape) if table.lo.shape[0] > 1 else shape
            found.append(Interval(part.lo.reshape(full), part.hi.reshape(full)))
            start += size
        return _Parts(*found)


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """Solutions over a box, for n velocities and c rows of held contacts.

    Attributes:
        parts: of the contact problem. matrix: [[M, J_cᵀ], [J_c, 0]], with J_c the rows of the held contacts.
        normal: J_n of the bouncing contact (n,).
        response: change of its φ̇ by a unit impulse in the friction cone, whose normal part is 1, 1/kg.
        free: v̇ between impacts, and then minus the reactions of the held contacts (n + c,).
        acceleration: φ̈ of the bouncing contact between impacts.
        direction: change of v by an impact over the change of φ̇, and then minus the reactions in it (n + c,).
    """

    parts: _Parts
    matrix: Interval
    normal: Interval
    response: Interval
    free: Interval
    acceleration: Interval
    direction: Interval


@dataclass(frozen=True, slots=True, eq=False)
class _Slopes:
    """Slopes of members of :class:`_Solved` along x = (q, v), which is the last axis.

    Attributes:
        free, acceleration, direction: the slopes of the members of these names.
        slide: the slopes of v̇ − D̄ φ̈, with D̄ the fixed middle of the range of D at the centre of the box.
    """

    free: Interval
    acceleration: Interval
    direction: Interval
    slide: Interval


def _ends(mass: Interval, rows: Interval) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Pair the lower ends of M and of the rows, and their upper ends."""
    return (mass.lo, rows.lo), (mass.hi, rows.hi)


def _bordered(mass: Array, rows: Array) -> Array:
    """The matrix of the equations M v̇ − rowsᵀ λ = f and rows v̇ = r, whose unknowns are v̇ and −λ."""
    return np.block([[mass, rows.T], [rows, np.zeros((rows.shape[0], rows.shape[0]))]])


def _joined(first: Interval, second: Interval) -> Interval:
    """Concatenate two vectors of intervals."""
    return Interval(np.concatenate([first.lo, second.lo]), np.concatenate([first.hi, second.hi]))
