"""What bouncing depends on, at a state and over boxes: φ̈, the direction of impulses and the free acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.contact_sets import closed_rows
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.intervals import Interval

Array = NDArray[np.float64]


class System(Protocol):
    """Anything with a contact problem at every state; q and v = q̇ have one size."""

    def problem(self, q: ArrayLike, v: ArrayLike, /) -> ContactProblem:
        """The contact problem at (q, v)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Bouncing:
    """One contact bounces at one state, while others that are held closed carry load.

    Attributes:
        direction: D (n,), change of v by an impact without friction over the change of φ̇ (Or (4)):
            M⁻¹J_nᵀ / (J_n M⁻¹ J_nᵀ) where nothing is held.
        cone: (k, n), the same for impulses along the edges of the friction cone; D itself without friction.
        free: v̇ (n,) between impacts. acceleration: φ̈ then (Or (5)).
        held: margins by which the held contacts stay: their normal forces and, with friction, μ λ_n − ‖λ_t‖ (N); and
            the same of their impulses over the change of φ̇ (N s per m/s).
    """

    direction: Array
    cone: Array
    free: Array
    acceleration: float
    held: Array


def bouncing(problem: ContactProblem, contact: int, held: Sequence[int] = ()) -> Bouncing:
    """Solve for flight and impact, with the ``held`` contacts as equality constraints: those with friction stick.

    Raises:
        numpy.linalg.LinAlgError: the inertia is singular and the held contacts do not make up for that; the held
            contacts depend on each other; or they or friction leave the bouncing contact no way to move.
    """
    m, d, n = problem.tangent_jacobian.shape
    closed = closed_rows(problem, held)
    rows, normal = problem.jacobian().reshape(m, 1 + d, n)[closed], problem.normal_jacobian[contact]
    mu = problem.friction[contact]
    edges = list(product((-mu, mu), repeat=d)) if mu > 0.0 else []
    right = np.zeros((n + len(rows), 2 + len(edges)))
    right[:n, 0], right[n:, 0], right[:n, 1] = -problem.bias_force, -problem.jacobian_drift[closed], normal
    for k, edge in enumerate(edges):
        right[:n, 2 + k] = normal + np.array(edge) @ problem.tangent_jacobian[contact]
    matrix = np.block([[problem.mass, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    flight, *strikes = np.linalg.solve(matrix, right).T
    gains = np.array([normal @ strike[:n] for strike in strikes])
    if not (gains > 0.0).all():
        raise np.linalg.LinAlgError("held contacts or friction leave the bouncing contact no way to move")
    units = np.array(strikes) / gains[:, None]
    pushes = [Interval.of(-flight[n:]), *(Interval.of(-unit[n:]) for unit in units)]
    return Bouncing(
        units[0, :n],
        units[1:, :n] if edges else units[:1, :n],
        flight[:n],
        float(normal @ flight[:n] + problem.jacobian_drift[contact, 0]),
        np.concatenate([safety(push, closed, problem.friction) for push in pushes]),
    )


def safety(reaction: Interval, closed: NDArray[np.bool_], friction: Array) -> Array:
    """Lower bounds of λ_n and, with friction, of μ λ_n − ‖λ_t‖, for reactions along the ``closed`` rows (m, 1 + d)."""
    found, start = [np.zeros(0)], 0
    for i in np.flatnonzero(closed.any(axis=1)):
        count = int(closed[i].sum())
        push, across = reaction.lo[start], reaction.magnitude()[start + 1 : start + count]
        found.append(np.array([push, friction[i] * push - np.linalg.norm(across)] if count > 1 else [push]))
        start += count
    return np.concatenate(found)


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Enclosures of :class:`Bouncing` over a box of (q, v).

    Attributes:
        gap_acceleration: φ̈ of the bouncing contact.
        direction: D (n,), and those of all impulses in the friction cone. free: v̇ (n,).
        middle: a vector D̄ inside ``direction``. slide: v̇ − D̄ φ̈ (n,), which for D̄ = D is the acceleration of sliding
            along the constraint; this is the range of the difference, smaller than the difference of the ranges.
        others: lower bound of the gaps of all other open contacts. held: the least of :attr:`Bouncing.held`. Both are
            infinite where there are no such contacts.
    """

    gap_acceleration: Interval
    direction: Interval
    free: Interval
    middle: Array
    slide: Interval
    others: float
    held: float

    @staticmethod
    def at(point: Bouncing) -> Ranges:
        """The ranges of a single state, as if no other contact existed."""
        return Ranges(
            Interval.of(point.acceleration),
            Interval.of(point.cone.min(axis=0), point.cone.max(axis=0)),
            Interval.of(point.free),
            point.direction,
            Interval.of(point.free - point.direction * point.acceleration),
            np.inf,
            np.inf,
        )


class RangeFinder(Protocol):
    """Finds :class:`Ranges` over a box (2n,) of (q, v); None where it cannot."""

    guaranteed: bool
    """Whether the enclosures are certain."""

    def __call__(self, box: Interval) -> Ranges | None:
        """The ranges over ``box``."""
        ...

    def gaps(self, box: Interval) -> tuple[Interval, Interval] | None:
        """The ranges of φ and φ̇ of the bouncing contact over ``box``."""
        ...
