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

    These forget how the parts depend on each other through q. Therefore the results are also enclosed by their values
    at the centre and their slopes over the box (the mean value theorem), and the two enclosures are intersected.
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
        """The ranges over ``box``; None where M or a mobility may be singular."""
        wide = self._solved(self._parts(self._values(box)))
        centre = 0.5 * (box.lo + box.hi)
        middle = self._solved(self._parts(self._values(Interval.of(centre))))
        if wide is None or middle is None:
            return None
        n, c = centre.size // 2, self._closed
        reference = 0.5 * (middle.direction.lo + middle.direction.hi)[:n]
        slopes = self._sloped(wide, self._parts(self._slopes(box)), reference)
        if slopes is None:
            return None
        away = box - centre
        flight = wide.flight.cut(middle.flight + slopes.flight.dot(away))
        acceleration = wide.acceleration.cut(middle.acceleration + slopes.acceleration.dot(away))
        direction = wide.direction
        if not self._friction[self._contact]:
            direction = direction.cut(middle.direction + slopes.direction.dot(away))
        across = Interval.of(np.eye(n)) - Interval.of(reference[:, None]) * wide.normal[None]  # 1 − D̄ J_n
        slide = across.dot(flight[:n]) - reference * wide.parts.drift[self._contact, 0]
        slide = slide.cut((middle.flight[:n] - reference * middle.acceleration) + slopes.slide.dot(away))
        return Ranges(
            acceleration,
            direction[:n],
            flight[:n],
            reference,
            slide,
            float(wide.parts.gap.lo[self._open].min(initial=np.inf)),
            float(min(safety(-push[n:], c, self._friction).min(initial=np.inf) for push in (flight, direction))),
        )

    def gaps(self, box: Interval) -> tuple[Interval, Interval]:
        """The ranges of φ and φ̇ over ``box``."""
        parts, i = self._parts(self._values(box)), self._contact
        return parts.gap[i], parts.rows[i, 0].dot(box[parts.bias.lo.size :])

    def _solved(self, parts: _Parts) -> _Solved | None:
        """Enclose flight and impact; None where the matrix, or the bouncing contact's mobility, may be singular."""
        n, i, c = parts.bias.lo.size, self._contact, self._closed
        matrix = Interval(*(_bordered(m, r[c]) for m, r in _ends(parts.mass, parts.rows)))
        normal = parts.rows[i, 0]
        push = normal
        if mu := float(self._friction[i]):
            for k in range(parts.rows.lo.shape[1] - 1):
                push = push + Interval.of(-mu, mu) * parts.rows[i, 1 + k]
        still = Interval.of(np.zeros(c.sum()))
        right = Interval.stack([_joined(-parts.bias, -parts.drift[c]), _joined(push, still)])
        found = solve(matrix, Interval(right.lo.T, right.hi.T))
        if found is None:
            return None
        gain = normal.dot(found[:n, 1])
        if not gain.lo > 0.0:
            return None
        flight = found[:, 0]
        acceleration = normal.dot(flight[:n]) + parts.drift[i, 0]
        return _Solved(parts, matrix, normal, gain, flight, acceleration, found[:, 1] / gain)

    def _sloped(self, wide: _Solved, slopes: _Parts, reference: Array) -> _Slopes | None:
        """Derivatives along x of what :meth:`_solved` finds, from those of A y = b: A ∂y = ∂b − ∂A y."""
        n, i, c = reference.size, self._contact, self._closed
        flights, strikes, pushes = [], [], []
        for j in range(2 * n):
            turned = Interval(*(_bordered(m[j], r[j][c]) for m, r in _ends(slopes.mass, slopes.rows)))
            pushed = _joined(slopes.rows[j, i, 0], Interval.of(np.zeros(c.sum())))
            flights.append(_joined(-slopes.bias[j], -slopes.drift[j][c]) - turned.dot(wide.flight))
            strikes.append(pushed - turned.dot(wide.direction * wide.gain))
            pushes.append(slopes.rows[j, i, 0])
        right = Interval.stack(flights + strikes)
        found = solve(wide.matrix, Interval(right.lo.T, right.hi.T))
        if found is None:
            return None
        flight, strike, normals = found[:, : 2 * n], found[:, 2 * n :], Interval.stack(pushes)
        acceleration = normals.dot(wide.flight[:n]) + wide.normal.dot(flight[:n]) + slopes.drift[:, i, 0]
        gain = normals.dot(wide.direction[:n] * wide.gain) + wide.normal.dot(strike[:n])
        direction = (strike - wide.direction[:, None] * gain) / wide.gain
        return _Slopes(flight, acceleration, direction, flight[:n] - reference[:, None] * acceleration)

    def _parts(self, values: Interval) -> _Parts:
        """Cut one long array of expressions into the parts of the problem."""
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
    """Solutions over a box: v̇ and minus the reactions (n + c,), φ̈, and the change of v by an impact with φ̇ (n + c,)."""

    parts: _Parts
    matrix: Interval
    normal: Interval
    gain: Interval
    flight: Interval
    acceleration: Interval
    direction: Interval


@dataclass(frozen=True, slots=True, eq=False)
class _Slopes:
    """Slopes of the members of :class:`_Solved`, and of v̇ − D̄ φ̈, along x = (q, v), which is the last axis."""

    flight: Interval
    acceleration: Interval
    direction: Interval
    slide: Interval


def _ends(mass: Interval, rows: Interval) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    return (mass.lo, rows.lo), (mass.hi, rows.hi)


def _bordered(mass: Array, rows: Array) -> Array:
    """The matrix of M v̇ − rowsᵀ λ = …, rows v̇ = …, for the unknowns v̇ and −λ."""
    return np.block([[mass, rows.T], [rows, np.zeros((rows.shape[0], rows.shape[0]))]])


def _joined(first: Interval, second: Interval) -> Interval:
    return Interval(np.concatenate([first.lo, second.lo]), np.concatenate([first.hi, second.hi]))
